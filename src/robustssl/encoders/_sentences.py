"""What pretrained encoders of texts share: texts changed before they are encoded, in batches of
like length, on a GPU if there is one.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from robustssl.downloads.weights import folder_of
from robustssl.encoders import Pretrained, Rows
from robustssl.errors import InputError
from robustssl.nets._pretrained import pretrained, token_ids
from robustssl.spec import Count
from robustssl.views.texts import view

Vectors = npt.NDArray[np.float32]

BATCH = 256  # texts at once, at most

_LOADING = Lock()  # threads share one model


@dataclass(frozen=True, kw_only=True)
class SentenceEncoder(Pretrained):
    """An encoder of texts: the mean of the last layer over the tokens of a text, normalised to
    length 1. A subclass says the name of its weights among those that packages carry.

    weights: a folder in the format of transformers, or a name on the Hugging Face hub; without it,
    the weights come from packages.
    tokens: how many tokens of a text are read, at most.
    weak, strong: how many views of each row are kept: with words replaced by synonyms or left out,
    and in strong ones sentences in another order.
    """

    weights: str = ""
    tokens: Count = 128

    kind: ClassVar[Literal["image", "text"]] = "text"
    carried: ClassVar[str]

    @property
    def folder(self) -> Path:
        return folder_of(self.weights or self.carried)

    @property
    def width(self) -> int:
        return _width(self.folder)

    @property
    def _identity(self) -> str:
        if not self.weights:
            return super()._identity
        return f"{super()._identity}, files {_digest(self.folder)}"

    def encode(self, rows: Rows, digests: Sequence[bytes], version: int) -> Vectors:
        strength, texts = self.strength(version), [str(row) for row in rows]
        if strength is not None:
            texts = [view(text, strength, version) for text in texts]
        return encoded(texts, self.folder, self.tokens)


def encoded(texts: list[str], folder: Path, tokens: int) -> Vectors:
    """The vectors of texts, whatever their order."""
    ids = token_ids(texts, str(folder), tokens)
    import torch
    from torch.nn.functional import normalize

    from robustssl.deep.device import device_of

    device = device_of("auto")
    with _LOADING:
        model, halved = _placed(folder, device), _is_fast_halved(device)
    order = np.argsort([len(one) for one in ids], kind="stable")  # little padding
    found = np.empty((len(ids), model.config.hidden_size), np.float32)
    for start in range(0, len(order), BATCH):
        places = order[start : start + BATCH]
        padded, mask = (part.to(device) for part in _padded([ids[place] for place in places]))
        with torch.inference_mode(), torch.autocast(device.type, torch.bfloat16, enabled=halved):
            hidden = model(input_ids=padded, attention_mask=mask).last_hidden_state.float()
            mean = (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
            found[places] = normalize(mean).cpu()
    return found


def _padded(ids: list[list[int]]) -> tuple[Any, Any]:
    """Token ids, (n, length), and a mask that is 1 where there is a token."""
    import torch

    lengths = torch.tensor([len(one) for one in ids])
    mask = (torch.arange(int(lengths.max())) < lengths[:, None]).long()
    padded = torch.zeros_like(mask)
    padded[mask.bool()] = torch.tensor([token for one in ids for token in one])
    return padded, mask


def _is_fast_halved(device: Any) -> bool:
    """Whether products of numbers of 16 bits are faster there: on GPUs and some CPUs. They move a
    vector, of length 1, by less than .01.
    """
    import torch

    able = getattr(torch.cpu, "_is_avx512_bf16_supported", bool)
    return device.type == "cuda" or bool(able())


@lru_cache(maxsize=1)
def _placed(folder: Path, device: Any) -> Any:
    return pretrained(str(folder)).eval().to(device)


def _width(folder: Path) -> int:
    try:
        config = json.loads((folder / "config.json").read_text("utf-8"))
        return int(config["hidden_size"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{folder} must hold a model in the format of transformers, whose config.json tells "
            f"its hidden_size ({type(error).__name__}: {error})"
        ) from error


@lru_cache(maxsize=2)
def _digest(folder: Path) -> str:
    """A digest of the files that a model consists of."""
    sha = hashlib.sha256()
    for file in sorted(folder.iterdir()):
        if file.suffix in (".json", ".txt", ".model", ".safetensors"):
            sha.update(file.name.encode())
            with file.open("rb") as opened:
                sha.update(hashlib.file_digest(opened, "sha256").digest())
    return sha.hexdigest()[:16]
