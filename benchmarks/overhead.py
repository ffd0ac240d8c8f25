"""What a cell costs beside its work: planning, scheduling, storing, reading back.

    python benchmarks/overhead.py --cells 100000
    python benchmarks/overhead.py --records 1000000

An algorithm that does nothing, a group for each cell, two workers, SQLite.
"""

import argparse
import resource
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # workers find `overhead` here

from robustssl import registry, sites
from robustssl.analysis.metrics import GRID
from robustssl.execution import run as runs
from robustssl.execution.groups import Group
from robustssl.execution.status import status
from robustssl.records.record import Record
from robustssl.records.store import Store

MADE_WITH = {"versions": {"python": "3"}, "commit": None}
SCORES = {"accuracy": 0.5, "balanced_accuracy": 0.5, "macro_f1": 0.5, "auroc": 0.5}


def study(cells: int) -> dict[str, object]:
    """20 methods on 90 tasks; as many seeds as it takes."""
    algorithms = [f"self_training[threshold={0.5 + k / 100}]" for k in range(20)]
    places = {
        "environments": ["distribution", "label", "feature"],
        "datasets": ["iris", "wine", "digits"],
        "labels": list(range(1, 11)),
    }
    seeds = list(range(max(1, round(cells / (90 * len(GRID) * len(algorithms))))))
    return {"title": "Nothing", "algorithms": algorithms, **places, "seeds": seeds}


def nothing(group: Group, **_: object) -> list[Record]:
    return [
        Record(cell, registry.versions(cell), SCORES, 0.001, provenance=MADE_WITH) for cell in group
    ]


def memory() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def fill(place: Path, count: int) -> None:
    from robustssl.studies.study import study as read

    cells = read(study(count)).cells()
    with Store(place) as store:
        for first in range(0, len(cells), 10_000):
            store.add_all(nothing(tuple(cells[first : first + 10_000])))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--cells", type=int, default=24_000)
    parser.add_argument(
        "--records", type=int, default=0, help="Fill a store with so many, read it."
    )
    asked = parser.parse_args()
    import overhead  # itself, as workers find it

    runs.run_group = overhead.nothing
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "s.sqlite"
        runs.run(study(1), Path(folder) / "warm.sqlite", workers=2, progress=False)
        if asked.records:
            fill(place, asked.records)
            start = time.perf_counter()
            found = status(place)
            taken = time.perf_counter() - start
            print(f"{found.done} records: status in {taken:.1f} s")
            start = time.perf_counter()
            found = status(place, study(asked.records))
            taken = time.perf_counter() - start
            print(f"of a study, {found.done} of {found.cells} done: in {taken:.1f} s")
            start = time.perf_counter()
            sites.site(place, Path(folder) / "site")
            print(f"the site in {time.perf_counter() - start:.0f} s")
            return
        before, start = memory(), time.perf_counter()
        done = runs.run(study(asked.cells), place, workers=2).done
        taken, used = time.perf_counter() - start, memory() - before
        print(f"{done} cells: {taken / done * 1e3:.2f} ms and ", end="")
        print(f"{used / done:.0f} bytes of the parent a cell")


if __name__ == "__main__":
    main()
