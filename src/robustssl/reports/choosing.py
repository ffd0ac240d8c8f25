"""What a search has to say, for a report and for a page: rules side by side, methods in tiers, what
cross-validation saw, gains in labels, decisions.
"""

import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pandas as pd

from robustssl.analysis.candidates import task_of
from robustssl.analysis.choices import Choices
from robustssl.analysis.choices import choose as chosen_on
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
from robustssl.reports.regrets import ADVISED, DECISIONS, decided, shown
from robustssl.reports.sections import Section

_RULES = """\
All rules choose here among the same configurations, t and seeds. Shown is the mean over tasks of
the accuracy that is expected under the belief Beta({a:g}, {b:g}) about t, with 95% intervals over
seeds, and in parentheses the gain over the baseline as the same rule chose it: a rule that chooses
a poor baseline makes gains large, so compare accuracies across rules, not gains. The oracle saw
test rows, of other seeds: it is a mark of what is left to gain, no bound, and never ranked."""

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


@dataclass(frozen=True)
class Topic:
    """A title, what the table means, the table (of texts), sentences that go below it, and maybe a
    sheet of its numbers.
    """

    title: str
    text: str
    table: pd.DataFrame
    notes: Sequence[str] = ()
    sheet: pd.DataFrame = field(default_factory=pd.DataFrame)


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
    searched: pd.DataFrame,
    chosen: pd.DataFrame,
    rule: str,
    choices: Choices | None,
    decisions: pd.DataFrame | None,
) -> Iterator[Section]:
    """What a search and one rule have to say, as sections of a report."""
    yield _section("rule", f"The tables above are of the rule **{rule}**.\n", pd.DataFrame())
    for topic in (*topics_of_search(searched, choices), *topics_of_rule(chosen, rule, decisions)):
        parts = [f"## {topic.title}\n", f"{topic.text}\n"]
        parts += [written(topic.table.map(_plain)), ""] if len(topic.table) else []
        parts += [*(f"- {_plain(note)}" for note in topic.notes), ""] if topic.notes else []
        yield _section(topic.title.lower(), "\n".join(parts), topic.sheet)


def _plain(text: str) -> str:
    """A text, maybe of somebody's file, on one line and without tags; `< 3` stays as it is."""
    return re.sub(r"<(?=\S)", "&lt;", " ".join(text.split()))


def _section(name: str, text: str, sheet: pd.DataFrame) -> Section:
    return Section(name, text, pd.DataFrame(), lambda rows: rows, sheet)


def topics_of_search(searched: pd.DataFrame, choices: Choices | None) -> Iterator[Topic]:
    """What a search has to say about rules."""
    rules = able(searched, choices)
    unable = [rule for rule in NEEDS if rule not in (*rules, "transfer")]
    said = [f"{', '.join(unable)}: cannot choose for most methods here"] if unable else []
    make = partial(_rules, searched, rules, choices, said)
    yield _topic("How settings are chosen", _RULES.format(a=BELIEF.a, b=BELIEF.b), make, said)
    if folds := [rule for rule in ("cv", "cv+abstain") if rule in rules]:
        yield _topic("What cross-validation saw", _ACCOUNT, partial(_account, searched, folds))


def topics_of_rule(
    chosen: pd.DataFrame, rule: str, decisions: pd.DataFrame | None = None
) -> Iterator[Topic]:
    """What the records that one rule chose have to say; `decisions` bring entrants of their own."""
    ranked = rule not in UNRANKED
    if ranked:
        text = _TIERS.format(rule=rule)
        yield _topic("Methods that cannot be told apart", text, partial(_tiers, chosen))
    yield _topic("Gains in labels", _WORTH.format(rule=rule), partial(_worth, chosen))
    if ranked:
        said: list[str] = []
        make = partial(decided, chosen, decisions, said)
        text = DECISIONS.format(rule=rule, advised="" if decisions is None else ADVISED)
        yield _topic("Decisions", text, make, said, shown)


def _topic(
    title: str,
    text: str,
    make: Callable[[], pd.DataFrame],
    notes: Sequence[str] = (),
    show: Callable[[pd.DataFrame], tuple[pd.DataFrame, pd.DataFrame]] | None = None,
) -> Topic:
    """A topic, whose table and sheet `show` makes of what is made; where records do not allow it, a
    sentence says why.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of what is left out, which notes tell
            made = make()
    except InputError as error:
        return Topic(title, text, pd.DataFrame(), [*notes, f"Not known: {error}."])
    table, sheet = show(made) if show else (made, pd.DataFrame())
    return Topic(title, text, table, notes, sheet)


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
