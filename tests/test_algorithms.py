"""The algorithms keep the public contracts, and agree with independent implementations."""

import inspect
import itertools
import re
from typing import get_args

import numpy as np
import pytest
import sklearn.semi_supervised
from gates import EVERYTHING
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from scipy.stats import multivariate_normal, ttest_1samp
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import check_estimator

import robustssl
from robustssl import InputError, registry
from robustssl.algorithms import tsvm
from robustssl.algorithms.cast import density
from robustssl.algorithms.label_propagation import authors_gamma
from robustssl.algorithms.safe_ensemble import nearest_mixture
from robustssl.algorithms.tri_training import bootstrap, choose
from robustssl.algorithms.tsvm import switch
from robustssl.checks import _gains as against
from robustssl.checks import algorithms as contracts
from robustssl.checks._contracts import verdicts
from robustssl.checks._toys import moons
from robustssl.spec import check_options, parse, spell

ALGORITHMS = [
    n for n in registry.names("algorithm") if registry.algorithm(n).family == "statistical"
]
SUPERVISED = [n for n in ALGORITHMS if getattr(robustssl.algorithm(n), "supervised", False)]
SEMI = [n for n in ALGORITHMS if n not in SUPERVISED]


def blobs(seed=0, n=60, labels=3):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    X = rng.normal(size=(n, 2)) + 2.5 * np.array([[0, 0], [2, 0], [0, 2]])[y]
    hidden = np.full(n, -1)
    for k in range(3):
        rows = np.flatnonzero(y == k)[:labels]
        hidden[rows] = k
    return X, hidden, y


def fitted(name, X, y, **params):
    return robustssl.estimator(name, **params).fit(X, y)


# The contracts


BETTER_ON_BLOBS = {
    *("cast", "label_propagation", "label_spreading"),
    *("safe_ensemble", "self_training", "ssgmm", "tsvm"),
}
# Where not everything is tested, fewer rounds of what many rounds only repeat.
SHORT = {} if EVERYTHING else {"co_training": "co_training[rounds=10]"}
LONG = {"cast", "sada", "tri_training", "tsvm"}  # twenty fits of them take seconds


@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_algorithm_keeps_every_contract(name):
    learner = contracts.Learner(SHORT.get(name, name))
    others = [c for c in contracts.ALGORITHM if c is not contracts.is_not_worse_than_its_baseline]
    assert {c: reason for c, reason in verdicts(others, learner) if reason} == {}


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.slow] if n in LONG else []) for n in ALGORITHMS]
)
def test_none_is_worse_than_its_baseline_and_some_are_better(name):
    learner = contracts.Learner(SHORT.get(name, name))
    ((_, reason),) = verdicts([contracts.is_not_worse_than_its_baseline], learner)
    assert reason is None
    assert name not in BETTER_ON_BLOBS or against.least_gain(name, contracts.blobs) > 0


# A preset without constants of its own is the algorithm as it is, which keeps every contract.
PRESETS = [
    (n, p)
    for n in ALGORITHMS
    for p, own in registry.about("algorithm", n).presets.items()
    if own.options
]


@pytest.mark.filterwarnings("ignore:max_iter")
@pytest.mark.parametrize(("name", "preset"), PRESETS)
def test_every_preset_has_an_answer_in_every_case(name, preset):
    learner = contracts.Learner(registry.canonical("algorithm", f"{name}[preset={preset}]"))
    contracts.is_a_classifier(learner)
    contracts.has_an_answer_in_every_case(learner)
    contracts.sees_its_unlabeled_rows(learner)


@pytest.mark.parametrize(
    ("name", "contract", "sentence"),
    [
        ("Dead", "sees its unlabeled rows", "it is dead"),
        ("Dead", "differs from its baseline", "of its baseline supervised_logistic in 6 of 6"),
        ("Nosy", "sees its unlabeled rows", "unlabeled rows change its predictions"),
        ("Worse", "is not worse than its baseline", "worse than its baseline on blobs"),
        ("Forgetful", "is a classifier", "fit changes a parameter"),
        ("Fickle", "is a classifier", "a second fit with the same seed predicts something else"),
        ("Unsure", "is a classifier", "it does not predict the most probable class"),
        ("Gullible", "refuses what is not a number", "it takes nan for a number"),
        ("Fragile", "has an answer in every case", "one class: ValueError"),
        ("Illiterate", "takes labels of any type", "it predicts other values"),
        ("Orphan", "names its baseline", "it names no baseline"),
        ("Other", "names its baseline", "it does not predict what its baseline predicts"),
        ("Silent", "is a classifier", "fit does not return the estimator"),
        ("Inventive", "is a classifier", "a class that no label names"),
        ("Lavish", "is a classifier", "do not sum to 1"),
        ("Wide", "is a classifier", "have the shape (1000, 4)"),
        ("Confused", "names its baseline", "it is supervised, but names a baseline"),
        ("Circular", "names its baseline", "is not supervised"),
        ("Boundless", "refuses what is not a number", "it takes inf for a number"),
        ("Hollow", "has an answer in every case", "one feature: a probability is not finite"),
        ("Sleepy", "takes labels of any type", "with strings for labels it predicts other classes"),
        ("Slightly", "is not worse than its baseline", "worse than its baseline on blobs"),
        ("Idle", "every option does something", "options that change nothing: courage"),
        ("Timid", "every searched option does something", "values all do the same: courage"),
    ],
)
def test_a_broken_promise_is_found(name, contract, sentence):
    asked = [c for c in contracts.ALGORITHM if c.__name__ == contract.replace(" ", "_")]
    ((_, found),) = verdicts(asked, contracts.Learner(f"faulty:{name}"))
    assert sentence in (found or "")


