"""Texts as vectors and words as synonyms, with the real model and the real word list."""

import numpy as np
import pytest

from robustssl import InputError, language
from robustssl.data import Dataset
from robustssl.features import fit_preprocessing

TEXTS = ["The film was wonderful.", "A marvellous movie!", "Interest rates rose again."]


@pytest.fixture(scope="module")
def cached(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ROBUSTSSL_CACHE", str(tmp_path_factory.mktemp("cache")))
        language._model.cache_clear()
        language._synonyms.cache_clear()
        yield patch


@pytest.mark.filterwarnings("ignore")
def test_vectors_mean_something_and_are_made_once(cached, monkeypatch):
    vectors = language.encode(TEXTS, "minilm")
    assert vectors.shape == (3, 384)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)
    likeness = vectors @ vectors.T
    assert likeness[0, 1] > likeness[0, 2] + 0.3
    language._model.cache_clear()

    def no_model(*_):
        raise AssertionError("encoded twice")

    monkeypatch.setattr(language, "_encode", no_model)
    again = language.encode([TEXTS[2], TEXTS[0], TEXTS[0]], "minilm")
    assert np.array_equal(again, vectors[[2, 0, 0]])
    data = Dataset(
        "t", np.array(TEXTS, object), np.arange(3), kind="text", meta={"encoder": "minilm"}
    )
    ready = fit_preprocessing(data, data.X)(data.X)
    assert ready.shape == (3, 384)
    assert ready.std() == pytest.approx(1)


@pytest.mark.filterwarnings("ignore")
def test_a_batch_does_not_change_a_vector(cached):
    alone = language._encode(["short"], "minilm")
    beside = language._encode(["short", "a much longer text " * 20], "minilm")
    assert alone[0] == pytest.approx(beside[0], abs=1e-5)


@pytest.mark.filterwarnings("ignore")
def test_an_encoder_that_is_none(cached, tmp_path):
    with pytest.raises(InputError, match="cannot load the encoder"):
        language.encode(["x"], str(tmp_path))


def test_synonyms(cached):
    text = "A big car stops (quickly), then zzz stops."
    rng = np.random.default_rng
    weak, strong = language.replace_words(text, 1, rng(0)), language.replace_words(text, 5, rng(0))
    assert weak == language.replace_words(text, 1, rng(0))

    def changed(new):
        pairs = zip(text.split(), new.split(), strict=True)
        return [(a, b) for a, b in pairs if a.lower() != b.lower()]

    assert len(changed(weak)) == 1
    assert 2 <= len(changed(strong)) <= 5
    for old, new in changed(strong):
        bare = "".join(filter(str.isalpha, old)).lower()
        assert "".join(filter(str.isalpha, new)) in language._synonyms()[bare]
    assert "zzz" in strong
    assert language.replace_words("zzz", 5, rng(0)) == "zzz"
    assert "automobile" in language._synonyms()["car"]
