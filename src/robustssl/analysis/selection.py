"""Rules by which a setting of a method is chosen: pure functions of records.

A rule makes of a frame with many configurations a frame with one record for each method, task, t
and seed, in which `algorithm` is the method's name and `baseline` that of its baseline, so that all
tables and figures work on it. It adds: `rule`, `ranked`, `setting` (the chosen spec), `tied` (the
score that the rule asks for first did not decide) and `abstained` (the record is the baseline's).
"""

import warnings
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from robustssl.analysis.candidates import CELL, ONE, PLACE, candidates, check_single, expected
from robustssl.analysis.choices import Choices
from robustssl.analysis.density import BELIEF, Belief
from robustssl.errors import InputError, unknown
from robustssl.records.record import CRITERIA

_FOLDS = ("cv_accuracy", "cv_log_loss")
LABEL_FREE = tuple(score for score in CRITERIA if score not in _FOLDS)
NEEDS: dict[str, tuple[str, ...]] = {  # the rules, and the scores that each asks for
    "default": (),
    "transfer": (),
    "cv": _FOLDS,
    "cv+abstain": _FOLDS,
    **{score: (score,) for score in LABEL_FREE},
    "oracle": (),
}
UNRANKED = ("oracle",)
_METHOD = ["method", "budget", "family", "supervised", "baseline"]


def select(
    frame: pd.DataFrame,
    rule: str,
    *,
    choices: Choices | None = None,
    belief: Belief = BELIEF,
) -> pd.DataFrame:
    """The records that a rule chooses; a warning says in words what had to be left out."""
    chosen, said = _chosen(frame, rule, choices, belief)
    if chosen.empty:
        raise InputError(f"the rule {rule} has nothing to choose among: {'; '.join(said)}")
    for sentence in said:
        warnings.warn(f"{rule}: {sentence}", stacklevel=2)
    names = _names(frame)
    return chosen.assign(
        setting=chosen.algorithm,
        algorithm=chosen.method,
        baseline=pd.Series(  # of objects, in which None stays None
            [names.get(spec, spec) for spec in chosen.baseline], chosen.index, dtype=object
        ),
        rule=rule,
        ranked=rule not in UNRANKED,
        tied=chosen.get("tied", False),
        abstained=chosen.get("abstained", False),
    ).sort_values(ONE, kind="stable", ignore_index=True)


def common(
    frame: pd.DataFrame,
    rules: Sequence[str],
    *,
    choices: Choices | None = None,
    belief: Belief = BELIEF,
) -> tuple[pd.DataFrame, list[str]]:
    """The records on which rules can be compared, and in words what was left out: the
    configurations, t and seeds that all methods of a task have and all of the rules can choose
    among.
    """
    needs = [score for rule in rules for score in needs_of(rule)]
    frame, said = candidates(frame, tuple(dict.fromkeys(needs)))
    methods = frame.groupby(PLACE).method.transform("nunique")
    shared = frame.groupby(CELL).method.transform("nunique") == methods
    if not shared.all():
        said.append("t and seeds that a method of the same task lacks are left out")
    frame, before = frame[shared], -1
    while len(frame) not in (before, 0):  # what one rule loses may be what another needs
        before = len(frame)
        for rule in rules:
            chosen, lacking = _chosen(frame, rule, choices, belief)
            said += [f"{rule}: {sentence}" for sentence in lacking]
            frame = frame[_in(frame, chosen, ONE)]
    return frame, list(dict.fromkeys(said))


def needs_of(rule: str) -> tuple[str, ...]:
    """The scores that a rule asks for."""
    if rule not in NEEDS:
        raise unknown("rule", rule, NEEDS)
    return NEEDS[rule]


def _chosen(
    frame: pd.DataFrame, rule: str, choices: Choices | None, belief: Belief
) -> tuple[pd.DataFrame, list[str]]:
    """What a rule chooses, and in words what it had to leave out."""
    needs = needs_of(rule)
    if rule == "transfer":
        if choices is None:
            raise InputError("the rule transfer needs the choices made on development tasks")
        return choices.applied(frame)
    if rule == "default":
        check_single(frame)
        usual = frame[frame.configuration == 0]
        without = frame[~_in(frame, usual, [*PLACE, "method"])]
        return usual, [f"{name}: no record of its default" for name in without.method.unique()]
    found, said = candidates(frame, needs)
    if found.empty:
        return found, said
    if rule == "oracle":
        return _oracle(found, belief, said), said
    if rule == "cv+abstain":
        found = _with_baselines(found, _names(frame), said)
    return _best(found, needs), said


def _best(frame: pd.DataFrame, needs: tuple[str, ...]) -> pd.DataFrame:
    """The record of the highest first score for each method, task, t and seed; of equals the
    baseline's, if there is one, then that of the lower second score, then of the lower number.
    """
    first = frame[needs[0]].round(12)
    equal = first == first.groupby([frame[name] for name in ONE]).transform("max")
    best = frame[equal].assign(tied=frame[equal].groupby(ONE).t.transform("size") > 1)
    order = best.assign(user=~best.get("abstained", pd.Series(False, best.index)))
    order = order.sort_values(["user", *needs[1:], "configuration"], kind="stable")
    return order.drop_duplicates(ONE).drop(columns="user")


def _oracle(frame: pd.DataFrame, belief: Belief, said: list[str]) -> pd.DataFrame:
    """For each method, task and seed the configuration of the best expected accuracy in the mean
    over the other seeds.
    """
    mine = [*PLACE, "method"]
    alone = frame.groupby(mine).seed.transform("nunique") < 2
    said += [f"{name}: one seed has no other seeds" for name in frame[alone].method.unique()]
    frame = frame[~alone]
    if frame.empty:
        return frame
    values = expected(frame, [*mine, "configuration", "seed"], belief)
    groups = values.groupby([*mine, "configuration"])
    others = (groups.transform("sum") - values) / (groups.transform("size") - 1)
    ranking = others.round(12).rename("value").reset_index()
    ranking = ranking.sort_values(["value", "configuration"], ascending=[False, True])
    best = ranking.drop_duplicates([*mine, "seed"])
    return frame[_in(frame, best, [*mine, "configuration", "seed"])]


def _with_baselines(frame: pd.DataFrame, names: dict[str, str], said: list[str]) -> pd.DataFrame:
    """With the records of its baseline among those of each method, marked as `abstained`; without
    the methods that do not say what their baseline is, and the cells that it lacks.
    """
    frame = frame.assign(abstained=False, against=frame.baseline.map(names))
    free = frame[frame.supervised.eq(True)]
    users = frame[~frame.supervised.eq(True)]
    about = users[[*CELL, *_METHOD, "against"]].drop_duplicates(ONE)
    theirs = frame.drop(columns=[*_METHOD, "against"]).assign(against=frame.method)
    theirs = about.merge(theirs, on=[*CELL, "against"]).assign(abstained=True)
    able = _in(users, theirs, ONE)
    for name in users[~able].method.unique():
        said.append(f"{name}: left out where there are no records of its baseline")
    return pd.concat([free, users[able], theirs], ignore_index=True)[frame.columns]


def _names(frame: pd.DataFrame) -> dict[str, str]:
    """The name of the method that each algorithm (a spec) is a configuration of."""
    return dict(zip(frame.algorithm, frame.method, strict=True))


def _in(frame: pd.DataFrame, other: pd.DataFrame, keys: list[str]) -> npt.NDArray[np.bool_]:
    """Which rows have keys that the other frame has."""
    mine, theirs = (pd.MultiIndex.from_frame(part[keys]) for part in (frame, other))
    return np.asarray(mine.isin(theirs))
