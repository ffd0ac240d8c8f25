"""The local engine: crashes, kills and interrupts lose nothing."""

import ctypes
import os
import random
import resource
import signal
import subprocess
import sys
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

import pytest
import sqlalchemy as sa
import works
import yaml
from gates import LONG, MANY, alive, as_a_person, children, is_ours, processes, wait_for, workers

import robustssl
from robustssl.cell import Cell
from robustssl.execution.engines import local
from robustssl.execution.engines.local import Done, run_groups
from robustssl.execution.limits import Limits
from robustssl.studies.study import study as read_study

HERE = Path(__file__).parent


def start(study, store):
    """`robustssl run` as a person starts it, in a process group of its own."""
    command = [Path(sys.executable).parent / "robustssl", "run", study, "--store", store]
    return subprocess.Popen(
        [*map(str, command), "--workers", "2", "--retry"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=HERE,
        start_new_session=True,
        preexec_fn=as_a_person,
    )


def count(store):
    try:
        with robustssl.Store(store, create=False) as opened:
            return len(opened.done())
    except robustssl.InputError:
        return 0


def results(path):
    """What counts of a store's successes, each of which must be there once."""
    with robustssl.Store(path, create=False) as store:
        good = [record for record in store.records() if record.error is None]
    found = {record.key: (record.scores, record.digest) for record in good}
    assert len(found) == len(good)
    return found


def cells(count, algorithm="self_training"):
    """Groups of one cell each."""
    return [(Cell(algorithm, "label", "wine", 5, 0.0, seed),) for seed in range(count)]


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


def disturb(kind, process, place, gate):
    """One of the things that happen to long jobs."""
    at_work = workers(process.pid)
    if kind == "worker":
        os.kill(at_work[0], signal.SIGKILL)
    elif kind == "memory":
        pid = at_work[0]
        now = int(Path(f"/proc/{pid}/statm").read_text().split()[0]) * os.sysconf("SC_PAGESIZE")
        resource.prlimit(pid, resource.RLIMIT_AS, (now, resource.RLIM_INFINITY))
    elif kind == "connection" and not isinstance(place, Path):
        with database(place) as connection:
            cut_connections(connection, place)
    elif kind in ("SIGKILL", "SIGTERM", "SIGINT"):
        os.kill(process.pid, getattr(signal, kind))
        process.communicate(timeout=LONG)  # until no worker holds its output open
        wait_for(lambda: not any(map(alive, at_work)))
    elif kind in ("no_space", "read_only"):
        with globals()[kind](process, place):
            gate.let(MANY)
            said, _ = process.communicate(timeout=LONG)
        gate.shut()
        unharmed = kind == "read_only" and process.returncode == 0  # it has opened the file before
        assert unharmed or "robustssl: the store" in said, said


FAULTS = ["worker", "memory", "connection", "SIGKILL", "SIGTERM", "SIGINT"]
random.Random(int(os.environ.get("FAULT_SEED", "0"))).shuffle(FAULTS)


def at_work(process, restart, gate):
    """A run that has fits under way: this one or, if it has ended, one more."""
    for _ in range(3):
        if process.poll() is not None:
            process.communicate(timeout=LONG)
            process = restart()
        goal = len(gate.arrived()) + 2
        gate.let(3)
        wait_for(lambda goal=goal, p=process: len(gate.arrived()) >= goal or p.poll() is not None)
        if process.poll() is None:
            return process
    raise AssertionError(process.communicate(timeout=LONG)[0])


@pytest.mark.parametrize(
    "place", ["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)], indirect=True
)
@pytest.mark.parametrize(
    ("faults", "more"),
    [
        pytest.param(["worker", "SIGKILL"], [], id="deaths"),
        pytest.param(["SIGKILL"] * 10, ["supervised_xgboost"], id="kills", marks=pytest.mark.slow),
        pytest.param(
            [*FAULTS, "no_space", "read_only"],
            ["label_propagation", "fixmatch[steps=60]"],
            id="everything",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_whatever_happens_to_it_a_study_ends_as_if_unbroken(tmp_path, place, faults, more, gate):
    """Every fault strikes while fits are under way: two workers, or one after a death, wait at the
    gate, and three fits are let through between faults.
    """
    study = {
        "algorithms": ["supervised_logistic", gate.learner, *more],
        "environments": ["label", "feature"],
        "datasets": ["wine"],
        "labels": 3,
        "seeds": 5 if more else 2,
    }
    file = tmp_path / "study.yaml"
    file.write_text(yaml.safe_dump(study))
    restart = partial(start, file, place)
    process = restart()
    for kind in faults:
        process = at_work(process, restart, gate)
        disturb(kind, process, place, gate)
    gate.let(MANY)
    process.communicate(timeout=LONG)
    robustssl.run(study, place, workers=1, retry=True, progress=False)
    robustssl.run(study, tmp_path / "unbroken.sqlite", workers=1, progress=False)
    assert results(place) == results(tmp_path / "unbroken.sqlite")
    assert len(results(place)) == len(read_study(study).cells())


def test_control_c_keeps_what_is_done_and_says_how_to_go_on(tmp_path, gate):
    """It does not wait for the fits that are under way: the gate stays shut."""
    study = {"algorithms": ["supervised_logistic", gate.learner], "environments": "label"}
    file, store = tmp_path / "study.yaml", tmp_path / "s.sqlite"
    file.write_text(yaml.safe_dump({**study, "datasets": "iris", "seeds": 1}))
    process = start(file, store)
    wait_for(lambda: len(gate.arrived()) == 2 and count(store) == 6)
    os.killpg(process.pid, signal.SIGINT)
    said, _ = process.communicate(timeout=LONG)
    assert process.returncode == 130
    assert "Finished cells are kept; run the same command to continue." in said
    assert "Traceback" not in said
    assert count(store) == 6


def test_control_c_while_rows_are_encoded_leaves_no_process(tmp_path, gate, monkeypatch):
    """Before the first cell: the gate stays shut, and nothing is encoded."""
    pytest.importorskip("torch")
    monkeypatch.setenv("ROBUSTSSL_CACHE", str(tmp_path / "cache"))
    data = f"toy:encoded_images[encoder=tiny:Gated[gate={gate.path}]]"
    study = {"algorithms": "supervised_logistic", "environments": "label", "datasets": data}
    file, store = tmp_path / "study.yaml", tmp_path / "s.sqlite"
    file.write_text(yaml.safe_dump({**study, "seeds": 1}))
    process = start(file, store)
    wait_for(gate.arrived)
    theirs = [*children(process.pid), *workers(process.pid)]
    assert set(gate.arrived()) <= set(theirs)
    os.killpg(process.pid, signal.SIGINT)
    said, _ = process.communicate(timeout=LONG)
    assert process.returncode == 130
    assert "Finished cells are kept; run the same command to continue." in said
    assert "Traceback" not in said
    assert count(store) == 0
    wait_for(lambda: not any(map(alive, theirs)))


def test_a_script_without_a_main_guard_runs_once(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import works\n"
        "from robustssl.cell import Cell\n"
        "from robustssl.execution.engines.local import run_groups\n"
        "print('hello')\n"
        "groups = [(Cell('tsvm', 'label', 'wine', 5, 0.0, seed),) for seed in range(4)]\n"
        "print(len(list(run_groups(groups, works.tell, 2))))\n"
    )
    paths = os.pathsep.join([str(HERE), *filter(None, sys.path)])
    done = subprocess.run(
        [sys.executable, script],
        env={**os.environ, "PYTHONPATH": paths},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["hello", "4"]


def test_a_worker_that_dies_is_an_error_of_its_cell_alone(tmp_path, small):
    study = {**small, "algorithms": ["doomed:Crashes", "supervised_kernel"], "ts": [0, 1]}
    study |= {"environments": "feature", "seeds": 1}
    got = robustssl.run(study, tmp_path / "s.sqlite", workers=2, progress=False)
    assert (got.done, got.failed, got.missing) == (3, 1, 0)
    assert list(got.failures) == ["WorkerDied: the process ended without a word (out of memory?)"]
    with robustssl.Store(tmp_path / "s.sqlite") as store:
        (failed,) = [record.cell for record in store.records() if record.error]
    assert (failed.algorithm, failed.t) == ("doomed:Crashes", 1.0)


def test_a_method_that_ends_the_only_worker_fails_and_no_more(tmp_path, small):
    study = {**small, "algorithms": ["doomed:Ends", "supervised_kernel"], "environments": "label"}
    got = robustssl.run({**study, "seeds": 1}, tmp_path / "s.sqlite", workers=1, progress=False)
    assert (got.done, got.failed, got.missing) == (3, 3, 0)
    assert got.failures == {local._DIED: 3}


def test_a_method_that_forks_leaves_no_process_and_no_second_record(tmp_path, small):
    study = {**small, "algorithms": "doomed:Forks", "environments": "label", "seeds": 2}
    before = set(processes())
    got = robustssl.run(study, tmp_path / "s.sqlite", workers=1, progress=False)
    assert (got.done, got.failed, got.missing) == (6, 0, 0)
    servers = {*children(os.getpid()), *before}
    wait_for(lambda: not any(map(is_ours, set(processes()) - servers)))


def curve(cells_):
    """One group of many cells."""
    return tuple(cell for (cell,) in cells_)


def test_of_a_curve_only_the_cell_that_ends_its_process_fails():
    done = run_groups([curve(cells(7))], partial(works.die_with, seed=4), 1)
    told = {r.cell.seed: r.error for records, _ in done for r in records}
    assert sorted(told) == [*range(7)]
    assert [seed for seed, error in told.items() if error == local._DIED] == [4]


def test_a_curve_whose_process_is_killed_twice_is_done_all_the_same(tmp_path):
    done = run_groups([curve(cells(7))], partial(works.die_twice, folder=tmp_path), 1)
    told = {r.cell.seed: r.error for records, _ in done for r in records}
    assert sorted(told) == [*range(7)]
    assert local._DIED not in told.values()


def test_memory_that_ends_outside_of_a_cell_is_an_error_of_its_group_alone():
    told = {r.cell.seed: r.error for (r,), _ in run_groups(cells(4), works.run_out_of_memory, 2)}
    assert sorted(told) == [*range(4)]
    assert [seed for seed, error in told.items() if "MemoryError" in error] == [0]


def test_after_a_death_all_workers_work_again(tmp_path):
    """Or the groups that wait for each other would wait forever."""
    work = partial(works.die_then_meet, folder=tmp_path)
    told = {r.cell.seed: r.error for (r,), _ in run_groups(cells(8), work, 2)}
    assert [seed for seed, error in told.items() if "WorkerDied" in error] == [0]
    assert sorted(told) == [*range(8)]
    for pair in ((4, 5), (6, 7)):
        assert len({told[seed] for seed in pair}) == 2


def test_a_store_that_fills_up_ends_the_workers(tmp_path, small, monkeypatch):
    def full(self, records):
        raise robustssl.InputError("the disk is full")

    monkeypatch.setattr(robustssl.Store, "add_all", full)
    monkeypatch.setattr("robustssl.execution.run.run_group", works.tell)
    with pytest.raises(robustssl.InputError, match="full") as caught:
        robustssl.run(small, tmp_path / "s.sqlite", workers=2)
    wait_for(lambda: not workers(os.getpid()))
    assert caught.traceback  # as long as it is there, nothing is ended by garbage collection


def test_a_worker_uses_one_thread_whatever_it_loads(monkeypatch):
    pytest.importorskip("xgboost")
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    (((record,), _),) = run_groups(cells(1), works.count_threads, 2)
    assert record.error == "{1}"
    assert os.environ["OMP_NUM_THREADS"] == "7"
    assert "OPENBLAS_NUM_THREADS" not in os.environ


def test_a_process_for_each_gpu_trains_the_nets(tmp_path, monkeypatch):
    """Both at a time: groups that wait for each other are on different GPUs."""
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    told = {"fixmatch": {}, "self_training": {}}
    groups = [*cells(6, "fixmatch"), *cells(4)]
    work = partial(works.meet, folder=tmp_path)
    for (record,), _ in run_groups(groups, work, 2, gpus=["3", "5"]):
        told[record.cell.algorithm][record.cell.seed] = tuple(record.error.split())
    nets, rest = told.values()
    assert (len(nets), len(rest)) == (6, 4)
    assert {gpu for _, gpu in rest.values()} == {"None"}
    processes = {*nets.values()}
    assert len(processes) == 2
    assert {gpu for _, gpu in processes} == {"3", "5"}
    assert all({nets[seed], nets[seed + 1]} == processes for seed in (0, 2, 4))


def test_a_thread_that_is_left_behind_does_not_hold_the_run(tmp_path, monkeypatch):
    monkeypatch.setattr("robustssl.execution.engines.processes.LEAVE", 0.1)
    assert len(list(run_groups(cells(2), partial(works.linger, folder=tmp_path), 2))) == 2
    assert not (tmp_path / "outlasted").exists()


def test_a_share_of_a_gpu_is_a_process_more(tmp_path, small, monkeypatch):
    pytest.importorskip("torch")
    asked = []

    def seen(groups, work, workers, gpus, **_):
        asked.append(gpus)
        yield from (Done(work(group), 0.0) for group in groups)

    monkeypatch.setattr("robustssl.execution.engines.local.gpus", lambda: ["0", "1"])
    monkeypatch.setattr("robustssl.execution.engines.local.run_groups", seen)
    study = {**small, "algorithms": ["supervised_net[steps=2]"], "seeds": 1}
    robustssl.run(study, tmp_path / "s.sqlite", progress=False, gpu_share=0.5)
    assert asked == [["0", "1", "0", "1"]]
    with pytest.raises(robustssl.InputError, match="gpu_share must be above 0 and at most 1"):
        robustssl.run(study, tmp_path / "s.sqlite", gpu_share=0)


def test_a_cell_over_a_limit_fails_alone(tmp_path, small):
    study = {**small, "environments": "label", "ts": [0, 1], "seeds": 1}
    study["algorithms"] = ["doomed:Overruns", "doomed:Hungry", *small["algorithms"]]
    got = robustssl.run(
        study, tmp_path / "s.sqlite", workers=1, progress=False, time_limit=LONG, memory_limit=2
    )
    assert (got.done, got.failed, got.missing) == (4, 4, 0)
    late, hungry = sorted(got.failures, reverse=True)
    assert late == f"OverTime: over the time limit of {LONG} s a cell"
    assert hungry.startswith("MemoryError: Unable to allocate 4.00 GiB")
    assert "in fit" in got.logs[late]
    assert "in fit" in got.logs[hungry]


def test_limits_need_no_privilege(tmp_path, small):
    """As root a process may raise what limits it; an ordinary user may not."""
    study = {**small, "environments": "label", "ts": [0, 1], "seeds": 1}
    study["algorithms"] = ["doomed:Overruns", "doomed:Hungry", "supervised_logistic"]
    (tmp_path / "study.yaml").write_text(yaml.safe_dump(study))

    def as_an_ordinary_user():
        drop, last = 24, 40  # of the capabilities that root has
        for capability in range(last + 1):
            ctypes.CDLL(None).prctl(drop, capability, 0, 0, 0)

    command = [sys.executable, "-m", "robustssl", "run", tmp_path / "study.yaml", "--workers", "1"]
    command += ["--store", tmp_path / "s.sqlite", "--time-limit", str(LONG), "--memory-limit", "2"]
    done = subprocess.run(
        command, cwd=HERE, preexec_fn=as_an_ordinary_user, capture_output=True, text=True
    )
    assert "2 done, 4 failed, 0 missing" in done.stdout
    assert "2 failed: OverTime" in done.stderr
    assert "2 failed: MemoryError" in done.stderr


def test_a_process_that_ends_after_its_time_was_stuck(tmp_path, small, monkeypatch):
    """Its watchdog has ended it; here it dies, as if after a long time."""
    monkeypatch.setattr(Limits, "patience", lambda self, cells: 0 * self.seconds)
    study = {**small, "algorithms": ["doomed:Crashes"], "environments": "feature"}
    study |= {"ts": [0, 1], "seeds": 1}
    got = robustssl.run(study, tmp_path / "s.sqlite", workers=1, progress=False, time_limit=LONG)
    assert (got.done, got.failed) == (1, 1)
    assert list(got.failures) == [local._STUCK]
