"""From a group of cells to records."""

import faulthandler
import resource
import signal
import subprocess
import sys
from contextlib import nullcontext
from dataclasses import replace

import doomed
import numpy as np
import pytest
from gates import LONG
from sklearn.metrics import balanced_accuracy_score, f1_score, roc_auc_score

import robustssl
from robustssl import Cell, registry
from robustssl.execution.groups import groups
from robustssl.execution.limits import Limits
from robustssl.execution.scores import accuracy_there
from robustssl.execution.worker import run_group
from robustssl.splits import prepare

CELL = Cell("label_spreading", "label", "wine", 5, 0.4, 0)


def test_scores_are_those_of_the_test_rows():
    (record,) = run_group((CELL,), keep_predictions=True)
    split = prepare("wine", "label", 5, 0).split(0.4)
    model = robustssl.estimator("label_spreading").fit(split.X, split.y)
    predicted, p = model.predict(split.X_test), model.predict_proba(split.X_test)
    assert record.error is None
    assert record.predictions == tuple(predicted)
    assert record.scores == {
        "accuracy": np.mean(predicted == split.y_test),
        "balanced_accuracy": balanced_accuracy_score(split.y_test, predicted),
        "macro_f1": f1_score(split.y_test, predicted, average="macro"),
        "auroc": roc_auc_score(split.y_test, p[:, 1]),
    }
    assert record.seconds > 0
    assert record.provenance["split_digest"] == split.digest
    assert record.provenance["dataset_sha256"] == robustssl.dataset("wine").sha256
    assert record.provenance["versions"]["scikit-learn"]


@pytest.mark.parametrize(
    ("environment", "dataset"),
    [
        ("distribution", "wine"),
        ("distribution+feature", "wine"),
        ("prior", "digits"),
        ("feature", "digits[kind=image]"),
    ],
)
def test_inconsistent_rows_are_scored_as_a_method_would_meet_them(environment, dataset):
    cell = Cell("label_spreading", environment, dataset, 5, 0.4, 0)
    (record,) = run_group((cell,))
    prepared = prepare(dataset, environment, 5, 0)
    pools, split = prepared.pools, prepared.split(0.4)
    seen = prepared.preprocess(prepared.environment.degrade(pools, pools.aside))
    model = robustssl.estimator("label_spreading").fit(split.X, split.y)
    right = model.predict(seen) == pools.data.y[pools.aside]
    assert len(right) == len(pools.aside) > 0
    assert record.scores["accuracy_there"] == right.mean()
    assert record.scores["accuracy"] == np.mean(model.predict(split.X_test) == split.y_test)


@pytest.mark.parametrize("environment", ["label", "label+feature", "feature", "reference"])
def test_rows_of_unknown_classes_or_no_rows_have_no_accuracy_there(environment):
    (record,) = run_group((replace(CELL, environment=environment),))
    assert record.error is None
    assert "accuracy_there" not in record.scores


def test_one_row_of_an_unknown_class_leaves_all_of_them_without_accuracy():
    prepared = prepare("wine", "distribution", 5, 0)
    pools, split = prepared.pools, prepared.split(0.4)
    model = robustssl.estimator("label_spreading").fit(split.X, split.y)
    assert accuracy_there(model, pools, prepared.aside())
    kept = pools.labeled[pools.data.y[pools.labeled] != 2]
    assert accuracy_there(model, replace(pools, labeled=kept), prepared.aside()) == {}
    assert accuracy_there(model, replace(pools, aside=pools.aside[:0]), split.X[:0]) == {}


def test_the_accuracy_there_of_a_baseline_does_not_depend_on_t():
    cells = [Cell("supervised_kernel", "distribution", "wine", 5, t, 0) for t in (0.0, 0.5, 1.0)]
    assert len({record.scores["accuracy_there"] for record in run_group(tuple(cells))}) == 1


def test_the_digest_tells_predictions_apart():
    def digest(t):
        return run_group((replace(CELL, dataset="digits", t=t),))[0].digest

    assert digest(0.0) == digest(0.0) != digest(1.0)


def test_an_error_is_a_record_with_its_reason():
    fails = Cell("doomed:Fails", "feature", "wine", 5, 1.0, 0)
    (record,) = run_group((fails,))
    assert record.error == "RuntimeError: a column is constant"
    assert not record.scores
    (unable,) = run_group((replace(fails, environment="label", dataset="breast_cancer"),))
    assert "needs three; breast_cancer has 2" in unable.error


def test_a_learner_that_exits_fails_and_no_more():
    (record,) = run_group((Cell("doomed:Exits", "label", "wine", 5, 0.0, 0),))
    assert record.error == "SystemExit: 3"


