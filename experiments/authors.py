"""Whether methods with their defaults learn from unlabeled rows, and where they collapse.

    python experiments/authors.py [METHOD ...]

Writes experiments/authors.csv: for each method the share of predictions that change with other
unlabeled rows and, of nets, the gain over the labeled rows alone on four kinds of consistent rows
(`robustssl.checks`), with the ends of its 95% interval over ten seeds. With names, only these are
run, and their rows replaced. The page on methods and their authors shows it.
"""

import csv
import sys
from pathlib import Path

import numpy as np
from scipy.stats import t as student_t

from robustssl import registry
from robustssl.checks._gains import COLLAPSE_SEEDS, _error, _gains
from robustssl.checks._learner import Learner
from robustssl.checks._toys import blobs
from robustssl.checks._worlds import WORLDS
from robustssl.data import UNLABELED

FILE = Path(__file__).with_name("authors.csv")
HEAD = ("method", "version", "measure", "value", "low", "high")


def changed(name):
    """The share of predictions on random rows that change with another draw of unlabeled rows."""
    X, y, _, _ = blobs(0)
    probe = np.random.default_rng(9).uniform(-3, 3, size=(2000, X.shape[1]))
    other = np.where((y == UNLABELED)[:, None], blobs(2)[0] + 0.2, X)
    fits = Learner(name).fit_all([(X, y), (other, y)])
    first, second = (model.predict(probe) for model, _ in fits)
    return float(np.mean(first != second))


def measures(name):
    yield "changed", f"{changed(name):.4f}", "", ""
    if registry.about("algorithm", name).family == "deep":
        for world in WORLDS:
            gains = _gains(name, world, COLLAPSE_SEEDS)
            half = student_t.ppf(0.975, COLLAPSE_SEEDS - 1) * _error(gains)
            mean = float(np.mean(gains))
            yield world.__name__, *(f"{value:.4f}" for value in (mean, mean - half, mean + half))


def main(asked):
    every = [n for n in registry.names("algorithm") if registry.about("algorithm", n).baseline]
    kept = []
    if asked:
        with FILE.open(newline="") as file:
            kept = [row for row in list(csv.reader(file))[1:] if row[0] not in asked]
    for name in asked or every:
        for row in measures(name):
            kept.append([name, registry.about("algorithm", name).version, *row])
            print(*kept[-1], flush=True)
        with FILE.open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([HEAD, *sorted(kept, key=str)])


if __name__ == "__main__":
    main(sys.argv[1:])
