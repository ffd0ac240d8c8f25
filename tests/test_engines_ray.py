"""The same study on a Ray cluster: here, on two nodes, and when a node or a worker dies."""

import threading
from functools import partial

import pytest
import works
from gates import LONG, MANY, alive, wait_for

import robustssl
from robustssl import Cell, InputError, Store
from robustssl.execution.engines.ray import run_groups

ray = pytest.importorskip("ray")
pytestmark = pytest.mark.filterwarnings("ignore")  # of a library that has many


GROUPS = [(Cell("self_training", "label", "wine", 5, 0.0, seed),) for seed in range(4)]


def scores(place):
    with Store(place, create=False) as store:
        return {r.key: (dict(r.scores), r.digest, r.error) for r in store.records()}


def test_two_nodes_one_of_which_dies(tmp_path, gate):
    """What it was fitting is fitted again on the other; no cell is lost or doubled."""
    from ray.cluster_utils import Cluster

    study = {"algorithms": ["label_spreading", gate.learner], "environments": "label"}
    study |= {"datasets": "iris", "seeds": 1}
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    doomed = cluster.add_node(num_cpus=1)
    cluster.wait_for_nodes()
    try:
        how = {"engine": "ray", "address": cluster.address, "progress": False}
        place = tmp_path / "r.sqlite"
        running = threading.Thread(target=robustssl.run, args=(study, place), kwargs=how)
        running.start()
        wait_for(lambda: len(gate.arrived()) == 2)  # one on each node
        cluster.remove_node(doomed, allow_graceful=False)
        wait_for(lambda: not all(map(alive, gate.arrived())))
        gate.let(MANY)
        running.join(LONG)
        assert not running.is_alive()
    finally:
        ray.shutdown()
        cluster.shutdown()
    assert len(gate.arrived()) == 6 + 1
    robustssl.run(study, tmp_path / "local.sqlite", workers=1, progress=False)
    assert scores(place) == scores(tmp_path / "local.sqlite")


@pytest.mark.slow
def test_a_cluster_of_ones_own_and_a_group_that_kills_its_worker():
    """It is tried four times, and fails alone."""
    told = {record.cell.seed: record.error for (record,), _ in run_groups(GROUPS, works.die, 2)}
    assert told.pop(0).startswith("WorkerCrashedError")
    assert {*told} == {1, 2, 3}
    assert not any("Error" in error for error in told.values())
    assert not ray.is_initialized()


@pytest.mark.slow
def test_of_a_curve_only_the_cell_that_ends_its_process_fails(monkeypatch):
    monkeypatch.setattr("robustssl.execution.engines.ray.RETRIES", 0)
    group = tuple(cell for (cell,) in GROUPS)
    done = run_groups([group], partial(works.die_with, seed=2), 2)
    told = {r.cell.seed: r.error for records, _ in done for r in records}
    assert sorted(told) == [0, 1, 2, 3]
    assert [s for s, error in told.items() if error.startswith("WorkerCrashedError")] == [2]


@pytest.mark.parametrize("error", [OSError("no space"), TimeoutError(), KeyError("x" * 10_000)])
def test_a_ray_that_does_not_start_is_a_sentence(error, monkeypatch):
    def refuse(*_, **__):
        raise error

    monkeypatch.setattr(ray, "init", refuse)
    with pytest.raises(InputError, match="cannot reach or start a Ray cluster on this") as caught:
        list(run_groups(GROUPS, works.tell, 2))
    assert len(str(caught.value)) < 2_200


def test_a_cluster_of_ones_own_has_as_many_processors_as_workers(monkeypatch):
    asked = []

    def refuse(address, **how):
        asked.append((address, how["num_cpus"]))
        raise RuntimeError("no")

    monkeypatch.setattr(ray, "init", refuse)
    with pytest.raises(InputError, match="cannot reach or start a Ray cluster on this machine: no"):
        list(run_groups(GROUPS, works.tell, 2))
    assert asked == [("local", 2)]


def test_a_cluster_that_is_not_there(small, tmp_path):
    how = {"engine": "ray", "address": "127.0.0.1:1", "progress": False}
    with pytest.raises(InputError, match=r"cannot reach a Ray cluster at 127\.0\.0\.1:1"):
        robustssl.run(small, tmp_path / "r.sqlite", **how)
    with pytest.raises(InputError, match="unknown engine 'rya'"):
        robustssl.run(small, tmp_path / "r.sqlite", engine="rya")
    with pytest.raises(InputError, match="add engine=ray"):
        robustssl.run(small, tmp_path / "r.sqlite", address="somewhere")
