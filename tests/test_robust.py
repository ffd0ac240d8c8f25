"""The methods that claim robustness: each does what it claims, on data made to show it."""

import sqlite3
import warnings
from contextlib import closing
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import torch
from gates import EVERYTHING
from hypothesis import given, settings
from hypothesis import strategies as st
from own_net import Normed
from sklearn.metrics import roc_auc_score
from test_deep import DEEP, digits, images, rows, stack_of
from typer.testing import CliRunner

import robustssl
from robustssl import InputError, registry
from robustssl.algorithms.adamatch import AdaMatch
from robustssl.algorithms.cafa import CAFA
from robustssl.algorithms.defixmatch import DeFixMatch
from robustssl.algorithms.feature_dropout import FeatureDropout
from robustssl.algorithms.mtcf import otsu
from robustssl.algorithms.scarf import SCARF
from robustssl.cell import Cell
from robustssl.cli import app
from robustssl.deep.inputs import Inputs, inputs_of
from robustssl.deep.net import Whole
from robustssl.deep.together import Training
from robustssl.deep.train import train
from robustssl.deep.types import Batch
from robustssl.execution.worker import run_group
from robustssl.records.results import read
from robustssl.splits import prepare
from robustssl.studies.study import study

ROBUST = [name for name in DEEP if getattr(registry.algorithm(name), "targets", ())]


@pytest.fixture(autouse=True)
def _one_thread_of_the_processor(monkeypatch):
    torch.set_num_threads(1)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)


# Detection: half of the unlabeled rows are of classes that have no labels


def open_set(seed, apart):
    """(X, test rows of known classes, test rows of unknown classes), y: six round clusters, three
    of which have 10 labels each; `apart` scales their distances.
    """
    rng = np.random.default_rng(seed)
    centres = apart * rng.normal(size=(6, 10))

    def draw(classes, count):
        return centres[rng.choice(classes, count)] + rng.normal(size=(count, 10))

    y = np.repeat([0, 1, 2], 10)
    X = np.vstack([centres[y] + rng.normal(size=(30, 10)), draw(3, 150), draw([3, 4, 5], 150)])
    mean, deviation = X.mean(0), X.std(0)
    seen, unseen = draw(3, 500), draw([3, 4, 5], 500)
    y = np.concatenate([y, np.full(300, -1)])
    return tuple((part - mean) / deviation for part in (X, seen, unseen)), y


@cache
def detection(spec, apart, seeds=10):
    """The mean AUROC of a method's own score in detecting rows of unknown classes."""
    data = [open_set(seed, apart) for seed in range(seeds)]
    models = [registry.estimator(spec, random_state=seed) for seed in range(seeds)]
    assert models[0].fit_together(models, [(X, y) for (X, _, _), y in data]) == [None] * seeds
    found = []
    for model, ((_, seen, unseen), _) in zip(models, data, strict=True):
        scores = model.inconsistency_score(np.vstack([seen, unseen]))
        found.append(roc_auc_score(np.repeat([0, 1], [len(seen), len(unseen)]), scores))
    return np.mean(found)


_LONG = [pytest.param(name, marks=pytest.mark.slow) for name in ("mtcf", "iomatch", "scomatch")]


@pytest.mark.parametrize("name", ["uasd", *_LONG])
def test_unseen_classes_are_scored_as_less_consistent(name):
    steps = 500 if EVERYTHING else 200
    ours, baseline = f"{name}[steps={steps}]", f"supervised_net[steps={steps}]"
    assert detection(ours, apart=4.0) > 0.8
    assert detection(ours, apart=0.5) > detection(baseline, apart=0.5)


