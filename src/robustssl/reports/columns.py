"""The columns that a reader of a report sees first."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from robustssl.analysis.interval import Interval
from robustssl.analysis.table import interval_of, show
from robustssl.errors import unknown
from robustssl.records import catalog
from robustssl.spec import parse

METRICS = ("AUC", "WA", "EVM", "VS", "RCC")
AS_IS: Any = {"showindex": False, "disable_numparse": True}


def _claims(targets: str, environment: str, bold: str) -> str:
    """What the authors claim to answer, in bold those that the environment is one of."""
    name, options = parse(environment)
    here = {*name.split("+"), options.get("kind")}
    words = targets.split(", ")
    return ", ".join(bold.format(word) if word in here else word for word in words)


def gain_text(row: pd.Series, of: str = "") -> str:
    """The gain, or that of the score whose columns begin with `of`; of a method that has a baseline
    but no gain, that it is not known.
    """
    if row[f"{of}break_even"]:
        return signed(interval_of(row, f"{of}gain"))
    return "" if row.supervised else "not known"


def signed(interval: Interval) -> str:
    return format(interval, "+.3f")


def score_text(row: pd.Series, score: str) -> str:
    """A score over all t that a table holds beside the first one."""
    return "not known" if np.isnan(row[score]) else str(interval_of(row, score))


def in_words(score: str) -> str:
    return score.replace("_", " ")


def first_scores(rows: pd.DataFrame) -> Iterator[str]:
    """The scores that stand before the others, as some of the environments say."""
    wanted = dict.fromkeys(catalog.score_of(environment) for environment in rows.environment)
    return (name for name in wanted if name in rows)


def has_first(table: pd.DataFrame) -> bool:
    return any(first_scores(table))


def asked_columns(
    rows: pd.DataFrame, columns: Sequence[str] = (), bold: str = "**{}**"
) -> pd.DataFrame:
    """The method and the columns that are asked for, by the names that a reader sees; if none is,
    those that a reader wants first.
    """
    every = shown_columns(rows, bold)
    if not columns:
        return every
    every["Acc0"] = [str(interval_of(row, "Acc0")) for _, row in rows.iterrows()]
    for name in columns:
        if name not in every:
            raise unknown("column", name, every.columns)
    return every[["method", *(name for name in columns if name != "method")]]


def shown_columns(rows: pd.DataFrame, bold: str = "**{}**") -> pd.DataFrame:
    """The columns a reader wants first; the csv has them all."""
    ranks = ["" if np.isnan(rank) else f"{rank:.0f}" for rank in rows["rank"]]
    shown = pd.DataFrame({"rank": ranks, "method": rows.method}, index=rows.index)
    if rows.targets.any():
        pairs = zip(rows.targets, rows.environment, strict=True)
        shown["claims"] = [_claims(targets, environment, bold) for targets, environment in pairs]
    shown["seeds"] = rows.seeds.map(str)
    for score in first_scores(rows):
        own = [
            (score_text(row, score), gain_text(row, f"{score}_"))
            if catalog.score_of(row.environment) == score
            else ("", "")
            for _, row in rows.iterrows()
        ]
        shown[in_words(score)], shown[f"gain of {in_words(score)}"] = zip(*own, strict=True)
    for name in METRICS:
        shown[name] = [str(interval_of(row, name)) for _, row in rows.iterrows()]
        if name == "AUC":
            shown[name] = [
                bold.format(text) if best is True else text
                for text, best in zip(shown[name], rows.best, strict=True)
            ]
        if name == "EVM":
            shown["floor"] = rows.EVM_floor.map(show)
    shown["p"] = ["<0.001" if p < 0.001 else show(p) for p in rows.p_depends_on_t]
    shown["gain"] = [gain_text(row) for _, row in rows.iterrows()]
    shown["break-even"] = rows.break_even
    notes = [
        "; ".join(filter(None, words)) for words in zip(rows.note, rows.incomplete, strict=True)
    ]
    if any(notes):
        shown["note"] = notes
    return shown
