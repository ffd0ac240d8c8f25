"""Curve and its metrics against closed forms, numerical integration and simulation."""

import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from robustssl import Curve, InputError
from robustssl.analysis.density import expected_accuracy, hat_weights
from robustssl.analysis.metrics import CONVENTIONS, GRID

unit = st.floats(0, 1, allow_subnormal=False)


@st.composite
def grids(draw):
    inner = draw(st.sets(st.integers(1, 999), max_size=8))
    return np.array([0, *sorted(inner), 1000]) / 1000


@st.composite
def curves(draw, least_seeds=1):
    ts = draw(grids())
    size = draw(st.integers(least_seeds, 4))
    values = draw(st.lists(st.integers(0, 1000), min_size=size * len(ts), max_size=size * len(ts)))
    return Curve(ts, np.reshape(values, (size, len(ts))) / 1000)


def integral(f, ts):
    """Gauss-Legendre of order 5 on each segment: exact for what the metrics integrate."""
    return sum(integrate.fixed_quad(f, a, b, n=5)[0] for a, b in pairwise(ts))


@given(curves())
def test_definitions_agree_with_numerical_integration(curve):
    ts, a = curve.ts, curve.mean

    def A(t):  # noqa: N802
        return np.interp(t, ts, a)

    def slope(t):
        return (np.diff(a) / np.diff(ts))[np.clip(np.searchsorted(ts, t) - 1, 0, len(ts) - 2)]

    got = curve.metrics()
    mean = integral(A, ts)
    drift = a[-1] - a[0]
    assert got["AUC"] == pytest.approx(mean, abs=1e-12)
    assert got["Acc0"] == a[0]
    assert got["WA"] == pytest.approx(A(np.linspace(0, 1, 1001)).min(), abs=1e-12)
    assert got["EVM"] == pytest.approx(integral(lambda t: abs(slope(t)), ts), abs=1e-10)
    assert got["VS"] == pytest.approx(integral(lambda t: (slope(t) - drift) ** 2, ts), rel=1e-9)
    variance = integral(lambda t: (A(t) - mean) ** 2, ts)
    if np.ptp(a) <= 1e-12 * np.abs(a).max():
        assert np.isnan(got["RCC"])
    else:
        covariance = integral(lambda t: (t - 0.5) * (A(t) - mean), ts)
        assert got["RCC"] == pytest.approx(covariance / np.sqrt(variance / 12), abs=1e-9)


@given(grids(), unit)
def test_flat(ts, level):
    got = Curve(ts, np.full(len(ts), level)).metrics()
    assert got["AUC"] == pytest.approx(level)
    assert got["WA"] == got["Acc0"] == level
    assert got["EVM"] == got["VS"] == 0
    assert np.isnan(got["RCC"])


def test_flat_up_to_the_rounding_of_a_mean_has_no_rcc():
    a = np.array([0.1, 0.1 + 2e-17, 0.1 - 1e-17])
    for convention in ("definition", "published"):
        assert np.isnan(Curve([0, 0.5, 1], a).metrics(convention)["RCC"])
        tiny = Curve([0, 0.5, 1], [1e-200, 2e-200, 3e-200]).metrics(convention)["RCC"]
        assert tiny == pytest.approx(1)


@given(grids(), unit, unit)
def test_linear(ts, start, end):
    got = Curve(ts, start + (end - start) * ts).metrics()
    assert got["AUC"] == pytest.approx((start + end) / 2)
    assert got["EVM"] == pytest.approx(abs(end - start), abs=1e-12)
    assert got["VS"] == pytest.approx(0, abs=1e-12)
    if abs(end - start) > 1e-6:
        assert got["RCC"] == pytest.approx(np.sign(end - start))


