"""How far the score that a choice was made by is from the truth; and how far by chance alone."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from robustssl.analysis.candidates import PLACE
from robustssl.analysis.interval import Interval
from robustssl.analysis.tasks import Part, over_tasks
from robustssl.errors import InputError


def account(chosen: pd.DataFrame, by: Sequence[str] = ("method",)) -> pd.DataFrame:
    """Of each group of records that cross-validation chose: their number, the shares of ties and of
    abstentions, and the optimism with its interval.
    """
    rows: list[dict[str, Any]] = []
    for key, mine in chosen.groupby(list(by), sort=False):
        shares = {name: float(mine[name].mean()) for name in ("tied", "abstained")}
        found = {"records": len(mine), **shares, "optimism": optimism(mine)}
        rows.append({**dict(zip(by, key, strict=True)), **found})
    return pd.DataFrame(rows)


def optimism(chosen: pd.DataFrame) -> Interval:
    """The accuracy out of fold of what was chosen minus its test accuracy, in the mean over methods
    and t; the interval over seeds includes the choice, which is made anew for each seed.
    """
    if "cv_accuracy" not in chosen or chosen.cv_accuracy.isna().any():
        raise InputError("optimism is known of records with the score cv_accuracy only")
    difference = chosen.assign(value=chosen.cv_accuracy - chosen.accuracy)
    parts = []
    for (_, _, _, drawn), mine in difference.groupby([*PLACE, "drawn"]):
        by_seed = mine.groupby("seed").value.mean()
        parts.append(Part(str(drawn), tuple(by_seed.index), by_seed.to_numpy()))
    return over_tasks(parts)


class Chance(NamedTuple):
    """How often the best of equal configurations tie, and by how much the best seems better."""

    tied: float
    optimism: float


def by_chance(tries: int, labels: int, accuracy: float) -> Chance:
    """What cross-validation over so many labeled rows, in all, shows of configurations that are
    equally accurate and err independently: the most extreme case of a search that finds nothing.
    """
    from scipy.stats import binom

    right = np.arange(labels + 1)
    here, upto = binom.pmf(right, labels, accuracy), binom.cdf(right, labels, accuracy)
    below = np.append(0, upto[:-1])
    alone = float((tries * here * below ** (tries - 1)).sum())
    highest = float((1 - upto[:-1] ** tries).sum()) / labels
    return Chance(1 - alone, highest - accuracy)
