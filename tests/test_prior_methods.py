"""Methods for class shares that differ between labeled and unlabeled rows: ACR and CPG."""

import numpy as np
import pytest
import torch
from gates import EVERYTHING
from test_deep import is_a_plain_loop, rows

from robustssl import registry
from robustssl.algorithms import acr, cpg
from robustssl.data import UNLABELED
from robustssl.deep.inputs import inputs_of
from robustssl.deep.together import Training
from robustssl.deep.train import train
from robustssl.deep.types import Rows
from robustssl.splits import prepare


@pytest.fixture(autouse=True)
def _one_thread_of_the_processor():
    torch.set_num_threads(1)


def with_a_tail(seed, unlabeled):
    """Three clusters with 5, 3 and 1 labels, not in this order."""
    X, y = rows(seed, unlabeled)
    y[np.flatnonzero(y == 0)[3:]] = UNLABELED
    y[np.flatnonzero(y == 2)[1:]] = UNLABELED
    return X, y


@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("acr", {"threshold": 0.6, "start": 0.2, "learning_rate": 0.1, "steps": 25}),
        ("acr", {"threshold": 0.5, "start": 0.0, "epochs": 4, "memory": 0.5, "steps": 25}),
        ("cpg", {"start": 0.2, "ratio": 1, "learning_rate": 0.2, "steps": 25}),
        (
            "cpg",
            {"start": 0.1, "period": 0.1, "votes": 2, "ratio": 2, "threshold": 0.5, "steps": 40},
        ),
    ],
)
def test_they_are_plain_loops_where_labels_have_a_tail(name, more, optimizer):
    is_a_plain_loop(name, more, optimizer, *with_a_tail(7, 20))


def clusters(seed, labels, unlabeled):
    """Rows of clusters that are well apart, with so many labels and unlabeled rows of each class;
    and the classes of the unlabeled rows.
    """
    rng = np.random.default_rng(seed)
    centres = 2.5 * rng.normal(size=(len(labels), 8))
    truth = np.concatenate([np.repeat(np.arange(len(labels)), n) for n in (labels, unlabeled)])
    y = truth.copy()
    y[sum(labels) :] = UNLABELED
    return centres[truth] + rng.normal(size=(len(truth), 8)), y, truth[y == UNLABELED]


def state_after(name, X, y, **options):
    """The state of a method at the end of its training."""
    model = registry.estimator(name, random_state=0, device="cpu", **options)
    encoded, codes = model._encode(X, y)
    training = Training(model, inputs_of(encoded), len(model.classes_))
    stack = training.stack([model._problem(encoded, codes)])
    train(stack)
    return {key: value[0] for key, value in stack.state.items()}


TAIL, EVEN = [40, 8, 20, 4], [100, 100, 100, 100]
SAME, REVERSED = [200, 40, 100, 20], [20, 100, 40, 200]


def test_acr_adjusts_more_the_less_the_unlabeled_rows_resemble_the_labels():
    strengths = []
    for unlabeled in (SAME, EVEN, REVERSED):
        X, y, truth = clusters(1, TAIL, unlabeled)
        state = state_after("acr", X, y)
        assert torch.allclose(state["labels"], torch.tensor(TAIL) / sum(TAIL))
        shares = np.bincount(truth) / len(truth)
        order = np.argsort(shares) if unlabeled is not EVEN else []
        estimated = state["shares"].numpy()
        assert estimated.sum() == pytest.approx(1, abs=1e-5)
        if len(order):
            assert estimated[order[-1]] > estimated[order[0]]
        strengths.append(float(state["strength"]))
    assert 0 < strengths[0] < strengths[1] < strengths[2] < 2


def test_acr_adjusts_nothing_if_labels_have_equal_shares():
    X, y, _ = clusters(2, [10] * 4, SAME)
    answers = [
        registry.estimator("acr", tau=tau, random_state=0, steps=60, precision="fp64")
        .fit(X, y)
        .predict_proba(X)
        for tau in (0.0, 2.0)
    ]
    assert np.abs(answers[0] - answers[1]).max() < 1e-9


def test_reversed_shares_exchange_the_largest_and_the_smallest():
    shares = torch.tensor([0.1, 0.4, 0.2, 0.3])
    assert acr.reverse(shares).tolist() == pytest.approx([0.4, 0.1, 0.3, 0.2])
    apart = acr.divergence(shares, torch.stack([shares, acr.reverse(shares)]))
    assert apart[0] == 0 < apart[1]


@pytest.mark.parametrize("unlabeled", [SAME, REVERSED])
def test_cpg_selects_rows_of_every_class_and_knows_how_many(unlabeled):
    X, y, truth = clusters(1, TAIL, unlabeled)
    state = state_after("cpg", X, y)
    chosen = (state["targets"].sum(-1) > 0).numpy()
    labels = state["targets"].argmax(-1).numpy()
    assert state["labels"].tolist() == TAIL
    assert state["selected"].tolist() == np.bincount(labels[chosen], minlength=4).tolist()
    assert chosen.mean() > 0.5
    assert (labels == truth)[chosen].mean() > 0.9
    assert np.argmax(unlabeled) == state["selected"].argmax()


def test_labeled_and_selected_rows_count_as_if_drawn_together():
    target = torch.tensor([[1.0, 0], [0, 1], [0, 0], [0.9, 0.1], [0, 1], [0, 0]])
    state = {"labels": torch.tensor([3.0, 1]), "selected": torch.tensor([5.0, 7])}
    weight = cpg.drawn_together(target, 2, state)
    assert weight.tolist() == pytest.approx([1 / 8, 1 / 8, 0, 3 / 8, 3 / 8, 0])
    none = {**state, "selected": torch.zeros(2)}
    assert cpg.drawn_together(target * 0, 2, none).tolist() == [0.5, 0.5, 0, 0, 0, 0]


@pytest.mark.parametrize("environment", ["prior", "prior[labeled=tail]"])
def test_acr_estimates_what_the_environment_changes(environment):
    """The strength grows with t if the labels have a tail, and is a third of tau otherwise."""
    strengths = {0.0: [], 1.0: []}
    for seed in range(3 if EVERYTHING else 1):
        prepared = prepare("digits", environment, 20, seed)
        for t, found in strengths.items():
            split = prepared.split(t)
            found.append(float(state_after("acr", split.X, split.y)["strength"]))
    if environment == "prior":
        assert [*strengths[0.0], *strengths[1.0]] == pytest.approx(
            [2 / 3] * 2 * len(strengths[0.0]), abs=1e-6
        )
    else:
        assert np.mean(strengths[1.0]) > np.mean(strengths[0.0])


def test_a_row_is_selected_with_the_shares_of_its_guesses():
    votes = torch.tensor([[6.0, 1, 0], [4, 1, 0], [0, 0, 1], [0, 0, 0]])
    model = registry.estimator("cpg")
    labels = {"x": torch.zeros(3, 2), "y": torch.tensor([1, 2, 0]), "labels": torch.tensor(2)}
    rows = Rows(**labels, unlabeled=torch.zeros(4, 2), count=torch.tensor(4))
    state = {"votes": votes, "targets": 0 * votes, "labels": votes[3], "selected": votes[3]}
    after = model.refresh(None, torch.zeros(1), rows, state)
    assert after["targets"].flatten().tolist() == pytest.approx(
        [6 / 7, 1 / 7, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0]
    )
    assert after["votes"].tolist() == [[1, 0, 0], [0, 0, 0], [0, 0, 1], [0, 0, 0]]
    assert after["selected"].tolist() == [1, 0, 1]
    assert after["labels"].tolist() == [0, 1, 1]  # the third labeled row is padding
