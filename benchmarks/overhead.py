"""What a cell costs beside its work: scheduling, storing, reading back.

    python benchmarks/overhead.py --cells 100000
    python benchmarks/overhead.py --records 1000000

An algorithm that does nothing, groups of six cells, two workers, SQLite.
"""

import argparse
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # workers find `overhead` here

from robustssl import runs
from robustssl.cell import Cell
from robustssl.curve import GRID
from robustssl.engines.local import run_groups
from robustssl.record import Record
from robustssl.store import Store


def cells(count: int) -> Iterator[tuple[Cell, ...]]:
    for seed in range(count // 6):
        yield tuple(Cell("supervised_logistic", "label", "iris", 5, t, seed) for t in GRID)


def nothing(group: tuple[Cell, ...], versions: tuple[int, int, int]) -> list[Record]:
    made_with = {"versions": {"python": "3"}, "commit": None}
    scores = {"accuracy": 0.5, "balanced_accuracy": 0.5, "macro_f1": 0.5, "auroc": 0.5}
    return [Record(cell, versions, scores, provenance=made_with) for cell in group]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--cells", type=int, default=20_000)
    parser.add_argument(
        "--records", type=int, default=0, help="Fill a store with so many, read it."
    )
    asked = parser.parse_args()
    versions = next(cells(6))[0].versions
    import overhead  # itself, as workers find it

    work = partial(overhead.nothing, versions=versions)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "s.sqlite"
        if asked.records:
            with Store(place) as store:
                batch: list[Record] = []
                for group in cells(asked.records):
                    batch += work(group)
                    if len(batch) >= 10_000:
                        store.add_all(batch)
                        batch = []
                store.add_all(batch)
            start = time.perf_counter()
            status = runs.status(place)
            print(f"{status.done} records: status in {time.perf_counter() - start:.1f} s")
            return
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        start = time.perf_counter()
        with Store(place) as store:
            for records in run_groups(cells(asked.cells), work, 2):
                store.add_all(records)
        taken = time.perf_counter() - start
        memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
        print(f"{asked.cells} cells: {taken / asked.cells * 1e3:.2f} ms and ", end="")
        print(f"{memory / asked.cells:.0f} bytes of the parent a cell")


if __name__ == "__main__":
    main()
