"""Encoders that are fitted, encoders in studies, and vectors of one's own."""

import numpy as np
import pytest

from robustssl import InputError, registry
from robustssl.cell import Cell
from robustssl.encoders.pixels import Pixels
from robustssl.encoders.tfidf import TfIdf
from robustssl.execution.worker import run_group
from robustssl.records import catalog
from robustssl.splits import prepare
from robustssl.studies.study import study


@pytest.mark.parametrize(
    ("rows", "shape", "features"),
    [(200, (8, 8, 3), 128), (200, (4, 4, 1), 16), (20, (8, 8, 3), 20), (5_001, (4, 4, 1), 16)],
)
def test_images_are_the_leading_components_of_their_pixels(rows, shape, features):
    images = np.random.default_rng(0).integers(0, 256, (rows, *shape), dtype=np.uint8)
    fitted = Pixels().features(images).fit(images)
    found = fitted.transform(images[:10])
    assert found.shape == (10, features)
    flat = images.reshape(rows, -1).astype(float)
    directions = np.linalg.svd(flat - flat.mean(0), full_matrices=False)[2][:features]
    near = (flat[:10] - flat.mean(0)) @ directions.T
    assert np.abs(found) == pytest.approx(np.abs(near), abs=1e-6)  # the sign is free


def test_texts_are_the_leading_components_of_their_words():
    texts = np.array(["good film", "bad film", "good good film", "bad book"], object)
    found = TfIdf().features(texts).fit_transform(texts)
    assert found.shape == (4, 3)
    distance = np.linalg.norm(found[0] - found, axis=1)
    assert distance[2] < distance[1] < distance[3]


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["!", "?"], "TF-IDF finds no words in the texts"),
        (["word", "word"], "at least two texts and two different words"),
        (["two words"], "at least two texts and two different words"),
    ],
)
def test_texts_without_enough_words(texts, message):
    with pytest.raises(InputError, match=message):
        TfIdf().features(np.array(texts, object))


# Encoders in studies


def test_auto_is_spelled_out_when_a_study_is_read():
    found = study(
        {
            "encoder": "auto",
            "algorithms": "supervised_net",
            "environments": "label",
            "datasets": ["cifar10", "cifar10[encoder=resnet50]", "newsgroups", "wine", "bbc_news"],
        }
    )
    assert found.datasets == [
        "cifar10[encoder=efficientnet_lite0]",
        "cifar10[encoder=resnet50]",
        "newsgroups[encoder=minilm]",
        "wine",
        "bbc_news[encoder=minilm]",
    ]
    with pytest.raises(InputError, match="encoder"):
        study({**found.model_dump(exclude_unset=True), "encoder": "resnet50"})


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("cifar10[encoder=resnet5]", "unknown encoder 'resnet5'; did you mean 'resnet50'"),
        ("cifar10[encoder=minilm]", "minilm encodes those of the kind text; there are eff"),
        ("bbc_news[encoder=pixels]", "pixels encodes those of the kind image; there are min"),
        ("cifar10[encoder=resnet50[pixels=3]]", "unknown option of resnet50 'pixels'"),
        ("wine[encoder=resnet50]", "unknown option of wine 'encoder'"),
    ],
)
def test_an_encoder_that_is_none_is_refused_at_once(spec, sentence):
    with pytest.raises(InputError, match=sentence):
        registry.canonical("dataset", spec)


def test_an_encoder_has_one_spelling():
    spelt = "cifar10[encoder=resnet50[strong=2,weak=1],rows=100]"
    asked = "cifar10[rows=100,encoder=resnet50[weak=1,size=160,strong=2]]"
    assert registry.canonical("dataset", asked) == spelt
    assert registry.canonical("dataset", "cifar10[encoder=pixels]") == "cifar10"


def test_the_version_of_an_encoder_is_part_of_the_key():
    plain, encoded = (
        Cell("fixmatch", "label", dataset, 4, 0.0, 0)
        for dataset in ("cifar10", "cifar10[encoder=resnet50[size=96]]")
    )
    assert registry.versions(plain)[2] == registry.version("dataset", "cifar10")
    assert registry.versions(encoded)[2] == 1000 * registry.versions(plain)[2] + 1
    assert catalog.version("dataset", "cifar10+resnet50") == registry.versions(encoded)[2]
    assert catalog.version("dataset", "cifar10+my:Own") is None


# Vectors of one's own


@pytest.fixture
def vectors(tmp_path):
    rng = np.random.default_rng(0)
    y = np.arange(150) % 3
    X = rng.normal(size=(150, 6, 5)) * np.array([0.0, 0.1, 0.1, 0.3, 0.3, 0.3])[:, None]
    X += 3 * np.eye(5)[y][:, None] + rng.normal(size=(150, 1, 5))
    np.savez(tmp_path / "mine.npz", X=X, y=np.array(list("abc"))[y])
    return str(tmp_path / "mine.npz")


def test_vectors_of_ones_own_come_with_their_views(vectors):
    pytest.importorskip("torch")
    spec = f"arrays[path={vectors},weak=2]"
    found = [
        run_group((Cell(name, "label", spec, 5, 0.0, 0, params),))[0]
        for name, params in (("fixmatch", (("steps", 100),)), ("label_spreading", ()))
    ]
    assert [record.error for record in found] == [None, None]
    assert min(record.scores["accuracy"] for record in found) > 0.8
    split = prepare(spec, "label", 5, 0).split(0.5, views=True)
    assert (split.X.weak, split.X.strong) == (2, 3)
    far = np.abs(split.X.bank[:, 1:].astype(float) - split.X.bank[:, :1]).mean((0, 2))
    assert far[:2].max() < far[2:].min()


@pytest.mark.parametrize(
    ("weak", "environment", "sentence"),
    [(0, "label", "at least one weak"), (5, "label", "one strong view"), (2, "feature", "degrade")],
)
def test_vectors_that_do_not_fit_are_refused(vectors, weak, environment, sentence):
    with pytest.raises(InputError, match=sentence):
        prepare(f"arrays[path={vectors},weak={weak}]", environment, 5, 0)
