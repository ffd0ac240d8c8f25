"""What worker processes are given to do in tests; light, since each of them imports it."""

import os
import threading
import time
from pathlib import Path

from gates import LONG, wait_for

from robustssl.execution.begun import Expectation
from robustssl.records.record import Record


def answer(group, text):
    return [Record(cell, (1, 1, 1), error=text) for cell in group]


def tell(group, **_):
    """Where, and with which GPU, a group was run."""
    return answer(group, f"{os.getpid()} {os.environ.get('CUDA_VISIBLE_DEVICES')}")


def expect(group, *, folder):
    """Say when it will be done, and go on when the test has seen it."""
    expectation = Expectation()
    expectation.tell(0.0)
    expectation.tell(0.5)
    wait_for((Path(folder) / "go").exists)
    return tell(group)


def die(group):
    """Seed 0 ends its process."""
    if group[0].seed == 0:
        os._exit(9)
    return tell(group)


def die_with(group, *, seed):
    """A group that holds the cell of this seed ends its process."""
    if seed in {cell.seed for cell in group}:
        os._exit(9)
    return tell(group)


def die_twice(group, *, folder):
    """The first two processes that are given a group end."""
    deaths = Path(folder) / "deaths"
    with deaths.open("ab") as file:
        file.write(b"x")
    if deaths.stat().st_size <= 2:
        os._exit(9)
    return tell(group)


def meet(group, *, folder):
    """Seeds come in pairs, 0 and 1, 2 and 3 and so on, each of which waits for the other."""
    (cell,) = group
    (Path(folder) / f"{cell.algorithm} {cell.seed}").touch()
    wait_for((Path(folder) / f"{cell.algorithm} {cell.seed ^ 1}").exists)
    return tell(group)


def run_out_of_memory(group):
    """Seed 0 cannot even say so in a record."""
    if group[0].seed == 0:
        raise MemoryError
    return tell(group)


def die_then_meet(group, *, folder):
    """Seed 0 ends its process, always. Seeds 1 to 3 wait until it has done so twice: among others,
    and alone. The others come in pairs.
    """
    seed, deaths = group[0].seed, Path(folder) / "deaths"
    if seed == 0:
        with deaths.open("ab") as file:
            file.write(b"x")
        os._exit(9)
    if seed > 3:
        return meet(group, folder=folder)
    wait_for(lambda: deaths.exists() and deaths.stat().st_size == 2)
    return tell(group)


def linger(group, *, folder):
    """Leaves a thread behind that its process waits for, unless it is ended."""

    def wait():
        time.sleep(LONG)
        (Path(folder) / "outlasted").touch()

    threading.Thread(target=wait).start()
    return tell(group)


def meet_at(barrier):
    """For processes that shall write at the same time."""
    global ready
    ready = barrier


def write(place, records):
    from robustssl.records.store import Store

    ready.wait()
    with Store(place) as store:
        return [store.add(record) for record in records]


def count_threads(group):
    import scipy.linalg  # noqa: F401
    import xgboost  # noqa: F401
    from threadpoolctl import threadpool_info

    return answer(group, str({info["num_threads"] for info in threadpool_info()}))
