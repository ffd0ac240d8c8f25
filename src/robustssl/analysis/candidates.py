"""What a rule may choose among, so that all methods have equal tries; and expectations over t."""

import numpy as np
import pandas as pd

from robustssl.analysis.density import Belief
from robustssl.cell import Task
from robustssl.errors import InputError
from robustssl.records.frame import CURVE

PLACE = CURVE[1:]  # a task
CELL = [*PLACE, "t", "seed"]
ONE = ["method", *CELL]  # what a rule leaves one record of
_MINE = ["method", *PLACE]


def candidates(frame: pd.DataFrame, scores: tuple[str, ...] = ()) -> tuple[pd.DataFrame, list[str]]:
    """The records that a rule may choose among, and in words what was left out.

    On a task all methods that were searched have the numbers from 0 to below n, where n is how many
    configurations the one with the fewest has: a number that is lacking is a try, too. The t and
    seeds of a method on a task are those that most of its configurations have; a configuration that
    lacks one of them, or a score there, is no candidate.
    """
    check_single(frame)
    said: list[str] = []
    for step in (_equally_many, lambda part, told: _with(part, scores, told), _shared, _whole):
        frame = step(frame, said)
    return frame, said


def check_single(frame: pd.DataFrame) -> None:
    """Refuses two records of one configuration in one cell, and on one task two settings of one
    configuration or two baselines of one method.
    """
    twice = frame[frame.duplicated([*ONE, "configuration"])]
    if len(twice):
        first = twice.iloc[0]
        raise InputError(
            f"configuration {first.configuration} of {first.method} has two records on "
            f"{task_of(first)} for one t and seed: settings are chosen among the records of one "
            "budget and of one version"
        )
    for keys, column, what in (
        ([*_MINE, "configuration"], "algorithm", "settings of one configuration"),
        (_MINE, "baseline", "baselines"),
    ):
        pairs = frame[list(dict.fromkeys([*_MINE, *keys, column]))].drop_duplicates()
        for _, row in pairs[pairs.duplicated(keys)].iterrows():
            raise InputError(f"{row.method} on {task_of(row)} has records of two {what}")
    for _, row in frame[frame.baseline == frame.algorithm].iterrows():
        raise InputError(f"{row.method} on {task_of(row)} names itself as its baseline")


def task_of(row: "pd.Series") -> str:
    """The task of a row, in words."""
    return Task(row.environment, row.dataset, int(row.labels)).name


def expected(
    frame: pd.DataFrame, keys: list[str], belief: Belief, column: str = "accuracy"
) -> "pd.Series":
    """A column's expectation over t for each group of rows that the keys (with `seed`) tell apart;
    a group that lacks a t which most methods of its task have is left out, and t that most lack do
    not count: else a method gains by hiding where it is weak.
    """
    among = [key for key in keys if key in PLACE]
    pairs = frame[[*(key for key in keys if key not in ("seed", "configuration")), "t"]]
    pairs = pairs.drop_duplicates()
    all_of = pairs.drop(columns="t").drop_duplicates().groupby(among).size().rename("all")
    have = pairs.groupby([*among, "t"]).size().rename("have").reset_index().join(all_of, on=among)
    grids = have[have.have * 2 > have["all"]].groupby(among).t.unique()
    weights = pd.DataFrame(
        [
            (*place, t, weight)
            for place, grid in grids.items()
            for t, weight in belief.weights(grid).items()
        ],
        columns=[*among, "t", "weight"],
    ).astype(frame[[*among, "t"]].dtypes)
    rows = frame[[*keys, "t", column]].dropna(subset=column).merge(weights, on=[*among, "t"])
    groups = rows.assign(value=rows[column] * rows.weight).groupby(keys)
    found = groups[["value", "weight"]].sum()
    return found.value[found.weight > 1 - 1e-9]


def _equally_many(frame: pd.DataFrame, said: list[str]) -> pd.DataFrame:
    have = frame.groupby(_MINE).configuration.nunique().rename("have")
    least = have[have > 1].groupby(PLACE).min().rename("least")
    rows = frame[[*_MINE, "configuration"]].join(have, on=_MINE).join(least, on=PLACE)
    spare = ~rows.configuration.between(0, rows.least.fillna(np.inf) - 1)
    kept = rows[~spare].groupby(_MINE).configuration.nunique().rename("kept")
    for _, row in rows[spare].drop_duplicates(_MINE).join(kept, on=_MINE).iterrows():
        said.append(
            f"{row.method} on {task_of(row)}: {row.kept:g} of {row.have} configurations, those "
            f"below number {row.least:g}, since a method has no more than {row.least:g}"
        )
    for _, row in rows[(rows.have == 1) & rows.least.notna()].drop_duplicates(_MINE).iterrows():
        said.append(f"{row.method} on {task_of(row)}: one try, where others have {row.least:g}")
    return frame[~spare]


def _with(frame: pd.DataFrame, scores: tuple[str, ...], said: list[str]) -> pd.DataFrame:
    known = frame.reindex(columns=[*scores]).notna()
    for score in scores:
        for method, has in known[score].groupby(frame.method):
            if not has.all():
                lacking = "no record has" if not has.any() else f"{(~has).sum()} records lack"
                said.append(f"{method}: {lacking} the score {score}")
    return frame[known.all(axis=1)]


def _shared(frame: pd.DataFrame, said: list[str]) -> pd.DataFrame:
    of = frame.groupby(_MINE).configuration.transform("nunique")
    rare = frame.groupby(ONE).configuration.transform("nunique") * 2 <= of
    for _, row in frame[rare].drop_duplicates(_MINE).iterrows():
        said.append(
            f"{row.method} on {task_of(row)}: t and seeds that most of its configurations lack are "
            "left out"
        )
    return frame[~rare]


def _whole(frame: pd.DataFrame, said: list[str]) -> pd.DataFrame:
    cells = frame[ONE].drop_duplicates().groupby(_MINE).size().rename("cells")
    rows = frame.join(cells, on=_MINE)
    has = frame.groupby([*_MINE, "configuration"]).t.transform("size")
    for _, row in rows[has < rows.cells].drop_duplicates([*_MINE, "configuration"]).iterrows():
        said.append(
            f"{row.method} on {task_of(row)}: configuration {row.configuration} lacks some of "
            f"{row.cells} t and seeds and is no candidate"
        )
    return frame[has == rows.cells]
