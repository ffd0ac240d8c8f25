"""How an audit reads and compares rows: each test is a mistake that it made before."""

import os
import threading
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

from robustssl import InputError
from robustssl.analysis.interval import Interval
from robustssl.audits import differences, forests, inspect, of_frames, remarks
from robustssl.audits.class_shares import estimate_classes
from robustssl.audits.columns import compare_columns
from robustssl.audits.folder import inconsistent_rows
from robustssl.audits.folds import joined, parts, stratified
from robustssl.audits.inspection import inspect_all
from robustssl.audits.mixture import CONFUSED, LEVEL, consistent, estimate_mixture
from robustssl.audits.model import Model
from robustssl.audits.reading import read
from robustssl.audits.times import separation, times_of


@pytest.fixture
def few_trees(monkeypatch):
    monkeypatch.setattr(forests, "TREES", 25)
    monkeypatch.setattr(forests, "TREES_OF_LIKENESS", 15)


def halves(load=load_wine, n=80):
    frame = load(as_frame=True).frame.sample(frac=1, random_state=0)
    return frame[:n], frame[n:].drop(columns="target")


def read_files(folder, labeled, unlabeled, target="target", **how):
    labeled.to_csv(folder / "l.csv", **how)
    unlabeled.to_csv(folder / "u.csv", **how)
    return read(folder / "l.csv", folder / "u.csv", target)


# Identifiers


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer, load_digits])
@pytest.mark.parametrize("restarts", [True, False])
def test_the_row_numbers_that_pandas_writes_are_left_out(load, restarts, tmp_path):
    files = halves(load)
    if restarts:
        files = [frame.reset_index(drop=True) for frame in files]
    pair = read_files(tmp_path, *files)
    assert "Unnamed: 0" not in pair.labeled
    assert any("identifier" in note and "Unnamed: 0" in note for note in pair.notes)


def test_rows_are_no_longer_told_apart_by_their_number(tmp_path, few_trees):
    files = [frame.reset_index(drop=True) for frame in halves(load_iris, 60)]
    assert inspect(read_files(tmp_path, *files)).distribution.estimate < 0.25


def test_a_whole_number_that_differs_in_every_row_by_chance_is_a_feature():
    labeled, unlabeled = halves()
    rng = np.random.default_rng(0)
    for frame in (labeled, unlabeled):
        frame["wage"] = rng.choice(90_000, len(frame), replace=False) + 10_000
        frame["row"] = np.arange(1, len(frame) + 1)
    pair = of_frames(labeled, unlabeled, "target")
    assert "wage" in pair.labeled
    assert "row" not in pair.labeled


# Class shares


def test_intervals_of_class_shares_hold_the_truth_nine_times_in_ten():
    rng, within, told = np.random.default_rng(0), [], []
    for i in range(100):
        truth = [np.array([0.5, 0.5]), np.array([0.8, 0.2])][i % 2]
        y, z = np.arange(120) % 2, rng.choice(2, 500, p=truth)
        x, q = rng.normal(1.5 * y), rng.normal(1.5 * z)
        P, Q = (
            np.column_stack([1 - p, p]) for p in (1 / (1 + np.exp(1.1 - 1.5 * v)) for v in (x, q))
        )
        found, changed = estimate_classes(P, Q, y, rng.random(120), rng.random(500), LEVEL)
        within.append(found.low[0] <= truth[0] <= found.high[0])
        told.append(changed.any())
    assert 0.84 <= np.mean(within) <= 0.97
    assert np.mean(told[::2]) < 0.15  # nothing has changed
    assert np.mean(told[1::2]) > 0.8


def test_only_shares_that_changed_beyond_chance_are_told():
    shares = Interval(
        np.array([0.5, 0.3, 0.2]), np.array([0.4, 0.2, 0.1]), np.array([0.6, 0.6, 0.3])
    )
    pair = SimpleNamespace(y=np.repeat(["a", "b", "c"], 10))

    def told(*changed):
        mixture = SimpleNamespace(classes=shares, changed=np.array(changed))
        found = SimpleNamespace(pair=pair, inconsistency=SimpleNamespace(mixture=mixture))
        return differences.classes(found)

    assert told(False, False, False) == ""
    assert told(True, False, False).endswith("rows: class a 50% [40%, 60%], was 33%.")


# Scale


def skewed(rng, n):
    return np.exp(rng.normal(3, 1, n))


@pytest.mark.parametrize("change", ["x / 100", "x * 100", "(x - x.mean()) / x.std()"])
def test_another_unit_is_told(change):
    labeled, unlabeled = halves()
    unlabeled["proline"] = eval(change, {"x": unlabeled["proline"]})
    assert [c.name for c in compare_columns(of_frames(labeled, unlabeled, "target"))[1]] == [
        "proline"
    ]


