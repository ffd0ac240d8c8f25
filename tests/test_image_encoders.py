"""Encoders of images, against the same nets written in another way, and on photographs."""

import numpy as np
import pytest
import torch
from sklearn.datasets import load_sample_images
from torch import nn
from torch.nn.functional import interpolate, pad

from robustssl import registry
from robustssl.downloads import weights
from robustssl.encoders import digests_of, efficientnet_lite0
from robustssl.encoders._folded import convolve, fold
from robustssl.encoders._images import resized

PALACE, DAISY = 698, 985  # among the classes of ImageNet
ROUNDING = {"rtol": 2**-10, "atol": 1e-3}  # vectors have 16 bits


def norm_of(width, epsilon, scale, shift, mean, variance):
    norm = nn.BatchNorm2d(width, epsilon).eval()
    for name, value in zip(
        ("weight", "bias", "running_mean", "running_var"),
        (scale, shift, mean, variance),
        strict=True,
    ):
        getattr(norm, name).data = torch.tensor(np.asarray(value), dtype=torch.float32)
    return norm


def conv_of(kernel, stride=1, padding=0, groups=1):
    out, inner, height, _ = kernel.shape
    layer = nn.Conv2d(inner * groups, out, height, stride, padding, groups=groups, bias=False)
    layer.weight.data = torch.tensor(np.asarray(kernel), dtype=torch.float32)
    return layer


def test_a_convolution_and_its_normalisation_are_one():
    rng = np.random.default_rng(0)
    kernel = rng.normal(size=(5, 3, 3, 3)).astype(np.float32)
    norm = [*rng.normal(size=(3, 5)), rng.uniform(0.1, 2, 5)]
    folded = {k: torch.tensor(v) for k, v in fold("a", kernel, norm, 1e-3).items()}
    x = torch.randn(4, 3, 8, 8)
    expected = norm_of(5, 1e-3, *norm)(conv_of(kernel, 2, 1)(x))
    found = convolve(x, folded, "a", stride=2, padding=1)
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize(("before", "after"), [((8, 8), 20), ((6, 10), 7), ((30, 12), 9)])
def test_resizing_is_bicubic(before, after):
    images = torch.rand(3, 3, *before)
    shrinks = [after < length for length in before]
    if len(set(shrinks)) == 1:
        expected = interpolate(
            images, size=(after, after), mode="bicubic", antialias=shrinks[0], align_corners=False
        )
        torch.testing.assert_close(resized(images, after), expected, atol=1e-5, rtol=1e-4)
    flat = torch.full_like(images, 0.3)
    torch.testing.assert_close(resized(flat, after), torch.full((3, 3, after, after), 0.3))


def resnet50_with_norms(images, arrays):
    """(n, 3, size, size) in [0, 1] -> the 2,048 numbers, without folding."""

    def layer(name, x, stride=1, padding=0):
        kernel = arrays[f"{name}.weight"]
        parts = (arrays[f"{name}.{field}"] for field in ("scale", "shift", "mean", "variance"))
        return norm_of(len(kernel), 1e-3, *parts)(conv_of(kernel, stride, padding)(x))

    blue_green_red = torch.stack(
        [255 * images[:, 2] - 103.939, 255 * images[:, 1] - 116.779, 255 * images[:, 0] - 123.68], 1
    )
    x = layer("conv1", blue_green_red, 2, 3).relu()
    x = nn.MaxPool2d(3, 2)(pad(x, (1, 1, 1, 1)))  # what is padded is not negative: 0 never wins
    for stage, names in {2: "abc", 3: "abcd", 4: "abcdef", 5: "abc"}.items():
        for name in names:
            stride = 1 if stage == 2 or name != "a" else 2
            start = f"res{stage}{name}_branch"
            inside = layer(f"{start}2b", layer(f"{start}2a", x, stride).relu(), 1, 1).relu()
            around = layer(f"{start}1", x, stride) if name == "a" else x
            x = (layer(f"{start}2c", inside) + around).relu()
    return nn.AdaptiveAvgPool2d(1)(x).flatten(1)


