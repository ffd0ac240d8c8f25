"""The local engine: crashes, kills and interrupts lose nothing."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import sqlalchemy as sa
import yaml

import robustssl
from robustssl.cell import Cell
from robustssl.engines.local import run_groups
from robustssl.record import Record

HERE = Path(__file__).parent


def start(study, store, workers=2):
    """`robustssl run` as a person starts it, in a process group of its own."""
    command = [Path(sys.executable).parent / "robustssl", "run", study, "--store", store]
    return subprocess.Popen(
        [*map(str, command), "--workers", str(workers)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=HERE,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a job in the background
    )


def count(store):
    try:
        with robustssl.Store(store, create=False) as opened:
            return len(opened.done())
    except robustssl.InputError:
        return 0


def wait_for(condition, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.01)
    return False


def stat(pid):
    """The state of a process and its parent, or None where it is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return fields[0], int(fields[1])


def alive(pid):
    """Running, not merely a child that nobody has waited for yet."""
    found = stat(pid)
    return found is not None and found[0] != "Z"


def children(pid):
    every = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]
    return [child for child in every if (found := stat(child)) and found[1] == pid]


def is_worker(pid):
    """Alive and spawned to work; multiprocessing's own tracker stays."""
    return alive(pid) and b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()


def results(path):
    with robustssl.Store(path, create=False) as store:
        records = list(store.records())
    assert all(record.error is None for record in records)
    assert len({record.key for record in records}) == len(records)
    return {record.key: (record.scores, record.digest) for record in records}


def test_killed_at_ten_random_moments_it_ends_as_if_unbroken(tmp_path):
    study = tmp_path / "study.yaml"
    document = {
        "algorithms": ["supervised_xgboost", "self_training", "label_propagation"],
        "environments": ["distribution", "label", "feature"],
        "datasets": ["wine", "digits"],
        "labels": 3,
        "seeds": 3,
    }
    study.write_text(yaml.safe_dump(document))
    robustssl.run(document, tmp_path / "unbroken.sqlite", workers=2)
    broken, chance = tmp_path / "broken.sqlite", random.Random(0)
    progress = []
    for _ in range(10):
        process = start(study, broken)
        goal = count(broken) + chance.randrange(30)
        assert wait_for(lambda goal=goal, p=process: count(broken) >= goal and children(p.pid), 60)
        time.sleep(chance.uniform(0, 0.1))
        workers = children(process.pid)
        process.kill()
        process.communicate(timeout=30)  # until no worker holds its output open
        progress.append(count(broken))
        assert wait_for(lambda w=workers: not any(map(alive, w)), 10), (
            "workers outlive their parent"
        )
    assert len(set(progress)) > 5
    assert progress[4] < 324  # or the kills came too late to tell
    process = start(study, broken)
    said, _ = process.communicate(timeout=300)
    assert process.returncode == 0, said
    assert "324 cells: 324 done, 0 failed, 0 missing" in said
    assert results(broken) == results(tmp_path / "unbroken.sqlite")


