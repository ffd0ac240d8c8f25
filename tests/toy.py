"""Small datasets of every kind, for the tests; named `toy:images` and so on."""

import numpy as np

from robustssl import Dataset

WORDS = {0: "good great fine lovely", 1: "bad poor dull awful", 2: "tall wide deep long"}


def _y(n, classes):
    return np.arange(n) % classes


def tables(n=240, classes=3) -> Dataset:
    """Two domains, the second shifted."""
    rng = np.random.default_rng(0)
    y = _y(n, classes)
    domain = np.where(np.arange(n) < n // 2, "here", "there")
    X = rng.normal(size=(n, 5)) + 3 * np.eye(5)[y] + (domain == "there")[:, None]
    return Dataset("tables", X, y, domain=domain)


def lopsided() -> Dataset:
    """A domain that lacks a class."""
    data = tables()
    keep = ~((data.domain == "there") & (data.y == 2))
    return Dataset("lopsided", data.X[keep], data.y[keep], domain=data.domain[keep])


def scattered() -> Dataset:
    """Three domains: a has the classes 0, 1, 3; b 1, 3; c 0, 2. So a and b have two in common."""
    classes = {"a": (0, 1, 3), "b": (1, 3), "c": (0, 2)}
    places = [(d, k) for d, known in classes.items() for k in known for _ in range(30)]
    y = np.array([k for _, k in places])
    X = np.random.default_rng(0).normal(size=(len(y), 4)) + y[:, None]
    return Dataset("scattered", X, y, domain=np.array([d for d, _ in places], object))


def lonely() -> Dataset:
    """All rows in one domain."""
    data = scattered()
    return Dataset("lonely", data.X, data.y, domain=np.full(len(data.y), "home", object))


def images(channels=3, n=160, classes=4) -> Dataset:
    rng = np.random.default_rng(0)
    y = _y(n, classes)
    X = rng.integers(1, 255, size=(n, 6, 6, channels), dtype=np.uint8)
    X[np.arange(n), y] = 250
    domain = np.where(np.arange(n) % 3, "a", "b")
    return Dataset("images", X, y, kind="image", domain=domain, meta={"classes": list("pqrs")})


def grey() -> Dataset:
    return images(channels=1)


def texts(n=180) -> Dataset:
    rng = np.random.default_rng(0)
    y = _y(n, 3)
    X = np.array([" ".join(rng.choice(WORDS[k].split(), 9)) for k in y], object)
    domain = np.where(np.arange(n) % 2, "film", "shop")
    return Dataset("texts", X, y, kind="text", domain=domain, meta={"classes": list("pqr")})


def encoded_images(encoder: str = "pixels", channels: int = 3) -> Dataset:
    """Images whose classes differ by the quarter that is bright."""
    rng = np.random.default_rng(0)
    y = _y(160, 4)
    X = rng.integers(1, 120, size=(160, 4, 4, channels), dtype=np.uint8)
    for row, label in zip(X, y, strict=True):
        row[2 * (label // 2) :, 2 * (label % 2) :][:2, :2] += 80
    return Dataset("encoded_images", X, y, kind="image", encoder=encoder)


def news(n=60) -> Dataset:
    """Texts about other things than those of `texts`."""
    rng = np.random.default_rng(1)
    y, words = _y(n, 2), (["rain", "snow", "wind", "storm"], ["bank", "loan", "coin", "debt"])
    X = np.array([" ".join(rng.choice(words[k], 9)) for k in y], object)
    return Dataset("news", X, y, kind="text")


def ten() -> Dataset:
    """Ten classes."""
    rng = np.random.default_rng(0)
    y = _y(200, 10)
    return Dataset("ten", rng.normal(size=(200, 3)) + y[:, None], y)


def small() -> Dataset:
    """Grey images of two by two pixels."""
    X = np.random.default_rng(1).integers(0, 255, size=(60, 2, 2, 1), dtype=np.uint8)
    return Dataset("small", X, _y(60, 2), kind="image")


def one_domain() -> Dataset:
    data = tables()
    return Dataset("one_domain", data.X, data.y, domain=np.full(len(data.y), "here", object))
