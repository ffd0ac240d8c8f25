"""The store: one success a cell, nothing lost, nothing silently wrong."""

import multiprocessing
import sqlite3
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sa
import works
from typer.testing import CliRunner

import robustssl.records.places
import robustssl.records.schema
from robustssl import Cell, InputError, Record, Store, registry
from robustssl.cli import app
from robustssl.environments import Environment
from robustssl.records import catalog, places
from robustssl.records import database as databases
from robustssl.records.frame import with_versions
from robustssl.records.results import read

DATA = Path(__file__).parent / "data"
CELL = Cell("label_spreading", "label", "wine", 5, 0.4, 0, (("alpha", 0.5),))
RECORD = Record(
    CELL,
    registry.versions(CELL),
    scores={"accuracy": 0.1 + 0.2, "macro_f1": 1 / 3, "detection": 0.7, "accuracy_there": 0.25},
    seconds=0.25,
    warnings=("UserWarning: so",),
    digest="d",
    predictions=(0, 1, 1),
    provenance={"versions": {"numpy": "2"}, "commit": None, "split_digest": "s"},
)
FAILURE = Record(CELL, registry.versions(CELL), error="ValueError: no")


@pytest.fixture
def store(place):
    with Store(place) as opened:
        yield opened


@pytest.fixture
def file(tmp_path):
    with Store(tmp_path / "s.sqlite") as opened:
        yield opened


def test_a_record_comes_back_to_the_last_bit(store):
    assert store.add(RECORD)
    assert list(store.records()) == [RECORD]


def test_the_first_success_stays(store):
    assert store.add(RECORD)
    assert not store.add(replace(RECORD, scores={"accuracy": 0.9}))
    assert list(store.records()) == [RECORD]


def test_errors_are_attempts_beside_the_success(store):
    assert store.add(FAILURE)
    assert store.add(FAILURE)
    assert (store.done(), store.failed()) == (set(), {registry.key(CELL)})
    assert store.add(RECORD)
    assert (store.done(), store.failed()) == ({registry.key(CELL)}, set())
    assert len(list(store.records())) == 3


def test_two_writers_never_double_a_cell(store, place):
    with Store(place) as other:
        assert store.add(RECORD)
        assert not other.add(RECORD)
        assert other.add(replace(RECORD, cell=replace(CELL, seed=1)))
    assert len(store.done()) == 2


def test_processes_that_start_at_once_share_a_new_store(place):
    """Four make the store together and write overlapping cells: each cell is kept once."""
    context = multiprocessing.get_context("spawn")
    ready = context.Barrier(4)
    records = [replace(RECORD, cell=replace(CELL, seed=seed)) for seed in range(100)]
    shares = [(place, records[start : start + 50]) for start in (0, 0, 25, 50)]
    with context.Pool(4, works.meet_at, (ready,)) as pool:
        added = pool.starmap(works.write, shares, chunksize=1)
    assert sum(map(sum, added)) == 100
    with Store(place) as store:
        assert len(list(store.records())) == len(store.done()) == 100


def test_a_store_is_made_whole_or_not_at_all(place, monkeypatch):
    tables = robustssl.records.schema.tables
    make = tables.create_all

    def killed_half_way(connection):
        make(connection)
        raise KeyboardInterrupt

    monkeypatch.setattr(tables, "create_all", killed_half_way)
    with pytest.raises(KeyboardInterrupt):
        Store(place)
    monkeypatch.undo()
    with Store(place) as store:
        assert store.add(RECORD)


def test_a_reader_does_not_hold_up_a_writer(store, place):
    for seed in range(3):
        store.add(replace(RECORD, cell=replace(CELL, seed=seed)))
    with Store(place, create=False) as other:
        reading = other.records()
        next(reading)
        assert store.add(replace(RECORD, cell=replace(CELL, seed=9)))
        assert len(list(reading)) == 2