def photographs():
    """A temple and a flower, as squares of 224 pixels."""
    found = []
    for image in load_sample_images().images:
        side = min(image.shape[:2])
        top, left = ((length - side) // 2 for length in image.shape[:2])
        square = torch.tensor(image[top : top + side, left : left + side]).movedim(-1, 0)[None]
        small = interpolate(square.float(), (224, 224), mode="bicubic", antialias=True)
        found.append(small.clamp(0, 255).round().byte()[0].movedim(0, -1).numpy())
    return np.stack(found)


def patches(count=10):
    """Parts of the two photographs."""
    rng = np.random.default_rng(0)
    whole = load_sample_images().images
    places = [(whole[k % 2], *rng.integers(0, 300, 2)) for k in range(count)]
    return np.stack([image[top : top + 96, left : left + 96] for image, top, left in places])


def encoded(name, rows):
    return registry.encoder(name).encode(rows, digests_of(rows), 0)


@pytest.mark.slow
def test_resnet50_is_the_net_with_its_norms():
    rows = patches()
    images = torch.tensor(rows).movedim(-1, 1) / 255
    with torch.inference_mode():
        expected = resnet50_with_norms(images, weights.resnet50())
    found = encoded("resnet50[size=96]", rows)
    np.testing.assert_allclose(found, expected.numpy(), **ROUNDING)


@pytest.mark.slow
def test_efficientnet_lite0_is_the_net_with_its_norms():
    rows = patches()
    (file,) = efficientnet_lite0._CARRIER.members(efficientnet_lite0._MEMBER)
    said = torch.load(file, weights_only=True)

    def layer(kernel, norm, x, stride=1):
        weight = said[f"{kernel}.weight"]
        size, groups = weight.shape[-1], x.shape[1] // weight.shape[1]
        # TensorFlow pads so that a stride of 2 halves an even side: all of it at the end.
        more = size - stride if x.shape[-1] % stride == 0 else size - 1
        x = pad(x, (more // 2, more - more // 2) * 2)
        fields = ("weight", "bias", "running_mean", "running_var")
        normed = norm_of(len(weight), 1e-3, *(said[f"{norm}.{field}"] for field in fields))
        return normed(conv_of(weight, stride, groups=groups)(x))

    x = (torch.tensor(rows).movedim(-1, 1).float() - 127) / 128
    with torch.inference_mode():
        x = nn.ReLU6()(layer("_conv_stem", "_bn0", x, 2))
        strides = [1, 2, 1, 2, 1, 2, 1, 1, 1, 1, 1, 2, 1, 1, 1, 1]
        for block, stride in enumerate(strides):
            name, y = f"_blocks.{block}", x
            if f"{name}._expand_conv.weight" in said:
                y = nn.ReLU6()(layer(f"{name}._expand_conv", f"{name}._bn0", y))
            y = nn.ReLU6()(layer(f"{name}._depthwise_conv", f"{name}._bn1", y, stride))
            y = layer(f"{name}._project_conv", f"{name}._bn2", y)
            x = x + y if stride == 1 and x.shape == y.shape else y
        expected = nn.ReLU6()(layer("_conv_head", "_bn1", x)).mean((2, 3))
    found = encoded("efficientnet_lite0[size=96]", rows)
    np.testing.assert_allclose(found, expected.numpy(), **ROUNDING)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["resnet50", "efficientnet_lite0"])
def test_photographs_are_recognised(name):
    found = encoded(f"{name}[size=224]", photographs())
    known = weights.resnet50() if name == "resnet50" else registry.encoder(name).weights()
    scores = found @ np.asarray(known["classes.weight"]).T + known["classes.bias"]
    ranks = (-scores).argsort(1)
    assert ranks[0, 0] == PALACE
    assert DAISY in ranks[1, :3]


@pytest.mark.slow
def test_strong_views_lie_farther_away_than_weak_ones_and_those_nearer_than_another_image():
    data = registry.dataset("cifar10[rows=200]")
    encoder = registry.encoder("efficientnet_lite0[size=96,strong=2,weak=2]")
    digests = digests_of(data.X)
    clean, *views = (encoder.encode(data.X, digests, version) for version in range(5))
    weak, weaker, strong, stronger = (np.linalg.norm(v - clean, axis=1).mean() for v in views)
    other = np.mean(
        [
            np.linalg.norm(clean[data.y == k][:, None] - clean[data.y == k][None], axis=-1).sum()
            / (20 * 19)
            for k in range(10)
        ]
    )
    assert max(weak, weaker) < min(strong, stronger)
    assert max(weak, weaker) < other


def test_an_image_is_encoded_alike_in_whatever_batch():
    rows = np.random.default_rng(0).integers(0, 256, (6, 8, 8, 3), dtype=np.uint8)
    encoder = registry.encoder("tiny:Random")
    for version in range(1 + encoder.weak + encoder.strong):
        together = encoder.encode(rows, digests_of(rows), version)
        alone = [encoder.encode(rows[[k]], digests_of(rows[[k]]), version) for k in range(6)]
        np.testing.assert_allclose(together, np.concatenate(alone), atol=1e-5)


def test_grey_images_are_encoded_too():
    rows = np.random.default_rng(0).integers(0, 256, (6, 8, 8, 1), dtype=np.uint8)
    found = encoded("tiny:Random", rows)
    np.testing.assert_allclose(
        found, encoded("tiny:Random", np.repeat(rows, 3, axis=-1)), atol=1e-5
    )