@pytest.mark.parametrize("factor", [3.28, 1 / 3.28])
def test_feet_are_not_metres(factor):
    rng = np.random.default_rng(0)
    labeled = pd.DataFrame({"height": rng.normal(1.7, 0.1, 100), "y": np.arange(100) % 2})
    unlabeled = pd.DataFrame({"height": factor * rng.normal(1.7, 0.1, 400)})
    assert len(compare_columns(of_frames(labeled, unlabeled, "y"))[1]) == 1


@pytest.mark.parametrize(
    "chosen",
    [
        lambda x, q: x < q[0.1],
        lambda x, q: x > q[0.9],
        lambda x, q: (x > q[0.9]) | (np.arange(len(x)) % 40 == 0),
    ],
)
@pytest.mark.parametrize("values", [skewed, lambda rng, n: rng.random(n)])
def test_selected_values_are_not_in_another_unit(chosen, values):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        x = pd.Series(values(rng, 6000))
        labeled = pd.DataFrame({"x": values(rng, 200), "y": np.arange(200) % 2})
        unlabeled = pd.DataFrame({"x": x[chosen(x, x.quantile([0.1, 0.9]))]})
        assert compare_columns(of_frames(labeled, unlabeled, "y"))[1] == []


# Commas


@pytest.mark.parametrize("digits", [1, 2, 4])
def test_decimal_commas_are_numbers(digits, tmp_path):
    labeled, unlabeled = halves()
    pair = read_files(
        tmp_path,
        *(frame.round(digits) for frame in (labeled, unlabeled)),
        index=False,
        sep=";",
        decimal=",",
    )
    np.testing.assert_allclose(pair.labeled, labeled.drop(columns="target").round(digits))
    np.testing.assert_allclose(pair.unlabeled, unlabeled.round(digits))


def test_a_comma_before_three_digits_may_mark_thousands(tmp_path):
    labeled, unlabeled = halves()
    for frame in (labeled, unlabeled):
        frame["proline"] = frame["proline"].map(lambda x: f"{1000 + x % 3:,.0f}")
        frame["hue"] = frame["hue"].map(lambda x: f"0,{1000 * x:03.0f}")
    pair = read_files(tmp_path, labeled, unlabeled, index=False)
    words = [name for name in pair.labeled if not pd.api.types.is_numeric_dtype(pair.labeled[name])]
    assert words == ["proline"]
    assert any("commas in proline may mark decimals or thousands" in note for note in pair.notes)


# Two kinds of inconsistency


def test_rows_like_no_class_are_among_those_that_differ():
    seen, label = Interval(0.05, 0.0, 0.12), Interval(0.2, 0.1, 0.2)
    distribution, label = consistent(seen, label, confused=0.2)
    assert (distribution.low, distribution.high) == (0.0, pytest.approx(0.25))
    assert (label.estimate, label.low, label.high) == (0.05, 0.0, pytest.approx(0.25))
    distribution, label = consistent(seen, Interval(0.0, 0.0, 0.2), confused=CONFUSED + 0.01)
    assert distribution == seen
    assert np.isnan(label.estimate)
    assert (label.low, label.high) == (0.0, 1.0)


def test_an_unknown_class_that_overlaps_known_ones_is_not_denied(few_trees):
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    X, Z = rng.normal(size=(200, 3)), rng.normal(size=(600, 3))
    X[:, 0] += y
    Z[:300, 0] += np.arange(300) % 2
    Z[300:, 0] += 0.5  # half of the rows are of a class between the two
    found = estimate_mixture(X, y, Z)
    assert np.isnan(found.label.estimate)
    assert found.confused > CONFUSED


def told_of(found):
    pair = SimpleNamespace(kind="tabular", labeled=np.empty((9, 3)))
    fields = {"distribution": found.distribution, "label": found.label, "columns": ()}
    return SimpleNamespace(pair=pair, inconsistency=SimpleNamespace(mixture=found, **fields))


@pytest.mark.parametrize("share", [1.0, 0.5])
def test_a_drift_of_all_rows_is_told_from_a_mixture(share, few_trees):
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, :10]
    rows = np.random.default_rng(0).permutation(len(y))
    Z, y = X[rows[150:450]], y[rows[:150]]
    X, move = X[rows[:150]], 0.6 * X.std(0) * np.where(np.arange(10) % 2, 1, -1)
    Z = Z + move * (np.arange(300) < 300 * share)[:, None]
    found = estimate_mixture(X, y, Z)
    if share < 1:
        assert np.isnan(found.drift)
        assert "drift" not in differences.auroc(told_of(found))
        return
    assert 0.5 < found.drift < 0.8
    assert "All unlabeled rows have moved alike" in differences.auroc(told_of(found))
    assert np.isnan(found.label.estimate)
    assert "all rows have moved" in differences.meaning(told_of(found), "label")