@pytest.mark.parametrize("name", ["assemble", "label_propagation", "label_spreading"])
def test_better_on_two_moons(name):
    assert against.least_gain(name, moons) > 0


# scikit-learn's own checks. One of them uses -1 as a class, which means unlabeled here.
EXPECTED = {"check_classifiers_classes": "-1 means unlabeled here, as in sklearn.semi_supervised"}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ALGORITHMS)
def test_scikit_learns_checks(name):
    results = check_estimator(
        robustssl.estimator(name), expected_failed_checks=EXPECTED, on_fail=None, on_skip=None
    )
    assert [r["check_name"] for r in results if r["status"] == "failed"] == []
    assert len(results) > 50


@pytest.mark.parametrize("name", ALGORITHMS)
def test_works_in_a_pipeline_and_a_grid_search(name):
    X, hidden, _ = blobs()
    model = make_pipeline(StandardScaler(), robustssl.estimator(name))
    parameter = sorted(robustssl.estimator(name).get_params())[0]
    value = robustssl.estimator(name).get_params()[parameter]
    grid = {f"{model.steps[-1][0]}__{parameter}": [value]}
    search = GridSearchCV(model, grid, cv=3, error_score="raise").fit(X, hidden)
    assert set(search.predict(X)) <= {0, 1, 2}


def test_no_label_at_all_is_an_error():
    X, hidden, _ = blobs()
    for name in ALGORITHMS:
        with pytest.raises(ValueError, match="no row has a label"):
            fitted(name, X, np.full_like(hidden, -1))


# The baselines agree with the libraries that implement them


def test_the_baselines_are_what_they_are_named_for():
    from xgboost import XGBClassifier

    X, hidden, _ = blobs(labels=8)
    L, y = X[hidden != -1], hidden[hidden != -1]
    probe = np.random.default_rng(1).uniform(-3, 8, size=(200, 2))

    def p(name, **params):
        return fitted(name, X, hidden, **params).predict_proba(probe)

    logistic = LogisticRegression(C=0.1, max_iter=1000).fit(L, y)
    assert p("supervised_logistic", C=0.1) == pytest.approx(logistic.predict_proba(probe))
    trees = XGBClassifier(n_estimators=5, max_depth=2, learning_rate=0.1, tree_method="hist")
    options = {"n_estimators": 5, "max_depth": 2, "learning_rate": 0.1}
    expected = trees.fit(L, y).predict_proba(probe)
    assert p("supervised_xgboost", **options) == pytest.approx(expected, abs=1e-6)
    weights = np.exp(-2 * cdist(probe, L) ** 2) @ np.eye(3)[y]
    assert p("supervised_kernel", gamma=2.0) == pytest.approx(
        weights / weights.sum(1, keepdims=True)
    )
    machines = OneVsRestClassifier(SVC(C=15)).fit(L, y)
    assert np.array_equal(
        p("supervised_svm").argmax(1), machines.decision_function(probe).argmax(1)
    )
    joint = np.stack(
        [
            np.mean(y == k)
            * multivariate_normal(L[y == k].mean(0), np.cov(L[y == k].T, bias=True)).pdf(probe)
            for k in range(3)
        ],
        1,
    )
    expected = joint / joint.sum(1, keepdims=True)
    assert p("supervised_gaussian", shrinkage=0.0) == pytest.approx(expected, abs=1e-4)


def test_two_classes_need_one_machine():
    X, hidden, _ = blobs(labels=8)
    X, hidden = X[(hidden == 0) | (hidden == 1)], hidden[(hidden == 0) | (hidden == 1)]
    margins = SVC(C=15).fit(X, hidden).decision_function(X)
    p = fitted("supervised_svm", X, hidden).predict_proba(X)
    assert p[:, 1] == pytest.approx(1 / (1 + np.exp(-2 * margins)), abs=1e-4)


# SSGMM