def test_a_corrected_algorithm_makes_old_records_older(store, correct):
    """Older records count, and are marked, as long as there are no newer ones of their curve."""
    store.add(RECORD)
    assert not with_versions(store.frame()).older.any()
    correct("label_spreading", 9)
    before = with_versions(store.frame())
    assert before.older.all()
    assert before.counts.all()
    assert registry.key(CELL) not in store.done()
    assert store.add(replace(RECORD, versions=registry.versions(CELL)))
    after = with_versions(store.frame())
    assert after.older.tolist() == [True, False]
    assert after.counts.tolist() == [False, True]
    correct("label_spreading", 10)  # of older versions, the one written last counts
    assert with_versions(store.frame()).counts.tolist() == [False, True]


def test_the_frame_spells_the_method(store):
    store.add(RECORD)
    (row,) = store.frame().to_dict("records")
    assert row["algorithm"] == "label_spreading[alpha=0.5]"
    assert (row["accuracy"], row["t"], row["labels"]) == (0.1 + 0.2, 0.4, 5)


def test_of_what_is_not_here_the_newest_version_counts(store):
    for version in (1, 2):
        theirs = replace(CELL, algorithm="their_module:Theirs")
        store.add(Record(theirs, (version, Environment.version, 1), scores={"accuracy": 0.5}))
    assert with_versions(store.frame()).older.tolist() == [True, False]


def test_a_store_that_cannot_be_written_can_be_read(file, monkeypatch):
    file.add(RECORD)
    file.close()
    monkeypatch.setattr("os.access", lambda *_: False)
    with Store(file.place, create=False) as locked:
        assert list(locked.records()) == [RECORD]


def test_a_strangers_database_is_left_as_it_is(tmp_path):
    path = tmp_path / "other.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE photos (id)")
    before = path.read_bytes()
    for create in (False, True):
        with pytest.raises(InputError, match="not a store of robustssl"):
            Store(path, create=create)
    assert path.read_bytes() == before


def test_the_store_logs_ahead(file):
    file.add(RECORD)
    assert Path(f"{file.place}-wal").exists()


