"""Vectors of your own, from an encoder of your own, with those of views."""

from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from robustssl.data import Dataset
from robustssl.errors import InputError

version = 1
kind = "vectors"
owner = "you"
licence = "yours"


def load(path: str = "", weak: int = 1) -> Dataset:
    """Vectors and their views in an .npz file: arrays[path=mine.npz,weak=4].

    X: (rows, 1 + weak + strong, numbers), of each row the vector of the row itself, then those of
    weak views, then those of strong views. y: the classes. domain: if there are domains.
    """
    file = Path(path)
    if not file.is_file():
        raise InputError(f"there is no file {path!r}; write arrays[path=mine.npz,weak=4]")
    try:
        with file.open("rb") as opened, np.load(opened, allow_pickle=False) as found:
            X, labels = found["X"], found["y"]
            domain = found["domain"].astype(str).astype(object) if "domain" in found else None
    except (KeyError, ValueError, OSError, EOFError, BadZipFile) as error:
        raise InputError(f"{path} must hold the arrays X and y: {error}") from error
    if X.ndim != 3 or X.shape[1] < 3 or not 1 <= weak <= X.shape[1] - 2:
        raise InputError(
            f"X of {path} must be (rows, 1 + weak + strong, numbers), with at least one weak and "
            f"one strong view, got the shape {X.shape} and weak={weak}"
        )
    classes, y = np.unique(labels.astype(str), return_inverse=True)
    return Dataset(
        file.stem,
        X.astype(np.float32),
        y.astype(np.intp),
        kind="vectors",
        domain=domain,
        meta={"classes": classes.tolist(), "owner": owner, "licence": licence},
        encoder=f"given[strong={X.shape[1] - 1 - weak},weak={weak}]",
    )
