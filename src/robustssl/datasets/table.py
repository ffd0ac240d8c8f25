"""A table of your own: a csv or Parquet file, or numpy arrays."""

from pathlib import Path

import numpy as np
import pandas as pd

from robustssl.data import Dataset
from robustssl.errors import InputError, unknown
from robustssl.fetching import table

version = 1


def load(path: str = "", target: str = "", domain: str | None = None) -> Dataset:
    """A csv or Parquet file of your own: table[path=mine.csv,target=COLUMN,domain=COLUMN], or
    numpy arrays X and y in an .npz file: table[path=mine.npz].
    """
    if Path(path).suffix == ".npz" and Path(path).is_file():
        return _of_arrays(Path(path))
    frame = _frame(Path(path))
    for column in filter(None, [target, domain]):
        if column not in frame:
            raise unknown(f"column of {path}", column, map(str, frame.columns))
    if not target:
        raise InputError("name the column that holds the classes: table[path=...,target=COLUMN]")
    if frame[target].isna().any():
        row = int(frame[target].isna().to_numpy().argmax())
        raise InputError(f"{path}: row {row} has no {target}; a benchmark needs every label")
    features = frame.drop(columns=[target, *filter(None, [domain])])
    _check_columns(path, features)
    arrays = table(features, frame[target])
    return Dataset(
        Path(path).stem,
        arrays["X"],
        arrays["y"],
        domain=None if domain is None else frame[domain].astype(str).to_numpy(object),
        meta={"classes": arrays["classes"].tolist(), "owner": "you", "licence": "yours"},
    )


def _of_arrays(path: Path) -> Dataset:
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = table(pd.DataFrame(file["X"]), pd.Series(file["y"]))
    except (KeyError, ValueError, OSError) as error:
        raise InputError(f"{path} must hold the arrays X and y: {error}") from error
    meta = {"classes": arrays["classes"].tolist(), "owner": "you", "licence": "yours"}
    return Dataset(path.stem, arrays["X"], arrays["y"], meta=meta)


def _frame(path: Path) -> pd.DataFrame:
    if not path.is_file():
        raise InputError(f"there is no file {path}; write table[path=mine.csv,target=COLUMN]")
    try:
        return pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_csv(path)
    except ImportError as error:
        raise InputError(f"{path} needs pyarrow: pip install 'robustssl[parquet]'") from error
    except (ValueError, OSError) as error:
        raise InputError(f"cannot read {path}: {error}") from error


def _check_columns(path: str, features: pd.DataFrame) -> None:
    """No gaps, and numbers or words in a column, not both."""
    for name, column in features.items():
        if column.isna().any():
            row = int(column.isna().to_numpy().argmax())
            raise InputError(f"{path}: row {row} of the column {name!r} is empty")
        if column.dtype.kind in "biuf":
            continue
        numeric = pd.to_numeric(column, errors="coerce").notna()
        if numeric.any() and not numeric.all():
            word = column[~numeric].iloc[0]
            raise InputError(f"{path}: the column {name!r} holds numbers, but also {word!r}")
