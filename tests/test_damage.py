"""Files that were damaged, or written to do harm: found, refused, shown harmlessly."""

import errno
import gzip
import io
import json
import random
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pandas as pd
import pytest
import sqlalchemy as sa
from test_store import CELL, FAILURE, RECORD
from typer.testing import CliRunner

import robustssl
from robustssl import InputError, Record, Store
from robustssl.cli import app
from robustssl.cli._print import print_table, say
from robustssl.records import files
from robustssl.records.sheets import csv_of, without_apostrophes
from robustssl.reports.style import in_figures

FLIPS = 80


def some_records():
    """Records of several methods and kinds, such as a store has."""
    described = robustssl.registry.describe("label_spreading[alpha=0.5]")
    plain = replace(RECORD, predictions=None, method=described, test_rows=90)
    for seed in range(30):
        scores = {"accuracy": (seed + 1) / 37, "detection": (seed + 2) / 41}
        for t in (0.0, 0.2, 1.0):
            cell = replace(CELL, seed=seed, t=t)
            yield replace(plain, cell=cell, scores=scores, digest=f"{seed:016x}")
    yield replace(FAILURE, cell=replace(CELL, seed=40), log="where it failed\n" * 9)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    place = tmp_path_factory.mktemp("whole") / "s.sqlite"
    with Store(place) as store:
        store.add_all(list(some_records()))
    return place


def flipped(content, at):
    """A content with one bit turned over."""
    changed = bytearray(content)
    changed[at // 8] ^= 1 << at % 8
    return bytes(changed)


def flips(content, seed):
    """So many places of bits, in bytes that are not 0, as free space is."""
    chance = random.Random(seed)
    used = [place for place, byte in enumerate(content) if byte]
    return [8 * chance.choice(used) + chance.randrange(8) for _ in range(FLIPS)]


def exported(place, out):
    """What `export` writes of a store; None if it refuses."""
    try:
        files.export(place, out)
    except InputError:
        return None
    return out.read_text()


def is_sound(place):
    """Whether `store check` finds nothing."""
    try:
        with Store(place, create=False) as store:
            return not list(store.problems())
    except InputError:
        return False


@pytest.mark.parametrize("seed", [0, *(pytest.param(s, marks=pytest.mark.slow) for s in (1, 2))])
def test_no_flipped_bit_of_a_store_passes(whole, tmp_path, seed):
    """A flip passes only where the records that are read are the same, such as in free space."""
    content = whole.read_bytes()
    kept = exported(whole, tmp_path / "kept.jsonl")
    scores = exported(whole, tmp_path / "kept.csv")
    found = 0
    for at in flips(content, seed):
        place = tmp_path / f"{at}.sqlite"
        place.write_bytes(flipped(content, at))
        lines, table = (exported(place, tmp_path / f"x.{form}") for form in ("jsonl", "csv"))
        assert lines in (None, kept), f"export passes bit {at}"
        assert table in (None, scores), f"export as csv passes bit {at}"
        found += lines is None
        assert lines is not None or not is_sound(place), f"store check passes bit {at}"
    assert found > 0.8 * FLIPS


def test_no_flipped_bit_of_exported_records_passes(whole, tmp_path):
    plain, path = tmp_path / "kept.jsonl", tmp_path / "records.jsonl"
    files.export(whole, plain)
    content, kept = plain.read_bytes(), files.read_records(plain, strict=True)
    passed = []
    for at in flips(content, 0):
        path.write_bytes(flipped(content, at))
        try:
            assert files.read_records(path, strict=True) == kept, f"bit {at} passes"
            passed.append(at)
        except InputError:
            pass
    assert len(passed) < 3  # such as of 1e-05, which is 1E-05


def test_no_flipped_bit_of_packed_records_passes(whole, tmp_path):
    packed, path = tmp_path / "kept.jsonl.gz", tmp_path / "records.jsonl.gz"
    with Store(whole, create=False) as store:
        files.pack(list(store.records()), packed)
    content, kept = packed.read_bytes(), files.read_records(packed, strict=True)
    for at in flips(content, 0):
        path.write_bytes(flipped(content, at))
        with suppress(InputError):
            assert files.read_records(path, strict=True) == kept, f"bit {at} passes"


@pytest.mark.parametrize(
    "change",
    [
        "accuracy = 0.5",
        "t = t + 1e-9",
        "seed = 77",
        "split_digest = 'x'",
        "warnings = '[]'",
        "seconds = 9",
        """other_scores = '{"accuracy": 0.5}'""",
        "provenance = 'x'",
        "method = NULL",
        "test_rows = 3",
        "sha256 = 'x'",
    ],
)
def test_a_column_that_was_changed_is_found_and_not_exported(place, tmp_path, change):
    described = robustssl.registry.describe("label_spreading[alpha=0.5]")
    with Store(place) as store:
        store.add_all(
            [replace(RECORD, cell=replace(CELL, seed=s), method=described) for s in (0, 1)]
        )
        with store._engine.begin() as connection:
            if connection.dialect.name == "postgresql":
                connection.exec_driver_sql("ALTER TABLE records DISABLE TRIGGER ALL")
            connection.exec_driver_sql(f"UPDATE records SET {change} WHERE seed = 1")
        (problem,) = store.problems()
        assert problem.startswith("record 2: ")
        with pytest.raises(InputError, match="did not write"):
            list(store.records())
    for form in ("jsonl", "csv"):
        assert exported(place, tmp_path / f"x.{form}") is None


def test_a_log_is_no_part_of_what_was_written(place):
    with Store(place) as store:
        store.add(replace(FAILURE, log="here"))
        with store._engine.begin() as connection:
            connection.exec_driver_sql("UPDATE records SET log = 'there'")
        assert list(store.problems()) == []


def test_what_records_share_is_checked_too(place):
    with Store(place) as store:
        store.add(RECORD)
        with store._engine.begin() as connection:
            connection.exec_driver_sql("""UPDATE provenance SET document = '{"commit": "x"}'""")
        (problem,) = store.problems()
    assert "provenance" in problem
    assert "was altered" in problem


def line_of(**changes):
    """The line of a record with other values, and no digest."""
    document = json.loads(RECORD.to_json())
    document.pop("sha256")
    return json.dumps({**document, **changes})


def nested(levels):
    return {"deep": nested(levels - 1)} if levels else 0


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (line_of().replace('"seconds": 0.25', '"seconds": 1e400'), "seconds must be a finite"),
        (line_of(provenance=nested(900)), "at most 20 levels deep"),
        (line_of().replace('"numpy": "2"', '"numpy": 1e400'), "finite numbers"),
        (line_of(warnings=[["x"]]), "not a record"),
        (line_of(digest=5), "must be texts"),
        (line_of(error=r"half a character: \ud800").replace(r"\\ud", r"\ud"), "surrogates"),
    ],
)
def test_a_line_that_would_do_harm_later_is_refused(tmp_path, line, reason):
    (tmp_path / "x.jsonl").write_text(line + "\n")
    with pytest.raises(InputError, match=reason):
        robustssl.load(tmp_path / "x.jsonl", tmp_path / "s.sqlite")
    assert not (tmp_path / "s.sqlite").exists()


