"""What stands beside the leaderboard: oracles and ceilings, controls, and published numbers."""

from pathlib import Path

import numpy as np
import pandas as pd
from board import (
    BASELINE,
    CEILING,
    DATA,
    ENVIRONMENTS,
    ORACLE,
    Board,
    Values,
    at,
    corrected,
    difference,
    level,
    number,
    only,
)
from questions import Table

from robustssl.analysis.curve import Curve
from robustssl.analysis.metrics import GRID
from robustssl.analysis.tasks import Part

CONTROLS = Path(__file__).with_name("controls.csv")
PUBLISHED = Path(__file__).parents[1] / "results" / "published.csv"
SHARED = {
    "FixMatch": "fixmatch",
    "FlexMatch": "flexmatch",
    "ICT": "ict",
    "MixMatch": "mixmatch",
    "PiModel": "pi_model",
    "PseudoLabel": "pseudo_label",
    "SoftMatch": "softmatch",
    "UDA": "uda",
}


def oracle_and_ceiling(board: Board) -> Table:
    """At t = 1 minus the oracle, which is spared the inconsistent rows, and minus the ceiling,
    which gets the labels of the unlabeled rows; in bold what is left after Holm's correction over
    the methods. Where rows are replaced the oracle has none left and is the baseline; of a table
    that lacks features it has the same rows whole.
    """
    rows = []
    for environment, words in ENVIRONMENTS.items():
        for kinds, data in (("all", DATA), *((w, [d]) for d, w in DATA.items())):
            columns = []
            for other in (ORACLE, CEILING):
                where = (other, at(1.0), data, [environment])
                minus = {name: board.against(name, *where) for name in board.learners}
                columns.append(corrected({name: number(v) for name, v in minus.items() if v}))
            for name, cost in columns[0].items():
                rows.append([f"{name}, {words}", kinds, cost, columns[1][name]])
    return Table(["method, inconsistent", "data", "- oracle", "- ceiling"], rows)


def control_scores(board: Board) -> dict[str, dict[str, Values]]:
    """What experiments/controls.py measured: AUCs by control and method."""
    places = {(p.task.environment, p.task.dataset): p for p in board.places}
    keys, found = ["control", "method", "environment", "dataset"], {}
    for (control, name, *task), part in pd.read_csv(CONTROLS).groupby(keys):
        grid, place = part.pivot(index="seed", columns="t", values="accuracy"), places[*task]
        flat = grid.shape[1] == 1  # measured at t = 0 alone, for t does not matter
        area = grid.to_numpy()[:, 0] if flat else np.trapezoid(grid, grid.columns, axis=1)
        of_method = found.setdefault(control, {}).setdefault(name, {})
        of_method[place] = Part(place.drawn, tuple(grid.index), area)
    return found


def controls(board: Board) -> Table:
    """Methods without unlabeled rows in the scaling and the components of their features; nets with
    an unlabeled loss of weight 0, which still learn from strong views of labeled rows.
    """
    measured = control_scores(board)
    plain, nets = measured["labeled rows scale"], measured["no unlabeled loss"]
    ensemble, own = board.scores("safe_ensemble"), "with features of labeled rows"
    changes = {f"{m} {own} - recorded": difference(plain[m], board.scores(m)) for m in plain}
    for name in ("supervised_svm", "supervised_logistic"):
        changes[f"safe_ensemble - {name} {own}"] = difference(ensemble, plain[name])
        both = difference(plain["safe_ensemble"], plain[name])
        changes[f"safe_ensemble - {name}, both {own}"] = both
    for name in ("adamatch", "defixmatch"):
        recorded, alone = (
            board.against(name, BASELINE),
            difference(nets[name], nets["supervised_net"]),
        )
        changes[f"gain of {name} with weight 0"] = alone
        changes[f"gain of {name}"] = {place: recorded[place] for place in alone}
        changes[f"{name} - {name} with weight 0"] = difference(recorded, alone)
    rows = []
    for words, values in changes.items():
        parts = [values, *(only(values, [data]) for data in DATA)]
        rows.append([words, *(number(part) if part else "" for part in parts)])
    return Table(["", "all tasks it was tried on", *DATA.values()], rows)


def published(board: Board) -> Table:
    """Gain and movement (EVM) on iris, wine, letter and covertype with 5 labels, as published and
    here. Published are means over seeds alone, so theirs has a standard error over curves.
    """
    theirs = pd.read_csv(PUBLISHED)
    theirs = theirs[(theirs.labels == 5) & theirs.file.str.contains("deep")]
    keys = ["algorithm", "environment", "dataset"]
    grid = theirs.pivot_table(index=keys, columns="t", values="score").dropna()
    curve = Curve(GRID, grid.to_numpy()[:, None]).metrics()
    auc, evm = (pd.Series(curve[name], grid.index) for name in ("AUC", "EVM"))
    gain, rows = auc - auc.xs("FT_Transformer"), []
    shared = [place for place in board.places if place.drawn in set(theirs.dataset)]
    for label, name in SHARED.items():
        ours, moved = board.against(name, BASELINE), board.scores(name, "EVM")
        words = f"{gain[label].mean():+.3f} (standard error {gain[label].sem():.3f})"
        row = [name, str(gain[label].count()), words, number({p: ours[p] for p in shared})]
        rows.append([*row, f"{evm[label].mean():.3f}", level({p: moved[p] for p in shared})])
    heads = ["method", "curves", "published gain", "gain here", "published EVM", "EVM here"]
    return Table(heads, rows)


def one_baseline(board: Board) -> Table:
    """On tables, minus XGBoost for all, as was published, beside the gain over the own baseline."""
    rows = []
    for name in ("label_propagation", "label_spreading", "self_training", "tsvm"):
        others = ("supervised_xgboost", BASELINE)
        both = (board.against(name, other, "AUC", ["tabular"]) for other in others)
        rows.append([name, *map(number, both)])
    return Table(["method", "- supervised_xgboost", "gain"], rows)
