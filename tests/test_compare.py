"""Comparisons against closed forms and against the libraries behind them."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from robustssl import Curve, InputError
from robustssl.analysis.compare import (
    area_below,
    break_even,
    friedman,
    gain,
    mean_ranks,
    wilcoxon_holm,
)
from robustssl.analysis.interval import Ties

signed = st.floats(-1, 1, allow_subnormal=False)


@given(st.lists(signed, min_size=4, max_size=4))
def test_area_below_agrees_with_a_fine_sum(a):
    ts = np.array([0, 0.25, 0.5, 1])
    fine = np.linspace(0, 1, 100_001)
    expected = np.trapezoid(np.maximum(-np.interp(fine, ts, a), 0), fine)
    got = area_below(ts, np.array(a))
    assert got == pytest.approx(expected, abs=1e-7)


def test_gain_is_paired_and_its_interval_may_be_negative():
    ts, rng = [0, 0.5, 1], np.random.default_rng(0)
    luck = rng.normal(scale=0.1, size=(5, 1))  # shared by both: it must cancel
    ours = Curve(ts, 0.60 + luck + rng.normal(scale=0.001, size=(5, 3)))
    theirs = Curve(ts, 0.59 + luck + np.zeros((5, 3)))
    got = gain(ours, theirs).interval("AUC")
    assert got.low < 0.01 < got.high
    assert got.high - got.low < 0.01
    assert gain(theirs, ours).interval("AUC").high < 0


def test_gain_refuses_other_grids_and_other_seeds():
    curve = Curve([0, 1], np.full((3, 2), 0.5))
    with pytest.raises(InputError, match="grid"):
        gain(curve, Curve([0, 0.5, 1], np.full((3, 3), 0.5)))
    with pytest.raises(InputError, match="seeds"):
        gain(curve, Curve([0, 1], np.full((2, 2), 0.5)))


@given(st.floats(0.01, 1), st.floats(0.01, 1))
def test_break_even_of_a_line(above, below):
    got = break_even(Curve([0, 1], [[above, -below]]))
    assert got.estimate == pytest.approx(above / (above + below))


@pytest.mark.parametrize(
    ("gains", "estimate", "low", "high"),
    [
        ([0.2, 0.1, 0.0], None, None, None),  # touching zero is not falling below it
        ([-0.1, 0.1, 0.2], 0.0, 0.0, 0.0),
        ([0.1, -0.1, 0.1], 0.25, 0.25, 0.25),
        ([0.2, 0.2, -0.2], 0.75, 0.75, 0.75),
    ],
)
def test_break_even_without_noise(gains, estimate, low, high):
    ties = Ties(rows=1e9, difference=True)  # so many that they hide next to nothing
    scores = np.tile(np.add(gains, 1e-7), (4, 1))
    got = break_even(Curve([0, 0.5, 1], scores, ties=ties))
    assert (got.estimate, got.low, got.high) == (
        pytest.approx(estimate, abs=1e-5),
        pytest.approx(low, abs=1e-5),
        pytest.approx(high, abs=1e-5),
    )


def test_break_even_of_seeds_that_agree_has_no_interval_of_its_own():
    got = break_even(Curve([0, 1], np.tile([0.1, -0.1], (4, 1))))
    assert got.estimate == pytest.approx(0.5)
    assert np.isnan([got.low, got.high]).all()
    assert str(got) == "0.50"


def test_break_even_interval_comes_from_the_paired_band():
    rng = np.random.default_rng(0)
    curve = Curve([0, 1], np.array([0.1, -0.1]) + rng.normal(scale=0.02, size=(5, 2)))
    low, high = curve.band()
    got = break_even(curve)
    assert got.low == pytest.approx(low[0] / (low[0] - low[1]))
    assert got.high == pytest.approx(high[0] / (high[0] - high[1]))
    assert got.low < got.estimate < got.high
    above = Curve([0, 1], 0.5 + rng.normal(scale=0.02, size=(5, 2)))
    assert str(break_even(above)) == "none [none, none]"


SCORES = pd.DataFrame(
    np.random.default_rng(0).normal(size=(12, 4)) * 0.1 + [0.0, 0.05, 0.2, 0.4],
    columns=["a", "b", "c", "d"],
)


def test_mean_ranks():
    got = mean_ranks(SCORES)
    assert got.index[0] == "d"
    by_hand = stats.rankdata(-SCORES.to_numpy(), axis=1)
    assert got[list("abcd")].to_numpy() == pytest.approx(by_hand.mean(0))
    tie = mean_ranks(pd.DataFrame({"a": [0.5, 0.5], "b": [0.5, 0.5]}))
    assert tie.tolist() == [1.5, 1.5]


def test_friedman():
    assert friedman(SCORES) < 0.001
    noise = pd.DataFrame(np.random.default_rng(3).normal(size=(30, 3)))
    expected = stats.friedmanchisquare(*noise.to_numpy().T).pvalue
    assert friedman(noise) == pytest.approx(expected)
    assert friedman(pd.DataFrame(np.ones((4, 3)))) == 1
    with pytest.raises(InputError, match="three methods"):
        friedman(SCORES[["a", "b"]])


def test_wilcoxon_holm_is_holm_over_wilcoxon():
    got = wilcoxon_holm(SCORES)
    pairs = [(i, j) for i in range(4) for j in range(i)]
    raw = [
        stats.wilcoxon(SCORES.iloc[:, i], SCORES.iloc[:, j], zero_method="zsplit").pvalue
        for i, j in pairs
    ]
    order = np.argsort(raw)
    holm = np.minimum(np.maximum.accumulate(np.sort(raw) * np.arange(6, 0, -1)), 1)
    for place, k in enumerate(order):
        i, j = pairs[k]
        assert got.iloc[i, j] == pytest.approx(holm[place])


def test_a_missing_score_is_refused():
    with pytest.raises(InputError, match="every dataset"):
        mean_ranks(SCORES.where(SCORES < 0.5))
