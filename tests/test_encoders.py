"""Encoders: images and texts as vectors, with the real sentence encoder."""

import sys

import numpy as np
import pytest

from robustssl import InputError
from robustssl.encoders import minilm, pixels, tfidf
from robustssl.preprocessing import fit_preprocessing

TEXTS = ["The film was wonderful.", "A marvellous movie!", "Interest rates rose again."]


@pytest.fixture(scope="module")
def cached(tmp_path_factory):
    pytest.importorskip("transformers")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ROBUSTSSL_CACHE", str(tmp_path_factory.mktemp("cache")))
        minilm._model.cache_clear()
        yield patch


@pytest.mark.parametrize(
    ("rows", "shape", "features"),
    [(200, (8, 8, 3), 128), (200, (4, 4, 1), 16), (20, (8, 8, 3), 20), (5_001, (4, 4, 1), 16)],
)
def test_images_are_the_leading_components_of_their_pixels(rows, shape, features):
    images = np.random.default_rng(0).integers(0, 256, (rows, *shape), dtype=np.uint8)
    fitted = pixels.encoder(images, 128).fit(images)
    found = fitted.transform(images[:10])
    assert found.shape == (10, features)
    flat = images.reshape(rows, -1).astype(float)
    directions = np.linalg.svd(flat - flat.mean(0), full_matrices=False)[2][:features]
    near = (flat[:10] - flat.mean(0)) @ directions.T
    assert np.abs(found) == pytest.approx(np.abs(near), abs=1e-6)  # the sign is free


def test_texts_are_the_leading_components_of_their_words():
    texts = np.array(["good film", "bad film", "good good film", "bad book"], object)
    found = tfidf.encoder(texts, 2).fit_transform(texts)
    assert found.shape == (4, 2)
    assert tfidf.encoder(texts, 128).fit_transform(texts).shape == (4, 3)
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
        tfidf.encoder(np.array(texts, object), 128)


# The sentence encoder


@pytest.mark.parametrize("package", ["torch", "transformers"])
def test_a_missing_package_is_named_with_its_extra(package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    minilm._model.cache_clear()
    with pytest.raises(InputError, match=r"pip install 'robustssl\[text\]'"):
        minilm._encode(TEXTS, "minilm")


@pytest.mark.filterwarnings("ignore")
def test_vectors_mean_something_and_are_made_once(cached, monkeypatch):
    vectors = minilm.encode(TEXTS, "minilm")
    assert vectors.shape == (3, 384)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)
    likeness = vectors @ vectors.T
    assert likeness[0, 1] > likeness[0, 2] + 0.3
    minilm._model.cache_clear()

    def no_model(*_):
        raise AssertionError("encoded twice")

    monkeypatch.setattr(minilm, "_encode", no_model)
    again = minilm.encode([TEXTS[2], TEXTS[0], TEXTS[0]], "minilm")
    assert np.array_equal(again, vectors[[2, 0, 0]])
    ready = fit_preprocessing(np.array(TEXTS, object), "text", "minilm")(np.array(TEXTS, object))
    assert ready.shape == (3, 384)
    assert ready.std() == pytest.approx(1)


def test_every_text_gets_its_own_vector_of_its_own_encoder(tmp_path, monkeypatch):
    monkeypatch.setenv("ROBUSTSSL_CACHE", str(tmp_path))
    asked = []

    def lengths(texts, encoder):
        asked.append(len(texts))
        return np.array([[len(text), len(encoder)] for text in texts], np.float32)

    monkeypatch.setattr(minilm, "_encode", lengths)
    texts = ["x" * n for n in (3, 1, 2, 700, 5)] + ["X"]
    assert minilm.encode(texts, "one").tolist() == [[len(t), 3] for t in texts]
    assert minilm.encode(texts, "other").tolist() == [[len(t), 5] for t in texts]
    many = [f"text {i}" for i in range(1200)]
    assert minilm.encode(many, "one")[:, 0].tolist() == [len(t) for t in many]
    assert asked == [6, 6, 512, 512, 176]  # each part is kept as soon as it is done
    (tmp_path / "m").mkdir()
    before = minilm._identity(str(tmp_path / "m"))
    (tmp_path / "m" / "weights").write_text("w")
    assert minilm._identity(str(tmp_path / "m")) != before
    next((tmp_path / "vectors").iterdir()).write_text("no database")
    with pytest.raises(InputError, match=r"is damaged .*: delete it"):
        [minilm.encode(["new"], encoder) for encoder in ("one", "other")]


@pytest.mark.filterwarnings("ignore")
def test_a_batch_does_not_change_a_vector(cached):
    alone = minilm._encode(["short"], "minilm")
    beside = minilm._encode(["short", "a much longer text " * 20], "minilm")
    assert alone[0] == pytest.approx(beside[0], abs=1e-5)


@pytest.mark.filterwarnings("ignore")
def test_an_encoder_that_is_none(cached, tmp_path):
    with pytest.raises(InputError, match="cannot load the encoder"):
        minilm.encode(["x"], str(tmp_path))
