"""The same study on a Ray cluster: here, on two nodes, and when a node or a worker dies."""

import threading
import time

import pytest

import robustssl
from robustssl import InputError, Store

ray = pytest.importorskip("ray")
pytestmark = [
    pytest.mark.filterwarnings("ignore"),  # of a library that has many
    pytest.mark.xdist_group("ray"),
]


def scores(place):
    with Store(place, create=False) as store:
        return {r.key: (dict(r.scores), r.digest, r.error) for r in store.records()}


def begun(place):
    """Whether a run has written a record; it may be about to make the store."""
    try:
        return bool(scores(place))
    except InputError:
        return False


@pytest.fixture
def expected(small, tmp_path):
    robustssl.run(small, tmp_path / "local.sqlite", workers=1, progress=False)
    return scores(tmp_path / "local.sqlite")


def test_a_cluster_of_ones_own(small, tmp_path, expected):
    status = robustssl.run(small, tmp_path / "r.sqlite", workers=2, engine="ray", progress=False)
    assert status.done == 48
    assert scores(tmp_path / "r.sqlite") == expected
    assert not ray.is_initialized()


def test_two_nodes_one_of_which_dies(small, tmp_path, expected):
    """Its groups are run again on the other; no cell is lost or doubled."""
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    doomed = cluster.add_node(num_cpus=1)
    cluster.wait_for_nodes()
    place = tmp_path / "r.sqlite"
    try:
        how = {"engine": "ray", "address": cluster.address, "progress": False}
        running = threading.Thread(target=robustssl.run, args=(small, place), kwargs=how)
        running.start()
        while not begun(place):
            time.sleep(0.1)
        cluster.remove_node(doomed, allow_graceful=False)
        running.join(120)
        assert not running.is_alive()
    finally:
        ray.shutdown()
        cluster.shutdown()
    assert scores(place) == expected


@pytest.mark.slow
def test_a_group_that_kills_its_worker_fails_alone(small, tmp_path):
    algorithms = ["supervised_logistic", "doomed:Crashes"]
    study = {**small, "algorithms": algorithms, "environments": ["feature"]}
    study |= {"ts": [0, 1], "seeds": 1}  # a group that is tried four times takes long
    status = robustssl.run(study, tmp_path / "r.sqlite", workers=2, engine="ray", progress=False)
    assert (status.done, status.failed) == (3, 1)
    with Store(tmp_path / "r.sqlite") as store:
        bad = [record for record in store.records() if record.error]
    assert {record.cell.algorithm for record in bad} == {"doomed:Crashes"}
    assert all(record.error.startswith("WorkerCrashedError") for record in bad)


def test_a_cluster_that_is_not_there(small, tmp_path):
    how = {"engine": "ray", "address": "127.0.0.1:1", "progress": False}
    with pytest.raises(InputError, match=r"cannot reach a Ray cluster at 127\.0\.0\.1:1"):
        robustssl.run(small, tmp_path / "r.sqlite", **how)
    with pytest.raises(InputError, match="unknown engine 'rya'"):
        robustssl.run(small, tmp_path / "r.sqlite", engine="rya")
    with pytest.raises(InputError, match="add engine=ray"):
        robustssl.run(small, tmp_path / "r.sqlite", address="somewhere")
