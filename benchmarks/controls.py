"""What findings rest on and the leaderboard's records do not tell:

    python benchmarks/controls.py benchmarks/controls.csv

- `labeled rows scale`: baselines whose preprocessing is fitted on the labeled rows alone, where the
  leaderboard fits it on the unlabeled rows of t = 0 as well, for all methods;
- `no unlabeled loss`: nets that also learn from strong views of labeled rows, with an unlabeled
  loss that weighs nothing, and their baseline.
"""

import argparse
import csv
from collections.abc import Iterator
from pathlib import Path

from sklearn.metrics import accuracy_score

from robustssl import registry
from robustssl.cell import Cell
from robustssl.features import fit_preprocessing
from robustssl.studies import study
from robustssl.worker import groups, prepare, run_group

COLUMNS = ("control", "method", "environment", "dataset", "seed", "accuracy")
BASELINES = ("supervised_svm", "supervised_logistic")
NETS = ("supervised_net", "adamatch[weight=0.0]", "defixmatch[weight=0.0]")
SEEDS = range(5)

Row = tuple[str, str, str, str, int, float]


def scaled_by_labeled_rows() -> Iterator[Row]:
    """Each task of the leaderboard; t does not matter to a baseline."""
    parts = ("tables", "images", "texts")
    curves = [c for part in parts for c in study(f"leaderboard-{part}").curves()]
    for method, environment, dataset, labels in curves:
        if method != BASELINES[0]:
            continue
        for seed in SEEDS:
            pools = prepare(dataset, environment, labels, seed).pools
            X, y = (of[pools.labeled] for of in (pools.data.X, pools.data.y))
            scale = fit_preprocessing(X, pools.data.kind, pools.data.meta.get("encoder", "tfidf"))
            rows, tests = scale(X), scale(pools.data.X[pools.test])
            for name in BASELINES:
                predicted = registry.estimator(name).fit(rows, y).predict(tests)
                score = accuracy_score(pools.data.y[pools.test], predicted)
                yield "labeled rows scale", name, environment, dataset, seed, score


def without_unlabeled_loss() -> Iterator[Row]:
    environment = "label[test=1000,unlabeled=1000]"
    cells = []
    for dataset in ("handwriting", "digits[kind=image]"):
        for method in NETS:
            name, options = registry.parse(registry.canonical("algorithm", method, "image"))
            params = tuple(sorted(options.items()))
            cells += [Cell(name, environment, dataset, 20, 0.0, seed, params) for seed in SEEDS]
    for group in groups(cells):
        for record in run_group(group):
            cell, score = record.cell, record.scores["accuracy"]
            yield (
                "no unlabeled loss",
                cell.algorithm,
                environment,
                cell.dataset,
                cell.seed,
                score,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("file", type=Path)
    with parser.parse_args().file.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for part in (scaled_by_labeled_rows, without_unlabeled_loss):
            for row in part():
                writer.writerow(row)
                file.flush()


if __name__ == "__main__":
    main()
