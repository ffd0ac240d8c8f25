"""The page of an audit, and what a notebook shows."""

from importlib import metadata
from importlib.resources import files
from typing import Any

import numpy as np

from robustssl.audits import advice, differences, headline
from robustssl.audits.audit import Audit
from robustssl.audits.evidence import evidence_of
from robustssl.audits.figure import TEMPLATES, draw_gain
from robustssl.audits.gains import Gains
from robustssl.audits.resampling import difference

MARK = "<title>Audit · robustssl</title>"  # of a page that may be replaced


def render(audit: Audit, rows: str, model: str, label_next: str = "") -> str:
    """The page; rows, model, label_next: the names of the files beside it, the last if there is
    one.
    """
    return TEMPLATES.get_template("audit.html").render(
        **contents(audit),
        words=advice,
        interval=differences.INTERVAL,
        mark=MARK,
        css=files("robustssl.sites").joinpath("static", "style.css").read_text("utf-8"),
        figure=draw_gain(audit),
        loading=advice.loading(audit.pair.kind, model),
        rows_file=rows,
        label_next=advice.label_next(audit, label_next) if label_next else {},
        version=metadata.version("robustssl"),
    )


def render_short(audit: Audit) -> str:
    """The answer and the picture, for a notebook."""
    return TEMPLATES.get_template("notebook.html").render(
        **contents(audit), figure=draw_gain(audit)
    )


def contents(audit: Audit) -> dict[str, Any]:
    """Sentences, and rows of tables, by their place."""
    failed = audit.gains.failed.items()
    return {
        "time": audit.time,
        "question": headline.QUESTION,
        "answer": audit.verdict.answer,
        "word": headline.word(audit.verdict),
        "needed": headline.needed(audit.verdict),
        "sentence": headline.sentence(audit),
        "worth": headline.worth(audit),
        "there": headline.there(audit),
        "keeping": advice.keeping(audit.keeping),
        "advice": audit.advice.text,
        "caveat": advice.caveat(audit),
        "size": advice.size(audit),
        "notes": audit.pair.notes,
        "shares": [_share(audit, kind) for kind in differences.KINDS],
        "auroc": differences.auroc(audit),
        "classes": differences.classes(audit),
        "telling": audit.inconsistency.telling,
        "how_telling": differences.TELLING.get(audit.pair.kind, ""),
        "lost": [(column.name, column.problem) for column in audit.inconsistency.columns],
        "score": audit.gains.score.replace("_", " "),
        "gains": gains_of(audit.gains),
        "measured": advice.measured(audit),
        "failed": [
            advice.FAILED.format(name=headline.called(name), error=error) for name, error in failed
        ],
        "use": advice.use(audit),
    }


def _share(audit: Audit, kind: str) -> dict[str, Any]:
    t = getattr(audit.inconsistency, kind)
    known = not np.isnan(t.estimate)
    text = "n/a" if not known else f"{t:.2f}" if t.low < t.high else f"{t.estimate:.2f}"
    return {
        "kind": kind,
        "t": t,
        "text": text,
        "known": known,
        "meaning": differences.meaning(audit, kind),
    }


def gains_of(gains: Gains) -> list[dict[str, Any]]:
    """Each learner with its score; and the gain of each that uses unlabeled rows, as measured."""
    rows = []
    for name in sorted(gains.held, key=lambda name: -gains.mean(name)):
        gain = None
        if name in gains.methods:
            error = evidence_of(gains, name).error
            gain = difference(gains.mean(name) - gains.mean(gains.alone), error, len(gains.y))
        title = headline.called(name).removeprefix("a ")
        rows.append({"name": name, "title": title, "score": gains.mean(name), "gain": gain})
    return rows
