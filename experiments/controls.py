"""What findings rest on and the leaderboard's records do not tell:

    python experiments/controls.py experiments/controls.csv

- `labeled rows scale`: learners whose features owe nothing to unlabeled rows. The leaderboard fits
  its one preprocessing on the labeled rows and the unlabeled ones of t = 0; here tables are scaled
  by the labeled rows, images are their pixels and texts their TF-IDF, without components.
- `no unlabeled loss`: nets that also learn from strong views of labeled rows, with an unlabeled
  loss that weighs nothing, and their baseline. Images with unknown classes.
"""

import argparse
import csv
from collections.abc import Iterator
from dataclasses import astuple
from pathlib import Path

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import accuracy_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from robustssl import registry
from robustssl.analysis.metrics import GRID
from robustssl.cell import Cell
from robustssl.execution.groups import groups
from robustssl.execution.worker import run_group
from robustssl.preprocessing import OneScale
from robustssl.spec import parse
from robustssl.splits import prepare
from robustssl.studies.study import study

COLUMNS = ("control", "method", "environment", "dataset", "seed", "t", "accuracy")
BASELINES = ("supervised_svm", "supervised_logistic")  # to them t does not matter
ENSEMBLE = "safe_ensemble"
NETS = ("supervised_net", "adamatch[weight=0.0]", "defixmatch[weight=0.0]")
SEEDS = range(5)

Row = tuple[str, str, str, str, int, float, float]


def plain_features(kind: str) -> Pipeline:
    if kind == "tabular":
        return make_pipeline(StandardScaler())
    if kind == "image":
        return make_pipeline(FunctionTransformer(lambda X: X.reshape(len(X), -1) / 1.0), OneScale())
    dense = FunctionTransformer(lambda X: X.toarray(), accept_sparse=True)
    return make_pipeline(TfidfVectorizer(sublinear_tf=True), dense, OneScale())


def scaled_by_labeled_rows() -> Iterator[Row]:
    """The tasks of the leaderboard; the ensemble, at each t, on tables."""
    curves = study("leaderboard").curves()
    tasks = [task for name, task in curves if name == BASELINES[0] and task.access is None]
    for environment, dataset, labels in map(astuple, tasks):
        for seed in SEEDS:
            prepared = prepare(dataset, environment, labels, seed)
            data, labeled = prepared.pools.data, prepared.pools.labeled
            features = plain_features(data.kind).fit(data.X[labeled])
            for name in (*BASELINES, ENSEMBLE) if data.kind == "tabular" else BASELINES:
                for t in GRID if name == ENSEMBLE else (0.0,):
                    split = prepared.environment.split(prepared.pools, t)
                    model = registry.estimator(name).fit(features.transform(split.X), split.y)
                    predicted = model.predict(features.transform(split.X_test))
                    score = accuracy_score(split.y_test, predicted)
                    yield "labeled rows scale", name, environment, dataset, seed, t, score


def without_unlabeled_loss() -> Iterator[Row]:
    environment, cells = "label[test=1000,unlabeled=1000]", []
    for dataset in ("digits[kind=image]", "handwriting", "cifar10"):
        for method in NETS:
            name, options = parse(registry.canonical("algorithm", method, "image"))
            params = tuple(sorted(options.items()))
            cells += [Cell(name, environment, dataset, 20, 0.0, seed, params) for seed in SEEDS]
    for group in groups(cells):
        for record in run_group(group):
            cell, score = record.cell, record.scores["accuracy"]
            place = (environment, cell.dataset, cell.seed, cell.t)
            yield "no unlabeled loss", cell.algorithm, *place, score


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
