"""The synthetic worlds that a learner is taught with are what they say."""

import sys
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
sys.path.insert(0, str(Path(__file__).parents[1] / "experiments"))
from worlds import GEOMETRIES, SHIFTS, Maker, Sizes, draw_sizes  # noqa: E402

SIZES = Sizes(
    worlds=40, classes=3, unknown=2, features=6, labeled=12, unlabeled=50, queries=20, strangers=10
)


@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_a_share_t_of_the_unlabeled_rows_is_inconsistent(geometry):
    worlds = Maker(0, "cpu", worlds=(geometry,)).batch(SIZES)
    by_row = worlds.shift != list(SHIFTS).index("columns")
    shares = worlds.inconsistent[:, :50].float().mean(1)
    assert torch.allclose(shares[by_row], worlds.t[by_row], atol=0.5 / 50 + 1e-6)
    assert not shares[~by_row].any()
    assert (worlds.truth[worlds.inconsistent] == -1).all()
    queries = worlds.inconsistent[:, 50:]
    assert not queries[:, :20].any()
    assert queries[:, 20:].all()


def test_labels_are_codes_that_the_world_uses():
    worlds = Maker(1, "cpu").batch(SIZES)
    assert (worlds.known.sum(1) == 3).all()
    assert worlds.known.gather(1, worlds.y).all()
    known = worlds.truth >= 0
    assert worlds.known.gather(1, worlds.truth.clamp(min=0))[known].all()


def test_a_careless_learner_sees_consistent_rows_alone():
    worlds = Maker(2, "cpu", cautious=False).batch(SIZES)
    assert not worlds.t.any()
    assert not worlds.inconsistent[:, :50].any()


def test_worlds_depend_on_the_seed_alone():
    one, two, other = (Maker(seed, "cpu").batch(SIZES) for seed in (3, 3, 4))
    assert torch.equal(one.x.nan_to_num(), two.x.nan_to_num())
    assert not torch.equal(one.x.nan_to_num(), other.x.nan_to_num())


def test_sizes_fit_the_net():
    rng = np.random.default_rng(0)
    for sizes in (draw_sizes(rng, 4000) for _ in range(200)):
        assert sizes.labeled >= sizes.classes
        assert sizes.labeled <= 256
        assert sizes.classes <= 10
        assert sizes.features <= 32
