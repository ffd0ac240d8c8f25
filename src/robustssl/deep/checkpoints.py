"""Files from which a training that was killed continues."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from robustssl.data import digest
from robustssl.deep.batches import Problem
from robustssl.deep.stack import Stack
from robustssl.errors import InputError


def checkpoint_file(folder: Path, model: Any, problems: Sequence[Problem]) -> Path:
    """The file of this training; another model, another version or other rows have another file."""
    params = sorted({**model.get_params(), "random_state": None}.items())
    who = f"{type(model)} {model.version} {params}"
    about = np.frombuffer(who.encode(), np.uint8)
    arrays = [a for p in problems for a in (p.X, p.codes, p.unlabeled, np.array(p.seed))]
    return folder / f"{digest(about, *arrays)[:32]}.pt"


def save(stack: Stack, file: Path) -> None:
    """Write the whole file, then give it its name, so that it is complete or absent."""
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(".part")
    torch.save({"tensors": _tensors(stack), "chance": stack.batches.save()}, part)
    part.replace(file)


def load(stack: Stack, file: Path) -> None:
    """Set the stack to the step at which the file was written."""
    try:
        saved = torch.load(file, map_location=stack.device, weights_only=True)
        for name, tensor in _tensors(stack).items():
            tensor.copy_(saved["tensors"][name])
        stack.done = int(stack.step_number)
        stack.batches.load(saved["chance"], stack.done)
    except Exception as error:
        file.unlink()
        raise InputError(
            f"the checkpoint {file.name} cannot be read and was removed: try again"
        ) from error


def _tensors(stack: Stack) -> dict[str, Tensor]:
    """Everything that a step changes, by name."""
    moments = {f"moment {k}": moment for k, moment in enumerate(stack.moments)}
    state = {f"state {name}": value for name, value in stack.state.items()}
    own = {name: getattr(stack, name) for name in ("params", "average", "step_number", "failed")}
    return {**own, **moments, **state}
