"""Every sentence that an audit says, on its page and in the terminal."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from robustssl.analysis.interval import Interval
from robustssl.audits.mixture import LEVEL

if TYPE_CHECKING:
    from robustssl.audits.audit import Audit
    from robustssl.audits.keeping import Keeping
    from robustssl.audits.verdict import Verdict

# What was left out when the rows were read
RARE = (
    "Classes with fewer than {fewest} labeled rows were left out: {names}. They have {share:.0%} "
    "of the labeled rows; unlabeled rows of these classes look inconsistent for this reason alone."
)
NO_TARGET = "Rows of {file} with an empty {target} were left out: {rows}."
IGNORED_TARGET = "The column {target} of {file} was ignored."
EXTRA = "Columns that only the unlabeled rows have were left out: {names}."
IDENTIFIERS = (
    "Columns that look like an identifier, with a different value in nearly every row, were left "
    "out: {names}."
)
DATES = (
    "Columns that hold dates or times were left out of the comparison: {names}. If rows are to be "
    "ordered by one of them, audit again with --time."
)
AMBIGUOUS = (
    "The commas in {names} may mark decimals or thousands, so the values were read as words. Write "
    "1.234 or 1234 instead of 1,234."
)
LEAK = (
    "Warning: {names} nearly determines the target, and the other columns do not. If it is not "
    "known before the class is, the accuracies below are false: audit again with --drop."
)
SAME = "Warning: the labeled and the unlabeled rows are the same rows."
MAYBE_TEXT = "If {name} holds texts to learn from, audit again with --text {name}."
NO_TEXT = "Rows with an empty text were left out: {rows}."
ENCODER = "The {kind}s were compared by the vectors of the encoder {encoder}."

# What to do if the target holds numbers
BIN = (
    'make classes of numbers first, such as pd.cut(frame["price"], [0, 10, 100, 1000], '
    'labels=["low", "middle", "high"])'
)
REGRESSION = "holds {values} different numbers, and an audit does not predict numbers: " + BIN

# Whether time separates the files
OTHER_TIME = (
    "Your unlabeled rows are {word}: {share:.0%} of them are {word} than every labeled row."
)
SAME_TIME = (
    "Time does not separate the files: {later:.0%} of the unlabeled rows are later than every "
    "labeled row, and {earlier:.0%} are earlier."
)
NO_TIME = "Whether time separates the files is not known: one of them has no times."

# How the unlabeled rows have lost a column
MISSING = "missing"
CONSTANT = "the same value in every unlabeled row"
OTHER_TYPE = "{} in the labeled rows, {} in the unlabeled rows"
NEW_WORDS = "{:.0%} of the unlabeled rows have a value that no labeled row has"
OTHER_SCALE = "on another scale: about {} times as spread out as in the labeled rows"
GAPS = "missing in {:.0%} of the unlabeled rows and in {:.0%} of the labeled rows"

# Headings, and text that is the same in every audit
INTERVAL = f"{LEVEL:.0%} interval"
HOW_INCONSISTENT = "How inconsistent are the unlabeled rows?"
MODELS = "Which models were tried?"
WHAT_TO_USE = "How do I use the model?"
LIMITS = "What these numbers cannot say"
ROWS = "The probability that an unlabeled row is inconsistent, row by row:"
LOST = "Columns that are lost in the unlabeled rows:"
KINDS = {
    "distribution": "of the rows differ from the labeled rows",
    "label": "of the rows look like no labeled class",
    "feature": "of the columns are lost",
}
CONFUSED = "the labeled classes are too similar: a new class may look like one of them"
MOVED = "all rows have moved, so that they look like no class"
DRIFT = (
    "All unlabeled rows have moved alike, by about {size:.1f} standard deviations in a typical "
    "column: moved back, they cannot be told from labeled rows. This is a drift of all rows, not a "
    "mixture with rows of another kind."
)
CLASSES = (
    "The classes have other shares among the consistent unlabeled rows ({level}) than among the "
    "labeled rows: {told}."
)
MOST_CLASSES = 5  # that are told, those that changed most
NO_COLUMN = "there is no column by which the rows can be compared"
TELLING = {
    "tabular": "Columns by which the forest tells them apart, with their importance. For numbers: "
    "the median (10% to 90% quantile). For words: the most common value (its share).",
    "text": "Words whose frequency differs most: the share of rows that contain them.",
}
_TRAINED = "Each model was trained on {rows} (those with a gain: on unlabeled rows, too), and "
_GAIN = (
    " A gain is the difference to the best model without unlabeled rows. The best of several looks "
    "better here than it is, and most gains are small: the answer above allows for both, so that "
    "its numbers are others."
)
MEASURED = (
    _TRAINED.format(rows="four fifths of your labeled rows")
    + "asked about the remaining fifth. This was done for each fifth, and repeated with a second "
    "division into fifths." + _GAIN
)
MEASURED_IN_TIME = (
    _TRAINED.format(rows="earlier labeled rows") + "asked about later ones: the later half of your "
    "labeled rows, part by part." + _GAIN
)
FAILED = "{name} could not be trained: {error}"
FITTED = "{model} was fitted to your {which}, and saved beside this page:"
LABEL_NEXT = "Which rows should I label next?"
UNSEEN = (
    "An inconsistent row may be of a new class, or of a known class that has changed: the rows "
    "alone do not show which. The label share counts both if they look like no labeled class.",
    "Whether unlabeled rows help is measured on rows like your labeled rows, not on the others.",
    "A new class that looks like a labeled class is not noticed; t is then higher than estimated.",
    "The shares of the classes may differ between labeled and unlabeled rows. This is allowed for, "
    "and does not count as inconsistent.",
)


def counted(number: int, noun: str) -> str:
    """A number of things."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def listed(names: Iterable[Any], most: int = 5) -> str:
    """Names with commas, the first few of many."""
    every = [str(name) for name in names]
    more = f" and {len(every) - most} more" if len(every) > most else ""
    return ", ".join(every[:most]) + more


