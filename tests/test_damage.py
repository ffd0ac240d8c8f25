"""Files that were damaged, or written to do harm: found, refused, shown harmlessly."""

import random
from contextlib import suppress
from dataclasses import replace

import pytest
from test_store import CELL, FAILURE, RECORD

import robustssl
from robustssl import InputError, Store
from robustssl.records import files

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


@pytest.mark.parametrize("seed", range(3))
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