@given(st.integers(1, 999), unit, unit)
def test_v(bottom, high, low):
    """Down from `high` to `low` at b, and up again."""
    b = bottom / 1000
    depth = high - low
    got = Curve([0, b, 1], [high, low, high]).metrics()
    assert got["AUC"] == pytest.approx((high + low) / 2)
    assert got["WA"] == pytest.approx(min(high, low))
    assert got["EVM"] == pytest.approx(2 * abs(depth))
    assert got["VS"] == pytest.approx(depth**2 / b + depth**2 / (1 - b))
    if abs(depth) > 1e-6:  # cov(t, A) = depth (1 - 2b) / 12, sd(A) = |depth| / sqrt(12)
        assert got["RCC"] == pytest.approx(np.sign(depth) * (1 - 2 * b), abs=1e-6)


@given(st.integers(0, 4), unit, unit)
def test_step(place, high, low):
    """Constant but for one segment of the default grid."""
    a = np.where(np.arange(6) <= place, high, low)
    got = Curve(GRID, a).metrics()
    middle = GRID[place] + 0.1
    assert got["AUC"] == pytest.approx(high * middle + low * (1 - middle))
    assert got["EVM"] == pytest.approx(abs(high - low))
    assert got["VS"] == pytest.approx((high - low) ** 2 * (5 - 1), abs=1e-12)


def test_published_convention_by_hand():
    got = Curve([0, 0.5, 1], [0.9, 0.6, 0.7]).metrics("published")
    assert got["AUC"] == pytest.approx(2.2 / 3)
    assert got["EVM"] == pytest.approx(0.2)
    assert got["VS"] == pytest.approx(0.2)
    assert got["RCC"] == pytest.approx(np.corrcoef([0, 0.5, 1], [0.9, 0.6, 0.7])[0, 1])


@given(st.lists(unit, min_size=6, max_size=6))
def test_conventions_on_the_default_grid(a):
    curve = Curve(GRID, a)
    ours, theirs = curve.metrics(), curve.metrics("published")
    assert theirs["EVM"] == pytest.approx(ours["EVM"] / 5)
    assert theirs["VS"] == pytest.approx(np.sqrt(ours["VS"]) / 5, abs=1e-7)


def test_re_ssl_by_hand():
    got = Curve([0, 0.5, 1], [0.9, 0.6, 0.7]).metrics("re-ssl")
    assert got["slope"] == pytest.approx(np.polyfit([0, 0.5, 1], [0.9, 0.6, 0.7], 1)[0])
    mean = 2.2 / 3
    assert got["GM"] == pytest.approx(abs(0.9 - mean) + abs(0.6 - mean) + abs(0.7 - mean))
    assert (got["BAD"], got["WAD"]) == (pytest.approx(0.2), pytest.approx(-0.6))
    assert got["P(AD>=0)"] == 0.5


def test_many_curves_at_once_equal_each_alone():
    scores = np.random.default_rng(0).uniform(size=(3, 2, 5, 6))
    together = Curve(GRID, scores)
    for i, j in np.ndindex(3, 2):
        alone = Curve(GRID, scores[i, j])
        for convention in CONVENTIONS:
            many, one = together.intervals(convention), alone.intervals(convention)
            for name in many:
                assert many[name].low[i, j] == one[name].low
                assert many[name].plain[i, j] == one[name].plain
        assert together.noise_floor()["EVM"][i, j] == pytest.approx(alone.noise_floor()["EVM"])
        assert together.dependence(200)[i, j] == alone.dependence(200)


def test_order_of_the_grid_does_not_matter():
    a = Curve([0, 0.3, 1], [[0.9, 0.7, 0.6]]).metrics()
    b = Curve([1, 0, 0.3], [[0.6, 0.9, 0.7]]).metrics()
    assert a == b
    P = Curve([0, 0.3, 1], [0.9, 0.7, 0.6]).ea([1, 1, 5])
    assert pytest.approx(Curve([1, 0, 0.3], [0.6, 0.9, 0.7]).ea([5, 1, 1])) == P


# Expected accuracy


