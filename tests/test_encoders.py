"""Encoders that are fitted: images and texts as vectors."""

import numpy as np
import pytest

from robustssl import InputError
from robustssl.encoders.pixels import Pixels
from robustssl.encoders.tfidf import TfIdf


@pytest.mark.parametrize(
    ("rows", "shape", "features"),
    [(200, (8, 8, 3), 128), (200, (4, 4, 1), 16), (20, (8, 8, 3), 20), (5_001, (4, 4, 1), 16)],
)
def test_images_are_the_leading_components_of_their_pixels(rows, shape, features):
    images = np.random.default_rng(0).integers(0, 256, (rows, *shape), dtype=np.uint8)
    fitted = Pixels().features(images).fit(images)
    found = fitted.transform(images[:10])
    assert found.shape == (10, features)
    flat = images.reshape(rows, -1).astype(float)
    directions = np.linalg.svd(flat - flat.mean(0), full_matrices=False)[2][:features]
    near = (flat[:10] - flat.mean(0)) @ directions.T
    assert np.abs(found) == pytest.approx(np.abs(near), abs=1e-6)  # the sign is free


def test_texts_are_the_leading_components_of_their_words():
    texts = np.array(["good film", "bad film", "good good film", "bad book"], object)
    found = TfIdf().features(texts).fit_transform(texts)
    assert found.shape == (4, 3)
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
        TfIdf().features(np.array(texts, object))
