"""The pictures of the documents, drawn by the project itself: python docs/pictures.py [FOLDER]"""

import sys
import tempfile
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import robustssl
from robustssl import Curve
from robustssl.analysis import compare
from robustssl.analysis.metrics import GRID
from robustssl.pictures.environment import show
from robustssl.reports.style import looks, style

STUDY = {
    "algorithms": ["supervised_kernel", "label_spreading[alpha=0.2]"],  # as in reading_a_rac.md
    "environments": "feature",
    "datasets": "digits",
}


def environments(folder: Path) -> None:
    """What t does to the unlabeled rows of wine."""
    for name in ("distribution", "label", "feature", "prior"):
        with tempfile.TemporaryDirectory() as place:
            picture, *_ = show(name, "wine", Path(place) / name)
            (folder / picture.name).write_bytes(picture.read_bytes())


def anatomy(folder: Path) -> None:
    """A curve, its baseline, and what is read from them."""
    with tempfile.TemporaryDirectory() as place:
        robustssl.run(STUDY, Path(place) / "s.sqlite", workers=1, progress=False)
        found = {c.key["algorithm"]: c for c in robustssl.curves(Path(place) / "s.sqlite")}
    baseline, curve = (Curve(found[n].ts, found[n].scores) for n in STUDY["algorithms"])
    gain = compare.gain(curve, baseline)
    turn = compare.break_even(gain)
    names = [name.partition("[")[0] for name in STUDY["algorithms"]]
    look = looks({name: name.startswith("supervised") for name in names})
    figure = Figure(figsize=(7.2, 3.6), layout="constrained")
    axes = figure.subplots()
    for name, drawn in zip(names, (baseline, curve), strict=True):
        axes.plot(drawn.ts, drawn.mean, label=name, **look[name])
        axes.fill_between(drawn.ts, *drawn.band(), color=look[name]["color"], alpha=0.12, lw=0)
    fine = np.linspace(0, 1, 501)
    high, low = (np.interp(fine, c.ts, c.mean) for c in (curve, baseline))
    for side, colour in ((high > low, "#009E73"), (high < low, "#D55E00")):
        axes.fill_between(fine, high, low, where=side, color=colour, alpha=0.25, lw=0)
    worst, level = int(curve.mean.argmin()), float(baseline.mean[0])
    axes.axvline(turn.estimate, color="#555555", lw=0.8, ls=":")
    axes.axvspan(turn.low, turn.high, color="#555555", alpha=0.08, lw=0)
    floor = float(curve.band()[0].min()) - 0.02
    note = {"fontsize": 8, "arrowprops": {"arrowstyle": "-", "color": "#555555", "lw": 0.7}}
    start = (0, curve.mean[0])
    axes.annotate(f"Acc0 = {start[1]:.2f}", start, (0.04, 0.955), **note)
    bottom = (curve.ts[worst], curve.mean[worst])
    axes.annotate(f"WA = {bottom[1]:.2f}", bottom, (0.9, bottom[1] - 0.03), **note)
    turned = (turn.estimate, floor + 0.03)
    beside = (turn.low - 0.24, floor + 0.03)
    axes.annotate(f"break-even t* = {turn.estimate:.2f}", turned, beside, va="center", **note)
    axes.text(0.01, 0.835, "gain: the unlabeled rows help", fontsize=8, color="#00694c")
    axes.text(0.72, 0.825, "harm", fontsize=8, color="#a34700")
    axes.text(0.01, level - 0.012, "baseline: labeled rows alone", fontsize=8, va="top")
    axes.set(xlabel="inconsistency t", ylabel="accuracy", ylim=(floor, 0.98), xlim=(-0.02, 1.02))
    axes.legend(fontsize=8, loc="upper right")
    figure.savefig(folder / "rac.png", dpi=150)


SHAPES = {
    "steady": (0.90, 0.90, 0.89, 0.90, 0.89, 0.90),
    "falling": (0.92, 0.90, 0.87, 0.84, 0.81, 0.78),
    "a cliff": (0.92, 0.92, 0.92, 0.70, 0.70, 0.70),
    "falls, recovers": (0.92, 0.86, 0.74, 0.72, 0.80, 0.86),
    "dead": (0.86,) * 6,
    "noise": (0.88, 0.84, 0.89, 0.83, 0.88, 0.84),
}


def shapes(folder: Path) -> None:
    """Six shapes and their numbers; the scores are made up."""
    figure = Figure(figsize=(7.2, 4.4), layout="constrained")
    panels = figure.subplots(2, 3, sharex=True, sharey=True)
    for panel, (name, scores) in zip(panels.flat, SHAPES.items(), strict=True):
        panel.axhline(0.86, color="#777777", ls="--", lw=1)
        panel.plot(GRID, scores, marker="o")
        got = Curve(GRID, [scores]).metrics()
        lines = (("AUC", "WA"), ("EVM", "RCC"))
        text = "\n".join("   ".join(f"{k} {got[k]:.2f}" for k in line) for line in lines)
        panel.text(0.03, 0.04, text.replace("nan", "n/a"), transform=panel.transAxes, fontsize=7)
        panel.set(title=name, ylim=(0.58, 0.97))
    figure.supxlabel("inconsistency t", fontsize=9)
    figure.supylabel("score", fontsize=9)
    figure.savefig(folder / "shapes.png", dpi=150)


if __name__ == "__main__":
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "pictures"
    out.mkdir(exist_ok=True)
    with style():
        environments(out)
        anatomy(out)
        shapes(out)
