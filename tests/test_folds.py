"""What a record keeps on request: scores out of fold, scores without labels, bits."""

import base64
from dataclasses import replace
from importlib.util import find_spec
from typing import ClassVar

import numpy as np
import pytest
import yaml
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.neighbors import KNeighborsClassifier

import robustssl
from robustssl import Cell, InputError, Store, registry
from robustssl.checks.submissions import submit
from robustssl.execution import jobs, scores, worker
from robustssl.execution.folds import LEAST_PROBABILITY, held_out
from robustssl.execution.groups import groups
from robustssl.execution.worker import run_group
from robustssl.records.bits import bits_of, right_of
from robustssl.records.extras import FOLDS, Extras
from robustssl.records.files import export, read_records
from robustssl.records.frame import scored
from robustssl.records.record import CRITERIA, SCORES, Record
from robustssl.splits import prepare
from robustssl.studies.study import study as read_study

needs_torch = pytest.mark.skipif(not find_spec("torch"), reason="needs torch")
ALL = Extras(criteria=True, bits=True)
TS = (0.0, 0.5, 1.0)


class Spy(ClassifierMixin, BaseEstimator):
    """Keeps what it is fitted to; its answers are those of the nearest labeled row."""

    version, family, baseline = 1, "statistical", None
    seen: ClassVar[list] = []

    def fit(self, X, y):
        self.seen.append((X, y))
        self.model_ = KNeighborsClassifier(1).fit(X[y != -1], y[y != -1])
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X):
        return self.model_.predict(X)


class Baseline(Spy):
    supervised = True

    def predict_proba(self, X):
        return self.model_.predict_proba(X)


class Failing(Spy):
    """Fails if a labeled row is missing."""

    def fit(self, X, y):
        if (y != -1).sum() < 8:
            raise RuntimeError("a row is missing")
        return super().fit(X, y)


@pytest.fixture(autouse=True)
def _nothing_seen():
    Spy.seen.clear()


def cells(name, labels=4, ts=TS, seed=0, environment="label", dataset="wine", params=()):
    return tuple(Cell(name, environment, dataset, labels, t, seed, params) for t in ts)


def same(X, rows):
    """Which rows of X are among others."""
    return (X[:, None] == rows[None]).all(2).any(1)


# Folds


def test_rows_that_are_held_out_are_seen_nowhere_in_the_fit_of_a_fold():
    (cell,) = cells("test_folds:Spy", ts=[0.5])
    (record,) = run_group((cell,), Extras(criteria=True))
    assert record.error is None, record.log
    (X, y), *folds = Spy.seen
    labeled, times = X[y != -1], np.zeros(8)
    assert same(labeled, X).sum() == 8  # no two rows are equal
    for rows, codes in folds:
        kept = same(labeled, rows)
        times += ~kept
        assert np.bincount(y[y != -1][~kept]).tolist() == [1, 1]
        assert np.array_equal(rows, X[~same(X, labeled[~kept])])
        assert np.array_equal(codes, y[~same(X, labeled[~kept])])
        assert np.array_equal(rows[codes == -1], X[y == -1])
    assert times.tolist() == [1] * 8
    assert record.provenance[FOLDS] == 4


def kept_in_folds():
    """The labeled rows of every fit but the first, which has all of them."""
    return [X[y != -1] for X, y in Spy.seen[1:]]


def test_folds_are_the_same_for_all_t_and_methods():
    found = []
    for name, seed in (("Spy", 0), ("Baseline", 0), ("Spy", 1)):
        for cell in cells(f"test_folds:{name}", seed=seed):
            Spy.seen.clear()
            run_group((cell,), Extras(criteria=True))
            found.append(np.stack(kept_in_folds()))
    assert all(np.array_equal(found[0], one) for one in found[:6])
    first, other = (
        held_out(*drawn(cells("x", labels=20, seed=seed)[0]))[0][:40] for seed in (0, 1)
    )
    assert not np.array_equal(first, other)


