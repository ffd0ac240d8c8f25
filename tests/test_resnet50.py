"""ResNet-50 as a net that is trained, and as an encoder: two forward passes of the same weights."""

import numpy as np
import pytest
import torch

from robustssl import registry
from robustssl.downloads.weights import resnet50 as real_weights
from robustssl.encoders import resnet50 as encoder
from robustssl.nets import resnet50 as net

STAGES = {2: 3, 3: 4, 4: 6, 5: 3}
SIZE = 40


def narrow_weights():
    """Weights of the shapes of ResNet-50, but for the width: 4 to 32 channels."""
    rng = np.random.default_rng(0)
    arrays = {}

    def add(name, after, before, size):
        scale = (2 / (before * size**2)) ** 0.5
        arrays[f"{name}.weight"] = scale * rng.normal(size=(after, before, size, size))
        for field in ("scale", "variance"):
            arrays[f"{name}.{field}"] = rng.uniform(0.5, 1.5, after)
        for field in ("shift", "mean"):
            arrays[f"{name}.{field}"] = rng.normal(size=after) / 10

    add("conv1", 4, 3, 7)
    arrays["conv1.weight"] /= 100  # of pixels from 0 to 255
    before = 4
    for stage, blocks in STAGES.items():
        inside = 2 ** (stage - 1)
        for block in "abcdef"[:blocks]:
            name = f"res{stage}{block}_branch"
            add(f"{name}2a", inside, before, 1)
            add(f"{name}2b", inside, inside, 3)
            add(f"{name}2c", 2 * inside, inside, 1)
            arrays[f"{name}2c.scale"] /= 3  # or numbers would grow from block to block
            if block == "a":
                add(f"{name}1", 2 * inside, before, 1)
            before = 2 * inside
    return {name: array.astype(np.float32) for name, array in arrays.items()}


@pytest.fixture
def narrow(monkeypatch):
    for module in (encoder, net):
        monkeypatch.setattr(module, "resnet50", narrow_weights)


def photographs(count=10, channels=3):
    """Smooth images, as photographs are."""
    rng = np.random.default_rng(1)
    coarse = torch.from_numpy(rng.random((count, channels, 4, 4)))
    fine = torch.nn.functional.interpolate(coarse, size=(32, 32), mode="bicubic").clamp(0, 1)
    return (fine * 255).round().byte().movedim(1, -1).numpy()


def encoded(rows):
    """The vectors of the encoder, whose convolutions are folded with their normalisation."""
    found = encoder.ResNet50(size=SIZE)
    weights = {name: torch.from_numpy(array) for name, array in found.weights().items()}
    pixels = torch.from_numpy(rows).movedim(-1, 1).float() / 255
    pixels = pixels.expand(-1, 3, -1, -1)
    rows_, columns = (net.resizing(32, SIZE) for _ in range(2))
    return found.encoded(found.normalised((rows_ @ pixels @ columns.T).clamp(0, 1)), weights)


@torch.no_grad()
def check_features(channels, frozen):
    rows = photographs(channels=channels)
    made = net.ResNet50((32, 32, channels), 3, size=SIZE, frozen=frozen).eval()
    features = made.features(torch.from_numpy(rows).movedim(-1, 1).float() / 255)
    expected = encoded(rows)
    assert features.shape == expected.shape == (10, made.head.in_features)
    assert expected.std() > 0.01
    torch.testing.assert_close(features, expected, atol=1e-4, rtol=1e-3)


@pytest.mark.parametrize("frozen", [True, False])
@pytest.mark.parametrize("channels", [1, 3])
def test_the_features_are_those_of_the_encoder(narrow, channels, frozen):
    check_features(channels, frozen)


@pytest.mark.slow
def test_the_features_of_the_real_weights_are_those_of_the_encoder():
    assert real_weights()["conv1.weight"].shape == (64, 3, 7, 7)
    check_features(3, frozen=False)


def test_the_gradient_reaches_every_layer(narrow):
    made = net.ResNet50((32, 32, 3), 3, size=SIZE)
    made(torch.from_numpy(photographs()).movedim(-1, 1).float() / 255).square().sum().backward()
    gradients = {name: p.grad for name, p in made.named_parameters()}
    assert len(gradients) == 3 * 53 + 2
    assert [name for name, g in gradients.items() if g is None or not g.any()] == []


@pytest.mark.parametrize("frozen", ["true", "false"])
def test_training_it_lowers_the_loss(narrow, frozen):
    X = photographs()
    y = (X.mean((1, 2, 3)) > np.median(X.mean((1, 2, 3)))).astype(int)
    options = {"batch": 10, "learning_rate": 1e-2, "ema": 0.5, "random_state": 0}
    spec = f"resnet50[frozen={frozen},size={SIZE}]"
    short, long = (
        registry.estimator("supervised_net", net=spec, steps=steps, **options).fit(X, y)
        for steps in (1, 100)
    )
    losses = [-np.log(model.predict_proba(X)[np.arange(10), y]).mean() for model in (short, long)]
    assert losses[1] < 0.9 * losses[0]
    trained = long.model_.net.unpack(long.model_.params)
    assert (trained.keys() == {"head.weight", "head.bias"}) == (frozen == "true")


def test_a_larger_picture_is_another_answer(narrow):
    x = torch.from_numpy(photographs()).movedim(-1, 1).float() / 255
    made = [net.ResNet50((32, 32, 3), 3, size=size, frozen=True) for size in (32, 64)]
    features = [one.features(x) for one in made]
    assert not torch.allclose(*features, atol=1e-3)