@settings(deadline=None)
@given(st.lists(st.floats(0, 1, width=32), min_size=2, max_size=30), st.integers(2, 30))
def test_otsus_threshold_is_the_best_of_all(scores, count):
    count = min(count, len(scores))
    used = np.sort(np.array(scores[:count]))
    padded = torch.tensor([*used, *[9.0] * 5], dtype=torch.float64)
    found = float(otsu(padded, torch.arange(len(padded)) < count))

    def apart(threshold):
        low, high = used[used < threshold], used[used >= threshold]
        if not len(low) or not len(high):
            return 0.0
        return len(low) * len(high) * (low.mean() - high.mean()) ** 2

    assert apart(found) == pytest.approx(max(map(apart, used)), abs=1e-9)


@pytest.mark.parametrize("valid", [[True], [False], [True, *[False] * 4], [False] * 5])
def test_otsus_threshold_of_less_than_two_rows_is_a_half(valid):
    assert float(otsu(torch.full((len(valid),), 0.3), torch.tensor(valid))) == 0.5


def _plain_scores(name, module, x):
    """The score of one row, computed from the parts of a module."""
    z = module.net.features(x)
    p = torch.softmax(module.net.head(z), 0)
    if name in ("openmatch", "ssb"):
        return 1 - torch.sigmoid(module.detector(z))[int(p.argmax())]
    if name == "iomatch":
        return torch.softmax(module.open(module.projection(z)), 0)[-1]
    if name == "scomatch":
        return torch.softmax(torch.cat([module.net.head(z), module.outlier(z)]), 0)[-1]
    if name == "mtcf":
        return 1 - torch.sigmoid(module.g(z)[0])
    return torch.sigmoid(module.domain(z))[0]


@pytest.mark.parametrize("name", ["openmatch", "ssb", "iomatch", "scomatch", "mtcf", "cafa"])
def test_a_score_is_that_of_the_part_that_is_named(name):
    X, y = rows(0)
    given = {"net": "mlp[width=8]", "steps": 25, "precision": "fp64", "random_state": 0}
    model = registry.estimator(name, **given).fit(X, y)
    net, params = model.model_.net, model.model_.params
    module = net.module
    module.load_state_dict(net.unpack(params))
    with torch.no_grad():
        expected = [float(_plain_scores(name, module, torch.from_numpy(row))) for row in X]
    assert np.abs(model.inconsistency_score(X) - expected).max() < 1e-12


@pytest.mark.parametrize("name", ["fixmatch", "openmatch"])
def test_the_answer_to_a_row_does_not_depend_on_its_batch(name):
    """For a net with batch normalisation, and for a head on it."""
    X, y = images(0)
    given = {"net": "wide_resnet[depth=10,widen=1]", "steps": 5, "batch": 4, "random_state": 0}
    model = registry.estimator(name, **given).fit(X, y)
    for answer in (model.predict_proba, model.inconsistency_score):
        together = answer(X)
        assert np.abs(together[:3] - answer(X[:3])).max() < 1e-5
        assert np.ptp(together, 0).max() > 1e-4
    assert Whole(registry.net("wide_resnet")((8, 8, 3), 3), {}).stacks is False


# Gradients


vectors = st.lists(st.floats(-100, 100), min_size=5, max_size=5)


@pytest.mark.parametrize("name", ["ggr", "fix_a_step"])
@settings(deadline=None)
@given(vectors, vectors)
def test_no_unlabeled_gradient_opposes_the_labeled_one(name, labeled, unlabeled):
    g_l = torch.tensor(labeled, dtype=torch.float64)
    g_u = torch.tensor(unlabeled, dtype=torch.float64)
    state = {"backbone": torch.ones_like(g_l)}
    added = registry.estimator(name).combine(g_l, g_u, state)[0] - g_l
    assert g_l @ added >= -1e-9 * (1 + g_l.norm() * g_u.norm())
    if g_l @ g_u >= 0:
        assert torch.allclose(added, g_u)
    else:
        inside = g_u - (g_l @ g_u) / (g_l @ g_l) * g_l
        assert torch.allclose(added, inside if name == "ggr" else torch.zeros(5).double())


