"""How often the intervals of an audit hold the true t, and how wide they are:

python experiments/audit.py coverage.csv --seeds 10 > table.md
"""

import argparse
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from robustssl import registry
from robustssl.audits import Pair, inspect
from robustssl.audits.columns import compare_columns
from robustssl.spec import parse

LABELS = 200  # in all
FEWER = {"breast_cancer": 100}  # it has too few consistent rows for more
TS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
DOMAINS = "distribution[source=mnist,target=usps]"
CASES = [
    *(("distribution", data) for data in ("breast_cancer", "penbased", "letter", "electricity")),
    (DOMAINS, "handwriting"),
    ("distribution", "adult"),
    *(("label", data) for data in ("digits", "penbased", "letter", "handwriting", "bbc_news")),
    *(("feature", data) for data in ("breast_cancer", "penbased", "letter", "electricity")),
    *(("feature", data) for data in ("covertype", "adult")),
]


def run(case: tuple[str, str, int, float]) -> dict[str, object]:
    """What the audit says of a dataset of which t is known."""
    environment, dataset, seed, t = case
    data, env = registry.dataset(dataset), registry.environment(environment)
    labels = FEWER.get(dataset, LABELS) // env.labeled_classes(len(np.unique(data.y)))
    pools = env.pools(data, labels, np.random.default_rng(seed))
    split = env.split(pools, t)
    labeled = split.y >= 0
    X, Z = split.X[labeled], split.X[~labeled]
    if data.kind == "tabular":
        X, Z = pd.DataFrame(X).add_prefix("x"), pd.DataFrame(Z).add_prefix("x")
    pair = Pair(X, split.y[labeled].astype(str).astype(object), Z, data.kind).sample(3000, 4000)
    kind = parse(environment)[0]
    with threadpool_limits(1):
        found = compare_columns(pair)[0] if kind == "feature" else getattr(inspect(pair), kind)
    return {
        "kind": kind,
        "dataset": dataset,
        "seed": seed,
        "t": t,
        "estimate": found.estimate,
        "low": found.low,
        "high": found.high,
    }


def table(found: pd.DataFrame) -> pd.DataFrame:
    within = (found.low - 1e-9 <= found.t) & (found.t <= found.high + 1e-9)
    found = found.assign(covered=within, width=found.high - found.low)
    found["error"] = found.estimate - found.t
    rows = []
    for (kind, dataset), part in found.groupby(["kind", "dataset"], sort=False):
        rows.append(_row(kind, dataset, part))
    for kind, part in found.groupby("kind", sort=False):
        rows.append(_row(kind, "all", part))
    return pd.DataFrame(rows)


def _row(kind: str, dataset: str, part: pd.DataFrame) -> dict[str, object]:
    return {
        "kind": kind,
        "dataset": dataset,
        "audits": len(part),
        "covered": f"{part.covered.mean():.0%}",
        "median width": f"{part.width.median():.2f}",
        "at t = 0": f"{part[part.t == 0].width.median():.2f}",
        "at t = 1": f"{part[part.t == 1].width.median():.2f}",
        "mean error": f"{part.error.mean():+.3f}",
        "mean size of it": f"{part.error.abs().mean():.3f}",
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("csv")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--datasets", nargs="*", help="only these")
    parser.add_argument("--workers", type=int)
    given = parser.parse_args()
    cases = [
        (environment, dataset, seed, t)
        for environment, dataset in CASES
        if not given.datasets or dataset in given.datasets
        for seed in range(given.seeds)
        for t in TS
    ]
    rows = []
    with ProcessPoolExecutor(given.workers) as pool:
        for row in pool.map(run, cases, chunksize=6):
            rows.append(row)
            pd.DataFrame(rows).to_csv(given.csv, index=False)  # what is done is kept
    print(table(pd.DataFrame(rows)).to_markdown(index=False))
