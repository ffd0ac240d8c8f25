"""Decisions whether to use the unlabeled rows of a study's tasks, by who sees these rows alone.

The audit says "use" where it advises a method that uses them. Adversarial validation says so
unless a classifier tells labeled from unlabeled rows. Neither is given a test row, or t.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_score

from robustssl import registry
from robustssl.analysis.entrants import ADVICE, NOTE, parse_decisions, read_decisions
from robustssl.audits.audit import audit
from robustssl.cell import Task
from robustssl.data import UNLABELED, Split
from robustssl.errors import InputError
from robustssl.progress import console, watch
from robustssl.records.files import whole
from robustssl.records.sheets import csv_of
from robustssl.splits import prepare
from robustssl.studies.study import Study, study

POINTS, SEEDS = 3, 2  # t and seeds of a task: an audit takes a minute
LARGEST_AUROC = 0.6  # ours, set before any regret was measured, and not by one; .5 is chance
FOLDS = 5

Decision = tuple[bool, str]  # whether to use the unlabeled rows, and why


def decide(
    source: str | Path | Mapping[str, Any] | Study,
    file: str | Path = "decisions.csv",
    *,
    ts: Sequence[float] = (),
    seeds: int = SEEDS,
) -> pd.DataFrame:
    """Decide on the tables of a study, and write a csv file; decisions that it holds are kept, and
    one of each decider is made again: if it is another now, the file is refused.

    By default at the lowest, the middle and the highest t of the study, with its first two seeds.
    The column `note` says why.
    """
    if seeds < 1:
        raise InputError(f"seeds must be at least 1, got {seeds}")
    chosen, path = study(source), Path(file)
    asked: list[tuple[Any, ...]] = [
        (task.environment, task.dataset, task.labels, t, seed, name)
        for task in _tables(chosen)
        for seed in chosen.seeds[:seeds]
        for t in _points(chosen, ts)
        for name in DECIDERS
    ]
    found = _kept(path)
    if found.keys() - {*asked}:
        raise InputError(f"{path} holds decisions on other tasks, t or seeds: name another file")
    _check_kept(found, path)
    left = [key for key in asked if key not in found]
    with watch(len(left), console(), "decisions") as seen:
        for *cell, name in left:
            found[*cell, name] = DECIDERS[name](_rows(*cell))
            _write(found, path)
            seen.step()
    return read_decisions(path)


def _tables(chosen: Study) -> list[Task]:
    """The tasks on which a method could use unlabeled rows, of tables: an audit of others needs an
    encoder.
    """
    tasks = {task for spec, task in chosen.curves() if not chosen.methods[spec].supervised}
    tables = [task for task in tasks if registry.dataset(task.dataset).kind == "tabular"]
    if not tables:
        raise InputError("decisions are made on tables, and the study has no method to use on one")
    return sorted(tables)


def _points(chosen: Study, ts: Sequence[float]) -> Sequence[float]:
    every = chosen.ts
    for t in ts:
        if t not in every:
            raise InputError(f"t = {t:g} is not of the study, whose t are {_list(every)}")
    places = np.linspace(0, len(every) - 1, min(POINTS, len(every))).round().astype(int)
    return sorted({*ts}) if ts else [every[place] for place in places]


def _list(numbers: Sequence[float]) -> str:
    return ", ".join(f"{number:g}" for number in numbers)


def _rows(environment: str, dataset: str, labels: int, t: float, seed: int) -> pd.DataFrame:
    """The labeled and the unlabeled rows as they are before any preprocessing, with `target`, which
    is missing in the unlabeled ones.
    """
    prepared = prepare(dataset, environment, labels, seed)
    split: Split = prepared.environment.split(prepared.pools, t)
    frame = pd.DataFrame(split.X).add_prefix("x")
    return frame.assign(target=pd.Series(split.y, dtype="Int64").mask(split.y == UNLABELED))


def by_audit(rows: pd.DataFrame) -> Decision:
    """Use the rows where an audit advises to. One that is refused, since there are too few labels,
    advises nothing.
    """
    known = rows.target.notna()
    labeled = rows[known].astype({"target": int})
    try:
        found = audit(labeled, rows[~known].drop(columns="target"), "target")
    except InputError as error:
        return False, str(error)
    return bool(found.advice.uses_unlabeled), str(found)


def by_adversarial_validation(rows: pd.DataFrame) -> Decision:
    """Use the rows unless a random forest tells them from the labeled ones, out of fold."""
    X, is_unlabeled = rows.drop(columns="target"), rows.target.isna()
    folds = min(FOLDS, int(is_unlabeled.sum()), int((~is_unlabeled).sum()))
    if folds < 2:
        return False, "one row cannot be told apart out of fold"
    auroc = cross_val_score(
        RandomForestClassifier(class_weight="balanced", random_state=0),
        X,
        is_unlabeled,
        scoring="roc_auc",
        cv=StratifiedKFold(folds, shuffle=True, random_state=0),
    ).mean()
    return bool(auroc <= LARGEST_AUROC), f"AUROC {auroc:.3f}"


DECIDERS: dict[str, Callable[[pd.DataFrame], Decision]] = {
    "the audit": by_audit,
    "adversarial validation": by_adversarial_validation,
}


def _kept(path: Path) -> dict[tuple[Any, ...], Decision]:
    """The decisions that a file holds, if there is one."""
    if not path.exists():
        return {}
    rows = parse_decisions(path)
    keys = rows[ADVICE[:-1]].itertuples(index=False, name=None)
    return dict(zip(keys, zip(rows.use, rows[NOTE], strict=True), strict=True))


def _check_kept(found: Mapping[tuple[Any, ...], Decision], path: Path) -> None:
    """Refuse decisions that are no longer made so, such as those of an older audit: the first of
    each decider is made again.
    """
    for name in DECIDERS:
        for *cell, _ in [key for key in found if key[-1] == name][:1]:
            if DECIDERS[name](_rows(*cell)) != found[*cell, name]:
                raise InputError(
                    f"{path} holds decisions of {name} that it does not make any more, such as its "
                    "first one: name another file, or remove this one"
                )


def _write(found: Mapping[tuple[Any, ...], Decision], path: Path) -> None:
    rows = [(*key, *decision) for key, decision in found.items()]
    with whole(path) as part:
        table = pd.DataFrame(rows, columns=[*ADVICE, NOTE])
        part.write_text(csv_of(table), encoding="utf-8")
