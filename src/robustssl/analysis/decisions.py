"""Decisions: whether to use unlabeled rows at all, where t is not known; what entrants lose."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from robustssl.analysis.candidates import CELL, PLACE, expected, task_of
from robustssl.analysis.density import BELIEF, Belief
from robustssl.analysis.entrants import Entrant
from robustssl.analysis.interval import IDENTICAL, Ties
from robustssl.analysis.labels import median
from robustssl.analysis.tasks import Part, over_tasks
from robustssl.analysis.worth import learning_curve, priced, scores_by_seed
from robustssl.errors import InputError


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
    baseline: str | None,
    belief: Belief = BELIEF,
    *,
    classes: Mapping[tuple[str, str], int] | None = None,
) -> pd.DataFrame:
    """How many further labels would buy back each entrant's regret on each task, by the learning
    curve of one baseline; tasks where it is not known are left out, all of them if there is none.
    """
    values, rows = scores_by_seed(chosen, belief), []
    for (entrant, *place), mine in table.groupby(["entrant", *PLACE], sort=False):
        environment, dataset, labels = place
        curve = learning_curve(values, str(baseline), environment, dataset)
        known = (classes or {}).get((environment, dataset))
        found = priced(mine.set_index("seed").regret, curve, labels, known)
        if found is not None:
            rows.append((entrant, *place, found))
    return pd.DataFrame(rows, columns=["entrant", *PLACE, "worth"])


def told(
    entrants: Mapping[str, Entrant], chosen: pd.DataFrame, belief: Belief = BELIEF
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """What each entrant loses, the least first: over tasks, and on each task. `regret` is in
    accuracy (an Interval); `apart` says whether it is more than the least beyond chance; `worth` is
    in labels (Labels; over tasks the median; None where it is not known), by the learning curve of
    the `best_baseline`. `tasks` counts tasks, `priced` those that have a worth.
    """
    lost = regrets(entrants, chosen, belief)
    prices = regrets_in_labels(lost, chosen, best_baseline(chosen, belief), belief)
    known = prices.groupby("entrant").worth.agg(list).to_dict()
    every = over(lost, ["entrant"])
    every = every.assign(
        worth=[median(known[name]) if name in known else None for name in every.entrant],
        priced=[len(known.get(name, ())) for name in every.entrant],
    )
    every = every.iloc[np.argsort([value.estimate for value in every.regret], kind="stable")]
    every = every.assign(apart=_apart(lost, every.entrant))
    places = dict(zip(every.entrant, range(len(every)), strict=True))
    one = over(lost, ["entrant", *PLACE]).merge(prices, "left", on=["entrant", *PLACE])
    one["worth"] = one.worth.astype(object).where(one.worth.notna(), None)
    return every, one.sort_values("entrant", key=lambda names: names.map(places), kind="stable")


def _apart(lost: pd.DataFrame, names: Sequence[str]) -> list[bool]:
    """Of each entrant whether its regret exceeds that of the first beyond chance, paired by task
    and seed.
    """
    first, *_ = names
    least = lost[lost.entrant == first].set_index([*PLACE, "seed"]).regret.rename("least")
    both = lost.join(least, on=[*PLACE, "seed"])
    found = over(both.assign(more=both.regret - both.least), ["entrant"], "more")
    return [bool(found.set_index("entrant").more[name].low > 0) for name in names]


def best_baseline(chosen: pd.DataFrame, belief: Belief = BELIEF) -> str | None:
    """Of the baselines with records on the most tasks the one of the best expected accuracy in the
    mean over them; None if there is no baseline.
    """
    free = chosen[chosen.supervised.eq(True)]
    if free.empty:
        return None
    means = scores_by_seed(free, belief).mean(axis=1).unstack("method")
    return str(means.loc[:, means.count() == means.count().max()].mean().idxmax())


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
