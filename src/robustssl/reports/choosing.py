"""What a search has to say, for a report and for a page: rules side by side, methods in tiers, what
cross-validation saw, gains in labels, decisions.
"""

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
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
from robustssl.analysis.selection import NEEDS, UNRANKED, select
from robustssl.analysis.worth import worth
from robustssl.errors import InputError
from robustssl.records.files import read_frame
from robustssl.records.frame import part, successes, with_versions
from robustssl.reports.columns import signed
from robustssl.reports.markdown import written
from robustssl.reports.sections import Section

_RULES = """\
All rules choose here among the same configurations, t and seeds. Shown is the mean over tasks of
the accuracy that is expected under the belief Beta({a:g}, {b:g}) about t, with 95% intervals over
seeds, and in parentheses the gain over the baseline as the same rule chose it. The oracle saw test
rows: it is a mark of what is left to gain, and never ranked."""

_TIERS = """\
Methods of one tier cannot be told apart from the best of it, which comes first, under the rule
{rule}: the 95% interval of the difference holds 0. A method that lacks a task, t or seed that most
have is in no tier."""

_ACCOUNT = """\
Of the choices by accuracy out of fold: how often several configurations were equally good, how
often the baseline was taken instead (cv+abstain), and by how much the accuracy out of fold of what
was chosen exceeds its test accuracy."""

_WORTH = """\
How many further labels would have bought the baseline the same, by its learning curve under the
rule {rule}; below 0: labels thrown away."""

_DECISIONS = """\
t is not known, and an entrant decides for each task, t and seed which model to take, by the rule
{rule}: one method always, or the one of the best accuracy out of fold. Regret: by how much it is
less accurate than the better of the best baseline and the best method, best by the other seeds."""


@dataclass(frozen=True)
class Topic:
    """A title, what the table means, the table (of texts) and sentences that go below it."""

    title: str
    text: str
    table: pd.DataFrame
    notes: Sequence[str] = ()


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
    """What a search and one rule have to say, as sections of a report."""
    yield _section("rule", f"The tables above are of the rule **{rule}**.\n")
    for topic in (*topics_of_search(searched, choices), *topics_of_rule(chosen, rule)):
        parts = [f"## {topic.title}\n", f"{topic.text}\n"]
        parts += [written(topic.table), ""] if len(topic.table) else []
        parts += [*(f"- {note}" for note in topic.notes), ""] if topic.notes else []
        yield _section(topic.title, "\n".join(parts))


def _section(name: str, text: str) -> Section:
    return Section(name, text, pd.DataFrame(), lambda rows: rows)


def topics_of_search(searched: pd.DataFrame, choices: Choices | None) -> Iterator[Topic]:
    """What a search has to say about rules."""
    rules = able(searched, choices)
    unable = [rule for rule in NEEDS if rule not in (*rules, "transfer")]
    said = [f"{', '.join(unable)}: cannot choose for most methods here"] if unable else []
    make = partial(_rules, searched, rules, choices, said)
    yield _topic("How settings are chosen", _RULES.format(a=BELIEF.a, b=BELIEF.b), make, said)
    if folds := [rule for rule in ("cv", "cv+abstain") if rule in rules]:
        yield _topic("What cross-validation saw", _ACCOUNT, partial(_account, searched, folds))


def topics_of_rule(chosen: pd.DataFrame, rule: str) -> Iterator[Topic]:
    """What the records that one rule chose have to say."""
    ranked = rule not in UNRANKED
    if ranked:
        text = _TIERS.format(rule=rule)
        yield _topic("Methods that cannot be told apart", text, partial(_tiers, chosen))
    yield _topic("Gains in labels", _WORTH.format(rule=rule), partial(_worth, chosen))
    if ranked:
        yield _topic("Decisions", _DECISIONS.format(rule=rule), partial(_decisions, chosen))


def _topic(
    title: str, text: str, make: Callable[[], pd.DataFrame], notes: Sequence[str] = ()
) -> Topic:
    """A topic; where records do not allow its table, a sentence says why."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of what is left out, which notes tell
            return Topic(title, text, make(), notes)
    except InputError as error:
        return Topic(title, text, pd.DataFrame(), [*notes, f"Not known: {error}."])


def _rules(
    searched: pd.DataFrame, rules: Sequence[str], choices: Choices | None, said: list[str]
) -> pd.DataFrame:
    """What each method comes to under each rule; what was left out for that is added to `said`."""
    if choices is not None and searched.drawn.isin(choices.datasets).any():
        seen = ", ".join(choices.datasets)
        said.append(f"tasks of {seen} are left out: settings of transfer were chosen on them")
        searched = choices.ranked(searched)
    table, left_out = side_by_side(searched, rules, choices)
    said += left_out
    texts = [
        f"{row.accuracy:.3f}" + ("" if pd.isna(row.gain) else f" ({row.gain:+.3f})")
        for row in table.itertuples()
    ]
    wide = table.assign(text=texts).pivot(index="method", columns="rule", values="text")
    return wide[[r for r in rules if r in wide]].fillna("n/a").reset_index()


def _tiers(chosen: pd.DataFrame) -> pd.DataFrame:
    found = tiers(chosen)
    if not found:
        raise InputError("no task, t and seed is one that all methods have")
    rows = [(name, str(number)) for number, tier in enumerate(found, 1) for name in tier]
    return pd.DataFrame(rows, columns=["method", "tier"])


def _account(searched: pd.DataFrame, rules: Sequence[str]) -> pd.DataFrame:
    parts = [account(select(searched, rule)).assign(rule=rule) for rule in rules]
    told = pd.concat(parts).sort_values(["method", "rule"], kind="stable")
    columns = {
        "method": told.method,
        "rule": told.rule,
        "tied": [f"{share:.0%}" for share in told.tied],
        "abstained": [f"{share:.0%}" for share in told.abstained],
        "optimism": [signed(value) for value in told.optimism],
    }
    return pd.DataFrame(columns)


def _worth(chosen: pd.DataFrame) -> pd.DataFrame:
    found = worth(chosen)
    found = found[found.method != found.baseline]
    if found.empty:
        raise InputError("a baseline has records at one number of labels only")
    rows = found.assign(task=[task_of(row) for _, row in found.iterrows()])
    medians = {name: median(list(mine.worth)) for name, mine in rows.groupby("method")}
    table = rows[["method", "task", "worth"]].assign(worth=rows.worth.map(str))
    last = [(name, "median over tasks", str(value)) for name, value in medians.items()]
    both = pd.concat([table, pd.DataFrame(last, columns=table.columns)])
    return both.sort_values("method", kind="stable").reset_index(drop=True)


def _decisions(chosen: pd.DataFrame) -> pd.DataFrame:
    entrants = {f"always {name}": always(chosen, name) for name in chosen.method.unique()}
    if "cv_accuracy" in chosen and chosen.cv_accuracy.notna().all():
        entrants["the best out of fold"] = validated(chosen)
        entrants["never: the best baseline out of fold"] = validated(chosen, supervised=True)
    table = over(regrets(entrants, chosen), ["entrant"])
    order = np.argsort([value.estimate for value in table.regret], kind="stable")
    told = table.iloc[order]
    texts = [f"{value:.3f}" for value in told.regret]
    columns = {"entrant": told.entrant, "regret": texts, "tasks": told.tasks.map(str)}
    return pd.DataFrame(columns)
