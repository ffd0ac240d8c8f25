r"""The report's tables for a paper, as LaTeX that fits its column or page.

A document needs \usepackage{booktabs,tabularx}. The first column takes the width that is left, and
names break where they may; `reports.fitting` finds how the others fit.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

import pandas as pd

from robustssl.analysis.curves import TASK, task_in_words
from robustssl.errors import printable
from robustssl.reports.columns import asked_columns, first_scores, in_words
from robustssl.reports.fitting import GAP, HANG, fitting, length, widths
from robustssl.reports.sections import Section
from robustssl.reports.shown import EVERYTHING, WIDTHS, Shown

BOLD = "BOLD({})"
LINES = 42  # of a table on one page
USUAL = {"column": ("gain", "AUC"), "page": ("gain", "AUC", "WA")}
_MEANS = {
    "AUC": "AUC: mean over all $t$",
    "Acc0": "Acc0: at $t = 0$",
    "WA": "WA: the worst over all $t$",
    "EVM": "EVM: how much it moves with $t$",
    "VS": "VS: how unsteadily it moves",
    "RCC": "RCC: its correlation with $t$",
    "gain": "gain: mean difference to the matched baseline over all $t$",
    "break-even": "break-even: the first $t$ at which it falls below the baseline",
    "harms": "harms: tasks where the whole interval of the gain lies below 0, of those compared",
}


@dataclass(frozen=True)
class Caption:
    """What a table shows, and its label; columns that are not named are explained."""

    text: str
    label: str


def table_tex(
    table: pd.DataFrame, score: str, shown: Shown = EVERYTHING, columns: Sequence[str] = ()
) -> str:
    """The table of a report: for each task its rows. Columns that are asked for must fit; of those
    that are usual, as many are taken as fit.
    """
    first = [f"gain of {in_words(name)}" for name in first_scores(table)]
    usual = [*first, *USUAL[shown.width or "page"]]
    caption = Caption(f"The {in_words(score)} of each method, task by task", "tab:robustssl")
    return latex_of(
        table,
        lambda rows: asked_columns(rows, columns or usual, BOLD),
        caption,
        shown,
        must_fit=bool(columns),
    )


def section_tex(section: Section, shown: Shown = EVERYTHING) -> str:
    """The table of a section of a report; the number of seeds comes last, or not at all."""
    caption = Caption(section.title, f"tab:robustssl-{section.name}")

    def columns(rows: pd.DataFrame) -> pd.DataFrame:
        texts = section.columns(rows)
        return texts[sorted(texts, key=lambda name: name == "seeds")]

    return latex_of(section.rows, columns, caption, shown)


def latex_of(
    table: pd.DataFrame,
    columns: Callable[[pd.DataFrame], pd.DataFrame],
    caption: Caption,
    shown: Shown = EVERYTHING,
    *,
    must_fit: bool = False,
) -> str:
    """The rows of a table under the names of their tasks, and the columns that are shown, in as
    many tables as pages need.
    """
    texts = columns(table).map(_short)
    texts["method"] = [shown.name(name) for name in texts.method]
    every = list(texts)
    texts, size, room = fitting(texts, WIDTHS[shown.width or "page"], must=must_fit)
    pages = list(_pages(list(_lines(table, texts, room, shown))))
    head = _head(texts, size, caption, _shared(_notes(table)))
    rest = every[len(texts.columns) :]
    said = [f"% Left out, since they do not fit: {', '.join(rest)}."] if rest else []
    floats = (_float(page, head, shown, number) for number, page in enumerate(pages))
    return "\n".join([r"% \usepackage{booktabs,tabularx}", *said, *floats])


def _short(text: str) -> str:
    """Without the plain value behind an interval, which the other tables have."""
    return re.sub(r"(?<=[\]~]) \([-+\d.]+\)", "", text)


@dataclass(frozen=True)
class _Line:
    text: str
    is_task: bool = False
    notes: tuple[str, ...] = ()
    height: int = 1


def _lines(table: pd.DataFrame, texts: pd.DataFrame, room: float, shown: Shown) -> Iterator[_Line]:
    """The name of each task and its rows, which are marked with the letters of their notes. `room`
    is there for the name of a method in a line.
    """
    notes = _notes(table)
    shared = _shared(notes)
    every = list(dict.fromkeys(note for said in notes.values() for note in said))
    every = [note for note in every if note not in shared]
    for task, rows in table.groupby(TASK, dropna=False):
        if name := _escaped(task_in_words(task, shown.names)):
            whole = rf"{{{texts.shape[1]}}}{{@{{}}p{{\linewidth}}@{{}}}}"
            high = ceil(length(name) / (room + sum(widths(texts))))
            yield _Line(rf"\multicolumn{whole}{{\emph{{{name}}}}} \\", is_task=True, height=high)
        for index in rows.index:
            method, *others = map(_cell, texts.loc[index])
            own = [note for note in notes[index] if note in every]
            said = [(_letter(every.index(note)), _escaped(note)) for note in own]
            if said:
                method += rf"\textsuperscript{{{','.join(letter for letter, _ in said)}}}"
            told = tuple(rf"\textsuperscript{{{mark}}}{note.strip('.?')}." for mark, note in said)
            name, *rest = texts.loc[index]
            high = max(ceil(length(name) / room), *(text.count("\n") + 1 for text in (name, *rest)))
            yield _Line(" & ".join([method, *others]) + r" \\", notes=told, height=high)


def _notes(table: pd.DataFrame) -> dict[Any, list[str]]:
    """The notes of each row, by its index."""
    columns = [table[name] for name in ("note", "incomplete") if name in table]
    said = ["; ".join(filter(None, words)) for words in zip(*columns, strict=True)]
    texts = said or [""] * len(table)
    return {
        index: [note for note in text.split("; ") if note]
        for index, text in zip(table.index, texts, strict=True)
    }


def _shared(notes: Mapping[Any, Sequence[str]]) -> list[str]:
    """The notes that all of several rows have, which are said once."""
    first, *others = notes.values()
    return [note for note in first if others and all(note in said for said in others)]


def _letter(number: int) -> str:
    return chr(ord("a") + number) if number < 26 else str(number - 25)


def _pages(lines: Sequence[_Line]) -> Iterator[list[_Line]]:
    """The lines of each table; a task that is split is named again."""
    page: list[_Line] = []
    task: list[_Line] = []
    for line in lines:
        if sum(above.height for above in page) >= LINES - 3 * line.is_task:
            yield page
            page = [] if line.is_task else [*task]
        if line.is_task:
            task = [line]
            page += [_Line(r"\addlinespace")] if page else []
        page.append(line)
    yield page


@dataclass(frozen=True)
class _Head:
    """How a table begins: its caption, how it goes on on further pages, and its columns."""

    caption: str
    again: str
    begin: str


def _head(texts: pd.DataFrame, size: str, caption: Caption, shared: Sequence[str]) -> _Head:
    others = list(texts)[1:]
    known = "; ".join(_MEANS[name] for name in others if name in _MEANS)
    told = ". ".join(filter(None, [caption.text, known]))
    told += ". Brackets: 95\\% intervals over seeds."
    if texts.map(lambda text: text.startswith("BOLD(")).any(axis=None):
        told += " Bold: not significantly worse than the first of its task."
    if texts.map(lambda text: text.endswith("~")).any(axis=None):
        told += r" $\sim$: an interval that may cover less often."
    if shared:
        told += f" All rows: {_escaped('; '.join(shared))}."
    names = rf">{{\raggedright\arraybackslash\hangindent={HANG}em}}X"
    form = "@{}" + names + "l" * len(others) + "@{}"
    begin = [
        rf"\begin{{tabularx}}{{\linewidth}}{{{form}}}",
        r"\toprule",
        " & ".join(map(_cell, texts)) + r" \\",
        r"\midrule",
    ]
    look = [
        rf"\centering\{size}\setlength{{\tabcolsep}}{{{GAP / 2}pt}}",
        r"\setlength{\abovecaptionskip}{0pt}\setlength{\belowcaptionskip}{5pt}",
    ]
    first = rf"\caption{{{told}}}\label{{{caption.label}}}"
    again = rf"\caption[]{{{caption.text} (continued).}}"
    return _Head("\n".join([*look, first]), "\n".join([*look, again]), "\n".join(begin))


def _float(page: Sequence[_Line], head: _Head, shown: Shown, number: int) -> str:
    kind = "table" if shown.width == "column" else "table*"
    notes = sorted({note for line in page for note in line.notes})
    parts = [
        rf"\begin{{{kind}}}[tp]",
        head.again if number else head.caption,
        head.begin,
        *(line.text for line in page),
        r"\bottomrule",
        r"\end{tabularx}",
        *([r"\par\smallskip\raggedright " + " ".join(notes)] if notes else []),
        rf"\end{{{kind}}}",
        "",
    ]
    more = [r"\clearpage  % or LaTeX has too many tables in hand", ""]
    return "\n".join([*parts, *(more if number % 10 == 9 else [])])


_SPECIAL = {
    **{c: "\\" + c for c in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"$\sim$",
    "^": r"\textasciicircum{}",
    "<": "$<$",
    ">": "$>$",
    "|": "$|$",
    '"': "''",
}


def _cell(text: str) -> str:
    """A text in a cell, maybe of several lines; a bracket begins no option of the line before."""
    lines = ["{}" * line.startswith(("[", "*")) + _escaped(line) for line in text.split("\n")]
    if len(lines) == 1:
        return lines[0]
    return r"\begin{tabular}[t]{@{}l@{}}" + r"\\".join(lines) + r"\end{tabular}"


def _escaped(text: str) -> str:
    text = "".join(_SPECIAL.get(c, c) for c in printable(text))
    text = re.sub(r"(?<![\w.])-(?=\d)", "$-$", text)
    text = re.sub(r"(\\_|:(?! )|,(?! )|=|\[(?=[a-z]))", r"\1\\allowbreak{}", text)
    return re.sub(r"BOLD\(((?:[^()]|\([^()]*\))*)\)", r"\\textbf{\1}", text)
