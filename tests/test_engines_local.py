"""The local engine: crashes, kills and interrupts lose nothing."""

import ctypes
import os
import random
import resource
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path

import pytest
import sqlalchemy as sa
import yaml

import robustssl
from robustssl import registry
from robustssl.cell import Cell
from robustssl.execution.engines.local import run_groups
from robustssl.records.record import Record

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
        preexec_fn=as_a_person,
    )


def as_a_person():
    """Ctrl-C is heard, unlike by a job in the background, and a file that may not be written is
    not, unlike by root.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if os.getuid() == 0:
        drop, dac_override = 24, 1
        ctypes.CDLL(None).prctl(drop, dac_override, 0, 0, 0)


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


@pytest.mark.slow
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


@contextmanager
def database(place, name=None):
    """A connection of one's own to the server of a store."""
    url = sa.make_url(place)
    engine = sa.create_engine(url.set(database=name or url.database), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        yield connection
    engine.dispose()


def cut_connections(connection, place):
    connection.exec_driver_sql(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        f"WHERE datname = '{sa.make_url(place).database}' AND pid <> pg_backend_pid()"
    )


FULL = """
    CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100';
    END $$;
    CREATE TRIGGER full_disk BEFORE INSERT ON records EXECUTE FUNCTION full_disk()
"""


@contextmanager
def no_space(process, place):
    """What the store lies on takes no more."""
    if isinstance(place, Path):
        most = max(path.stat().st_size for path in place.parent.glob(f"{place.name}*"))
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))
        yield
        return
    with database(place) as connection:
        if sa.inspect(connection).has_table("records"):
            connection.exec_driver_sql(FULL)
    yield
    with database(place) as connection:
        connection.exec_driver_sql("DROP FUNCTION IF EXISTS full_disk CASCADE")


@contextmanager
def read_only(process, place):
    """A file may only be read by who opens it, a database by who connects to it."""
    if isinstance(place, Path):
        files = list(place.parent.glob(f"{place.name}*"))
        for path in files:
            path.chmod(0o444)
        yield
        for path in files:
            with suppress(FileNotFoundError):  # it comes and goes with who uses the store
                path.chmod(0o644)
        return
    setting = f"ALTER DATABASE {sa.make_url(place).database} SET default_transaction_read_only ="
    with database(place, "postgres") as connection:
        connection.exec_driver_sql(f"{setting} on")
        cut_connections(connection, place)
    yield
    with database(place, "postgres") as connection:
        connection.exec_driver_sql(f"{setting} off")
        cut_connections(connection, place)


def disturb(kind, process, place, chance):
    """One of the things that happen to long jobs."""
    workers = [child for child in children(process.pid) if is_worker(child)]
    if kind == "worker" and workers:
        os.kill(chance.choice(workers), signal.SIGKILL)
    elif kind == "memory" and workers:
        pid = chance.choice(workers)
        now = int(Path(f"/proc/{pid}/statm").read_text().split()[0]) * os.sysconf("SC_PAGESIZE")
        with suppress(ProcessLookupError):
            resource.prlimit(pid, resource.RLIMIT_AS, (now, resource.RLIM_INFINITY))
    elif kind == "connection" and not isinstance(place, Path):
        with database(place) as connection:
            cut_connections(connection, place)
    elif kind in ("SIGKILL", "SIGTERM", "SIGINT"):
        os.kill(process.pid, getattr(signal, kind))
        process.communicate(timeout=30)
    elif kind in ("no_space", "read_only"):
        with globals()[kind](process, place):
            said, _ = process.communicate(timeout=60)
        assert process.returncode == 0 or "robustssl: the store" in said, said


FAULTS = (
    *("worker", "memory", "connection", "no_space", "read_only"),
    *("SIGKILL", "SIGTERM", "SIGINT"),
)

FAULTED = {
    "algorithms": ["self_training", "label_propagation", "fixmatch[steps=60]"],
    "environments": ["label", "feature"],
    "datasets": ["wine"],
    "labels": 3,
    "seeds": 5,
}


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory):
    pytest.importorskip("torch")
    store = tmp_path_factory.mktemp("unbroken") / "s.sqlite"
    robustssl.run(FAULTED, store, workers=2, progress=False)
    return results(store)


