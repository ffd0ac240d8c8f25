"""How many curves of nets one GPU trains an hour, by the number of processes that share it.

    python benchmarks/sharing.py --budget quick --curves 24 --processes 1 2 4 8

A curve is FixMatch on digits with unseen classes, 6 t x 5 seeds = 30 cells.
"""

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))  # where robustssl is not installed

from robustssl import registry
from robustssl.analysis.metrics import GRID
from robustssl.cell import Cell
from robustssl.execution.engines.local import gpus, run_groups
from robustssl.execution.worker import run_group
from robustssl.spec import parse


def curves(count: int, budget: str) -> list[tuple[Cell, ...]]:
    name, options = parse(registry.canonical("algorithm", "fixmatch", budget))
    params = tuple(sorted(options.items()))
    return [
        tuple(
            Cell(name, "label", "digits", 5, t, 5 * k + s, params) for s in range(5) for t in GRID
        )
        for k in range(count)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--budget", default="quick")
    parser.add_argument("--curves", type=int, default=24)
    parser.add_argument("--processes", type=int, nargs="+", default=[1, 2, 4, 8])
    asked = parser.parse_args()
    (gpu, *_) = gpus() or [""]
    for count in asked.processes:
        ended, start = [], time.perf_counter()
        every = curves(asked.curves, asked.budget)
        for records, _ in run_groups(every, run_group, 1, gpus=[gpu] * count):
            assert all(record.error is None for record in records), records[0].error
            ended.append(time.perf_counter() - start)
        rate = 30 * (asked.curves - count) / (ended[-1] - ended[count - 1]) * 3600
        print(
            f"{count} processes: first curve after {ended[0]:.1f} s, all after {ended[-1]:.1f} s, "
        )
        print(f"then {rate:,.0f} cells an hour", flush=True)


if __name__ == "__main__":
    main()