@pytest.mark.parametrize("name", ["ggr", "fix_a_step"])
def test_gradients_oppose_each_other_in_training_and_are_combined(name, monkeypatch):
    """With wrong labels, which confident guesses contradict; every step is checked."""
    kind, met = registry.algorithm(name), []
    plain = kind.combine

    def watched(self, labeled, unlabeled, state):
        combined, after = plain(self, labeled, unlabeled, state)
        met.append([float(labeled @ unlabeled), float(labeled @ (combined - labeled))])
        return combined, after

    monkeypatch.setattr(kind, "combine", watched)
    X, y = rows(0)
    y[:15] = np.random.default_rng(0).permutation(y[:15])
    base = {"base": "fixmatch[threshold=0.4]"} if name == "ggr" else {"threshold": 0.4}
    options = {"net": "mlp[width=8]", "steps": 120, "precision": "fp64", "random_state": 0}
    registry.estimator(name, **base, **options).fit(X, y)
    before, after = np.array(met).T
    assert (before < 0).sum() > 5
    assert after.min() > -1e-12


@pytest.mark.parametrize(
    "base", ["uda", "mixmatch", "openmatch", "mtcf", "feature_dropout", "adamatch"]
)
def test_ggr_is_its_base_where_gradients_agree(base, monkeypatch):
    """Also if its base has a state, noise, heads or a refresh."""
    monkeypatch.setattr(registry.algorithm("ggr"), "combine", lambda self, a, b, s: (a + b, s))
    given = {"net": "mlp[width=8]", "steps": 30, "precision": "fp64", "random_state": 3}
    X, y = rows(1)
    ours = registry.estimator("ggr", base=base, **given).fit(X, y)
    theirs = registry.estimator(base, **given).fit(X, y)
    assert np.abs(ours.predict_proba(X) - theirs.predict_proba(X)).max() < 1e-9
    scores = ours.inconsistency_score(X), theirs.inconsistency_score(X)
    assert np.abs(scores[0] - scores[1]).max() < 1e-9


# The data distribution


