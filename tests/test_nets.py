"""Nets that others have trained: tiny ones with random weights, made here by transformers."""

import builtins

import numpy as np
import pytest
import torch
from readers import save_reader
from transformers import (
    AutoModel,
    GPT2Config,
    GPT2Model,
    ResNetConfig,
    ResNetForImageClassification,
)
from transformers.utils import logging

from robustssl import InputError, registry
from robustssl.data import ViewedRows
from robustssl.deep.net import Net
from robustssl.nets import text_encoder
from robustssl.nets._pretrained import pretrained
from robustssl.nets.resnet50 import DEVIATION, MEAN, ResNet50
from robustssl.nets.text_encoder import TextEncoder

LENGTH, WORDS = 12, 56
IMAGES, TEXTS = (32, 32, 3), (LENGTH,)


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    """The folders of a ResNet, in half precision with a head, and of a BERT without pooler."""
    logging.disable_progress_bar()
    torch.manual_seed(0)
    folder = tmp_path_factory.mktemp("weights")
    config = ResNetConfig(embedding_size=8, hidden_sizes=[8, 16, 16, 32], depths=[1, 1, 1, 1])
    resnet = ResNetForImageClassification(config)
    for part in resnet.modules():
        if isinstance(part, torch.nn.BatchNorm2d):
            for values in (part.weight, part.running_var):
                torch.nn.init.uniform_(values, 0.5, 2)
            for values in (part.bias, part.running_mean):
                torch.nn.init.normal_(values)
    resnet.half().save_pretrained(folder / "resnet")
    return {"resnet50": str(folder / "resnet"), "text_encoder": save_reader(folder / "bert")}


SIZE = {"resnet50": ["size=32"], "text_encoder": []}


def spec(weights, net, *options):
    return f"{net}[{','.join([f'weights={weights[net]}', *SIZE[net], *options])}]"


def images(rows=24, channels=3):
    return np.random.default_rng(0).integers(0, 256, (rows, 32, 32, channels), dtype=np.uint8)


def texts(rows=24):
    """Token ids with views, the last of them padding."""
    ids = np.random.default_rng(0).integers(1, WORDS, (rows, 1 + 2 + 2, LENGTH), np.int32)
    ids[..., -4:] = 0
    return ViewedRows(ids, np.arange(rows), 2, 2)


def token_ids():
    return torch.from_numpy(np.asarray(texts()))


ROWS = {"resnet50": images, "text_encoder": texts}


def fitted(weights, net, algorithm, *options, X=None):
    X = ROWS[net]() if X is None else X
    y = np.full(len(X), -1)
    y[:8] = np.arange(8) % 2
    made = registry.estimator(
        algorithm, net=spec(weights, net, *options), steps=3, batch=4, random_state=0
    )
    return made.fit(X, y)


def saved(weights, net):
    return AutoModel.from_pretrained(weights[net]).float().eval()


# The body is transformers' own


@pytest.mark.parametrize("frozen", [True, False])
@pytest.mark.parametrize("channels", [1, 3])
@torch.no_grad()
def test_the_features_of_images_are_those_of_transformers(weights, frozen, channels):
    net = ResNet50((32, 32, channels), 3, weights=weights["resnet50"], size=32, frozen=frozen)
    net.eval()
    x = torch.rand(4, channels, 32, 32)
    normal = torch.stack([(x[:, k % channels] - MEAN[k]) / DEVIATION[k] for k in range(3)], 1)
    features = saved(weights, "resnet50")(normal).pooler_output[..., 0, 0]
    assert features.std() > 0.1
    torch.testing.assert_close(net(x), net.head(features), atol=1e-5, rtol=1e-5)


@torch.no_grad()
def test_the_features_of_texts_are_those_of_transformers(weights):
    net = TextEncoder(TEXTS, 3, weights=weights["text_encoder"]).train()  # without dropout
    ids = token_ids()
    mask = (ids != 0).long()
    last = saved(weights, "text_encoder")(ids, attention_mask=mask).last_hidden_state
    features = last[:, : LENGTH - 4].mean(1)
    assert features.std() > 0.1
    torch.testing.assert_close(net(net.prepare(ids)), net.head(features), atol=1e-5, rtol=1e-5)


# What is trained