def expectation_maximisation(X, y, steps):
    """One Gaussian per class, written as plain loops over rows and classes."""
    n, classes = len(X), range(3)
    g = np.array([[float(y[i] == k) for k in classes] for i in range(n)])
    used = [i for i in range(n) if y[i] != -1]
    for step in range(steps + 1):
        total = sum(g[i].sum() for i in used)
        shares = [sum(g[i][k] for i in used) / total for k in classes]
        means = [sum(g[i][k] * X[i] for i in used) / sum(g[i][k] for i in used) for k in classes]
        covariances = [
            sum(g[i][k] * np.outer(X[i] - means[k], X[i] - means[k]) for i in used)
            / sum(g[i][k] for i in used)
            for k in classes
        ]
        if step == steps:
            return np.array(shares), np.array(means)
        for i in range(n):
            if y[i] == -1:
                joint = [
                    shares[k] * multivariate_normal(means[k], covariances[k]).pdf(X[i])
                    for k in classes
                ]
                g[i] = np.array(joint) / sum(joint)
        used = range(n)
    return None


@pytest.mark.parametrize("steps", [1, 4])
def test_ssgmm_is_expectation_maximisation(steps):
    X, hidden, _ = blobs(labels=6)
    shares, means = expectation_maximisation(X, hidden, steps)
    model = fitted("ssgmm", X, hidden, shrinkage=0.0, rounds=steps, tol=0.0).model_
    assert model.shares == pytest.approx(shares, abs=1e-4)
    assert model.means == pytest.approx(means, abs=1e-3)


def test_covariances_are_shrunk_towards_the_pooled_one_and_its_diagonal():
    X, hidden, _ = blobs(labels=4)

    def covariances(**params):
        W = fitted("supervised_gaussian", X, hidden, **params).model_.whiteners
        return np.linalg.inv(np.swapaxes(W, 1, 2) @ W)

    L, y = X[hidden != -1], hidden[hidden != -1]
    own = np.stack([np.cov(L[y == k].T, bias=True) for k in range(3)])
    pooled = own.mean(0)
    target = (12 * pooled + 2 * np.diag(np.diag(pooled))) / 14  # a prior of 2 rows, 12 labels
    assert covariances() == pytest.approx((4 * own + 2 * target) / 6, rel=1e-4)
    assert covariances(covariance="tied") == pytest.approx(np.stack([target] * 3), rel=1e-4)
    assert (covariances(covariance="diag")[:, 0, 1] == 0).all()
    with pytest.raises(InputError, match="did you mean 'diag'"):
        covariances(covariance="diagonal")


# TSVM


def objective(K, signs, labeled, C):
    """The objective of the best machine for given signs, with the same C for all rows."""
    svc = SVC(kernel="precomputed", C=C, tol=1e-8).fit(K, signs)
    f = svc.decision_function(K)
    coef = np.zeros(len(K))
    coef[svc.support_] = svc.dual_coef_[0]
    return coef @ K @ coef / 2 + C * np.maximum(0, 1 - signs * f).sum()


def test_tsvm_finds_nearly_the_best_signs_there_are():
    """Compared with all assignments that have the right number of positive rows."""
    found = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X = np.vstack([rng.normal([-1, 0], 0.7, (6, 2)), rng.normal([1, 0], 0.7, (6, 2))])
        y = np.full(12, -1)
        y[[0, 1, 6, 7]] = 0, 0, 1, 1
        labeled, free = y != -1, np.flatnonzero(y == -1)
        gamma = 1 / (2 * X[labeled].var())
        K = np.exp(-gamma * cdist(X, X) ** 2)
        best, start = np.inf, None
        signs = np.where(y == 1, 1.0, -1.0)
        for positive in itertools.combinations(free, 4):
            signs[free] = -1
            signs[list(positive)] = 1
            best = min(best, objective(K, signs, labeled, 15.0))
        model = fitted("tsvm", X, y)
        signs[free] = np.where(model.predict(X[free]) == 1, 1, -1)
        plain = fitted("supervised_svm", X, y)
        first = signs.copy()
        first[free] = np.where(plain.predict(X[free]) == 1, 1, -1)
        start = objective(K, first, labeled, 15.0)
        found.append((objective(K, signs, labeled, 15.0) / best, start / best))
    ours, plain = np.array(found).T
    assert np.median(ours) < 1.02
    assert ours.mean() < plain.mean()


def test_switching_takes_the_pairs_that_gain():
    signs = np.array([1.0, 1, -1, -1, 1, -1])
    slacks = np.array([1.5, 0.2, 0.9, 1.9])  # of the last four rows
    free = np.array([2, 3, 4, 5])
    assert switch(signs, slacks, free)  # 4 (.9) and 5 (1.9) sum to more than 2
    assert signs.tolist() == [1, 1, -1, -1, -1, 1]
    assert not switch(signs, np.array([0.5, 0.5, 0.9, 1.0]), free)  # sums to 1.9
    assert not switch(signs, np.array([0.0, 0.0, 0.0, 2.5]), free)  # one slack of each pair is 0
    signs = np.array([1.0, 1, 1, -1, -1, -1])
    assert switch(signs, np.array([1.5, 1.2, 0.1, 1.6, 1.1, 1.8]), np.arange(6))
    assert signs.tolist() == [-1, -1, 1, 1, -1, 1]  # both pairs at once


