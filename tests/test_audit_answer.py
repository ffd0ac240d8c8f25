"""The answer of an audit: what is measured, what is believed, and what is said of it."""

import importlib
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics
from sklearn.datasets import load_wine
from sklearn.naive_bayes import GaussianNB

import robustssl
from robustssl import InputError
from robustssl.analysis.decisions import labels_to_see, sign_seen
from robustssl.analysis.interval import Interval
from robustssl.audits import bench as benches
from robustssl.audits import gains as gains_
from robustssl.audits import of_frames
from robustssl.audits.advice import advise
from robustssl.audits.audit import _majority, _weights
from robustssl.audits.bench import Bench, _part, bench_of, folds_of
from robustssl.audits.choice import luck_of, score_of_best
from robustssl.audits.evidence import Evidence, evidence_of
from robustssl.audits.gains import Gains, by_labels, by_share, measure
from robustssl.audits.keeping import keeping
from robustssl.audits.learners import BASELINES, METHODS, own_model
from robustssl.audits.model import Model
from robustssl.audits.model_file import save_model
from robustssl.audits.page import gains_of
from robustssl.audits.scores import SCORES, score_of
from robustssl.audits.trials import Trained, train
from robustssl.audits.verdict import MARGIN, PRIOR, answer_of, believed, believed_gain, judge
from robustssl.audits.worth import in_labels


def wine(n=178):
    frame = load_wine(as_frame=True).frame.rename(columns={"target": "cultivar"})
    return frame.sample(n, random_state=0)


def pair_of(frame, **how):
    return of_frames(frame[::2], frame[1::2].drop(columns="cultivar"), "cultivar", **how)


# Scores


def test_scores_are_those_of_scikit_learn_and_weights_count_rows():
    rng = np.random.default_rng(0)
    P, y = rng.dirichlet(np.ones(3), 40).round(1) + 0.01, rng.integers(3, size=40)
    P /= P.sum(1, keepdims=True)  # with ties
    counts = rng.integers(4, size=40)
    P_, y_ = np.repeat(P, counts, axis=0), np.repeat(y, counts)
    expected = {
        "accuracy": metrics.accuracy_score(y_, P_.argmax(1)),
        "balanced_accuracy": metrics.balanced_accuracy_score(y_, P_.argmax(1)),
        "auroc": metrics.roc_auc_score(y_, P_, multi_class="ovr", average="macro"),
        "log_loss": -metrics.log_loss(y_, P_),
    }
    assert expected.keys() == SCORES.keys()
    W = np.stack([np.ones(40), counts])
    assert {name: score_of(name, y, P, W)[1] for name in SCORES} == pytest.approx(expected)


def test_a_class_without_a_row_has_no_part_in_a_score():
    y, P = np.array([0, 0, 1, 1, 2]), np.eye(3)[[0, 1, 1, 1, 0]]
    W = np.array([[1.0, 1, 1, 1, 0]])
    assert score_of("balanced_accuracy", y, P, W) == pytest.approx([0.75])
    assert score_of("auroc", y, P, W) == pytest.approx([0.75])
    assert np.isnan(score_of("auroc", y, P, np.array([[1.0, 1, 0, 0, 0]])))


# The best of several


def lucky(rng, n, accuracies):
    """Learners that err independently, with the same accuracies in both repeats."""
    held = {}
    for k, accuracy in enumerate(accuracies):
        right = rng.random(n) < accuracy
        held[f"learner{k}"] = np.stack([np.stack([right, ~right], 1)] * 2).astype(float)
    return Gains(np.zeros(n, int), held, {}, tuple(held), ())


@pytest.mark.parametrize(("n", "accuracy"), [(30, 0.7), (100, 0.9)])
def test_the_interval_of_the_best_of_several_holds_its_accuracy(n, accuracy):
    rng, within, bias, naive = np.random.default_rng(0), [], [], []
    for _ in range(60):
        gains = lucky(rng, n, [accuracy] * 5)
        found = score_of_best(gains, gains.baselines)
        within.append(found.low <= accuracy <= found.high)
        bias.append(found.estimate - accuracy)
        naive.append(gains.mean(gains.alone) - accuracy)
    assert np.mean(within) >= 0.9
    assert abs(np.mean(bias)) < 0.01
    assert np.mean(naive) > 0.03  # without the correction