def disturb(kind, process, place, chance):
    """One of the things that happen to long jobs."""
    workers = [child for child in children(process.pid) if is_worker(child)]
    if kind == "worker" and workers:
        os.kill(chance.choice(workers), signal.SIGKILL)
    elif kind == "connection" and "://" in str(place):
        engine = sa.create_engine(place, isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.exec_driver_sql(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        engine.dispose()
    elif kind in ("SIGKILL", "SIGTERM", "SIGINT"):
        os.kill(process.pid, getattr(signal, kind))
        process.communicate(timeout=30)


FAULTS = ("worker", "connection", "SIGKILL", "SIGTERM", "SIGINT")


@pytest.mark.parametrize("seed", range(int(os.environ.get("FAULT_SEEDS", "1"))))
def test_whatever_happens_to_it_a_study_ends_as_if_unbroken(tmp_path, place, seed):
    """Workers, the parent and the database's connections are killed at random; curves of nets are
    among the groups.
    """
    document = {
        "algorithms": ["self_training", "label_propagation", "fixmatch[steps=60]"],
        "environments": ["label", "feature"],
        "datasets": ["wine"],
        "labels": 3,
        "seeds": 5,
    }
    study, chance = tmp_path / "study.yaml", random.Random(seed)
    study.write_text(yaml.safe_dump(document))
    robustssl.run(document, tmp_path / "unbroken.sqlite", workers=2, progress=False)
    process = start(study, place)
    for _ in range(5):
        if process.poll() is not None:
            process.communicate()
            process = start(study, place)
        assert wait_for(lambda p=process: children(p.pid) or p.poll() is not None, 60)
        time.sleep(chance.uniform(0, 1.5))
        if process.poll() is None:
            disturb(chance.choice(FAULTS), process, place, chance)
    process.communicate(timeout=300)
    robustssl.run(document, place, workers=2, retry=True, progress=False)
    with robustssl.Store(place, create=False) as store:
        good = [record for record in store.records() if record.error is None]
    found = {record.key: (record.scores, record.digest) for record in good}
    assert len(found) == len(good) == 180
    assert found == results(tmp_path / "unbroken.sqlite")


def test_control_c_ends_soon_keeps_what_is_done_and_says_how_to_go_on(tmp_path):
    study = tmp_path / "study.yaml"
    study.write_text(
        "algorithms: [supervised_logistic, 'doomed:Sleeps']\nenvironments: [label]\n"
        "datasets: [iris]\nseeds: 1\n"
    )
    store = tmp_path / "s.sqlite"
    process = start(study, store)
    assert wait_for(lambda: count(store) == 6, 60)
    began = time.monotonic()
    os.killpg(process.pid, signal.SIGINT)
    said, _ = process.communicate(timeout=30)
    assert time.monotonic() - began < 10
    assert process.returncode == 130
    assert "What is done is kept" in said
    assert "Traceback" not in said
    assert count(store) == 6


def test_a_script_without_a_main_guard_runs_once(tmp_path, small):
    small["seeds"] = 1
    script = tmp_path / "script.py"
    script.write_text(
        "import robustssl\nprint('hello')\n"
        f"print(robustssl.run({small}, 's.sqlite', workers=2).done)\n"
    )
    done = subprocess.run(
        [sys.executable, script], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["hello", "12"]


@pytest.mark.parametrize("workers", [2, 3])
def test_a_worker_that_dies_is_an_error_of_its_cell_alone(tmp_path, small, workers):
    doomed = {**small, "algorithms": ["doomed:Crashes", "label_spreading"], "seeds": 2}
    got = robustssl.run(
        {**doomed, "environments": "feature"}, tmp_path / "s.sqlite", workers=workers
    )
    assert (got.done, got.failed, got.missing) == (8, 4, 0)
    assert list(got.failures) == ["WorkerDied: the process ended without a word (out of memory?)"]
    with robustssl.Store(tmp_path / "s.sqlite") as store:
        assert {r.cell.algorithm for r in store.records() if r.error} == {"doomed:Crashes"}


def test_a_store_that_fills_up_ends_the_workers(tmp_path, small, monkeypatch):
    def full(self, records):
        raise robustssl.InputError("the disk is full")

    monkeypatch.setattr(robustssl.Store, "add_all", full)
    before = set(children(os.getpid()))
    with pytest.raises(robustssl.InputError, match="full"):
        robustssl.run(small, tmp_path / "s.sqlite", workers=2)
    left = set(children(os.getpid())) - before
    assert wait_for(lambda: not any(map(is_worker, left)), 5)


def count_threads(group):
    import scipy.linalg  # noqa: F401
    import xgboost  # noqa: F401
    from threadpoolctl import threadpool_info

    threads = {info["num_threads"] for info in threadpool_info()}
    return [Record(cell, cell.versions, error=str(threads)) for cell in group]


def test_a_worker_uses_one_thread_whatever_it_loads(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    cells = [Cell("self_training", "label", "wine", 5, t, 0) for t in (0.0, 1.0)]
    found = [
        r.error for records in run_groups([(c,) for c in cells], count_threads, 2) for r in records
    ]
    assert found == ["{1}", "{1}"]
    assert os.environ["OMP_NUM_THREADS"] == "7"
    assert "OPENBLAS_NUM_THREADS" not in os.environ
