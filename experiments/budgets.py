"""Which budget for which kind of data: candidates tried on datasets that no leaderboard has.

    python experiments/budgets.py budgets.csv

A budget is judged by the mean accuracy of four methods, one a family, over all t, seeds and
environments. It needs torch, numpy and scikit-learn; a GPU, or patience.
"""

import argparse
import csv
import itertools
import os
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

from robustssl import registry
from robustssl.analysis.metrics import GRID
from robustssl.cell import Cell
from robustssl.execution.worker import run_group
from robustssl.spec import parse, spell

CAP = "[test=1000,unlabeled=1000]"
METHODS = ("supervised_net", "fixmatch", "mean_teacher", "mixmatch")
PLACES: dict[str, list[tuple[str, str, int]]] = {  # environment, dataset, labels a class
    "table": [(e, d, 5) for e in ("distribution", "feature") for d in ("breast_cancer", "adult")],
    "image": [(e, "fashion_mnist", 20) for e in ("label", "feature")],
    "text": [("feature", "movie_reviews", 50)],
}
STEPS = [500, 1000]  # more would not fit into an hour of one GPU
RATES = [5e-4, 2e-3]
NETS = {
    "table": ["mlp", "mlp[width=256]"],
    "image": ["mlp", "mlp[width=256]"],
    "text": ["linear", "mlp", "mlp[width=256]"],
}


def tasks(kind: str) -> Iterator[tuple[dict[str, Any], tuple[Cell, ...]]]:
    for net, steps, rate in itertools.product(NETS[kind], STEPS, RATES):
        budget = {"net": net, "steps": steps, "learning_rate": rate}
        for method, (environment, dataset, labels) in itertools.product(METHODS, PLACES[kind]):
            _, params = parse(registry.canonical("algorithm", spell(method, budget)))
            where = (method, environment + CAP, dataset, labels)
            options = tuple(sorted(params.items()))
            cells = tuple(Cell(*where, t, seed, options) for seed in range(3) for t in GRID)
            yield {"kind": kind, **budget, "method": method}, cells


def work(group: tuple[Cell, ...]) -> tuple[list[Any], float]:
    start = time.perf_counter()
    return run_group(group), time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--kind", choices=PLACES, action="append")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    asked = parser.parse_args()
    todo = [task for kind in asked.kind or PLACES for task in tasks(kind)]
    with (
        ProcessPoolExecutor(asked.workers, get_context("spawn")) as pool,
        asked.out.open("w", newline="") as file,
    ):
        rows = csv.writer(file)
        told = ["environment", "dataset", "t", "seed", "accuracy", "seconds"]
        rows.writerow(["kind", "net", "steps", "learning_rate", "method", *told])
        jobs = {pool.submit(work, group): about for about, group in todo}
        for done, job in enumerate(as_completed(jobs), 1):
            records, seconds = job.result()
            for r in records:
                score = r.scores.get("accuracy", "")
                place = (r.cell.environment, r.cell.dataset, r.cell.t, r.cell.seed)
                rows.writerow([*jobs[job].values(), *place, score, round(seconds, 3)])
            file.flush()
            print(f"\r{done} of {len(jobs)}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)


if __name__ == "__main__":
    main()