def drawn(cell):
    prepared = prepare(cell.dataset, cell.environment, cell.labels, cell.seed)
    return cell, prepared.split(cell.t), prepared.pools


@pytest.mark.parametrize(("labels", "count"), [(1, 0), (2, 2), (3, 3), (5, 5), (9, 5)])
def test_there_are_as_many_folds_as_labels_a_class_and_five_at_most(labels, count):
    (cell,) = cells("label_spreading", labels, ts=[0.5])
    (record,) = run_group((cell,), Extras(criteria=True))
    assert record.provenance[FOLDS] == count
    assert ("cv_accuracy" in record.scores) == ("cv_log_loss" in record.scores) == (count > 0)
    assert {"confidence", "bnm"} <= set(record.scores)
    sizes = [np.bincount(drawn(cell)[1].y[mask]) for mask in held_out(*drawn(cell))]
    assert all(np.ptp(part) <= 1 for part in np.transpose(sizes))


def test_a_class_with_one_label_is_never_held_out():
    cell = Cell("label_spreading", "prior[labeled=tail]", "digits", 6, 0.5, 0)
    _, split, _ = drawn(cell)
    counts = np.bincount(split.y[split.y != -1])
    assert counts.min() == 1
    assert counts.max() == 6
    folds = held_out(*drawn(cell))
    assert len(folds) == 5
    held = sum(np.bincount(split.y[mask], minlength=10) for mask in folds)
    assert held.tolist() == np.where(counts > 1, counts, 0).tolist()
    for mask in folds:
        left = np.bincount(split.y[~mask & (split.y != -1)], minlength=10)
        assert left.min() == 1
        assert mask.any()


def test_labels_that_a_ceiling_adds_are_not_held_out():
    (cell,) = cells("label_spreading", ts=[0.0], environment="label[access=labels]")
    _, split, pools = drawn(cell)
    assert (split.y != -1).sum() > len(pools.labeled)
    held = np.any(held_out(*drawn(cell)), 0)
    assert sorted(split.rows[held]) == sorted(pools.labeled)


def test_scores_out_of_fold_are_those_of_a_plain_loop():
    (cell,) = cells("label_spreading", labels=7, ts=[0.5], dataset="digits")
    (record,) = run_group((cell,), Extras(criteria=True))
    _, split, _ = drawn(cell)
    right, p = [], []
    for mask in held_out(*drawn(cell)):
        model = robustssl.estimator("label_spreading").fit(split.X[~mask], split.y[~mask])
        right += (model.predict(split.X[mask]) == split.y[mask]).tolist()
        p += model.predict_proba(split.X[mask])[np.arange(mask.sum()), split.y[mask]].tolist()
    assert len(right) == 7 * 5
    assert 0 < record.scores["cv_accuracy"] < 1
    assert record.scores["cv_accuracy"] == pytest.approx(np.mean(right))
    loss = -np.log(np.maximum(p, LEAST_PROBABILITY)).mean()
    assert record.scores["cv_log_loss"] == pytest.approx(loss)


def test_a_method_that_is_sure_and_wrong_has_a_finite_loss():
    (record, *_) = run_group(cells("test_folds:Baseline"), Extras(criteria=True))
    wrong = 1 - record.scores["cv_accuracy"]
    assert 0 < wrong < 1
    assert record.scores["cv_log_loss"] == pytest.approx(-np.log(LEAST_PROBABILITY) * wrong)


def test_a_learner_without_probabilities_has_an_accuracy_alone():
    (record,) = run_group(cells("test_folds:Spy", ts=[0.5]), Extras(criteria=True))
    assert set(record.scores) & set(CRITERIA) == {"cv_accuracy"}


