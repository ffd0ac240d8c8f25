"""A table of your own: a csv or Parquet file, or numpy arrays; a csv file may hold texts."""

import zlib
from collections.abc import Callable
from csv import QUOTE_NONE
from io import BytesIO
from lzma import LZMAError
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

version = 2
owner = "you"
licence = "yours"


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
        meta={"classes": arrays["classes"].tolist(), "owner": owner, "licence": licence},
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


PACKED = {".gz": "gzip", ".zip": "zip", ".bz2": "bz2", ".xz": "xz"}
DECIMAL = r"[+-]?(\d*|\d{1,3}(\.\d{3})+),\d+([eE][+-]?\d+)?"
WHOLE = r"[+-]?(\d+|\d{1,3}(\.\d{3})+)([eE][+-]?\d+)?"
DOUBTFUL = r"[+-]?[1-9]\d{0,2}(,\d{3})+"  # a comma that may mark thousands


def read_frame(path: Path, classes: str = "") -> pd.DataFrame:
    """A csv (separated by commas, semicolons or tabs, maybe packed) or Parquet file, or a pipe.

    Numbers may have decimal commas. classes: a column in which only an empty cell is missing, since
    NA and None may be classes.
    """
    if path.is_dir() or not path.exists():
        raise InputError(f"there is no file {path}; write table[path=mine.csv,target=COLUMN]")
    try:
        if path.suffix.lower() == ".parquet":
            return pd.read_parquet(path)
        content = path.read_bytes()  # once: a pipe can be read no second time
        if not content:
            raise InputError(
                f"{path} is empty" + ("" if path.is_file() else ", or was read before")
            )
        frame = _read_csv(path, content)
        if classes in frame and frame[classes].isna().any():
            frame[classes] = _whole(frame[classes], lambda **how: _read_csv(path, content, **how))
        return frame.apply(_with_decimal_points)
    except ImportError as error:
        raise InputError(f"{path} needs pyarrow: pip install 'robustssl[parquet]'") from error
    except InputError:
        raise
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not in UTF-8: save it so") from error
    except (ValueError, OSError, EOFError, BadZipFile, LZMAError, zlib.error) as error:
        raise InputError(f"cannot read {path}: {error}") from error


def _read_csv(path: Path, content: bytes, **how: Any) -> pd.DataFrame:
    packed: Any = PACKED.get(path.suffix.lower())

    def read(**more: Any) -> pd.DataFrame:
        return pd.read_csv(BytesIO(content), compression=packed, **more)

    line = read(
        header=None, nrows=1, dtype=str, sep="\0", quoting=QUOTE_NONE, keep_default_na=False
    )
    how["sep"] = max(",;\t", key=line.iloc[0, 0].count)
    header = read(header=None, nrows=1, dtype=str, sep=how["sep"]).iloc[0]
    twice = header[header.duplicated() & header.notna()]
    if len(twice):
        raise InputError(f"{path} has two columns named {twice.iloc[0]!r}")
    return _without_row_names(read(**how), path)


def _whole(column: pd.Series, read: Callable[..., pd.DataFrame]) -> pd.Series:
    """The column with NA and None as words, unless it holds numbers."""
    if pd.api.types.is_numeric_dtype(column) and column.notna().any():
        return column
    words = read(keep_default_na=False, dtype={column.name: str})[column.name]
    return words.where(words.str.strip() != "")


def _with_decimal_points(column: pd.Series) -> pd.Series:
    """Numbers, if all words are numbers and some have a decimal comma."""
    if not _has_commas(column) or has_doubtful_commas(column):
        return column
    plain = column.str.strip().str.replace(".", "").str.replace(",", ".")
    return pd.to_numeric(plain)


def has_doubtful_commas(*columns: pd.Series) -> bool:
    """Whether columns hold words that are all numbers, with commas that may mark thousands."""
    doubtful = False
    for column in filter(_has_commas, columns):
        words = column.dropna().str.strip()
        doubtful |= bool(words[words.str.contains(",")].str.fullmatch(DOUBTFUL).all())
    return doubtful


def _has_commas(column: pd.Series) -> bool:
    """Whether a column holds words that are numbers, some of them with commas."""
    if not pd.api.types.is_string_dtype(column) or not column.notna().any():
        return False
    words = column.dropna().astype(str).str.strip()
    numbers = words.str.fullmatch(f"{DECIMAL}|{WHOLE}|{DOUBTFUL}").all()
    return bool(numbers and words.str.contains(",").any())


def _without_row_names(frame: pd.DataFrame, path: Path) -> pd.DataFrame:
    """Rows may have a name in front, for which the header has no field; R writes such files."""
    if isinstance(frame.index, pd.MultiIndex) or frame.index.has_duplicates:
        raise InputError(f"the rows of {path} have more fields than its header names")
    return frame.reset_index(drop=True)
