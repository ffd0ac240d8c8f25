"""A table of your own: a csv or Parquet file, or numpy arrays; a csv file may hold texts."""

from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt
import pandas as pd

from robustssl import registry
from robustssl.data import Dataset
from robustssl.downloads.sources import coded, table
from robustssl.errors import InputError, unknown
from robustssl.spec import parse

version = 1


def load(
    path: str = "",
    target: str = "",
    domain: str | None = None,
    text: str = "",
    encoder: str = "tfidf",
) -> Dataset:
    """A csv or Parquet file of your own: table[path=mine.csv,target=COLUMN,domain=COLUMN], or
    numpy arrays X and y in an .npz file: table[path=mine.npz].

    text: the column that holds texts, if the rows are texts: table[path=mine.csv,target=COLUMN,
    text=COLUMN,encoder=minilm]. encoder: what makes vectors of them.
    """
    if Path(path).suffix.lower() == ".npz" and Path(path).is_file():
        if target or domain or text:
            raise InputError(f"{path} holds arrays: y is the target and, if it is there, domain")
        return _of_arrays(Path(path))
    frame = read_frame(Path(path))
    for column in filter(None, [target, domain, text]):
        if column not in frame:
            raise unknown(f"column of {path}", column, map(str, frame.columns))
    if not target:
        raise InputError("name the column that holds the classes: table[path=...,target=COLUMN]")
    if domain is not None and frame[domain].isna().any():
        row = int(frame[domain].isna().to_numpy().argmax())
        raise InputError(f"{path}: row {row} has no {domain}")
    if encoder != "tfidf" and not text:
        raise InputError(
            f"encoder={encoder} encodes texts: name the column that holds them, text=COLUMN"
        )
    features = frame.drop(columns=[target, *filter(None, [domain])])
    domains = None if domain is None else frame[domain]
    return _dataset(Path(path), features, frame[target], domains, text, encoder)


def _dataset(
    path: Path,
    X: pd.DataFrame,
    y: pd.Series,
    domain: pd.Series | None,
    text: str = "",
    encoder: str = "",
) -> Dataset:
    if not len(y):
        raise InputError(f"{path} has no rows")
    try:
        arrays = {"X": _texts(X, text, encoder), **coded(y)} if text else table(X, y)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    return Dataset(
        path.stem,
        arrays["X"],
        arrays["y"],
        kind="text" if text else "tabular",
        domain=None if domain is None else domain.astype(str).to_numpy(object),
        meta={"classes": arrays["classes"].tolist(), "owner": "you", "licence": "yours"},
        encoder=encoder if text else "",
    )


def _texts(X: pd.DataFrame, text: str, encoder: str) -> npt.NDArray[Any]:
    """The column of texts, beside which there may be no other one."""
    others = [repr(name) for name in X.columns if name != text]
    if others:
        raise InputError(
            f"a text has no other features than its words: leave out {', '.join(others)}"
        )
    if (kind := registry.about("encoder", parse(encoder)[0]).data) != "text":
        raise InputError(f"encoder={encoder} encodes data of the kind {kind}, not texts")
    if (empty := X[text].isna()).any():
        raise InputError(f"row {int(empty.to_numpy().argmax())} of the column {text!r} is empty")
    return np.asarray(X[text].astype(str), object)


def _of_arrays(path: Path) -> Dataset:
    try:
        with path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
            X, y = pd.DataFrame(file["X"]), pd.Series(file["y"], name="y")
            domain = pd.Series(file["domain"]) if "domain" in file else None
    except (KeyError, ValueError, OSError, EOFError, BadZipFile) as error:
        raise InputError(f"{path} must hold the arrays X and y: {error}") from error
    return _dataset(path, X, y, domain)


def read_frame(path: Path, **how: Any) -> pd.DataFrame:
    """A csv (separated by commas, semicolons or tabs) or Parquet file."""
    if not path.is_file():
        raise InputError(f"there is no file {path}; write table[path=mine.csv,target=COLUMN]")
    try:
        if path.suffix.lower() == ".parquet":
            return pd.read_parquet(path)
        with path.open(encoding="utf-8-sig") as file:
            first = file.readline()
        how["sep"] = max(",;\t", key=first.count)
        header = pd.read_csv(path, header=None, nrows=1, dtype=str, sep=how["sep"]).iloc[0]
        twice = header[header.duplicated()]
        if len(twice):
            raise InputError(f"{path} has two columns named {twice.iloc[0]!r}")
        return _without_row_names(pd.read_csv(path, **how), path)
    except ImportError as error:
        raise InputError(f"{path} needs pyarrow: pip install 'robustssl[parquet]'") from error
    except InputError:
        raise
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not in UTF-8: save it so") from error
    except (ValueError, OSError) as error:
        raise InputError(f"cannot read {path}: {error}") from error


def _without_row_names(frame: pd.DataFrame, path: Path) -> pd.DataFrame:
    """Rows may have a name in front, for which the header has no field; R writes such files."""
    if isinstance(frame.index, pd.MultiIndex) or frame.index.has_duplicates:
        raise InputError(f"the rows of {path} have more fields than its header names")
    return frame.reset_index(drop=True)
