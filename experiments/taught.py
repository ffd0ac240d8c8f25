"""How good is a taught learner on the development tables, with the unlabeled rows and without?

    python experiments/taught.py taught.safetensors --seeds 3 --views 1

prints for each task and number of labels a class the accuracy of the labeled rows alone, the
accuracy at t = 0, .5 and 1, and the estimates of these t.
"""

import argparse
import warnings
from collections import defaultdict
from pathlib import Path

import numpy as np
from taught_context import Context, read_net
from taught_net import BINS, TaughtNet

from robustssl.data import UNLABELED
from robustssl.splits import prepare

SIZE, TS = "test=500,unlabeled=1000", (0.0, 0.5, 1.0)
ENVIRONMENTS = ("distribution", "feature", "prior")
TASKS = [
    *(
        (table, f"{name}[{SIZE}]")
        for table in ("magic", "satimage", "texture")
        for name in ENVIRONMENTS
    ),
    ("magic", f"distribution[labeled=biased,{SIZE}]"),
    *((table, f"label[known=drawn,{SIZE}]") for table in ("satimage", "texture")),
]


def numbers(
    net: TaughtNet, views: int, task: tuple[str, str], labels: int, seed: int
) -> list[float]:
    """Accuracy of the labeled rows alone, then at every t, then the estimates of t."""
    prepared, scores, shares = prepare(*task, labels, seed), list[float](), list[float]()
    for t in TS:
        split = prepared.split(t)
        known = split.y != UNLABELED
        classes, codes = np.unique(split.y[known]), np.full(len(split.y), UNLABELED)
        codes[known] = np.searchsorted(classes, split.y[known])
        kept = [known, slice(None)] if not scores else [slice(None)]
        for rows in kept:
            answers = Context(net, split.X[rows], codes[rows], views).ask(split.X_test)
            right = classes[answers.classes.argmax(1)] == split.y_test
            scores.append(float(right.mean()))
        shares.append(float(answers.t @ np.linspace(0, 1, BINS)))
    return [*scores, *shares]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("weights", type=Path)
    parser.add_argument("--labels", type=int, nargs="*", default=[1, 4])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--views", type=int, default=1)
    asked = parser.parse_args()
    warnings.simplefilter("ignore", UserWarning)  # of classes that are left out
    net, means = read_net(asked.weights), defaultdict(list)
    for task in TASKS:
        for labels in asked.labels:
            found = [numbers(net, asked.views, task, labels, seed) for seed in range(asked.seeds)]
            means[labels].append(np.mean(found, 0))
            print(*task, labels, np.round(means[labels][-1], 3), flush=True)
    for labels, rows in means.items():
        print(f"mean of {len(rows)} tasks, {labels} labels a class:", np.round(np.mean(rows, 0), 4))