@given(curves())
def test_uniform_expected_accuracy_is_auc(curve):
    auc = curve.metrics()["AUC"]
    for P in (stats.uniform(), lambda t: 3.0, np.ones(len(curve.ts))):
        assert curve.ea(P) == pytest.approx(auc, abs=1e-12)


@settings(max_examples=25)
@given(curves(), st.sampled_from([(0.5, 0.5), (2, 5), (1, 3), (40, 2)]))
def test_expected_accuracy_of_a_beta(curve, shape):
    """E A(T) for T ~ Beta, from its distribution function and its mean over each segment."""
    beta, ts, a = stats.beta(*shape), curve.ts, curve.mean
    heavier = stats.beta(shape[0] + 1, shape[1])  # t p(t) = mean * p of this one
    mean = shape[0] / sum(shape)
    slopes = np.diff(a) / np.diff(ts)
    expected = sum(
        (a[i] - slopes[i] * ts[i]) * (beta.cdf(ts[i + 1]) - beta.cdf(ts[i]))
        + slopes[i] * mean * (heavier.cdf(ts[i + 1]) - heavier.cdf(ts[i]))
        for i in range(len(slopes))
    )
    assert curve.ea(beta) == pytest.approx(expected, abs=1e-9)


def test_expected_accuracy_of_a_kinked_callable_and_of_its_values():
    curve = Curve(GRID, [0.9, 0.8, 0.5, 0.4, 0.6, 0.1])
    at_grid = np.abs(np.array(GRID) - 0.4)
    by_values, by_callable = curve.ea(at_grid), curve.ea(lambda t: abs(t - 0.4))
    assert by_values == pytest.approx(by_callable, abs=1e-12)
    A = np.interp(np.linspace(0, 1, 200001), GRID, curve.mean)
    P = np.abs(np.linspace(0, 1, 200001) - 0.4)
    assert by_callable == pytest.approx(np.trapezoid(A * P) / np.trapezoid(P), abs=1e-9)


def test_a_narrow_peak_is_not_overlooked():
    curve = Curve(GRID, [0.9, 0.8, 0.5, 0.4, 0.6, 0.1])
    peak = stats.norm(0.37, 0.002)
    got = curve.ea(lambda t: 1 + peak.pdf(t))
    expected = (curve.metrics()["AUC"] + np.interp(0.37, GRID, curve.mean)) / 2
    assert got == pytest.approx(expected, abs=1e-4)


def test_distributions_of_the_new_kind():
    curve = Curve(GRID, [0.9, 0.8, 0.5, 0.4, 0.6, 0.1])
    assert curve.ea(stats.Uniform(a=0, b=1)) == pytest.approx(curve.metrics()["AUC"])


def test_distribution_outside_the_unit_interval_is_cut_and_normalised():
    weights = hat_weights(np.array(GRID), stats.norm(0.5, 3))
    assert weights.sum() == pytest.approx(1)
    assert weights == pytest.approx(weights[::-1])


@pytest.mark.parametrize(
    ("P", "reason"),
    [
        ([1, 1, 1, -1, 1, 1], "negative"),
        (lambda t: t - 0.5, "cannot be -"),
        (lambda t: float("nan"), "cannot be nan"),
        (np.zeros(6), "no mass"),
        (stats.uniform(2, 1), "no mass"),
        ([1, 2], "2 values for a grid of 6"),
        (stats.poisson(1), "discrete"),
        (stats.beta, "lacks its parameters"),
        ("beta", "no density"),
    ],
)
def test_bad_densities_are_refused(P, reason):
    with pytest.raises(InputError, match=reason):
        Curve(GRID, np.ones(6)).ea(P)


# Intervals


def test_of_a_linear_metric_the_jackknife_is_student_over_seeds():
    scores = np.random.default_rng(0).uniform(size=(5, 6))
    curve = Curve(GRID, scores)
    own = curve.metrics(per_seed=True)["AUC"]
    low, high = stats.t.interval(0.9, 4, own.mean(), stats.sem(own))
    for per_seed in (False, True):
        got = curve.interval("AUC", 0.9, per_seed=per_seed)
        assert (got.estimate, got.low, got.high) == pytest.approx((own.mean(), low, high))


