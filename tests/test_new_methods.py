"""Methods around others: a filter, gradient rectification; and the newest methods one by one."""

import numpy as np
import pytest
import torch
from scipy.special import logsumexp
from sklearn.linear_model import LogisticRegression

from robustssl import checks, registry
from robustssl.algorithms import _filter, sada
from robustssl.algorithms._folds import held_out, without_a_fold
from robustssl.checks._toys import blobs
from robustssl.deep import DeepClassifier, cross_entropy
from robustssl.deep.net import Net, Whole
from robustssl.errors import InputError

SMALL = {"net": "mlp[width=8]", "steps": 20, "precision": "fp64", "random_state": 0}


def strange(seed=0):
    """Blobs whose last 60 unlabeled rows lie far away, and which these are."""
    X, y, _, _ = blobs(seed)
    far = np.zeros(len(X), bool)
    far[np.flatnonzero(y < 0)[-60:]] = True
    X[far] += 20
    return X, y, far


# Filters


@pytest.mark.parametrize("by", ["knn", "adversarial"])
def test_a_filter_drops_far_rows_and_few_others(by):
    X, y, far = strange()
    keep = _filter.kept(y, _filter.distance_scores(by, X, y, 0))
    assert keep[y >= 0].all()
    assert not keep[far].any()
    assert keep[(y < 0) & ~far].mean() > 0.8


def test_a_twentieth_of_consistent_rows_is_dropped():
    dropped = []
    for seed in range(10):
        X, y, _, _ = blobs(seed)
        for scores in (
            _filter.logistic_energy(X, y),
            _filter.distance_scores("knn", X, y, seed),
            _filter.distance_scores("adversarial", X, y, seed),
        ):
            dropped.append((~_filter.kept(y, scores))[y < 0].mean())
    rates = np.reshape(dropped, (10, 3)).mean(0)
    assert (rates > 0.01).all()
    assert (rates < 0.12).all()


def test_the_threshold_is_the_95th_percentile_of_the_labeled_rows():
    codes = np.r_[np.zeros(101, int), -1, -1]
    scores = np.arange(101.0), np.array([94.9, 95.1])
    assert _filter.kept(codes, scores).tolist() == [True] * 102 + [False]


def test_the_nearest_labeled_row_of_a_labeled_row_is_another_one():
    X = np.array([[0.0], [1.0], [3.0], [10.0]])
    labeled, unlabeled = _filter.knn(X, np.array([0, 0, 1, -1]))
    assert labeled.tolist() == [1, 1, 2]
    assert unlabeled.tolist() == [7]


def test_the_energy_is_that_of_learners_that_have_not_seen_the_row():
    X, y, _, _ = blobs(3, labels=6)
    labeled, unlabeled = _filter.logistic_energy(X, y)
    parts = without_a_fold(y)
    of_all = []
    for part in parts:
        known = part >= 0
        learner = LogisticRegression(max_iter=1000).fit(X[known], part[known])
        of_all.append(-logsumexp(learner.decision_function(X), axis=1))
    for i, row in enumerate(np.flatnonzero(y >= 0)):
        (without,) = (k for k, part in enumerate(parts) if part[row] < 0)
        assert labeled[i] == pytest.approx(of_all[without][row])
    assert unlabeled == pytest.approx(np.mean(of_all, 0)[y < 0])


def test_every_label_is_hidden_once_and_never_all():
    for codes in (np.array([0, 1, -1]), np.array([0, 0, 1, 1, 2, -1]), blobs(0)[1]):
        parts = without_a_fold(codes)
        hidden = np.array([(part < 0)[codes >= 0] for part in parts])
        assert (hidden.sum(0) == 1).all()
        assert not hidden.all(1).any()
    answers = [np.full(3, 10.0), np.full(3, 20.0)]
    assert held_out(
        np.array([0, 1, -1]), without_a_fold(np.array([0, 1, -1])), answers
    ).tolist() == [
        10,
        20,
        15,
    ]


@pytest.mark.parametrize("by", ["energy", "knn", "adversarial"])
def test_a_filtered_net_is_its_base_on_the_rows_that_are_kept(by):
    X, y, far = strange()
    model = registry.estimator("filtered", base="pseudo_label[threshold=0.5]", by=by, **SMALL)
    rows, _codes = model._encode(X, y)
    kept = np.isin(X[:, 0], rows[:, 0])
    assert len(rows) == kept.sum()
    assert kept[y >= 0].all()
    assert 0 < kept[y < 0].sum() < (y < 0).sum()
    if by != "energy":  # far from all rows a net may be sure of anything
        assert not kept[far].any()
    base = registry.estimator("pseudo_label", threshold=0.5, **SMALL).fit(X[kept], y[kept])
    p = model.fit(X, y).predict_proba(X)
    assert np.abs(p - base.predict_proba(X)).max() < 1e-9