def test_a_score_of_one_has_an_interval():
    found = score_of_best(lucky(np.random.default_rng(0), 50, [1.0]), ["learner0"])
    assert (found.estimate, found.high) == (1, 1)
    assert found.low == pytest.approx(0.05 ** (1 / 50))


# Evidence and belief


def two(n=40, differ=0, asked=0.0, score="accuracy", better=True):
    """A baseline that is wrong in some rows in which a method is right, or the other way round; and
    the share of unlabeled rows that they answer differently.
    """
    right, wrong = np.eye(2)[np.zeros(n, int)], np.eye(2)[(np.arange(n) < differ).astype(int)]
    mine, theirs = (right, wrong) if better else (wrong, right)
    answers = (np.arange(100) < 100 * asked).astype(int)
    return Gains(
        np.zeros(n, int),
        {"base": np.stack([theirs] * 2), "method": np.stack([mine] * 2)},
        {"base": np.zeros((10, 100), int), "method": np.stack([answers] * 10)},
        ("base",),
        ("method",),
        score,
    )


def test_where_no_row_differs_a_gain_still_has_an_error():
    """At the ceiling, an interval without a width was shown."""
    found = evidence_of(two(40), "method")
    assert found.gain == 0
    assert found.error > 0.02
    verdict = judge(two(40, asked=0.1))
    assert verdict.measured.low == pytest.approx(-(1 - 0.05 ** (1 / 40)))
    assert verdict.gain.low < -0.01 < 0.01 < verdict.gain.high
    assert verdict.answer == "cannot tell"


def test_the_luck_of_the_chosen_baseline_is_given_back_to_a_method_that_does_not_share_it():
    gains = lucky(np.random.default_rng(1), 40, [0.7] * 5)
    other = np.random.default_rng(0).integers(2, size=(5, 10, 50))
    answers = {name: other[k] for k, name in enumerate(gains.baselines)}
    P = {**gains.held, "same": gains.held[gains.alone], "far": gains.held[gains.alone]}
    answers |= {"same": answers[gains.alone], "far": 1 - answers[gains.alone]}
    both = Gains(gains.y, P, answers, gains.baselines, ("same", "far"))
    assert luck_of(both) > 0.02
    assert evidence_of(both, "same").gain == 0
    assert evidence_of(both, "far").gain == pytest.approx(luck_of(both))
    assert luck_of(two(40)) == 0  # there was nothing to choose


def test_weights_make_held_out_rows_stand_for_others():
    gains = two(40, differ=10)
    weights = np.where(np.arange(40) < 10, 3.0, 1.0)
    assert evidence_of(gains, "method").gain == pytest.approx(10 / 40)
    assert evidence_of(gains, "method", weights).gain == pytest.approx(30 / 60)


def test_what_is_believed_lies_between_what_was_known_and_what_was_measured():
    evidence = Evidence(gain=0.1, error=0.05, likelihood=0.2, apart=0.1, labels=50)
    mean, spread = believed(evidence)
    before, wide = PRIOR.of(evidence)
    assert before == pytest.approx(0.2 * PRIOR.likelihood)
    assert before < mean < 0.1
    assert 1 / spread**2 == pytest.approx(1 / wide**2 + 1 / 0.05**2)
    assert mean / spread**2 == pytest.approx(before / wide**2 + 0.1 / 0.05**2)
    assert believed(evidence, None) == (0.1, 0.05)


@pytest.mark.parametrize(
    ("mean", "spread", "answer"),
    [
        (0.05, 0.02, "yes"),
        (0.05, 0.08, "cannot tell"),  # harm is not unlikely
        (0.002, 0.01, "cannot tell"),  # nor is no gain
        (-0.03, 0.02, "no"),
        (0.0, 0.005, "no"),  # it makes no difference
    ],
)
def test_answers(mean, spread, answer):
    assert answer_of(mean, spread) == answer


def test_a_clear_gain_is_a_yes_and_a_clear_loss_a_no():
    assert judge(two(100, differ=20, asked=0.2)).answer == "yes"
    worse = judge(two(100, differ=20, asked=0.2, better=False))
    assert (worse.answer, worse.labels) == ("no", None)
    assert worse.harms > 0.9


