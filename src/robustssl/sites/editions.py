"""Editions of a site: the same pages for each rule that chooses among the settings of a search."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from robustssl.analysis.choices import Choices
from robustssl.analysis.rules import able
from robustssl.analysis.selection import UNRANKED, select
from robustssl.errors import InputError
from robustssl.records.frame import with_pair
from robustssl.reports.choosing import Topic, topics_of_rule, topics_of_search
from robustssl.sites.payload import payload

NEVER_RANKED = "never ranked: saw test rows"
_FIRST = "default"
_CHOOSES = {
    "default": "each method has its default settings",
    "transfer": "each method has, for a kind of data, the settings that are best on tasks of other "
    "datasets",
    "cv": "for each task, t and seed, the settings of the best accuracy on labeled rows out of "
    "fold",
    "cv+abstain": "as by cv, but with the settings of its baseline among those to choose from",
    "confidence": "for each task, t and seed, the settings with the surest predictions of "
    "unlabeled rows",
    "rankme": "for each task, t and seed, the settings whose features have the highest rank",
    "bnm": "for each task, t and seed, the settings whose predictions of unlabeled rows are sure "
    "and varied (their nuclear norm)",
    "agreement": "for each task, t and seed, the settings whose predictions agree most on two "
    "views of unlabeled rows",
    "oracle": "for each task and seed, the settings that are best on the test rows of other seeds: "
    "a mark of what is left to gain, and no way to choose",
}


@dataclass(frozen=True, eq=False)
class Edition:
    """The records that a rule chose (rule None: there was no search), what the pages compute with,
    and what they say about the choice.
    """

    good: pd.DataFrame
    data: dict[str, Any]
    rule: str | None = None
    topics: Sequence[Topic] = ()
    left_out: Sequence[str] = ()

    @property
    def folder(self) -> str:
        if self.rule in (None, _FIRST):
            return ""
        return f"rule-{str(self.rule).replace('+', '-')}/"

    @property
    def label(self) -> str:
        return f"{self.rule} ({NEVER_RANKED})" if self.is_unranked else str(self.rule)

    @property
    def is_unranked(self) -> bool:
        return self.rule in UNRANKED

    @property
    def chooses(self) -> str:
        """How the rule chooses, in words."""
        return _CHOOSES[str(self.rule)]


def editions(
    good: pd.DataFrame, choices: Choices | None, decisions: pd.DataFrame | None = None
) -> list[Edition]:
    """One edition if there was no search and there are no decisions to show; else one for each rule
    that the records allow, that of the default settings first.
    """
    if not good.configuration.any() and decisions is None:
        good = with_pair(good)
        return [Edition(good, payload(good))]
    found, lacking = {}, []
    for rule in able(good, choices):
        try:
            found[rule] = _chosen(good, rule, choices)
        except InputError as error:
            if rule == _FIRST:
                raise
            lacking.append(str(error))
    shared = list(topics_of_search(good, choices))
    return [
        _edition(
            chosen, rule, [*shared, *topics_of_rule(chosen, rule, decisions)], [*said, *lacking]
        )
        for rule, (chosen, said) in found.items()
    ]


def _chosen(
    good: pd.DataFrame, rule: str, choices: Choices | None
) -> tuple[pd.DataFrame, list[str]]:
    """The records that a rule chooses, and in words what it left out; transfer has no pages of the
    tasks that its choices were made on.
    """
    if rule == "transfer" and choices is not None:
        good = choices.ranked(good)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        chosen = select(good, rule, choices=choices)
    return chosen, [str(warning.message) for warning in caught]


def _edition(
    chosen: pd.DataFrame, rule: str, topics: Sequence[Topic], left_out: Sequence[str]
) -> Edition:
    chosen = with_pair(chosen)
    data = payload(chosen)
    if rule in UNRANKED:
        data["unranked"] = True
    return Edition(chosen, data, rule, topics, left_out)