def test_tsvm_keeps_the_share_of_the_positive_rows():
    X, hidden, _ = blobs(n=200, labels=5)
    X, hidden = X[hidden != 2], hidden[hidden != 2]
    model = fitted("tsvm", X, hidden, max_switches=1)
    guessed = model.predict(X[hidden == -1])
    assert np.mean(guessed == 1) == pytest.approx(0.5, abs=0.1)


# Graphs


@pytest.mark.parametrize(
    ("name", "params"), [("label_propagation", {}), ("label_spreading", {"alpha": 0.2})]
)
def test_graph_methods_on_all_rows_are_scikit_learns_in_the_limit(name, params):
    X, hidden, _ = blobs()
    other = {
        "label_propagation": sklearn.semi_supervised.LabelPropagation,
        "label_spreading": sklearn.semi_supervised.LabelSpreading,
    }[name]
    theirs = other(gamma=1.0, max_iter=1_000_000, tol=1e-13, **params).fit(X, hidden)
    ours = fitted(name, X, hidden, n_neighbors=None, gamma=1.0, **params)
    assert pytest.approx(theirs.label_distributions_, abs=1e-6) == ours.model_.F
    probe = np.random.default_rng(1).uniform(-3, 8, size=(200, 2))
    assert ours.predict_proba(probe) == pytest.approx(theirs.predict_proba(probe), abs=1e-6)


def test_labels_fall_evenly_along_a_path():
    X = np.arange(5.0)[:, None]
    y = np.array([0, -1, -1, -1, 1])
    F = fitted("label_propagation", X, y, n_neighbors=1).model_.F
    # The nearest neighbours of 0 .. 4 are 1, 0, 1, 2, 3: a path.
    assert F[:, 1] == pytest.approx([0, 0.25, 0.5, 0.75, 1], abs=1e-6)


@pytest.mark.parametrize("alpha", [0.2, 0.99])
def test_the_sparse_system_is_solved(alpha):
    X, hidden, _ = blobs(n=200)
    W = np.zeros((200, 200))
    nearest = np.argsort(cdist(X, X) + 1e9 * np.eye(200), 1)[:, :7]
    W[np.arange(200)[:, None], nearest] = 1
    W = np.maximum(W, W.T)
    root = 1 / np.sqrt(W.sum(1))
    Y = (hidden[:, None] == np.arange(3)).astype(float)
    F = np.linalg.solve(np.eye(200) - alpha * root[:, None] * W * root, (1 - alpha) * Y)
    F /= F.sum(1, keepdims=True)
    got = fitted("label_spreading", X, hidden, alpha=alpha).model_.F
    assert got == pytest.approx(F, abs=1e-5)
    L = hidden != -1
    walk = W / W.sum(1, keepdims=True)
    F = np.linalg.solve(np.eye((~L).sum()) - walk[np.ix_(~L, ~L)], walk[np.ix_(~L, L)] @ Y[L])
    got = fitted("label_propagation", X, hidden).model_.F
    assert got[~L] == pytest.approx(F, abs=1e-4)


def test_rows_that_are_not_connected_to_a_label_have_no_vote():
    X = np.array([[0.0], [1], [100], [101], [200], [201]])
    y = np.array([0, -1, 1, -1, -1, -1])
    F = fitted("label_propagation", X, y, n_neighbors=1).model_.F
    assert F.tolist() == [[1, 0], [1, 0], [0, 1], [0, 1], [0, 0], [0, 0]]
    assert fitted("label_propagation", X, y, n_neighbors=1).predict([[199.0]]) == [1]


@pytest.mark.parametrize("name", ["label_propagation", "label_spreading"])
def test_far_from_everything_the_nearest_row_with_a_vote_decides(name):
    X = np.array([[0.0, 0], [1, 0], [10, 0], [11, 0], [0, 500]])
    y = np.array([0, -1, 1, -1, -1])  # no label ever reaches the last row
    model = fitted(name, X, y, n_neighbors=None, gamma=1.0)
    far = np.array([[-1000.0, 0], [1000, 0], [0, 499], [11, 499]])
    assert np.isfinite(model.predict_proba(far)).all()
    assert model.predict(far).tolist() == [0, 1, 0, 1]