def test_jackknife_by_hand():
    scores = np.array([[0.9, 0.5], [0.7, 0.8], [0.6, 0.6]])
    plain = abs(scores.mean(0)[1] - scores.mean(0)[0])
    without = [abs(np.subtract(*np.delete(scores, i, 0).mean(0))) for i in range(3)]
    pseudo = 3 * plain - 2 * np.array(without)
    half = stats.t.ppf(0.975, 2) * pseudo.std(ddof=1) / np.sqrt(3)
    got = Curve([0, 1], scores).interval("EVM")
    assert got.plain == pytest.approx(plain)
    assert got.estimate == pytest.approx(max(pseudo.mean(), 0))
    assert (got.low, got.high) == pytest.approx(
        (max(pseudo.mean() - half, 0), pseudo.mean() + half)
    )


@given(curves(least_seeds=2))
def test_intervals_stay_in_range(curve):
    for name, got in curve.intervals().items():
        if np.isnan(got.low):
            assert name == "RCC" or got.note == "no interval"
            continue
        low, high = (-1, 1) if name == "RCC" else (0, np.inf) if name in ("EVM", "VS") else (0, 1)
        assert low <= got.low <= got.estimate <= got.high <= high


def test_one_seed_has_no_interval_and_no_test():
    curve = Curve(GRID, [0.9, 0.8, 0.7, 0.6, 0.5, 0.4])
    got = curve.interval("AUC")
    assert got.estimate == pytest.approx(0.65)
    assert np.isnan([got.low, got.high, curve.dependence(), curve.noise_floor()["EVM"]]).all()


def simulated(shape, seeds, seed_noise, rng, count, point_noise=0.02):
    noise = seed_noise * rng.normal(size=(count, seeds, 1))
    noise = noise + point_noise * rng.normal(size=(count, seeds, 6))
    return Curve(GRID, shape + noise, bounds=(-np.inf, np.inf))


TS = np.array(GRID)
SHAPES = {
    "flat": np.full(6, 0.8),
    "linear": 0.9 - 0.3 * TS,
    "V": 0.7 + 0.4 * np.abs(TS - 0.4),
    "step": np.where(TS < 0.5, 0.9, 0.6),
}


def test_a_95_percent_interval_covers(record_property):
    rng, rows = np.random.default_rng(1), []
    bulk = expected_accuracy(stats.beta(2, 5))
    for name, shape in SHAPES.items():
        for seed_noise in (0, 0.03):
            curve = simulated(shape, 5, seed_noise, rng, 20_000)
            truth = {**Curve(GRID, shape).metrics(), "EA": bulk(TS, shape)}
            intervals = {**curve.intervals(), "EA": curve.interval(bulk)}
            covered = {
                metric: np.mean(
                    (i.low <= truth[metric] + 1e-12) & (i.high >= truth[metric] - 1e-12)
                )
                for metric, i in intervals.items()
            }
            shown = [f"{covered[m]:.3f}" for m in ("AUC", "EA", "WA", "EVM", "VS", "RCC")]
            shown[-1] = "" if name == "flat" else shown[-1]
            rows.append(f"{name:8}{seed_noise:<12}{'  '.join(shown)}")
            assert 0.92 <= covered["AUC"] <= 0.98
            assert 0.92 <= covered["EA"] <= 0.98
            assert covered["WA"] >= 0.87
    head = "curve   seed noise  " + "  ".join(
        f"{m:5}" for m in ("AUC", "EA", "WA", "EVM", "VS", "RCC")
    )
    title = "share of 95% intervals that cover, 5 seeds (a flat curve has no RCC)"
    record_property(title, "\n".join([head, *rows]))


