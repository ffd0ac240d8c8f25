"""Gains in labels: exact on known curves, censored where these end, with intervals that cover."""

import numpy as np
import pytest
from searched import searched

from robustssl.analysis.density import ALIKE
from robustssl.analysis.labels import Labels, median
from robustssl.analysis.selection import select
from robustssl.analysis.worth import worth, worth_of
from robustssl.errors import InputError

COUNTS = (2, 4, 8, 16, 32)
RISING = np.array([0.5, 0.6, 0.7, 0.75, 0.8])


def of_one(gain, held=4, curve=RISING):
    return worth_of(np.array([gain]), curve[None], COUNTS, held)


@pytest.mark.parametrize(
    ("gain", "further"),
    [(0.1, 4), (0.05, 2 ** (2.5) - 4), (0, 0), (-0.05, 2**1.5 - 4), (-0.1, -2), (0.2, 28)],
)
def test_a_gain_is_worth_the_labels_at_which_the_baseline_reaches_the_score(gain, further):
    assert of_one(gain).estimate == pytest.approx(further, abs=1e-6)


def test_beyond_the_ends_of_the_curve_nothing_but_that_is_known():
    assert str(of_one(0.25)) == "more than 28.0 labels a class"
    assert str(of_one(0.25).times(3)) == "more than 84 labels"
    assert str(of_one(-0.2).times(3)) == "more than 6 labels thrown away"
    assert of_one(0.25).is_censored
    assert not of_one(0.2).is_censored


def test_numbers_of_labels_are_written_in_one_way():
    assert str(Labels(31, 12, 60, a_class=False)) == "+31 labels [12, 60]"
    assert str(Labels(31.2, 12, np.inf, most=200, a_class=False)) == "+31 labels [12, > 200]"
    assert str(Labels(-7, -np.inf, 2, least=-9, a_class=False)) == "-7 labels [< -9, 2]"
    assert str(Labels(-0.2, -0.4, 0.3, a_class=False)) == "0 labels [0, 0]"
    assert str(Labels(1.25)) == "+1.2 labels a class"
    assert str(Labels(np.nan)) == "n/a"
    assert str(Labels(31, 12, 60).times(2)) == "+62 labels [24, 120]"


def test_a_curve_that_falls_is_made_to_rise_and_no_gain_is_worth_nothing():
    falling = np.array([0.5, 0.7, 0.6, 0.8, 0.9])
    assert of_one(0, 4, falling).estimate == 0
    assert of_one(0, 8, falling).estimate == 0
    assert of_one(0.15, 4, falling).estimate == pytest.approx(12)  # from .65, pooled, to .8
    assert of_one(0.1, 8, np.full(5, 0.5)).estimate == np.inf


def noisy(rng, truth, gain, seeds=5):
    """Seeds move the whole curve and each point; the method shares the seed's luck."""
    curves = truth + 0.03 * rng.normal(size=(seeds, 1)) + 0.01 * rng.normal(size=(seeds, 5))
    return gain + 0.01 * rng.normal(size=seeds), curves


LEVEL = np.array([0.5, 0.6, 0.6, 0.6, 0.7])  # where the jackknife of the labels covers 73%


@pytest.mark.parametrize(
    ("truth", "gain", "further"),
    [(RISING, 0.05, 2**2.5 - 4), (RISING, -0.05, 2**1.5 - 4), (RISING, 0, 0), (LEVEL, 0, 0)],
)
def test_the_interval_covers_as_often_as_it_says(truth, gain, further):
    rng = np.random.default_rng(0)
    found = [worth_of(*noisy(rng, truth, gain), COUNTS, 4) for _ in range(400)]
    covered = np.mean([one.low <= further <= one.high for one in found])
    assert 0.92 <= covered <= 0.99
    assert np.median([one.estimate for one in found]) == pytest.approx(further, abs=0.3)


def test_the_interval_is_open_where_the_curve_ends():
    rng = np.random.default_rng(1)
    gains, curves = noisy(rng, RISING, 0.195)
    found = worth_of(gains, curves, COUNTS, 4)
    assert found.high == np.inf
    assert 4 < found.low < 28
    harmed = worth_of(gains - 0.29, curves, COUNTS, 4)
    assert harmed.low == -np.inf
    assert -2 < harmed.high < 0
    sure = worth_of(gains + 0.3, curves, COUNTS, 4)
    assert (sure.estimate, sure.low) == (np.inf, np.inf)
    assert str(sure) == "more than 28.0 labels a class [> 28.0, > 28.0]"


def test_one_seed_has_no_interval_and_a_curve_needs_two_counts():
    assert np.isnan(of_one(0.1).low)
    for counts, held in (((4,), 4), ((2, 4), 8), ((4, 2), 4)):
        with pytest.raises(InputError, match="learning curve"):
            worth_of(np.zeros(1), np.zeros((1, len(counts))), counts, held)


def test_the_median_over_tasks_knows_what_curves_do_not_tell():
    more, less = Labels(np.inf, most=10), Labels(-np.inf, least=-3)
    assert median([Labels(1), Labels(5), Labels(9)]).estimate == 5
    assert median([Labels(1), Labels(5), more]).estimate == 5
    assert str(median([Labels(1), more, more])) == "more than 10.0 labels a class"
    assert str(median([less, less, Labels(4)])) == "more than 3.0 labels a class thrown away"
    assert str(median([more, Labels(50), Labels(60)])) == "more than 50.0 labels a class"
    assert median([less, Labels(2), more]).estimate == 2
    assert str(median([less, more])) == "n/a"
    harms = [Labels(-np.inf, least=0), Labels(-2.9), Labels(-1.8)]
    assert str(median(harms)) == "more than 1.8 labels a class thrown away"
    assert str(median([Labels(-2), more])) == "more than 4.0 labels a class"
    assert str(median([Labels(-20), more])) == "n/a"
    assert str(median([Labels(-2.9), harms[0], Labels(3)])) == "n/a"  # from -2.9 to 0
    unsure = Labels(-np.inf, -np.inf, 6.9, least=0, most=9)
    assert str(unsure) == "a harm beyond the learning curve [< 0.0, 6.9]"
    with pytest.raises(InputError, match="no common median"):
        median([Labels(1), Labels(1, a_class=False)])


def accuracy(method, labels, t, seed, **cell):
    base = RISING[COUNTS.index(labels)] + 0.01 * seed
    return {"accuracy": base + (0.1 - 0.2 * t if method == "fixmatch" else 0)}


def test_gains_of_a_frame_are_told_by_the_curve_of_the_baseline_of_the_same_rule():
    chosen = select(searched(accuracy, labels=COUNTS, configurations=1), "default")
    found = worth(chosen, ALIKE).set_index("labels").worth
    assert found[4].estimate == pytest.approx(0, abs=1e-6)  # the gain is 0 in the mean over t
    told = worth(chosen, classes={("label", "wine"): 3}).set_index("labels").worth
    assert told[4].estimate > 0
    assert not told[4].a_class
    assert told[32].estimate == np.inf
    few = chosen[(chosen.method == "fixmatch") | (chosen.labels == 4)]
    assert worth(few).empty


def test_a_number_at_the_end_of_the_curve_is_told_as_such():
    """The curve has no more labels, or no fewer, than are there."""
    assert (
        str(Labels(np.inf, most=0.04)) == "a gain beyond the learning curve"
    )  # not "more than 0.0"
    assert str(Labels(np.inf, most=0.0)) == "a gain beyond the learning curve"
    assert str(Labels(-np.inf, least=0.0)) == "a harm beyond the learning curve"
