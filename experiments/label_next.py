"""Which labels settle an audit soonest? Cases that 30 labels leave open get 20 more:

python experiments/label_next.py label_next.csv

by two rules: rows at random, and rows on which the two best models disagree. There are no
inconsistent rows.
"""

import argparse
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import make_blobs, make_classification, make_moons
from sklearn.preprocessing import StandardScaler

from robustssl.audits import bench, gains
from robustssl.audits.labeling import far_apart
from robustssl.audits.model import Model
from robustssl.audits.rows import Pair
from robustssl.audits.trials import train
from robustssl.audits.verdict import Verdict, judge

LABELS, MORE, UNLABELED, SEEDS = 30, 20, 700, 20
METHODS = ("label_spreading", "ssgmm[rounds=50]")
BASELINES = ("logistic", "supervised_kernel")


def blobs(seed: int) -> Any:
    """Two classes of three clusters each."""
    X, y = make_blobs(3000, 4, centers=6, cluster_std=1.5, center_box=(-3, 3), random_state=seed)
    return X, y % 2


DATA = {
    "moons": lambda seed: make_moons(3000, noise=0.2, random_state=seed),
    "clusters": blobs,
    "gaussians": lambda seed: make_classification(
        3000, 8, n_informative=4, class_sep=0.8, random_state=seed
    ),
}


def judged(pair: Pair) -> tuple[gains.Gains, Verdict]:
    folds, twins = bench.folds_of(pair)
    every = np.arange(len(pair.unlabeled))
    made = bench.Bench(pair, lambda work: (train(pair, job) for job in work), folds, twins, every)
    found = gains.measure(made, METHODS)
    return found, judge(found)


def disagreed(pair: Pair, found: gains.Gains, verdict: Verdict) -> Any:
    """The rows that audits.labeling takes."""
    mine, theirs = (found.answers[name] for name in (verdict.method, verdict.baseline))
    X = StandardScaler().fit(pair.labeled).transform(pair.unlabeled)
    return far_apart(X, (mine != theirs).mean(0), MORE)


def true_gain(pair: Pair, verdict: Verdict, X: Any, y: Any) -> float:
    """The gain of the method over the baseline on rows that nobody has seen."""
    scores = []
    for name, rows in ((verdict.method, pair.unlabeled), (verdict.baseline, None)):
        model = Model(name).fit(pair.labeled, pair.y, rows)
        scores.append(float((model.predict(X) == y).mean()))
    return scores[0] - scores[1]


def case(name: str, seed: int) -> list[dict[str, Any]]:
    X, y = DATA[name](seed)
    frame, rng = pd.DataFrame(X).add_prefix("x"), np.random.default_rng(seed)
    order = rng.permutation(len(y))
    labeled, free, rest = np.split(order, [LABELS, LABELS + UNLABELED])
    pair = Pair(frame.iloc[labeled], y[labeled], frame.iloc[free])
    found, first = judged(pair)
    if first.answer != "cannot tell":
        return []
    ways = {"random": np.arange(MORE), "disagreement": disagreed(pair, found, first)}
    rows = []
    for way, chosen in ways.items():
        more = np.append(labeled, free[chosen])
        pair = Pair(frame.iloc[more], y[more], frame.iloc[free])
        _, verdict = judged(pair)
        true = true_gain(pair, verdict, frame.iloc[rest], y[rest])
        ends = {"low": verdict.gain.low, "gain": verdict.gain.estimate, "high": verdict.gain.high}
        rows.append(
            {
                "data": name,
                "seed": seed,
                "rule": way,
                "answer": verdict.answer,
                **ends,
                "true": true,
            }
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    out = parser.parse_args().out
    gains.BASELINES = BASELINES  # those that are quick
    warnings.simplefilter("ignore")
    rows: list[dict[str, Any]] = []
    for name in DATA:
        for seed in range(SEEDS):
            rows += case(name, seed)
            pd.DataFrame(rows).round(4).to_csv(out, index=False)


if __name__ == "__main__":
    main()
