"""The audit: its estimates on data of which the truth is known, its verdict, its model."""

import json
import math
import os
import signal
import subprocess
import sys
import zipfile
from contextlib import contextmanager
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pandas as pd
import pytest
from gates import LONG, alive, wait_for
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.preprocessing import StandardScaler

import robustssl
from robustssl import InputError, registry
from robustssl.audits import forests, inspect, model_file, of_frames
from robustssl.audits.bench import bench_of
from robustssl.audits.columns import _share, compare_columns
from robustssl.audits.gains import by_labels, measure
from robustssl.audits.mixture import estimate_mixture, estimate_share
from robustssl.audits.model import Model
from robustssl.audits.model_file import load_model, save_model
from robustssl.audits.reading import _encoded, read
from robustssl.audits.rows import Pair
from robustssl.registry import trust


@contextmanager
def smaller_forests():
    """For what is clear with fewer trees, too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(forests, "TREES", 25)
        patch.setattr(forests, "TREES_OF_LIKENESS", 15)
        yield


@pytest.fixture
def few_trees():
    with smaller_forests():
        yield


# Estimates


@pytest.mark.parametrize("t", [0.0, 0.3, 0.7, 1.0])
def test_the_share_of_a_mixture_of_scores_is_within_its_interval(t):
    rng, within, widths = np.random.default_rng(0), [], []
    for _ in range(100):
        inconsistent = rng.random(1000) < t
        high = np.where(inconsistent, rng.normal(3, 1, 1000), rng.normal(0, 1, 1000))
        found = estimate_share(rng.normal(0, 1, 200), high, np.ones(200))
        within.append(found.low <= t <= found.high)
        widths.append(found.high - found.low)
    assert np.mean(within) >= 0.9
    assert np.median(widths) < 0.3


def test_labeled_rows_count_by_their_weights():
    rng = np.random.default_rng(0)
    low = np.concatenate([rng.normal(0, 1, 100), rng.normal(6, 1, 100)])  # two classes, 1 to 1
    high = np.concatenate([rng.normal(0, 1, 900), rng.normal(6, 1, 100)])  # and 9 to 1
    weights = np.repeat([0.9, 0.1], 100)
    assert estimate_share(low, high, weights).low == 0
    assert estimate_share(high, low, np.ones(1000)).low > 0.2  # unweighted, a class stands out


def problem(dataset, environment, t, labels, seed=0):
    data, env = registry.dataset(dataset), registry.environment(environment)
    split = env.split(env.pools(data, labels, np.random.default_rng(seed)), t)
    labeled = split.y >= 0
    X = split.X.reshape(len(split.X), -1).astype(float)
    return X[labeled], split.y[labeled], X[~labeled]


@pytest.mark.parametrize(
    ("dataset", "kind", "t", "labels"),
    [
        ("digits", "label", 0.6, 20),
        ("breast_cancer", "distribution", 1.0, 50),
        pytest.param("breast_cancer", "distribution", 0.0, 50, marks=pytest.mark.slow),
        pytest.param("breast_cancer", "distribution", 0.6, 50, marks=pytest.mark.slow),
        pytest.param("digits", "label", 0.0, 20, marks=pytest.mark.slow),
        pytest.param("digits", "label", 1.0, 20, marks=pytest.mark.slow),
    ],
)
def test_the_true_t_of_real_data_lies_in_the_interval(dataset, kind, t, labels):
    found = getattr(estimate_mixture(*problem(dataset, kind, t, labels)), kind)
    assert found.low - 1e-9 <= t <= found.high + 1e-9
    assert found.high - found.low < 0.6


def gaussians(rng, shares, n, centres=((0, 0), (4, 0), (0, 4))):
    y = rng.choice(len(shares), n, p=shares)
    return rng.normal(size=(n, 2)) + np.array(centres)[y], y


def test_other_shares_of_the_classes_are_not_inconsistent():
    rng = np.random.default_rng(0)
    X, y = gaussians(rng, [1 / 3] * 3, 150)
    Z, _ = gaussians(rng, [0.8, 0.15, 0.05], 600)
    found = estimate_mixture(X, y, Z)
    assert found.distribution.low == 0
    assert found.distribution.high < 0.35
    assert np.abs(found.classes.estimate - [0.8, 0.15, 0.05]).max() < 0.1


def test_inconsistent_rows_are_found_one_by_one_and_the_feature_that_tells_them(few_trees):
    rng = np.random.default_rng(0)
    X, y = gaussians(rng, [1 / 3] * 3, 150)
    Z, _ = gaussians(rng, [1 / 3] * 3, 600)
    inconsistent = np.arange(600) < 240
    Z[inconsistent] = rng.normal((0, -8), size=(240, 2))
    found = estimate_mixture(X, y, Z)
    assert found.distribution.low <= 0.4 <= found.distribution.high
    assert found.label.low <= 0.4 <= found.label.high
    assert found.inconsistent[inconsistent].mean() > 0.9
    assert found.inconsistent[~inconsistent].mean() < 0.15
    assert found.weight.argmax() == 1
    assert found.p < 1e-6
    assert found.auroc > 0.6


def test_rows_that_are_in_both_files_are_consistent(few_trees):
    rng = np.random.default_rng(0)
    X, y = gaussians(rng, [1 / 3] * 3, 150)
    for Z in (X, np.concatenate([X, gaussians(rng, [1 / 3] * 3, 150)[0]])):
        found = estimate_mixture(X, y, Z)
        assert found.distribution.low == found.label.low == 0
        assert found.distribution.estimate < 0.15


def test_copies_of_a_row_are_not_in_two_folds():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(30, 4))).add_prefix("x").assign(y=rng.permutation(30) % 2)
    frame = pd.concat([frame] * 6)  # labels by chance: a copy would give them away
    pair = of_frames(frame, frame.drop(columns="y"), "y")
    with bench_of(pair) as bench:
        (said,) = by_labels(bench, "forest", [1.0]).values()
    assert (said.argmax(1) == pair.y).mean() < 0.75


def test_no_forest_scores_a_row_that_it_has_seen(few_trees):
    """Rows of one kind, with pure noise for labels: were a row seen, it would be told apart."""
    rng = np.random.default_rng(0)
    found = estimate_mixture(
        rng.normal(size=(100, 5)), rng.permutation(100) % 2, rng.normal(size=(400, 5))
    )
    assert 0.4 < found.auroc < 0.6
    assert found.distribution.low == 0


# Columns


@pytest.mark.parametrize("load", [load_wine, load_breast_cancer])
def test_two_halves_of_a_table_have_lost_nothing(load):
    frame = load(as_frame=True).frame
    for seed in range(20):
        half = frame.sample(frac=0.5, random_state=seed)
        t, lost = compare_columns(of_frames(half, frame.drop(half.index), "target"))
        assert (t.estimate, t.high, lost) == (0, 0, [])


def wine():
    return load_wine(as_frame=True).frame.rename(columns={"target": "cultivar"})


def test_each_way_to_lose_a_column_is_told():
    frame = wine()
    other = frame.drop(columns=["cultivar", "ash"])
    other["alcohol"] = 13.0
    other["hue"] = other["hue"].map("{:.1f} units".format)
    other["proline"] = other["proline"] / 1000
    other["magnesium"] = np.nan
    other.loc[other.index[::2], "flavanoids"] = np.nan
    t, lost = compare_columns(of_frames(frame, other, "cultivar"))
    told = {column.name: column.problem for column in lost}
    assert told["ash"] == told["magnesium"] == "missing"
    assert told["alcohol"] == "the same value in every unlabeled row"
    assert told["hue"] == "numbers in the labeled rows, words in the unlabeled rows"
    assert "another scale: about 0.001 times" in told["proline"]
    assert "50% of the unlabeled rows and in 0% of the labeled" in told["flavanoids"]
    assert len(lost) == 6
    assert t.estimate == pytest.approx(5.5 / 13)


@settings(deadline=None)
@given(st.integers(1, 60), st.floats(0, 1))
def test_t_is_within_the_interval_of_the_columns_it_loses(d, t):
    lost = math.ceil(t * d - 1e-9)
    found = _share(lost, d, d)
    assert found.low - 1e-9 <= t <= found.high + 1e-9
    assert found.high - found.low <= 1 / d + 1e-9


def test_columns_that_say_nothing_widen_the_interval_as_a_sample_does():
    rng, within = np.random.default_rng(0), []
    for _ in range(400):
        lost, seen = rng.permutation(50) < 20, rng.permutation(50) < 25
        found = _share(int((lost & seen).sum()), 25, 50)
        within.append(found.low <= 0.4 <= found.high)
    assert 0.9 <= np.mean(within) < 1


# Models


def mixed(rng, n=80):
    frame = pd.DataFrame({"x": rng.normal(size=n), "city": rng.choice(["Rome", "Oslo"], n)})
    frame["y"] = np.where(frame.x + 3 * (frame.city == "Rome") > 1.5, "yes", "no")
    frame.loc[::7, "x"] = np.nan
    return frame


@pytest.mark.parametrize("algorithm", ["self_training", "cast", "safe_ensemble"])
def test_a_model_is_the_same_after_it_was_saved(algorithm, tmp_path):
    if algorithm == "cast":
        pytest.importorskip("xgboost")
    frame = mixed(np.random.default_rng(0))
    rows = frame.drop(columns="y")
    model = Model(algorithm).fit(rows[:40], frame.y[:40], rows[40:])
    save_model(model, tmp_path / "model.skops")
    loaded = robustssl.load_model(tmp_path / "model.skops")
    new = mixed(np.random.default_rng(1)).drop(columns="y")
    new.loc[3, "city"] = "Paris"
    assert list(loaded.predict(new)) == list(model.predict(new))
    assert list(loaded.predict(new[["city", "x"]])) == list(model.predict(new))
    assert np.mean(loaded.predict(new) == mixed(np.random.default_rng(1)).y) > 0.8
    assert set(loaded.predict(new.drop(columns="x"))) <= {"yes", "no"}


class Stranger:
    """What a model file must not hold."""


def test_a_file_that_names_a_stranger_is_not_loaded(tmp_path):
    path = tmp_path / "model.skops"
    save_model(Stranger(), path)
    with pytest.raises(InputError, match=r"names .*Stranger, which is not ours"):
        load_model(path)
    for call in (np.testing.measure, trust.imported):  # both run what they are given
        model = Model("self_training", "text").fit(["red wine", "new car"] * 5, [0, 1] * 5)
        model.encoder_.steps[0][1].tokenizer = call
        save_model(model, path)
        with pytest.raises(InputError, match="which is not ours"):
            load_model(path)
    save_model(StandardScaler(), path)
    with pytest.raises(InputError, match="holds a StandardScaler"):
        load_model(path)
    path.write_bytes(b"no archive")
    with pytest.raises(InputError, match="is not a model"):
        load_model(path)
    with pytest.raises(InputError, match="there is no file"):
        load_model(tmp_path / "none")


def test_a_model_that_unpacks_to_too_much_is_not_loaded(tmp_path, monkeypatch):
    monkeypatch.setattr(model_file, "LARGEST", 10**6)
    with zipfile.ZipFile(tmp_path / "m.skops", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("schema.json", b" " * (10**6 + 1))
    assert (tmp_path / "m.skops").stat().st_size < 10**4
    with pytest.raises(InputError, match="holds more than 1,000,000 bytes, unpacked"):
        load_model(tmp_path / "m.skops")


OLD = Path(__file__).parent / "data" / "old"  # written by version 0.1


def old_rows(kind):
    """The rows whose answers version 0.1 wrote down."""
    if kind == "table":
        rows = load_wine(as_frame=True).data
        return rows.assign(word=["abc"[i % 3] for i in range(len(rows))])
    if kind == "text":
        pairs = zip(["good film"] * 20 + ["bad book"] * 20, ["yes", "no"] * 20, strict=True)
        return np.array([f"{a} {b} word {i % 7}" for i, (a, b) in enumerate(pairs)], object)
    images = np.random.default_rng(0).integers(0, 255, (30, 6, 6, 1)).astype(np.uint8)
    images[15:] //= 2
    return images


@pytest.mark.parametrize("kind", ["table", "text", "image"])
def test_models_of_version_0_1_give_the_same_answers(kind, tmp_path):
    answers = np.load(OLD / "answers.npz")[kind]
    model = load_model(OLD / f"{kind}.skops")
    np.testing.assert_allclose(model.predict_proba(old_rows(kind)), answers, atol=1e-12)
    save_model(model, tmp_path / "again.skops")
    again = load_model(tmp_path / "again.skops")
    np.testing.assert_allclose(again.predict_proba(old_rows(kind)), answers, atol=1e-12)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (("robustssl.features", "_flat"), ("robustssl.features", "_other")),
        (("robustssl.features", "_flat"), ("robustssl.registry", "own")),
        (("robustssl.features", "_flat"), ("robustssl.algorithms._boosting", "boost")),
        (("robustssl.features", "_flat"), ("robustssl.algorithms.self_training", "Any")),
        (("robustssl.audits.model", "Model"), ("robustssl.features", "Model")),
    ],
)
def test_an_old_model_that_was_tampered_with_is_refused(old, new, tmp_path):
    def change(node):
        if (node.get("__module__"), node.get("__class__")) == old:
            node["__module__"], node["__class__"] = new
        return node

    path = tmp_path / "model.skops"
    with ZipFile(OLD / "image.skops") as source, ZipFile(path, "w") as made:
        for name in source.namelist():
            content = source.read(name)
            if name == "schema.json":
                content = json.dumps(json.loads(content, object_hook=change))
            made.writestr(name, content)
    with pytest.raises(InputError, match=f"names {'.'.join(new)}, which is not ours"):
        load_model(path)


def test_a_model_says_what_it_cannot_answer():
    frame = mixed(np.random.default_rng(0))
    model = Model("self_training").fit(frame[["x", "city"]], frame.y)
    assert list(model.predict(frame[:0])) == []
    assert set(model.predict(frame.assign(x=np.inf))) <= {"yes", "no"}
    with pytest.raises(InputError, match=r"lack 2 of the 2 columns .*: x, city"):
        model.predict(frame[["y"]])
    with pytest.raises(InputError, match=r"must be a pandas\.DataFrame"):
        model.predict(frame.to_numpy())


def test_the_answers_are_classes_as_they_were_read():
    frame = mixed(np.random.default_rng(0))
    for classes in ((-1, 1), (False, True), ("no", "yes")):  # -1 is a class like any other
        y = np.where(frame.y == "yes", classes[1], classes[0])
        model = Model("self_training").fit(frame[["x", "city"]][:40], y[:40], frame[["x", "city"]])
        assert np.mean(model.predict(frame) == y) > 0.9


# Reading


def test_one_file_with_empty_targets_is_the_same_pair(tmp_path):
    pytest.importorskip("pyarrow")
    frame = wine().sample(frac=1, random_state=0).reset_index(drop=True)
    frame[:60].to_csv(tmp_path / "l.csv", index=False)
    frame[60:].drop(columns="cultivar").to_parquet(tmp_path / "u.parquet")
    frame["cultivar"] = frame.cultivar.where(frame.index < 60)
    frame.to_csv(tmp_path / "one.csv", index=False)
    two = read(tmp_path / "l.csv", tmp_path / "u.parquet", "cultivar", None)
    one = read(tmp_path / "one.csv", None, "cultivar", None)
    assert list(one.y) == list(two.y)
    assert one.y.dtype == int  # not 0.0
    for mine, theirs in ((one.labeled, two.labeled), (one.unlabeled, two.unlabeled)):
        np.testing.assert_array_equal(mine.to_numpy(), theirs.to_numpy())


def test_ids_and_columns_of_one_file_alone_are_left_out_and_told():
    frame = mixed(np.random.default_rng(0), 200)
    frame["id"] = [f"row {i}" for i in range(200)]
    pair = of_frames(frame[:100], frame[100:].assign(new=1).drop(columns="y"), "y")
    assert list(pair.unlabeled) == ["x", "city"]
    assert "Columns that only the unlabeled rows have were left out: new." in pair.notes
    assert any("identifier" in note and "left out: id." in note for note in pair.notes)


def test_row_numbers_are_left_out_and_so_is_what_is_asked():
    frame = wine().assign(row=np.arange(178), day=np.arange(178) + 700_000)
    frame["id"] = [f"a{i}" for i in range(178)]
    pair = of_frames(frame[::4], frame[1::2].drop(columns="cultivar"), "cultivar", drop=["hue"])
    assert {"row", "day", "id", "hue"}.isdisjoint(pair.labeled)
    assert pair.labeled.shape[1] == 12
    with pytest.raises(InputError, match="did you mean 'hue'"):
        of_frames(frame, frame, "cultivar", drop=["hu"])


def test_a_class_may_be_called_none_and_rare_ones_are_left_out(tmp_path):
    frame = mixed(np.random.default_rng(0), 120)
    frame["y"] = ["None", "NA", "mild", ""] * 28 + ["rare"] * 3 + [""] * 5
    frame.to_csv(tmp_path / "one.csv", index=False, sep=";")
    pair = read(tmp_path / "one.csv", None, "y", None)
    assert set(pair.y) == {"None", "NA", "mild"}
    assert len(pair.unlabeled) == 33
    assert pair.notes[0].startswith("Classes with fewer than 5 labeled rows were left out: rare.")


def test_gaps_and_a_few_odd_cells_are_no_other_type():
    frame = mixed(np.random.default_rng(0), 200).assign(n=1.0 * np.arange(200) % 7, flag=True)
    frame["flag"] = np.arange(200) % 3 == 0
    other = frame[100:].drop(columns="y").astype({"n": object, "flag": object})
    other.loc[other.index[:3], "n"] = "?"
    other.loc[other.index[5:9], "flag"] = None
    _, lost = compare_columns(of_frames(frame[:100], other, "y"))
    assert [column.name for column in lost] == []
    renamed = other.assign(city=other.city + " (new)")
    _, lost = compare_columns(of_frames(frame[:100], renamed, "y"))
    (column,) = lost
    assert column.problem == "100% of the unlabeled rows have a value that no labeled row has"


def bad(tmp_path, labeled, unlabeled, target="cultivar", **how):
    for name, frame in (("l.csv", labeled), ("u.csv", unlabeled)):
        frame.to_csv(tmp_path / name, index=False)
    read(tmp_path / "l.csv", tmp_path / "u.csv", target, how.get("text"))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda f: (f, f[:29], {}), "at least 30 unlabeled rows, got 29"),
        (lambda f: (f[f.cultivar == 0], f, {}), "at least 2 classes .* got 59 of class 0"),
        (lambda f: (f[:63], f, {}), "got 59 of class 0, 4 of class 1"),
        (lambda f: (f[:0], f, {}), "no labeled rows"),
        (lambda f: (f, f, {"target": "cultivr"}), "did you mean 'cultivar'"),
        (lambda f: (f, f, {"target": ""}), "--target COLUMN"),
        (lambda f: (f, f, {"target": "alcohol"}), "alcohol holds 126 different numbers"),
        (lambda f: (f, f.add_prefix("a"), {}), "no column in common"),
        (lambda f: (f[["cultivar"]], f, {}), "no column besides cultivar"),
        (lambda f: (f, f, {"text": "words"}), "words"),
    ],
)
def test_bad_input_is_told_in_a_sentence(change, words, tmp_path):
    labeled, unlabeled, how = change(wine())
    with pytest.raises(InputError, match=words):
        bad(tmp_path, labeled, unlabeled, **how)


def test_files_that_are_not_there_and_folders_without_images(tmp_path):
    with pytest.raises(InputError, match="no file or folder"):
        read(tmp_path / "none.csv", None, "y", None)
    (tmp_path / "a").mkdir()
    wine().to_csv(tmp_path / "f.csv")
    with pytest.raises(InputError, match=r"is a file, but .* is a folder"):
        read(tmp_path / "f.csv", tmp_path / "a", "cultivar", None)
    with pytest.raises(InputError, match="second folder"):
        read(tmp_path / "a", None, "", None)
    wine().to_csv(tmp_path / "all.csv", index=False)
    with pytest.raises(InputError, match=r"every row of .* has a cultivar"):
        read(tmp_path / "all.csv", None, "cultivar", None)


def test_texts_and_images_are_compared_too(tmp_path, few_trees):
    from PIL import Image

    rng = np.random.default_rng(0)
    topics = [["ball", "goal", "team"], ["vote", "law", "state"], ["atom", "cell", "star"]]

    def texts(which, n):
        return [" ".join([*rng.choice(topics[k], 6), "and", "the"]) for k in which[:n]]

    y = np.arange(120) % 2
    labeled = pd.DataFrame({"text": texts(y, 120), "y": np.array(["sport", "politics"])[y]})
    other = pd.DataFrame({"text": texts(rng.choice(3, 300), 300)})  # a third is of a new topic
    pair = of_frames(labeled, other, "y", encoder="tfidf")
    assert (pair.kind, pair.encoder) == ("text", "tfidf")
    assert pair.notes == ["The texts were compared by the vectors of the encoder tfidf."]
    found = inspect(pair)
    assert found.label.low <= 1 / 3 <= found.label.high
    assert {"atom", "cell", "star"} == {word for word, *_ in found.telling[:3]}

    for folder, colours in (("l/red", "r"), ("l/blue", "b"), ("u", "rb")):
        (tmp_path / folder).mkdir(parents=True)
        for i in range(30):
            image = rng.integers(0, 80, (8, 8, 3), np.uint8)
            image[..., "rgb".index(colours[i % len(colours)])] += 150
            Image.fromarray(image).save(tmp_path / folder / f"{i}.png")
    pair = read(tmp_path / "l", tmp_path / "u", "", None, encoder="pixels")
    assert (pair.kind, pair.labeled.shape, len(pair.unlabeled)) == ("image", (60, 32, 32, 3), 30)
    model = Model("self_training", "image").fit(pair.labeled, pair.y, pair.unlabeled)
    assert np.mean(model.predict(pair.labeled) == pair.y) == 1
    save_model(model, tmp_path / "model.skops")
    assert list(load_model(tmp_path / "model.skops").predict(pair.labeled)) == list(pair.y)


# The whole


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("supervised_logistic", "does not use unlabeled rows"),
        ("fixmatch", "fixmatch is a neural network"),
        ("self_trainin", "did you mean 'self_training'"),
    ],
)
def test_a_method_that_cannot_be_tried_is_told_first(name, words):
    with pytest.raises(InputError, match=words):
        robustssl.audit(wine(), wine().drop(columns="cultivar"), "cultivar", algorithms=[name])


GATED_AUDIT = """
import sys
from test_audits import wine, of_frames, bench_of, measure
frame = wine()
pair = of_frames(frame[::2], frame[1::2].drop(columns="cultivar"), "cultivar")
with bench_of(pair) as bench:
    measure(bench, [sys.argv[1]])
