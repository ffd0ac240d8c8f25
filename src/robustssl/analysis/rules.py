"""Rules side by side: what each method comes to under each rule, and which cannot be told apart."""

import warnings
from collections.abc import Sequence

import pandas as pd

from robustssl.analysis.candidates import PLACE, expected
from robustssl.analysis.choices import Choices
from robustssl.analysis.decisions import gains, over
from robustssl.analysis.density import ALIKE, BELIEF, Belief
from robustssl.analysis.selection import NEEDS, common, select
from robustssl.errors import InputError


def able(frame: pd.DataFrame, choices: Choices | None = None) -> list[str]:
    """The rules that the records allow: those that can choose of most methods, and transfer if
    there are choices.
    """
    return [
        rule
        for rule in NEEDS
        if (choices is not None if rule == "transfer" else _can_choose(frame, rule))
    ]


def _can_choose(frame: pd.DataFrame, rule: str) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        try:
            chosen = select(frame, rule)
        except InputError:
            return False
    return bool(chosen.method.nunique() * 2 > frame.method.nunique())


def side_by_side(
    frame: pd.DataFrame,
    rules: Sequence[str],
    choices: Choices | None = None,
    belief: Belief = BELIEF,
) -> tuple[pd.DataFrame, list[str]]:
    """A row for each method and rule, with `accuracy`, `alike` (the same choices, all t alike) and
    `gain` over the baseline of the same rule, in the mean over tasks; and in words what was left
    out so that all rules had the same to choose among.
    """
    shared, said = common(frame, rules, choices=choices, belief=belief)
    parts = []
    for rule in rules:
        chosen = select(shared, rule, choices=choices, belief=belief)
        table, alike = (
            over(_scores(chosen, about_t), ["method"], "accuracy", bounds=(0, 1))
            for about_t in (belief, ALIKE)
        )
        gain = over(gains(chosen, belief), ["method"], "gain").set_index("method")
        parts.append(
            table.assign(
                rule=rule,
                alike=table.method.map(alike.set_index("method").accuracy),
                gain=table.method.map(gain.gain),
            )
        )
    return pd.concat(parts, ignore_index=True), said


def _scores(chosen: pd.DataFrame, belief: Belief) -> pd.DataFrame:
    """Expected accuracies by method, task and seed."""
    values = expected(chosen, ["method", *PLACE, "seed"], belief).rename("accuracy").reset_index()
    drawn = chosen.drop_duplicates("dataset").set_index("dataset").drawn
    return values.assign(drawn=values.dataset.map(drawn))


def tiers(chosen: pd.DataFrame, belief: Belief = BELIEF) -> list[list[str]]:
    """Methods in tiers, the best first: a tier holds the best method that is left and those whose
    difference from it has an interval that holds 0, over the tasks and seeds that most methods
    have; a method that lacks one of them is in none.
    """
    scores = _scores(chosen, belief).set_index(["method", *PLACE, "seed"]).accuracy
    table = scores.unstack("method")
    table = table[table.notna().sum(axis=1) * 2 > table.shape[1]].dropna(axis=1)
    if table.empty:
        return []
    drawn = chosen.drop_duplicates("dataset").set_index("dataset").drawn
    left, found = table.mean().sort_values(ascending=False, kind="stable").index.tolist(), []
    while left:
        best = left[0]
        behind = (table[[*left]].rsub(table[best], axis=0)).drop(columns=best)
        long = behind.stack().rename("behind").rename_axis([*PLACE, "seed", "method"]).reset_index()
        far = set()
        if len(long):
            told = over(long.assign(drawn=long.dataset.map(drawn)), ["method"], "behind")
            far = {name for name, x in zip(told.method, told.behind, strict=True) if x.low > 0}
        found.append([name for name in left if name not in far])
        left = [name for name in left if name in far]
    return found