def test_a_memory_is_a_file_like_any_other(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with Store(":memory:") as store:
        store.add(RECORD)
    assert (tmp_path / ":memory:").exists()


def test_an_algorithm_that_is_not_here_does_not_spoil_the_frame(store):
    """A store may come from a colleague with an algorithm of their own."""
    foreign = replace(CELL, algorithm="their_module:Theirs")
    store.add(Record(foreign, (1, Environment.version, 1), scores={"accuracy": 0.5}))
    assert store.frame().algorithm.tolist() == ["their_module:Theirs[alpha=0.5]"]
    assert not with_versions(store.frame()).older.any()


def test_what_is_not_a_store(tmp_path):
    text = tmp_path / "text.sqlite"
    text.write_text("accuracy,0.5\n" * 100)
    with pytest.raises(InputError, match="is not a store: file is not a database"):
        Store(text)
    assert text.read_text().startswith("accuracy")
    other = tmp_path / "other.sqlite"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE photos (id)")
    with pytest.raises(InputError, match="not a store of robustssl"):
        Store(other)
    with pytest.raises(InputError, match="there is no store at"):
        Store(tmp_path / "none.sqlite", create=False)
    with pytest.raises(InputError, match="folder of the store"):
        Store(tmp_path / "nowhere" / "s.sqlite")
    with pytest.raises(InputError, match="cannot be used"):
        Store(tmp_path)


def test_a_store_of_a_newer_version(store, place):
    with store._engine.begin() as connection:
        connection.exec_driver_sql("UPDATE meta SET value = '99' WHERE name = 'schema'")
    with pytest.raises(InputError, match=r"newer version of robustssl \(schema 99"):
        Store(place)


def as_written_before(store, schema):
    """Take a store's tables back to those of an older version."""
    with store._engine.begin() as connection:
        connection.exec_driver_sql("DROP INDEX IF EXISTS counted")
        added = ("bits", "method", "test_rows", "sha256", *(("log",) if schema == 1 else ()))
        for column in added:
            connection.exec_driver_sql(f"ALTER TABLE records DROP COLUMN {column}")
        connection.exec_driver_sql("DROP TABLE methods")
        connection.exec_driver_sql(f"UPDATE meta SET value = '{schema}' WHERE name = 'schema'")


def test_progress_is_counted_without_reading_the_records(file, tmp_path, monkeypatch):
    """A store of schema 3 gets the index that this takes."""
    asked = []
    with file._engine.begin() as connection:
        connection.exec_driver_sql("DROP INDEX counted")
        connection.exec_driver_sql("ALTER TABLE records DROP COLUMN bits")
        connection.exec_driver_sql("UPDATE meta SET value = '3' WHERE name = 'schema'")
    with Store(tmp_path / "s.sqlite") as store:
        sa.event.listen(store._engine, "before_cursor_execute", lambda *a: asked.append(a[2:4]))
        store.counts()
        ((query, options),) = [found for found in asked if "GROUP BY" in found[0]]
        with store._engine.connect() as connection:
            plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {query}", options).all()
    assert [step[3] for step in plan] == ["SCAN records USING INDEX counted"]


@pytest.mark.parametrize("schema", [1, 2])
def test_a_store_of_an_older_version_is_brought_to_the_present_one(store, place, schema):
    store.add(replace(RECORD, method=None, test_rows=None))
    as_written_before(store, schema)
    with Store(place, create=False) as opened:
        (record,) = opened.records()
        assert replace(record, method=None) == replace(RECORD, method=None, test_rows=None)
        assert record.method == catalog.method_of("label_spreading[alpha=0.5]")
        assert record.method.baseline == "supervised_kernel"
        assert opened.add(replace(FAILURE, log="where"))
        assert opened.without_digest() == 1
    with Store(place) as opened:
        assert [record.log for record in opened.records()] == [None, "where"]
        assert list(opened.problems()) == []


def test_a_store_of_version_0_1_works(tmp_path):
    """A file that version 0.1 itself wrote: two statistical methods and two nets, all in an
    environment that is of an older version now.
    """
    place = tmp_path / "s.sqlite"
    place.write_bytes((DATA / "old" / "store.sqlite").read_bytes())
    found = robustssl.status(place)
    assert (found.cells, found.done, found.stale) == (0, 0, 16)
    with Store(place) as opened:
        frame = opened.frame()
        assert list(opened.problems()) == []
    assert set(frame.method) == {
        *("supervised_logistic", "self_training[threshold=0.9]"),
        *("supervised_net", "fixmatch[steps=20]"),
    }
    assert set(frame[frame.family == "deep"].baseline.dropna()) == {"supervised_net[steps=20]"}
    assert set(robustssl.curves(place).to_pandas().method) == set(frame.method)


def test_an_older_store_that_cannot_be_written_is_refused(file, tmp_path, monkeypatch):
    as_written_before(file, 1)
    file.close()
    monkeypatch.setattr("os.access", lambda *_: False)  # as root may write anything
    with pytest.raises(InputError, match=r"older version of robustssl \(schema 1\) and cannot"):
        Store(tmp_path / "s.sqlite", create=False)


def test_a_log_names_folders_and_is_not_exported():
    assert "secret" not in replace(FAILURE, log="/home/secret/x.py").to_json()


def test_a_group_is_committed_whole_or_not_at_all(store):
    group = [replace(RECORD, cell=replace(CELL, seed=seed)) for seed in range(3)]
    spoilt = replace(RECORD, cell=replace(CELL, seed=3), seconds="soon")
    with pytest.raises(Exception, match=r"soon|seconds"):
        store.add_all([*group, spoilt])
    assert list(store.records()) == []
    assert store.add_all(group) == 3
    assert store.add_all([*group, replace(RECORD, cell=replace(CELL, seed=4))]) == 1


def test_a_lost_connection_is_made_again(database):
    with Store(database) as store, Store(database) as other:
        store.add(RECORD)
        end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = "
        name = sa.make_url(database).database
        with other._engine.connect() as connection:
            connection.exec_driver_sql(f"{end} '{name}' AND pid <> pg_backend_pid()")
        assert store.add(replace(RECORD, cell=replace(CELL, seed=1)))
        assert len(store.done()) == 2


class Clock:
    """Time that passes only where somebody sleeps; what happens after so many seconds."""

    def __init__(self, after, event):
        self.now, self.after, self.event = 0.0, after, event

    def monotonic(self):
        return self.now

    def sleep(self, seconds):
        before, self.now = self.now, self.now + seconds
        if before < self.after <= self.now:
            self.event()


@pytest.fixture
def at(monkeypatch):
    """Sets the clock of everything that waits for a server."""

    def set_clock(clock):
        for module in (places, databases):
            monkeypatch.setattr(module, "time", clock)

    return set_clock


def test_a_server_that_restarts_is_waited_for(server, database, at, capsys):
    with Store(database) as store:
        store.add(RECORD)
        server.stop()
        at(Clock(3, server.start))
        assert store.add(replace(RECORD, cell=replace(CELL, seed=1)))
        server.stop()
        at(Clock(3, server.start))
        assert len(store.done()) == 2
        server.stop()
        at(Clock(3, server.start))
        with Store(database) as again:
            assert len(again) == 2
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 3
    assert set(said) == {
        f"robustssl: the store {store.place} does not answer; trying again for 60 s"
    }


def test_a_server_is_not_waited_for_for_ever_nor_one_that_never_was(server, database, at):
    clock = Clock(1e9, None)
    at(clock)
    with pytest.raises(InputError, match="No such file"):
        Store(database.replace("host=", "host=/nowhere"))
    assert clock.now == 0
    with Store(database) as store:
        server.stop()
        try:
            with pytest.raises(InputError, match="cannot be used"):
                store.done()
        finally:
            server.start()
    assert 60 <= clock.now < 70


def test_a_password_is_never_shown(database, tmp_path):
    assert "secret" in database
    with Store(database) as store:
        assert "secret" not in store.place
        assert "tester:***@" in store.place
    with Store(database) as store, store._engine.begin() as connection:
        connection.exec_driver_sql("UPDATE meta SET value = '99'")
    wrong = database.replace(sa.make_url(database).database, "nowhere")
    hidden = database.replace("host=", "host=/nowhere")
    for call in (
        lambda: Store(database),
        lambda: Store(wrong),
        lambda: Store(hidden),
        lambda: robustssl.report(database, tmp_path),
        lambda: robustssl.status(wrong),
        lambda: Store("mysql://me:secret@host/base"),
        lambda: Store("postgresql+psycopg://me:secret@host:port/base"),
    ):
        with pytest.raises(InputError) as caught:
            call()
        error = caught.value
        assert "secret" not in str(error)


def test_a_study_in_a_database(database, small, tmp_path):
    """Run, cut short, run again, read, exported, merged: as in a file."""
    assert robustssl.plan(small, database).left == 48
    robustssl.run({**small, "seeds": 2}, database, workers=1, progress=False)
    assert robustssl.run(small, database, workers=1, progress=False).done == 48
    robustssl.run(small, tmp_path / "s.sqlite", workers=1, progress=False)

    def scores(place):
        with Store(place, create=False) as store:
            return {record.key: dict(record.scores) for record in store.records()}

    assert scores(database) == scores(tmp_path / "s.sqlite")
    assert len(read(database)) == 48
    assert robustssl.status(database).done == 48
    loaded = robustssl.merge(database, tmp_path / "other.sqlite")
    assert (loaded.added, loaded.known, loaded.conflicts) == (48, 0, ())
    assert scores(tmp_path / "other.sqlite") == scores(database)
    again = robustssl.merge(tmp_path / "other.sqlite", database)
    assert (again.added, again.known) == (0, 48)


def test_a_store_is_checked(store, place):
    store.add_all([RECORD, FAILURE, replace(RECORD, cell=replace(CELL, seed=1))])
    run = CliRunner().invoke(app, ["store", "check", "-s", str(place)])
    assert run.exit_code == 0, run.exception
    assert run.output == "3 records, no problems.\n"
    with store._engine.begin() as connection:
        connection.exec_driver_sql("UPDATE records SET t = 0.6 WHERE seed = 1")
        connection.exec_driver_sql(
            "UPDATE records SET accuracy = 2 WHERE error IS NULL AND seed = 0"
        )
    found = list(store.problems())
    assert len(found) == 2
    assert "between 0 and 1" in found[0]
    assert "is not that of its cell" in found[-1]
    with store._engine.begin() as connection:
        connection.exec_driver_sql("UPDATE records SET t = 7")
    assert len([problem for problem in store.problems() if "got 7" in problem]) == 3
    assert CliRunner().invoke(app, ["store", "check", "-s", str(place)]).exit_code == 1


def test_a_merge_shows_what_differs_and_keeps_what_is_there(tmp_path):
    for name, score in (("a", 0.5), ("b", 0.6)):
        with Store(tmp_path / name) as store:
            store.add(replace(RECORD, scores={"accuracy": score}))
            store.add(FAILURE)
    found = robustssl.merge(tmp_path / "a", tmp_path / "b")
    assert (found.added, found.known, len(found.conflicts)) == (0, 1, 1)
    with Store(tmp_path / "b") as store:
        assert [r.scores for r in store.records() if not r.error] == [{"accuracy": 0.6}]
    with pytest.raises(InputError, match="there is no store"):
        robustssl.merge(tmp_path / "none", tmp_path / "b")


def test_a_full_disk_is_a_sentence_and_loses_nothing(tmp_path, monkeypatch):
    def small_disk(connection, _):
        connection.isolation_level = None
        connection.execute("PRAGMA max_page_count=20")

    path = tmp_path / "s.sqlite"
    monkeypatch.setattr(robustssl.records.places, "_set_up_connection", small_disk)
    added = []

    def fill():
        with Store(path) as full:
            for seed in range(10_000):
                record = replace(RECORD, cell=replace(CELL, seed=seed))
                full.add(record)
                added.append(record)

    with pytest.raises(InputError, match=r"full.*What was committed before is kept"):
        fill()
    monkeypatch.undo()
    with Store(path) as roomy:
        assert list(roomy.records()) == added
        assert roomy.add(replace(RECORD, cell=replace(CELL, seed=len(added))))


def test_a_record_needs_finite_scores_or_an_error():
    with pytest.raises(InputError, match="not finite"):
        Record(CELL, registry.versions(CELL), scores={"accuracy": float("nan")})
    with pytest.raises(InputError, match="scores or an error"):
        Record(CELL, registry.versions(CELL))


def test_json_and_back():
    assert Record.from_json(RECORD.to_json()) == RECORD
    assert Record.from_json(FAILURE.to_json()) == FAILURE


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("not json", "not a record"),
        ("[]", "not a record"),
        ('{"key": "x"}', "not a record: KeyError: 'cell'"),
        (RECORD.to_json().replace('"seed": 0', '"seed": 1'), "does not belong to the cell"),
        (RECORD.to_json().replace("0.30000000000000004", "NaN"), "not finite"),
        (RECORD.to_json().replace('"digest"', '"dgest"'), "not a record: TypeError"),
        (RECORD.to_json().replace('"seconds": 0.25', '"seconds": "x"'), "not a record: TypeError"),
        (RECORD.to_json().replace("0.30000000000000004", "7"), "between 0 and 1"),
    ],
)
def test_json_that_is_no_record(text, message):
    with pytest.raises(InputError, match=message):
        Record.from_json(text)