@pytest.mark.parametrize("score", SCORES)
def test_every_score_has_a_verdict(score):
    gains = two(100, differ=30, asked=0.3, score=score)
    y = np.arange(100) % 2
    held = {name: np.where(y[:, None] == 1, P[..., ::-1], P) for name, P in gains.held.items()}
    found = judge(Gains(y, held, gains.answers, ("base",), ("method",), score))
    assert found.answer == "yes"
    assert found.measured.low > 0


def test_a_likely_gain_is_no_yes_while_harm_is_not_unlikely():
    assert answer_of(0.22, 0.2) == "cannot tell"  # above 0 with .86, a loss of over .01 with .13
    assert answer_of(0.27, 0.2) == "yes"


def test_the_table_shows_differences_of_its_scores_not_corrected_gains():
    rng = np.random.default_rng(0)
    names = ("base", "other", "method")
    held = {name: np.eye(2)[(rng.random((2, 100)) < 0.2).astype(int)] for name in names}
    answers = {name: rng.integers(0, 2, (10, 50)) for name in names}
    gains = Gains(np.zeros(100, int), held, answers, names[:2], names[2:])
    plain = gains.mean("method") - gains.mean(gains.alone)
    assert evidence_of(gains, "method").gain != pytest.approx(plain)
    (row,) = (row for row in gains_of(gains) if row["name"] == "method")
    assert row["gain"].estimate == pytest.approx(plain)


def test_so_many_labels_would_tell():
    assert sign_seen(0.02, 0.1, labels_to_see(0.02, 0.1)) == pytest.approx(0.9)
    with pytest.raises(InputError, match="above 0"):
        labels_to_see(0, 0.1)
    unclear = judge(two(30, differ=1, asked=0.2))
    size = max(abs(unclear.gain.estimate), MARGIN)
    assert unclear.answer == "cannot tell"
    assert unclear.labels == pytest.approx(labels_to_see(size, 0.2), abs=1)
    assert judge(two(3000, differ=3, asked=0.3)).labels in (None, 3001)  # not fewer than there are


# How many rows, and worth in labels


def test_the_gain_by_the_share_of_rows_that_is_kept():
    gains = two(200, differ=40, better=False)  # all rows: a loss of .2
    half = np.broadcast_to(np.eye(2)[np.zeros(200, int)], gains.held["method"].shape)
    found = keeping(gains, "method", {0.5: half})
    assert [*found.gains] == [0.0, 0.5, 1.0]
    assert found.gains[0.0].estimate == 0
    assert found.gains[1.0] == believed_gain(gains, "method")
    assert found.gains[1.0].high < 0
    assert abs(found.gains[0.5].estimate) < 0.01
    assert found.gains[0.5].high - found.gains[0.5].low > 0.005
    assert found.best.low == 0
    assert found.best.high < 1


def test_with_all_rows_the_picture_shows_the_gain_of_the_answer():
    gains = two(200, differ=40)
    found = keeping(gains, "method", {0.5: gains.held["base"]})
    assert found.gains[1.0] == judge(gains).gain
    assert found.best.estimate == found.best.low == 1


def priced(gain, accuracies=(0.6, 0.7, 0.8)):
    """The worth of a gain where each doubling of 160 labels brings .1."""
    n = 200
    folds = {(0, k): (np.setdiff1d(np.arange(n), t), t) for k, t in enumerate(_fifths(n))}
    said = {}
    for part, accuracy in zip((0.25, 0.5, 1.0), accuracies, strict=True):
        wrong = np.concatenate([t[round(accuracy * 40) :] for t in _fifths(n)])
        said[part] = np.eye(2)[np.isin(np.arange(n), wrong).astype(int)]
    whole = said.pop(1.0)
    gains = Gains(np.zeros(n, int), {"base": whole[None]}, {}, ("base",), ())
    bench = Bench(None, None, folds, None, None)
    return in_labels(bench, gains, said, gain)


def _fifths(n):
    return np.split(np.arange(n), 5)


