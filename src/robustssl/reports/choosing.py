"""The sections of a report on a search: rules side by side, gains in labels, decisions."""

import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from robustssl.analysis.candidates import task_of
from robustssl.analysis.choices import Choices
from robustssl.analysis.choices import choose as chosen_on
from robustssl.analysis.decisions import always, over, regrets, validated
from robustssl.analysis.density import BELIEF
from robustssl.analysis.labels import median
from robustssl.analysis.optimism import account
from robustssl.analysis.rules import able, side_by_side, tiers
from robustssl.analysis.selection import UNRANKED, select
from robustssl.analysis.worth import worth
from robustssl.errors import InputError
from robustssl.records.files import read_frame
from robustssl.records.frame import part, successes, with_versions
from robustssl.reports.columns import signed
from robustssl.reports.markdown import written
from robustssl.reports.sections import Section

_RULES = """\
## How settings are chosen

The tables above are of the rule **{rule}**. Here all rules choose among the same configurations, t
and seeds: the mean over tasks of the accuracy that is expected under the belief Beta({a:g}, {b:g})
about t, with 95% intervals over seeds, and in brackets of its own the gain over the baseline as the
same rule chose it. The oracle saw test rows: it is a mark of what is left to gain, and no entrant.
"""

_TIERS = """\
Methods of one tier cannot be told apart from the best of it (under {rule}); one that lacks a task,
t or seed that most have is in none: {tiers}.
"""

_ACCOUNT = """\
### What cross-validation saw

Of the choices by accuracy out of fold: how often several configurations were equally good, how
often the baseline was taken instead (cv+abstain), and by how much the accuracy out of fold of what
was chosen exceeds its test accuracy.
"""

_WORTH = """\
## Gains in labels

How many further labels would have bought the baseline the same, by its learning curve under the
rule {rule}; below 0: labels thrown away.
"""

_DECISIONS = """\
## Decisions

t is not known, and an entrant decides for each task, t and seed which model to take, by the rule
{rule}: one method always, or the one of the best accuracy out of fold. Regret: by how much it is
less accurate than the better of the best baseline and the best method, best by the other seeds.
"""


def choose(
    store: str | Path, file: str | Path = "choices.json", *, only: Sequence[str] = ()
) -> Choices:
    """Choose settings on the tasks of a store, for the rule transfer, and write them to a file."""
    made = chosen_on(successes(with_versions(part(read_frame(store), only))))
    try:
        made.write(file)
    except OSError as error:
        raise InputError(f"cannot write {file}: {error.strerror}") from error
    return made


def choosing_sections(
    searched: pd.DataFrame, chosen: pd.DataFrame, rule: str, choices: Choices | None
) -> Iterator[Section]:
    """What a search has to say beside the records that one rule chose of it."""
    yield _section("rules", _rules(searched, chosen, rule, choices))
    yield _section("worth", _worth(chosen, rule))
    if rule not in UNRANKED:
        yield _section("decisions", _decisions(chosen, rule))


def _section(name: str, parts: Iterator[str]) -> Section:
    return Section(name, "\n".join(parts), pd.DataFrame(), lambda rows: rows)


def _rules(
    searched: pd.DataFrame, chosen: pd.DataFrame, rule: str, choices: Choices | None
) -> Iterator[str]:
    yield _RULES.format(rule=rule, a=BELIEF.a, b=BELIEF.b)
    rules = able(searched, choices)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # `said` tells what was left out
        try:
            table, said = side_by_side(searched, rules, choices)
        except InputError as error:
            yield f"Not known: {error}.\n"
            return
    texts = [
        f"{row.accuracy:.3f}" + ("" if pd.isna(row.gain) else f" ({row.gain:+.3f})")
        for row in table.itertuples()
    ]
    wide = table.assign(text=texts).pivot(index="method", columns="rule", values="text")
    yield written(wide[[r for r in rules if r in wide]].fillna("n/a").reset_index())
    yield ""
    if rule not in UNRANKED and (found := tiers(chosen)):
        names = "; ".join(f"{n}: {', '.join(tier)}" for n, tier in enumerate(found, 1))
        yield _TIERS.format(rule=rule, tiers=names)
    yield from (f"- {sentence}" for sentence in said)
    if folds := [name for name in ("cv", "cv+abstain") if name in rules]:
        yield from _account(searched, folds)


def _account(searched: pd.DataFrame, rules: Sequence[str]) -> Iterator[str]:
    yield _ACCOUNT
    parts = []
    for rule in rules:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            found = account(select(searched, rule)).assign(rule=rule)
        parts.append(found)
    told = pd.concat(parts).sort_values(["method", "rule"], kind="stable")
    yield written(
        pd.DataFrame(
            {
                "method": told.method,
                "rule": told.rule,
                "tied": [f"{share:.0%}" for share in told.tied],
                "abstained": [f"{share:.0%}" for share in told.abstained],
                "optimism": [signed(value) for value in told.optimism],
            }
        )
    )
    yield ""


def _worth(chosen: pd.DataFrame, rule: str) -> Iterator[str]:
    yield _WORTH.format(rule=rule)
    found = worth(chosen)
    found = found[found.method != found.baseline]
    if found.empty:
        yield "Not known: a baseline has records at one number of labels only.\n"
        return
    rows = found.assign(task=[task_of(row) for _, row in found.iterrows()])
    medians = {name: median(list(mine.worth)) for name, mine in rows.groupby("method")}
    table = rows[["method", "task", "worth"]].assign(worth=rows.worth.map(str))
    last = [(name, "median over tasks", str(value)) for name, value in medians.items()]
    both = pd.concat([table, pd.DataFrame(last, columns=table.columns)])
    yield written(both.sort_values("method", kind="stable").reset_index(drop=True))
    yield ""


def _decisions(chosen: pd.DataFrame, rule: str) -> Iterator[str]:
    yield _DECISIONS.format(rule=rule)
    entrants = {f"always {name}": always(chosen, name) for name in chosen.method.unique()}
    if "cv_accuracy" in chosen and chosen.cv_accuracy.notna().all():
        entrants["the best out of fold"] = validated(chosen)
        entrants["never: the best baseline out of fold"] = validated(chosen, supervised=True)
    try:
        table = over(regrets(entrants, chosen), ["entrant"])
    except InputError as error:
        yield f"Not known: {error}.\n"
        return
    order = np.argsort([value.estimate for value in table.regret], kind="stable")
    told = table.iloc[order]
    texts = [f"{value:.3f}" for value in told.regret]
    columns = {"entrant": told.entrant, "regret": texts, "tasks": told.tasks.map(str)}
    yield written(pd.DataFrame(columns))
    yield ""
