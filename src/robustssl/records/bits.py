"""A bit for each test row, in their order: 1 where the prediction is right. As text, base64."""

import base64

import numpy as np
import numpy.typing as npt


def bits_of(right: npt.NDArray[np.bool_]) -> str:
    return base64.b64encode(np.packbits(right).tobytes()).decode()


def right_of(bits: str, rows: int) -> npt.NDArray[np.bool_]:
    """Which of so many rows are right; a ValueError if the bits are not those of so many rows."""
    packed = np.frombuffer(base64.b64decode(bits, validate=True), np.uint8)
    right = np.unpackbits(packed).astype(bool)
    if rows < 1 or len(packed) != -(-rows // 8) or right[rows:].any():
        raise ValueError(f"these are not the bits of {rows} rows")
    return right[:rows]
