"""The report of records: a folder with a table (markdown, csv, JSON, LaTeX) and figures."""

import re
import warnings
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from robustssl.analysis.beside import with_score
from robustssl.analysis.choices import Choices
from robustssl.analysis.curves import KeyedCurve, curves
from robustssl.analysis.entrants import read_decisions
from robustssl.analysis.selection import UNRANKED, select
from robustssl.analysis.table import study_table
from robustssl.errors import InputError, unknown
from robustssl.records import catalog
from robustssl.records.files import read_frame
from robustssl.records.frame import part, scored, successes, with_versions
from robustssl.records.places import shown as shown_place
from robustssl.records.results import read
from robustssl.records.sheets import csv_of
from robustssl.reports.choosing import choosing_sections
from robustssl.reports.columns import METRICS
from robustssl.reports.curve_figures import draw_curves, draw_gains, without_gain
from robustssl.reports.latex import section_tex, table_tex
from robustssl.reports.markdown import beside_reported, page_of
from robustssl.reports.remarks import of_methods, omissions
from robustssl.reports.sections import (
    THERE,
    Section,
    detection_section,
    means_section,
    mix_section,
    there_section,
)
from robustssl.reports.shown import Shown, proper, shown
from robustssl.reports.style import save
from robustssl.reports.style import style as in_style
from robustssl.reports.table_figures import draw_cost, draw_map, draw_metrics, draw_ranks

SCORE_OF = {"there": THERE, "detection": "detection"}  # of figures beside the first one
MANY_TASKS = 24  # that figures with a panel for each have at most