def test_a_random_state_that_is_asked_for_is_used(monkeypatch):
    pytest.importorskip("xgboost")
    seen = []
    xgboost = robustssl.algorithm("supervised_xgboost")
    fit = xgboost.fit
    monkeypatch.setattr(
        xgboost, "fit", lambda self, X, y: (seen.append(self.random_state), fit(self, X, y))[1]
    )
    run_group((Cell("supervised_xgboost", "label", "wine", 5, 0.0, 0, (("random_state", 7),)),))
    assert seen == [7]


def test_warnings_are_kept():
    (record,) = run_group((Cell("doomed:Warns", "label", "wine", 5, 0.0, 0),))
    assert record.warnings == ("UserWarning: careful",)


def test_a_stranger_without_probabilities_has_no_auroc():
    (record,) = run_group((Cell("doomed:Constant", "label", "wine", 5, 0.0, 0),))
    assert set(record.scores) == {"accuracy", "balanced_accuracy", "macro_f1"}


def test_a_baseline_is_fitted_once_for_all_t(tmp_path):
    params = (("folder", str(tmp_path)),)
    cells = [
        Cell("doomed:Counts", "label", "iris", 5, t, seed, params)
        for seed in (0, 1)
        for t in (0.0, 0.5, 1.0)
    ]
    grouped = list(groups(cells))
    assert [len(group) for group in grouped] == [3, 3]
    records = [record for group in grouped for record in run_group(group)]
    assert (tmp_path / "fits").read_text() == "xx"
    assert [record.cell for record in records] == cells
    assert len({record.seconds for record in records[:3]}) == 1


def test_a_ceiling_depends_on_t_so_its_baseline_is_not_grouped():
    cells = [
        Cell("supervised_logistic", "label[access=labels]", "digits", 5, t, 0) for t in (0.0, 1.0)
    ]
    assert len(list(groups(cells))) == 2
    ends = [run_group((cell,))[0].scores["accuracy"] for cell in cells]
    (plain,) = run_group((Cell("supervised_logistic", "label", "digits", 5, 0.0, 0),))
    assert ends[0] > ends[1] == plain.scores["accuracy"]


def test_baselines_of_other_environments_are_not_grouped():
    cells = [Cell("supervised_logistic", e, "wine", 5, 0.0, 0) for e in ("label", "feature")]
    assert len(list(groups(cells))) == 2


def test_chance_depends_on_the_number_of_labels(monkeypatch):
    seen = []

    def remember(self, **params):
        seen.append(params["random_state"])

    monkeypatch.setattr("robustssl.algorithms.tri_training.TriTraining.set_params", remember)
    for labels in (5, 6):
        run_group((Cell("tri_training", "feature", "iris", labels, 0.0, 0),))
    assert seen[0] != seen[1]


def test_a_test_set_without_some_class_has_no_auroc_but_accuracy():
    (record,) = run_group((Cell("label_spreading", "feature[test=2]", "wine", 5, 0.0, 0),))
    assert record.error is None
    assert set(record.scores) == {"accuracy", "balanced_accuracy", "macro_f1"}


def test_a_learner_is_not_grouped():
    cells = [replace(CELL, t=t) for t in (0.0, 0.5, 1.0)]
    assert [len(group) for group in groups(cells)] == [1, 1, 1]


def test_a_group_of_a_baseline_is_what_each_cell_would_be_alone():
    pytest.importorskip("xgboost")
    cells = tuple(Cell("supervised_xgboost", "feature", "wine", 5, t, 0) for t in (0.0, 0.6, 1.0))
    together = run_group(cells)
    for cell, record in zip(cells, together, strict=True):
        (alone,) = run_group((cell,))
        assert (alone.scores, alone.digest) == (record.scores, record.digest)


@pytest.mark.parametrize("t", [0.0, 0.4])
def test_randomness_of_the_algorithm_does_not_depend_on_t(t, monkeypatch):
    pytest.importorskip("xgboost")
    seen = []
    xgboost = robustssl.algorithm("supervised_xgboost")
    fit = xgboost.fit
    monkeypatch.setattr(
        xgboost, "fit", lambda self, X, y: (seen.append(self.random_state), fit(self, X, y))[1]
    )
    cell = Cell("supervised_xgboost", "feature", "wine", 5, t, 0)
    run_group((cell,))
    run_group((replace(cell, t=1.0),))
    run_group((replace(cell, seed=1),))
    assert seen[0] == seen[1] != seen[2]


def test_whatever_a_learner_raises_is_its_own_failure(tmp_path, small):
    names = ("Interrupts", "Speechless", "Surrogate", "Own", "Closes", "Unkeepable")
    study = {**small, "algorithms": [*(f"doomed:{n}" for n in names), "supervised_logistic"]}
    study |= {"environments": "label", "seeds": 1}
    got = robustssl.run(study, tmp_path / "s.sqlite", workers=2, progress=False)
    assert (got.done, got.failed, got.missing) == (3, 18, 0)
    assert set(got.failures.values()) == {3}