def test_the_folds_of_a_baseline_are_fitted_once_for_all_t_and_its_rows_are_those_of_t():
    group = cells("test_folds:Baseline")
    assert list(groups(group)) == [group]
    records = run_group(group, Extras(criteria=True))
    assert len(Spy.seen) == 1 + 4
    assert len({r.scores["cv_accuracy"] for r in records}) == 1
    model = robustssl.estimator("test_folds:Baseline").fit(*Spy.seen[0])
    for record in records:
        _, split, _ = drawn(record.cell)
        p = model.predict_proba(split.X[split.y == -1])
        assert record.scores["bnm"] == pytest.approx(scores.bnm(p))
    assert len({r.scores["bnm"] for r in records}) == 3


def test_a_fold_that_fails_leaves_the_record_without_scores_out_of_fold(tmp_path, in_process):
    study = {
        "algorithms": ["test_folds:Failing"],
        "environments": ["label"],
        "datasets": ["wine"],
        "labels": 4,
        "ts": [0, 1],
        "seeds": 1,
        "cross_validate": True,
    }
    place = tmp_path / "s.sqlite"
    assert robustssl.run(study, place, workers=1).done == 2
    with Store(place) as store:
        (record, _) = store.records()
    assert "accuracy" in record.scores
    assert "cv_accuracy" not in record.scores
    assert any("no scores out of fold: RuntimeError: a row" in text for text in record.warnings)
    Spy.seen.clear()
    robustssl.run(study, place, workers=1)
    assert Spy.seen == []  # it is not run again: it would fail again


# Nets: a fold is a model of the stack


DEEP = [n for n in registry.names("algorithm") if registry.about("algorithm", n).family == "deep"]


@needs_torch
@pytest.mark.parametrize("name", DEEP)
def test_a_net_with_folds_beside_it_is_the_net_without(name, monkeypatch):
    """Folds have fewer labeled rows than the models that they are stacked with."""
    known = registry.defaults("algorithm", name)
    asked = {"net": "mlp[width=8]", "batch": 8, "precision": "fp64", "steps": 8, "threshold": 0.4}
    params = tuple(sorted((k, v) for k, v in asked.items() if k in known))
    found = []

    def answers(model, split, predicted):
        found.append(model.predict_proba(split.X_test))
        return {"accuracy": 0.5}

    monkeypatch.setattr(worker, "scores_of", answers)
    (group,) = groups(cells(name, ts=[0.0, 1.0], params=params))
    plain, more = (run_group(group, extras) for extras in (Extras(), ALL))
    assert [r.error for r in (*plain, *more)] == [None] * 4, more[0].log
    half = len(found) // 2
    assert np.abs(np.array(found[:half]) - np.array(found[half:])).max() < 1e-12
    assert more[0].provenance["height"] == half * 5
    assert [a.digest for a in plain] == [b.digest for b in more]
    assert set(CRITERIA) <= set(more[0].scores)


@needs_torch
def test_scores_of_nets_out_of_fold_are_those_of_models_fitted_alone():
    params = (("batch", 8), ("precision", "fp64"), ("steps", 20))
    (group,) = groups(cells("fixmatch", ts=[0.0, 1.0], params=params))
    for record in run_group(group, Extras(criteria=True)):
        job = jobs.Job([record.cell], {})
        jobs.prepare_job(job, Extras(criteria=True))
        right = []
        for fold in job.folds:
            fold.model.fit(*fold.problem)
            X, y = job.split.X[fold.held], job.split.y[fold.held]
            right += (fold.model.predict(X) == y).tolist()
        assert len(right) == 8
        assert record.scores["cv_accuracy"] == np.mean(right)


# Scores without labels


def test_confidence_and_bnm_against_plain_numpy():
    (record,) = run_group(cells("label_spreading", ts=[0.5]), Extras(criteria=True))
    _, split, _ = drawn(record.cell)
    model = robustssl.estimator("label_spreading").fit(split.X, split.y)
    p = model.predict_proba(split.X[split.y == -1])
    safe = np.where(p > 0, p, 1)
    assert record.scores["confidence"] == pytest.approx((p * np.log(safe)).sum(1).mean())
    norm = np.sqrt(np.linalg.eigvalsh(p.T @ p)).sum()
    assert record.scores["bnm"] == pytest.approx(norm / np.sqrt(len(p) * 2))