def test_a_filtered_statistical_method_is_its_base_on_the_rows_that_are_kept():
    X, y, _far = strange()
    model = registry.estimator("filtered_statistical", base="self_training[C=0.1]", by="knn")
    kept = _filter.kept(y, _filter.knn(X, y))
    base = registry.estimator("self_training", C=0.1).fit(X[kept], y[kept])
    assert np.array_equal(model.fit(X, y).predict_proba(X), base.predict_proba(X))


@pytest.mark.parametrize(
    ("spec", "baseline"),
    [
        ("filtered_statistical", "supervised_logistic"),
        ("filtered_statistical[base=self_training[C=0.1]]", "supervised_logistic[C=0.1]"),
        ("filtered_statistical[base=ssgmm]", "supervised_gaussian"),
        ("filtered[base=uda,steps=7]", "supervised_net[steps=7]"),
    ],
)
def test_the_baseline_is_that_of_the_base(spec, baseline):
    assert registry.describe(spec).baseline == baseline


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ("filtered[base=self_training]", "deep method that learns from unlabeled rows"),
        ("filtered[by=colour]", "colour"),
        ("filtered_statistical[base=fixmatch]", "for deep methods there is filtered"),
        ("filtered_statistical[base=supervised_svm]", "learns from unlabeled rows"),
        ("filtered_statistical[base=self_training[C=0]]", "C must be above 0"),
    ],
)
def test_a_wrong_filter_is_refused(spec, reason):
    X, y, _, _ = blobs(0)
    with pytest.raises(InputError, match=reason):
        registry.estimator(spec).fit(X, y)


@pytest.mark.slow
@pytest.mark.parametrize(
    "spec",
    [
        "filtered[by=knn]",
        "filtered[base=mean_teacher,by=adversarial]",
        "filtered_statistical[by=knn]",
        "filtered_statistical[base=ssgmm,by=adversarial]",
    ],
)
def test_other_filters_keep_every_contract(spec):
    assert {c: why for c, why in checks.check_algorithm(spec) if why} == {}


# Methods that wrap others


class Staged(DeepClassifier):
    """Two stages: labels, then everything; the state counts how often a loss was asked for."""

    views = ("weak",)
    stages = ("first", "loss")

    def init(self, params, shape):
        return {"seen": params.new_zeros(()), "handed": params.new_zeros(())}

    def first(self, net, params, batch, state):
        labeled = cross_entropy(net(params, batch.x), batch.y)
        return labeled, 0 * labeled, {**state, "seen": state["seen"] + 1}

    def handover(self, net, params, rows, state):
        return {**state, "handed": state["seen"]}

    def loss(self, net, params, batch, state):
        labeled = cross_entropy(net(params, batch.x), batch.y)
        pull = net(params, batch.weak).square().mean() * state["handed"]
        return labeled, pull, state


@pytest.mark.parametrize("outer", ["ggr", "filtered"])
def test_a_wrapped_method_keeps_its_stages(outer, monkeypatch):
    X, y, _, _ = blobs(1)
    model = registry.estimator(outer, base="test_new_methods:Staged", **SMALL)
    if outer == "filtered":
        monkeypatch.setattr(_filter, "kept", lambda codes, scores: np.ones(len(codes), bool))
    else:
        monkeypatch.setattr(type(model), "combine", lambda self, a, b, state: (a + b, state))
    assert model.stages == ("first", "loss")
    alone = Staged(**SMALL).fit(X, y)
    assert np.abs(model.fit(X, y).predict_proba(X) - alone.predict_proba(X)).max() < 1e-9


def test_heads_that_a_method_adds_follow_both_gradients():
    net = torch.nn.Sequential(torch.nn.Linear(2, 3))
    whole = Net(Whole(net, {"extra": torch.nn.Linear(3, 8)}), torch.float64)
    assert whole.backbone.sum() == 2 * 3 + 3
    assert Net(net, torch.float64).backbone.sum() == 2 * 3 + 3
    g_l = torch.tensor([1.0, 0, 2, 0]).double()
    g_u = torch.tensor([-1.0, 1, -2, 3]).double()
    state = {"backbone": torch.tensor([1.0, 1, 0, 0]).double()}
    added = registry.estimator("ggr").combine(g_l, g_u, state)[0] - g_l
    assert added.tolist() == [0, 1, -2, 3]


# PP-SSL


def test_the_weight_of_pp_ssl_finds_the_least_gradient():
    """For gradients that do not change, h(lambda) = |a + lambda b|^2 is least at -a.b / b.b."""
    model = registry.estimator("pp_ssl")
    for a, b, best in (
        ([1.0, 1], [-2.0, 0], 0.5),
        ([1.0, 0], [1.0, 1], 0),
        ([3.0, 0], [-1.0, 0], 1),
    ):
        a, b = torch.tensor(a).double(), torch.tensor(b).double()
        state = {"lambda": torch.zeros(()).double(), "slopes": torch.zeros(()).double()}
        for _ in range(400):
            gradient, state = model.combine(a, b, state)
        assert float(state["lambda"]) == pytest.approx(best, abs=0.01)
        assert torch.allclose(gradient, a + best * b, atol=0.05)