def test_dependence_is_a_test():
    """Its p-values are uniform where nothing depends on t, and small where something does."""
    rng = np.random.default_rng(0)
    null = simulated(SHAPES["flat"], 5, 0.03, rng, 2000).dependence(500)
    for level in (0.05, 0.2, 0.5):
        assert np.mean(null <= level) == pytest.approx(level, abs=0.03)
    assert np.mean(simulated(SHAPES["linear"], 5, 0.03, rng, 200).dependence(500) < 0.01) > 0.99
    assert Curve(GRID, np.full((5, 6), 0.7)).dependence() == 1
    clear = Curve(GRID, np.tile(np.linspace(0.9, 0.1, 6), (9, 1)))
    assert clear.dependence(99) == pytest.approx(1 / 100)  # the observed order is one of the draws


def test_noise_floor_is_the_noise_and_only_the_noise():
    rng = np.random.default_rng(0)
    flat = simulated(SHAPES["flat"], 5, 0.03, rng, 5000)
    floor, shown = flat.noise_floor(), flat.metrics()
    assert floor["VS"].mean() == pytest.approx(shown["VS"].mean(), rel=0.02)
    # A sum of five flipped residuals is not quite normal, which an absolute value feels: -3%.
    assert floor["EVM"].mean() == pytest.approx(shown["EVM"].mean(), rel=0.05)
    moved = Curve(GRID, flat.scores + 0.5 * TS**2, bounds=(-np.inf, np.inf))
    assert moved.noise_floor()["VS"] == pytest.approx(floor["VS"])


def test_noise_floor_of_many_seeds_is_sampled():
    curve = simulated(SHAPES["flat"], 20, 0.0, np.random.default_rng(0), 300)
    assert curve.noise_floor()["VS"].mean() == pytest.approx(curve.metrics()["VS"].mean(), rel=0.1)


def test_a_thousand_curves_take_little_memory():
    curve = Curve(GRID, np.random.default_rng(0).uniform(size=(1000, 5, 6)))
    tracemalloc.start()
    curve.intervals(), curve.intervals("published"), curve.metrics(per_seed=True)
    curve.noise_floor(), curve.dependence(2000)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 50 * 2**20


# Bad input


@pytest.mark.parametrize(
    ("ts", "scores", "reason"),
    [
        ([0, 0.5], [1, 1], "lacks 1"),
        ([0.5, 1], [1, 1], "lacks 0"),
        ([0.5], [1], "lacks 0 and 1"),
        ([0, 1.5, 1], [1, 1, 1], "got 1.5"),
        ([0, -0.1, 1], [1, 1, 1], "got -0.1"),
        ([0, 0.5, 0.5, 1], [1, 1, 1, 1], "twice"),
        ([0, np.nan, 1], [1, 1, 1], "list of numbers"),
        ([0, 1], [1, 1, 1], "2 values of t, but 3 scores"),
        ([0, 1], [[0.5, 0.5], [np.nan, 0.5]], "not finite .at t = 0, row 1"),
        ([0, 1], [0.5, np.inf], "not finite .at t = 1"),
        ([0, 1], np.empty((0, 2)), "at least one seed"),
    ],
)
def test_bad_curves_are_refused(ts, scores, reason):
    with pytest.raises(InputError, match=reason):
        Curve(ts, scores)


def test_unknown_metric_convention_and_level():
    curve = Curve([0, 1], [1, 1])
    with pytest.raises(InputError, match="did you mean 'EVM'"):
        curve.interval("EVN")
    with pytest.raises(InputError, match="did you mean 'published'"):
        curve.metrics("publish")
    with pytest.raises(InputError, match="level"):
        curve.interval("AUC", 95)


def test_scores_of_another_range():
    """Higher is better is all that a score must promise."""
    curve = Curve([0, 1], [[-3.0, -5.0], [-2.0, -6.0]])
    assert curve.metrics()["AUC"] == -4
    assert curve.interval("WA").low < -6
    with pytest.raises(InputError, match="bounds"):
        Curve([0, 1], [0.5, 1.5], bounds=(0, 1))
