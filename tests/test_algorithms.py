"""The algorithms: right, alive, with an answer everywhere."""

import numpy as np
import pytest
import sklearn.semi_supervised
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

import robustssl
from robustssl import registry

ALGORITHMS = registry.names("algorithm")
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


@pytest.mark.parametrize("name", ALGORITHMS)
def test_is_a_good_classifier(name):
    X, hidden, y = blobs(labels=10)
    model = robustssl.estimator(name)
    before = model.get_params()
    assert model.fit(X, hidden) is model
    p = model.predict_proba(X)
    assert p.shape == (60, 3)
    assert p.sum(1) == pytest.approx(1)
    assert np.array_equal(model.predict(X), model.classes_[p.argmax(1)])
    assert np.mean(model.predict(X) == y) > 0.8
    assert model.get_params() == before
    again = clone(model).fit(X, hidden)
    assert np.array_equal(again.predict_proba(X), p)


@pytest.mark.parametrize("name", [n for n in ALGORITHMS if n.startswith(("supervised", "self"))])
def test_labels_may_be_strings(name):
    X, hidden, _ = blobs()
    words = np.array([-1 if k == -1 else f"class {k}" for k in hidden], object)
    by_word = robustssl.estimator(name).fit(X, words).predict(X)
    by_code = robustssl.estimator(name).fit(X, hidden).predict(X)
    assert np.array_equal(by_word, [f"class {k}" for k in by_code])


@pytest.mark.parametrize("name", SEMI)
def test_is_alive(name):
    """Other unlabeled rows, other predictions."""
    X, hidden, _ = blobs()
    probe = np.random.default_rng(9).uniform(-3, 8, size=(500, 2))

    def predict(seed):
        moved = np.where(hidden[:, None] == -1, blobs(seed)[0] + seed, X)
        return robustssl.estimator(name).fit(moved, hidden).predict_proba(probe)

    assert any(not np.array_equal(predict(1), predict(seed)) for seed in (2, 3, 4))


@pytest.mark.parametrize("name", SUPERVISED)
def test_a_baseline_ignores_unlabeled_rows(name):
    X, hidden, _ = blobs()
    labeled = hidden != -1
    with_all = robustssl.estimator(name).fit(X, hidden).predict_proba(X)
    alone = robustssl.estimator(name).fit(X[labeled], hidden[labeled]).predict_proba(X)
    assert np.array_equal(with_all, alone)


@pytest.mark.parametrize("name", ["label_propagation", "label_spreading"])
def test_graph_methods_are_scikit_learns_where_it_has_an_answer(name):
    X, hidden, _ = blobs()
    ours = robustssl.estimator(name)
    other = {
        "label_propagation": sklearn.semi_supervised.LabelPropagation,
        "label_spreading": sklearn.semi_supervised.LabelSpreading,
    }[name]
    theirs = other(**ours.get_params())
    probe = np.random.default_rng(1).uniform(-3, 8, size=(200, 2))
    got = ours.fit(X, hidden).predict_proba(probe)
    assert got == pytest.approx(theirs.fit(X, hidden).predict_proba(probe), abs=1e-12)


@pytest.mark.parametrize("name", ["label_propagation", "label_spreading"])
def test_far_from_everything_the_nearest_reached_point_decides(name):
    X = np.array([[0.0, 0], [1, 0], [10, 0], [11, 0], [0, 500]])
    y = np.array([0, -1, 1, -1, -1])  # no label ever reaches the last row
    model = robustssl.estimator(name).fit(X, y)
    far = np.array([[-1000.0, 0], [1000, 0], [0, 499], [11, 499]])
    p = model.predict_proba(far)
    assert np.isfinite(p).all()
    assert model.predict(far).tolist() == [0, 1, 0, 1]


def test_parameters_reach_the_models():
    X, hidden, _ = blobs()

    def p(name, **params):
        return robustssl.estimator(name, **params).fit(X, hidden).predict_proba(X)

    labeled = hidden != -1
    by_hand = LogisticRegression(C=0.01, max_iter=1000).fit(X[labeled], hidden[labeled])
    assert p("supervised_logistic", C=0.01) == pytest.approx(by_hand.predict_proba(X))
    X, hidden, _ = blobs(labels=15)
    for params in ({"n_estimators": 3}, {"max_depth": 1}, {"learning_rate": 0.01}):
        assert not np.allclose(p("supervised_xgboost"), p("supervised_xgboost", **params))
    none = p("self_training", threshold=0.999999)
    assert none == pytest.approx(p("supervised_logistic"))  # no guess is that confident
    X, hidden, _ = blobs(n=200, labels=2)
    assert not np.allclose(p("self_training", rounds=1), p("self_training"))


def test_self_training_takes_a_confident_guess_as_a_label():
    """By hand: a first fit labels the far row, a second fit includes it."""
    X = np.array([[-1.0], [1.0], [30.0]])
    y = np.array([0, 1, -1])
    got = robustssl.estimator("self_training").fit(X, y)
    by_hand = LogisticRegression(max_iter=1000).fit(X, [0, 1, 1])
    assert got.predict_proba(X) == pytest.approx(by_hand.predict_proba(X))


def test_nan_is_refused():
    X, hidden, _ = blobs()
    X[3, 1] = np.nan
    for name in ALGORITHMS:
        with pytest.raises(ValueError, match="NaN"):
            robustssl.estimator(name).fit(X, hidden)
