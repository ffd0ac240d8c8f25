"""What the records of the leaderboard say: every number of docs/findings.md, and more.

    python experiments/findings.py results/leaderboard

It writes docs/findings.md, of which findings.txt is the text, and its heat map; and, beside this
file, all_findings.md (all tables), findings.csv (all of their numbers) and scores.csv (the AUC of
each method, task and seed). A mean over tasks has an interval over seeds by the rule of
`robustssl.analysis.tasks`. Differences are taken by task and seed.
"""

import argparse
import csv
import inspect
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from beside import controls, one_baseline, oracle_and_ceiling, published
from board import DATA, Board, Number, at
from matplotlib.figure import Figure
from questions import (
    KIND_NAMES,
    Table,
    above,
    best,
    by_kind,
    consistent,
    families,
    mean_gain,
    overall,
    robust,
    safety,
    setup,
    single_tasks,
)

from robustssl.analysis.curves import curves
from robustssl.analysis.interval import write_number
from robustssl.records.files import read_frame
from robustssl.records.frame import scored, successes, with_versions

HERE = Path(__file__).parent
DOCS = HERE.parent / "docs"
TEMPLATE = HERE / "findings.txt"  # of docs/findings.md: {title[column][row]} is a number of a table
INTRODUCTION = """\
# All tables of the findings

Written by `python experiments/findings.py`; [what they say](../docs/findings.md). Numbers are
accuracies, averaged over t where no t is named. Brackets hold 95% intervals over seeds of the mean
over tasks, parentheses its least and largest value when one dataset is left out (nothing stands
there where there is only one). A gain is the difference to the matched baseline.
"""


def sections(board: Board, balanced: Board) -> dict[str, tuple[str, Table]]:
    """Every table by its title, with what it shows."""
    asked: dict[str, tuple[Any, ...]] = {
        "Set-up": (setup, board),
        "Best by kind of task": (best, board),
        "Best by kind of task at t = 0": (best, board, at(0.0)),
        "Best by kind of task by balanced accuracy": (best, balanced),
        "Over all tasks": (overall, board),
        "Over all tasks at t = 0": (overall, board, at(0.0)),
        "Over all tasks by balanced accuracy": (overall, balanced),
        **{f"Over {words}": (overall, board, "AUC", [data]) for data, words in DATA.items()},
        "Gain": (by_kind, board),
        "Gain at t = 0": (by_kind, board, at(0.0)),
        "Gain at t = 1": (by_kind, board, at(1.0)),
        "Mean gain": (mean_gain, board),
        "Safety": (safety, board),
        "Above the baseline at every t": (above, board),
        "Robust methods": (robust, board),
        "Claims about t = 0": (consistent, board),
        "Families on tables": (families, board),
        "Oracle and ceiling": (oracle_and_ceiling, board),
        "Controls": (controls, board),
        "As published": (published, board),
        "One baseline for all": (one_baseline, board),
        "Single tasks": (single_tasks, board),
    }
    return {title: (inspect.getdoc(f) or "", f(*rest)) for title, (f, *rest) in asked.items()}


def numbers(tables: Mapping[str, Table]) -> Iterable[Sequence[Any]]:
    """Every number of every table with its interval, p-value and range."""
    yield "table", "row", "column", "tasks", "estimate", "low", "high", "p", "least", "most", "sure"
    for title, table in tables.items():
        for row in table.rows:
            for head, cell in zip(table.heads, row, strict=True):
                if isinstance(cell, Number):
                    ends = cell.without_one or (np.nan, np.nan)
                    found = (cell.estimate, cell.interval.low, cell.interval.high, cell.p, *ends)
                    written = ("" if np.isnan(x) else f"{x:.6f}" for x in found)
                    yield title, row[0], head, cell.tasks, *written, cell.sure


def scores(board: Board) -> Iterable[Sequence[Any]]:
    """The AUC of each method on each task, a column a seed."""
    seeds = sorted({seed for curve in board.curves.values() for seed in curve.seeds})
    yield "method", "environment", "dataset", "labels", "drawn", *(f"seed {s}" for s in seeds)
    for name in sorted(board.methods):
        for place, part in board.scores(name).items():
            values = dict(zip(part.seeds, part.values, strict=True))
            task = (place.task.environment, place.task.dataset, place.task.labels, place.drawn)
            yield name, *task, *(f"{values[s]:.6f}" if s in values else "" for s in seeds)


def write_csv(file: Path, rows: Iterable[Sequence[Any]]) -> None:
    with file.open("w", encoding="utf-8", newline="") as opened:
        csv.writer(opened, lineterminator="\n").writerows(rows)


def draw(table: Table, file: Path) -> None:
    """The gain of each method on each kind of task, in bold where its interval leaves out 0."""
    figure = Figure(figsize=(9, 10.5), layout="constrained")
    axes = figure.subplots()
    values = np.full((len(table.rows), len(KIND_NAMES)), np.nan)
    for i, row in enumerate(table.rows):
        for j, cell in enumerate(row[-len(KIND_NAMES) :]):
            text, look = "not run", {"color": "0.4"}
            if isinstance(cell, Number):
                values[i, j] = cell.estimate
                text = write_number(cell.estimate, "+.3f").replace("0.", ".")
                look["color"] = "white" if abs(cell.estimate) > 0.1 else "black"
                look["weight"] = "bold" if cell.p < 0.05 else "normal"
            axes.text(j, i, text, ha="center", va="center", size=8, **look)
    image = axes.imshow(values, cmap="RdBu", vmin=-0.15, vmax=0.15, aspect="auto")
    axes.set_yticks(range(len(table.rows)), [str(row[0]) for row in table.rows])
    heads = [name.replace(", ", "\n").replace(" ", "\n") for name in KIND_NAMES]
    axes.set_xticks(range(len(heads)), heads, fontsize=8)
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.set_facecolor("0.85")
    figure.colorbar(image, shrink=0.4, label="gain over the matched baseline, mean over t")
    figure.savefig(file, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("records", nargs="?", default=HERE.parent / "results" / "leaderboard")
    parser.add_argument("--out", type=Path, help="Write everything into this folder.")
    asked = parser.parse_args()
    frame = successes(with_versions(read_frame(asked.records)))
    board, balanced = (
        Board(curves(scored(frame, score))) for score in ("accuracy", "balanced_accuracy")
    )
    found = sections(board, balanced)
    tables = {title: table for title, (_, table) in found.items()}
    all_tables = [f"## {title}\n\n{about}\n\n{table}\n" for title, (about, table) in found.items()]
    folder, docs = asked.out or HERE, asked.out or DOCS
    (folder / "all_findings.md").write_text("\n".join([INTRODUCTION, *all_tables]), "utf-8")
    write_csv(folder / "findings.csv", numbers(tables))
    write_csv(folder / "scores.csv", scores(board))
    page = TEMPLATE.read_text("utf-8").format(**tables, records=f"{len(frame):,}")
    (docs / "findings.md").write_text(page, "utf-8")
    draw(tables["Gain"], docs / "findings.png")


if __name__ == "__main__":
    main()