def test_the_status_of_all_is_counted(store, place):
    """As the frame of every record has it: successes, failures without one, what is stale."""
    others = [replace(CELL, seed=seed) for seed in range(1, 6)]
    store.add_all([RECORD, *(replace(RECORD, cell=cell) for cell in others[:3])])
    store.add_all([FAILURE, replace(FAILURE, cell=others[3]), replace(FAILURE, cell=others[3])])
    store.add(replace(FAILURE, cell=others[4], error="KeyError: x"))
    store.add(replace(RECORD, versions=(9, 1, 1)))
    found = robustssl.status(place)
    assert (found.cells, found.done, found.failed, found.missing) == (6, 4, 2, 0)
    assert found.stale == 1
    assert found.failures == {"ValueError: no": 1, "KeyError: x": 1}
    assert found.seconds == 1.0
    assert len(store.frame(failed_only=True)) == 3


def altered(file, column, value):
    file.add(RECORD)
    with file._engine.begin() as connection:
        connection.execute(sa.text(f"UPDATE records SET {column} = :value"), {"value": value})


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("params", "5"),
        ("params", "{"),
        ("params", "[[[1],2]]"),
        ("versions", "[1]"),
        ("versions", "nope"),
        ("versions", '["a",1,1]'),
        ("environment", "label[" + 300_000 * "," + "]"),
        ("environment", "label[a=" + 5000 * "9" + "]"),
        ("labels", "many"),
        ("t", "late"),
        ("accuracy", "good"),
        ("seconds", "long"),
        ("other_scores", "[1]"),
        ("other_scores", '{"detection": "x"}'),
    ],
)
def test_a_store_that_was_meddled_with_is_refused_with_a_sentence(file, tmp_path, column, value):
    altered(file, column, value)
    table, folder = str(tmp_path / "x.csv"), str(tmp_path / "r")
    for words in (["status"], ["export", table], ["report", "-o", folder], ["metrics"]):
        place = [str(tmp_path / "s.sqlite")]
        call = [*words, *place] if words == ["metrics"] else [*words, "-s", *place]
        answer = CliRunner().invoke(app, call)
        assert answer.exception is None or isinstance(answer.exception, InputError | SystemExit)
    assert len(list(file.problems())) == 1