@pytest.mark.parametrize("net", ROWS)
def test_a_frozen_body_stays_as_it_is_bit_for_bit(weights, net):
    served = fitted(weights, net, "fixmatch", "frozen=true").model_
    assert served.net.unpack(served.params).keys() == {"head.weight", "head.bias"}
    kept, before = served.net.module.body.state_dict(), saved(weights, net).state_dict()
    kept = {n.removeprefix("net."): v for n, v in kept.items() if n not in ("mean", "deviation")}
    assert kept.keys() == {name for name in before if not name.startswith("pooler.")}
    assert all(torch.equal(kept[name], before[name]) for name in kept)
    start = {name: value.detach() for name, value in served.net.module.head.named_parameters()}
    trained = served.net.unpack(served.params)
    assert not any(torch.equal(trained[f"head.{name}"], start[name]) for name in start)


@pytest.mark.parametrize("net", ROWS)
def test_else_all_of_it_is_trained_but_the_vectors_of_words(weights, net):
    served = fitted(weights, net, "fixmatch").model_
    trained, before = served.net.unpack(served.params), dict(saved(weights, net).named_parameters())
    names = {name: name.removeprefix("body.").removeprefix("net.") for name in trained}
    body = {names[name]: v for name, v in trained.items() if "head" not in name}
    left = {"embeddings.word_embeddings.weight", "pooler.dense.weight", "pooler.dense.bias"}
    assert body.keys() == before.keys() - left
    # Attention does not depend on the bias of its keys.
    assert not any(torch.equal(v, before[n]) for n, v in body.items() if "key.bias" not in n)


@pytest.mark.parametrize("frozen", [True, False])
@torch.no_grad()
def test_a_frozen_body_has_its_own_statistics_also_in_training(weights, frozen):
    net = ResNet50(IMAGES, 3, weights=weights["resnet50"], size=32, frozen=frozen)
    x = torch.rand(4, 3, 32, 32)
    first = net(x)[:2]
    assert torch.allclose(first, net(x[:2]), atol=1e-5) == frozen
    assert torch.allclose(first, net.eval()(x)[:2], atol=1e-5) == frozen
    assert torch.allclose(first, net.train()(x)[:2], atol=1e-5)
    assert Net(net, torch.float32).has_statistics != frozen


# With the engine


@pytest.mark.filterwarnings("ignore:.*torch.jit")  # by torch itself, at the first jvp
@pytest.mark.parametrize("algorithm", ["fixmatch", "vat", "ict", "openmatch"])
@pytest.mark.parametrize("net", ROWS)
def test_methods_fit_and_predict(weights, net, algorithm):
    X = np.asarray(ROWS[net]())
    model = fitted(weights, net, algorithm)
    answers = model.predict_proba(X)
    assert answers == pytest.approx(fitted(weights, net, algorithm).predict_proba(X), abs=1e-6)
    assert np.ptp(answers[:, 0]) > 1e-3
    assert set(model.predict(X)) <= {0, 1}


def test_grey_images_are_coloured_ones(weights):
    grey = images(channels=1)
    one, three = (
        fitted(weights, "resnet50", "fixmatch", X=X).predict_proba(X)
        for X in (grey, grey.repeat(3, -1))
    )
    assert one == pytest.approx(three, abs=1e-4)


def test_texts_are_read_by_the_tokenizer_of_the_weights(weights):
    build = registry.net(f"text_encoder[weights={weights['text_encoder']},tokens=6,frozen=true]")
    ids = build.func.read(np.array([["Ab", "abcdefgh"], ["", "b"]], object), **build.keywords)
    a, rest = 4, 4 + 26  # of the first letter of a word, and of others
    assert ids.tolist() == [
        [[2, a, rest + 1, 3, 0, 0], [2, a, rest + 1, rest + 2, rest + 3, 3]],
        [[2, 3, 0, 0, 0, 0], [2, a + 1, 3, 0, 0, 0]],
    ]


# Padding


@pytest.fixture
def reader(weights):
    return TextEncoder(TEXTS, 3, weights=weights["text_encoder"]).requires_grad_(False)


def test_masked_tokens_do_not_change_an_answer(reader):
    x = reader.prepare(token_ids())
    assert x.shape == (24, LENGTH, 32 + 1)
    assert torch.equal(x[0, :, -1], torch.tensor([1.0] * 8 + [0.0] * 4))
    other = x.clone()
    other[:, 8:, :-1] = torch.randn(24, 4, 32) * 100
    assert torch.equal(reader(other), reader(x))
    other[:, 7, :-1] = 0
    assert not torch.isclose(reader(other), reader(x)).any()


