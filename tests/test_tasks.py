"""The rule over tasks against closed forms, and its coverage with the leaderboard's residuals."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from robustssl import Curve, InputError
from robustssl.analysis.compare import break_even_of
from robustssl.analysis.interval import IDENTICAL, NO_INTERVAL, Ties, student_interval
from robustssl.analysis.tasks import Part, holm, leave_one_out, over_tasks, p_value, ranks

SCORES = Path(__file__).parents[1] / "experiments" / "scores.csv"  # AUC by method, task and seed


def ends(found):
    return found.estimate, found.low, found.high


@pytest.fixture
def parts():
    """Two tasks of wine, which share rows, and one each of letter and iris; five seeds or four."""
    rng = np.random.default_rng(0)
    luck = rng.normal(0.1, 0.05, 5)
    return [
        Part("wine", (0, 1, 2, 3, 4), luck + rng.normal(0, 0.01, 5)),
        Part("wine", (0, 1, 2, 3, 4), luck + rng.normal(0, 0.01, 5)),
        Part("letter", (0, 1, 2, 3), rng.normal(0.05, 0.02, 4)),
        Part("iris", (0, 1, 2, 3, 4), rng.normal(-0.02, 0.03, 5)),
    ]


def test_one_task_has_the_interval_of_its_seeds(parts):
    for part in parts:
        assert ends(over_tasks([part])) == pytest.approx(ends(student_interval(part.values)))
        assert p_value([part]) == pytest.approx(stats.ttest_1samp(part.values, 0).pvalue)


def test_two_datasets_are_welch_s_test(parts):
    _, _, a, b = parts
    minus = Part("iris", b.seeds, -b.values)
    welch = stats.ttest_ind(a.values, b.values, equal_var=False)
    assert p_value([a, minus]) == pytest.approx(welch.pvalue)
    low, high = welch.confidence_interval(0.95)
    found = over_tasks([a, minus])
    assert (2 * found.low, 2 * found.high) == pytest.approx((low, high))


def test_tasks_of_one_dataset_are_summed_seed_by_seed(parts):
    first, second, *_ = parts
    together = student_interval((first.values + second.values) / 2)
    assert ends(over_tasks([first, second])) == pytest.approx(ends(together))
    apart = over_tasks([first, Part("other", second.seeds, second.values)])
    assert apart.high - apart.low < together.high - together.low  # they share their luck


def test_the_numbers_of_seeds_mean_nothing_beyond_a_dataset(parts):
    """Renumbered within a dataset, or listed in another order: nothing changes."""
    rng, expected = np.random.default_rng(1), (*ends(over_tasks(parts)), p_value(parts))
    for _ in range(20):
        names = {p.dataset: dict(enumerate(rng.permutation(len(p.seeds)))) for p in parts}
        renamed = []
        for part in parts:
            order = rng.permutation(len(part.seeds))
            seeds = tuple(names[part.dataset][part.seeds[k]] for k in order)
            renamed.append(Part(part.dataset, seeds, part.values[order]))
        assert (*ends(over_tasks(renamed)), p_value(renamed)) == pytest.approx(expected)


def test_only_seeds_that_all_tasks_of_a_dataset_share_count(parts):
    first, second, *others = parts
    extra = Part("wine", (*second.seeds, 9), np.append(second.values, 5.0))
    assert ends(over_tasks([first, extra, *others])) == pytest.approx(ends(over_tasks(parts)))
    lonely = Part("wine", (7,), np.array([0.1]))
    found = over_tasks([first, lonely])
    assert np.isnan(found.low)
    assert np.isnan(p_value([first, lonely]))
    assert found.estimate == pytest.approx((first.values.mean() + 0.1) / 2)
    with pytest.raises(InputError, match="at least one task"):
        over_tasks([])


def test_the_p_value_is_that_of_the_interval_which_ends_at_zero(parts):
    p = p_value(parts)
    found = over_tasks(parts, level=1 - p)
    assert min(abs(found.low), abs(found.high)) == pytest.approx(0, abs=1e-12)


def test_many_numbers_at_once_are_as_one_by_one(parts):
    both = [Part(p.dataset, p.seeds, np.stack([p.values, -2 * p.values], -1)) for p in parts]
    twice = [Part(p.dataset, p.seeds, -2 * p.values) for p in parts]
    found = over_tasks(both)
    assert ends(found[0]) == pytest.approx(ends(over_tasks(parts)))
    assert ends(found[1]) == pytest.approx(ends(over_tasks(twice)))
    assert p_value(both) == pytest.approx(p_value(parts))


@pytest.mark.parametrize("correct", [30, 29, 0])
def test_seeds_that_agree_have_the_limits_of_clopper_and_pearson(correct):
    part = Part("iris", (0, 1, 2), np.full(3, correct / 30), Ties(30.0))
    expected = stats.binomtest(correct, 30).proportion_ci(0.95, method="exact")
    found = over_tasks([part])
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    assert np.isnan(p_value([part]))
    more = Part("wine", (0, 1, 2), np.full(3, 1.0), Ties(40.0))
    other = stats.binomtest(40, 40).proportion_ci(0.95, method="exact")
    assert over_tasks([part, more]).low == pytest.approx((expected.low + other.low) / 2)


def test_differences_that_agree_are_identical_or_have_what_rows_may_hide():
    def tied(**ties):
        return over_tasks([Part("iris", (0, 1, 2), np.zeros(3), Ties(**ties))])

    hidden = 1 - 0.025 ** (1 / 30)
    assert ends(tied(rows=30.0, difference=True)) == pytest.approx((0, -hidden, hidden))
    assert tied(rows=30.0, difference=True, identical=True).note == IDENTICAL
    assert tied().note == NO_INTERVAL  # a score that is not a share of rows
    assert np.isnan(tied().low)


def test_leaving_out_a_dataset_leaves_out_all_of_its_tasks(parts):
    means = [part.values.mean() for part in parts]
    without = [np.mean(means[2:]), np.mean([*means[:2], means[3]]), np.mean(means[:3])]
    assert leave_one_out(parts) == pytest.approx((min(without), max(without)))
    assert leave_one_out(parts[:2]) is None


def test_ranks_are_within_a_seed_and_ties_share_theirs():
    scores = np.array([[0.9, 0.5], [0.8, 0.7], [0.8 + 1e-15, 0.6]])  # methods, seeds
    assert ranks(scores).tolist() == [[1, 3], [2.5, 1], [2.5, 2]]


def test_holm_rejects_where_the_adjusted_p_value_is_small():
    rng = np.random.default_rng(0)
    for _ in range(50):
        ps = rng.uniform(0, 0.03, 9)
        adjusted = [max(q * (ps >= q).sum() for q in ps if q <= p) for p in ps]
        assert holm(ps).tolist() == [p <= 0.05 for p in adjusted]
    assert holm([0.03, np.nan, 0.001]).tolist() == [False, False, True]  # 0.03 is not 0.05 / 2


@pytest.mark.parametrize("metric", ["AUC", "VS", "RCC"])
def test_metrics_enter_as_what_each_seed_adds(metric):
    noise = np.random.default_rng(0).normal(0, 0.01, (5, 3))
    curve = Curve([0, 0.5, 1], np.array([0.8, 0.5, 0.6]) + noise)
    values, expected = curve.pseudo_values(metric), curve.interval(metric)
    found = over_tasks([Part("iris", (0, 1, 2, 3, 4), values)])
    assert ends(found) == pytest.approx(ends(expected))
    own = curve.metrics(per_seed=True)[metric]
    assert (values == pytest.approx(own)) == (metric == "AUC")  # the others are not linear


def test_break_even_over_tasks_is_that_of_the_mean_curve():
    ts, seeds = np.array([0, 0.5, 1]), (0, 1, 2)
    down = np.array([0.2, 0.0, -0.3]) + np.array([[-0.01], [0], [0.01]])
    up = np.array([0.1, 0.1, 0.1]) + np.array([[0.01], [0], [-0.01]])
    found = break_even_of(ts, over_tasks([Part("iris", seeds, down), Part("wine", seeds, up)]))
    assert found.estimate == pytest.approx(0.5 + 0.5 * 0.05 / 0.15)
    assert found.low < found.estimate < found.high


@pytest.fixture(scope="module")
def residuals():
    """By method and dataset: how each seed differs from the mean over seeds (seeds, tasks)."""
    frame = pd.read_csv(SCORES)
    found = {}
    for (method, dataset), rows in frame.groupby(["method", "drawn"]):
        scores = rows.filter(regex="^seed ").to_numpy().T
        found.setdefault(method, {})[dataset] = scores - scores.mean(0)
    return found


@pytest.mark.parametrize(("seeds", "expected"), [(3, 0.954), (5, 0.950), (10, 0.949)])
def test_intervals_of_the_leaderboard_cover_as_often_as_they_say(residuals, seeds, expected):
    """Seeds are drawn again, dataset by dataset, all tasks of a dataset together."""
    rng, studies, hits = np.random.default_rng(seeds), 1000, []
    for datasets in residuals.values():
        parts = []
        for dataset, rows in datasets.items():
            drawn = rows[rng.integers(len(rows), size=(seeds, studies))]
            parts += [Part(dataset, tuple(range(seeds)), task) for task in np.moveaxis(drawn, 2, 0)]
        found = over_tasks(parts)
        hits.append((found.low <= 0) & (found.high >= 0))
    chance = np.sqrt(0.95 * 0.05 / np.size(hits))
    assert np.mean(hits) == pytest.approx(expected, abs=4 * chance)
