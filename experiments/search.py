"""Run a named study on a machine with a GPU that has little more than torch and scikit-learn.

    python experiments/search.py plan development plan.pickle records
    python experiments/search.py banks plan.pickle
    python experiments/search.py run plan.pickle records --seconds 560
    robustssl import records/*

`plan` writes what the records lack, and needs all of robustssl. `banks` and `run` work on a machine
that has torch, scikit-learn and a GPU, but neither a store nor pydantic: processes share the GPU
and train whole curves, others run statistical methods. `run` begins nothing new after a number of
seconds, so that several short sittings make one search. The studies `development` and
`season2-pilot` were run this way.
"""

import argparse
import gzip
import multiprocessing
import os
import pickle
import queue
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))  # where robustssl is not installed

from robustssl.cell import Cell
from robustssl.execution.groups import groups, is_net
from robustssl.records.record import Record

PART = 12 * 2**20  # bytes of a file of records
SLOW = ("safe_ensemble", "sada", "tsvm", "ssgmm")  # begun last
FLUSH = 20  # seconds


def read(folder: Path) -> Iterator[Record]:
    """The records of a folder, also of a file that was cut off."""
    for file in sorted(folder.glob("*.jsonl.gz")):
        try:
            with gzip.open(file, "rt") as lines:
                yield from (Record.from_json(line) for line in lines if line.endswith("\n"))
        except EOFError:
            print(f"{file} was cut off", file=sys.stderr)


def plan(asked: Any) -> None:
    """Write what is lacking: the curves of nets, and of statistical methods those of a seed."""
    from robustssl.execution.provenance import provenance
    from robustssl.studies.study import study

    chosen = study(asked.study)
    done = {record.cell for record in read(asked.records)}
    units: dict[Any, list[Cell]] = defaultdict(list)
    for cell in chosen.cells():
        seed = None if is_net(cell.algorithm) else cell.seed
        units[cell.spec, cell.task, seed].append(cell)
    lacking = [
        (chosen.methods[spec], cells)
        for (spec, _, _), cells in units.items()
        if not done.issuperset(cells) and (is_net(cells[0].algorithm) or not asked.nets)
    ]
    lacking.sort(key=lambda unit: unit[0].name in SLOW)
    content = {"units": lacking, "extras": chosen.extras, "commit": provenance()["commit"]}
    asked.plan.write_bytes(pickle.dumps(content))
    print(Counter(is_net(cell.algorithm) for _, cells in lacking for cell in cells))


def banks(asked: Any) -> None:
    """Encode the rows of images and texts, which takes a GPU about a minute."""
    from robustssl.execution.banks import make_banks
    from robustssl.execution.engines import local

    units = pickle.loads(asked.plan.read_bytes())["units"]
    cells = [c for _, some in units for c in some if c.dataset.startswith(tuple(asked.datasets))]
    start = time.monotonic()
    make_banks(cells, next(iter(local.gpus()), None), progress=False)
    print(f"banks after {time.monotonic() - start:.0f} s", flush=True)


def run(asked: Any) -> None:
    """Run what the plan holds."""
    content = pickle.loads(asked.plan.read_bytes())
    context = multiprocessing.get_context("spawn")
    queues: dict[Any, Any] = defaultdict(context.Queue)
    for method, cells in content["units"]:
        if cells[0].dataset.startswith(tuple(asked.datasets)):
            queues[is_net(method.name), cells[0].task].put((method, cells))
    time.sleep(1)  # the queues are filled by threads
    ends, results = time.time() + asked.seconds, context.Queue()
    given = (dict(queues), content["extras"])
    processes = [
        context.Process(target=_work, args=(i, i < asked.gpu, given, results, ends))
        for i in range(asked.gpu + asked.cpu)
    ]
    for process in processes:
        process.start()
    _write(asked.records, content["commit"], results, processes)
    for some in queues.values():
        some.cancel_join_thread()


def _write(folder: Path, commit: str, results: Any, processes: list[Any]) -> None:
    """Keep what the processes send until all have ended, and tell how it goes."""
    folder.mkdir(exist_ok=True, parents=True)
    start, said, counts = time.time(), time.time(), Counter[str]()
    files = (_file(folder, number) for number in range(100))
    file = next(files)
    working = True
    while working:
        working = any(process.is_alive() for process in processes)
        try:
            records = results.get(timeout=1)
        except queue.Empty:
            records = []
        working |= bool(records)
        for record in records:
            made_with = {**record.provenance, "commit": commit}
            file.write(replace(record, provenance=made_with).to_json().encode() + b"\n")
            counts[record.error or record.method.family] += 1
        if time.time() - said > FLUSH or not working:
            said = time.time()
            file.flush()
            print(f"{said - start:.0f} s: {dict(counts)}", flush=True)
            if file.fileobj.tell() > PART:
                file.close()
                file = next(files)
    file.close()


def _file(folder: Path, number: int) -> Any:
    return gzip.open(folder / f"{int(time.time())}-{number}.jsonl.gz", "wb", compresslevel=4)


def _work(number: int, gpu: bool, given: Any, results: Any, ends: float) -> None:
    """Nets first, if this process has the GPU, and texts last, whose bank is made last. Processes
    begin with different tasks, since they keep the rows of a few.
    """
    if not gpu:
        os.environ["CUDA_VISIBLE_DEVICES"] = ""
    import torch

    from robustssl.execution.worker import run_group

    torch.set_num_threads(1)
    queues, extras = given
    for net, texts in [(n, x) for n in ((True, False) if gpu else (False,)) for x in (False, True)]:
        places = [p for p in queues if p[0] == net and ("minilm" in p[1].dataset) == texts]
        for place in (places[(i + number) % len(places)] for i in range(len(places))):
            while time.time() < ends:
                try:
                    method, cells = queues[place].get(timeout=0.5)
                except queue.Empty:
                    break
                records = [record for group in groups(cells) for record in run_group(group, extras)]
                results.put([replace(record, method=method) for record in records])
    results.close()
    results.join_thread()
    os._exit(0)  # without waiting for the GPU


parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
commands = parser.add_subparsers(dest="what", required=True)
planning, encoding, running = (commands.add_parser(what) for what in ("plan", "banks", "run"))
planning.add_argument("study", help="The name of a study, or a YAML file.")
planning.add_argument("--nets", action="store_true", help="Leave out statistical methods.")
for command in (planning, encoding, running):
    command.add_argument("plan", type=Path)
for command in (encoding, running):
    command.add_argument("--datasets", nargs="+", default=[""], help="Those that begin like this.")
for command in (planning, running):
    command.add_argument("records", type=Path, nargs="?", default=Path("records"))
running.add_argument("--seconds", type=float, default=1e9)
running.add_argument("--gpu", type=int, default=12, help="Processes that share the GPU.")
running.add_argument("--cpu", type=int, default=4, help="Processes for statistical methods alone.")

if __name__ == "__main__":
    asked = parser.parse_args()
    {"plan": plan, "banks": banks, "run": run}[asked.what](asked)