def test_a_gain_is_worth_as_many_labels_as_buy_it():
    found = priced(Interval(0.05, 0.03, 0.07))
    assert found.estimate == pytest.approx(160 * 2**0.5 - 160, abs=2)
    ends = [160 * 2**0.3 - 160, 160 * 2**0.7 - 160]
    assert [found.low, found.high] == pytest.approx(ends, abs=2)
    assert priced(Interval(-0.1, -0.12, -0.08)).estimate == pytest.approx(-80, abs=2)
    assert str(priced(Interval(0.3, 0.2, 0.4))).startswith("more than 160 labels")


# The bench


@pytest.fixture
def inside(monkeypatch):
    """Learners are trained in this process, and baselines are quick."""
    monkeypatch.setattr(benches, "trials", lambda pair, jobs: _Here(pair))
    monkeypatch.setattr(gains_, "BASELINES", ("supervised_kernel", "supervised_gaussian"))


class _Here:
    def __init__(self, pair):
        self.pair = pair

    def __enter__(self):
        return lambda work: (train(self.pair, job) for job in work)

    def __exit__(self, *_):
        return None


def test_a_test_row_is_not_among_the_unlabeled_ones(monkeypatch):
    frame = wine()
    pair = of_frames(frame, frame.drop(columns="cultivar"), "cultivar")  # every row is in both
    folds, twins = folds_of(pair)
    seen = []

    def note(work):
        for job in work:
            seen.append((set(job.fold[1]), set(job.free)))
            held = dict.fromkeys(job.learners, np.full((len(job.fold[1]), 3), 1 / 3))
            answers = dict.fromkeys(job.learners, np.zeros(len(job.asked), int))
            yield Trained(job, held, answers, {})

    bench = Bench(pair, note, folds, twins, np.arange(178))
    measure(bench, ["self_training"])
    by_share(bench, "self_training", np.zeros(178))
    assert len(seen) == 20 + 30
    assert all(test.isdisjoint(free) and free for test, free in seen)


def test_a_part_of_the_labels_has_every_class():
    y = np.array([0] * 40 + [1] * 8 + [2] * 3)
    rows = _part(y, np.arange(51), 0.25)
    assert np.bincount(y[rows]).tolist() == [10, 2, 2]