"""


def in_shared_memory(pid):
    maps = Path(f"/proc/{pid}/maps").read_text().splitlines()
    return {Path(line.split(None, 5)[5]) for line in maps if "/dev/shm/" in line}


@pytest.mark.parametrize("end", ["SIGKILL", "SIGTERM"])
def test_an_audit_that_is_killed_leaves_nothing(gate, end):
    learner = gate.learner.replace("Gated", "GatedBeside")
    script = [sys.executable, "-c", GATED_AUDIT, learner]
    here = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    audit = subprocess.Popen(script, env=here, cwd=Path(__file__).parent)
    wait_for(lambda: gate.arrived() or audit.poll() is not None)
    (worker, *others) = gate.arrived()
    shared = in_shared_memory(audit.pid) | in_shared_memory(worker)
    audit.send_signal(getattr(signal, end))
    audit.wait(LONG)
    wait_for(lambda: not any(map(alive, [worker, *others])))
    assert shared
    wait_for(lambda: not any(path.exists() for path in shared))


def test_a_process_of_an_audit_that_ends_is_told():
    frame = wine()
    pair = of_frames(frame[::2], frame[1::2].drop(columns="cultivar"), "cultivar")
    ended = pytest.raises(InputError, match="a process of the audit ended without a word")
    with ended, bench_of(pair) as bench:
        measure(bench, ["doomed:EndsBeside"])


def test_a_pair_keeps_its_rows_in_a_sample():
    frame = wine()
    pair = of_frames(frame, frame.drop(columns="cultivar"), "cultivar").sample(60, 50)
    assert (len(pair.labeled), len(pair.unlabeled)) == (60, 50)
    assert sorted(np.bincount(pair.y)) == [16, 20, 24]
    np.testing.assert_array_equal(pair.unlabeled, frame.drop(columns="cultivar").iloc[pair.rows])
    np.testing.assert_array_equal(pair.y, frame.cultivar[pair.labeled.index])


def test_a_frame_is_audited_with_a_frame():
    with pytest.raises(InputError, match=r"must be a pandas\.DataFrame like labeled, got str"):
        robustssl.audit(wine(), "unlabeled.csv", "cultivar")


def test_images_behind_an_encoder_and_the_model_in_a_file(tmp_path, monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.setenv("ROBUSTSSL_CACHE", str(tmp_path / "cache"))
    rng = np.random.default_rng(0)
    images = rng.integers(0, 80, (60, 128, 128, 3), np.uint8)
    y = np.arange(60) % 2
    images[y == 1, ..., 0] += 120
    pair = _encoded(Pair(images[:30], y[:30], images[30:], kind="image"), "tiny:Random")
    assert pair.notes == ["The images were compared by the vectors of the encoder tiny:Random."]
    model = Model("self_training", "image", encoder=pair.encoder)
    model.fit(pair.labeled, pair.y, pair.unlabeled)
    save_model(model, tmp_path / "model.skops")
    registry.find.cache_clear()  # as in a process that has not imported it
    with pytest.raises(InputError, match="tiny:Random is not imported here"):
        load_model(tmp_path / "model.skops")
    again = load_model(tmp_path / "model.skops", trusted=["tiny.Random"])
    assert (again.predict(images[30:]) == y[30:]).mean() > 0.9
    with pytest.raises(InputError, match="size=128"):
        again.predict(images[:, :32, :32])
