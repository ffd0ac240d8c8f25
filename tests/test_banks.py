"""Banks: vectors of rows and of views, made once, whatever happens to them in between."""

import errno
import multiprocessing
import os
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny import Means

import robustssl
from robustssl import registry
from robustssl.cell import Cell
from robustssl.data import ViewedRows
from robustssl.downloads import banks
from robustssl.downloads.banks import Bank
from robustssl.encoders import bank_of, chance, digests_of, only_kept
from robustssl.errors import InputError
from robustssl.execution.banks import make_banks, wanted_banks
from robustssl.execution.worker import run_group
from robustssl.splits import prepare
from robustssl.studies.study import study

ENCODER = Means()


@pytest.fixture(autouse=True)
def empty(tmp_path, monkeypatch):
    """A cache without banks."""
    monkeypatch.setenv("ROBUSTSSL_CACHE", str(tmp_path))
    bank_of.cache_clear()
    prepare.cache_clear()
    Means.encoded.clear()
    yield tmp_path
    bank_of.cache_clear()
    prepare.cache_clear()


def pictures(count, seed=0):
    return np.random.default_rng(seed).integers(0, 256, (count, 4, 4, 3), dtype=np.uint8)


def forgotten():
    """As in a new process."""
    bank_of.cache_clear()
    Means.encoded.clear()


def test_a_row_is_encoded_once():
    rows = pictures(5)
    first = ENCODER.vectors(rows)
    forgotten()
    again = ENCODER.vectors(np.concatenate([rows[::-1], rows]))
    assert np.array_equal(again, np.concatenate([first[::-1], first]))
    assert Means.encoded == []
    assert ENCODER.views(rows).shape == (5, 5, 12)
    assert sorted({version for _, version in Means.encoded}) == [1, 2, 3, 4, 5]


def emptied():
    """Every example begins without banks."""
    for bank in banks.banks():
        banks.delete_bank(bank.name)
    forgotten()


@given(st.permutations(range(6)), st.integers(1, 6))
@settings(max_examples=20, deadline=None)
def test_views_do_not_depend_on_other_rows_nor_on_their_order(order, part):
    rows, found = pictures(6), []
    for chosen in (list(range(6)), order[:part]):
        emptied()
        found.append(ENCODER.views(rows[chosen]))
    assert np.array_equal(found[0][order[:part]], found[1])


def test_other_views_have_another_bank_and_the_rows_themselves_do_not():
    rows = pictures(3)
    ENCODER.vectors(rows), ENCODER.views(rows)
    Means.encoded.clear()
    fewer = replace(ENCODER, weak=1)
    fewer.vectors(rows)
    assert Means.encoded == []
    assert fewer.views(rows).shape == (3, 4, 12)
    assert len(Means.encoded) == 12


def in_a_process(seed):
    ENCODER.views(pictures(40, seed))
    return [digest for digest, _ in Means.encoded]


def test_processes_do_not_encode_a_row_twice(empty):
    context = multiprocessing.get_context("spawn")
    with context.Pool(2) as pool:
        found = pool.map(in_a_process, [0, 0, 1])
    counted = [digest for part in found for digest in dict.fromkeys(part)]
    (kept,) = (bank for bank in banks.banks() if "views" in bank.name)
    assert kept.rows == 80
    assert set(counted) == {*digests_of(pictures(40)), *digests_of(pictures(40, 1))}


