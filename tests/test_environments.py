"""The controlled protocol: a curve moves because of t and for no other reason."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import robustssl
from robustssl import Cell, InputError
from robustssl.environments import count
from robustssl.execution.worker import run_group
from robustssl.splits import prepare

PLACES = [
    ("distribution", "iris"),
    ("distribution", "breast_cancer"),
    ("label", "wine"),
    ("label", "digits"),
    ("feature", "wine"),
    ("feature", "breast_cancer"),
]
ts = st.floats(0, 1).map(lambda t: round(t, 6))
places = st.sampled_from(PLACES)
few = st.integers(1, 10)
seeds = st.integers(0, 50)

steady = settings(max_examples=40, deadline=None)


def split(place, labels, seed, t):
    environment, dataset = place
    return prepare(dataset, environment, labels, seed).split(t)


@steady
@given(places, few, seeds, ts)
def test_rows_are_disjoint_and_labels_are_the_true_ones(place, labels, seed, t):
    data, got = robustssl.dataset(place[1]), split(place, labels, seed, t)
    every = np.concatenate([got.rows, got.test_rows])
    assert len(set(every)) == len(every)
    labeled = got.y != -1
    assert np.array_equal(got.y[labeled], data.y[got.rows[labeled]])
    assert np.array_equal(got.y_test, data.y[got.test_rows])
    known, counts = np.unique(got.y[labeled], return_counts=True)
    assert (counts == labels).all()
    assert np.array_equal(np.unique(got.y_test), known)


@steady
@given(places, few, seeds, ts, ts)
def test_t_changes_unlabeled_rows_only_and_replaces_them_one_way(place, labels, seed, s, t):
    s, t = sorted([s, t])
    a, b = split(place, labels, seed, s), split(place, labels, seed, t)
    assert np.array_equal(a.X_test, b.X_test)
    assert np.array_equal(a.test_rows, b.test_rows)
    assert np.array_equal(a.y, b.y)  # also: the number of unlabeled rows is the same
    labeled = a.y != -1
    assert np.array_equal(a.X[labeled], b.X[labeled])
    pools = prepare(place[1], place[0], labels, seed).pools
    inconsistent = set(pools.inconsistent) - set(pools.consistent)
    n = (~labeled).sum()
    before, after = set(a.rows) & inconsistent, set(b.rows) & inconsistent
    assert before <= after
    assert set(b.rows) - inconsistent <= set(a.rows) - inconsistent
    if place[0] != "feature":
        assert len(after) == count(t, n)


@steady
@given(st.sampled_from([p for p in PLACES if p[0] == "feature"]), few, seeds, ts)
def test_feature_loses_exactly_its_share_of_columns_to_the_labeled_mean(place, labels, seed, t):
    prepared = prepare(place[1], place[0], labels, seed)
    whole, got = prepared.split(0.0), prepared.split(t)
    free = got.y == -1
    lost = (got.X[free] != whole.X[free]).any(0)
    d = got.X.shape[1]
    mean = got.X[~free].mean(0)
    at_mean = np.isclose(got.X[free], mean, atol=1e-9).all(0)
    assert at_mean.sum() == count(t, d)
    assert not (lost & ~at_mean).any()
    more = prepared.split(min(1.0, t + 0.2)).X[free]
    assert np.isclose(more, mean, atol=1e-9).all(0)[at_mean].all()  # what is lost stays lost


@steady
@given(st.sampled_from([p for p in PLACES if p[0] == "distribution"]), few, seeds, ts)
def test_distribution_keeps_the_shares_of_the_classes(place, labels, seed, t):
    data = robustssl.dataset(place[1])
    at_0, at_t = split(place, labels, seed, 0.0), split(place, labels, seed, t)
    assert np.array_equal(
        np.bincount(data.y[at_0.rows[at_0.y == -1]]), np.bincount(data.y[at_t.rows[at_t.y == -1]])
    )


@steady
@given(st.sampled_from([p for p in PLACES if p[0] == "distribution"]), few, seeds)
def test_distribution_target_is_farther_from_the_centre(place, labels, seed):
    data = robustssl.dataset(place[1])
    pools = prepare(place[1], place[0], labels, seed).pools
    counts = np.unique(data.X, axis=0, return_index=True)[1]  # copies do not count
    Z = (data.X - data.X[counts].mean(0)) / data.X[counts].std(0)
    for label in np.unique(data.y):
        centre = Z[np.intersect1d(counts, np.flatnonzero(data.y == label))].mean(0)

        def distance(rows, label=label, centre=centre):
            return np.linalg.norm(Z[rows[data.y[rows] == label]] - centre, axis=1)

        near = np.concatenate([distance(r) for r in (pools.labeled, pools.test, pools.consistent)])
        far = np.concatenate([distance(pools.inconsistent), distance(pools.aside)])
        assert near.max() <= far.min()


def test_label_keeps_the_first_half_of_the_classes():
    pools = prepare("digits", "label", 5, 0).pools
    y = pools.data.y
    assert set(y[pools.labeled]) == set(y[pools.consistent]) == set(range(5))
    assert set(y[pools.inconsistent]) == set(y[pools.aside]) == set(range(5, 10))
    odd = prepare("wine", "label", 5, 0).pools
    assert set(odd.data.y[odd.labeled]) == {0, 1}


@pytest.mark.parametrize(("environment", "dataset"), PLACES)
def test_sizes(environment, dataset):
    """Of the consistent rows half to test, then the labeled ones; a fifth of the others aside."""
    pools = prepare(dataset, environment, 5, 0).pools
    used = [pools.labeled, pools.test, pools.consistent, pools.aside]
    if environment != "feature":
        used.append(pools.inconsistent)
    assert len(np.unique(np.concatenate(used))) == sum(map(len, used))
    if environment == "feature":
        learned = len(pools.labeled) + len(pools.consistent)
        assert 0 <= learned - len(pools.test) <= len(np.unique(pools.data.y))
        assert sum(map(len, used)) == len(pools.data.y)
        assert np.array_equal(pools.inconsistent, pools.consistent)  # the same rows, degraded
    else:
        assert len(pools.consistent) == len(pools.inconsistent) > 0
        assert len(pools.aside) > 0


@pytest.mark.parametrize(("environment", "dataset"), PLACES)
def test_preprocessing_sees_neither_t_nor_test_rows(environment, dataset):
    """Standardised by the labeled and unlabeled rows of t = 0, and by nothing else."""
    prepared = prepare(dataset, environment, 5, 3)
    at_0 = prepared.split(0.0)
    assert at_0.X.mean(0) == pytest.approx(0, abs=1e-9)
    spread = at_0.X.std(0)
    assert spread[spread > 0] == pytest.approx(1)
    raw = robustssl.dataset(dataset).X
    shift, scale = raw[at_0.rows].mean(0), raw[at_0.rows].std(0)
    scale[scale == 0] = 1
    at_1 = prepared.split(1.0)
    assert at_1.X_test == pytest.approx((raw[at_1.test_rows] - shift) / scale)


def test_the_same_seed_is_the_same_split_and_another_is_another():
    def rows(seed):
        prepare.cache_clear()
        return prepare("wine", "label", 5, seed).split(0.4)

    assert rows(0).digest == rows(0).digest != rows(1).digest
    # Pinned, so that no change of the code or of numpy changes published splits unnoticed.
    assert rows(0).digest.startswith("ebf9c7cd2d440a5f")


def test_rows_do_not_depend_on_how_the_dataset_is_spelled(tmp_path, monkeypatch):
    lines = ["a,b,kind", *(f"{i},{i * i},{'xy'[i % 2]}" for i in range(60))]
    (tmp_path / "mine.csv").write_text("\n".join(lines))
    monkeypatch.chdir(tmp_path)
    specs = [f"table[path={path},target=kind]" for path in ("mine.csv", tmp_path / "mine.csv")]
    one, other = (prepare(spec, "feature", 5, 0).split(0.4) for spec in specs)
    assert one.digest == other.digest
    cells = [Cell("tri_training", "feature", spec, 5, 0.4, 0) for spec in specs]
    scores = [run_group((cell,))[0].scores for cell in cells]
    assert scores[0] == scores[1]


def test_counts_are_ceilings_without_rounding_errors():
    assert count(0.2, 5) == 1
    assert count(0.6, 5) == 3  # though 0.6 * 5 may be rounded to more than 3
    assert count(0.07, 100) == 7
    assert count(0.201, 5) == 2
    assert (count(0, 9), count(1, 9)) == (0, 9)


@pytest.mark.parametrize(
    ("environment", "dataset", "labels", "message"),
    [
        (
            "distribution",
            "iris",
            13,
            "13 labels per class are too many for iris: class setosa has 25",
        ),
        (
            "feature",
            "wine",
            24,
            "class class_2 has 48 consistent rows, of which half",
        ),
        ("label", "breast_cancer", 5, "needs three; breast_cancer has 2"),
    ],
)
def test_data_that_cannot_be_split_are_refused(environment, dataset, labels, message):
    with pytest.raises(InputError, match=message):
        prepare(dataset, environment, labels, 0)


def test_the_largest_possible_number_of_labels_works():
    assert len(prepare("wine", "feature", 23, 0).pools.consistent) > 2
    with pytest.raises(InputError, match="49 are needed to leave one unlabeled row"):
        prepare("wine", "feature", 24, 0)


@pytest.mark.parametrize("environment", ["label", "distribution"])
def test_no_more_rows_are_set_aside_than_tested(environment):
    pools = prepare("digits", f"{environment}[test=20]", 5, 0).pools
    whole = prepare("digits", environment, 5, 0).pools
    assert len(pools.test) == len(pools.aside) == 20 < len(whole.aside)
    assert set(pools.aside) < set(whole.aside)
    assert len(np.unique(pools.data.y[pools.aside])) == len(np.unique(whole.data.y[whole.aside]))
