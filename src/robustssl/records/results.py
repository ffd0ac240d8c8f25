"""Results of any form as one tidy frame with a column `score`.

Read are csv files (tidy or raw published ones), records (jsonl, maybe packed: jsonl.gz), stores,
and folders of these.
"""

import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from robustssl.errors import InputError
from robustssl.records.files import holds_records, read_frame, read_text
from robustssl.records.frame import scored, successes, with_versions
from robustssl.records.places import shown, url_of
from robustssl.records.published import KEYS, NotResultsError, read_csv


def read(path: str | Path, score: str | None = None) -> pd.DataFrame:
    """A file or a folder of results as one tidy frame, with a column `score`.

    `score` names the column to take: by default `score` where there is one, else `accuracy`.
    """
    frame = pd.concat(list(_frames(path, score)), ignore_index=True)
    if frame.empty:
        raise InputError(f"{shown(path)} holds no results")
    for name in (*KEYS, "seed"):
        if name not in frame:
            frame[name] = 0 if name == "seed" else None
    labels = pd.to_numeric(frame.labels, errors="coerce")
    if (labels.abs() >= 2**53).any():
        raise InputError(f"{shown(path)}: labels must be below 2^53, got {labels.max():g}")
    if (labels.isna() == frame.labels.isna()).all() and (labels.dropna() % 1 == 0).all():
        frame["labels"] = labels.astype("Int64")
    bad = frame[~np.isfinite(frame.score.astype(float)) | ~frame.t.between(0, 1)]
    if len(bad):
        row = bad.iloc[0]
        raise InputError(
            f"{shown(path)}: {row.algorithm} has the score {row.score} at t = {row.t}; scores must "
            "be finite and t between 0 and 1"
        )
    return frame


def _frames(path: str | Path, score: str | None) -> Iterator[pd.DataFrame]:
    if url_of(path) is not None:
        yield _of_records(path, score)
    elif Path(path).is_dir():
        yield from _read_folder(Path(path), score)
    elif Path(path).is_file():
        yield _read_file(Path(path), score)
    else:
        raise InputError(f"there is no file or folder {path}")


def _read_folder(folder: Path, score: str | None) -> Iterator[pd.DataFrame]:
    every = sorted(p for p in folder.rglob("*") if p.is_file())
    files = [p for p in every if p.suffix in (".csv", ".sqlite") or holds_records(p)]
    found = False
    for file in files:
        try:
            yield _read_file(file, score)
            found = True
        except NotResultsError as error:
            warnings.warn(f"passed over: {error}", stacklevel=3)
    if not found:
        raise InputError(f"there are no results (csv, jsonl[.gz] or sqlite files) in {folder}")


def _read_file(path: Path, score: str | None) -> pd.DataFrame:
    with path.open("rb") as file:
        is_store = file.read(15) == b"SQLite format 3"
    if is_store or holds_records(path):
        return _of_records(path, score)
    return read_csv(path, read_text(path), score)


def _of_records(source: str | Path, score: str | None) -> pd.DataFrame:
    return scored(successes(with_versions(read_frame(source))), score or "accuracy")
