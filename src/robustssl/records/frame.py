"""The one tidy frame: a row for each record, wherever records are kept; and which versions count.

Of the cell: key, algorithm (spelt with its params), environment, dataset, labels, t, seed. Of the
method, as the record says it: method (its name), budget, family, supervised, baseline,
configuration (its number in a search, 0 where there was none). Of the data: drawn (the name by
which rows are drawn), data (their kind). Of the run: the scores, the criteria by which settings may
be chosen, test_rows, seconds, error, warnings, log, digest (of the predictions), versions (of
algorithm, environment and dataset) and the commit of the code.
"""

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from robustssl.errors import InputError, unknown
from robustssl.method import Method
from robustssl.records import catalog
from robustssl.records.record import CRITERIA, SCORES, Record
from robustssl.spec import parse, thing_of

KINDS = ("algorithm", "environment", "dataset")
CURVE = ["algorithm", "environment", "dataset", "labels"]
METHOD = ("name", "budget", "family", "supervised", "baseline")
_SCORES = (*SCORES, *CRITERIA)
_NUMBERS = {"labels": int, "seed": int, **dict.fromkeys(("t", "seconds", *_SCORES), float)}

# The present version of an algorithm, environment or dataset; None if it is not known.
Present = Callable[[str, str], int | None]


def frame_of(records: Sequence[Record]) -> pd.DataFrame:
    """Records as rows of the frame."""
    rows = [
        (
            *(r.key, r.cell.spec, r.cell.environment, r.cell.dataset, r.cell.labels),
            *(r.cell.t, r.cell.seed, *(r.scores.get(name, np.nan) for name in _SCORES)),
            *(r.versions, r.test_rows, r.seconds, r.error, list(r.warnings), r.log, r.digest),
        )
        for r in records
    ]
    columns = ["key", *CURVE, "t", "seed", *_SCORES]
    columns += ["versions", "test_rows", "seconds", "error", "warnings", "log", "digest"]
    frame = pd.DataFrame(rows, columns=columns)
    return with_methods(frame, [r.method for r in records], [r.provenance for r in records])


def with_methods(
    frame: pd.DataFrame, methods: Sequence[Method | None], made: Sequence[Mapping[str, Any]]
) -> pd.DataFrame:
    """With what each record says of its method and what it was made with; what it does not say is
    None.
    """
    described = [
        method or Method(spec, spec)
        for method, spec in zip(methods, frame.algorithm.tolist(), strict=True)
    ]
    for name in METHOD:
        values = [getattr(method, name) for method in described]
        frame["method" if name == "name" else name] = pd.Series(values, frame.index, dtype=object)
    frame["configuration"] = [method.configuration or 0 for method in described]
    known = {spec: (parse(spec)[0], catalog.data_kind(spec)) for spec in frame.dataset.unique()}
    pairs = [(spec, m.get("data", {})) for spec, m in zip(frame.dataset, made, strict=True)]
    frame["drawn"] = [said.get("name", known[spec][0]) for spec, said in pairs]
    frame["data"] = [said.get("kind", known[spec][1]) for spec, said in pairs]
    frame["commit"] = pd.Series([m.get("commit") for m in made], frame.index, dtype=object)
    frame["test_rows"] = pd.to_numeric(frame.test_rows).astype(float)
    return frame.astype(_NUMBERS)


def with_versions(frame: pd.DataFrame, present: Present = catalog.version) -> pd.DataFrame:
    """With `older` where a version is not the present one, and `counts` for the records of the
    versions that count of a curve: the present ones if they are there, else those written last.

    The present version of a thing that is not known is the newest one here.
    """
    frame = frame.assign(older=are_older(frame, newest([frame], present)))
    order = pd.DataFrame({"good": frame.error.isna(), "now": ~frame.older, "at": range(len(frame))})
    last = order.set_index(frame.index).sort_values(["good", "now", "at"]).index
    chosen = frame.loc[last].drop_duplicates(CURVE, keep="last").set_index(CURVE).versions
    theirs = chosen.reindex(pd.MultiIndex.from_frame(frame[CURVE]))
    counts = [a == b for a, b in zip(frame.versions, theirs, strict=True)]
    return frame.assign(counts=np.array(counts, bool))


def are_older(frame: pd.DataFrame, present: Present) -> npt.NDArray[np.bool_]:
    """Which rows have a version that is not the present one of its thing, if that is known."""
    rows = _versioned(frame)
    older = {row: any(is_older(*thing, present) for thing in _things(*row)) for row in set(rows)}
    return np.array([older[row] for row in rows], bool)