@pytest.mark.parametrize("file", ["vectors", "entries"])
@given(place=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
@settings(max_examples=25, deadline=None)
def test_a_flipped_bit_is_found_and_the_row_made_again(file, place, bit):
    emptied()
    rows = pictures(6)
    right = ENCODER.views(rows)
    path = ENCODER._bank(range(1, 6)).folder / file
    content = bytearray(path.read_bytes())
    content[int(place * len(content))] ^= 1 << bit
    path.write_bytes(content)
    forgotten()
    assert np.array_equal(ENCODER.views(rows), right)
    assert 5 <= len(Means.encoded) <= 10  # one row or, where digest and place are hit, two
    path.write_bytes(content[: len(content) // 2])
    forgotten()
    assert np.array_equal(ENCODER.views(rows), right)


@pytest.mark.parametrize("file", ["vectors", "entries"])
def test_what_a_killed_process_left_is_taken_away(file):
    right = ENCODER.views(pictures(4))
    path = ENCODER._bank(range(1, 6)).folder / file
    with path.open("ab") as opened:
        opened.write(b"\0" * 7)
    forgotten()
    more = ENCODER.views(pictures(6))
    forgotten()
    assert np.array_equal(more[:4], right)
    assert np.array_equal(ENCODER.views(pictures(6)), more)
    assert Means.encoded == []


def test_a_full_disk_is_a_sentence_and_leaves_the_bank_whole(monkeypatch):
    right = ENCODER.views(pictures(4))
    write = banks._write

    def full(file, place, content):
        write(file, place, content[: len(content) // 2])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(banks, "_write", full)
        with pytest.raises(InputError, match=r"No space left on device\): make room"):
            ENCODER.views(pictures(6))
    forgotten()
    assert np.array_equal(ENCODER.views(pictures(4)), right)


def test_banks_are_told_of_and_deleted():
    assert banks.banks() == []
    ENCODER.vectors(pictures(4))
    (kept,) = banks.banks()
    assert (kept.name, kept.rows) == ("tiny:Means, version 1, rows", 4)
    assert kept.size >= 4 * 12 * 2
    with pytest.raises(InputError, match="did you mean 'tiny:Means, version 1, rows'"):
        banks.delete_bank("tiny:Means")
    banks.delete_bank(kept.name)
    assert banks.banks() == []
    Means.encoded.clear()
    assert ENCODER.vectors(pictures(4)).shape == (4, 12)  # in the same process
    assert len(Means.encoded) == 4


def test_a_bank_that_was_never_added_to_leaves_no_folder(empty):
    assert Bank("one", (1, 3)).missing([b"0" * 16]) == [0]
    assert list(empty.iterdir()) == []


def test_a_bank_of_another_shape_is_another():
    one, other = Bank("one", (1, 3)), Bank("other", (1, 4))
    with one.alone():
        one.add([b"0" * 16], np.ones((1, 1, 3), np.float16))
    assert one.missing([b"0" * 16, b"1" * 16]) == [1]
    assert other.missing([b"0" * 16]) == [0]


def test_chance_is_uniform_and_of_the_row():
    found = chance([bytes([k] * 16) for k in range(250)], 1, 40)
    assert found.min() >= 0
    assert found.max() < 1
    assert found.mean() == pytest.approx(0.5, abs=0.01)
    assert np.corrcoef(found[:, 0], found[:, 1])[0, 1] == pytest.approx(0, abs=0.2)
    assert not np.array_equal(found, chance([bytes([k] * 16) for k in range(250)], 2, 40))


def test_rows_that_are_not_kept_are_an_error_for_who_may_not_take_long():
    with only_kept(), pytest.raises(InputError, match="not encoded by tiny:Means yet"):
        ENCODER.vectors(pictures(2))
    ENCODER.vectors(pictures(2))
    with only_kept():
        ENCODER.vectors(pictures(2))


SPEC = "toy:encoded_images[encoder=tiny:Means]"


def test_nets_get_views_and_other_methods_the_vectors():
    prepared = prepare(SPEC, "label", 3, 0)
    plain, viewed = prepared.split(0.5), prepared.split(0.5, views=True)
    assert isinstance(viewed.X, ViewedRows)
    assert np.asarray(viewed.X) == pytest.approx(plain.X, abs=2e-3)
    assert viewed.X_test is plain.X_test
    assert prepared.split(1.0, views=True).X.bank is viewed.X.bank
    far = np.abs(viewed.X.bank[:, 1:].astype(float) - viewed.X.bank[:, :1]).mean((0, 2))
    assert far[:2].max() < far[2:].min()


def test_what_a_row_loses_does_not_depend_on_the_seed():
    """So one bank serves all seeds."""
    grey = "toy:encoded_images[channels=1,encoder=tiny:Means]"
    seen = [prepare(grey, "feature", 3, seed).encoded()[0] for seed in range(8)]
    whole = {*digests_of(registry.dataset(grey).X)}
    lost = [{*digests_of(rows)} - whole for rows in seen]
    assert all(lost)
    assert len(set.union(*lost)) <= len(whole)


@pytest.mark.parametrize("algorithm", ["fixmatch", "supervised_net", "label_spreading"])
def test_a_cell_behind_an_encoder(algorithm):
    params = () if algorithm == "label_spreading" else (("steps", 80),)
    (found,) = run_group((Cell(algorithm, "label", SPEC, 3, 0.0, 0, params),))
    assert found.error is None
    assert found.scores["accuracy"] > 0.6


# In a run

STUDY = {
    "algorithms": ["supervised_logistic", "fixmatch[steps=5]"],
    "environments": ["label", "feature"],
    "datasets": [SPEC, "iris"],
    "ts": [0, 1],
    "seeds": 2,
}


def test_a_run_encodes_what_its_cells_need_before_the_first_of_them(tmp_path, capfd):
    cells = study(STUDY).cells()
    wanted = wanted_banks(cells)
    assert {dataset: len(draws) for dataset, draws in wanted.items()} == {SPEC: 4}
    assert all(wanted[SPEC].values())  # nets ask for views
    statistical = [cell for cell in cells if cell.algorithm == "supervised_logistic"]
    assert not any(wanted_banks(statistical)[SPEC].values())
    make_banks(cells, progress=False)
    assert capfd.readouterr().err == ""
    before = {bank.name: bank.rows for bank in banks.banks()}
    with only_kept():
        assert [r.error for cell in cells for r in run_group((cell,))] == [None] * len(cells)
    assert {bank.name: bank.rows for bank in banks.banks()} == before
    found = robustssl.run(STUDY, tmp_path / "s.sqlite", workers=1)
    assert (found.done, found.failed) == (len(cells), 0)
    assert "vectors" not in capfd.readouterr().err  # nothing was left to encode


def test_an_encoder_that_cannot_be_had_ends_a_run_with_a_sentence(tmp_path):
    absent = {**STUDY, "datasets": ["toy:encoded_images[encoder=tiny:Absent]"]}
    with pytest.raises(InputError, match="weights of Absent cannot be fetched"):
        robustssl.run(absent, tmp_path / "s.sqlite", workers=1, progress=False)


def test_rows_that_cannot_be_dealt_are_refused_before_any_is_encoded(tmp_path):
    many = {**STUDY, "datasets": [SPEC], "labels": 5000}
    with pytest.raises(InputError, match="5000 labels per class are too many"):
        robustssl.run(many, tmp_path / "s.sqlite", workers=1, progress=False)


def test_models_over_several_banks_are_each_what_they_are_alone():
    cells = [
        Cell("fixmatch", "label", SPEC, 3, t, s, (("steps", 2),)) for t in (0, 1) for s in (0, 1)
    ]
    together = run_group(tuple(cells))
    alone = [run_group((cell,))[0] for cell in cells]
    assert [r.provenance["height"] for r in (*together, *alone)] == [4] * 4 + [1] * 4
    assert (
        len({id(prepare(SPEC, "label", 3, s).split(0.0, views=True).X.bank) for s in (0, 1)}) == 2
    )
    assert [r.digest for r in together] == [r.digest for r in alone]
    assert [r.scores for r in together] == [r.scores for r in alone]
    assert len({str(r.scores) for r in together}) > 1