# Times and groups


@pytest.mark.parametrize(
    "form",
    [
        *("%Y-%m-%d", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S+00:00", "%d.%m.%Y", "%m/%d/%Y"),
        *("%d/%m/%Y %H:%M", "%d %B %Y", "%b %d, %Y", "%Y%m%d"),
    ],
)
def test_dates_are_times(form):
    days = [18276 + i for i in range(60)]  # since 1970: from 2020-01-15
    words = pd.Series(pd.to_datetime(days, unit="D")).dt.strftime(form)
    found = times_of(words.astype(int) if form == "%Y%m%d" else words)
    np.testing.assert_array_equal(found, np.multiply(days, 86400))


@pytest.mark.parametrize(
    "values",
    [
        *([f"item {i}" for i in range(60)], [f"{i}.5" for i in range(60)], ["a", "b"] * 30),
        *(
            list(range(60)),
            [float(i) for i in range(60)],
            [True, False] * 30,
            ["10-20", "20-30"] * 30,
        ),
        *(list(range(2000, 2060)), [np.nan] * 60),
    ],
)
def test_other_values_are_no_times(values):
    assert times_of(pd.Series(values)) is None


def test_dates_are_left_out_and_told():
    labeled, unlabeled = halves()
    labeled["day"] = pd.date_range("2020-01-01", periods=len(labeled)).astype(str)
    unlabeled["day"] = pd.date_range("2021-01-01", periods=len(unlabeled))
    unlabeled["day"] = unlabeled["day"].astype(str)
    pair = of_frames(labeled, unlabeled, "target")
    assert "day" not in pair.labeled
    assert any("dates or times were left out of the comparison: day" in note for note in pair.notes)
    pair = of_frames(labeled, unlabeled, "target", time="day")
    assert "day" not in pair.labeled
    assert separation(pair.time) == (
        "Your unlabeled rows are later: 100% of them are later than every labeled row."
    )
    red = [frame.assign(colour="red") for frame in (labeled, unlabeled)]
    with pytest.raises(InputError, match="colour holds no times"):
        of_frames(*red, "target", time="colour")


def test_times_and_groups_stay_with_their_rows():
    labeled, unlabeled = halves()
    for frame in (labeled, unlabeled):
        frame["when"], frame["who"] = frame["proline"] / 2, frame["magnesium"].astype(str)
    pair = of_frames(labeled, unlabeled, "target", time="when", group="who").sample(60, 50)
    assert {"when", "who"}.isdisjoint(pair.labeled)
    np.testing.assert_array_equal(pair.time.labeled, pair.labeled["proline"] / 2)
    np.testing.assert_array_equal(pair.time.unlabeled, pair.unlabeled["proline"] / 2)
    both = np.concatenate(pair.group)
    names = pd.concat([pair.labeled, pair.unlabeled])["magnesium"].to_numpy()
    assert ((both[:, None] == both) == (names[:, None] == names)).all()


def test_rows_of_a_group_are_in_one_fold():
    codes, who = np.arange(60) % 2, np.arange(60) // 6
    groups = joined(np.arange(60), who)
    for train, test in stratified(codes, groups, 5, seed=0):
        assert not set(who[train]) & set(who[test])
    chain = joined(np.array([0, 0, 1, 2]), np.array([5, 6, 6, 7]))
    assert chain[0] == chain[1] == chain[2] != chain[3]
    few = np.arange(60) % 3  # fewer groups than folds
    places = [rows for _, rows in parts(codes, (few, np.arange(60, 100)), seed=0)]
    assert sorted(np.concatenate(places)) == list(range(40))


def test_folds_in_time_order_learn_from_earlier_rows():
    rng = np.random.default_rng(0)
    time, codes, who = rng.permutation(100).astype(float), np.arange(100) % 2, np.arange(100) // 2
    time[7] = np.nan
    held = []
    for train, test in stratified(codes, who, 5, seed=0, time=time):
        assert time[train].max() < time[test].min()
        assert not set(who[train]) & set(who[test])
        held += [*test]
    assert sorted(held) == sorted(np.flatnonzero(time >= np.nanmedian(time)))
    with pytest.raises(InputError, match="leave out --time"):
        stratified(codes, who, 5, seed=0, time=np.zeros(100))


# Leaks, classes and files


def test_a_column_that_copies_the_target_is_told():
    labeled, unlabeled = halves(load_breast_cancer, 150)
    labeled = labeled[["mean texture", "mean smoothness", "target"]]
    assert not any("determines" in n for n in of_frames(labeled, unlabeled, "target").notes)
    copy = labeled.assign(outcome=np.where(labeled.target, "good", "bad"))
    pair = of_frames(copy, unlabeled, "target")
    assert any("Warning: outcome nearly determines the target" in note for note in pair.notes)
    other = halves(load_breast_cancer, 150)[0]
    easy = other.assign(**{"mean texture": 10 * other.target, "mean area": 9 * other.target})
    kept = easy[["mean texture", "target"]].assign(far=easy.target * 3.0)
    assert any("mean texture, far nearly" in n for n in of_frames(kept, unlabeled, "target").notes)


def test_rows_of_classes_that_were_left_out_are_accounted_for():
    frame = halves(load_digits, 600)[0]
    frame["target"] = np.where(np.arange(600) < 30, 100 + np.arange(600) // 3, frame.target)
    pair = of_frames(frame, halves(load_digits, 600)[1], "target")
    (note,) = (note for note in pair.notes if "fewer than 5" in note)
    assert "They have 5% of the labeled rows" in note
    assert "look inconsistent for this reason alone" in note


@pytest.mark.parametrize("suffix", ["gz", "zip", "bz2", "xz"])
def test_packed_files_are_read(suffix, tmp_path):
    labeled, unlabeled = halves()
    labeled.to_csv(tmp_path / f"l.csv.{suffix}", index=False, sep=";")
    unlabeled.to_csv(tmp_path / f"u.csv.{suffix}", index=False)
    pair = read(tmp_path / f"l.csv.{suffix}", tmp_path / f"u.csv.{suffix}", "target")
    np.testing.assert_allclose(pair.labeled, labeled.drop(columns="target"))
    (tmp_path / f"bad.csv.{suffix}").write_text("x,y\n1,2\n")
    with pytest.raises(InputError, match="cannot read"):
        read(tmp_path / f"bad.csv.{suffix}", None, "y")


def test_a_pipe_is_read_once(tmp_path):
    labeled, unlabeled = halves()
    unlabeled.to_csv(tmp_path / "u.csv", index=False)
    text = labeled.assign(target=labeled.target.map({0: "NA", 1: "EU", 2: "EU"})).to_csv(
        index=False
    )
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_text, args=(text,))
    writer.start()
    pair = read(tmp_path / "pipe", tmp_path / "u.csv", "target")
    writer.join()
    assert set(pair.y) == {"NA", "EU"}


def test_targets_that_cannot_be_used_are_told(tmp_path):
    labeled, unlabeled = halves()
    with pytest.raises(InputError, match="got 80 of class NA"):
        read_files(tmp_path, labeled.assign(target="NA"), unlabeled, index=False)
    with pytest.raises(InputError, match="target is the target: it cannot be dropped"):
        of_frames(labeled, unlabeled, "target", drop=["target"])


def test_the_same_rows_twice_are_remarked_on():
    labeled, unlabeled = halves()
    assert remarks.SAME in of_frames(labeled, labeled.drop(columns="target"), "target").notes
    assert remarks.SAME not in of_frames(labeled, unlabeled, "target").notes


def test_a_model_does_not_answer_for_rows_that_lack_most_columns():
    labeled, unlabeled = halves()
    model = Model("self_training").fit(labeled.drop(columns="target"), labeled.target)
    with pytest.raises(InputError, match=r"lack 12 of the 13 columns .*: malic_acid, ash"):
        model.predict(unlabeled[["alcohol"]])
    assert len(model.predict(unlabeled.iloc[:, :7])) == len(unlabeled)


# All rows


def test_every_row_gets_a_probability_from_forests_that_have_not_seen_it(few_trees):
    rng = np.random.default_rng(0)
    y = np.arange(150) % 3
    X, Z = rng.normal(size=(150, 4)) + y[:, None], rng.normal(size=(900, 4))
    Z += rng.integers(0, 3, 900)[:, None]
    bad = np.arange(900) % 3 == 0
    Z[bad, 0] -= 8
    found = estimate_mixture(X, y, Z, sample=np.arange(0, 300))
    assert found.inconsistent.shape == (900,)
    assert found.inconsistent[300:][bad[300:]].mean() > 0.9
    assert found.inconsistent[300:][~bad[300:]].mean() < 0.15
    assert found.distribution.low <= 1 / 3 <= found.distribution.high


def test_rows_csv_covers_all_rows(few_trees):
    labeled, unlabeled = halves()
    pair = of_frames(labeled, unlabeled, "target")
    part = pair.sample(80, 50)
    found = inspect_all(pair, part, lambda: None)
    rows = inconsistent_rows(SimpleNamespace(pair=part, unlabeled=98, inconsistency=found))
    assert sorted(rows.row) == list(range(98))
    assert rows.inconsistent.notna().all()
    fewer = SimpleNamespace(mixture=SimpleNamespace(inconsistent=np.ones(50)))  # texts, images
    rows = inconsistent_rows(SimpleNamespace(pair=part, unlabeled=98, inconsistency=fewer))
    assert sorted(rows.row[rows.inconsistent.notna()]) == list(part.rows)
