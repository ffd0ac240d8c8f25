"""Several encoders at once, encoder=a+b: a block of columns each."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from test_banks import empty, forgotten, pictures  # noqa: F401 (empty: a cache without banks)
from tiny import Means, Random

from robustssl import registry
from robustssl.audits.model import Model
from robustssl.audits.model_file import load_model, save_model
from robustssl.cell import Cell, data_in_words
from robustssl.data import UNLABELED, ViewedRows
from robustssl.downloads import banks
from robustssl.encoders import only_kept
from robustssl.errors import InputError
from robustssl.execution.banks import wanted_banks
from robustssl.execution.worker import run_group
from robustssl.records import catalog
from robustssl.splits import prepare

BOTH = "tiny:Means+tiny:Random[strong=3,weak=2]"
DATASET = f"toy:encoded_images[encoder={BOTH}]"
MEMBERS = Means(), Random(weak=2, strong=3)


def test_vectors_stand_side_by_side_and_nothing_is_encoded_twice():
    rows, encoder = pictures(5), registry.encoder(BOTH)
    vectors = [member.vectors(rows) for member in MEMBERS]
    views = [member.views(rows) for member in MEMBERS]
    before = banks.banks()
    forgotten()
    assert np.array_equal(encoder.vectors(rows), np.concatenate(vectors, axis=1))
    assert np.array_equal(encoder.views(rows), np.concatenate(views, axis=2))
    assert encoder.views(rows).shape == (5, 5, encoder.width) == (5, 5, 12 + 6)
    assert Means.encoded == []
    assert [bank.name for bank in banks.banks()] == [bank.name for bank in before]


def test_what_is_missing_is_added_to_the_banks_of_the_members():
    rows, encoder = pictures(3), registry.encoder(BOTH)
    with only_kept(), pytest.raises(InputError, match="not encoded by tiny:Means yet"):
        encoder.vectors(rows)
    encoder.vectors(rows), encoder.views(rows)
    with only_kept():
        for member in MEMBERS:
            member.vectors(rows), member.views(rows)


def test_the_order_of_encoders_does_not_matter():
    other = "tiny:Random+tiny:Means[weak=2,strong=3]"
    assert registry.canonical("encoder", other) == BOTH
    assert registry.canonical("dataset", f"cifar10[encoder={other}]") == f"cifar10[encoder={BOTH}]"
    assert registry.encoder(other).spec == registry.encoder(BOTH).spec == BOTH
    assert data_in_words("cifar10[encoder=a+b[weak=2]]") == "cifar10 by a+b"


@pytest.mark.parametrize(
    "encoder",
    [
        "efficientnet_lite0+minilm",  # images and texts
        "minilm+tfidf",  # of which one has no views that are kept
        "resnet50+resnet50",
        "resnet50+given",
    ],
)
def test_what_cannot_stand_side_by_side_is_refused(encoder):
    with pytest.raises(InputError, match=r"cannot compose .* pretrained encoders of one kind"):
        registry.canonical("encoder", encoder)


def test_a_dataset_refuses_encoders_of_another_kind_of_data():
    with pytest.raises(InputError, match=r"kind image, and minilm\+mpnet encodes those of"):
        registry.canonical("dataset", "cifar10[encoder=minilm+mpnet]")
    with pytest.raises(InputError, match="unknown encoder"):
        registry.canonical("dataset", "cifar10[encoder=resnet50+resnet51]")


def test_the_version_is_of_the_dataset_and_of_every_encoder(correct):
    cell = Cell("fixmatch", "label", "cifar10[encoder=efficientnet_lite0+resnet50]", 3, 0.0, 0)
    things = [("dataset", "cifar10"), ("encoder", "efficientnet_lite0"), ("encoder", "resnet50")]
    found = {registry.key(cell): registry.versions(cell)[2]}
    for kind, name in things:
        before = catalog.entry(kind, name).version
        correct(name, before + 1, kind)
        found[registry.key(cell)] = registry.versions(cell)[2]
        assert catalog.version("dataset", "cifar10+efficientnet_lite0+resnet50") in found.values()
        correct(name, before, kind)
    assert len(found) == len(set(found.values())) == 4


def test_the_versions_of_single_encoders_stay_as_they_were():
    assert catalog.version("dataset", "cifar10+resnet50") == 1000 * catalog.version(
        "dataset", "cifar10"
    ) + catalog.version("encoder", "resnet50")
    assert registry.version("encoder", "resnet50") == catalog.version("encoder", "resnet50")
    assert registry.version("encoder", "efficientnet_lite0+resnet50") == 1001


def alone(member):
    return prepare(f"toy:encoded_images[encoder={member.spec}]", "label", 3, 0)


def test_a_block_is_what_its_encoder_gives_alone():
    prepared = prepare(DATASET, "label", 3, 0)
    plain, viewed = prepared.split(0.5), prepared.split(0.5, views=True)
    assert viewed.X.blocks == viewed.X[:3].blocks == (12, 6)
    assert plain.X.shape == viewed.X.shape == (len(plain.y), 18)
    assert np.asarray(viewed.X) == pytest.approx(plain.X, abs=5e-3)
    singles = [alone(member).split(0.5, views=True) for member in MEMBERS]
    for single, block in zip(singles, np.split(viewed.X.bank, [12], axis=2), strict=True):
        assert single.X.blocks == ()
        assert block == pytest.approx(single.X.bank, abs=1e-2)
    tests = np.concatenate([single.X_test for single in singles], axis=1)
    assert plain.X_test == pytest.approx(tests, abs=1e-4)


@pytest.mark.parametrize("algorithm", ["ensemble_pseudo_labels", "fixmatch", "label_spreading"])
def test_a_cell_behind_two_encoders(algorithm):
    params = () if algorithm == "label_spreading" else (("steps", 80),)
    cell = Cell(algorithm, "label", DATASET, 3, 0.0, 0, params)
    assert DATASET in wanted_banks([cell])
    (found,) = run_group((cell,))
    assert found.error is None
    assert found.scores["accuracy"] > 0.6


def test_a_model_behind_two_encoders_is_kept_in_a_file(tmp_path):
    data = registry.dataset(DATASET)
    model = Model("supervised_logistic", "image", None, BOTH)
    model.fit(data.X[:40], data.y[:40], data.X[40:])
    save_model(model, tmp_path / "model")
    assert np.array_equal(load_model(tmp_path / "model").predict(data.X), model.predict(data.X))


# Voters

BLOCKS = (3, 2)
SMALL = {"steps": 5, "batch": 4, "clip": None, "random_state": 0}


def rows_of(blocks, seed=0):
    """Vectors of 20 rows, 8 of them labeled, with two weak and two strong views."""
    rng = np.random.default_rng(seed)
    truth = np.arange(20) % 2
    bank = rng.normal(truth[:, None, None], 0.5, (20, 5, sum(BLOCKS))).astype(np.float16)
    return ViewedRows(bank, np.arange(20), 2, 2, blocks), np.where(np.arange(20) < 8, truth, -1)


def answers_of(X, y, changed):
    """What four voters say of unlabeled rows, as they are and after the columns are changed."""
    model = registry.estimator("ensemble_pseudo_labels", **SMALL)
    handover, found = type(model).handover, []

    def watched(self, net, params, rows, state):
        other = rows.unlabeled.clone()
        other[:, changed] += 7
        for part in (rows.unlabeled, other):
            found.append(torch.stack(self.answers(net, params, part, state)))
        return handover(self, net, params, rows, state)

    model.handover = watched.__get__(model)
    model.fit(X, y)
    return found, model.predict_proba(np.asarray(X, np.float32))


@pytest.mark.parametrize("changed", [0, 1])
def test_a_voter_sees_one_block_alone(changed):
    columns = (slice(0, 3), slice(3, 5))[changed]
    X, y = rows_of(BLOCKS)
    (before, after), _ = answers_of(X, y, columns)
    same = [torch.equal(a, b) for a, b in zip(before, after, strict=True)]
    assert same == [k % 2 != changed for k in range(4)]
    whole, after = answers_of(*rows_of(()), columns)[0]
    assert not any(torch.equal(a, b) for a, b in zip(whole, after, strict=True))


def test_a_voter_learns_from_its_block_alone():
    X, y = rows_of(BLOCKS)
    bank = X.bank.copy()
    bank[:, :, 3:] = bank[::-1, :, 3:]
    first, second = (answers_of(rows, y, slice(3, 5))[0][0] for rows in (X, replace(X, bank=bank)))
    assert torch.equal(first[::2], second[::2])
    assert not torch.equal(first[1::2], second[1::2])


def test_one_block_is_no_block():
    for blocks in ((5,), ()):
        X, y = rows_of(blocks)
        assert (y == UNLABELED).sum() == 12
        _, found = answers_of(X, y, slice(0, 3))
        assert found == pytest.approx(answers_of(*rows_of(()), slice(0, 3))[1], abs=0)


def test_rows_of_other_blocks_are_not_trained_together():
    problems = [rows_of(blocks) for blocks in (BLOCKS, (2, 3), BLOCKS)]
    models = [registry.estimator("ensemble_pseudo_labels", **SMALL) for _ in problems]
    assert models[0].fit_together(models, problems) == [None] * 3
    assert [model.trained_with_["height"] for model in models] == [2, 1, 2]
    X = np.asarray(problems[0][0], np.float32)
    together, alone = models[0].predict_proba(X), models[1].fit(*problems[0]).predict_proba(X)
    assert together == pytest.approx(alone, abs=1e-5)
