"""How long the metrics of curves take: `python benchmarks/curves.py`."""

import time

import numpy as np

from robustssl import Curve
from robustssl.analysis.metrics import GRID


def main() -> None:
    curve = Curve(GRID, np.random.default_rng(0).uniform(size=(1000, 5, len(GRID))))
    curve.intervals()  # once, so that nothing is imported below
    steps = {
        "intervals": curve.intervals,
        "intervals, as published": lambda: curve.intervals("published"),
        "metrics a seed": lambda: curve.metrics(per_seed=True),
        "noise floor": curve.noise_floor,
        "dependence, 2000 permutations": lambda: curve.dependence(2000),
    }
    for name, step in steps.items():
        start = time.process_time()
        step()
        print(f"{name:30} {time.process_time() - start:6.3f} s of a processor")


if __name__ == "__main__":
    main()