def test_the_authors_gamma_is_of_the_first_edge_that_joins_labels():
    X = np.array([[0.0], [1], [2], [5], [7]])
    codes = np.array([0, -1, -1, 1, 1])  # the tree's edges: 1, 1, 2 (within class 1), 3
    assert authors_gamma(X, codes) == pytest.approx(9 / 3**2)


# Tri-Training


@pytest.mark.parametrize(
    ("agreed", "e", "last", "size", "expected"),
    [
        (10, 0.5, 0.5, 0, 0),  # no better than last time
        (10, 0.0, 0.5, 0, 10),  # l' = floor(0 + 1) = 1 < 10, and 0 < .5
        (10, 0.1, 0.5, 0, 4),  # l' = floor(.25 + 1) = 1; 1 >= .5; 1 > .25; ceil(.5 / .1 - 1)
        (10, 0.2, 0.3, 9, 10),  # 2 < 2.7
        (10, 0.2, 0.3, 2, 0),  # 2 >= .6, and 2 is not more than .2 / .1
        (10, 0.2, 0.3, 5, 7),  # 2 >= 1.5; 5 > 2; ceil(1.5 / .2 - 1) = 7
        (3, 0.1, 0.5, 3, 0),  # not more rows than last time
    ],
)
def test_tri_training_learns_from_as_many_rows_as_the_bound_allows(agreed, e, last, size, expected):
    rows = choose(np.arange(agreed), e, last, size, np.random.RandomState(0))
    assert len(rows) == len(set(rows)) == expected


def test_a_bootstrap_misses_no_class():
    y = np.array([0] * 20 + [1] + [2] * 3)
    rows = bootstrap(y, np.random.RandomState(0))
    assert np.bincount(y[rows]).tolist() == [20, 1, 3]
    assert len(set(rows[:20])) < 20


def test_the_majority_answers():
    X, hidden, _ = blobs(labels=8)
    model = fitted("tri_training", X, hidden, random_state=0, svms=2)
    probe = np.random.default_rng(1).uniform(-3, 8, size=(500, 2))
    votes = np.stack([m.predict(probe) for m in model.model_.learners])
    counts = (votes[..., None] == np.arange(3)).sum(0)
    sure = counts.max(1) > 1
    assert np.array_equal(model.predict(probe)[sure], counts.argmax(1)[sure])
    kinds = [type(m).__name__ for m in model.model_.learners]
    assert kinds == ["SupervisedXGBoost", "SupervisedSVM", "SupervisedSVM"]


# ASSEMBLE


def test_assemble_is_boosting_with_its_own_labels():
    """Two classes, computed step by step with F as a signed margin."""
    noise = np.random.default_rng(3)
    X = noise.normal(size=(230, 2))
    hidden = np.where(np.arange(230) < 30, (X[:, 0] + noise.normal(size=230) > 0).astype(int), -1)
    labeled = hidden != -1
    model = fitted("assemble", X, hidden, rounds=6, random_state=0)
    y = np.where(labeled, hidden, 0)
    nearest = KNeighborsClassifier(3).fit(X[labeled], hidden[labeled])
    y[~labeled] = nearest.predict(X[~labeled])
    D = np.full(230, 1 / 230)
    F, first = np.zeros(len(X)), y.copy()
    for weight, tree in model.model_.learned:
        f = 2 * tree.predict(X) - 1
        error = max(D[f != 2 * y - 1].sum(), 1e-10)
        assert weight == pytest.approx(0.5 * np.log((1 - error) / error))
        F += weight * f
        y[~labeled] = F[~labeled] > 0
        D = np.exp(-(2 * y - 1) * F)
        D /= D.sum()
    p = model.predict_proba(X)
    assert p[:, 1] == pytest.approx(1 / (1 + np.exp(-2 * F)), abs=1e-9)
    assert len({weight for weight, _ in model.model_.learned}) > 1
    assert not np.array_equal(y, first)  # the ensemble has changed labels


# Self-training, co-training, CAST


def test_self_training_takes_a_confident_guess_as_a_label():
    """Computed by hand: the first fit labels the far row, the second fit includes it."""
    X = np.array([[-1.0], [1.0], [30.0]])
    y = np.array([0, 1, -1])
    by_hand = LogisticRegression(max_iter=1000).fit(X, [0, 1, 1])
    got = fitted("self_training", X, y).predict_proba(X)
    assert got == pytest.approx(by_hand.predict_proba(X))
    X, hidden, _ = blobs()
    none = fitted("self_training", X, hidden, threshold=0.999999).predict_proba(X)
    assert none == pytest.approx(fitted("supervised_logistic", X, hidden).predict_proba(X))


