"""Results as files: reading them into a tidy frame and into curves, exporting and importing a
store.

A tidy frame has a row for each algorithm, t and seed, with key columns that tell curves apart.
Read are csv files of that form, the raw published form, records (jsonl, maybe packed: jsonl.gz),
stores, and folders of these.
"""

import csv
import gzip
import io
import re
import warnings
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from robustssl.analysis.interval import Array
from robustssl.errors import InputError, unknown
from robustssl.records.record import SCORES, Record
from robustssl.records.store import Store, are_stale, shown, url_of
from robustssl.spec import parse

KEYS = ("environment", "dataset", "labels", "source", "target", "algorithm")
LARGEST = 4 * 10**9  # characters of a file, unpacked
_POINT = ("t", "seed", "score")
_ASIDE = {*_POINT, *SCORES, "printed", "std", "file", "defect", "key", "seconds", "error", "stale"}

_RAW_NAME = re.compile(
    r"(?P<dataset>.+?)(?:_(?P<family>deep|statistical))?"
    r"_(?P<environment>distribution|feature|class)(?:_labels_(?P<labels>\d+))?"
)
_BASELINES = ("Supervised", "FT_Transformer", "XGBoost")


class _NotResultsError(InputError):
    """A file that holds something else; in a folder it is passed over."""


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
        with Store(path, create=False) as store:
            yield tidy(store, score or "accuracy")
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
        except _NotResultsError as error:
            warnings.warn(f"passed over: {error}", stacklevel=3)
    if not found:
        raise InputError(f"there are no results (csv, jsonl[.gz] or sqlite files) in {folder}")


def _read_file(path: Path, score: str | None) -> pd.DataFrame:
    with path.open("rb") as file:
        if file.read(15) == b"SQLite format 3":
            with Store(path, create=False) as store:
                return tidy(store, score or "accuracy")
    if holds_records(path):
        return _from_records(read_records(path), score or "accuracy")
    text = _text(path)
    first = text.partition("\n")[0]
    if {"algorithm", "t"} <= {word.strip().strip('"') for word in first.split(",")}:
        return _read_tidy(path, text, score)
    return read_raw(path, text)


def holds_records(path: Path) -> bool:
    """Whether its name says that it does."""
    return path.name.endswith((".jsonl", ".jsonl.gz"))


def _text(path: Path) -> str:
    try:
        opened = gzip.open if path.suffix == ".gz" else open
        with opened(path, "rt", encoding="utf-8-sig") as file:
            text = str(file.read(LARGEST + 1))
    except (OSError, UnicodeDecodeError, EOFError, zlib.error) as error:
        raise InputError(f"cannot read {path}: {error}") from error
    if len(text) > LARGEST:
        raise InputError(f"{path} holds more than {LARGEST:,} characters")
    return text