def test_a_nul_in_an_error_is_spelt_out(place, small):
    study = {**small, "algorithms": ["doomed:Nul", "supervised_logistic"]}
    study |= {"environments": "label", "seeds": 1}
    got = robustssl.run(study, place, workers=1, progress=False)
    assert (got.done, got.failed, got.missing) == (3, 3, 0)
    assert got.failures == {r"ValueError: before\x00after": 3}


def test_texts_that_a_method_leaves_are_bounded():
    (record,) = run_group((Cell("doomed:Wordy", "label", "wine", 5, 0.0, 0),))
    assert record.error.startswith("ValueError: eee")
    assert record.error.endswith("... (5,000,012 characters)")
    assert len(record.error) < 2_100
    assert "in fit" in record.log
    assert len(record.log) < 20_100
    (warning,) = record.warnings
    assert warning.startswith("UserWarning: www")
    assert len(warning) < 2_100


def test_a_curve_has_the_time_of_all_its_cells(monkeypatch):
    """And after it neither clock nor limit is left."""
    left, watchdog, limits = [], [], Limits(seconds=LONG, gigabytes=100)
    fit, before = doomed.Constant.fit, resource.getrlimit(resource.RLIMIT_DATA)

    def look(self, X, y):
        left.append(signal.getitimer(signal.ITIMER_REAL)[0])
        return fit(self, X, y)

    monkeypatch.setattr(doomed.Constant, "fit", look)
    monkeypatch.setattr(faulthandler, "dump_traceback_later", lambda *a, **_: watchdog.append(a))
    monkeypatch.setattr(faulthandler, "cancel_dump_traceback_later", lambda: watchdog.append(()))
    cells = tuple(Cell("doomed:Constant", "label", "iris", 3, t, 0) for t in (0.0, 0.5, 1.0))
    assert [record.error for record in run_group(cells, limits=limits)] == [None] * 3
    assert len(left) == 3
    assert all(2 * LONG < seconds <= 3 * LONG for seconds in left)
    assert watchdog == [(limits.patience(3),), ()]
    assert limits.patience(3) > 3 * LONG
    assert resource.getrlimit(resource.RLIMIT_DATA) == before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_when_its_time_is_over_a_cell_fails(monkeypatch):
    monkeypatch.setattr("robustssl.execution.limits.GRACE", LONG)  # or this process might be ended
    sleeps = Cell("doomed:Sleeps", "label", "wine", 5, 0.0, 0)
    run_group((replace(sleeps, algorithm="doomed:Constant"),))  # no import is interrupted
    (record,) = run_group((sleeps,), limits=Limits(seconds=0.05))
    assert record.error == "OverTime: over the time limit of 0.05 s a cell"


def test_no_handler_of_exceptions_holds_up_the_end_of_time():
    cell = Cell("doomed:Overruns", "label", "wine", 5, 0.0, 0)
    (record,) = run_group((cell,), limits=Limits(seconds=LONG))
    assert record.error == f"OverTime: over the time limit of {LONG} s a cell"


def test_code_that_does_not_come_back_is_ended_with_its_process():
    """No signal reaches it; if the watchdog did not bite, it would come back after ten minutes."""
    script = f"""
import signal, time
from robustssl.execution import limits
limits.GRACE = 0.01
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
with limits.Limits(seconds=0.01).kept(1):
    time.sleep({LONG})
    print("it came back")
"""
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (ended.returncode, ended.stdout, ended.stderr) == (1, "", "")


def test_the_clock_does_not_count_what_is_loaded(monkeypatch):
    found, find = [], registry.find
    monkeypatch.setattr(registry, "find", lambda *names: (found.append(names), find(*names))[1])
    with monkeypatch.context() as patch:
        patch.setattr(Limits, "kept", lambda self, cells: nullcontext(found.append("clock")))
        run_group((CELL,))
    loaded = found[: found.index("clock")]
    assert {("algorithm", "label_spreading"), ("environment", "label"), ("dataset", "wine")} <= {
        *loaded
    }


@pytest.mark.parametrize("bad", [0, -1, float("inf"), float("nan"), 1e15])
def test_limits_that_are_none(bad):
    for name in ("seconds", "gigabytes"):
        with pytest.raises(robustssl.InputError, match="a limit must be above 0 and at most 1e"):
            Limits(**{name: bad})


def test_memory_that_ends_outside_of_a_fit_fails_the_cells_too(monkeypatch):
    def full(*_):
        raise MemoryError

    monkeypatch.setattr("robustssl.execution.worker._run", full)
    (record,) = run_group((CELL,), limits=Limits(gigabytes=1e-9))
    assert record.error.startswith("MemoryError")