def test_co_training_learns_what_either_learner_is_surest_of():
    X = np.array([[-1.0, -1], [1, 1], [-5, 0.1], [0.1, 4], [0.2, 0.3]])
    y = np.array([0, 1, -1, -1, -1])
    order = np.random.RandomState(0).permutation(2)
    model = fitted("co_training", X, y, rounds=1, random_state=0).model_

    def fit(column):
        known = y >= 0
        return LogisticRegression(max_iter=1000).fit(X[known][:, [column]], y[known])

    for teacher, column in [(fit(column), column) for column in order]:
        free = np.flatnonzero(y < 0)
        p = teacher.predict_proba(X[free][:, [column]])
        for k in (0, 1):
            if (p.argmax(1) == k).any():
                y[free[max(np.flatnonzero(p.argmax(1) == k), key=lambda i: p[i, k])]] = k
    product = np.prod([fit(column).predict_proba(X[:, [column]]) for column in order], axis=0)
    got = model.predict_proba(X)
    assert got == pytest.approx(product / product.sum(1, keepdims=True), abs=1e-6)


def test_cast_weighs_a_guess_by_the_density_of_its_class():
    X, hidden, _ = blobs(labels=5)
    L, y, U = X[hidden != -1], hidden[hidden != -1], X[hidden == -1]
    width = 5 ** (-1 / (2 + 4))  # Scott's rule, five rows in two dimensions
    d = np.stack(
        [np.exp(-(cdist(X, L[y == k]) ** 2) / (2 * width**2)).mean(1) for k in range(3)], 1
    )
    expected = (d - d.min(0)) / (d.max(0) - d.min(0))
    assert density(X, hidden) == pytest.approx(expected)
    trees = fitted("supervised_xgboost", X, hidden)
    trust = expected[hidden == -1] ** 0.5
    for taken in (0.5, 1.0):  # the better half of the guesses, then all
        scores = trees.predict_proba(U) * trust
        surest = np.argsort(-scores.max(1))[: round(taken * len(U))]
        taught = hidden.copy()
        taught[np.flatnonzero(hidden == -1)[surest]] = scores.argmax(1)[surest]
        trees = fitted("supervised_xgboost", X, taught)
    found = fitted("cast", X, hidden, rounds=2, alpha=0.5).predict_proba(X)
    assert found == pytest.approx(trees.predict_proba(X))


# The safe ensemble


def distributions(shape):
    return st.lists(st.floats(0.01, 1), min_size=shape[0] * shape[1], max_size=shape[0] * shape[1])


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10_000), distributions((1, 3)))
def test_a_mixture_is_no_farther_from_a_truth_that_is_a_mixture(seed, shares):
    rng = np.random.default_rng(seed)
    guesses = list(rng.dirichlet(np.ones(3), (3, 20)))
    baseline = rng.dirichlet(np.ones(3), 20)
    truth = sum(a * g for a, g in zip(np.array(shares) / sum(shares), guesses, strict=True))
    found = nearest_mixture(baseline, guesses)
    assert found.sum() == pytest.approx(1)
    assert (found >= 0).all()
    safe = sum(a * g for a, g in zip(found, guesses, strict=True))
    assert np.sum((safe - truth) ** 2) <= np.sum((baseline - truth) ** 2) + 1e-9


def test_the_mixture_is_the_nearest_one():
    rng = np.random.default_rng(0)
    guesses, p = list(rng.dirichlet(np.ones(2), (3, 30))), rng.dirichlet(np.ones(2), 30)

    def distance(shares):
        return np.sum((sum(a * g for a, g in zip(shares, guesses, strict=True)) - p) ** 2)

    grid = np.linspace(0, 1, 101)
    least = min(distance((a, b, 1 - a - b)) for a in grid for b in grid if a + b <= 1)
    assert distance(nearest_mixture(p, guesses)) <= least + 1e-9


