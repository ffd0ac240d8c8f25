"""Ray: a running cluster by its address, or one that is started on this machine."""

import os
import socket
import sys
from collections.abc import Callable, Generator, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from robustssl import registry
from robustssl.errors import InputError
from robustssl.execution.engines.local import THREADS
from robustssl.execution.groups import Group, are_nets
from robustssl.records.record import Record

Work = Callable[[Group], list[Record]]

RETRIES = 3  # of a group whose worker or node died
AHEAD = 4  # groups in flight for each processor


def run_groups(
    groups: Iterable[Group],
    work: Work,
    workers: int | None,
    address: str | None = None,
    gpu_share: float = 1.0,
) -> Generator[list[Record], None, None]:
    """The records of each group as they come. Ray schedules and retries; a group that takes its
    workers down every time is a failure of its cells. `workers` is for a cluster of one's own;
    `gpu_share` is the part of a GPU that a curve of nets asks for.
    """
    ray = _library()
    _connect(ray, workers, address)
    try:
        yield from _map(ray, iter(groups), work, gpu_share)
    finally:
        ray.shutdown()


def _library() -> Any:
    # Ray warns unless it is told whether to hide GPUs from a task that asks for none: it need not.
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        import ray
    except ModuleNotFoundError as error:
        raise InputError("the engine ray needs ray: pip install 'robustssl[ray]'") from error
    return ray


def _connect(ray: Any, workers: int | None, address: str | None) -> None:
    paths = os.pathsep.join([str(Path.cwd()), *filter(None, sys.path)])
    variables = {**dict.fromkeys(THREADS, "1"), "PYTHONPATH": paths}
    if address:
        _knock(address)
    own: dict[str, Any] = {} if address else {"num_cpus": workers, "include_dashboard": False}
    try:
        ray.init(
            address or "local",
            runtime_env={"env_vars": variables},
            log_to_driver=False,
            logging_level="error",
            **own,
        )
    except (ConnectionError, ValueError, RuntimeError) as error:
        where = address or "on this machine"
        raise InputError(f"cannot reach or start a Ray cluster {where}: {error}") from error


def _knock(address: str) -> None:
    """Ray itself would wait for minutes for a cluster that is not there."""
    host, _, port = address.rpartition("//")[2].rpartition(":")
    if not port.isdigit():
        return  # a name that Ray knows, such as auto
    try:
        socket.create_connection((host, int(port)), timeout=10).close()
    except OSError as error:
        raise InputError(f"cannot reach a Ray cluster at {address}: {error}") from error


def _map(
    ray: Any, waiting: Iterator[Group], work: Work, gpu_share: float
) -> Generator[list[Record], None, None]:
    task = ray.remote(max_retries=RETRIES)(_call)
    there = ray.cluster_resources()
    most = max(1, int(AHEAD * there.get("CPU", 1)))
    running: dict[Any, Group] = {}
    try:
        while True:
            for group in islice(waiting, most - len(running)):
                gpus = gpu_share if there.get("GPU") and are_nets(group) else 0
                running[task.options(num_gpus=gpus).remote(work, group)] = group
            if not running:
                return
            (done,), _ = ray.wait(list(running), num_returns=1)
            group = running.pop(done)
            yield _records(ray, done, group)
    finally:
        for reference in running:
            ray.cancel(reference, force=True)


def _call(work: Work, group: Group) -> list[Record]:
    return work(group)


def _records(ray: Any, done: Any, group: Group) -> list[Record]:
    try:
        records: list[Record] = ray.get(done)
    except ray.exceptions.RayError as error:
        reason = f"{type(error).__name__}: {str(error).strip().splitlines()[-1]}"
        return [Record(cell, registry.versions(cell), error=reason) for cell in group]
    return records
