"""An audit for machines: the document that audit.json holds, described by audit.schema.json."""

from importlib import metadata
from typing import Any

import numpy as np

from robustssl.analysis.interval import Interval
from robustssl.analysis.labels import Labels
from robustssl.audits import headline
from robustssl.audits.audit import Audit
from robustssl.audits.inspection import Inconsistency
from robustssl.audits.mixture import LEVEL
from robustssl.audits.page import gains_of

VERSION = 1  # of the document; grows if a field changes its meaning or goes


def document(audit: Audit) -> dict[str, Any]:
    """What was found, as JSON values; what is not known is None."""
    verdict, pair = audit.verdict, audit.pair
    return {
        "version": VERSION,
        "robustssl": metadata.version("robustssl"),
        "answer": verdict.answer,
        "labels_needed": verdict.labels,
        "sentence": f"{headline.sentence(audit)} {headline.worth(audit)}",
        "time": audit.time or None,
        "level": LEVEL,
        "score": audit.gains.score,
        "model": {
            "algorithm": audit.advice.algorithm,
            "uses_unlabeled": audit.advice.uses_unlabeled,
            "expected_score": _interval(audit.expected),
            "advice": audit.advice.text,
        },
        "gain": {
            "method": verdict.method,
            "baseline": verdict.baseline,
            "believed": _interval(verdict.gain),
            "measured": _interval(verdict.measured),
            "at_unlabeled_shares": _interval(verdict.there),
            "probability_helps": _number(verdict.helps),
            "probability_harms": _number(verdict.harms),
            "apart": _number(verdict.apart),
            "worth_in_labels": _labels(verdict.worth),
        },
        "kept": {
            "best": _interval(audit.keeping.best),
            "gains": [
                {"share": share, "gain": _interval(gain)}
                for share, gain in audit.keeping.gains.items()
            ],
        },
        "inconsistency": _inconsistency(audit.inconsistency, pair.y),
        "learners": [
            {
                "name": row["name"],
                "uses_unlabeled": row["gain"] is not None,
                "score": _number(row["score"]),
                "gain": _interval(row["gain"]),
            }
            for row in gains_of(audit.gains)
        ],
        "failed": dict(audit.gains.failed),
        "data": {
            "kind": pair.kind,
            "encoder": pair.encoder or None,
            "target": audit.target or None,
            "labeled": audit.labeled,
            "unlabeled": audit.unlabeled,
            "examined": {"labeled": len(pair.labeled), "unlabeled": len(pair.unlabeled)},
            "columns": pair.labeled.shape[1] if pair.kind == "tabular" else None,
        },
        "notes": list(pair.notes),
    }


def _inconsistency(found: Inconsistency, y: Any) -> dict[str, Any]:
    mixture, classes = found.mixture, []
    if mixture is not None:
        names, counts = np.unique(y, return_counts=True)
        classes = [
            {
                "name": str(name),
                "labeled": float(count / counts.sum()),
                "unlabeled": _interval(mixture.classes[k]),
                "changed": bool(mixture.changed[k]),
            }
            for k, (name, count) in enumerate(zip(names, counts, strict=True))
        ]
    return {
        "distribution": _interval(found.distribution),
        "label": _interval(found.label),
        "feature": _interval(found.feature),
        "auroc": None if mixture is None else _number(mixture.auroc),
        "p": None if mixture is None else _number(mixture.p),
        "classes": classes,
        "lost_columns": [
            {"name": column.name, "problem": column.problem, "share": _number(column.share)}
            for column in found.columns
        ],
        "telling": [
            {"name": name, "labeled": mine, "unlabeled": theirs}
            for name, mine, theirs in found.telling
        ],
    }


def _number(value: Any) -> float | None:
    return float(value) if np.isfinite(value) else None


def _interval(found: Interval | None) -> dict[str, float | None] | None:
    """None if the estimate is not known, whatever its interval."""
    if found is None or np.isnan(found.estimate):
        return None
    return {end: _number(getattr(found, end)) for end in ("estimate", "low", "high")}


def _labels(found: Labels | None) -> dict[str, float | None] | None:
    """Numbers beyond what the learning curve tells are None: see `least` and `most`."""
    if found is None or np.isnan(found.estimate):
        return None
    names = ("estimate", "low", "high", "least", "most")
    return {name: _number(getattr(found, name)) for name in names}