def test_a_store_never_loads_what_it_names(file, tmp_path, monkeypatch):
    (tmp_path / "strangers_module.py").write_text("raise SystemExit('executed')")
    monkeypatch.syspath_prepend(tmp_path)
    for column, value in (
        ("environment", "os:path+strangers_module:Payload"),
        ("algorithm", "strangers_module:Payload"),
        ("dataset", "strangers_module:load"),
    ):
        altered(file, column, value)
    curves = [["strangers_module:A", "strangers_module:B", "iris", 5]]
    file.note("study x", {"title": "x", "curves": curves, "ts": [0, 1], "seeds": [0]})
    table, pages = str(tmp_path / "x.csv"), str(tmp_path / "p")
    folder = str(tmp_path / "r")
    for words in (["status"], ["report", "-o", folder], ["export", table], ["site", pages]):
        answer = CliRunner().invoke(app, [*words, "-s", str(tmp_path / "s.sqlite")])
        assert "executed" not in str(answer.exception)
    assert "strangers_module" not in sys.modules


NOTES = ["{", "5", '{"title": 3}', 9000 * "[", '{"title":"","curves":[],"ts":[],"seeds":[1e999]}']


@pytest.mark.parametrize("note", NOTES)
def test_a_note_that_is_no_study_is_refused_with_a_sentence(file, tmp_path, note):
    with file._engine.begin() as connection:
        connection.execute(sa.text("INSERT INTO meta VALUES ('study x', :note)"), {"note": note})
    with pytest.raises(InputError):
        robustssl.status(tmp_path / "s.sqlite")