def is_older(kind: str, spec: str, number: int, present: Present = catalog.version) -> bool:
    """Whether a version is not the present one of its thing, if that is known."""
    return present(kind, thing_of(kind, spec)) not in (None, number)


def newest(frames: Sequence[pd.DataFrame], present: Present = catalog.version) -> Present:
    """The present versions, and of things that are not known the newest ones in the frames."""
    found: dict[tuple[str, str], int] = {}
    for row in {row for frame in frames for row in _versioned(frame)}:
        for kind, spec, number in _things(*row):
            thing = (kind, thing_of(kind, spec))
            found[thing] = max(number, found.get(thing, number))
    return lambda kind, name: present(kind, name) or found.get((kind, name))


def _versioned(frame: pd.DataFrame) -> list[tuple[Any, ...]]:
    columns = (frame[name].tolist() for name in ("algorithm", "environment", "dataset", "versions"))
    return list(zip(*columns, strict=True))


def _things(*row: Any) -> Iterator[tuple[str, str, int]]:
    """The algorithm, the environment and the dataset of a row, each with its version."""
    *specs, versions = row
    return zip(KINDS, specs, versions, strict=True)


def successes(frame: pd.DataFrame) -> pd.DataFrame:
    """Of a frame with versions, the records that count and have scores."""
    return frame[frame.counts & frame.error.isna()]


def failures(frame: pd.DataFrame) -> pd.DataFrame:
    """Of a frame with versions, the last error of each cell that counts and has no success."""
    done = frame[frame.error.isna()].key
    bad = frame[frame.error.notna() & frame.counts & ~frame.key.isin(done)]
    return bad.drop_duplicates("key", keep="last")


def scored(frame: pd.DataFrame, score: str) -> pd.DataFrame:
    """The rows that have a score, with it in the column `score`."""
    if score not in SCORES:
        raise unknown("score", score, SCORES)
    frame = frame.assign(score=frame[score])
    if score != "accuracy":
        frame["test_rows"] = np.nan  # it is no share of the test rows
    if score == "accuracy_there":
        frame["digest"] = None  # that of the predictions of test rows tells nothing of other rows
    return with_pair(with_score(frame))


def with_score(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows that have a score; a learner without probabilities, say, has no AUROC."""
    for name in frame[frame.score.isna()].algorithm.unique():
        warnings.warn(f"{name}: left out where it lacks the score", stacklevel=2)
    return frame.dropna(subset="score")


def with_pair(frame: pd.DataFrame) -> pd.DataFrame:
    """With the columns source and target, from the environment's options."""
    places = frame.environment.tolist()
    options = {spec: parse(spec)[1] for spec in set(places)}
    pair = {name: [options[spec].get(name) for spec in places] for name in ("source", "target")}
    return frame.assign(**pair)


def wanted(words: Iterable[str]) -> dict[str, list[str]]:
    """The names of each kind that words such as dataset=wine ask for; those of one kind are
    alternatives.
    """
    only: dict[str, list[str]] = {}
    for word in words:
        what, _, name = word.partition("=")
        if what not in KINDS or not name:
            raise InputError(
                f"cannot read {word!r}; write dataset=wine, or algorithm or environment"
            )
        only.setdefault(what, []).append(name)
    return only


def part(frame: pd.DataFrame, words: Sequence[str]) -> pd.DataFrame:
    """The records that are of what the words ask for, by a spec, its name or a method's name."""
    for what, names in wanted(words).items():
        known = {spec: {spec, parse(spec)[0]} for spec in frame[what].unique()}
        asked = frame[what].map(lambda spec, known=known, names=names: bool(known[spec] & {*names}))
        if what == "algorithm":
            asked |= frame.method.isin(names)
        frame = frame[asked.astype(bool)]
    if frame.empty and words:
        raise InputError(f"there are no records that are {', '.join(words)}")
    return frame


def method_names(frame: pd.DataFrame) -> dict[str, str]:
    """What to call each method (a spec): its name, unless a task has two methods of that name."""
    pairs = frame[[*CURVE, "method"]].drop_duplicates()
    twice = pairs[pairs.duplicated([*CURVE[1:], "method"], keep=False)].method.unique()
    first = pairs.drop_duplicates("algorithm")
    return {
        spec: spec if name in twice else name
        for spec, name in zip(first.algorithm, first.method, strict=True)
    }