def test_a_longer_row_of_padding_is_the_same_text(reader, weights):
    ids = token_ids()
    short = TextEncoder((8,), 3, weights=weights["text_encoder"])
    short.load_state_dict(reader.state_dict())
    torch.testing.assert_close(short(short.prepare(ids[:, :8])), reader(reader.prepare(ids)))


def test_a_token_that_is_hardly_there_hardly_counts(reader):
    x = reader.prepare(token_ids())
    answers = []
    for share in (0, 1e-6, 0.5, 1):
        x[:, 7, -1] = share
        answers.append(reader(x))
    torch.testing.assert_close(answers[1], answers[0], atol=1e-4, rtol=1e-4)
    gaps = [(answer - answers[0]).norm() for answer in answers]
    assert 0.01 < gaps[2] < gaps[3]


def test_an_empty_text_has_an_answer(reader):
    assert reader(reader.prepare(torch.zeros(2, LENGTH, dtype=torch.long))).isfinite().all()


def test_no_direction_changes_whether_a_token_is_there(reader):
    x = reader.prepare(token_ids()).requires_grad_()
    (slope,) = torch.autograd.grad(reader(x).square().sum(), x)
    assert (slope[:, :8, :-1] != 0).any(-1).all()
    assert (slope[:, 8:] == 0).all()
    assert (slope[..., -1] == 0).all()


# What is refused


@pytest.mark.parametrize("net", ROWS)
def test_weights_that_are_missing_or_broken_are_an_input_error(weights, net, tmp_path):
    def build(place):
        return registry.find("net", net)({"resnet50": IMAGES}.get(net, TEXTS), 2, weights=place)

    with pytest.raises(InputError, match=r"cannot load the weights '.*nowhere'"):
        fitted({net: str(tmp_path / "nowhere")}, net, "fixmatch")
    whole = saved(weights, net)
    whole.save_pretrained(tmp_path / "broken")
    (tmp_path / "broken" / "model.safetensors").write_bytes(b"nothing")
    with pytest.raises(InputError, match=r"cannot load the weights '.*broken'"):
        build(str(tmp_path / "broken"))
    part = {name: value for name, value in whole.state_dict().items() if "encoder" not in name}
    whole.save_pretrained(tmp_path / "part", state_dict=part)
    with pytest.raises(InputError, match="are not whole: there is no encoder"):
        build(str(tmp_path / "part"))


def test_without_transformers_there_is_advice(weights, monkeypatch):
    found = builtins.__import__

    def without(name, *rest, **named):
        if name.startswith("transformers"):
            raise ImportError(name)
        return found(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(InputError, match=r"pip install 'robustssl\[text\]'"):
        ResNet50(IMAGES, 2, weights=weights["resnet50"])


def test_other_rows_and_other_models_are_refused(weights, tmp_path):
    with pytest.raises(InputError, match="resnet50 takes images"):
        ResNet50((4,), 2, weights=weights["resnet50"])
    with pytest.raises(InputError, match="1 or 3 channels"):
        ResNet50((8, 8, 2), 2, weights=weights["resnet50"])
    with pytest.raises(InputError, match="is a bert, not a resnet"):
        ResNet50(IMAGES, 2, weights=weights["text_encoder"])
    with pytest.raises(InputError, match="takes token ids"):
        TextEncoder((LENGTH, 5), 2, weights=weights["text_encoder"])
    with pytest.raises(InputError, match="cannot read 513 tokens"):
        TextEncoder((513,), 2, weights=weights["text_encoder"])
    without_padding = GPT2Model(GPT2Config(n_embd=32, n_layer=1, n_head=2, vocab_size=WORDS))
    without_padding.save_pretrained(tmp_path)
    with pytest.raises(InputError, match="leave out padding"):
        TextEncoder(TEXTS, 2, weights=str(tmp_path))


def test_a_model_that_does_not_heed_the_mask_is_refused(weights, monkeypatch):
    def blind(place):
        body = pretrained(place)
        body.register_forward_pre_hook(
            lambda body, rows, named: (rows, {**named, "attention_mask": None}), with_kwargs=True
        )
        return body

    monkeypatch.setattr(text_encoder, "pretrained", blind)
    with pytest.raises(InputError, match="leave out padding"):
        TextEncoder(TEXTS, 2, weights=weights["text_encoder"])