def test_the_safe_ensemble_mixes_its_members():
    X, hidden, _ = contracts.blobs(2, rows=150, labels=5, test=1)[:3]
    model = fitted("safe_ensemble", X, hidden).model_
    p = sum(a * m.predict_proba(X) for a, m in zip(model.shares, model.learners, strict=True))
    assert fitted("safe_ensemble", X, hidden).predict_proba(X) == pytest.approx(p)
    baseline = fitted("supervised_logistic", X, hidden).predict_proba(X[hidden == -1])
    guesses = [m.predict_proba(X[hidden == -1]) for m in model.learners]
    assert model.shares == pytest.approx(nearest_mixture(baseline, guesses))
    assert (model.shares > 0.01).sum() > 1
    names = [type(m).__name__ for m in model.learners]
    assert names == ["SelfTraining", "LabelSpreading", "SSGMM"]


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("label_spreading[alpha=1]", "alpha must be at least 0 and below 1, got 1"),
        (
            "label_spreading[n_neighbors=0]",
            "n_neighbors must be a whole number of at least 1, got 0",
        ),
        ("label_spreading[n_neighbors=2.5]", "must be a whole number of at least 1, got 2.5"),
        ("label_spreading[gamma=null]", "gamma must be above 0, got None"),
        ("label_spreading[gamma=wide]", "gamma must be above 0, got 'wide'"),
        ("label_propagation[steps=1.5]", "steps must be a whole number of at least 1, got 1.5"),
        ("tsvm[max_switches=0]", "max_switches must be a whole number of at least 1, got 0"),
        ("tsvm[C=-1]", "C must be above 0, got -1"),
        ("ssgmm[shrinkage=-1]", "shrinkage must be at least 0, got -1"),
        ("ssgmm[covariance=3]", "unknown covariance '3'; there is: diag, full, tied"),
        ("tri_training[svms=4]", "svms must be a whole number of at least 0 and at most 3, got 4"),
        ("assemble[beta=1]", "beta must be above 0 and below 1, got 1"),
        ("assemble[base=trees]", "unknown base 'trees'; did you mean 'tree'?"),
        ("self_training[threshold=nan]", "threshold must be at least 0 and below 1, got nan"),
        ("co_training[additions=0]", "additions must be a whole number of at least 1, got 0"),
        ("cast[rounds=0]", "rounds must be a whole number of at least 1, got 0"),
    ],
)
def test_options_out_of_range_are_refused(spec, sentence):
    name, options = parse(spec)
    X, hidden, _ = blobs()
    with pytest.raises(ValueError, match=re.escape(sentence)):
        robustssl.estimator(name, **options).fit(X, hidden)


# Options that are neither numbers nor one of a few words.
SPECS = {"random_state", "net", "device", "ggr base", "filtered base", "filtered_statistical base"}


def is_refused(kind, options):
    try:
        check_options(kind, options)
    except InputError:
        return True
    return False


@pytest.mark.parametrize("name", registry.names("algorithm"))
def test_every_option_says_which_values_it_may_have(name):
    for option in registry.defaults("algorithm", name):
        if not {option, f"{name} {option}"} & SPECS:
            words = f"annotate {option} of {name} with a Range (see robustssl.spec) or a Literal"
            assert is_refused(registry.algorithm(name), {option: object()}), words


@pytest.mark.parametrize("name", registry.names("algorithm"))
def test_defaults_and_presets_are_within_their_ranges(name):
    for preset in (None, *registry.about("algorithm", name).presets):
        registry.estimator(name, preset=preset)._check_options()
    for budget in getattr(registry.algorithm(name), "budgets", ()):
        registry.estimator(name, budget=budget)._check_options()


def test_a_string_is_not_the_number():
    X, hidden, _ = blobs()
    for y in (
        ["a" if k == 0 else str(k) for k in hidden],
        [-1 if k < 0 else "abc"[k] for k in hidden],
    ):
        with pytest.raises(ValueError, match="the string '-1'"):
            fitted("self_training", X, y)


def test_gaussians_do_not_depend_on_units():
    X, hidden, _ = blobs(labels=8)
    for name in ("supervised_gaussian", "ssgmm"):
        plain = fitted(name, X, hidden).predict(X)
        for units in ([1e4, 1], [1e-8, 1e-8], [1e8, 1e-3]):
            assert np.mean(fitted(name, X * units, hidden).predict(X * units) != plain) < 0.02


def test_graph_methods_work_with_fewer_rows_than_neighbours():
    X, y = np.array([[0.0], [0.1], [5.0], [5.1]]), np.array([0, -1, 1, -1])
    for name in ("label_propagation", "label_spreading"):
        assert fitted(name, X, y).predict([[0.05], [5.05]]).tolist() == [0, 1]


def test_costs_of_both_signs_end_at_the_same_level(monkeypatch):
    """C_u of positive and of negative guesses double up to C; the smaller one arrives later."""
    seen = []

    def remember(kernel, signs, C, tol):
        seen.append((C.copy(), signs.copy()))
        return real(kernel, signs, C, tol)

    real = tsvm.machine
    monkeypatch.setattr(tsvm, "machine", remember)
    X, hidden, _ = blobs(n=90, labels=4)
    fitted("tsvm", X, hidden, C=1.0, C_u=0.1)
    free = hidden == -1
    levels = [(C[free & (s > 0)].max(), C[free & (s < 0)].max()) for C, s in seen if len(C) == 90]
    assert levels[0] == (pytest.approx(0.05), pytest.approx(0.1))  # a third is positive
    assert (1.0, 1.0) in levels
    assert max(map(max, levels)) == 1.0


# Options

NUMBERS = (1, 3, 9, 0.01, 0.5, 0.9, 9.0)  # every numeric option may have some of them


def other_values(name, option):
    """Values that an option may have, other than its default."""
    parameter = inspect.signature(registry.algorithm(name)).parameters[option]
    if option == "base" and parameter.annotation is str:
        yield "ssgmm"
        return
    for value in (*NUMBERS, *get_args(parameter.annotation)):
        if value != parameter.default and not is_refused(registry.algorithm(name), {option: value}):
            yield value