def test_bnm_lies_between_its_ends():
    assert scores.bnm(np.tile(np.eye(4), (5, 1))) == pytest.approx(1)
    assert scores.bnm(np.tile(np.eye(4)[0], (20, 1))) == pytest.approx(0.5)  # always one class
    assert scores.bnm(np.full((20, 4), 0.25)) == pytest.approx(0.25)  # never sure


def test_rankme_is_the_effective_rank():
    rng = np.random.default_rng(0)
    orthogonal = np.linalg.qr(rng.normal(size=(50, 6)))[0]
    assert scores.rankme(orthogonal) == pytest.approx(6)
    assert scores.rankme(orthogonal[:, :1] @ rng.normal(size=(1, 6))) == pytest.approx(1)
    assert np.isnan(scores.rankme(np.zeros((5, 3))))


def test_a_score_that_is_not_defined_is_left_out(monkeypatch):
    monkeypatch.setattr(scores, "bnm", lambda p: np.nan)
    (record,) = run_group(cells("label_spreading", ts=[0.5]), Extras(criteria=True))
    assert "confidence" in record.scores
    assert "bnm" not in record.scores


def test_a_sample_of_unlabeled_rows_has_both_kinds(monkeypatch):
    monkeypatch.setattr(scores, "ROWS", 12)
    _, split, pools = drawn(cells("x", ts=[0.5])[0])
    rows = scores._sample(np.flatnonzero(split.y == -1))
    assert len(set(rows.tolist())) == 12
    assert np.isin(split.rows[rows], pools.inconsistent).sum() == 6


@needs_torch
@pytest.mark.parametrize("name", ["fixmatch", "openmatch"])  # the second adds heads
def test_rankme_and_agreement_of_nets_against_plain_numpy(name):
    params = (("batch", 8), ("precision", "fp64"), ("steps", 12), ("weak", 2.0))
    (record,) = run_group(cells(name, ts=[0.5], params=params), Extras(criteria=True))
    job = jobs.Job([record.cell], {})
    jobs.prepare_job(job, Extras())
    model = job.model.fit(*job.problem)
    X = job.split.X[job.split.y == -1]
    weights = model.model_.net.unpack(model.model_.params)
    weights = {k.removeprefix("net."): v.numpy() for k, v in weights.items()}

    def features(X):
        for layer in ("layers.0", "layers.1"):
            X = np.maximum(X @ weights[f"{layer}.weight"].T + weights[f"{layer}.bias"], 0)
        return X

    values = np.linalg.svd(features(X.astype(np.float32).astype(float)))[1]
    share = values / values.sum()
    assert record.scores["rankme"] == pytest.approx(np.exp(-(share * np.log(share)).sum()), 1e-4)
    noise = np.random.default_rng(0).standard_normal(X.shape, np.float32)
    same_class = model.predict(X + 2 * noise) == model.predict(X)
    assert 0 < same_class.mean() < 1
    assert record.scores["agreement"] == pytest.approx(same_class.mean())


@needs_torch
@pytest.mark.parametrize("dataset", ["toy:texts", "toy:images", "toy:encoded_images"])
def test_nets_on_texts_and_images_have_all_scores(dataset):
    encoder = "[encoder=tiny:Means]" if "encoded" in dataset else ""
    params = (("batch", 8), ("net", "mlp[width=8]"), ("steps", 5))
    (cell,) = cells("fixmatch", 3, [0.5], dataset=dataset + encoder, params=params)
    (record,) = run_group((cell,), ALL)
    assert record.error is None, record.log
    assert set(CRITERIA) <= set(record.scores)
    record.check_types()


# Bits


