"""Digests of rows, and random numbers that depend on a row alone."""

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from robustssl.downloads.banks import DIGEST

Rows = npt.NDArray[Any]  # images, (n, height, width, channels) bytes, or texts, (n,)


def digests_of(rows: Rows) -> list[bytes]:
    """A digest of each row, the same in whatever dataset it stands."""
    if rows.dtype == object:
        return [_digest(str(row).encode()) for row in rows]
    return [_digest(np.ascontiguousarray(row).data, f"{row.shape}") for row in rows]


def _digest(content: Any, shape: str = "") -> bytes:
    return hashlib.blake2b(content, digest_size=DIGEST, key=shape.encode()).digest()


def chance(digests: Sequence[bytes], version: int, count: int) -> npt.NDArray[np.float32]:
    """`count` uniform numbers for a version of each row, (n, count)."""
    drawn = b"".join(
        hashlib.shake_128(digest + version.to_bytes(4, "little")).digest(4 * count)
        for digest in digests
    )
    return (np.frombuffer(drawn, "<u4").reshape(-1, count) >> 8).astype(np.float32) / np.float32(
        2**24
    )