def test_a_teacher_of_pp_ssl_does_not_learn_its_own_fold():
    """The labels of even rows are changed: only the teacher of the odd rows' fold answers so."""
    X, y, _, _ = blobs(0)
    labels = np.flatnonzero(y >= 0)
    y[labels[::2]] = (y[labels[::2]] + 1) % 3
    model = registry.estimator("pp_ssl", net="linear", steps=150, learning_rate=0.05)
    model.stages = ("teach",)
    truth = (y[labels[1::2]], (y[labels[::2]] - 1) % 3)
    trained = model.fit(X, y).model_
    rows = X[labels]
    answers = [
        trained.answers(rows, lambda net, params, part, k=k: net.part(f"teacher{k}", params, part))
        for k in (0, 1)
    ]
    right = [
        np.mean(np.r_[answer.argmax(1)[1::2] == truth[0], answer.argmax(1)[::2] == truth[1]])
        for answer in answers
    ]
    assert right[0] > 0.8  # it learned odd rows, whose labels are right
    assert right[1] < 0.3


# Ensemble pseudo-labels


def test_voters_start_and_end_apart_and_their_votes_are_counted():
    X, y, _, _ = blobs(0)
    model = registry.estimator("ensemble_pseudo_labels", voters=3, **{**SMALL, "steps": 5})
    state = {}
    handover = type(model).handover

    def watched(self, net, params, rows, before):
        state.update(handover(self, net, params, rows, before))
        state["answers"] = [net.part(f"voter{k}", params, rows.unlabeled) for k in range(3)]
        return state

    model.handover = watched.__get__(model)
    model.fit(X, y)
    guesses = torch.stack([answer.argmax(-1) for answer in state["answers"]])
    assert (guesses[0] != guesses[1]).any()
    for row in range(guesses.shape[1]):
        counts = [int((guesses[:, row] == k).sum()) for k in range(3)]
        assert state["votes"][row].tolist() == counts


# SADA


def test_sada_without_weights_is_logistic_regression():
    for classes in (2, 3):
        X, y, probe, _ = blobs(2)
        labeled = (y >= 0) & (y < classes)
        rows = np.hstack([X, np.ones((len(X), 1))])[labeled]
        targets = np.eye(classes)[y[labeled]] / labeled.sum()
        found = sada.minimum(rows, targets, 0.5 * labeled.sum())
        plain = LogisticRegression(C=0.5, max_iter=1000).fit(X[labeled], y[labeled])
        p = sada._Linear(found).predict_proba(probe)
        assert p == pytest.approx(plain.predict_proba(probe), abs=1e-3)


def test_sada_weighs_a_guess_by_what_it_tells_of_the_score():
    """Perfect guesses get all the weight, guesses at random next to none."""
    rng = np.random.default_rng(0)
    rows, y = rng.normal(size=(4000, 3)), np.eye(3)[rng.integers(3, size=4000)]
    p, chance = np.full((4000, 3), 1 / 3), np.eye(3)[rng.integers(3, size=4000)]
    w = sada.best_weights(rows, p, y, np.stack([y, chance]))
    assert w == pytest.approx([1, 0], abs=0.03)
    half = np.where(rng.random((4000, 1)) < 0.5, y, chance)
    alone = sada.best_weights(rows, p, y, half[None])
    scores = [((p - q)[:, :, None] * rows[:, None]).reshape(4000, -1) for q in (half, y)]
    centred = [s - s.mean(0) for s in scores]
    expected = (centred[0] * centred[1]).sum() / (centred[0] ** 2).sum()
    assert alone == pytest.approx([expected], rel=1e-6)


# Co-training


def test_a_row_is_labeled_from_the_pool_alone():
    """With a pool of one row, a round labels one row at most; with a large one, one per class and
    learner.
    """
    X, y, _, _ = blobs(0)

    def labeled(pool, rounds):
        seen = []
        model = registry.estimator("co_training", pool=pool, rounds=rounds, random_state=0)
        matched = model._matched

        class Watched:
            def __init__(self, learner):
                self.learner = learner

            def fit(self, rows, codes):
                seen.append(int((codes >= 0).sum()))
                return self.learner.fit(rows, codes)

        model._matched = lambda name: Watched(matched(name))
        model.fit(X, y)
        return seen

    start = int((y >= 0).sum())
    assert labeled(1, 4)[::2] == [start, start + 1, start + 2, start + 3, start + 4]
    assert labeled(200, 1) == [start, start, start + 6, start + 6]
