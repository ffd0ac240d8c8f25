"""An audit told: on a page, and in the words that the terminal shares with it."""

import io
import re
import textwrap
from importlib import metadata
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from matplotlib.figure import Figure
from tabulate import tabulate

from robustssl.audits import Audit, save_model
from robustssl.audits.estimate import LEVEL, Estimate
from robustssl.audits.gains import TS
from robustssl.errors import InputError
from robustssl.reports.style import looks, style

MODEL, ROWS = "model.skops", "rows.csv"
KINDS = {
    "distribution": "of the rows differ from the labeled ones",
    "label": "of the rows look like no labeled class",
    "feature": "of the features are lost: {lost} of {features}",
}


def write_audit(found: Audit, out: str | Path) -> Path:
    """Writes the page and the model into a folder; returns the page."""
    folder = Path(out)
    environment = Environment(
        loader=PackageLoader("robustssl.audits", "templates"),
        autoescape=select_autoescape(),
        undefined=StrictUndefined,
        trim_blocks=True,
    )
    css = files("robustssl.sites").joinpath("static", "style.css").read_text("utf-8")
    page = environment.get_template("audit.html").render(
        **tell(found),
        audit=found,
        css=css,
        figure=_svg(draw_gains_over_t(found)),
        level=f"{LEVEL:.0%}",
        version=metadata.version("robustssl"),
    )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        foreign_rows(found).to_csv(folder / ROWS, index=False)
        save_model(found.model, folder / MODEL)
        (folder / "index.html").write_text(page, encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot write the audit to {folder}: {error.strerror}") from error
    return folder / "index.html"


def check_folder(out: str | Path) -> None:
    """That an audit can be written there, and is not written over something else."""
    folder = Path(out)
    if (folder / "index.html").exists() and not (folder / ROWS).exists():
        raise InputError(f"{folder} holds other pages: name another folder with --out")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot write the audit to {folder}: {error.strerror}") from error


def foreign_rows(found: Audit) -> pd.DataFrame:
    """The unlabeled rows that were looked at, with the probability of each to be foreign; the
    number of a row counts from 0.
    """
    foreign = found.inconsistency.foreign
    share = np.nan if foreign is None else foreign.foreign.round(3)
    frame = pd.DataFrame({"row": found.pair.rows, "foreign": share})
    return frame.sort_values("foreign", ascending=False, kind="stable")


def describe(found: Audit, page: Path, width: int = 80) -> str:
    """The audit in plain text."""
    told = tell(found)

    def wrap(text: str) -> str:
        return textwrap.fill(text, width, initial_indent="  ", subsequent_indent="  ")

    def table(rows: list[list[str]], *headers: str) -> str:
        made = tabulate(rows, headers, tablefmt="plain", disable_numparse=True)
        return textwrap.indent(made, "  ")

    shares = [
        [row["kind"], str(row["t"]) if row["known"] else "", row["meaning"]]
        for row in told["shares"]
    ]
    gains = [[row["name"], row["accuracy"], row["gain"], row["verdict"]] for row in told["gains"]]
    telling = [[*row] for row in found.inconsistency.telling]
    lost = [f"{name} ({problem})" for name, problem in told["columns"]]
    parts = [
        textwrap.fill(" ".join([told["size"], *found.pair.notes]), width),
        "",
        f"How inconsistent are they? t, with its {LEVEL:.0%} interval",
        table(shares),
        wrap(told["apart"]),
        *([wrap(told["classes"])] if told["classes"] else []),
        *([table(telling, "most telling", "labeled", "unlabeled")] if telling else []),
        *([wrap("lost: " + ", ".join(lost))] if lost else []),
        "",
        "Will they help or harm? Accuracy on your labels, and gain over the baseline",
        table(gains),
        *(wrap(line) for line in told["failed"]),
        "",
        "What should I use?",
        wrap(found.advice.text),
        *(wrap(line) for line in told["caveats"]),
        "",
        f"The page, with pictures: {page}",
        f"Which rows are foreign:  {page.parent / ROWS}",
        "The model:",
        textwrap.indent(told["loading"], "  ").replace(MODEL, str(page.parent / MODEL)),
    ]
    return "\n".join(parts)


def tell(found: Audit) -> dict[str, Any]:
    """Sentences and rows of tables, by their place."""
    gains = found.gains
    return {
        "size": _size(found),
        "shares": _shares(found),
        "apart": _apart(found),
        "caveats": _caveats(found),
        "classes": _classes(found),
        "columns": [(column.name, column.problem) for column in found.inconsistency.columns],
        "gains": _gains(found),
        "over_t": _over_t(found),
        "failed": [f"{name} could not be trained: {why}" for name, why in gains.failed.items()],
        "loading": _loading(found),
    }


def _size(found: Audit) -> str:
    parts = [
        f"{found.labeled:,} labeled rows of {len(found.model.classes_)} classes",
        f"{found.unlabeled:,} unlabeled rows",
    ]
    if found.pair.kind == "tabular":
        parts.append(f"{found.pair.labeled.shape[1]} features")
    looked = []
    if len(found.pair.labeled) < found.labeled:
        looked.append(f"{len(found.pair.labeled):,} labeled")
    if len(found.pair.unlabeled) < found.unlabeled:
        looked.append(f"{len(found.pair.unlabeled):,} unlabeled")
    told = ", ".join(parts) + "."
    return f"{told} A random sample was looked at: {' and '.join(looked)} ones." if looked else told


def _shares(found: Audit) -> list[dict[str, Any]]:
    """t of each kind: name, estimate, low, high and what it is a share of."""
    rows = []
    for kind, meaning in KINDS.items():
        t = getattr(found.inconsistency, kind)
        known = not np.isnan(t.estimate)
        what = meaning.format(
            lost=len(found.inconsistency.columns), features=np.shape(found.pair.labeled)[-1]
        )
        if not known:
            what = "cannot be told: nothing is left to compare"
            if kind == "feature":
                what = f"not estimated for {found.pair.kind}s"
        rows.append({"kind": kind, "t": t, "known": known, "meaning": what})
    return rows


def _apart(found: Audit) -> str:
    foreign = found.inconsistency.foreign
    if foreign is None:
        return "No feature is left by which the rows could be compared."
    if foreign.p > 0.05:
        return (
            f"A forest found no difference between labeled and unlabeled rows (AUROC "
            f"{foreign.apart:.2f}, p = {foreign.p:.2f})."
        )
    p = "p < 0.001" if foreign.p < 0.001 else f"p = {foreign.p:.3f}"
    return (
        f"A forest tells unlabeled rows from labeled ones that it has not seen with an AUROC of "
        f"{foreign.apart:.2f} ({p})."
    )


def _gains(found: Audit) -> list[dict[str, Any]]:
    """Best first: each method with its accuracy, its baseline's, and the gain."""
    gains, rows = found.gains, []
    for name in sorted(gains.baselines, key=lambda name: -gains.scores[name].mean()):
        baseline, gain = gains.baselines[name], gains.gain(name)
        rows.append(
            {
                "name": name,
                "accuracy": f"{gains.scores[name].mean():.3f}",
                "baseline": baseline,
                "alone": f"{gains.scores[baseline].mean():.3f}",
                "gain": f"{gain.estimate:+.3f} [{gain.low:+.3f}, {gain.high:+.3f}]",
                "verdict": _verdict(gain),
            }
        )
    return rows


def _verdict(gain: Estimate) -> str:
    if gain.low == gain.high == 0:
        return "no effect"
    return "helps" if gain.low > 0 else "harms" if gain.high < 0 else "unclear"


def _caveats(found: Audit) -> list[str]:
    """What must not be read into the numbers, the most important first."""
    said = "Accuracies hold for rows like your labeled ones, and for no others."
    t = found.inconsistency.distribution
    if t.low > 0.05:
        said = (
            f"Accuracies hold for rows like your labeled ones. Of the unlabeled ones a share of "
            f"{t} is not like them: how a model does there, no number here tells."
        )
    return [said]


def _classes(found: Audit) -> str:
    """The shares of the classes, if they differ."""
    foreign = found.inconsistency.foreign
    if foreign is None:
        return ""
    names, counts = np.unique(found.pair.y, return_counts=True)
    mine = counts / counts.sum()
    if np.abs(mine - foreign.classes).max() < 0.1:
        return ""
    told = ", ".join(
        f"{name} {b:.0%} ({a:.0%})" for name, a, b in zip(names, mine, foreign.classes, strict=True)
    )
    return (
        f"Shares of the classes in unlabeled rows that are not foreign (in labeled rows): {told}."
    )


def _over_t(found: Audit) -> str:
    low, high = found.gains.reach
    return (
        "The unlabeled rows of each point are yours: at t = 0 those that look labeled, at t = 1 "
        f"those that look foreign. By estimate {low:.0%} of the first are foreign, and {high:.0%} "
        "of the others; in between they are mixed. Accuracies are on your labeled rows, held out."
    )


def _loading(found: Audit) -> str:
    rows = {
        "tabular": 'pd.read_csv("new.csv")',
        "text": '["A new text."]',
        "image": 'robustssl.audits.images_of(["new.png"])',
    }[found.pair.kind]
    first = {
        "tabular": "import pandas as pd, robustssl",
        "text": "import robustssl",
        "image": "import robustssl, robustssl.audits",
    }[found.pair.kind]
    return f'{first}\nmodel = robustssl.load_model("{MODEL}")\nmodel.predict({rows})'


def draw_gains_over_t(found: Audit) -> Figure:
    """The gain of each method over its baseline as t grows, and where the audit puts t."""
    gains = found.gains
    with style():
        figure = Figure(figsize=(7, 3.4), layout="constrained")
        panel = figure.add_subplot()
        t = found.inconsistency.distribution
        panel.axvspan(t.low, t.high, color="#eeeeee", linewidth=0, label="t of your rows")
        panel.axhline(0, color="#444444", linewidth=0.8)
        for name, look in looks(gains.baselines).items():
            folds = len(gains.curves[name])
            alone = gains.scores[gains.baselines[name]][:folds, None]
            difference = gains.curves[name] - alone
            bands = [gains.interval(values) for values in difference.T]
            panel.plot(TS, difference.mean(0), label=name, **look)
            low, high = [band.low for band in bands], [band.high for band in bands]
            panel.fill_between(TS, low, high, color=look["color"], alpha=0.1, linewidth=0)
        panel.set(xlabel="t: share of foreign rows among the unlabeled ones", ylabel="gain")
        panel.set_xlim(0, 1)
        figure.legend(loc="outside right upper", frameon=False)
    return figure


def _svg(figure: Figure) -> str:
    """The picture itself, without the lines before it."""
    text = io.StringIO()
    with style():
        figure.savefig(
            text, format="svg", metadata=dict.fromkeys(("Creator", "Date", "Format", "Type"))
        )
    return re.sub(r"^.*?(?=<svg)", "", text.getvalue(), flags=re.DOTALL)
