"""Decisions: whether to use unlabeled rows at all, where t is not known.

An entrant decides for each task, t and seed which model to take. It is a series of accuracies,
by environment, dataset, labels, t and seed. Records of one rule (`select`) are what there is to
decide among.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from robustssl.analysis.candidates import CELL, PLACE, expected, task_of
from robustssl.analysis.density import BELIEF, Belief
from robustssl.analysis.interval import IDENTICAL, Ties
from robustssl.analysis.tasks import Part, over_tasks
from robustssl.analysis.worth import learning_curve, priced, scores_by_seed
from robustssl.errors import InputError, unknown

Entrant = Any  # a pandas Series of accuracies, indexed by CELL


def always(chosen: pd.DataFrame, method: str) -> Entrant:
    """Uses one method, as a rule chose its settings, everywhere; of a baseline: never uses."""
    _check_ranked(chosen)
    if method not in {*chosen.method}:
        raise unknown("method", method, chosen.method.unique())
    return chosen[chosen.method == method].set_index(CELL).accuracy


def validated(chosen: pd.DataFrame, *, supervised: bool | None = None) -> Entrant:
    """Takes the method of the best accuracy out of fold, of those that use unlabeled rows, of the
    supervised ones ("never use"), or of all (None); of equals a supervised one, then that of the
    lower log-loss, then the first by name.
    """
    _check_ranked(chosen)
    if "cv_accuracy" not in chosen or chosen.cv_accuracy.isna().any():
        raise InputError("to take a method by its accuracy out of fold, all records need it")
    rows = chosen.assign(first=-chosen.cv_accuracy.round(12), user=~chosen.supervised.eq(True))
    if supervised is not None:
        rows = rows[rows.user != supervised]
    order = rows.sort_values(["first", "user", "cv_log_loss", "method"], kind="stable")
    return order.drop_duplicates(CELL).set_index(CELL).accuracy.sort_index()


def advised(chosen: pd.DataFrame, method: str, decisions: pd.DataFrame) -> Entrant:
    """Follows advice: a table with the columns of a cell and `use`; the method where it says so,
    else its baseline. Cells without advice are left out.
    """
    mine = chosen[chosen.method == method]
    names = mine.baseline.dropna().unique()
    if len(names) != 1:
        raise InputError(f"to abstain from {method}, its records must name one baseline")
    if decisions.duplicated(CELL).any() or decisions.use.isna().any():
        raise InputError("advice must say once for each task, t and seed whether to use the rows")
    use = decisions.set_index(CELL).use.astype(bool)
    with_rows, without = always(chosen, method), always(chosen, str(names[0]))
    cells = use.index.intersection(with_rows.index).intersection(without.index)
    if cells.empty:
        raise InputError(f"no advice is on a task, t and seed of {method} and its baseline")
    return with_rows[cells].where(use[cells], without[cells]).rename("accuracy")


def reference(chosen: pd.DataFrame) -> Entrant:
    """The better of the best baseline and the best method at each t: best by the mean over the
    other seeds, and scored on the seed itself. What lacks a t or seed of its task is not among
    them.
    """
    table = chosen.pivot(index=CELL, columns="method", values="accuracy")
    parts = []
    for _, mine in table.groupby(level=[*PLACE, "t"]):
        among = mine.dropna(axis=1)
        if len(mine) < 2 or among.empty:
            raise InputError(
                f"{task_of(mine.reset_index().iloc[0])}: the best method by the other seeds needs "
                "two seeds that a method has whole"
            )
        others = (among.sum() - among).round(12).to_numpy().argmax(axis=1)
        parts.append(pd.Series(among.to_numpy()[np.arange(len(mine)), others], mine.index))
    return pd.concat(parts).rename("accuracy")


def regrets(
    entrants: Mapping[str, Entrant], chosen: pd.DataFrame, belief: Belief = BELIEF
) -> pd.DataFrame:
    """What each entrant loses against the `reference` of the chosen records: a row for each
    entrant, task and seed, in expected accuracy, over the cells that all entrants have.
    """
    best = reference(chosen)
    rows = pd.DataFrame({**entrants}).dropna().join(best.rename("_best"), how="inner")
    if rows.empty:
        raise InputError("there is no task, t and seed that all entrants decided on")
    lost = rows[[*entrants]].rsub(rows["_best"], axis=0).rename_axis(columns="entrant")
    long = lost.stack().rename("regret").reset_index()
    found = expected(long, ["entrant", *PLACE, "seed"], belief, "regret")
    drawn = chosen.drop_duplicates("dataset").set_index("dataset").drawn
    table = found.rename("regret").reset_index()
    return table.assign(drawn=table.dataset.map(drawn))


def over(
    table: pd.DataFrame,
    by: Sequence[str],
    column: str = "regret",
    bounds: tuple[float, float] = (-np.inf, np.inf),
) -> pd.DataFrame:
    """The mean over tasks of a column with values by task and seed, with its interval, for each
    group: by ["entrant"], or ["entrant", "labels"]. Values that are `identical` say so.
    """
    rows = []
    for key, mine in table.groupby(list(by), sort=False):
        parts = []
        for (*_, drawn), task in mine.sort_values("seed").groupby([*PLACE, "drawn"]):
            ties = Ties(
                difference=True, identical=bool("identical" in task and task.identical.all())
            )
            parts.append(Part(str(drawn), tuple(task.seed), task[column].to_numpy(), ties))
        rows.append((*key, len(parts), over_tasks(parts, bounds=bounds)))
    return pd.DataFrame(rows, columns=[*by, "tasks", column])


def regrets_in_labels(
    table: pd.DataFrame,
    chosen: pd.DataFrame,
    baseline: str,
    belief: Belief = BELIEF,
    *,
    classes: Mapping[tuple[str, str], int] | None = None,
) -> pd.DataFrame:
    """How many further labels would buy back each entrant's regret on each task, by the learning
    curve of one baseline; tasks where it is not known are left out.
    """
    values, rows = scores_by_seed(chosen, belief), []
    for (entrant, *place), mine in table.groupby(["entrant", *PLACE], sort=False):
        environment, dataset, labels = place
        curve = learning_curve(values, baseline, environment, dataset)
        known = (classes or {}).get((environment, dataset))
        found = priced(mine.set_index("seed").regret, curve, labels, known)
        if found is not None:
            rows.append((entrant, *place, found))
    return pd.DataFrame(rows, columns=["entrant", *PLACE, "worth"])


def gains(chosen: pd.DataFrame, belief: Belief = BELIEF) -> pd.DataFrame:
    """The expected accuracy of each method minus that of its baseline, by task and seed;
    `identical` where both are the same records.
    """
    about = chosen[["method", *CELL, "baseline", "drawn", "accuracy", "key"]]
    theirs = about.drop(columns=["baseline", "drawn"]).rename(columns={"method": "baseline"})
    both = about.merge(theirs, on=["baseline", *CELL], suffixes=("", "_theirs"))
    both = both.assign(gain=both.accuracy - both.accuracy_theirs, same=both.key == both.key_theirs)
    one = ["method", *PLACE, "seed"]
    found = expected(both, one, belief, "gain").rename("gain").reset_index()
    told = both.groupby(one).agg(drawn=("drawn", "first"), identical=("same", "all"))
    return found.join(told, on=one)


def protection(chosen: pd.DataFrame, belief: Belief = BELIEF) -> pd.DataFrame:
    """How many labels until a rule protects: the gain of each method over its baseline, in the mean
    over tasks, at each label count. Of records that cv+abstain chose, a loss is what
    cross-validation did not see.
    """
    return over(gains(chosen, belief), ["method", "labels"], "gain").sort_values(
        ["method", "labels"], ignore_index=True
    )


def protected_from(table: pd.DataFrame, margin: float = 0.01) -> "pd.Series":
    """By method, the least label count a class from which on the whole interval of the gain of
    `protection` lies above minus the margin, or the rule always abstained; nan where there is none.
    """
    found = {}
    for method, mine in table.sort_values("labels", ascending=False).groupby("method"):
        safe = [gain.low > -margin or gain.note == IDENTICAL for gain in mine.gain]
        lasting = mine.labels[np.logical_and.accumulate(safe).astype(bool)]
        found[method] = float(lasting.min()) if len(lasting) else np.nan
    return pd.Series(found, name="labels", dtype=float)


def sign_seen(harm: float, discordant: float, labels: float) -> float:
    """How likely so many labeled rows, in all, show the sign of a harm, a difference of accuracies,
    where two models differ in being right on a share of rows (`discordant`).

    Each row adds -1, 0 or 1 with mean -h and variance d - h^2, so that the sum has the sign of the
    harm with probability Phi(h sqrt(n / (d - h^2))).
    """
    from scipy.special import ndtr

    if not 0 <= harm <= discordant <= 1:
        raise InputError("a harm lies between 0 and the share of discordant rows, at most 1")
    spread = discordant - harm**2
    return float(ndtr(harm * np.sqrt(labels / spread))) if spread > 0 else 1.0


def labels_to_see(harm: float, discordant: float, sure: float = 0.9) -> float:
    """How many labeled rows, in all, show the sign of a harm with the probability `sure`: the
    inverse of `sign_seen`.
    """
    from scipy.special import ndtri

    if not 0 < harm <= discordant <= 1:
        raise InputError("a harm that is to be seen is above 0, and at most the discordant rows")
    return float((ndtri(sure) / harm) ** 2 * (discordant - harm**2))


def _check_ranked(chosen: pd.DataFrame) -> None:
    if not chosen.ranked.all():
        raise InputError("what the oracle chose is a mark, and no entrant: it saw test rows")