def test_defixmatchs_unlabeled_loss_has_mean_zero_where_sets_are_alike():
    """At the start, over 400 draws of both sets from one distribution; FixMatch's mean is not 0."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(3, 8))
    model = DeFixMatch(net="mlp[width=16]", batch=32, ratio=1, threshold=0.4, precision="fp64")
    model.random_state = 0
    values, half = [], []
    for draw in range(400):
        truth = rng.integers(3, size=64)
        truth[:3] = [0, 1, 2]  # every class has a label
        X = centres[truth] + rng.normal(size=(64, 8))
        y = np.where(np.arange(64) < 32, truth, -1)
        stack = stack_of(model, X, y)
        if draw == 0:
            params = stack.params[0]
        stack.batches.put(stack.batches.draw())
        fields = {k: v[0] for k, v in stack.batches.at(stack.step_number).items()}
        fields["step"] = stack.step_number[0]
        _, unlabeled, _ = model.loss(stack.net, params, Batch(**fields), {})
        values.append(float(unlabeled))
        fields["x"], fields["x_strong"] = fields["weak"] * 0, fields["strong"] * 0
        half.append(float(model.loss(stack.net, params, Batch(**fields), {})[1]))
    error = np.std(values) / np.sqrt(len(values))
    assert abs(np.mean(values)) < 3 * error
    assert abs(np.mean(half)) > 10 * error


def test_adamatchs_threshold_follows_the_confidence_on_labeled_rows():
    """Unlabeled rows are trusted beside uncertain labeled rows, and not beside certain ones."""
    X, y = rows(0)
    model = AdaMatch(net="linear", batch=16, precision="fp64", random_state=0, steps=10)
    stack = stack_of(model, X, y)
    stack.batches.put(stack.batches.draw())
    fields = {k: v[0] for k, v in stack.batches.at(stack.step_number).items()}
    fields["step"] = torch.tensor(9.0, dtype=torch.float64)
    state = {name: value[0] for name, value in stack.state.items()}

    def loss(scale):
        labeled = {k: scale * fields[k] for k in ("x", "x_strong")}
        return float(
            model.loss(stack.net, stack.params[0], Batch(**{**fields, **labeled}), state)[1]
        )

    losses = [loss(scale) for scale in (0.0, 0.5, 1.0, 2.0, 4.0, 1000.0)]
    assert losses == sorted(losses, reverse=True)
    assert losses[0] > 0.5
    assert losses[-1] == 0


def test_cafa_weights_shared_classes_above_private_ones():
    """Four classes have labels, and two of these have unlabeled rows."""
    problems = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        centres = 3 * rng.normal(size=(4, 8))
        truth = np.concatenate([np.repeat(np.arange(4), 10), rng.integers(2, size=300)])
        X = centres[truth] + rng.normal(size=(340, 8))
        X = (X - X.mean(0)) / X.std(0)
        y = np.where(np.arange(340) < 40, truth, -1)
        model = CAFA(random_state=seed, steps=300)
        model._encode(X, y)
        problems.append(model._problem(X, y))
    stack = Training(model, Inputs("table", (8,)), 4).stack(problems)
    train(stack)
    weights = stack.state["classes"].mean(0).numpy()
    assert weights[:2].min() > 1.2 * weights[2:].max()


# The feature space


def lacking(X, seed):
    """The rows without a random half of their features, drawn for each row."""
    rng = np.random.default_rng(seed)
    return np.where(rng.random(X.shape) < 0.5, 0.0, X)


def test_a_net_trained_without_some_features_can_do_without_them():
    tasks = [digits(seed) for seed in range(6)]
    scores = {}
    for name in ("fixmatch", "feature_dropout"):
        models = [
            registry.estimator(name, steps=500 if EVERYTHING else 150, random_state=seed)
            for seed in range(6)
        ]
        models[0].fit_together(models, [(X, y) for X, y, _, _ in tasks])
        scores[name] = [
            np.mean(model.predict(lacking(X_test, seed)) == y_test)
            for seed, (model, (_, _, X_test, y_test)) in enumerate(zip(models, tasks, strict=True))
        ]
    gains = np.subtract(scores["feature_dropout"], scores["fixmatch"])
    assert gains.mean() > 2 * gains.std(ddof=1) / np.sqrt(len(gains))


def test_lost_features_have_the_mean_of_the_labeled_rows():
    X, y = rows(0)
    model = FeatureDropout(net="linear", batch=8, most=1.0, precision="fp64", random_state=0)
    stack = stack_of(model, X, y)
    stack.prepare()
    assert np.abs(stack.state["mean"][0].numpy() - X[:15].mean(0)).max() < 1e-12
    chance = model.noise(np.random.default_rng(0), (500, 8, 4))
    lost = chance.mean((0, 2))
    assert chance.shape == (500, 16, 4)
    assert np.abs(lost - 0.5).max() < 0.1


def test_scarf_tells_a_corrupted_row_from_others():
    """At the end of its first part the loss is far below chance, without any labeled loss."""
    X, y, _, _ = digits(0)
    model = SCARF(steps=200, start=0.999, random_state=0, temperature=0.2)
    model._encode(X, y)
    stack = Training(model, inputs_of(X), 10).stack([model._problem(X, y)])
    stack.model.steps = 199  # all but the last
    train(stack)
    assert stack.losses[0, 0] == 0
    assert float(stack.losses[0, 1]) < 0.75 * np.log(32)
    noise = model.noise(np.random.default_rng(0), (50, 8, 4))
    assert np.mean(noise[:, 0] < model.corruption) == pytest.approx(0.6, abs=0.05)


# What users see


def test_what_the_authors_claim_is_known():
    found = {entry["name"]: entry["targets"] for entry in registry.catalog("algorithm")}
    kinds = {"distribution", "label", "feature", "prior", "consistent"}
    assert set().union(*found.values()) <= kinds
    assert (set(found["openmatch"]), set(found["cafa"])) == ({"label"}, {"distribution", "label"})
    assert (set(found["defixmatch"]), set(found["ggr"])) == ({"consistent"}, {"label"})
    assert found["fixmatch"] == found["cast"] == {}
    assert all(place for targets in found.values() for place in targets.values())
    for command, sentence in (
        (["list", "algorithms"], "claims"),
        (["show", "algorithm", "openmatch[start=0.5]"], "claims: label (arXiv:2105.14148"),
    ):
        assert CliRunner().invoke(app, command).output.count(sentence) == 1


def test_the_study_compares_robust_methods_with_fixmatch_and_the_baseline():
    chosen = study("robust-digits")
    others = {"supervised_net", "fixmatch", "scarf", "feature_dropout"}
    assert others < set(chosen.algorithms) <= others | set(ROBUST)
    assert set(chosen.environments) == {"distribution", "label", "feature"}
    assert len(chosen.cells()) == len(chosen.algorithms) * 3 * 6 * 5


@pytest.mark.parametrize("name", ROBUST)
def test_every_method_scores_rows(name):
    X, y = rows(0)
    model = registry.estimator(name, steps=20, random_state=0).fit(X, y)
    scores = model.inconsistency_score(X)
    assert scores.shape == (len(X),)
    assert np.isfinite(scores).all()
    assert np.ptp(scores) > 0


def test_a_score_where_nothing_was_trained():
    X, y = rows(0)
    only = registry.estimator("openmatch").fit(X, np.where(y == 0, 0, -1))
    assert (only.inconsistency_score(X) == 0).all()
    known = registry.estimator("openmatch", steps=20, random_state=0).fit(X[:15], y[:15])
    plain = registry.estimator("supervised_net", steps=20, random_state=0).fit(X[:15], y[:15])
    assert np.array_equal(known.inconsistency_score(X), plain.inconsistency_score(X))
    with pytest.raises(Exception, match="not fitted"):
        registry.estimator("openmatch").inconsistency_score(X)


def test_the_run_stores_how_well_set_aside_rows_are_detected(tmp_path, no_figures, in_process):
    cell = Cell("openmatch", "label", "wine", 5, 1.0, 0, (("steps", 60),))
    (record,) = run_group((cell,))
    prepared = prepare("wine", "label", 5, 0)
    split, aside = prepared.split(1.0), prepared.aside()
    assert np.array_equal(aside, prepared.preprocess(prepared.pools.data.X[prepared.pools.aside]))
    assert len(aside) == len(prepared.pools.aside) > 0
    assert not set(prepared.pools.aside) & {*split.rows, *split.test_rows}
    chance = cell.rng("dataset", "labels", "seed").integers(2**31)
    model = registry.estimator("openmatch", steps=60, random_state=int(chance))
    model.fit(split.X, split.y)
    parts = [model.inconsistency_score(X) for X in (split.X_test, aside)]
    truth = np.repeat([0, 1], [len(part) for part in parts])
    assert record.scores["detection"] == roc_auc_score(truth, np.concatenate(parts))
    for where in ("feature", "label"):
        study = {
            "algorithms": ["supervised_net[steps=20]", "openmatch[steps=20]", "label_spreading"],
            "exclude": [{"algorithm": "supervised_kernel"}],  # without a score of detection too
            "environments": [where],
            "datasets": ["wine"],
            "ts": [0, 1],
            "seeds": 2,
        }
        robustssl.run(study, tmp_path / f"{where}.sqlite", workers=1, progress=False)
    robustssl.report(tmp_path / "label.sqlite", tmp_path / "report")
    page = (tmp_path / "report" / "table.md").read_text()
    assert "## Detection" in page
    assert "| openmatch[steps=20]      | **label**" in page
    table = page.partition("## Detection")[2]
    shown = [line.split("|") for line in table.splitlines() if "steps=20" in line]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        means = (
            read(tmp_path / "label.sqlite", "detection").groupby(["algorithm", "t"]).score.mean()
        )
    for words in shown:
        for place, t in ((4, 0.0), (5, 1.0)):
            assert float(words[place]) == pytest.approx(means[words[1].strip(), t], abs=6e-4)
    overall = [float(words[3].split()[0]) for words in shown]
    assert len(shown) == 2
    assert overall == sorted(overall, reverse=True)
    assert "label_spreading" not in page.partition("## Detection")[2].partition("## Notes")[0]
    robustssl.report(tmp_path / "label.sqlite", tmp_path / "report", columns=["claims", "AUC"])
    latex = (tmp_path / "report" / "table.tex").read_text()
    assert r"\textbf{label}" in latex
    assert "**" not in latex
    robustssl.report(tmp_path / "label.sqlite", tmp_path / "own", score="detection")
    assert "## Detection" not in (tmp_path / "own" / "table.md").read_text()
    robustssl.export(tmp_path / "label.sqlite", tmp_path / "scores.csv")
    with pytest.warns(UserWarning, match="label_spreading: left out"):
        exported = read(tmp_path / "scores.csv", "detection")
    assert len(exported) == 8
    assert exported.score.between(0, 1).all()
    robustssl.report(tmp_path / "feature.sqlite", tmp_path / "other")
    assert "Detection" not in (tmp_path / "other" / "table.md").read_text()
    with pytest.warns(UserWarning, match="label_spreading: left out"):
        frame = read(tmp_path / "label.sqlite", "detection")
    assert set(frame.algorithm) == {"supervised_net[steps=20]", "openmatch[steps=20]"}
    assert frame.score.between(0, 1).all()


def test_set_aside_rows_are_degraded_like_those_a_method_sees():
    prepared = prepare("wine", "label+feature", 5, 0)
    pools = prepared.pools
    lost = prepared.environment.degrade(pools, pools.aside)
    assert not np.array_equal(lost, pools.data.X[pools.aside])
    assert np.array_equal(prepared.aside(), prepared.preprocess(lost))
    cell = Cell("supervised_net", "reference[kind=label]", "wine", 5, 1.0, 0, (("steps", 5),))
    assert len(prepare("wine", "reference[kind=label]", 5, 0).aside()) == 0
    assert "detection" not in run_group((cell,))[0].scores


def test_a_store_keeps_the_columns_that_old_ones_have(tmp_path):
    with robustssl.Store(tmp_path / "store.sqlite"):
        pass
    with closing(sqlite3.connect(tmp_path / "store.sqlite")) as database:
        columns = {row[1] for row in database.execute("PRAGMA table_info(records)")}
    assert "auroc" in columns
    assert not {"detection", "accuracy_there"} & columns


def test_detection_of_curves_that_differ_in_grid_and_seeds(tmp_path, no_figures, in_process):
    for steps, ts, seeds in ((20, [0, 1], 3), (21, [0, 0.5, 1], 2)):
        study = {
            "algorithms": f"cafa[steps={steps}]",
            "environments": ["label+feature"],
            "datasets": ["wine"],
            "ts": ts,
            "seeds": seeds,
        }
        robustssl.run(study, tmp_path / "store.sqlite", workers=1, progress=False)
    robustssl.report(tmp_path / "store.sqlite", tmp_path / "report")
    page = (tmp_path / "report" / "table.md").read_text()
    assert "distribution, **label**" in page
    table = page.partition("## Detection")[2]
    assert "| t = 0   | t = 0.5   | t = 1   |" in table
    assert {line.split("|")[2].strip() for line in table.splitlines() if "cafa" in line} == {
        "2",
        "3",
    }


def test_records_that_lack_a_score_are_known(tmp_path):
    cell = Cell("fixmatch", "label", "wine", 5, 1.0, 0, (("steps", 5),))
    (record,) = run_group((cell,))
    old = {name: value for name, value in record.scores.items() if name != "detection"}
    assert len(old) == 4
    for name, one in (("new", record), ("old", replace(record, scores=old))):
        (tmp_path / f"{name}.jsonl").write_text(one.to_json() + "\n")
    assert robustssl.load(tmp_path / "old.jsonl", tmp_path / "store.sqlite").added == 1
    again = robustssl.load(tmp_path / "new.jsonl", tmp_path / "store.sqlite")
    assert (again.known, again.conflicts) == (1, ())


# What goes wrong


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ("ggr[base=fixmtch]", "fixmatch"),
        ("ggr[base=self_training]", "learns from unlabeled rows"),
        ("ggr[base=supervised_net]", "learns from unlabeled rows"),
        ("ggr[base=fix_a_step]", "must not combine gradients in its own way"),
        ("ggr[base=ggr]", "must not combine gradients in its own way"),
        ("ggr[base=fixmatch[ratio=3],ratio=2]", "give ratio to ggr"),
        ("ggr[base=fixmatch[threshold=-1]]", "threshold must be at least 0, got -1"),
        ("ggr[base=fixmatch[steps=7]]", "give steps to ggr"),
        ("ggr[base=fixmatch[random_state=3]]", "give random_state to ggr"),
        ("mtcf[window=0]", "window must be a whole number of at least 1, got 0"),
        ("openmatch[start=2]", "start must be at least 0 and at most 1, got 2"),
        ("openmatch[start=nan]", "start must be at least 0 and at most 1, got nan"),
        ("openmatch[agreement=-1]", "agreement must be at least 0, got -1"),
        ("scarf[start=1]", "start must be at least 0 and below 1, got 1"),
        ("scarf[corruption=1.5]", "corruption must be at least 0 and at most 1, got 1.5"),
        ("bidirectional_adaptation[transfer=-1]", "transfer must be at least 0, got -1"),
        ("fix_a_step[alpha=0]", r"alpha must be at least 1e-06 and at most 1e\+06, got 0"),
        ("iomatch[width=0]", "width must be a whole number of at least 1, got 0"),
        ("scomatch[queue=0]", "queue must be a whole number of at least 1, got 0"),
        ("ssb[negative=-1]", "negative must be at least 0 and at most 1, got -1"),
        ("feature_dropout[most=1.1]", "most must be at least 0 and at most 1, got 1.1"),
        ("cafa[adversary=-1]", "adversary must be at least 0, got -1"),
    ],
)
def test_wrong_options_are_refused_before_anything_runs(spec, reason, tmp_path):
    study = {"algorithms": [spec], "environments": "label", "datasets": "iris"}
    with pytest.raises(InputError, match=reason):
        robustssl.run(study, tmp_path / "store.sqlite", progress=False)


def test_a_base_may_have_its_own_ratio():
    model = registry.estimator("ggr", base="fixmatch[ratio=3]", steps=2)
    assert model.asked == 3 * model.batch
    X, y = rows(0)
    assert model.fit(X, y).predict(X).shape == (len(X),)
    with pytest.raises(
        InputError, match="base must be the name of a deep method, such as fixmatch, got None"
    ):
        registry.estimator("ggr", base=None).fit(X, y)


def test_a_base_has_one_spelling():
    assert registry.canonical("algorithm", "ggr[base=iomatch[threshold=0.95]]") == "ggr"
    spec = "ggr[base=uda[threshold=0.70],steps=500]"
    assert registry.canonical("algorithm", spec) == "ggr[base=uda[threshold=0.7]]"


@pytest.mark.parametrize("name", ["scarf", "feature_dropout", "ggr[base=scarf]"])
def test_images_have_no_features_to_lose(name):
    X = np.zeros((20, 8, 8, 1), np.uint8)
    with pytest.raises(InputError, match="takes rows of the form table or vectors, not image"):
        registry.estimator(name).fit(X, np.r_[0, 1, np.full(18, -1)])


def test_a_method_with_heads_needs_a_net_with_features():
    X, y = rows(0)
    with pytest.raises(InputError, match="`features` and `head`, got own_net:Normed"):
        registry.estimator("openmatch", net="own_net:Normed").fit(X, y)
    assert not hasattr(Normed, "features")