@pytest.mark.parametrize(
    "url",
    [
        "postgresql+psycopg://u:SECRET@localhost:1/db",
        "postgresql+psycopg://u@localhost:1/db?password=SECRET",
        "postgresql+psycopg:/u:SECRET@localhost/db",
        "postgresql+psycopg://u:a@SECRET@localhost:1/db",
        "mysql://u:SECRET@localhost/db",
    ],
)
def test_a_password_is_not_in_any_message(url, tmp_path, capfd):
    ways = (["status", "-s"], ["metrics"], ["import"], ["store", "merge"])
    for words in ([*way, url] for way in ways):
        answer = CliRunner().invoke(app, words)
        assert answer.exit_code != 0
        assert "SECRET" not in answer.output + str(answer.exception)


def test_stale_is_judged_by_all_records_however_few_are_read(store, place):
    """The newest version of what is not here is that of the store, not of the rows asked for."""
    cell = Cell("their_module:Theirs", "label", "wine", 5, 0.0, 0)
    for t, version in ((0.0, 1), (1.0, 1), (0.5, 2)):
        store.add(replace(RECORD, cell=replace(cell, t=t), versions=(version, 1, 1)))
    store.add(replace(FAILURE, cell=replace(cell, seed=1), versions=(1, 1, 1)))
    assert store.counts([0.0, 1.0], [0]).cells.sum() == 2
    assert robustssl.status(place).failed == 0
