"""Ray: a running cluster by its address, or one that is started on this machine."""

import os
import socket
import sys
from collections.abc import Generator, Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any

from robustssl.errors import InputError, bounded
from robustssl.execution.engines.local import Done, Work, failures, halves, timed
from robustssl.execution.engines.processes import THREADS
from robustssl.execution.groups import Group, are_nets

RETRIES = 3  # of a group whose worker or node died
AHEAD = 4  # groups in flight for each processor


def run_groups(
    groups: Iterable[Group],
    work: Work,
    workers: int | None,
    address: str | None = None,
    gpu_share: float = 1.0,
) -> Generator[Done, None, None]:
    """The records of each group as they come. Ray schedules and retries; of a group that takes its
    workers down every time, the halves are run. `workers` is for a cluster of one's own;
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
    except Exception as error:  # Ray documents none
        ray.shutdown()
        where, reason = address or "on this machine", bounded(f"{error or type(error).__name__}")
        raise InputError(f"cannot reach or start a Ray cluster {where}: {reason}") from error


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
) -> Generator[Done, None, None]:
    task = ray.remote(max_retries=RETRIES)(timed)
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
            try:
                yield ray.get(done)
            except ray.exceptions.RayError as error:
                if len(group) > 1:
                    waiting = chain(halves(group), waiting)
                    continue
                last = str(error).strip().splitlines()[-1]
                yield failures(group, f"{type(error).__name__}: {last}")
    finally:
        for left in running:
            ray.cancel(left, force=True)
