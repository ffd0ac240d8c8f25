"""Entrants: who decides whether to use unlabeled rows, and the file of decisions that some bring.

An entrant decides for each task, t and seed which model to take. It is a series of accuracies,
by environment, dataset, labels, t and seed. Records of one rule (`select`) are what there is to
decide among.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from robustssl.analysis.candidates import CELL, PLACE, task_of
from robustssl.errors import InputError, printable, unknown
from robustssl.records.sheets import without_apostrophes

Entrant = Any  # a pandas Series of accuracies, indexed by CELL

ADVICE, NOTE = [*CELL, "entrant", "use"], "note"  # the columns of decisions, and why they were made
_LARGEST = 10**7  # bytes of a file of decisions: one has less than 200
_LONGEST = 40  # characters of an entrant's name


def always(chosen: pd.DataFrame, method: str) -> Entrant:
    """Uses one method, as a rule chose its settings, everywhere; of a baseline: never uses."""
    _check_ranked(chosen)
    if method not in {*chosen.method}:
        raise unknown("method", method, chosen.method.unique())
    return chosen[chosen.method == method].set_index(CELL).accuracy


def validated(chosen: pd.DataFrame, *, supervised: bool | None = None) -> Entrant:
    """Takes the method of the best accuracy out of fold, of those that use unlabeled rows, of the
    supervised ones ("never use"), or of all (None); of equals a supervised one, then that of the
    lower log-loss, then the first by name.
    """
    _check_ranked(chosen)
    if not _has_folds(chosen):
        raise InputError("to take a method by its accuracy out of fold, all records need it")
    rows = chosen.assign(first=-chosen.cv_accuracy.round(12), user=~chosen.supervised.eq(True))
    if supervised is not None:
        rows = rows[rows.user != supervised]
    order = rows.sort_values(["first", "user", "cv_log_loss", "method"], kind="stable")
    return order.drop_duplicates(CELL).set_index(CELL).accuracy.sort_index()


def advised(with_rows: Entrant, without: Entrant, decisions: pd.DataFrame) -> Entrant:
    """Follows decisions, a table with the columns of a cell and `use`: one entrant where they say
    so, else the other. Cells without a decision are left out; those between the lowest and the
    highest t of a task only, since else an entrant gains by hiding where it is weak.
    """
    if decisions.use.dtype != bool:
        raise InputError("decisions whether to use the rows must be True or False")
    if decisions.duplicated(CELL).any():
        raise InputError("there must be one decision for each task, t and seed")
    use = decisions.set_index(CELL).use
    cells = use.index.intersection(with_rows.index).intersection(without.index)
    if cells.empty:
        raise InputError("no decision is on a task, t and seed of the records")
    ends = with_rows.reset_index().groupby(PLACE).t.agg(["min", "max"])
    mine = cells.to_frame(index=False)
    for place, group in mine.groupby(PLACE):
        if (group.t.min(), group.t.max()) != tuple(ends.loc[place]):
            raise InputError(
                f"{task_of(group.iloc[0])}: decisions must reach from the lowest t of the records "
                f"to the highest, {ends.loc[place, 'min']:g} to {ends.loc[place, 'max']:g}"
            )
    return with_rows[cells].where(use[cells], without[cells]).rename("accuracy")


def entrants(
    chosen: pd.DataFrame, decisions: pd.DataFrame | None = None
) -> tuple[dict[str, Entrant], list[str]]:
    """Everybody who can decide among the records, on the same cells; and in words what is left out.

    Each method always; out of fold, the best of all, the best baseline ("never use") and the best
    method that uses the rows; and for each entrant of a table of decisions a method, or the best
    one, where it says "use", else its baseline, or the best one.
    """
    found = {f"always {name}": always(chosen, name) for name in chosen.method.unique()}
    pairs = _pairs(chosen)
    if _has_folds(chosen):
        found["the best out of fold"] = validated(chosen)
        found["never: the best baseline out of fold"] = never = validated(chosen, supervised=True)
        if not chosen.supervised.eq(True).all():
            users = validated(chosen, supervised=False)
            found["always: the best method out of fold"] = users
            pairs["the best method out of fold"] = users, never
    if decisions is None:
        return _comparable(found)
    for name, mine in decisions.groupby("entrant", sort=False):
        for what, pair in pairs.items():
            found[f"{what} if {name} says so"] = advised(*pair, mine)
    return _comparable(found, pd.MultiIndex.from_frame(decisions[CELL]).unique())


def _pairs(chosen: pd.DataFrame) -> dict[str, tuple[Entrant, Entrant]]:
    """For each method with one baseline here, to use it and to use the baseline."""
    baselines = chosen.groupby("method", sort=False).baseline.unique()
    return {
        method: (always(chosen, method), always(chosen, names[0]))
        for method, names in baselines.items()
        if len(names) == 1 and names[0] in {*chosen.method}
    }


def _comparable(
    found: dict[str, Entrant], cells: "pd.MultiIndex | None" = None
) -> tuple[dict[str, Entrant], list[str]]:
    """The entrants that decided on every cell, of those given, which most of them have."""
    table = pd.DataFrame(found)
    every = len(table)
    if cells is not None:
        table = table[table.index.isin(cells)]
    table = table[table.notna().sum(axis=1) * 2 > table.shape[1]]
    whole = table.dropna(axis=1)
    said = [
        f"{name}: left out, it lacks cells that most have"
        for name in table.columns.drop(whole.columns)
    ]
    if len(table) < every:
        ts = ", ".join(f"{t:g}" for t in sorted({*table.index.get_level_values("t")}))
        said.append(f"compared on {len(table)} of {every} cells (task, t and seed), at t = {ts}")
    return {str(name): column for name, column in whole.items()}, said


def read_decisions(path: str | Path) -> pd.DataFrame:
    """The decisions in a csv file, with the columns ADVICE and NOTE; refused unless each entrant
    decided once for every task, t and seed of the file: else it gains by hiding where it is weak.
    """
    told = parse_decisions(path)
    every = told[["entrant"]].drop_duplicates()
    for part in (PLACE, ["t"], ["seed"]):
        every = every.merge(told[part].drop_duplicates(), how="cross")
    lacking = every.merge(told, how="left", on=ADVICE[:-1])
    for _, row in lacking[lacking.use.isna()].iterrows():
        raise InputError(f"{path}: {row.entrant} lacks a decision on {_cell(row)}")
    return told


def parse_decisions(path: str | Path) -> pd.DataFrame:
    """The decisions in a csv file, perhaps not all that are to be made."""
    try:
        if Path(path).stat().st_size > _LARGEST:
            raise InputError(f"{path} is too large for a file of decisions")
        raw = pd.read_csv(path, dtype=str, keep_default_na=False, encoding="utf-8")
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read {path}: {error}") from error
    if not isinstance(raw.index, pd.RangeIndex):  # else pandas takes the first cells for an index
        raise InputError(f"cannot read {path}: its lines have more cells than its header")
    if lacking := [name for name in ADVICE if name not in raw]:
        raise InputError(f"{path} holds no decisions: it lacks the column {lacking[0]}")
    if raw.empty:
        raise InputError(f"{path} holds no decisions")
    raw = without_apostrophes(raw.reindex(columns=[*ADVICE, NOTE], fill_value=""))
    told = raw.assign(
        labels=_read(raw, "labels", r"\d{1,9}", path).astype(int),
        seed=_read(raw, "seed", r"\d{1,10}", path).astype(int),
        t=_read(raw, "t", r"0(\.\d*)?|1(\.0*)?", path).astype(float).round(6),
        use=_read(raw, "use", "True|False", path) == "True",
        entrant=_read(raw, "entrant", rf"\S(.{{0,{_LONGEST - 2}}}\S)?", path).map(printable),
    )
    for _, row in told[told.duplicated(ADVICE[:-1])].iterrows():
        raise InputError(f"{path}: {row.entrant} decided twice on {_cell(row)}")
    return told


def _read(raw: pd.DataFrame, column: str, form: str, path: str | Path) -> "pd.Series":
    """A column whose texts all have a form."""
    bad = raw[~raw[column].str.fullmatch(form)]
    if len(bad):
        text = bad[column].iloc[0][:_LONGEST]
        raise InputError(f"{path}, line {bad.index[0] + 2}: {column} cannot be {text!r}")
    return raw[column]


def _cell(row: "pd.Series") -> str:
    return f"{task_of(row)}, t = {row.t:g}, seed {row.seed}"


def _has_folds(chosen: pd.DataFrame) -> bool:
    return "cv_accuracy" in chosen and bool(np.asarray(chosen.cv_accuracy.notna()).all())


def _check_ranked(chosen: pd.DataFrame) -> None:
    if not chosen.ranked.all():
        raise InputError("what the oracle chose is a mark, and no entrant: it saw test rows")
