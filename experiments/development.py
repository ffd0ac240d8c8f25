"""Which settings does each method get by the rule transfer? The search on the development tasks.

    python experiments/development.py plan plan.pickle
    python experiments/development.py banks plan.pickle
    python experiments/development.py run plan.pickle records --done done.txt --seconds 560
    robustssl import records

`plan` needs all of robustssl. `banks` and `run` work on a machine that has torch, scikit-learn and
a GPU, but neither a store nor pydantic: processes share the GPU and train whole curves, others run
statistical methods. `run` does what is not in `done.txt` and stops to begin anew after a number of
seconds, so that several short sittings make one search.
"""

import argparse
import gzip
import multiprocessing
import os
import pickle
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))  # where robustssl is not installed

from robustssl.execution.groups import groups, is_net

# Of each kind of data, the task that is run last: what a search lacks, it lacks there.
LAST = [("satimage", "prior"), ("fashion_mnist", "distribution"), ("bbc_news", "feature")]
PART = 12 * 2**20  # bytes of a file of records


def plan(asked: Any) -> None:
    """Write the curves of the study: for each its method, its task and its cells."""
    from robustssl.execution.provenance import provenance
    from robustssl.studies.study import study

    chosen = study("development")
    curves = defaultdict(list)
    for cell in chosen.cells():
        curves[cell.spec, cell.task].append(cell)
    units = [(chosen.methods[spec], task, cells) for (spec, task), cells in curves.items()]
    asked.plan.write_bytes(pickle.dumps({"units": units, "commit": provenance()["commit"]}))
    print(f"{len(units)} curves, {sum(len(cells) for *_, cells in units)} cells")


def banks(asked: Any) -> None:
    """Encode the rows of images and texts, which takes a GPU about a minute."""
    from robustssl.execution.banks import make_banks
    from robustssl.execution.engines import local

    cells = [cell for *_, cells in pickle.loads(asked.plan.read_bytes())["units"] for cell in cells]
    start = time.monotonic()
    make_banks(cells, next(iter(local.gpus()), None), progress=False)
    print(f"banks after {time.monotonic() - start:.0f} s", flush=True)


def run(asked: Any) -> None:
    """Run the curves that are not done yet; records go to files of the folder `out`."""
    content = pickle.loads(asked.plan.read_bytes())
    done = set(asked.done.read_text().splitlines()) if asked.done.exists() else set()
    waiting = defaultdict(list)
    for method, task, cells in content["units"]:
        name = f"{method.spec} {task}"
        if name not in done and task.dataset.startswith(tuple(asked.datasets)):
            waiting[is_net(method.name), task].append((name, method, cells))
    context = multiprocessing.get_context("spawn")
    queues = {}
    for place, units in waiting.items():
        queues[place] = context.Queue()
        for unit in units:
            queues[place].put(unit)
    time.sleep(1)  # the queues are filled by threads
    ends, results = time.time() + asked.seconds, context.Queue()
    processes = [
        context.Process(target=_work, args=(i, i < asked.gpu, queues, results, ends))
        for i in range(asked.gpu + asked.cpu)
    ]
    for process in processes:
        process.start()
    _write(asked, content["commit"], results, len(processes))
    for queue in queues.values():
        queue.cancel_join_thread()


def _write(asked: Any, commit: str, results: Any, working: int) -> None:
    """Keep what the processes send until all have ended, and tell how it goes."""
    asked.out.mkdir(exist_ok=True, parents=True)
    start, counts, files = time.time(), defaultdict(int), _files(asked.out)
    file, said = next(files), start
    with asked.done.open("a") as done:
        while working:
            name, net, records = results.get()
            if name is None:
                working -= 1
                continue
            for record in records:
                made_with = {**record.provenance, "commit": commit}
                file.write(replace(record, provenance=made_with).to_json().encode() + b"\n")
                counts["failed"] += record.error is not None
                if record.error is not None and counts[record.error] == 0:
                    counts[record.error] += 1
                    print("failed:", name, record.error, flush=True)
            done.write(f"{name}\n")
            counts["net" if net else "statistical"] += len(records)
            if time.time() - said > 20:
                said = time.time()
                file.flush(), done.flush()
                print(f"{said - start:.0f} s: {dict(counts)}", flush=True)
                if file.fileobj.tell() > PART:
                    file.close()
                    file = next(files)
    file.close()
    print(f"{time.time() - start:.0f} s: {dict(counts)}", flush=True)


def _files(folder: Path) -> Iterator[gzip.GzipFile]:
    stamp = int(time.time())
    for number in range(100):
        yield gzip.open(folder / f"records-{stamp}-{number}.jsonl.gz", "wb", compresslevel=4)


def _work(number: int, gpu: bool, queues: Any, results: Any, ends: float) -> None:
    """Nets first, if this process has the GPU. Processes begin with different tasks, since they
    keep the rows of a few.
    """
    if not gpu:
        os.environ["CUDA_VISIBLE_DEVICES"] = ""
    import queue

    import torch

    from robustssl.execution.worker import run_group

    torch.set_num_threads(1)
    for net in (True, False) if gpu else (False,):
        for place in _order([place for place in queues if place[0] == net], number):
            while time.time() < ends:
                try:
                    name, method, cells = queues[place].get(timeout=0.5)
                except queue.Empty:
                    break
                records = [record for group in groups(cells) for record in run_group(group)]
                results.put((name, net, [replace(record, method=method) for record in records]))
    results.put((None, None, []))
    results.close()
    results.join_thread()
    os._exit(0)  # without waiting for the GPU


def _order(places: list[Any], number: int) -> list[Any]:
    def is_last(place: Any) -> bool:
        task = place[1]
        return any(
            task.dataset.startswith(data) and task.environment.startswith(kind)
            for data, kind in LAST
        )

    parts = [[p for p in places if is_last(p) == last] for last in (False, True)]
    return [part[(i + number) % len(part)] for part in parts for i in range(len(part))]


parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
parser.add_argument("what", choices=["plan", "banks", "run"])
parser.add_argument("plan", type=Path)
parser.add_argument("out", type=Path, nargs="?", default=Path("records"))
parser.add_argument("--done", type=Path, default=Path("done.txt"))
parser.add_argument("--seconds", type=float, default=1e9)
parser.add_argument("--gpu", type=int, default=12, help="Processes that share the GPU.")
parser.add_argument("--cpu", type=int, default=4, help="Processes for statistical methods alone.")
parser.add_argument("--datasets", nargs="+", default=[""], help="Only these, by their first words.")

if __name__ == "__main__":
    asked = parser.parse_args()
    {"plan": plan, "banks": banks, "run": run}[asked.what](asked)
