"""Encoders for the tests: small, quick, and with a count of what they encoded."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from gates import pass_gate
from torch.nn.functional import conv2d

from robustssl.encoders import Pretrained, chance
from robustssl.encoders._images import ImageEncoder
from robustssl.errors import InputError


@dataclass(frozen=True, kw_only=True)
class Means(Pretrained):
    """The mean of each channel in each quarter of an image, moved by a view."""

    weak: int = 2
    strong: int = 3

    kind: ClassVar[str] = "image"
    encoded: ClassVar[list[tuple[bytes, int]]] = []
    width: ClassVar[int] = 12

    def encode(self, rows, digests, version):
        self.encoded.extend((digest, version) for digest in digests)
        n, height, width, _ = rows.shape
        parts = rows.reshape(n, 2, height // 2, 2, width // 2, -1).mean((2, 4)) / 255
        parts = np.broadcast_to(parts, (n, 2, 2, 3)).reshape(n, 12)
        size = {None: 0.0, "weak": 0.01, "strong": 0.1}[self.strength(version)]
        return parts + size * (chance(digests, version, 12) - 0.5)


@dataclass(frozen=True, kw_only=True)
class Random(ImageEncoder):
    """A convolution with random weights."""

    size: int = 16
    weak: int = 1
    strong: int = 2

    width: ClassVar[int] = 6

    @staticmethod
    def weights():
        return {"a": np.random.default_rng(0).normal(size=(6, 3, 3, 3)).astype(np.float32)}

    @staticmethod
    def normalised(images):
        return images - 0.5

    @staticmethod
    def encoded(images, weights):
        return conv2d(images, weights["a"], stride=2).relu().mean((2, 3))


@dataclass(frozen=True, kw_only=True)
class Gated(Means):
    """Encodes when a test opens the gate."""

    gate: str = "gate"

    def encode(self, rows, digests, version):
        pass_gate(self.gate)
        return super().encode(rows, digests, version)


@dataclass(frozen=True, kw_only=True)
class Absent(Means):
    """An encoder whose weights cannot be had."""

    def encode(self, rows, digests, version):
        raise InputError("the weights of Absent cannot be fetched: put them into the cache")