_EXPECTED = "On rows like your labeled ones, {chosen} has an expected {score} of {expected}."
MAJORITY = (
    " However, nothing here is better beyond chance than to answer {name} every time, which is "
    "correct for {share:.3f} of the labeled rows."
)


@dataclass(frozen=True)
class Advice:
    """The algorithm to use, and what to expect of it."""

    algorithm: str
    uses_unlabeled: bool
    text: str


def advise(
    verdict: Verdict, expected: Interval, score: str, majority: tuple[Any, float] | None = None
) -> Advice:
    """What to use by the verdict. expected: the score of that; majority: the most common class and
    its share.
    """
    use = verdict.answer == "yes"
    chosen = verdict.method if use else verdict.baseline
    text = _EXPECTED.format(
        chosen=chosen, score=score.replace("_", " "), expected=f"{expected:.3f}"
    )
    if majority and score == "accuracy" and expected.low <= majority[1]:
        text += MAJORITY.format(name=majority[0], share=majority[1])
    return Advice(chosen, use, text)


def advise_without(lost: list[str], algorithm: str, accuracy: float) -> str:
    """What to do about columns that the unlabeled rows have lost."""
    return (
        f"Lost in the unlabeled rows: {listed(lost)}. For such rows, use a model without these "
        f"columns: {algorithm} then has an accuracy of {accuracy:.3f}. To get it, audit again with "
        "--drop COLUMN for each of them."
    )


def size(audit: Audit) -> str:
    """How many rows there are, and how many were examined."""
    parts = [
        f"{counted(audit.labeled, 'labeled row')} of {len(audit.model.classes_)} classes",
        counted(audit.unlabeled, "unlabeled row"),
    ]
    if audit.pair.kind == "tabular":
        parts.append(counted(audit.pair.labeled.shape[1], "column"))
    examined = {
        "labeled": (len(audit.pair.labeled), audit.labeled),
        "unlabeled": (len(audit.pair.unlabeled), audit.unlabeled),
    }
    fewer = [f"{n:,} {which}" for which, (n, every) in examined.items() if n < every]
    sampled = f" A random sample was examined: {' and '.join(fewer)} rows." if fewer else ""
    return ", ".join(parts) + "." + sampled


def meaning(audit: Audit, kind: str) -> str:
    """What t of a kind is a share of, or why it is not known."""
    if kind == "feature" and audit.pair.kind != "tabular":
        return f"not estimated for {audit.pair.kind}s"
    if np.isnan(getattr(audit.inconsistency, kind).estimate):
        return f"unknown: {_why_unknown(audit, kind)}"
    lost, columns = len(audit.inconsistency.columns), np.shape(audit.pair.labeled)[-1]
    return KINDS[kind] + (f": {lost} of {columns}" if kind == "feature" else "")


