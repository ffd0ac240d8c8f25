"""The first lines of an audit: its answer in a word, and in sentences that need no statistics."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from robustssl.analysis.interval import Interval, write_number
from robustssl.analysis.labels import Labels
from robustssl.audits.verdict import MARGIN, Verdict

if TYPE_CHECKING:
    from robustssl.audits.audit import Audit

QUESTION = "Should you use the unlabeled rows?"
_WORDS = {"yes": "Yes", "no": "No", "cannot tell": "Cannot tell"}
_SENTENCES = {
    "yes": "Use your {rows} unlabeled rows, with {method}. It gives {gain} than {baseline}, the "
    "best model without them.",
    "no": "Leave your {rows} unlabeled rows aside, and train {baseline} on the labeled rows. The "
    "best model that also uses unlabeled rows, {method}, gives {gain}{little}.",
    "cannot tell": "Your {labels} labels are too few to tell whether the {rows} unlabeled rows "
    "help. Until then, train {baseline} on the labeled rows: {method}, which also uses unlabeled "
    "rows, may give {ends}.",
}
_LITTLE = ", which is too little to matter"
_DOUBT = (
    " The interval reaches 0 or less: the rows help with a probability of {helps:.0%}, not for "
    "certain."
)
_UNLIKE = (
    " This holds for rows like your labeled rows; by estimate, {share:.0%} of the unlabeled rows "
    "differ from them."
)
_NAMES = {
    "logistic": "a logistic regression",
    "forest": "a random forest",
    "boosting": "gradient boosting",
    "supervised_kernel": "a kernel classifier",
    "supervised_gaussian": "a Gaussian classifier",
    "self_training": "self-training",
    "label_spreading": "label spreading",
    "ssgmm": "a mixture of Gaussians",
}


def word(verdict: Verdict) -> str:
    """The answer."""
    return _WORDS[verdict.answer]


def needed(verdict: Verdict) -> str:
    """How many labels would tell, if that is the answer."""
    return f"about {about(verdict.labels)} labels would" if verdict.labels else ""


def short(verdict: Verdict) -> str:
    """The answer in one line, without a full stop."""
    more = needed(verdict)
    return word(verdict) + (f" ({more})" if more else "")


def told(audit: Audit) -> str:
    """The answer in a few lines."""
    return f"{short(audit.verdict)}. {sentence(audit)} {worth(audit)}".strip()


def sentence(audit: Audit) -> str:
    """What to do, with which model, and what it gains."""
    verdict, score = audit.verdict, audit.gains.score
    low, high = (_amount(end, score) for end in (verdict.gain.low, verdict.gain.high))
    share = audit.inconsistency.distribution
    more = ""
    if verdict.answer == "yes":
        more = (_DOUBT if verdict.gain.low <= 0 else "") + (_UNLIKE if share.low > 0.05 else "")
    return (_SENTENCES[verdict.answer] + more).format(
        share=share.estimate,
        helps=verdict.helps,
        rows=f"{audit.unlabeled:,}",
        labels=f"{audit.labeled:,}",
        method=called(verdict.method),
        baseline=called(verdict.baseline),
        gain=gain(verdict.gain, score),
        ends=f"between {' '.join(low.split()[:2])} and {high}",
        little=_LITTLE if 0 <= verdict.gain.estimate < MARGIN else "",
    )


def worth(audit: Audit) -> str:
    """What the unlabeled rows are worth in labels, if there is a use for them."""
    found = audit.verdict.worth
    if audit.verdict.answer == "no":
        return ""
    if found is None or np.isnan(found.estimate) or (found.low, found.high) == (-np.inf, np.inf):
        return "How many labels that is worth is not known."
    lost = ", as if labels were lost" if found.estimate <= -0.5 else ""
    return f"The unlabeled rows are worth {_labels(found)}{lost}."


def there(audit: Audit) -> str:
    """The gain at the class shares of the unlabeled rows, if these differ."""
    found = audit.verdict.there
    if found is None:
        return ""
    return (
        "The classes have other shares among the unlabeled rows. At those shares, the model with "
        f"unlabeled rows gives {gain(found, audit.gains.score)} than the one without."
    )


def gain(found: Interval, score: str) -> str:
    """A gain with its interval."""
    scale, form = (100, "+.1f") if score == "accuracy" else (1, "+.3f")
    low, high = (write_number(scale * end, form) for end in (found.low, found.high))
    return f"about {_amount(found.estimate, score)} [{low}, {high}]"


def called(learner: str) -> str:
    """A learner in words, if it has a name in words."""
    around = re.fullmatch(r"self_training\((.*)\)", learner)
    if around:
        return f"self-training around {called(around[1])}"
    return _NAMES.get(learner.partition("[")[0], learner)


def about(number: float) -> str:
    """A number rounded to two digits."""
    return f"{round(float(f'{number:.2g}')):,}"


def _amount(value: float, score: str) -> str:
    if score == "accuracy":
        return f"{abs(100 * value):.1f} {'more' if value > 0 else 'fewer'} right answers in 100"
    return f"{abs(value):.3f} {'better' if value > 0 else 'worse'} {score.replace('_', ' ')}"


def _labels(found: Labels) -> str:
    """A number of labels with its interval, as far as the learning curve tells."""

    def end(value: float) -> str:
        if np.isfinite(value):
            return about(value)
        return f"more than {about(found.most)}" if value > 0 else f"less than {about(found.least)}"

    told = f"{end(found.estimate)} labels"
    if np.isfinite(found.estimate):
        more = " more" if found.estimate >= 0.5 else ""
        told = f"about {about(found.estimate)}{more} labels"
    low = "0 or fewer" if found.low < 0.5 <= found.estimate else end(found.low)
    return told if np.isnan(found.low) else f"{told} [{low}, {end(found.high)}]"
