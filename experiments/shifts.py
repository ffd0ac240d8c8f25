"""How large the real shifts of tables are: whether a classifier tells two domains apart, and what a
learner loses between them.

    python experiments/shifts.py experiments/shifts.csv

writes the numbers and prints the tables of `docs/shifts.md`. The learner is scikit-learn's
HistGradientBoostingClassifier in which classes weigh equally, as in a study, in five folds, on at
most 5,000 rows of a domain, drawn at random; copies of rows are left out, as in a study, and so are
classes that one of two domains lacks.
Telling apart: the mean AUROC of a classifier of domains, over folds of both. Here: the mean score
of the models of all folds on their other rows of the domain that they learned from; there: on all
rows of the other domain.
"""

import argparse
import csv
import warnings
from collections.abc import Iterator
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import accuracy_score, balanced_accuracy_score
from sklearn.model_selection import StratifiedKFold, cross_val_score

import robustssl
from robustssl.data import Dataset, Rows

SHIFTS = (
    "electricity[domain=time]",
    "weather[domain=time]",
    "bank[domain=time]",
    "bank[domain=contact]",
    "adult[domain=employment]",
    "covertype[domain=wilderness]",
)
COLUMNS = ("dataset", "source", "target", "measure", "value")
LARGEST = 5000  # rows of a domain
SCORES = {"accuracy": accuracy_score, "balanced": balanced_accuracy_score}
FOLDS = StratifiedKFold(5, shuffle=True, random_state=0)

Row = tuple[str, str, str, str, str]


def learner() -> Any:
    return HistGradientBoostingClassifier(class_weight="balanced", random_state=0)


def measured(spec: str) -> Iterator[Row]:
    data = robustssl.dataset(spec)
    assert data.domain is not None
    for name in dict.fromkeys(data.domain.tolist()):
        y = data.y[data.domain == name]
        yield spec, name, "", "rows", str(len(y))
        for code in range(len(data.meta["classes"])):
            share = f"{(y == code).mean():.3f}"
            yield spec, name, "", f"class {data.class_name(code)}", share
    distinct, _ = data.without_copies
    every = robustssl.environment("distribution[source=each,target=each]").pairs(distinct)
    known: dict[frozenset[str], float] = {}
    for pair in every:
        here, there = rows_of(distinct, **pair)
        place = frozenset(pair.values())
        if place not in known:
            known[place] = told_apart(distinct.X[here], distinct.X[there])
        yield spec, *pair.values(), "auroc", f"{known[place]:.3f}"
        for measure, value in here_and_there(distinct, here, there).items():
            yield spec, *pair.values(), measure, f"{value:.3f}"


def rows_of(data: Dataset, source: str, target: str) -> tuple[Rows, Rows]:
    environment = robustssl.environment(f"distribution[source={source},target={target}]")
    with warnings.catch_warnings(action="ignore"):  # of classes that are left out
        here, there = environment.divide(data, np.random.default_rng(0))
    return _some(here), _some(there)


def _some(rows: Rows) -> Rows:
    return np.sort(np.random.default_rng(0).permutation(rows)[:LARGEST])


def told_apart(here: Any, there: Any) -> float:
    """The AUROC of a classifier of domains: .5 if they are alike, 1 if every row tells its own."""
    domain = np.repeat([0, 1], [len(here), len(there)])
    both = np.concatenate([here, there])
    return float(cross_val_score(learner(), both, domain, cv=FOLDS, scoring="roc_auc").mean())


def here_and_there(data: Dataset, here: Rows, there: Rows) -> dict[str, float]:
    found: dict[str, list[float]] = {}
    for learned, held in FOLDS.split(here, data.y[here]):
        model = learner().fit(data.X[here[learned]], data.y[here[learned]])
        for place, rows in {"here": here[held], "there": there}.items():
            predicted = model.predict(data.X[rows])
            for name, score in SCORES.items():
                found.setdefault(f"{name} {place}", []).append(score(data.y[rows], predicted))
    return {name: mean(values) for name, values in found.items()}


def tables(file: Path) -> tuple[str, str]:
    """The two tables of the page, as markdown: domains, and pairs of them."""
    found: dict[tuple[str, str, str], dict[str, str]] = {}
    with file.open(newline="") as opened:
        for row in csv.DictReader(opened):
            place = row["dataset"], row["source"], row["target"]
            found.setdefault(place, {})[row["measure"]] = row["value"]
    domains = ["| dataset | domain | rows | shares of classes |", "|---|---|---|---|"]
    scores = [f"{name} {place}" for name in SCORES for place in ("here", "there")]
    pairs = [
        "| dataset | here, there | AUROC | accuracy here | there | balanced here | there |",
        "|---|---|---|---|---|---|---|",
    ]
    for (spec, source, target), values in found.items():
        if target:
            told = " | ".join(_short(values[name]) for name in ("auroc", *scores))
            pairs.append(f"| `{spec}` | {source}, {target} | {told} |")
        else:
            rows = f"{int(values.pop('rows')):,}"
            shares = ", ".join(
                f"{name.removeprefix('class ')}: {_short(share)}"
                for name, share in values.items()
                if float(share)
            )
            domains.append(f"| `{spec}` | {source} | {rows} | {shares} |")
    return "\n".join(domains), "\n".join(pairs)


def _short(value: str) -> str:
    return value if value.startswith("1") else value.removeprefix("0")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("file", type=Path)
    place = parser.parse_args().file
    with place.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for spec in SHIFTS:
            for row in measured(spec):
                writer.writerow(row)
                file.flush()
    print(*tables(place), sep="\n\n")


if __name__ == "__main__":
    main()
