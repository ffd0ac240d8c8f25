"""What an audit says of how the unlabeled rows differ from the labeled ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from robustssl.audits.mixture import LEVEL

if TYPE_CHECKING:
    from robustssl.audits.audit import Audit

INTERVAL = f"{LEVEL:.0%} interval"
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