OPTIONS = [
    (name, option)
    for name in ALGORITHMS
    for option in registry.defaults("algorithm", name)
    if option != "random_state"
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "option"), OPTIONS)
def test_every_option_has_an_effect(name, option):
    needs = {
        ("label_propagation", "gamma"): {"n_neighbors": None},
        ("label_propagation", "steps"): {"n_neighbors": None, "gamma": 1.0},
        ("label_propagation", "tol"): {"n_neighbors": None, "gamma": 1.0, "steps": 100},
        ("label_spreading", "gamma"): {"n_neighbors": None},
    }.get((name, option), {})
    seed = {"random_state": 0} if "random_state" in registry.defaults("algorithm", name) else {}

    def p(task, **params):
        X, y, probe, _ = contracts.blobs(task, rows=150, labels=8, test=300)
        return fitted(name, X, y, **needs, **seed, **params).predict_proba(probe)

    assert any(
        not np.array_equal(p(task), p(task, **{option: value}))
        for value in other_values(name, option)
        for task in range(4)
    ), f"no value of {option} changes a prediction; does it depend on another option, in `needs`?"


def test_a_learner_has_the_options_that_it_shares_with_its_baseline():
    X, hidden, _ = blobs(labels=8)
    L, y = X[hidden != -1], hidden[hidden != -1]
    for name, options in (("cast", {"n_estimators": 2}), ("self_training", {"C": 0.01})):
        baseline = registry.matched_baseline(spell(name, options))
        alone = fitted(parse(baseline)[0], L, y, **options).predict_proba(X)
        assert np.array_equal(fitted(name, L, y, **options).predict_proba(X), alone)
        plain = fitted(parse(baseline)[0], L, y).predict_proba(X)
        assert not np.array_equal(alone, plain)


def test_the_least_gain_is_the_end_of_a_one_sided_interval(monkeypatch):
    rng = np.random.default_rng(0)
    gains = rng.normal(0.02, 0.03, 20)

    class Scored:
        def __init__(self, spec):
            self.gains = gains if spec == "self_training" else 0 * gains

        def fit_all(self, problems):
            return [(Scorer(0.5 + gain), None) for gain in self.gains[: len(problems)]]

    class Scorer:
        def __init__(self, right):
            self.right = right

        def predict(self, X):
            return np.arange(100_000) >= self.right * 100_000

    monkeypatch.setattr(against, "Learner", Scored)
    bound = against.least_gain("self_training", lambda _: (0, 0, 0, np.zeros(100_000, bool)))
    expected = ttest_1samp(gains, 0).confidence_interval(0.90).low
    assert bound == pytest.approx(expected, abs=1e-4)
    monkeypatch.undo()
    assert against.MARGIN == 0.01


def test_tri_training_starts_from_bootstraps_and_remembers_its_rounds():
    X, hidden, _ = blobs(n=120, labels=10)
    first = fitted("tri_training", X, hidden, random_state=0).model_.learners
    alone = fitted("supervised_xgboost", X, hidden, random_state=0).predict_proba(X)
    assert any(not np.array_equal(m.predict_proba(X), alone) for m in first)
    rows = choose(np.arange(50), 0.1, 0.2, 40, np.random.RandomState(0))
    assert len(rows) == 50  # .1 * 50 < .2 * 40


def test_the_first_guess_of_tsvm_is_the_rows_with_the_largest_margins(monkeypatch):
    seen = []

    def remember(kernel, signs, C, tol):
        seen.append(signs.copy())
        return real(kernel, signs, C, tol)

    real = tsvm.machine
    monkeypatch.setattr(tsvm, "machine", remember)
    X, hidden, _ = blobs(n=90, labels=4)
    X, hidden = X[hidden != 2], hidden[hidden != 2]
    fitted("tsvm", X, hidden)
    free, L = hidden == -1, hidden != -1
    margins = SVC(C=15, gamma=1 / (2 * X[L].var())).fit(X[L], hidden[L]).decision_function(X[free])
    first = next(signs for signs in seen if len(signs) == len(X))[free]
    assert first.sum() == pytest.approx(0, abs=1)
    assert margins[first > 0].min() >= margins[first < 0].max() - 1e-3


def test_a_vote_among_several_classes_weighs_more():
    """SAMME adds log(K - 1) to the weight, so a learner only has to beat chance, 1 / K."""
    X, hidden, _ = contracts.blobs(0, rows=150, labels=15, test=1)[:3]
    weight, tree = fitted("supervised_boosting", X, hidden, random_state=0).model_.learned[0]
    L, y = X[hidden != -1], hidden[hidden != -1]
    error = max(np.mean(tree.predict(L) != y), 1e-10)
    assert weight == pytest.approx((np.log((1 - error) / error) + np.log(2)) / 2)