def report(
    store: str | Path = "robustssl.sqlite",
    out: str | Path = "report",
    *,
    score: str | None = None,
    sort: str = "AUC",
    style: str | Path | None = None,
    published: str | Path | None = None,
    only: Sequence[str] = (),
    rule: str | None = None,
    choices: str | Path | None = None,
    decisions: str | Path | None = None,
    methods: Sequence[str] = (),
    names: Mapping[str, str] | str | Path | None = None,
    columns: Sequence[str] = (),
    width: str | None = None,
) -> list[Path]:
    """Write the report of a store, or of a file or folder of records, into a folder; returns the
    files written.

    `score` is by default the one by which all environments of the records are judged first, else
    accuracy. `only` takes a part of the records, by words such as dataset=wine. Figures with a
    panel for each task are left out, with a note, where there are too many. Rows are sorted by a
    metric. `style` is a style file of matplotlib that goes over the project's; `published` a file
    or folder of reported results to lay beside the measured ones. `rule` chooses among the
    configurations of a search (`default` if there are any); `choices` is the file of transfer's,
    `decisions` one of `robustssl.decide`, whose entrants are compared with the others.

    For a paper: `methods` are those that tables and figures show; without, figures of curves show
    those that matter (`analysis.matter`). `names` are what to call methods, datasets and
    environments, or a YAML file of that. `columns` are those of the tables, such as gain and AUC.
    `width`, column or page, is that of figures and LaTeX tables. Numbers do not depend on these,
    and the csv and JSON files hold everything.
    """
    frame = with_versions(part(read_frame(store), only))
    good = searched = successes(frame)
    made = None if choices is None else Choices.read(choices)
    decided = None if decisions is None else read_decisions(decisions)
    if decided is not None and rule in UNRANKED:
        raise InputError(
            f"decisions are not compared under the rule {rule}, which saw test rows: leave them "
            "out (--decisions), or name another rule"
        )
    if rule is None and (searched.configuration.any() or decided is not None):
        rule = "default"
    asked, score = score, score or catalog.shared_score(good.environment.unique())
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        good = good if rule is None else select(good, rule, choices=made)
        found = curves(scored(good, score))
        if not found:
            raise InputError(
                f"{shown_place(store)} holds no scores to report; `robustssl status` tells why"
            )
        table = _sorted(study_table(found), sort)
        if rule in UNRANKED:
            table = table.assign(rank=np.nan, best=None, incomplete="saw test rows: no rank")
        table = table if asked else _with_first_scores(table, good, score)
        reported = beside_reported(table, read(published)) if published else pd.DataFrame()
    detected = _curves_of(good, "detection") if score != "detection" else []
    there = _curves_of(good, THERE) if score != THERE else []
    table = with_score(table, there, THERE) if there else table
    with in_style(style):
        view = shown(found, methods, names, width)
    sections = _sections(table, found, detected, score, view)
    if rule is not None:
        sections += choosing_sections(searched, good, rule, made, decided)
    notes = [str(w.message) for w in caught if issubclass(w.category, UserWarning)]
    notes += of_methods(found, view)
    tasks = len({curve.task for curve in view.curves(found)})
    if tasks > MANY_TASKS:
        notes.append(
            f"no figures of single tasks, since {tasks} do not fit into one: `--only dataset=NAME` "
            "takes some, and `robustssl site` shows all"
        )
    folder = Path(out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        seen = view.rows(table)
        told = [*notes, *omissions(frame)]
        page = page_of(seen, sections, told, score, reported, view, columns)
        files = {
            "table.md": page,
            "table.csv": csv_of(table),
            "table.json": table.to_json(orient="records", indent=1),
            "table.tex": table_tex(proper(seen), score, view, columns),
            **{f"{s.name}.tex": section_tex(s, view) for s in sections if len(s.rows)},
            **{f"{s.name}.csv": csv_of(s.sheet) for s in sections if len(s.sheet)},
        }
        with in_style(style, printed=width is not None):
            few = tasks <= MANY_TASKS
            beside = {"there": there, "detection": detected} if few else {}
            panels = [name for name in columns if name in METRICS] or METRICS
            drawn = _figures(table, found, beside, score, view, panels if few else ())
            pictures = _draw(folder, drawn, rule not in UNRANKED)
        files["table.md"] = _with_pictures(page, {path.name for path in pictures})
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot write the report to {folder}: {error.strerror}") from error
    return [*(folder / name for name in files), *pictures]


def _with_pictures(page: str, drawn: Container[str]) -> str:
    """The page without links to pictures that were not drawn."""
    return re.sub(r"!\[[^]]*\]\((.+?)\)\n\n", lambda m: m[0] * (m[1] in drawn), page)


def _sections(
    table: pd.DataFrame,
    found: Sequence[KeyedCurve],
    detected: Sequence[KeyedCurve],
    score: str,
    view: Shown,
) -> list[Section]:
    both = there_section(table, score) if score not in SCORE_OF.values() else None
    sections = (means_section(found), both, mix_section(found), detection_section(detected))
    return [replace(s, rows=view.rows(s.rows)) for s in sections if s is not None]


def _figures(
    table: pd.DataFrame,
    found: Sequence[KeyedCurve],
    beside: Mapping[str, Sequence[KeyedCurve]],
    score: str,
    view: Shown,
    metrics: Sequence[str],
) -> dict[str, Callable[[], Figure | None]]:
    """How to draw each figure; those of single tasks only with `metrics`."""
    seconds = pd.DataFrame([(c.name, c.seconds) for c in found]).groupby(0)[1].mean().to_dict()
    rows = proper(table)
    seen, few = view.rows(rows), view.rows(rows, few=True)
    whole = [curve for curve in found if curve.is_whole]
    of_tasks: dict[str, Callable[[], Figure | None]] = {
        "rac": lambda: draw_curves(whole, score, view),
        "gain": lambda: draw_gains(found, view),
        "metrics": lambda: draw_metrics(few, view, metrics),
        **{
            name: partial(draw_curves, part, SCORE_OF[name], view)
            for name, part in beside.items()
            if view.curves(part)
        },
    }
    return {
        **(of_tasks if metrics else {}),
        "ranks": lambda: draw_ranks(rows, view),
        "map": lambda: draw_map(seen, view, without_gain(found, replace(view, methods=view.asked))),
        "cost": lambda: draw_cost(few, seconds, view),
    }


def _draw(
    folder: Path, drawn: Mapping[str, Callable[[], Figure | None]], ranked: bool
) -> list[Path]:
    figures = {name: draw() for name, draw in drawn.items() if ranked or name != "ranks"}
    return [
        file
        for name, figure in figures.items()
        if figure is not None
        for file in save(figure, folder / name)
    ]


def _sorted(table: pd.DataFrame, by: str) -> pd.DataFrame:
    """Best first: the least of what tells of movement, the most of everything else."""
    known = [*METRICS, "Acc0", "gain"]
    if by not in known:
        raise unknown("metric to sort by", by, known)
    return table.sort_values(by, ascending=by in ("EVM", "VS"), kind="stable")


def _curves_of(good: pd.DataFrame, score: str) -> list[KeyedCurve]:
    """The curves of a score beside the first one, which some records lack."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of those that lack it
        return [curve for curve in curves(scored(good, score)) if curve.is_whole]


def _with_first_scores(table: pd.DataFrame, good: pd.DataFrame, score: str) -> pd.DataFrame:
    """With the score by which methods are judged first, of environments where it is another."""
    own = good.environment.map(catalog.score_of)
    for name in dict.fromkeys(own[own != score]):
        table = with_score(table, _curves_of(good[own == name], name), name)
    return table
