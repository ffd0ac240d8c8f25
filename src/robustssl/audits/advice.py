"""What an audit advises, and the headings of its page. Its answer is in `headline`, what it says of
the rows in `remarks` and `differences`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from robustssl.analysis.interval import Interval
from robustssl.audits.headline import called
from robustssl.audits.remarks import counted, listed

if TYPE_CHECKING:
    from robustssl.audits.audit import Audit
    from robustssl.audits.keeping import Keeping
    from robustssl.audits.verdict import Verdict

# Headings, and text that is the same in every audit
HOW_INCONSISTENT = "How inconsistent are the unlabeled rows?"
MODELS = "Which models were tried?"
WHAT_TO_USE = "How do I use the model?"
LIMITS = "What these numbers cannot say"
SHARE = (
    "t is the share of the unlabeled rows, or of their columns, that is inconsistent with the "
    "labeled rows: 0 if none is, 1 if all are."
)
ROWS = "The probability that an unlabeled row is inconsistent, row by row:"
LOST = "Columns that are lost in the unlabeled rows:"
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
FITTED = "The model, {model}, was fitted to your {which}, and saved beside this page:"
LABEL_NEXT = "Which rows should I label next?"
UNSEEN = (
    "An inconsistent row may be of a new class, or of a known class that has changed: the rows "
    "alone do not show which. The label share counts both if they look like no labeled class.",
    "Whether unlabeled rows help is measured on rows like your labeled rows, not on the others.",
    "A new class that looks like a labeled class is not noticed; t is then higher than estimated.",
    "The shares of the classes may differ between labeled and unlabeled rows. This is allowed for, "
    "and does not count as inconsistent.",
)


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
        chosen=called(chosen), score=score.replace("_", " "), expected=f"{expected:.3f}"
    )
    if majority and score == "accuracy" and expected.low <= majority[1]:
        text += MAJORITY.format(name=majority[0], share=majority[1])
    return Advice(chosen, use, text)


def advise_without(lost: list[str], algorithm: str, accuracy: float) -> str:
    """What to do about columns that the unlabeled rows have lost."""
    return (
        f"Lost in the unlabeled rows: {listed(lost)}. For such rows, use a model without these "
        f"columns: {called(algorithm)} then has an accuracy of {accuracy:.3f}. To get it, audit "
        "again with --drop COLUMN for each of them."
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
        f"The gain of {called(found.method)} over the best model without unlabeled rows, if it is "
        "given some of the unlabeled rows: first those that are most like the labeled rows. The "
        f"best share is {best.estimate:.0%}{ends}. With all of them it is the gain of the answer "
        "above."
    )


def use(audit: Audit) -> str:
    """The model, and what it has learned from."""
    which = "labeled and unlabeled rows" if audit.advice.uses_unlabeled else "labeled rows alone"
    return FITTED.format(model=called(audit.advice.algorithm), which=which)


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
