"""Results that were reported elsewhere, as csv files: tidy ones, and the raw published form.

A tidy file has a row for each algorithm, t and seed, with key columns that tell curves apart.
"""

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from robustssl.errors import InputError, unknown
from robustssl.records.frame import with_score
from robustssl.records.record import SCORES
from robustssl.records.sheets import without_apostrophes

KEYS = ("environment", "dataset", "labels", "source", "target", "algorithm")

_RAW_NAME = re.compile(
    r"(?P<dataset>.+?)(?:_(?P<family>deep|statistical))?"
    r"_(?P<environment>distribution|feature|class)(?:_labels_(?P<labels>\d+))?"
)
_BASELINES = ("Supervised", "FT_Transformer", "XGBoost")


class NotResultsError(InputError):
    """A file that holds something else; in a folder it is passed over."""


def read_csv(path: Path, text: str, score: str | None) -> pd.DataFrame:
    """A csv file of results, tidy or raw, with a column `score`."""
    first = text.partition("\n")[0]
    if {"algorithm", "t"} <= {word.strip().strip('"') for word in first.split(",")}:
        return _read_tidy(path, text, score)
    return read_raw(path, text)


def _read_tidy(path: Path, text: str, score: str | None) -> pd.DataFrame:
    try:
        # An algorithm may be called 001 or NA; only an empty field is a missing one.
        plain: Any = {"keep_default_na": False, "na_values": ["", "nan"], "skipinitialspace": True}
        frame = pd.read_csv(io.StringIO(text), dtype={"algorithm": str}, **plain)
        frame = without_apostrophes(frame)
        frame.columns = frame.columns.str.strip()
        frame = frame.loc[:, ~frame.columns.str.startswith("Unnamed:")]  # the index of a data frame
        if missing := {"algorithm", "t"} - {*frame}:
            raise InputError(f"{path} has no column {min(missing)}")
        if not frame.columns.is_unique:
            twice = frame.columns[frame.columns.duplicated()][0]
            raise InputError(f"{path} has two columns named {twice!r}")
        name = score or ("score" if "score" in frame else "accuracy")
        if name not in frame:
            raise unknown(f"score of {path}", name, set(frame) - {*KEYS, "t", "seed"})
        if name in SCORES[1:]:  # an export of a store, where a method may lack the score
            frame = with_score(frame.assign(score=frame[name]))
        values = pd.to_numeric(frame[name])
        frame = frame.drop(columns=name).assign(score=values, t=pd.to_numeric(frame["t"]).round(6))
    except (ValueError, pd.errors.ParserError) as error:
        raise InputError(f"cannot read {path}: {error}") from error
    return frame


def read_raw(path: Path, text: str) -> pd.DataFrame:
    """The raw published form: no header; algorithm, [source, target,] t, mean, std.

    `printed` is the number in the file; `score` is the one that counts: a baseline counts with its
    value at t = 0 (but in statistical label-space files), and t = 0 of a source with the first
    pair that names it.
    """
    match = _RAW_NAME.fullmatch(path.stem)
    if match is None:
        raise NotResultsError(
            f"{path} has no header with `algorithm` and `t`, separated by commas, and its name is "
            "not that of a raw published file (DATASET_ENVIRONMENT[_labels_N].csv)"
        )
    rows = list(_raw_rows(path, text))
    frame = pd.DataFrame(rows, columns=["algorithm", "source", "target", "t", "printed", "std"])
    frame["algorithm"] = frame.algorithm.replace("XGBClassifier", "XGBoost")
    environment = match["environment"].replace("class", "label")
    frame["environment"], frame["dataset"] = environment, match["dataset"]
    frame["labels"] = None if match["labels"] is None else int(match["labels"])
    frame["seed"], frame["file"] = 0, f"{path.parent.name}/{path.name}"
    frame["score"] = frame.printed
    start = frame[frame.t == 0].groupby(["algorithm", "source"], dropna=False).printed.first()
    starts = start.reindex(pd.MultiIndex.from_frame(frame[["algorithm", "source"]])).to_numpy()
    as_start = frame.t == 0
    if (environment, match["family"]) != ("label", "statistical"):
        as_start |= frame.algorithm.isin(_BASELINES)
    frame.loc[as_start, "score"] = starts[as_start]
    return frame


def _raw_rows(path: Path, text: str) -> Iterator[tuple[Any, ...]]:
    separator = "\t" if "\t" in text else ","
    for number, row in enumerate(csv.reader(io.StringIO(text), delimiter=separator), 1):
        if not row:
            continue
        try:
            name, *pair, t, mean, std = (field.strip() for field in row)
            source, target = pair or (None, None)
            yield name, source, target, round(float(t), 6), float(mean), float(std)
        except ValueError as error:
            raise InputError(f"{path}, line {number}: cannot read {row}: {error}") from error