@pytest.mark.parametrize(
    "place", ["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)], indirect=True
)
@pytest.mark.parametrize("seed", range(int(os.environ.get("FAULT_SEEDS", "1"))))
def test_whatever_happens_to_it_a_study_ends_as_if_unbroken(tmp_path, place, seed, unbroken):
    """Workers, the parent and the database's connections are killed at random, memory and disk run
    out, the store turns read-only; curves of nets are among the groups.
    """
    study, chance = tmp_path / "study.yaml", random.Random(seed)
    study.write_text(yaml.safe_dump(FAULTED))
    process = start(study, place)
    for kind in chance.sample(FAULTS, 5):
        if process.poll() is not None:
            process.communicate()
            process = start(study, place)
        assert wait_for(lambda p=process: children(p.pid) or p.poll() is not None, 60)
        time.sleep(chance.uniform(0, 1.5))
        if process.poll() is None:
            disturb(kind, process, place, chance)
    process.communicate(timeout=300)
    robustssl.run(FAULTED, place, workers=2, retry=True, progress=False)
    with robustssl.Store(place, create=False) as store:
        good = [record for record in store.records() if record.error is None]
    found = {record.key: (record.scores, record.digest) for record in good}
    assert len(found) == len(good) == 180
    assert found == unbroken


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
    assert time.monotonic() - began < 5
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
    return [Record(cell, registry.versions(cell), error=str(threads)) for cell in group]


def test_a_worker_uses_one_thread_whatever_it_loads(monkeypatch):
    pytest.importorskip("xgboost")
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    cells = [Cell("self_training", "label", "wine", 5, t, 0) for t in (0.0, 1.0)]
    found = [
        r.error for records in run_groups([(c,) for c in cells], count_threads, 2) for r in records
    ]
    assert found == ["{1}", "{1}"]
    assert os.environ["OMP_NUM_THREADS"] == "7"
    assert "OPENBLAS_NUM_THREADS" not in os.environ


def tell(group):
    """When, where and with which GPU a group was run."""
    began = time.monotonic()
    time.sleep(0.1)
    told = f"{os.getpid()} {os.environ.get('CUDA_VISIBLE_DEVICES')} {began} {time.monotonic()}"
    return [Record(cell, registry.versions(cell), error=told) for cell in group]


def test_a_process_for_each_gpu_trains_the_nets(monkeypatch):
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    cells = [Cell("fixmatch", "label", "wine", 5, 0.0, seed) for seed in range(6)]
    cells += [Cell("self_training", "label", "wine", 5, 0.0, seed) for seed in range(4)]
    told = {"fixmatch": [], "self_training": []}
    for (record,) in run_groups([(cell,) for cell in cells], tell, 2, gpus=["3", "5"]):
        told[record.cell.algorithm].append(record.error.split())
    nets, rest = told.values()
    assert len(nets) == 6
    assert len(rest) == 4
    assert {gpu for _, gpu, *_ in rest} == {"None"}
    assert {gpu for _, gpu, *_ in nets} == {"3", "5"}
    for gpu in ("3", "5"):
        mine = [(pid, float(began), float(ended)) for pid, g, began, ended in nets if g == gpu]
        assert len({pid for pid, *_ in mine}) == 1
        times = sorted((began, ended) for _, began, ended in mine)
        assert all(a[1] <= b[0] for a, b in pairwise(times))


def test_a_thread_that_is_left_behind_does_not_hold_the_run(tmp_path, small):
    began = time.monotonic()
    study = {**small, "algorithms": ["doomed:Lingers"], "seeds": 1}
    assert robustssl.run(study, tmp_path / "s.sqlite", workers=2, progress=False).done == 6
    assert time.monotonic() - began < 60


def die_first(group):
    if group[0].seed == 0:
        os._exit(9)
    return tell(group)


def test_after_a_death_all_workers_work_again():
    groups = [(Cell("self_training", "label", "wine", 5, 0.0, seed),) for seed in range(40)]
    told = [record.error for (record,) in run_groups(groups, die_first, 2)]
    assert len(told) == 40
    assert sum("WorkerDied" in error for error in told) == 1
    lasted = [error.split()[0] for error in told if "WorkerDied" not in error]
    assert min(lasted[-10:].count(pid) for pid in set(lasted[-10:])) > 1
    assert len(set(lasted[-10:])) == 2


def test_a_share_of_a_gpu_is_a_process_more(tmp_path, small, monkeypatch):
    pytest.importorskip("torch")
    asked = []

    def seen(groups, work, workers, gpus, limits):
        asked.append(gpus)
        yield from map(work, groups)

    monkeypatch.setattr("robustssl.execution.engines.local.gpus", lambda: ["0", "1"])
    monkeypatch.setattr("robustssl.execution.engines.local.run_groups", seen)
    study = {**small, "algorithms": ["supervised_net[steps=2]"], "seeds": 1}
    robustssl.run(study, tmp_path / "s.sqlite", progress=False, gpu_share=0.5)
    assert asked == [["0", "1", "0", "1"]]
    with pytest.raises(robustssl.InputError, match="gpu_share lies between 0 and 1"):
        robustssl.run(study, tmp_path / "s.sqlite", gpu_share=0)


@pytest.mark.parametrize(
    ("algorithm", "limit", "workers", "reason"),
    [
        ("Sleeps", {"time_limit": 0.5}, 1, "OverTime: over the time limit of 0.5 s a cell"),
        ("Sleeps", {"time_limit": 0.5}, 2, "OverTime: over the time limit of 0.5 s a cell"),
        ("Stuck", {"time_limit": 0.5}, 2, "OverTime: over the time limit, in code that does"),
        ("Hungry", {"memory_limit": 2}, 1, "MemoryError: Unable to allocate 4.00 GiB"),
    ],
)
def test_a_cell_over_a_limit_fails_alone(tmp_path, small, algorithm, limit, workers, reason):
    study = {**small, "environments": "label", "ts": [0, 1], "seeds": 1}
    study["algorithms"] = [f"doomed:{algorithm}", "label_spreading", "supervised_logistic"]
    got = robustssl.run(study, tmp_path / "s.sqlite", workers=workers, progress=False, **limit)
    assert (got.done, got.failed, got.missing) == (4, 2, 0)
    (found,) = got.failures
    assert found.startswith(reason)
    assert algorithm == "Stuck" or "in fit" in got.logs[found]