def _read_tidy(path: Path, text: str, score: str | None) -> pd.DataFrame:
    try:
        # An algorithm may be called 001 or NA; only an empty field is a missing one.
        plain: Any = {"keep_default_na": False, "na_values": ["", "nan"], "skipinitialspace": True}
        frame = pd.read_csv(io.StringIO(text), dtype={"algorithm": str}, **plain)
        frame.columns = frame.columns.str.strip()
        frame = frame.loc[:, ~frame.columns.str.startswith("Unnamed:")]  # the index of a data frame
        name = score or ("score" if "score" in frame else "accuracy")
        if name not in frame:
            raise unknown(f"score of {path}", name, set(frame) - {*KEYS, "t", "seed"})
        if name in SCORES[1:] and frame[name].isna().any():  # as of a store
            frame = _with_score(frame.assign(score=frame[name]))
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
        raise _NotResultsError(
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


def tidy(store: Store, score: str = "accuracy") -> pd.DataFrame:
    """The successes of a store that are not stale and have that score."""
    if score not in SCORES:
        raise unknown("score", score, SCORES)
    frame = store.frame()
    frame = frame[frame.error.isna() & ~frame.stale]
    return _scored(
        frame.assign(score=frame[score]).drop(columns=["error", "stale", "warnings", "log"])
    )


def _from_records(records: Sequence[Record], score: str) -> pd.DataFrame:
    known = {name for record in records for name in record.scores}
    if records and score not in known:
        raise unknown("score", score, known)
    good = [record for record in records if record.error is None]
    made = [
        ((r.cell.algorithm, r.cell.environment, r.cell.dataset), tuple(r.versions)) for r in good
    ]
    stale = are_stale(made)
    rows = [
        {
            "environment": record.cell.environment,
            "dataset": record.cell.dataset,
            "labels": record.cell.labels,
            "algorithm": record.cell.spec,
            "t": record.cell.t,
            "seed": record.cell.seed,
            "score": record.scores.get(score, np.nan),
        }
        for record, old in zip(good, stale, strict=True)
        if not old
    ]
    return _scored(pd.DataFrame(rows))


def _scored(frame: pd.DataFrame) -> pd.DataFrame:
    return with_pair(_with_score(frame) if len(frame) else frame)


def _with_score(frame: pd.DataFrame) -> pd.DataFrame:
    """Rows that have the score; a learner without probabilities, say, has no AUROC."""
    for name in frame[frame.score.isna()].algorithm.unique():
        warnings.warn(f"{name}: left out where it lacks the score", stacklevel=2)
    return frame.dropna(subset="score")


def with_pair(frame: pd.DataFrame) -> pd.DataFrame:
    """With the columns source and target, from the environment's options."""
    options = [parse(spec)[1] for spec in frame.get("environment", ())]
    pair = {name: [option.get(name) for option in options] for name in ("source", "target")}
    return frame.assign(**pair)


@dataclass(frozen=True, eq=False)
class KeyedCurve:
    """The points of one curve (seeds, T) and the key columns that tell it from others."""

    key: dict[str, Any]
    ts: Array
    scores: Array
    seeds: tuple[Any, ...]


def curves(frame: pd.DataFrame) -> list[KeyedCurve]:
    """The curves of a tidy frame; a seed that lacks a point is left out, with a warning."""
    extra = [name for name in frame if name not in _ASIDE and name not in KEYS]
    keys = [*KEYS[:-1], *extra, KEYS[-1]]
    found = []
    for values, group in frame.groupby(keys, dropna=False, sort=False):
        key = {k: None if pd.isna(v) else v for k, v in zip(keys, values, strict=True)}
        row, seeds = pd.factorize(group.seed, sort=True)
        column, ts = pd.factorize(group.t, sort=True)
        points = np.full((len(seeds), len(ts)), np.nan)
        points[row, column] = group.score
        if np.count_nonzero(~np.isnan(points)) < len(group):
            raise InputError(f"two scores for one t and seed of {label(key)}")
        whole = ~np.isnan(points).any(1)
        if not whole.all():
            warnings.warn(
                f"{label(key)}: {(~whole).sum()} of {len(points)} seeds lack a point "
                "and are left out",
                stacklevel=2,
            )
        if whole.any():
            found.append(
                KeyedCurve(key, np.asarray(ts, float), points[whole], tuple(seeds[whole].tolist()))
            )
    return found


def label(key: dict[str, Any]) -> str:
    """A curve's key in words."""
    return " ".join(f"{k}={v}" for k, v in key.items() if v is not None)


def export(store: str | Path, path: str | Path) -> int:
    """Write a store's records to a file: all of them (.jsonl), or the scores as a tidy table
    (.csv).
    """
    path = Path(path)
    with Store(store, create=False) as opened:
        if path.suffix == ".jsonl":
            lines = [record.to_json() + "\n" for record in opened.records()]
            text, count = "".join(lines), len(lines)
        elif path.suffix == ".csv":
            frame = tidy(opened)
            columns = [*KEYS, "t", "seed", *SCORES, "seconds"]
            text, count = frame[columns].to_csv(index=False), len(frame)
        else:
            raise InputError(f"export writes .jsonl or .csv files, unlike {path.name}")
    try:
        part = path.with_name(path.name + ".part")  # so that no half file takes its place
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from error
    return count


@dataclass(frozen=True)
class Loaded:
    """What an import came to; `conflicts` are cells that the store knows with other scores."""

    added: int
    known: int
    conflicts: tuple[str, ...]


def load(path: str | Path, store: str | Path = "robustssl.sqlite") -> Loaded:
    """Import records (jsonl) into a store. What the store holds already stays as it is."""
    if url_of(path) is not None:
        raise InputError("records come from a file; `robustssl store merge` takes a database")
    path = Path(path)
    if not path.is_file():
        raise InputError(f"there is no file {path}")
    return _merge(read_records(path), store)  # all read before one is written


def merge(source: str | Path, store: str | Path) -> Loaded:
    """Add the records of a store to another. What that holds already stays as it is."""
    with Store(source, create=False) as opened:
        records = list(opened.records())
    return _merge(records, store)


def _merge(records: Sequence[Record], store: str | Path) -> Loaded:
    with Store(store) as opened:
        there = {(record.key, record.error): record for record in opened.records()}
        added, conflicts = 0, []
        for record in records:
            same = there.setdefault((record.key, record.error), record)
            if same is record:
                added += opened.add(record)
            elif any(
                same.scores[k] != record.scores[k] for k in same.scores.keys() & record.scores
            ):
                conflicts.append(str(record.cell))
        known = len(records) - added - len(conflicts)
    return Loaded(added, known, tuple(conflicts))


def read_records(path: Path) -> list[Record]:
    """The records of a file, a line each."""

    def read(number: int, line: str) -> Record:
        try:
            return Record.from_json(line)
        except InputError as error:
            raise InputError(f"{path}, line {number}: {error}") from error

    return [read(number, line) for number, line in enumerate(_text(path).splitlines(), 1)]
