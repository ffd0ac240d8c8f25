"""Which tasks can tell methods apart: how well labeled rows alone do on them.

    python experiments/headroom.py experiments/headroom.csv --kinds tabular text image

runs four baselines with their default settings on each candidate task of the second season, with 4
labels a class and three seeds, and adds the tasks that the file lacks. A task has headroom if the
best of the four is between chance + .05 and .97 in accuracy and in balanced accuracy, which no
guess of the largest class can reach, and if it has at least 500 test rows. Chance is a guess among
the known classes. Rows behind an encoder take a processor long: there at most 500 unlabeled and
500 test rows are encoded, the first of those that the season has; `test` and `unlabeled` are the
rows of the season.
"""

import argparse
import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np

from robustssl.cell import Cell
from robustssl.execution.worker import run_group
from robustssl.records.catalog import data_kind
from robustssl.records.record import Record
from robustssl.spec import parse, spell
from robustssl.splits import pools

BASELINES = ("supervised_logistic", "supervised_svm", "supervised_gaussian", "supervised_kernel")
LABELS, SEEDS = 4, range(3)
LEAST, MOST, TEST = 0.05, 0.97, 500  # above chance, accuracy, test rows
SIZES = {"test": 2000, "unlabeled": 4000}
ENCODED = {"test": 500, "unlabeled": 500}  # what is encoded for this
DRAWN = "label[known=drawn]"
CIFAR = "cifar10[encoder=efficientnet_lite0,rows=20000]"
HANDWRITING = "handwriting[encoder=efficientnet_lite0]"
NEWSGROUPS = "newsgroups[encoder=minilm]"
REVIEWS = "imdb_amazon[encoder=minilm]"
FILMS = "movie_reviews[encoder=minilm]"
CANDIDATES = {
    "electricity[domain=time]": ["distribution[source=early,target=late]"],
    "weather[domain=time]": ["distribution[source=early,target=late]"],
    "adult[domain=employment]": [
        "distribution[source=private,target=government]",
        "distribution[source=private,target=self_employed]",
    ],
    "bank[domain=contact]": ["distribution[source=telephone,target=cellular]"],
    "bank[domain=time]": ["distribution[source=early,target=late]"],
    "covertype[domain=wilderness]": [
        "distribution[source=rawah,target=comanche_peak]",
        "distribution[source=comanche_peak,target=rawah]",
    ],
    "penbased": ["distribution", DRAWN, "feature", "prior"],
    "letter": ["distribution", DRAWN, "feature", "prior"],
    "covertype": [DRAWN, "feature", "prior"],
    "electricity": ["feature", "prior"],
    "adult": ["feature", "prior"],
    "bank": ["feature", "prior"],
    "weather": ["feature", "prior"],
    "iris": ["distribution", DRAWN, "feature", "prior"],
    "wine": ["distribution", DRAWN, "feature", "prior"],
    "breast_cancer": ["distribution", "feature", "prior"],
    REVIEWS: [
        "distribution[source=imdb,target=amazon]",
        "distribution[source=amazon,target=imdb]",
    ],
    FILMS: ["distribution[source=rotten_tomatoes,target=imdb]", "feature"],
    NEWSGROUPS: ["distribution[labeled=biased]", DRAWN, "feature", "prior"],
    HANDWRITING: [
        "distribution[source=mnist,target=usps]",
        "distribution[source=usps,target=mnist]",
        DRAWN,
        "feature",
        "prior",
    ],
    CIFAR: ["distribution[labeled=biased]", DRAWN, "feature", "prior"],
}
COLUMNS = (
    *("data", "dataset", "environment", "classes", "test", "unlabeled"),
    *BASELINES,
    *("best", "balanced", "headroom"),
)


def measured(dataset: str, environment: str) -> dict[str, Any]:
    """The row of a task."""
    rows = [pools(dataset, sized(environment, SIZES), LABELS, seed) for seed in SEEDS]
    classes = min(len(np.unique(each.data.y[each.labeled])) for each in rows)
    test, unlabeled = (min(map(len, parts)) for parts in zip(*map(_parts, rows), strict=True))
    kind = data_kind(dataset)
    asked = sized(environment, SIZES if kind == "tabular" else ENCODED)
    found = {name: scores(name, asked, dataset) for name in BASELINES}
    best = max(found, key=lambda name: found[name][0])
    accuracy, balanced = found[best]
    enough = all(1 / classes + LEAST <= score <= MOST for score in (accuracy, balanced))
    return {
        "data": kind,
        "dataset": dataset,
        "environment": environment,
        "classes": classes,
        "test": test,
        "unlabeled": unlabeled,
        **{name: f"{accuracy:.3f}" for name, (accuracy, _) in found.items()},
        "best": best,
        "balanced": f"{balanced:.3f}",
        "headroom": "yes" if enough and test >= TEST else "no",
    }


def sized(environment: str, sizes: dict[str, int]) -> str:
    name, options = parse(environment)
    return spell(name, {**options, **sizes})


def _parts(rows: Any) -> tuple[Any, Any]:
    return rows.test, rows.consistent


def scores(name: str, environment: str, dataset: str) -> tuple[float, float]:
    """Accuracy and balanced accuracy of a baseline, over seeds; it sees no t."""
    records = [_run(Cell(name, environment, dataset, LABELS, 0.0, seed)) for seed in SEEDS]
    means = (mean(r.scores[score] for r in records) for score in ("accuracy", "balanced_accuracy"))
    return next(means), next(means)


def _run(cell: Cell) -> Record:
    (record,) = run_group((cell,))
    if record.error is not None:
        raise RuntimeError(f"{cell}: {record.error}")
    return record


def lacking(file: Path, kinds: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The candidates of some kinds of data that the file lacks."""
    known = set()
    if file.exists():
        with file.open(newline="") as opened:
            known = {(row["dataset"], row["environment"]) for row in csv.DictReader(opened)}
    for dataset, environments in CANDIDATES.items():
        if data_kind(dataset) in kinds:
            yield from ((dataset, e) for e in environments if (dataset, e) not in known)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--kinds", nargs="+", default=["tabular", "text", "image"])
    asked = parser.parse_args()
    tasks = list(lacking(asked.file, asked.kinds))
    new = not asked.file.exists()
    with asked.file.open("a", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        if new:
            writer.writeheader()
        for task in tasks:
            writer.writerow(row := measured(*task))
            file.flush()
            print(*row.values(), flush=True)


if __name__ == "__main__":
    main()
