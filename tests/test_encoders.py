"""Texts as vectors and words as synonyms, with the real model and the real word list."""

import io

import numpy as np
import pytest

from robustssl import InputError
from robustssl.downloads import packages
from robustssl.encoders import minilm as language
from robustssl.preprocessing import fit_preprocessing

TEXTS = ["The film was wonderful.", "A marvellous movie!", "Interest rates rose again."]


@pytest.fixture(scope="module")
def cached(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ROBUSTSSL_CACHE", str(tmp_path_factory.mktemp("cache")))
        language._model.cache_clear()
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
    ready = fit_preprocessing(np.array(TEXTS, object), "text", "minilm")(np.array(TEXTS, object))
    assert ready.shape == (3, 384)
    assert ready.std() == pytest.approx(1)


def test_every_text_gets_its_own_vector_of_its_own_encoder(tmp_path, monkeypatch):
    monkeypatch.setenv("ROBUSTSSL_CACHE", str(tmp_path))
    asked = []

    def lengths(texts, encoder):
        asked.append(len(texts))
        return np.array([[len(text), len(encoder)] for text in texts], np.float32)

    monkeypatch.setattr(language, "_encode", lengths)
    texts = ["x" * n for n in (3, 1, 2, 700, 5)] + ["X"]
    assert language.encode(texts, "one").tolist() == [[len(t), 3] for t in texts]
    assert language.encode(texts, "other").tolist() == [[len(t), 5] for t in texts]
    many = [f"text {i}" for i in range(1200)]
    assert language.encode(many, "one")[:, 0].tolist() == [len(t) for t in many]
    assert asked == [6, 6, 512, 512, 176]  # each part is kept as soon as it is done
    (tmp_path / "m").mkdir()
    before = language._identity(str(tmp_path / "m"))
    (tmp_path / "m" / "weights").write_text("w")
    assert language._identity(str(tmp_path / "m")) != before
    next((tmp_path / "vectors").iterdir()).write_text("no database")
    with pytest.raises(InputError, match=r"is damaged .*: delete it"):
        [language.encode(["new"], encoder) for encoder in ("one", "other")]


@pytest.mark.filterwarnings("ignore")
def test_a_batch_does_not_change_a_vector(cached):
    alone = language._encode(["short"], "minilm")
    beside = language._encode(["short", "a much longer text " * 20], "minilm")
    assert alone[0] == pytest.approx(beside[0], abs=1e-5)


@pytest.mark.filterwarnings("ignore")
def test_an_encoder_that_is_none(cached, tmp_path):
    with pytest.raises(InputError, match="cannot load the encoder"):
        language.encode(["x"], str(tmp_path))


# Two lines of each of the four files, as WordNet lays them out: offset, file, kind, how many words
# (in hexadecimal), the words, each with a number, and then what does not matter here.
WORDNET = [
    "  1 The licence.\n00000001 06 n 03 car 0 auto 0 motor_car 0 001 @ 00000009 n 0000 | x\n",
    "00000001 38 v 02 stop 0 halt 1 000 | x\n00000002 30 v 01 stops 0 000 | x\n",
    "00000001 00 a 0a big 0 large 0 b 0 c 0 d 0 e 0 f 0 g 0 h 0 great(a) 0 000 | x\n",
    "00000001 02 r 03 quickly 0 Rapidly 0 speedily 0 000 | x\n",
]


def test_synonyms(tmp_path, monkeypatch):
    monkeypatch.setenv("ROBUSTSSL_CACHE", str(tmp_path))
    files = [io.BytesIO(text.encode()) for text in WORDNET]
    monkeypatch.setattr(packages.Carrier, "members", lambda *_: files)
    language._synonyms.cache_clear()
    text = "A big car stops (quickly), then zzz stop."
    synonyms = language._synonyms()
    assert synonyms["car"] == ["auto"]  # of two words there is none
    assert synonyms["quickly"] == ["rapidly", "speedily"]
    assert len(synonyms["big"]) == 9
    assert "great" in synonyms["big"]
    assert "stops" not in synonyms
    rng = np.random.default_rng

    def changed(count, seed):
        new = language.replace_words(text, count, rng(seed))
        return [(a, b) for a, b in zip(text.split(), new.split(), strict=True) if a != b]

    for seed in range(5):
        assert len(changed(1, seed)) == 1
        assert changed(1, seed) == changed(1, seed)
        assert len(changed(5, seed)) == 4  # big, car, quickly, stop
        for old, new in changed(5, seed):
            bare = "".join(filter(str.isalpha, old)).lower()
            assert "".join(filter(str.isalpha, new)) in synonyms[bare]
    assert dict(changed(5, 0))["(quickly),"] in ("(rapidly),", "(speedily),")
    assert language.replace_words("zzz", 5, rng(0)) == "zzz"
    language._synonyms.cache_clear()
