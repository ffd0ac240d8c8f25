"""How fast encoders make vectors and banks, and what a linear classifier finds in the vectors.

    PYTHONPATH=src python benchmarks/encoders.py encode bank probe --out encoders.jsonl

Parts: `encode`, images a second by ResNet-50, changed before they are encoded; `bank`, the seconds
that a bank of 20,000 images in 9 versions takes; `probe`, the accuracy of logistic regression on
the vectors, by the number of labels of each class. The folder $ROBUSTSSL_CACHE must hold the
datasets and the weights where they cannot be fetched.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from _lines import Lines, Timed, main
from sklearn.linear_model import LogisticRegression

from robustssl import encoders, registry
from robustssl.downloads.cache import cache
from robustssl.encoders._filling import PART

PROBED = {
    "cifar10": [
        "pixels",
        *(f"efficientnet_lite0[size={size}]" for size in (128, 160)),
        *(f"resnet50[size={size}]" for size in (160, 224)),
    ],
    "newsgroups": ["tfidf", "minilm", "mpnet"],
}


def encode(asked: Any, lines: Lines) -> None:
    count, sizes = (8, (32,)) if asked.small else (20_480, (160, 224))
    images = registry.dataset("cifar10").X[:count].copy()
    for size in sizes:
        lines.attempt("encode", _encode_at, lines, images, size)


def _encode_at(lines: Lines, images: Any, size: int) -> None:
    encoder = registry.encoder(f"resnet50[size={size}]")
    digests = encoders.digests_of(images)
    for at_once in PART.values():
        parts = [slice(start, start + at_once) for start in range(0, len(images), at_once)]
        for kind, version in (("clean", 0), ("weak", 1), ("strong", 1 + encoder.weak)):
            encoder.encode(images[parts[0]], digests[parts[0]], version)  # warm
            with Timed() as timed:
                for part in parts:
                    encoder.encode(images[part], digests[part], version)
            rate = round(len(images) / timed.seconds)
            lines.add(
                "encode", size=size, rows_at_once=at_once, view=kind, images_s=rate, GiB=timed.gib
            )


def bank(asked: Any, lines: Lines) -> None:
    count = 4 if asked.small else 20_000
    images = registry.dataset("cifar10").X[:count].copy()
    encoder = registry.encoder("resnet50[strong=4]")
    digests = encoders.digests_of(images[:16])
    encoder.encode(images[:16], digests, 0)  # read the weights, start the GPU
    with _without_banks(), Timed() as timed:
        rows, views = encoder.vectors(images), encoder.views(images)
    versions = 1 + views.shape[1]
    rate = round(len(rows) * versions / timed.seconds)
    lines.add("bank", images=count, versions=versions, seconds=timed.seconds, vectors_s=rate)


@contextmanager
def _without_banks() -> Iterator[None]:
    """Inside, the cache has no banks, so that one is made."""
    whole = cache()
    with TemporaryDirectory() as folder:
        for path in whole.iterdir():
            if path.name != "banks":
                (Path(folder) / path.name).symlink_to(path.resolve())
        encoders.bank_of.cache_clear()
        os.environ["ROBUSTSSL_CACHE"] = folder
        try:
            yield
        finally:
            os.environ["ROBUSTSSL_CACHE"] = str(whole)
            encoders.bank_of.cache_clear()


def probe(asked: Any, lines: Lines) -> None:
    for dataset, specs in PROBED.items():
        for spec in specs:
            lines.attempt("probe", _probe, lines, dataset, spec, asked.small)


def _probe(lines: Lines, dataset: str, spec: str, small: bool) -> None:
    data, encoder = registry.dataset(dataset), registry.encoder(spec)
    each, tested, draws = ((4,), 60, 1) if small else ((4, 25, 100), 4000, 3)
    order = np.random.default_rng(0).permutation(len(data.y))
    test, rest = order[:tested], order[tested:]
    drawn = {(n, k): _draw(data.y, rest, n, k) for n in each for k in range(draws)}
    train = np.unique(np.concatenate(list(drawn.values())))
    rows = np.concatenate([train, test])
    with Timed() as timed:
        if isinstance(encoder, encoders.Pretrained):
            vectors = encoder.vectors(data.X[rows]).astype(np.float32)
        else:
            vectors = encoder.features(data.X[train]).fit(data.X[train]).transform(data.X[rows])
    place = {row: k for k, row in enumerate(rows.tolist())}
    vectors = (vectors - vectors[: len(train)].mean(0)) / vectors[: len(train)].std()
    scores: dict[int, list[float]] = {n: [] for n in each}
    for (n, _), chosen in drawn.items():
        model = LogisticRegression(C=500 / len(chosen), max_iter=1000)
        model.fit(vectors[[place[row] for row in chosen.tolist()]], data.y[chosen])
        scores[n].append(model.score(vectors[len(train) :], data.y[test]))
    accuracy = {n: round(float(np.mean(found)), 4) for n, found in scores.items()}
    lines.add("probe", dataset=dataset, encoder=spec, accuracy=accuracy, seconds=timed.seconds)


def _draw(y: Any, rows: Any, each: int, number: int) -> Any:
    """Rows, `each` of every class; another number draws others."""
    rows = np.random.default_rng(1 + number).permutation(rows)
    return np.concatenate([rows[y[rows] == k][:each] for k in np.unique(y)])


if __name__ == "__main__":
    main(__doc__, {"encode": encode, "bank": bank, "probe": probe})