def test_bits_are_1_where_a_test_row_is_right():
    (record,) = run_group(cells("label_spreading", ts=[0.5]), Extras(bits=True))
    _, split, _ = drawn(record.cell)
    model = robustssl.estimator("label_spreading").fit(split.X, split.y)
    right = model.predict(split.X_test) == split.y_test
    assert 0 < right.mean() < 1
    assert np.array_equal(right_of(record.bits, record.test_rows), right)
    assert Record.from_json(record.to_json()) == record
    assert not set(record.scores) & set(CRITERIA)
    (plain,) = run_group(cells("label_spreading", ts=[0.5]))
    assert plain.bits is None
    assert "bits" not in plain.to_json()


@pytest.mark.parametrize("rows", [1, 7, 8, 9, 620])
def test_bits_of_any_number_of_rows(rows):
    right = np.random.default_rng(rows).random(rows) < 0.5
    assert np.array_equal(right_of(bits_of(right), rows), right)
    assert len(base64.b64decode(bits_of(right))) == -(-rows // 8)


@pytest.mark.parametrize("wrong", ["", "AA==", "AAAA", "not base64!", "////", "////////////"])
def test_bits_that_are_not_those_of_the_test_rows_are_refused(wrong):
    (record,) = run_group(cells("label_spreading", ts=[0.5]), Extras(bits=True))
    flipped = bits_of(np.arange(record.test_rows) > 0)
    for bits in (wrong, flipped):
        with pytest.raises(InputError, match="not a record"):
            Record.from_json(replace(record, bits=bits).to_json())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("cv_accuracy", 1.1), ("cv_log_loss", -0.1), ("confidence", 0.1)),
        *(("rankme", 0.9), ("bnm", 1.01), ("agreement", -0.1)),
    ],
)
def test_scores_beyond_their_range_are_refused(name, value):
    (record,) = run_group(cells("label_spreading", ts=[0.5]), Extras(criteria=True))
    text = replace(record, scores={**record.scores, name: value}).to_json()
    with pytest.raises(InputError, match=f"{name} must lie between"):
        Record.from_json(text)


# Studies and stores


@pytest.fixture
def study():
    return {
        "algorithms": ["supervised_kernel", "label_spreading"],
        "environments": ["label"],
        "datasets": ["wine"],
        "labels": 3,
        "ts": [0, 1],
        "seeds": 2,
    }


def run(study, place, **more):
    return robustssl.run({**study, **more}, place, workers=1, progress=False)


def records_of(place):
    with Store(place) as store:
        return {record.key: record for record in store.records()}


def test_records_that_lack_what_a_study_asks_for_are_made_again(tmp_path, study, in_process):
    place = tmp_path / "s.sqlite"
    run(study, place)
    before = records_of(place)
    asked = {**study, "cross_validate": True}
    plan = robustssl.plan(asked, place, workers=1)
    assert (plan.cells, plan.done, plan.left) == (8, 0, 8)
    assert (robustssl.status(place, asked).missing, robustssl.status(place, study).missing) == (
        8,
        0,
    )
    run(asked, place)
    after = records_of(place)
    assert before.keys() == after.keys()
    for key, record in after.items():
        assert record.digest == before[key].digest
        assert record.scores.items() > before[key].scores.items()
        assert "cv_accuracy" in record.scores
        assert record.bits is None
    assert robustssl.status(place, asked).missing == 0
    assert robustssl.plan(asked, place, workers=1).left == 0
    run(study, place, keep="bits")
    both = records_of(place)
    for key, record in both.items():
        assert record.scores == after[key].scores  # those out of fold are not lost
        assert record.bits is not None
    run(asked, place, keep="bits")
    run(study, place)
    assert records_of(place) == both
    with Store(place) as store:
        assert list(store.problems()) == []
        assert len(store) == 8


def test_a_plan_counts_the_folds(tmp_path, study, in_process):
    asked = {**study, "algorithms": ["test_folds:Spy"], "ts": [0, 1], "seeds": 1}
    for more, fits in (({}, 1), ({"cross_validate": True}, 1 + 3)):
        Spy.seen.clear()
        robustssl.plan({**asked, **more}, tmp_path / "s.sqlite", workers=1, trust=["test_folds"])
        assert len(Spy.seen) == fits


