"""Four kinds of consistent rows (t = 0) on which no deep method may collapse: a function of a seed
each, that gives X, y, X_test, y_test.
"""

from functools import cache
from typing import Any

import numpy as np
from sklearn.datasets import load_digits, make_moons
from sklearn.decomposition import PCA

from robustssl import registry
from robustssl.checks._toys import ToyData, toy_data
from robustssl.data import UNLABELED, ViewedRows


def moons_in_16_features(seed: int) -> ToyData:
    """Two half-moons in a plane of 16 noisy features, 4 labels a class."""
    rng = np.random.default_rng(seed)
    flat, truth = make_moons(1300, noise=0.1, random_state=seed)
    plane = np.linalg.qr(rng.normal(size=(16, 2)))[0]
    return toy_data(flat @ plane.T + 0.1 * rng.normal(size=(1300, 16)), truth, 300, labels=4)


def digits(seed: int) -> ToyData:
    """Handwritten digits as pixels, without those that are the same in nearly all, 4 labels a
    class.
    """
    X, truth = load_digits(return_X_y=True)
    order = np.random.default_rng(seed).permutation(len(X))
    return toy_data(X[order][:, X.std(0) > 1], truth[order], 1000, labels=4)


def weak_signal_in_128_features(seed: int) -> ToyData:
    """Two classes whose means differ a little in each of 128 features, 10 labels a class. The best
    possible accuracy is that of a distance of 3 deviations between the means, .933.
    """
    rng = np.random.default_rng(seed)
    truth = np.arange(1500) % 2
    means = 3 / np.sqrt(128) * np.where(rng.random(128) < 0.5, 1, -1) * (truth[:, None] - 0.5)
    return toy_data(means + rng.normal(size=(1500, 128)), truth, 500, labels=10)


def vectors_of_images(seed: int) -> ToyData:
    """CIFAR-10 in 64 components of EfficientNet-Lite0, with views, 4 labels a class."""
    bank, truth = _cifar_bank()
    order = np.random.default_rng(seed).permutation(len(truth))
    train, test = order[:1000], order[1000:]
    y = np.full(len(train), UNLABELED)
    for k in range(10):
        y[np.flatnonzero(truth[train] == k)[:4]] = k
    return ViewedRows(bank, train, 2, 2), y, bank[test, 0].astype(np.float32), truth[test]


@cache
def _cifar_bank() -> tuple[Any, Any]:
    """The vectors, (1500, 5, 64), of images, of two weak and of two strong views of each. They are
    made when first needed, not shipped: CIFAR-10 names no licence.
    """
    data = registry.dataset("cifar10[rows=1500]")
    encoder = registry.encoder("efficientnet_lite0[strong=2,weak=2]")
    raw = np.concatenate([encoder.vectors(data.X)[:, None], encoder.views(data.X)], axis=1)
    components = PCA(64, random_state=0).fit(raw[:, 0])
    bank = components.transform(raw.reshape(-1, raw.shape[-1])).reshape(*raw.shape[:2], 64)
    scaled = (bank - bank[:, 0].mean(0)) / bank[:, 0].std(0)
    return scaled.astype(np.float16), data.y


WORLDS = (moons_in_16_features, digits, weak_signal_in_128_features, vectors_of_images)
