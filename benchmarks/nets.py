"""What training whole nets costs and gives: fine-tuned pretrained nets, and Wide ResNets.

    PYTHONPATH=src python benchmarks/nets.py tuning wide --out nets.jsonl

Parts: `tuning`, pretrained nets trained whole beside a perceptron on the vectors of the same net
(CIFAR-10, 10 labels of each class; BBC news, 5); `wide`, Wide ResNets with and without unlabeled
rows (CIFAR-10, 40 labels of each class, 15,000 unlabeled rows): two models of a curve, of which
the second one should not compile again.
"""

import time
from typing import Any

import numpy as np
from _lines import Lines, Timed, main

from robustssl import registry
from robustssl.data import UNLABELED
from robustssl.splits import prepare

HEAD = {"net": "mlp[width=256]", "steps": 1000}
WHOLE = {"steps": 300, "learning_rate": 1e-4, "precision": "bf16"}
TUNED: dict[tuple[str, int], list[tuple[str, dict[str, Any]]]] = {
    ("cifar10", 10): [
        ("resnet50", HEAD),
        ("pixels", {**WHOLE, "net": "resnet50"}),
        ("pixels", {**WHOLE, "net": "resnet50[frozen=true]", "learning_rate": 2e-3}),
    ],
    ("bbc_news", 5): [
        ("minilm", HEAD),
        ("none", {**WHOLE, "net": "text_encoder[weights=minilm]"}),
    ],
}


def tuning(asked: Any, lines: Lines) -> None:
    for (dataset, labels), compared in TUNED.items():
        for encoder, options in compared:
            lines.attempt("tuning", _tune, lines, asked.small, dataset, labels, encoder, options)


def _tune(
    lines: Lines, small: bool, dataset: str, labels: int, encoder: str, options: dict[str, Any]
) -> None:
    rows = {"cifar10": f",rows={600 if small else 12_000}"}.get(dataset, "")
    environment = f"feature[test={20 if small else 2000},unlabeled={20 if small else 1000}]"
    scores, seconds, memory = [], [], []
    for seed in range(1 if small else 3):
        task = prepare(f"{dataset}[encoder={encoder}{rows}]", environment, labels, seed)
        split = task.split(0.0, views=True)
        steps = {"steps": 2, "batch": 4} if small else {}
        model = registry.estimator("supervised_net", **{**options, **steps}, random_state=seed)
        with Timed() as timed:
            model.fit(split.X, split.y)
            scores.append(model.score(split.X_test, split.y_test))
        seconds.append(timed.seconds)
        memory.append(timed.gib)
    lines.add(
        "tuning",
        **{"dataset": dataset, "labels": labels, "encoder": encoder, **options},
        accuracy=[round(score, 4) for score in scores],
        mean=round(float(np.mean(scores)), 4),
        seconds=seconds,
        GiB=max(memory),
    )


def wide(asked: Any, lines: Lines) -> None:
    for name in asked.methods:
        lines.attempt("wide", _wide, lines, asked.small, name)


def _wide(lines: Lines, small: bool, name: str) -> None:
    labels, unlabeled, tested, steps = (4, 60, 40, 20) if small else (40, 15_000, 4000, 10_000)
    ratio = {} if name.startswith("supervised") else {"ratio": 3}
    model = registry.estimator(
        name,
        net="wide_resnet[depth=10,widen=1]" if small else "wide_resnet",
        **{"steps": steps, "batch": 4 if small else 64, "clip": None, **ratio},
        optimizer="sgd",
        learning_rate=0.03,
        weight_decay=5e-4,
        ema=0.999,
        precision="bf16",
        random_state=0,
    )
    problems, tests = [], []
    for seed in (0, 1):
        X, y, X_test, y_test = _split(labels, unlabeled, tested, seed)
        problems.append((X, y))
        tests.append((X_test, y_test))
    ticks: list[tuple[int, float]] = []
    with Timed() as timed:
        start = time.perf_counter()
        pair = [model, registry.estimator(name, **{**model.get_params(), "random_state": 1})]
        errors = model.fit_together(
            pair, problems, mode="compile", tell=lambda n: ticks.append((n, time.perf_counter()))
        )
    if any(errors):
        raise next(error for error in errors if error)
    ends = [k for k, (step, _) in enumerate(ticks) if step >= steps]
    (first, _), firsts = ticks[0], (0, ends[0] + 1)
    for k, (one, (X_test, y_test)) in enumerate(zip(pair, tests, strict=True)):
        before = start if k == 0 else ticks[ends[0]][1]
        lines.add(
            "wide",
            method=name,
            labels=labels,
            unlabeled=unlabeled,
            steps=steps,
            model=k + 1,
            steps_first_told=first,
            seconds_until_then=round(ticks[firsts[k]][1] - before, 2),
            seconds=round(ticks[ends[k]][1] - before, 2),
            accuracy=round(one.score(X_test, y_test), 4),
            GiB=timed.gib,
        )


def _split(labels: int, unlabeled: int, tested: int, seed: int) -> tuple[Any, ...]:
    """Rows of all classes: labeled and unlabeled ones, and others to test on."""
    data = registry.dataset("cifar10")
    order = np.random.default_rng(seed).permutation(24_000)
    test, rest = order[:tested], order[tested:]
    known = np.concatenate([rest[data.y[rest] == k][:labels] for k in range(10)])
    others = rest[~np.isin(rest, known)][:unlabeled]
    y = np.concatenate([data.y[known], np.full(len(others), UNLABELED)])
    return data.X[np.concatenate([known, others])], y, data.X[test], data.y[test]


if __name__ == "__main__":
    main(
        __doc__,
        {"tuning": tuning, "wide": wide},
        methods={"nargs": "+", "default": ["supervised_net", "fixmatch"], "help": "of `wide`"},
    )
