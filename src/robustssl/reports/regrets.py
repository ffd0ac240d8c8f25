"""What deciders lose, as a table and as a sheet of numbers."""

import numpy as np
import pandas as pd

from robustssl.analysis.candidates import PLACE
from robustssl.analysis.decisions import best_baseline, told
from robustssl.analysis.entrants import entrants
from robustssl.analysis.labels import Labels

DECISIONS = """\
t is not known, and an entrant decides for each task, t and seed which model to take, by the rule
{rule}: one method always; {advised}or the one of the best accuracy out of fold.
Regret: by how much it is less accurate than the better of the best baseline and the best method,
best by the other seeds; in the mean over tasks, with a 95% interval over seeds. An entrant is told
apart from the first if the interval of the difference, seed by seed, is above 0. In labels: how
many further ones would buy the regret back, by the learning curve of the best baseline; the median
over tasks."""
ADVISED = """\
a method only if somebody says so who saw the labeled and the unlabeled rows, else its baseline;
"""

APART = "told apart from the first"


def decided(chosen: pd.DataFrame, decisions: pd.DataFrame | None, said: list[str]) -> pd.DataFrame:
    """The regrets of all entrants, over tasks and on each; what there is to say is added to
    `said`.
    """
    found, left_out = entrants(chosen, decisions)
    every, one = told(found, chosen)
    said += left_out
    priced = int(every.priced.max())
    if priced:
        said.append(
            f"labels are told by the learning curve of {best_baseline(chosen)}, on {priced} of "
            f"{every.tasks.max()} tasks"
        )
    return pd.concat([every, one], ignore_index=True)


def shown(both: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Regrets over tasks as texts, and all of them as numbers."""
    every = both[both.dataset.isna()]
    columns = {
        "entrant": every.entrant,
        "regret": [f"{value:.3f}" for value in every.regret],
        APART: ["", *("yes" if apart else "no" for apart in every.apart[1:])],
        "in labels": [_labels(value) for value in every.worth],
        "tasks": every.tasks.map(str),
    }
    numbers = both[["entrant", *PLACE, "tasks"]].astype({"labels": "Int64"})
    for name, values in (("regret", both.regret), ("in_labels", both.worth)):
        for end, which in (("", "estimate"), ("_low", "low"), ("_high", "high")):
            numbers[name + end] = [getattr(value, which, np.nan) for value in values]
    numbers["in_labels_told"] = [_labels(value) for value in both.worth]
    return pd.DataFrame(columns), numbers


def _labels(worth: Labels | None) -> str:
    """How many labels would buy a regret back; one below 0 is no loss."""
    if worth is None or np.isnan(worth.estimate) or (worth.estimate > 0 and not worth.is_bounded):
        return "not known"
    return "less than 0" if worth.estimate == -np.inf else str(worth)