def test_a_store_remembers_what_its_studies_asked_for(tmp_path, study, in_process):
    place = tmp_path / "s.sqlite"
    run(study, place)
    run(study, place, seeds=1, keep="bits")
    told = [study for _, study in robustssl.status(place).studies]
    assert sorted((s.cells, s.missing) for s in told) == [(4, 0), (8, 0)]
    run(study, place, keep="bits")  # contains both
    assert len(robustssl.status(place).studies) == 1


def test_other_predictions_replace_the_record_as_a_whole_and_are_told(tmp_path, study, in_process):
    place = tmp_path / "s.sqlite"
    run(study, place)
    (key, record), *_ = records_of(place).items()
    half = np.arange(record.test_rows) % 2 == 0
    other = replace(record, scores={"accuracy": 0.5}, digest="another", bits=bits_of(half))
    with Store(place) as store:
        assert not store.add(replace(other, bits=None))
        with pytest.warns(UserWarning, match="some predictions differ"):
            assert store.add(other)
        assert not store.add(other)
    assert record.test_rows % 2 == 0
    assert records_of(place)[key] == other


def test_a_store_of_schema_4_is_brought_to_the_present_one(tmp_path, study, in_process):
    place = tmp_path / "s.sqlite"
    run(study, place)
    with Store(place) as store, store._engine.begin() as connection:
        connection.exec_driver_sql("ALTER TABLE records DROP COLUMN bits")
        connection.exec_driver_sql("UPDATE meta SET value = '4' WHERE name = 'schema'")
    assert all(record.bits is None for record in records_of(place).values())
    run(study, place, keep="bits")
    assert all(record.bits is not None for record in records_of(place).values())


def test_bits_are_exported_and_not_submitted(tmp_path, study, in_process):
    place = tmp_path / "s.sqlite"
    run(study, place, keep="bits", cross_validate=True)
    export(place, tmp_path / "all.jsonl")
    exported = read_records(tmp_path / "all.jsonl", strict=True)
    assert {r.key: r for r in exported} == records_of(place)
    asked = {**study, "keep": "bits", "cross_validate": True}
    folder = submit(asked, place, tmp_path / "results", "mine")
    submitted = read_records(folder / "records.jsonl.gz", strict=True)
    assert {r.key: r for r in submitted} == {r.key: replace(r, bits=None) for r in exported}
    document = yaml.safe_load((folder / "study.yaml").read_text())
    assert (document["keep"], document["cross_validate"]) == ("bits", True)


def test_the_frame_and_the_table_have_all_criteria(tmp_path, study, in_process):
    place = tmp_path / "s.sqlite"
    run(study, place, cross_validate=True)
    with Store(place) as store:
        frame = store.frame()
    assert frame[["cv_accuracy", "cv_log_loss", "confidence", "bnm"]].notna().all(axis=None)
    assert frame[["rankme", "agreement"]].isna().all(axis=None)
    export(place, tmp_path / "table.csv")
    assert set(CRITERIA) <= set((tmp_path / "table.csv").read_text().split("\n")[0].split(","))
    assert len(robustssl.metrics(tmp_path / "table.csv")) == 2  # a curve for each method
    with pytest.raises(InputError, match="unknown score"):
        scored(frame, "cv_log_loss")
    assert not set(SCORES) & set(CRITERIA)


@pytest.mark.parametrize("wrong", [{"keep": "all"}, {"cross_validate": "yes"}])
def test_what_a_study_cannot_ask_for(study, wrong):
    with pytest.raises(InputError, match=next(iter(wrong))):
        read_study({**study, **wrong})


def test_a_study_of_parts_asks_for_all_of_them(study):
    whole = read_study({"parts": [study], "cross_validate": True, "keep": "bits"})
    assert whole.extras == ALL
    assert read_study(study).extras == Extras()