def test_a_provenance_that_is_not_json_fails_where_the_record_is_made():
    with pytest.raises(InputError, match="finite numbers"):
        replace(RECORD, provenance={"loss": float("nan")})


def test_whole_numbers_in_a_line_come_back_from_a_store_unaltered(place, tmp_path):
    (tmp_path / "x.jsonl").write_text(line_of(seconds=1, scores={"accuracy": 1}) + "\n")
    assert robustssl.load(tmp_path / "x.jsonl", place).added == 1
    with Store(place, create=False) as store:
        assert list(store.problems()) == []


def test_an_end_of_line_of_unicode_is_a_character_like_any_other(tmp_path):
    lines = [
        json.dumps(json.loads(replace(FAILURE, error=f"a{mark}b").to_json()), ensure_ascii=False)
        for mark in "\u2028\u2029\x85"
    ]
    (tmp_path / "x.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = files.read_records(tmp_path / "x.jsonl", strict=True)
    assert [record.error for record in found] == ["a\u2028b", "a\u2029b", "a\x85b"]


@pytest.mark.parametrize("filling", [b"\0", b"\n", RECORD.to_json().encode() + b"\n"])
def test_a_packed_file_that_unpacks_to_far_more_is_refused(tmp_path, monkeypatch, filling):
    monkeypatch.setattr(files, "_LARGEST", 10**6)
    monkeypatch.setattr(files, "_LONGEST", 10**5)
    content = filling * (10**7 // len(filling))
    for name in ("x.jsonl.gz", "x.csv.gz"):
        (tmp_path / name).write_bytes(gzip.compress(content))
        assert (tmp_path / name).stat().st_size < 50_000
    with pytest.raises(InputError, match=r"far more|more than|not a record"):
        files.read_records(tmp_path / "x.jsonl.gz")
    with pytest.raises(InputError, match="far more than records would"):
        files.read_text(tmp_path / "x.csv.gz")


def test_a_packed_file_is_read_piece_by_piece(tmp_path, monkeypatch):
    """What is refused was never in memory as a whole."""
    taken = []
    monkeypatch.setattr(files, "_LARGEST", 3 * files._PIECE)
    monkeypatch.setattr(files, "_TIMES", 1)
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress(bytes(50 * files._PIECE)))
    pieces = files._pieces(tmp_path / "x.csv.gz")
    with pytest.raises(InputError, match="far more"):
        taken.extend(map(len, pieces))
    assert sum(taken) == 3 * files._PIECE


def test_a_long_error_is_cut_where_it_is_kept_and_where_it_is_printed(place):
    with Store(place) as store:
        store.add(replace(FAILURE, error="x" * 5_000_000, log="y" * 5_000_000))
        (record,) = store.records()
        assert len(record.error) == 2000
        assert record.error.endswith("xxx... (5,000,000 characters)")
        assert len(record.log) == 20_000
        with store._engine.begin() as connection:  # as an older version kept it
            connection.execute(sa.text("UPDATE records SET error = :e"), {"e": "z" * 5_000_000})
        assert store.frame().error.str.len().tolist() == [2000]
    for words in (["status"], ["status", "--logs"]):
        answer = CliRunner().invoke(app, [*words, "-s", str(place)])
        assert len(answer.output) < 50_000


FORMULAS = ["=1+1", "+1", "-1", "@SUM(1)", "'=1", "plain", "\t=1"]


def test_a_text_that_begins_like_a_formula_has_an_apostrophe_in_csv_files():
    frame = pd.DataFrame({"algorithm": FORMULAS, "gain": -0.5, "labels": 5})
    text = csv_of(frame)
    cells = [line.split(",") for line in text.splitlines()[1:]]
    assert [cell for cell, *_ in cells] == [
        *("'=1+1", "'+1", "'-1", "'@SUM(1)", "''=1", "plain", "'\t=1")
    ]
    assert {tuple(rest) for _, *rest in cells} == {("-0.5", "5")}
    back = without_apostrophes(pd.read_csv(io.StringIO(text)))
    assert back.algorithm.tolist() == FORMULAS
    assert csv_of(pd.DataFrame({"algorithm": ["\x1b[2J"]})) == "algorithm\n\\x1b[2J\n"


HOSTILE = [r"$\alpha_{$", "-cmd|x", "a|b", "\x1bcx", "_x", r"\end{tabular}", "</script>"]


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """A store whose methods have names that try to break what shows them."""
    place = tmp_path_factory.mktemp("hostile") / "s.sqlite"
    cells = [
        replace(CELL, algorithm=name, dataset=dataset, params=(), t=t, seed=seed)
        for name in HOSTILE
        for dataset in ("wine", "iris", "$x^$")
        for t in (0.0, 0.5, 1.0)
        for seed in (0, 1)
    ]
    with Store(place) as store:
        for cell in cells:
            score = 0.5 + (hash_of(cell) % 100) / 300
            store.add(Record(cell, (1, 1, 1), scores={"accuracy": score}))
        store.add(Record(replace(cells[0], seed=9), (1, 1, 1), error="\x1b[31mno"))
    return place


def hash_of(cell):
    return sum(map(ord, f"{cell.algorithm}{cell.dataset}{cell.t}{cell.seed}"))


def test_no_name_breaks_a_report(hostile, tmp_path):
    robustssl.report(hostile, tmp_path / "r")
    assert (tmp_path / "r" / "ranks.svg").exists()
    for file in (tmp_path / "r").glob("*.svg"):
        ElementTree.parse(file)
    page, table = ((tmp_path / "r" / f"table.{form}").read_text() for form in ("md", "csv"))
    assert "\x1b" not in page + table
    tables = [part.splitlines() for part in page.split("\n\n") if part.startswith("| ")]
    assert len(tables) == 4  # of means, and of each task
    for lines in tables:
        assert len({line.replace(r"\|", "").count("|") for line in lines}) == 1
    assert "'-cmd" in table
    tex = (tmp_path / "r" / "table.tex").read_text()
    assert tex.count(r"\end{tabularx}") == 1
    assert r"\$" in tex


def test_a_name_with_a_dollar_is_drawn_as_it_is():
    assert in_figures(r"$\alpha_{$") == r"\$\alpha_{\$"


def test_no_name_breaks_a_site(hostile, tmp_path):
    pages = robustssl.site(hostile, tmp_path / "site").parent
    for file in pages.rglob("*.csv"):
        assert "\x1b" not in file.read_text()
        assert "\n=" not in file.read_text().replace(",=", "\n=")


def test_no_name_steers_the_terminal(hostile, tmp_path):
    table = str(tmp_path / "x.csv")
    for words in (
        ["status", "-s", str(hostile)],
        ["export", table, "-s", str(hostile)],
        ["metrics", str(hostile)],
        ["metrics", str(hostile), "-f", "csv"],
    ):
        answer = CliRunner().invoke(app, words)
        assert answer.exit_code == 0, answer.exception
        assert "\x1b" not in answer.output
    assert r"\x1bcx" in CliRunner().invoke(app, ["metrics", str(hostile)]).output


def test_cells_of_a_table_are_shown_escaped(capsys):
    print_table(["name", "summary"], [["\x1b]0;x", "a\x9bb"]])
    assert r"\x1b]0;x" in capsys.readouterr().out


URLS = [
    "postgresql//u:SECRET@localhost/db",
    "postgresql+psycopg//u:SECRET@localhost/db",
    "postgresql+psycopg//user:SECRET@localhost/db",
    "postgresql:/u:SECRET@localhost/db",
    "postgresql+psycopg;//u:SECRET@localhost/db",
    "postgresql+psycopg//localhost/db?password=SECRET",
    "postgresql+psycopg//u:SEC/RET@localhost/db",
    "u:SECRET@localhost/db",
    "postgresql+psycopg://user:SECRET@localhost:1/db",
]


@pytest.mark.parametrize("url", URLS)
@pytest.mark.parametrize(
    "words",
    [
        ["status", "-s"],
        ["status"],
        ["run"],
        ["run", "quickstart", "-s"],
        ["submit", "quickstart", "-s"],
        ["report", "-s"],
        ["site", "x", "-s"],
        ["serve", "-s"],
        ["metrics"],
        ["export", "x.csv", "-s"],
        ["export"],
        ["import"],
        ["store", "check", "-s"],
        ["store", "merge"],
    ],
)
def test_no_message_shows_a_password(url, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    answer = CliRunner().invoke(app, [*words, url])
    assert answer.exit_code != 0
    assert isinstance(answer.exception, InputError | SystemExit)
    told = answer.output + str(answer.exception)
    assert "SEC" not in told
    assert "RET" not in told


def test_what_is_printed_shows_no_password(capsys):
    say("cannot open postgresql//me:SECRET@host/db or other")
    assert "//me:***@host/db or other" in capsys.readouterr().out


def test_a_file_may_have_an_at_in_its_name(tmp_path):
    with Store(tmp_path / "me@home.sqlite") as store:
        assert store.place.endswith("me@home.sqlite")


@pytest.fixture
def full_disk(monkeypatch):
    """Files that are begun, and cannot be written."""

    def write(path, *_, **__):
        path.touch()
        raise OSError(errno.ENOSPC, "No space left on device")

    def begin(path, mode="r", **how):
        return write(path) if "w" in mode else plain(path, mode, **how)

    plain = Path.open

    def fill():
        for name in ("write_text", "write_bytes"):
            monkeypatch.setattr(Path, name, write)
        monkeypatch.setattr(Path, "open", begin)

    yield fill
    monkeypatch.undo()


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_a_full_disk_leaves_no_part_of_an_export(whole, tmp_path, full_disk, form):
    out = tmp_path / f"x.{form}"
    out.write_text("before")
    full_disk()
    with pytest.raises(InputError, match="No space left"):
        files.export(whole, out)
    assert [file.name for file in tmp_path.iterdir()] == [out.name]
    assert out.read_text() == "before"


def test_a_full_disk_leaves_no_part_of_packed_records(tmp_path, full_disk):
    full_disk()
    with pytest.raises(InputError, match="No space left"):
        files.pack([RECORD], tmp_path / "records.jsonl.gz")
    assert list(tmp_path.iterdir()) == []