def _why_unknown(audit: Audit, kind: str) -> str:
    found = audit.inconsistency.mixture
    if found is None or kind == "feature":
        return NO_COLUMN
    return CONFUSED if np.isnan(found.drift) else MOVED


def drift(audit: Audit) -> str:
    """That all unlabeled rows have moved alike, if they have."""
    found = audit.inconsistency.mixture
    return "" if found is None or np.isnan(found.drift) else DRIFT.format(size=found.drift)


def auroc(audit: Audit) -> str:
    """How well a forest tells unlabeled from labeled rows."""
    found = audit.inconsistency.mixture
    if found is None:
        return f"No random forest was tried: {NO_COLUMN}."
    if found.p > 0.05:
        return (
            "A random forest finds no difference between labeled and unlabeled rows (AUROC "
            f"{found.auroc:.2f}, where 0.5 is chance; p = {found.p:.2f})."
        )
    p = "p < 0.001" if found.p < 0.001 else f"p = {found.p:.3f}"
    return (
        "Tested on rows that it was not trained on, a random forest tells unlabeled from labeled "
        f"rows with an AUROC of {found.auroc:.2f} (0.5 is chance; {p}). {drift(audit)}"
    ).rstrip()


def classes(audit: Audit) -> str:
    """The shares of the classes that differ between labeled and unlabeled rows beyond chance."""
    found = audit.inconsistency.mixture
    if found is None or not found.changed.any():
        return ""
    names, counts = np.unique(audit.pair.y, return_counts=True)
    labeled, shares = counts / counts.sum(), found.classes
    told = [
        f"class {names[k]} {shares.estimate[k]:.0%} [{shares.low[k]:.0%}, {shares.high[k]:.0%}], "
        f"was {labeled[k]:.0%}"
        for k in np.argsort(-np.abs(shares.estimate - labeled))
        if found.changed[k]
    ]
    return CLASSES.format(told="; ".join(told[:MOST_CLASSES]), level=INTERVAL)


def measured(audit: Audit) -> str:
    """How the gains were measured."""
    return MEASURED if audit.pair.time is None else MEASURED_IN_TIME


def caveat(audit: Audit) -> str:
    """For which rows the accuracies hold."""
    t = audit.inconsistency.distribution
    if t.low > 0.05:
        return (
            f"All this holds for rows like your labeled rows. By estimate, {t:.2f} of the "
            "unlabeled rows are different. What holds for these is not known, since they have no "
            "labels; but the best models with and without unlabeled rows give the same answer to "
            f"{1 - audit.verdict.apart:.0%} of all unlabeled rows, and there is no gain on these."
        )
    return "All this holds for rows like your labeled rows, and for no others."


def keeping(found: Keeping) -> str:
    """What the picture shows."""
    best = found.best
    ends = f" [{best.low:.0%}, {best.high:.0%}]" if best.low < best.high else ""
    return (
        f"The gain of {found.method} over the best model without unlabeled rows, if it is given "
        "some of the unlabeled rows: first those that are most like the labeled rows. The best "
        f"share is {best.estimate:.0%}{ends}. With all of them it is the gain of the answer above."
    )


def use(audit: Audit) -> str:
    """The model, and what it has learned from."""
    which = "labeled and unlabeled rows" if audit.advice.uses_unlabeled else "labeled rows alone"
    return FITTED.format(model=audit.advice.algorithm, which=which)


def label_next(audit: Audit, file: str) -> dict[str, str]:
    """What to do with the file of rows to label next, and the code that does it."""
    target = audit.target or "class"
    return {
        "text": f"{file} has rows that look like the labeled rows, but to which the best models "
        f"with and without unlabeled rows give different answers. Fill in the column {target}, "
        "append the rows to your labeled rows, and audit again:",
        "code": f'''import pandas as pd
new = pd.read_csv("{file}").dropna(subset="{target}").drop(columns="row")
pd.concat([pd.read_csv("labeled.csv"), new]).to_csv("more.csv", index=False)''',
    }


def loading(kind: str, model: str) -> str:
    """Python code that loads the model from a file and uses it."""
    imports, rows = {
        "tabular": ("import pandas as pd, robustssl", 'pd.read_csv("new.csv")'),
        "text": ("import robustssl", '["A new text."]'),
        "image": ("import robustssl, robustssl.audits", 'robustssl.audits.images_of(["new.png"])'),
    }[kind]
    return f'{imports}\nmodel = robustssl.load_model("{model}")\nmodel.predict({rows})'