def test_groups_stay_together_and_time_is_respected(inside):
    frame = wine().assign(who=np.arange(178) // 2 % 25, when=np.arange(178))
    folds, twins = folds_of(pair_of(frame, group="who"))
    group = frame.who.to_numpy()
    for learn, test in folds.values():
        assert not set(group[::2][learn]) & set(group[::2][test])
    assert (twins >= 0).all()  # each group is in both files
    folds, _ = folds_of(pair_of(frame, time="when"))
    assert {repeat for repeat, _ in folds} == {0}
    assert all(learn.max() < test.min() for learn, test in folds.values())
    with bench_of(pair_of(frame, time="when")) as bench:
        found = measure(bench, ["label_spreading"])
    assert len(found.y) == len(bench.seen) < 89
    assert found.mean("supervised_gaussian") > 0.7


def test_a_learner_that_fails_is_told_and_the_others_are_measured(inside):
    with bench_of(pair_of(wine())) as bench:
        found = measure(bench, ["label_spreading", "doomed:Exploding"])
    assert found.failed == {"doomed:Exploding": "RuntimeError: it exploded"}
    assert found.methods == ("label_spreading", f"self_training({found.alone})")


def test_a_model_of_ones_own_takes_the_place_of_all_learners(inside):
    with bench_of(pair_of(wine()), own_model(GaussianNB())) as bench:
        found = measure(bench, ())
        curve = by_labels(bench, "GaussianNB")
    assert (found.baselines, found.methods) == (("GaussianNB",), ("self_training(GaussianNB)",))
    assert found.mean("GaussianNB") > 0.9
    assert [*curve] == [0.25, 0.5]
    assert [*own_model("sklearn.naive_bayes:GaussianNB")] == ["GaussianNB"]
    with pytest.raises(InputError, match=r"must be an estimator, such as GaussianNB\(\)"):
        own_model(GaussianNB)


def test_a_score_that_is_not_known_is_told():
    with pytest.raises(InputError, match="did you mean 'accuracy'"):
        robustssl.audit(wine(), wine(), "cultivar", score="acuracy")


@pytest.mark.slow
def test_a_gain_is_seen_with_30_labels():
    rng = np.random.default_rng(0)
    y = rng.permutation(1030) % 2
    X = rng.normal(size=(1030, 20)) * np.where(y, 1, 2)[:, None] + np.where(y, 0.5, 0)[:, None]
    frame = pd.DataFrame(X).add_prefix("x").assign(cultivar=y)
    pair = of_frames(frame[:30], frame[30:].drop(columns="cultivar"), "cultivar")
    with bench_of(pair) as bench:
        found = judge(measure(bench, METHODS))
    assert (found.answer, found.method) == ("yes", "ssgmm[rounds=50]")


# What is said, and the model


def test_advice_follows_the_verdict():
    expected = Interval(0.9, 0.85, 0.95)
    yes, no = (judge(two(100, differ=20, asked=0.2, better=better)) for better in (True, False))
    found = advise(yes, expected, "balanced_accuracy")
    assert (found.algorithm, found.uses_unlabeled) == ("method", True)
    assert "balanced accuracy of 0.900 [0.850, 0.950]" in found.text
    found = advise(no, expected, "accuracy")
    assert (found.algorithm, found.uses_unlabeled) == ("base", False)
    said = advise(no, expected, "accuracy", ("red", 0.9)).text
    assert "better beyond chance than to answer red every time" in said
    assert "every time" not in advise(no, expected, "accuracy", ("red", 0.8)).text
    unclear = judge(two(30, differ=1, asked=0.2))
    assert advise(unclear, expected, "accuracy").algorithm == "base"


def test_the_commonest_class_is_not_advised_if_it_is_rare_among_the_unlabeled_rows():
    y = np.array(["c0"] * 9 + ["c1"] * 3)
    assert _majority(y, None) == ("c0", 0.75)
    shares = SimpleNamespace(classes=Interval(np.array([0.01, 0.99])))
    assert _majority(y, shares) is None


def test_rows_are_weighted_where_the_shares_of_classes_changed():
    gains = Gains(np.array([0, 0, 0, 1]), {}, {}, (), ())
    shares = Interval(np.array([0.5, 0.5]))
    found = _weights(gains, SimpleNamespace(classes=shares, changed=np.array([True, True])))
    assert found == pytest.approx([1 / 6, 1 / 6, 1 / 6, 1 / 2])
    same = SimpleNamespace(classes=shares, changed=np.array([False, False]))
    assert _weights(gains, same) is None
    assert _weights(gains, None) is None


def test_a_model_may_expect_other_shares_of_the_classes():
    frame = wine()
    X, y = frame.drop(columns="cultivar"), frame.cultivar
    plain = Model("supervised_gaussian").fit(X, y).predict_proba(X)
    wanted = {0: 0.1, 1: 0.1, 2: 0.8}
    moved = Model("supervised_gaussian", shares=wanted).fit(X, y)
    P = plain * [0.1, 0.1, 0.8] / (np.bincount(y) / len(y))
    P /= P.sum(1, keepdims=True)
    np.testing.assert_allclose(moved.predict_proba(X), P)
    assert (moved.predict(X) == P.argmax(1)).all()


@pytest.mark.parametrize("learner", [*BASELINES, "self_training(logistic)", GaussianNB()])
def test_every_learner_can_be_saved(learner, tmp_path):
    frame = wine(60)
    X, y = frame.drop(columns="cultivar"), frame.cultivar.map("abc".__getitem__)
    free = X[40:] if "self_training" in str(learner) else None
    model = Model(learner, shares={"a": 0.2, "b": 0.5, "c": 0.3}).fit(X[:40], y[:40], free)
    save_model(model, tmp_path / "model.skops")
    loaded = robustssl.load_model(tmp_path / "model.skops")
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert (loaded.predict(X) == y).mean() > 0.8


def test_the_tutorial_shows_what_the_experiment_found(monkeypatch, capsys):
    root = Path(__file__).parents[1]
    monkeypatch.syspath_prepend(root / "experiments")
    monkeypatch.setattr("sys.argv", ["audits.py", str(root / "experiments" / "audits.csv")])
    importlib.import_module("audits").main()
    page = (root / "docs" / "tutorials" / "audit.md").read_text()
    for table in capsys.readouterr().out.strip().split("\n\n"):
        assert table in page
