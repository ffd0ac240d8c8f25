"""Datasets from their sources, tried in order: a file in the cache folder, OpenML, a package.

Tables, images and texts each have a function that gets the arrays and builds the `Dataset`.
"""

import warnings
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from rich.console import Console

from robustssl.data import Dataset, Kind, digest
from robustssl.downloads.cache import Arrays, Source, cache, fetch
from robustssl.errors import InputError


def fetch_table(
    name: str,
    *,
    shape: tuple[int, int],
    owner: str,
    licence: str,
    carried: Source,
    openml: int | None = None,
    sha256: str = "",
) -> Dataset:
    """A table from a file in the cache folder, from OpenML (if it has the table) if its rows have
    this digest, or from the package that carries it.
    """
    file = cache() / f"{name}.csv"

    def read_file() -> Arrays:
        frame = pd.read_csv(file)
        return table(frame.iloc[:, :-1], frame.iloc[:, -1])

    def build(arrays: Arrays) -> Dataset:
        if arrays["X"].shape != shape:
            raise InputError(f"{name} must have shape {shape}, got {arrays['X'].shape}")
        return _dataset(name, "tabular", arrays["X"], arrays, owner=owner, licence=licence)

    first = Source(f"{file}, a csv file with a header and the class in its last column", read_file)
    owners = [] if openml is None else [_checked(_openml_table(openml), sha256)]
    return fetch(name, [first, *owners, carried], build)


def fetch_images(
    name: str, *sources: Source, owner: str, licence: str, encoder: str = ""
) -> Dataset:
    """Images from a file in the cache folder, or from the sources given."""
    file = cache() / f"{name}.npz"

    def read_file() -> Arrays:
        with np.load(file, allow_pickle=False) as opened:
            return {key: opened[key] for key in {"X", "y", "classes", *opened}}

    def build(arrays: Arrays) -> Dataset:
        about = {"owner": owner, "licence": licence}
        return _dataset(name, "image", arrays["X"], arrays, encoder, **about)

    shapes = "X (rows, height, width, 1 or 3; bytes), y (0, 1, ...), classes"
    first = Source(f"{file}, with the arrays {shapes}", read_file)
    return fetch(name, [first, *sources], build)


def fetch_texts(name: str, *sources: Source, owner: str, licence: str, encoder: str) -> Dataset:
    """Texts from a file in the cache folder, or from the sources given."""
    file = cache() / f"{name}.csv"

    def read_file() -> Arrays:
        frame = pd.read_csv(file, dtype=str, keep_default_na=False)
        return texts(frame["text"].tolist(), frame["label"], frame.get("domain"))

    def build(arrays: Arrays) -> Dataset:
        ends = np.concatenate([[0], arrays["ends"]])
        raw = arrays["X"].tobytes()
        X = np.array([raw[a:b].decode() for a, b in pairwise(ends.tolist())], object)
        return _dataset(name, "text", X, arrays, encoder, owner=owner, licence=licence)

    first = Source(f"{file}, a csv file with the columns text and label", read_file)
    return fetch(name, [first, *sources], build)


def _dataset(
    name: str,
    kind: Kind,
    X: npt.NDArray[Any],
    arrays: Arrays,
    encoder: str = "",
    **about: str,
) -> Dataset:
    domain = np.asarray(arrays["domain"], object) if "domain" in arrays else None
    meta = {"classes": arrays["classes"].tolist(), **about}
    return Dataset(name, X, arrays["y"], kind=kind, domain=domain, meta=meta, encoder=encoder)


def _openml_table(number: int) -> Source:
    return Source(f"OpenML, dataset {number}", lambda: table(*_openml(number)))


def _openml(number: int) -> tuple[pd.DataFrame, pd.Series]:
    from sklearn.datasets import fetch_openml

    bar = Console(stderr=True).status(f"Fetching dataset {number} of OpenML")
    with bar, warnings.catch_warnings(action="ignore"):  # `fetch` reports a failure
        X, y = fetch_openml(
            data_id=number, return_X_y=True, as_frame=True, cache=False, n_retries=1
        )
    return X, y


def _checked(source: Source, sha256: str) -> Source:
    """A source whose rows and classes must have a digest."""

    def get() -> Arrays:
        arrays = source.get()
        found = digest(arrays["X"], arrays["y"])
        if found != sha256:
            raise InputError(f"the sha256 of its rows must be {sha256}, got {found}")
        return arrays

    return Source(source.description, get)


def openml_images(
    number: int, shape: tuple[int, ...], classes: Sequence[str], sha256: str | None
) -> Source:
    """Images that OpenML keeps as rows of pixels, one channel after the other; without a digest
    they are checked by their shape alone.
    """

    def get() -> Arrays:
        X, y = _openml(number)
        pixels = X.to_numpy(np.uint8).reshape(len(X), *shape)
        return {
            "X": np.moveaxis(pixels, 1, -1),
            "y": y.astype(int).to_numpy(np.intp),
            "classes": np.array(classes),
        }

    source = Source(f"OpenML, dataset {number}", get)
    return source if sha256 is None else _checked(source, sha256)


def texts(X: Sequence[str], y: Any, domain: Any = None) -> Arrays:
    """Texts as the bytes of all of them and the position where each ends, without empty texts."""
    kept = [i for i, text in enumerate(X) if text.strip()]
    raw = [X[i].encode() for i in kept]
    classes, codes = np.unique(np.asarray(y, str)[kept], return_inverse=True)
    arrays = {
        "X": np.frombuffer(b"".join(raw), np.uint8),
        "ends": np.cumsum([len(text) for text in raw]),
        "y": codes.astype(np.intp),
        "classes": classes,
    }
    return arrays if domain is None else arrays | {"domain": np.asarray(domain, str)[kept]}


def table(X: pd.DataFrame, y: pd.Series) -> Arrays:
    """Numbers as they are, words as indicators; classes coded in sorted order."""
    classes = coded(y)
    _check_columns(X)
    return {"X": pd.get_dummies(X, dtype=float).to_numpy(np.float64), **classes}


def coded(y: pd.Series) -> Arrays:
    """The classes, in the order of numbers or of the alphabet, and the code of each row's."""
    if y.isna().any():
        row = int(y.isna().to_numpy().argmax())
        raise InputError(f"row {row} has no {y.name}; every row needs a label")
    names, codes = np.unique(y.astype(str), return_inverse=True)
    if pd.to_numeric(pd.Series(names), errors="coerce").notna().all():
        order = np.argsort(names.astype(float), kind="stable")
        names, codes = names[order], np.argsort(order)[codes]
    return {"y": codes.astype(np.intp), "classes": names.astype(str)}


def _check_columns(X: pd.DataFrame) -> None:
    """Refuse missing values, columns that mix numbers and words, and identifiers of rows."""
    if not X.shape[1]:
        raise InputError("there is no column besides that of the classes")
    for name, column in X.items():
        if column.isna().any():
            row = int(column.isna().to_numpy().argmax())
            raise InputError(f"row {row} of the column {name!r} is empty")
        if column.dtype.kind in "biuf":
            continue
        numeric = pd.to_numeric(column, errors="coerce").notna()
        if numeric.any() and not numeric.all():
            word = column[~numeric].iloc[0]
            raise InputError(f"the column {name!r} holds numbers, but also {word!r}")
        if column.nunique() > max(50, len(column) / 2):
            raise InputError(
                f"the column {name!r} holds {column.nunique()} different words, like an identifier "
                f"of each row: leave it out; if it holds texts, write text={name}"
            )
