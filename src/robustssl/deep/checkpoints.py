"""Files from which a training that was killed continues."""

import uuid
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import torch

from robustssl.data import digest
from robustssl.deep.inputs import Problem
from robustssl.deep.stack import Stack


def checkpoint_file(folder: Path, model: Any, problems: Sequence[Problem]) -> Path:
    """The file of this training; another model, another version or other rows have another file."""
    params = sorted({**model.get_params(), "random_state": None}.items())
    who = f"{type(model)} {model.version} {params}"
    about = np.frombuffer(who.encode(), np.uint8)
    fields = [a for p in problems for a in (p.X, p.codes, p.unlabeled, p.seed)]
    arrays = [np.asarray(value) for value in fields]
    return folder / f"{digest(about, *arrays)[:32]}.pt"


class UnreadableError(Exception):
    """A checkpoint cannot be read, and was removed; the stack may have been changed."""


def save(stack: Stack, file: Path) -> None:
    """Write the whole file, then give it its name, so that it is complete or absent. Another run
    may train the same: it writes a file of its own, and may remove the folder when it is done.
    """
    state = {"tensors": stack.tensors(), "chance": stack.batches.save()}
    part = file.with_suffix(f".{uuid.uuid4().hex}.part")
    with suppress(FileNotFoundError):
        file.parent.mkdir(parents=True, exist_ok=True)
        try:
            with part.open("wb") as opened:
                torch.save(state, opened)
            part.replace(file)
        finally:
            part.unlink(missing_ok=True)


def remove(file: Path) -> None:
    """Remove a checkpoint, and what was left of it by processes that were killed as they wrote."""
    for path in (file, *file.parent.glob(f"{file.stem}.*.part")):
        path.unlink(missing_ok=True)


def load(stack: Stack, file: Path) -> None:
    """Set the stack to the step at which the file was written."""
    try:
        saved = torch.load(file, map_location=stack.device, weights_only=True)
        for name, tensor in stack.tensors().items():
            tensor.copy_(saved["tensors"][name])
        stack.done = int(stack.step_number)
        stack.stage = max(0, stack.done - 1) // stack.model.steps
        stack.batches.load(saved["chance"], stack.done)
    except torch.OutOfMemoryError:
        raise
    except Exception as error:
        file.unlink(missing_ok=True)
        raise UnreadableError(file.name) from error
