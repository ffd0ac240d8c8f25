"""The device, the precision and the threads that torch computes with."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

import torch

from robustssl.errors import InputError

Precision = Literal["auto", "fp64", "fp32", "tf32", "bf16"]

PRECISIONS = {
    "fp64": torch.float64,
    "fp32": torch.float32,
    "tf32": torch.float32,
    "bf16": torch.bfloat16,
}


def device_of(asked: str) -> torch.device:
    """The device with this name; `auto` is a GPU if there is one."""
    if asked == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(asked)
    except RuntimeError as error:
        raise InputError(f"device must be auto, cpu or cuda, got {asked!r}") from error
    if device.type == "cuda" and not torch.cuda.is_available():
        raise InputError(f"device={asked} needs a GPU, and this machine has none")
    return device


def precision_of(asked: str, device: torch.device) -> str:
    """The precision with this name; `auto` is tf32 on a GPU and fp32 elsewhere."""
    if asked == "auto":
        return "tf32" if device.type == "cuda" else "fp32"
    return asked


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Inside, torch computes with so many threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
