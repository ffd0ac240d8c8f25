"""The deep engine: a model is the same if trained alone, in a stack, or in a plain loop."""

import copy
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import plain_losses
import pytest
import torch
from gates import EVERYTHING
from sklearn.base import clone
from sklearn.datasets import load_digits, make_moons
from sklearn.utils.estimator_checks import check_estimator
from torch.nn.functional import cross_entropy

import robustssl
from robustssl import InputError, checks, registry
from robustssl.algorithms import vat
from robustssl.algorithms.ict import ICT
from robustssl.algorithms.mean_teacher import MeanTeacher
from robustssl.algorithms.pseudo_label import PseudoLabel
from robustssl.algorithms.vat import adversarial
from robustssl.cell import Cell
from robustssl.checks import _gains as against
from robustssl.checks import algorithms as contracts
from robustssl.checks._contracts import verdicts
from robustssl.checks._toys import blobs, moons, toy_data
from robustssl.checks._worlds import moons_in_16_features
from robustssl.data import ViewedRows
from robustssl.deep import DeepClassifier, frozen, mse_loss
from robustssl.deep import together as fitting
from robustssl.deep import train as training
from robustssl.deep.draws import row_numbers
from robustssl.deep.inputs import Inputs, inputs_of
from robustssl.deep.net import BatchNorm, Net, Whole
from robustssl.deep.together import How, Training
from robustssl.deep.train import train
from robustssl.deep.types import Batch
from robustssl.execution.groups import groups
from robustssl.execution.jobs import Job, prepare_job
from robustssl.execution.worker import run_group
from robustssl.nets.ft_transformer import FTTransformer
from robustssl.nets.mlp import MLP
from robustssl.nets.wide_resnet import WideResNet
from robustssl.records.extras import NO_EXTRAS
from robustssl.spec import parse
from robustssl.splits import prepare

DEEP = [n for n in registry.names("algorithm") if registry.algorithm(n).family == "deep"]
SEMI = [n for n in DEEP if registry.about("algorithm", n).baseline]
THRESHOLDED = [n for n in SEMI if "threshold" in registry.defaults("algorithm", n)]
# Methods whose unlabeled loss is zero if no guess is trusted.
GUESSES_ALONE = {
    *("adamatch", "feature_dropout", "fix_a_step", "fixmatch", "pseudo_label", "uda"),
}
ALWAYS = {"threshold": 0.0}  # every guess is trusted
SMALL = {"net": "mlp[width=8]", "batch": 8, "precision": "fp64", "steps": 25}
ENOUGH = 25 if EVERYTHING else 12  # steps that show whether two ways of training are the same


@pytest.fixture(autouse=True)
def _one_thread_of_the_processor(monkeypatch):
    torch.set_num_threads(1)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)


def rows(seed, unlabeled=30):
    """X, y of three clusters with 5 labels each and the given number of unlabeled rows."""
    X, y, _, _ = blobs(seed, rows=15 + unlabeled, labels=5, test=1)
    return X, y


def options(name, **more):
    known = registry.defaults("algorithm", name)
    low = {"threshold": 0.4} if "threshold" in known else {}  # so that guesses are trusted
    return {**{k: v for k, v in SMALL.items() if k in known}, **low, **more}


def together(name, seeds, counts=(30, 30, 30), **more):
    models = [registry.estimator(name, random_state=s, **options(name, **more)) for s in seeds]
    data = [rows(s, count) for s, count in zip(seeds, counts, strict=True)]
    assert models[0].fit_together(models, data) == [None] * len(models)
    return models


# The contracts


LONG = {"cafa", "bidirectional_adaptation", "iomatch", "openmatch", "mtcf"}


def marked(names, slow):
    """The names, some of them marked as slow."""
    return [pytest.param(n, marks=[pytest.mark.slow] if n in slow else []) for n in names]


# One method each that trusts guesses, averages weights, attacks and mixes rows. Of methods that
# build on these, plain loops show here that the loss is right, and CI shows that it teaches.
MECHANISMS = {
    "fixmatch": "fixmatch",
    **{name: f"{name}[steps=150]" for name in ("mean_teacher", "vat", "mixmatch")},
}

# How a classifier behaves shows in a few steps, what it learns in more: after 60, methods whose
# unlabeled loss has the wrong sign are not yet worse than their baseline.
STEPS, FEW = (150, 150) if EVERYTHING else (60, 10)
STEPS_OF = {
    contracts.sees_its_unlabeled_rows: STEPS,
    contracts.differs_from_its_baseline: STEPS,
    contracts.its_unlabeled_loss_has_a_gradient: 150,
    contracts.is_not_worse_than_its_baseline: 500 if EVERYTHING else 150,
}
# What CI asks of all methods, and the quick tests of some. That the unlabeled loss has a gradient
# is asked of all of them below, where every guess is trusted, which takes fewer steps.
OF_SOME = {
    contracts.is_not_worse_than_its_baseline: ("fixmatch", "scarf", "vat"),
    contracts.its_unlabeled_loss_has_a_gradient: tuple(MECHANISMS),
}


OF_OPTIONS = [
    contracts.every_option_does_something,
    contracts.every_searched_option_does_something,
]


@pytest.mark.parametrize("name", marked(DEEP, LONG))
def test_every_algorithm_keeps_every_contract(name):
    long = {contracts.does_not_collapse_on_consistent_rows, *OF_OPTIONS}
    if not EVERYTHING:
        long |= {contract for contract, names in OF_SOME.items() if name not in names}
    for contract in (c for c in contracts.ALGORITHM if c not in long):
        spec = f"{name}[steps={STEPS_OF.get(contract, FEW)}]"
        learner = contracts.Learner(registry.canonical("algorithm", spec))
        assert {c: reason for c, reason in verdicts([contract], learner) if reason} == {}


def keeps(contract, name):
    ((_, reason),) = verdicts([contract], contracts.Learner(name))
    assert reason is None


@pytest.mark.slow
@pytest.mark.parametrize("name", MECHANISMS)
def test_no_method_collapses(name):
    """Of the other methods, tests/test_true_to_authors.py asks what was measured."""
    keeps(contracts.does_not_collapse_on_consistent_rows, name)


@pytest.mark.parametrize("name", marked(DEEP, set(DEEP) - {"supervised_net"}))
@pytest.mark.parametrize("contract", OF_OPTIONS)
def test_no_option_of_a_net_is_dead(name, contract):
    keeps(contract, name)


class OneClass(PseudoLabel):
    """Learns from unlabeled rows that they are all of the first class."""

    def loss(self, net, params, batch, state):
        logits = net(params, batch.weak)
        return (
            torch.nn.functional.cross_entropy(net(params, batch.x), batch.y),
            -100 * logits.log_softmax(-1)[:, 0].mean(),
            state,
        )


def test_a_collapse_is_found(monkeypatch):
    monkeypatch.setattr(against, "WORLDS", [moons_in_16_features])
    learner = contracts.Learner("test_deep:OneClass[steps=60]")
    ((_, reason),) = verdicts([contracts.does_not_collapse_on_consistent_rows], learner)
    assert reason.startswith("on moons in 16 features it is at least 0.")
    monkeypatch.setattr(OneClass, "collapses", {"moons_in_16_features": "made so"}, raising=False)
    ((sentence, reason),) = verdicts([contracts.does_not_collapse_on_consistent_rows], learner)
    assert (reason, "(exempt on moons in 16 features: made so)" in sentence) == (None, True)


def test_a_world_that_cannot_be_had_is_not_called_checked(monkeypatch):
    def vectors_of_images(seed):
        raise robustssl.InputError("cifar10 cannot be fetched")

    monkeypatch.setattr(against, "WORLDS", [vectors_of_images])
    learner = contracts.Learner("fixmatch")
    ((sentence, _),) = verdicts([contracts.does_not_collapse_on_consistent_rows], learner)
    assert sentence.endswith("(not checked on vectors of images: cifar10 cannot be fetched)")


BETTER_ON_MOONS = [
    *("adamatch", "bidirectional_adaptation", "defixmatch", "feature_dropout", "filtered"),
    *("fix_a_step", "fixmatch", "flexmatch", "freematch", "ggr", "iomatch", "mean_teacher"),
    *("mixmatch", "openmatch", "pi_model", "softmatch", "ssb", "temporal_ensembling"),
    *("uda", "vat"),
]


@pytest.mark.parametrize("name", marked(BETTER_ON_MOONS, set(SEMI) - set(MECHANISMS)))
def test_better_on_two_moons(name):
    assert against.least_gain(name if EVERYTHING else MECHANISMS[name], moons) > 0


def digits(seed):
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(seed).permutation(len(y))
    return toy_data(X[order][:, X.std(0) > 0.5], y[order], 400, 5)


BETTER_ON_DIGITS = [
    *("adamatch", "bidirectional_adaptation", "defixmatch", "ensemble_pseudo_labels"),
    *("feature_dropout", "filtered", "fix_a_step", "fixmatch", "ggr", "iomatch", "mixmatch"),
    *("mtcf", "ssb", "uda", "vat"),
]


@pytest.mark.slow
@pytest.mark.parametrize("name", BETTER_ON_DIGITS)
def test_better_on_digits(name):
    assert against.least_gain(name, digits) > 0


# A preset without constants of its own is the algorithm as it is, which keeps every contract.
PRESETS = [
    (n, p)
    for n in DEEP
    for p, own in registry.about("algorithm", n).presets.items()
    if own.options or n in LONG
]


@pytest.mark.parametrize(("name", "preset"), PRESETS)
def test_every_preset_is_alive(name, preset):
    spec = registry.canonical("algorithm", f"{name}[preset={preset},steps={STEPS}]")
    contracts.sees_its_unlabeled_rows(contracts.Learner(spec))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["supervised_net", "fixmatch"])
def test_scikit_learns_checks(name):
    expected = {"check_classifiers_classes": "-1 means unlabeled here"}
    results = check_estimator(
        robustssl.estimator(name, steps=STEPS // 2), expected_failed_checks=expected, on_fail=None
    )
    assert [r["check_name"] for r in results if r["status"] == "failed"] == []
    assert len(results) > 50


# A model is the same alone, in a stack, and in a plain loop


def with_optimizers(cases):
    """Each case with both optimizers. That both use the gradients of a loss in the same way shows
    in some methods: one that has a part of its own, and those that average weights, combine
    gradients, and have stages.
    """
    some = ("fixmatch", "mean_teacher", "iomatch", "ggr", "pp_ssl")
    slow = {True: [], False: [pytest.mark.slow]}
    return [
        pytest.param(*case, optimizer, marks=slow[optimizer == "sgd" or case[0] in some])
        for case in cases
        for optimizer in ("sgd", "adam")
    ]


@pytest.mark.parametrize(("name", "optimizer"), with_optimizers([(n,) for n in DEEP]))
def test_stacked_is_alone(name, optimizer):
    rate = {"sgd": 0.05, "adam": 1e-3}[optimizer]
    more = {"optimizer": optimizer, "learning_rate": rate, "steps": ENOUGH}
    stacked = together(name, (3, 4, 5), (30, 21, 44), **more)
    for seed, count, model in zip((3, 4, 5), (30, 21, 44), stacked, strict=True):
        (alone,) = together(name, (seed,), (count,), **more)
        gap = (alone.model_.params - model.model_.params).abs().max()
        X = rows(seed)[0]
        logits = [torch.from_numpy(m.predict_proba(X)).log() for m in (alone, model)]
        assert (logits[0] - logits[1]).abs().max() < 1e-9
        assert optimizer == "adam" or gap < 1e-12


@pytest.mark.parametrize("net", ["ft_transformer[layers=2,width=12,heads=2]", "linear"])
def test_stacked_is_alone_in_other_nets(net):
    stacked = together("fixmatch", (0, 1), (30, 20), net=net)
    (alone,) = together("fixmatch", (1,), (20,), net=net)
    X = rows(1)[0]
    assert np.abs(alone.predict_proba(X) - stacked[1].predict_proba(X)).max() < 1e-9


def stack_of(model, X, y):
    X, y = model._encode(X, y)
    problem = model._problem(X, y)
    return Training(model, inputs_of(X), 3).stack([problem])


class Averaged:
    """An average with decay min(ema, 1 - 1/(step + 1)), updated at the start of a step."""

    def __init__(self, module):
        self.module = copy.deepcopy(module)

    def take(self, module, step, ema):
        keep = min(ema, 1 - 1 / (step + 1))
        for mine, theirs in zip(self.module.parameters(), module.parameters(), strict=True):
            mine.data = keep * mine.data + (1 - keep) * theirs.data


# Options with which every term of the loss has an effect within a few steps.
ACTING = {
    "vat": {"radius": 2.0, "entropy": 0.5},
    "uasd": {"start": 0.2, "warmup": 0.5},
    "cafa": {"step": 0.5, "warmup": 0.5, "memory": 0.5},
    "mtcf": {"start": 0.4, "warmup": 0.5, "window": 2, "ratio": 2},
    "ggr": {"base": "fixmatch[threshold=0.4]"},
    "filtered": {"base": "fixmatch[threshold=0.4]", "by": "knn"},
    "adamatch": {"memory": 0.5, "window": 3, "threshold": 0.9, "learning_rate": 0.02},
    "bidirectional_adaptation": {"learning_rate": 0.05, "weight": 1.0},
    "openmatch": {"start": 0.5, "threshold": 0.36, "ema": 0.5, "learning_rate": 0.1},
    "iomatch": {
        "start": 0.5,
        "threshold": 0.5,
        "open_threshold": 0.6,
        "width": 8,
        "queue": 3,
        "ratio": 2,
        "learning_rate": 0.3,
        "steps": 25,
    },
    "scomatch": {"batch": 4, "ratio": 1, "threshold": 0.6, "learning_rate": 0.3, "steps": 25},
    "ssb": {"start": 0.2, "negative": 0.49, "learning_rate": 0.2},
    "flexmatch": {"threshold": 0.9, "ratio": 1, "learning_rate": 0.3, "steps": 25},
    "defixmatch": {"threshold": 0.5, "strong": 1.0, "learning_rate": 0.2},
    "acr": {"threshold": 0.6, "start": 0.2, "learning_rate": 0.1},
    "cpg": {"start": 0.2, "ratio": 1, "learning_rate": 0.2},
}

VARIANTS = [(n, ACTING.get(n, {})) for n in DEEP] + [
    ("vat", {"warmup": 0.5}),
    ("pseudo_label", {"start": 0.4, "threshold": 0.0}),
    ("uda", {"signal": "linear", "threshold": 0.5}),
    ("uda", {"signal": "log", "threshold": 0.5, "learning_rate": 0.4}),
    ("uda", {"signal": "exp", "threshold": 0.5}),
    ("fixmatch", {"ratio": 2, "temperature": 0.5}),
    ("freematch", {"memory": 0.3, "fairness": 0.1, "learning_rate": 0.02}),
    ("softmatch", {"memory": 0.3, "learning_rate": 0.02}),
    ("mean_teacher", {"clip": 0.05, "weight_decay": 0.1, "schedule": "constant"}),
    ("mean_teacher", {"weight_decay": 0.1, "decay": "coupled"}),
    ("mtcf", {"start": 0.2, "window": 1}),
    ("ggr", {"base": "mtcf[start=0.2,window=1]"}),
    ("ggr", {"base": "iomatch[threshold=0.4,width=8]", "learning_rate": 0.1}),
    ("adamatch", {"net": "test_deep:Normed", "threshold": 0.9}),
    ("iomatch", {"start": 0.2, "open_threshold": 0.6, "width": 8, "learning_rate": 0.1}),
    ("scomatch", {"batch": 4, "ratio": 1, "queue": 1, "threshold": 0.3, "learning_rate": 0.1}),
]


class Normed(MLP):
    """A perceptron with batch normalisation."""

    def __init__(self, shape, classes):
        super().__init__(shape, classes, width=8)
        self.norm = BatchNorm(8)

    def features(self, x):
        return self.norm(super().features(x))


def gradients(loss, parameters):
    """The gradients of a loss; zeros for parameters that it does not depend on."""
    if not isinstance(loss, torch.Tensor):
        return [torch.zeros_like(p) for p in parameters]
    found = torch.autograd.grad(loss, parameters, retain_graph=True, allow_unused=True)
    pairs = zip(found, parameters, strict=True)
    return [torch.zeros_like(p) if g is None else g for g, p in pairs]


@pytest.mark.parametrize(("name", "more", "optimizer"), with_optimizers(VARIANTS))
def test_the_engine_is_a_plain_loop(name, more, optimizer):
    is_a_plain_loop(name, more, optimizer, *rows(7, 20))


def is_a_plain_loop(name, more, optimizer, X, y):
    """Compare it with the same method in plain_losses.py, on torch's own modules and optimizers."""
    assert hasattr(plain_losses, name), (
        f"add {name} to tests/plain_losses.py, written as plain loops over rows"
    )
    rate = {"sgd": 0.05, "adam": 1e-3}[optimizer]
    given = options(name, optimizer=optimizer, learning_rate=rate, steps=ENOUGH, device="cpu")
    model = registry.estimator(name, random_state=7, **{**given, **more})
    steps = model.steps
    stack = stack_of(registry.estimator(name, random_state=7, **{**given, **more}), X, y)
    stack.batches.put(stack.batches.draw())
    kinds = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam}
    combined = plain_losses.COMBINED.get(name, plain_losses.added)
    memory = {"labeled": X[y >= 0], "labels": y[y >= 0], "unlabeled": X[y < 0]}
    memory = {key: torch.from_numpy(value) for key, value in memory.items()}
    first = int(np.random.RandomState(7).randint(2**31))
    for stage, loss_name in enumerate(model.stages):
        plain_loss = getattr(plain_losses, name if loss_name == "loss" else f"{name}_{loss_name}")
        last = stage + 1 == len(model.stages)
        fresh = np.random.SeedSequence([first, stage + 1]).generate_state(1)[0]
        torch.manual_seed(first if last else int(fresh))
        module = registry.net(model.net)((8,), 3)
        if parts := model.parts(lambda: registry.net(model.net)((8,), 3), 8, 3):
            module = Whole(module, parts)
        module = module.double()
        parameters = list(module.parameters())
        extra = {"momentum": model.momentum} if optimizer == "sgd" else {}
        plain = kinds[optimizer](parameters, lr=model.learning_rate, **extra)
        average = Averaged(module)
        names = [n for n, _ in module.named_parameters()]
        memory["of the net"] = [not parts or n.startswith("net.") for n in names]
        for step in range(steps):
            fields = stack.batches.at(torch.tensor([stage * steps + step]))
            fields["step"] = torch.tensor([step]).double()
            batch = Batch(**{key: value[0] for key, value in fields.items()})
            average.take(module, step, model.ema)
            for group in plain.param_groups:
                turn = np.cos(7 * np.pi / 16 * step / steps) if model.schedule == "cosine" else 1.0
                group["lr"] = model.learning_rate * turn
            losses = plain_loss(model, module, average.module, batch, memory)
            found = combined(memory, *(gradients(loss, parameters) for loss in losses))
            size = torch.cat([g.flatten() for g in found]).norm()
            for p, g in zip(parameters, found, strict=True):
                p.grad = g * min(1.0, float(model.clip / size))
                if p.ndim > 1 and model.decay == "coupled":  # not a bias
                    p.grad += model.weight_decay * p.data
                if p.ndim > 1 and model.decay == "decoupled":
                    p.data *= 1 - group["lr"] * model.weight_decay
            plain.step()
        average.take(module, steps, model.ema)
        memory[f"after {loss_name}"] = average.module
    model.fit(X, y)
    ours = model.model_.net.unpack(model.model_.params)
    for key, value in average.module.named_parameters():
        assert (ours[key] - value).abs().max() < (1e-6 if optimizer == "adam" else 1e-12), key
    probe = torch.from_numpy(X)
    answer = average.module(probe).softmax(-1).detach().numpy()
    assert np.abs(model.predict_proba(X) - answer).max() < 1e-9


def test_the_same_seed_in_another_process():
    code = (
        "import sys; sys.path.insert(0, 'tests'); import test_deep, torch\n"
        "torch.set_num_threads(1)\n"
        "print([float(m.model_.params.sum()) for m in test_deep.together('flexmatch', (1, 2, 3))])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    ours = [float(m.model_.params.sum()) for m in together("flexmatch", (1, 2, 3))]
    assert found.stdout.strip() == str(ours)


def test_another_seed_is_another_model_and_a_clone_the_same():
    first, second, third = together("fixmatch", (0, 1, 0))
    assert not torch.equal(first.model_.params, second.model_.params)
    assert torch.equal(first.model_.params, third.model_.params)
    again = clone(first).fit(*rows(0))
    assert (again.model_.params - first.model_.params).abs().max() < 1e-9


def fit(models, data):
    return models[0].fit_together(models, data)


# The unlabeled loss is alive


@pytest.mark.parametrize("name", SEMI)
def test_the_unlabeled_part_has_a_gradient(name):
    given = TRUSTING.get(name) or {"steps": 60, **(ALWAYS if name in THRESHOLDED else {})}
    assert contracts.unlabeled_gradient(registry.estimator(name, **given)) > 0


TRUSTING = {
    "ggr": {"base": "fixmatch[threshold=0.0]", "steps": 60},
    "filtered": {"base": "fixmatch[threshold=0.0]", "steps": 60},
    "uasd": {"steps": 300},
}


@dataclass(eq=False, repr=False, kw_only=True)
class DeadMeanTeacher(MeanTeacher):
    """The student is detached, as in a widespread toolkit."""

    def loss(self, net, params, batch, state):
        labeled, _, state = super().loss(net, params, batch, state)
        target = net(frozen(state["average"]), batch.other).softmax(-1)
        return labeled, mse_loss(net(frozen(params), batch.weak).softmax(-1), target), state


@dataclass(eq=False, repr=False, kw_only=True)
class DeadICT(ICT):
    """Soft targets are cast to whole numbers, as in a widespread toolkit."""

    def loss(self, net, params, batch, state):
        labeled, _, state = super().loss(net, params, batch, state)
        p = net(frozen(state["average"]), batch.weak).softmax(-1)
        target = (0.5 * p + 0.5 * p.roll(1, 0)).long().to(p.dtype)
        mixed = net(params, 0.5 * batch.weak + 0.5 * batch.weak.roll(1, 0))
        return labeled, cross_entropy(mixed, target), state


@pytest.mark.parametrize("dead", [DeadMeanTeacher, DeadICT])
def test_a_dead_loss_has_no_gradient_and_is_found(dead):
    assert contracts.unlabeled_gradient(dead(steps=60)) == 0
    asked = [contracts.its_unlabeled_loss_has_a_gradient, contracts.sees_its_unlabeled_rows]
    found = dict(verdicts(asked, contracts.Learner(f"test_deep:{dead.__name__}[steps=60]")))
    assert "dead" in found["its unlabeled loss has a gradient"]
    assert "dead" in found["sees its unlabeled rows"]


@pytest.mark.parametrize(
    "name", [n for n in SEMI if "threshold" in registry.defaults("algorithm", n)]
)
@pytest.mark.parametrize("threshold", [0.0, 1.5])
def test_the_loss_is_finite_when_every_guess_is_trusted_and_when_none_is(name, threshold):
    model = registry.estimator(name, **options(name, threshold=threshold), random_state=0)
    stack = stack_of(model, *rows(0))
    train(stack)
    assert stack.losses.isfinite().all()
    if name in GUESSES_ALONE:
        assert (stack.losses[0, 1] > 0) == (threshold == 0)


@pytest.mark.parametrize("net", ["mlp", pytest.param("ft_transformer", marks=pytest.mark.slow)])
@pytest.mark.parametrize("precision", ["fp64", "fp32", "tf32", "bf16"])
def test_the_adversarial_direction_is_exact_in_every_precision(monkeypatch, precision, net):
    """Compared with an explicit Jacobian in float64, at the parameters before rounding."""
    met = []

    def spy(logits, seen, start):
        met.append((seen, start, adversarial(logits, seen, start)))
        return met[-1][-1]

    monkeypatch.setattr(vat, "adversarial", spy)
    model = vat.VAT(net=net, batch=8, precision=precision, random_state=0)
    X, y = rows(0)
    stack = stack_of(model, np.hstack([X, X[::-1], np.roll(X, 7, 0)]), y)
    stack.batches.put(stack.batches.draw())
    module, values = stack.net.plain.module, stack.net.plain.unpack(stack.params[0].clone())
    stack.step()

    def exact(row):
        return torch.func.functional_call(module, values, (row[None],))[0]

    for row, d, ours in zip(*(part.double() for part in met[0]), strict=True):
        J = torch.autograd.functional.jacobian(exact, row)
        p = exact(row).softmax(-1)
        g = J.T @ (torch.diag(p) - torch.outer(p, p)) @ J @ d
        assert torch.dot(g / g.norm(), ours) > 0.99
        assert float(ours.norm()) == pytest.approx(1, abs=1e-5)


# What goes wrong


@dataclass(eq=False, repr=False, kw_only=True)
class Explodes(DeepClassifier):
    """Its loss is nan from step 7 on if the rows are large."""

    views: ClassVar = ("weak",)

    def loss(self, net, params, batch, state):
        labeled, unlabeled, state = super().loss(net, params, batch, state)
        late = (batch.step >= 7) & (batch.weak.abs().amax() > 1000)
        return labeled, unlabeled + torch.where(late, torch.nan, 0.0), state


def test_a_loss_that_is_not_finite_fails_its_model_alone():
    models = [Explodes(random_state=s, **SMALL) for s in range(3)]
    data = [rows(s) for s in range(3)]
    data[1][0][20:] *= 1e4
    errors = fit(models, data)
    assert [str(error) for error in errors] == [
        "None",
        "the loss is not finite at step 7",
        "None",
    ]
    alone = Explodes(random_state=2, **SMALL).fit(*data[2])
    assert (alone.model_.params - models[2].model_.params).abs().max() < 1e-12
    with pytest.raises(FloatingPointError, match="step 7"):
        Explodes(random_state=1, **SMALL).fit(*data[1])


def test_the_contract_names_the_case_in_which_a_net_fails():
    found = contracts.Learner("test_deep:Explodes[steps=10]")
    with pytest.raises(checks.BrokenContractError, match="far-away unlabeled rows: FloatingPoint"):
        contracts.has_an_answer_in_every_case(found)


def test_if_memory_does_not_suffice_one_half_is_trained_after_the_other(monkeypatch):
    heights = []

    def cramped(stack, *args):
        heights.append(stack.height)
        if stack.height > 2:
            raise torch.OutOfMemoryError("no room")
        train(stack, *args)

    whole = together("fixmatch", (0, 1, 2))
    monkeypatch.setattr(fitting, "train", cramped)
    halves = together("fixmatch", (0, 1, 2))
    assert heights == [3, 1, 2]
    for a, b in zip(whole, halves, strict=True):
        assert (a.model_.params - b.model_.params).abs().max() < 1e-9
    assert halves[1].trained_with_["height"] == 2


def test_a_killed_training_continues_from_its_checkpoint(tmp_path, monkeypatch):
    monkeypatch.setattr(training, "CHECKPOINT_SECONDS", 0.0)

    def models():
        return [registry.estimator("flexmatch", random_state=s, steps=170) for s in range(2)]

    whole, data = models(), [rows(0), rows(1)]
    fit(whole, data)

    def tell(share):
        if share == 100 / 170:
            raise KeyboardInterrupt

    broken = models()
    with pytest.raises(KeyboardInterrupt):
        broken[0].fit_together(broken, data, checkpoints=tmp_path, tell=tell)
    (file,) = tmp_path.iterdir()
    shares = []
    resumed = models()
    resumed[0].fit_together(resumed, data, checkpoints=tmp_path, tell=shares.append)
    assert shares == [step / 170 for step in range(100, 171, 10)]
    shares.clear()
    for a, b in zip(whole, resumed, strict=True):
        assert torch.equal(a.model_.params, b.model_.params)
    assert not file.exists()
    other = [registry.estimator("flexmatch", random_state=s, steps=60) for s in range(2)]
    other[0].fit_together(other, data, checkpoints=tmp_path, tell=shares.append)
    assert shares == [step / 60 for step in range(0, 61, 10)]


def test_a_missing_gpu_is_an_error():
    with pytest.raises(InputError, match="this machine has none"):
        registry.estimator("fixmatch", device="cuda").fit(*rows(0))


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"device": "cuba"}, "device must be auto, cpu or cuda, got 'cuba'"),
        ({"precision": "fp8"}, "unknown precision 'fp8'"),
        ({"optimizer": "sdg"}, "did you mean 'sgd'"),
        ({"net": "mpl"}, "did you mean 'mlp'"),
        ({"ema": 1.0}, "ema must be at least 0 and below 1, got 1"),
        ({"batch": 0}, "batch must be a whole number of at least 1, got 0"),
        ({"net": "wide_resnet"}, "takes images"),
        ({"steps": 1.5}, "whole number"),
        ({"net": "text_encoder"}, "needs weights"),
        ({"net": "ft_transformer[heads=7]"}, "width must be a multiple of heads, got 192 and 7"),
        ({"net": "mlp[width=0]"}, "width must be a whole number of at least 1, got 0"),
        ({"net": "mlp[wide=3]"}, "unknown option of mlp 'wide'"),
    ],
)
def test_wrong_options_are_refused(given, sentence):
    with pytest.raises(InputError, match=sentence):
        registry.estimator("fixmatch", **given).fit(*rows(0))


def test_models_with_other_options_are_not_fitted_together():
    models = [registry.estimator("fixmatch", steps=5), registry.estimator("fixmatch", steps=6)]
    with pytest.raises(InputError, match="equal but for random_state"):
        fit(models, [rows(0), rows(1)])


def test_models_of_other_shapes_share_no_stack():
    models = [registry.estimator("fixmatch", steps=5, random_state=s) for s in range(3)]
    data = [rows(0), (rows(1)[0][:, :4], rows(1)[1]), rows(2)]
    assert fit(models, data) == [None] * 3
    assert [m.trained_with_["height"] for m in models] == [2, 1, 2]
    assert models[1].n_features_in_ == 4


# Chance


@pytest.mark.parametrize(("count", "size"), [(20, 8), (8, 8), (3, 8), (1, 4), (200, 3)])
def test_a_batch_has_no_row_twice_if_there_are_enough(count, size):
    drawn = row_numbers(count, size)(np.random.default_rng(0), 50)
    assert drawn.shape == (50, size)
    most = [np.bincount(batch, minlength=count).max() for batch in drawn]
    assert max(most) == -(-size // count)
    epoch = drawn[: max(1, count // size)].ravel()
    assert len(set(epoch)) == min(count, len(epoch))
    seen = np.bincount(drawn.ravel(), minlength=count)
    assert seen.min() > 0 or count == 200


def test_labeled_batches_do_not_depend_on_the_method():
    stacks = [
        stack_of(registry.estimator(n, random_state=3, ratio=1), *rows(3)) for n in ("vat", "uda")
    ]
    fields = []
    for stack in stacks:
        stack.batches.put(stack.batches.draw())
        fields.append(stack.batches.at(torch.tensor([5])))
    for name in ("x", "y", "weak", "index"):
        assert torch.equal(fields[0][name], fields[1][name])
    assert torch.equal(stacks[0].params, stacks[1].params)


def test_the_baseline_sees_no_unlabeled_row_even_in_its_statistics():
    X, y = images(0)
    other = X.copy()
    other[y == -1] = 255 - other[y == -1]
    given = {"net": "wide_resnet[depth=10,widen=1]", "steps": 3, "batch": 4, "random_state": 0}
    answers = [
        registry.estimator("supervised_net", **given).fit(rows_, y).predict_proba(X[:9])
        for rows_ in (X, other)
    ]
    assert np.array_equal(*answers)


def test_padding_does_not_enter_the_statistics():
    """Models with different numbers of labels and rows, trained alone and together."""
    given = {"net": "own_net:Normed", "steps": 5, "batch": 4, "precision": "fp64"}
    data = [rows(0, 30), rows(1, 11)]
    data[1] = (data[1][0][3:], data[1][1][3:])
    models = [registry.estimator("fixmatch", random_state=s, **given) for s in range(2)]
    fit(models, data)
    alone = registry.estimator("fixmatch", random_state=1, **given).fit(*data[1])
    gap = models[1].predict_proba(data[1][0]) - alone.predict_proba(data[1][0])
    assert np.abs(gap).max() < 1e-9
    found = alone.model_.net.unpack(alone.model_.params)
    hidden = torch.from_numpy(data[1][0]) @ found["layer.weight"].T + found["layer.bias"]
    assert torch.allclose(alone.model_.statistics["norm.mean"], hidden.mean(0))


def test_a_stack_shares_no_constant_that_a_seed_draws():
    models = [
        registry.estimator("fixmatch", net="own_net:Drawn", steps=2, random_state=s) for s in (0, 1)
    ]
    with pytest.raises(InputError, match="stacks = False"):
        fit(models, [rows(0), rows(1)])
    models[0].fit(*rows(0))


def images(seed, count=24):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(count) < 9, np.arange(count) % 3, -1)
    return rng.integers(0, 256, (count, 8, 8, 3), dtype=np.uint8), y


@pytest.mark.parametrize("name", [n for n in SEMI if "image" in registry.estimator(n).takes])
def test_every_algorithm_takes_images(name):
    X, y = images(0)
    given = {"net": "wide_resnet[depth=10,widen=1]", "steps": 2, "batch": 4, "random_state": 0}
    p = registry.estimator(name, **given).fit(X, y).predict_proba(X)
    assert p.shape == (24, 3)
    assert np.isfinite(p).all()


def test_statistics_are_those_of_all_training_rows():
    torch.manual_seed(0)

    class Normed(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer, self.norm = torch.nn.Linear(4, 5), BatchNorm(5)

        def forward(self, x):
            return self.norm(self.layer(x))

    module, x = Normed(), torch.randn(70, 4)
    net = Net(module, torch.float32)
    params = net.pack(module)
    found = net.statistics(params, lambda: x.split(32))
    hidden = module.layer(x)
    assert torch.allclose(found["norm.mean"], hidden.mean(0), atol=1e-6)
    assert torch.allclose(found["norm.variance"], hidden.var(0, unbiased=False), atol=1e-6)
    alone = net.served(found)(params, x[:1])
    expected = (hidden[:1] - hidden.mean(0)) / (hidden.var(0, unbiased=False) + 1e-5).sqrt()
    assert torch.allclose(alone, expected, atol=1e-5)
    shared, apart = net(params, x[:35], x[35:])[0], net(params, x[:35])
    assert torch.allclose(shared, net(params, x)[:35])
    assert not torch.allclose(shared, apart, atol=1e-3)


# What an algorithm may do


@dataclass(eq=False, repr=False, kw_only=True)
class Deaf(DeepClassifier):
    """Drops the gradient of the unlabeled part."""

    views: ClassVar = ("weak",)

    def loss(self, net, params, batch, state):
        labeled, _, state = super().loss(net, params, batch, state)
        return labeled, net(params, batch.weak).square().mean(), state

    def combine(self, labeled, unlabeled, state):
        return labeled + 0 * unlabeled, state


def test_two_gradients_can_be_combined():
    (baseline,) = together("supervised_net", (0,), (30,))
    deaf = [Deaf(random_state=s, **SMALL) for s in (0, 1)]
    fit(deaf, [rows(0), rows(1)])
    assert (deaf[0].model_.params - baseline.model_.params).abs().max() < 1e-12


@dataclass(eq=False, repr=False, kw_only=True)
class Remembers(DeepClassifier):
    """Counts its refreshes and sums the rows it is given."""

    views: ClassVar = ("weak",)
    refresh_every: ClassVar = 10

    def init(self, params, shape):
        return {"turns": torch.zeros(2).to(params)}

    def refresh(self, net, params, rows, state):
        real = torch.arange(len(rows.unlabeled)) < rows.count
        total = (rows.unlabeled.sum(1) * real).sum()
        return {**state, "turns": torch.stack([state["turns"][0] + 1, total])}

    def serve(self, params, state):
        return torch.cat([state["turns"], params[2:]])


def test_the_state_is_refreshed_every_so_often_from_the_rows_of_the_model():
    models = [Remembers(random_state=s, **SMALL) for s in (0, 1)]
    data = [rows(0, 30), rows(1, 12)]
    fit(models, data)
    for model, (X, y) in zip(models, data, strict=True):
        assert model.model_.params[0] == 3
        assert float(model.model_.params[1]) == pytest.approx(X[y == -1].sum())


def test_what_is_served_is_the_average():
    (fast,) = together("supervised_net", (0,), (30,), ema=0.0)
    (slow,) = together("supervised_net", (0,), (30,), ema=0.9)
    assert not torch.equal(fast.model_.params, slow.model_.params)


# The study


@pytest.fixture
def curve():
    return {
        "algorithms": ["supervised_net[steps=60]", "fixmatch[steps=60]"],
        "environments": ["label"],
        "datasets": ["iris"],
        "ts": [0, 0.5, 1],
        "seeds": 3,
    }


def test_a_curve_is_trained_in_one_stack(tmp_path, curve, in_process):
    file = tmp_path / "store.sqlite"
    result = robustssl.run(curve, file, workers=1, progress=False)
    assert (result.done, result.failed) == (18, 0)
    assert [p.name for p in tmp_path.iterdir()] == ["store.sqlite"]
    with robustssl.Store(file) as store:
        found = list(store.records())
    heights = {r.cell.algorithm: r.provenance["height"] for r in found}
    assert heights == {"supervised_net": 3, "fixmatch": 9}
    assert {r.provenance["precision"] for r in found} == {"fp32"}
    baseline = [r for r in found if r.cell.algorithm == "supervised_net" and r.cell.seed == 1]
    assert baseline[0].scores == baseline[1].scores == baseline[2].scores
    assert [("split_digest" in r.provenance) for r in baseline] == [True, False, False]
    one = {**curve, "algorithms": ["fixmatch[steps=60]"], "ts": [0, 1], "seeds": [2]}
    robustssl.run(one, tmp_path / "other.sqlite", workers=1, progress=False)
    with robustssl.Store(tmp_path / "other.sqlite") as store:
        again = {r.cell: r.scores["accuracy"] for r in store.records()}
    whole = {r.cell: r.scores["accuracy"] for r in found}
    assert again == {cell: pytest.approx(whole[cell], abs=0.03) for cell in again}


def test_a_budget_is_shared_by_all_methods_of_a_study():
    study = robustssl.Study(
        budget="reference",
        algorithms=["supervised_net", "fixmatch[ratio=3,steps=7]", "self_training"],
        environments=["label"],
        datasets=["iris"],
        exclude=[{"algorithm": "supervised_net", "dataset": "iris"}],
    )
    first, second, third, *baselines = study.methods
    assert parse(first)[1].items() >= {"net": "auto", "steps": 1000}.items()
    own = {"net": "auto", "steps": 7, "ratio": 3}
    assert parse(second)[1].items() >= own.items()
    assert third == "self_training"
    assert parse(registry.matched_baseline(second))[1]["steps"] == 7
    assert "ratio" not in registry.matched_baseline(second)
    assert baselines == [registry.matched_baseline(second), "supervised_logistic"]
    assert {method for method, _ in study.curves()} == {second, third, *baselines}
    with pytest.raises(InputError, match="budget of fixmatch"):
        registry.estimator("fixmatch", budget="quik")
    with pytest.raises(InputError, match="has no budgets"):
        registry.estimator("self_training", budget="quick")
    assert registry.estimator("fixmatch", budget="full").steps == 10_000


def test_a_trial_takes_a_few_steps(tmp_path, curve):
    whole = {**curve, "algorithms": ["supervised_net[steps=100000]"]}
    plan = robustssl.plan(whole, tmp_path / "none.sqlite", workers=1)
    assert plan.left == 9
    assert plan.seconds > 30


@dataclass(eq=False, repr=False, kw_only=True)
class Narrow(DeepClassifier):
    """Fails on flowers with long petals."""

    views: ClassVar = ("weak",)

    def loss(self, net, params, batch, state):
        labeled, unlabeled, state = super().loss(net, params, batch, state)
        long = batch.weak[:, 2].mean() > 1.2
        return labeled, unlabeled + torch.where(long, torch.nan, 0.0), state


def test_a_failure_is_that_of_its_cells_alone(tmp_path, curve):
    study = {**curve, "algorithms": ["test_deep:Narrow[steps=10]"], "ts": [0, 1]}
    study["only"] = {"algorithm": study["algorithms"]}
    result = robustssl.run(study, tmp_path / "s.sqlite", workers=1, progress=False)
    assert (result.done, result.failed) == (3, 3)
    assert list(result.failures) == ["FloatingPointError: the loss is not finite at step 0"]
    with robustssl.Store(tmp_path / "s.sqlite") as store:
        assert {r.cell.t for r in store.records() if r.error} == {1.0}


class ShortInit(Narrow):
    def init(self, shape):
        return {}


class ShortLoss(Narrow):
    stages = ("loss", "second")

    def second(self, net, params, batch):
        return super().loss(net, params, batch, {})


class TwoValues(Narrow):
    def loss(self, *given):
        return super().loss(*given)[:2]


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("ShortInit", "init of ShortInit must take (self, params, shape), got (self, shape)"),
        (
            "ShortLoss",
            "second of ShortLoss must take (self, net, params, batch, state), got (self, net, "
            "params, batch)",
        ),
        (
            "TwoValues",
            "loss of TwoValues must return the labeled loss, the unlabeled loss and the state, got "
            "2 values",
        ),
    ],
)
def test_a_method_that_the_engine_cannot_call_is_told_in_a_sentence(
    tmp_path, curve, name, sentence
):
    with pytest.raises(InputError) as refused:
        registry.estimator(f"test_deep:{name}", steps=2).fit(*rows(0))
    assert str(refused.value) == sentence
    if name != "TwoValues":
        study = {**curve, "algorithms": [f"test_deep:{name}"]}
        for ask in (
            lambda: robustssl.run(study, tmp_path / "s.sqlite"),
            lambda: list(contracts.check_algorithm(f"test_deep:{name}")),
        ):
            with pytest.raises(InputError) as refused:
                ask()
            assert str(refused.value) == sentence


def test_rows_that_are_refused_leave_the_other_models_alone():
    models = [registry.estimator("fixmatch", steps=3, random_state=s) for s in range(3)]
    data = [rows(0), rows(1), rows(2)]
    data[1][0][3, 3] = np.nan
    errors = fit(models, data)
    assert [error is None for error in errors] == [True, False, True]
    assert "NaN" in str(errors[1])
    assert models[2].predict(data[2][0]).shape == (45,)


def test_seconds_are_shared_and_seeds_too():
    cells = [
        Cell(name, "label", "iris", 5, t, 0, (("steps", 40),))
        for name in ("supervised_net", "fixmatch")
        for t in (0.0, 1.0)
    ]
    start = time.perf_counter()
    found = [record for group in groups(cells) for record in run_group(group)]
    assert 0 < sum(r.seconds for r in found) < time.perf_counter() - start
    jobs = [Job([cell], {}) for cell in cells]
    for job in jobs:
        prepare_job(job, NO_EXTRAS)
    assert len({job.model.random_state for job in jobs}) == 1


def test_views_are_as_strong_as_they_are_named():
    model = registry.estimator("mixmatch", random_state=0, weak=0.1, strong=3.0, batch=64)
    model.views = ("weak", "other", "strong", "x_strong")
    stack = stack_of(model, *rows(0, 200))
    stack.batches.put(stack.batches.draw())
    size, seen = {name: [] for name in ("x", "weak", "other", "strong", "x_strong")}, set()
    noise = []
    for step in range(50):
        fields = stack.batches.at(torch.tensor([step]))
        plain = stack.batches.unlabeled[0][fields["index"][0]]
        seen |= set(fields["index"][0].tolist())
        for name in ("weak", "other", "strong"):
            size[name].append(fields[name][0] - plain)
        apart = (fields["x"][0][:, None] - stack.batches.x[0]).square().sum(-1)
        near, whose = apart.min(1)
        size["x"].append((near / 8).sqrt())
        size["x_strong"].append(fields["x_strong"][0] - stack.batches.x[0][whose])
        noise.append(fields["x"][0] - stack.batches.x[0][whose])
    spread = {name: float(torch.cat(found).square().mean().sqrt()) for name, found in size.items()}
    expected = {"x": 0.1, "weak": 0.1, "other": 0.1, "strong": 3.0, "x_strong": 3.0}
    assert spread == pytest.approx(expected, rel=0.05)
    assert seen == set(range(200))
    assert not torch.equal(fields["weak"], fields["other"])
    both = torch.stack([torch.cat(noise).flatten(), torch.cat(size["x_strong"]).flatten()])
    assert abs(float(torch.corrcoef(both)[0, 1])) < 0.05


def test_labeled_batches_do_not_depend_on_how_much_is_drawn():
    X = np.random.default_rng(0).normal(size=(700, 64))
    y = np.where(np.arange(700) < 150, np.arange(700) % 3, -1)
    found = []
    for name, more in (("supervised_net", {}), ("fixmatch", {"ratio": 7})):
        model = registry.estimator(name, batch=64, random_state=0, **more)
        stack, index = stack_of(model, X, y), []
        for step in range(100):
            if step % stack.batches.chunk == 0:
                stack.batches.put(stack.batches.draw())
            index.append(stack.batches.at(torch.tensor([step]))["y"])
        found.append((stack.batches.chunk, torch.cat(index)))
    assert found[0][0] != found[1][0]
    assert torch.equal(found[0][1], found[1][1])


def stopped(folder, step, data):
    """Models whose training was stopped at a step, which left a checkpoint."""

    def tell(share):
        if share == step / 170:
            raise KeyboardInterrupt

    models = [registry.estimator("flexmatch", random_state=s, steps=170) for s in range(2)]
    with pytest.raises(KeyboardInterrupt):
        models[0].fit_together(models, data, checkpoints=folder, tell=tell)
    return models


@pytest.mark.parametrize("damage", ["cut short", "empty", "of another shape", "without chance"])
def test_a_training_whose_checkpoint_cannot_be_read_begins_anew(tmp_path, monkeypatch, damage):
    monkeypatch.setattr(training, "CHECKPOINT_SECONDS", 0.0)
    data = [rows(0), rows(1)]
    models = stopped(tmp_path, 100, data)
    (file,) = tmp_path.iterdir()
    saved = torch.load(file, weights_only=True)
    if damage == "cut short":
        file.write_bytes(file.read_bytes()[:-1000])
    elif damage == "empty":
        file.write_bytes(b"")
    elif damage == "of another shape":
        torch.save({**saved, "tensors": {**saved["tensors"], "failed": torch.zeros(9, 9)}}, file)
    else:
        torch.save({**saved, "chance": "[]"}, file)
    shares = []
    assert (
        models[0].fit_together(models, data, checkpoints=tmp_path, tell=shares.append) == [None] * 2
    )
    assert shares == [step / 170 for step in range(0, 171, 10)]
    whole = [registry.estimator("flexmatch", random_state=s, steps=170) for s in range(2)]
    fit(whole, data)
    for a, b in zip(whole, models, strict=True):
        assert torch.equal(a.model_.params, b.model_.params)
    assert list(tmp_path.iterdir()) == []


def test_two_trainings_that_write_one_checkpoint_do_not_disturb_each_other(tmp_path, monkeypatch):
    """The second writes, and ends, while the first has written a half."""
    monkeypatch.setattr(training, "CHECKPOINT_SECONDS", 0.0)
    data = [rows(0), rows(1)]
    models = stopped(tmp_path, 50, data)
    real, first = torch.save, []

    def slow(state, file):
        if not first:
            first.append(True)
            file.write(b"half")
            other = [registry.estimator("flexmatch", random_state=s, steps=170) for s in range(2)]
            assert other[0].fit_together(other, data, checkpoints=tmp_path) == [None] * 2
            tmp_path.rmdir()
        real(state, file)

    monkeypatch.setattr(torch, "save", slow)
    assert models[0].fit_together(models, data, checkpoints=tmp_path) == [None] * 2


def test_a_full_disk_leaves_no_part_of_a_checkpoint(tmp_path, monkeypatch):
    monkeypatch.setattr(training, "CHECKPOINT_SECONDS", 0.0)

    def full(state, file):
        file.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(torch, "save", full)
    models = [registry.estimator("flexmatch", random_state=s, steps=170) for s in range(2)]
    with pytest.raises(OSError, match="No space left"):
        models[0].fit_together(models, [rows(0), rows(1)], checkpoints=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_checkpoint_is_of_this_training_alone(tmp_path):
    def name(seed=0, rows_=30, **params):
        model = registry.estimator("fixmatch", random_state=seed, **params)
        X, codes = model._encode(*rows(0, rows_))
        training = Training(model, Inputs("table", (8,)), 3, How(checkpoints=tmp_path))
        return training._checkpoint([model._problem(X, codes)]).name

    names = [name(), name(1), name(rows_=31), name(steps=7), name(threshold=0.9)]
    assert len(set(names)) == 5
    assert name() == names[0]


def test_a_killed_group_keeps_the_models_that_are_done(tmp_path, monkeypatch):
    monkeypatch.setattr(training, "CHECKPOINT_SECONDS", 0.0)
    given = {"net": "wide_resnet[depth=10,widen=1]", "steps": 50, "batch": 2}
    models = [registry.estimator("fixmatch", random_state=s, **given) for s in range(2)]
    data, shares = [images(0), images(1)], []

    def tell(share):
        shares.append(share)
        if share == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        models[0].fit_together(models, data, checkpoints=tmp_path, tell=tell)
    assert len(list(tmp_path.iterdir())) == 2
    assert (shares.count(0.5), shares[-1]) == (2, 1)
    shares.clear()
    models[0].fit_together(models, data, checkpoints=tmp_path, tell=shares.append)
    assert shares == [0.5, 1]
    assert list(tmp_path.iterdir()) == []


# Nets


def test_a_perceptron_follows_its_formula():
    net = MLP((5,), 3, width=7, depth=2)
    a, b, head = *net.layers, net.head
    x = torch.randn(4, 5)
    hidden = torch.clamp(x @ a.weight.T + a.bias, min=0)
    hidden = torch.clamp(hidden @ b.weight.T + b.bias, min=0)
    assert torch.allclose(net(x), hidden @ head.weight.T + head.bias, atol=1e-6)
    picture = MLP((2, 2, 3), 3)
    grey = torch.full((1, 3, 2, 2), 0.5)
    assert torch.allclose(picture.layers[0](torch.zeros(1, 12)).relu(), _first(picture, grey))


def _first(net, x):
    found = []
    net.layers[0].register_forward_hook(lambda *_: found.append(_[2]))
    net(x)
    return found[0].relu()


def test_a_transformer_follows_its_formula():
    """Compared with the paper's formula, token by token and head by head."""
    torch.manual_seed(0)
    net = FTTransformer((3,), 2, layers=2, width=8, heads=2)

    def norm(layer, v):
        return (v - v.mean()) / (v.var(unbiased=False) + 1e-5).sqrt() * layer.weight + layer.bias

    for p in net.parameters():
        p.data += 0.3 * torch.randn_like(p)
    x = torch.randn(3)
    tokens = [net.answer[0], *(x[k] * net.scale[k] + net.shift[k] for k in range(3))]
    for place, block in enumerate(net.blocks):
        normed = tokens if place == 0 else [norm(block.before, v) for v in tokens]
        q, k, v = zip(*(block.triples(u).split(8) for u in normed), strict=True)
        after = []
        for i in range(4):
            heads = []
            for h in (slice(0, 4), slice(4, 8)):
                scores = torch.stack([q[i][h] @ k[j][h] / 2 for j in range(4)]).softmax(0)
                heads.append(sum(scores[j] * v[j][h] for j in range(4)))
            u = tokens[i] + block.out(torch.cat(heads))
            values, gates = block.widen(norm(block.between, u)).chunk(2)
            after.append(u + block.narrow(values * torch.clamp(gates, min=0)))
        tokens = after
    expected = net.head(torch.clamp(norm(net.norm, tokens[0]), min=0))
    assert torch.allclose(net(x[None])[0], expected, atol=1e-5)
    twin = Net(net, torch.float32).plain
    assert twin.module is not net
    assert torch.allclose(twin(twin.pack(net), x[None])[0].float(), expected, atol=1e-5)


def test_a_wide_resnet_has_its_size():
    net = WideResNet((32, 32, 3), 10)
    assert sum(p.numel() for p in net.parameters()) == 1_467_610  # as published for 28-2
    sizes = []
    for stage in (0, 4, 8):
        net.stages[stage].register_forward_hook(lambda *_: sizes.append(_[2].shape[-1]))
    assert net(torch.rand(2, 3, 32, 32)).shape == (2, 10)
    assert sizes == [32, 16, 8]


def test_momentum_counts():
    first, second = (
        together("supervised_net", (0,), (30,), optimizer="sgd", momentum=m)[0] for m in (0.9, 0.1)
    )
    assert not torch.equal(first.model_.params, second.model_.params)


def test_biases_and_tokens_do_not_decay():
    net = Net(FTTransformer((3,), 2, layers=1, width=8, heads=2), torch.float32)
    decayed = {n for n, p in net.unpack(net.decays).items() if p.any()}
    assert decayed == {f"blocks.0.{n}.weight" for n in ("triples", "out", "widen", "narrow")} | {
        "head.weight"
    }


def test_the_budget_reference_does_not_clip_gradients_of_methods_or_baselines():
    model = registry.estimator("fixmatch", budget="reference", net="linear", steps=2)
    assert model.clip is None
    X, y = rows(0)
    assert model.fit(X[y >= 0], y[y >= 0]).model_.clip is None


@pytest.mark.parametrize(
    ("X", "sentence"),
    [
        (np.zeros((9, 8, 8)), "or images"),
        (np.zeros((9, 8, 8, 3)), "must be uint8"),
        (np.zeros((9, 3, 8, 8), np.uint8), "three channels"),
        (np.zeros((9, 2, 2, 2, 2)), "or images"),
    ],
)
def test_rows_of_an_unknown_shape_are_refused(X, sentence):
    with pytest.raises(InputError, match=sentence):
        registry.estimator("fixmatch").fit(X, [0, 1, 0, 1, -1, -1, -1, -1, -1])


def test_rows_must_be_those_it_was_fitted_to():
    X, y = images(0)
    model = registry.estimator("fixmatch", steps=2).fit(X, y)
    for other in (X[:, :, :7], X[..., :1], X.transpose(0, 1, 3, 2)):
        with pytest.raises(InputError, match="must have the shape"):
            model.predict(other)
    assert model.predict(X[::-1]).tolist() == model.predict(X)[::-1].tolist()


@pytest.mark.parametrize(
    ("form", "net"), [("table", "FTTransformer"), ("vectors", "MLP"), ("image", "WideResNet")]
)
def test_the_net_follows_the_rows(form, net):
    pixels = np.random.default_rng(0).integers(0, 255, (9, 8, 8, 3)).astype(np.uint8)
    vectors = pixels[:, :, :5, 0].swapaxes(1, 2).astype(np.float32)  # with two views of each kind
    X = {
        "table": pixels[:, :, 0, 0].astype(float),
        "vectors": ViewedRows(vectors, np.arange(9), 2, 2),
        "image": pixels,
    }[form]
    y = np.array([0, 1, 0, 1, -1, -1, -1, -1, -1])
    model = registry.estimator("fixmatch", budget="full", steps=1, batch=2).fit(X, y)
    assert type(model.model_.net.module).__name__ == net


def test_nets_of_ones_own():
    model = registry.estimator("fixmatch", net="robustssl.nets.mlp:MLP[width=4,depth=1]", steps=3)
    assert model.fit(*rows(0)).model_.params.numel() == 8 * 4 + 4 + 4 * 3 + 3 + 5


@pytest.mark.parametrize("environment", ["label", "distribution", "feature"])
@pytest.mark.parametrize("dataset", ["toy:images", "toy:texts"])
def test_a_curve_on_images_and_on_texts(dataset, environment, monkeypatch):
    swaps = {"good": ["great"], "bad": ["poor"], "tall": ["wide"]}
    monkeypatch.setattr("robustssl.views.texts._synonyms", lambda: swaps)
    cells = [
        Cell("fixmatch", environment, dataset, 5, t, seed, (("steps", 60),))
        for t in (0.0, 1.0)
        for seed in (0, 1)
    ]
    found = run_group(tuple(cells))
    assert [r.error for r in found] == [None] * 4
    assert [r.cell for r in found] == cells
    if dataset == "toy:texts":  # the toy images differ by row, and views shift them
        assert min(r.scores["accuracy"] for r in found if r.cell.t == 0) > 0.5
    heights = {r.provenance["height"] for r in found}
    assert heights == {4}


def test_rows_that_have_views_keep_their_shape(monkeypatch):
    monkeypatch.setattr(
        "robustssl.views.texts._synonyms", lambda: {"good": ["great"], "bad": ["poor"]}
    )
    pictures = prepare("toy:images", "label", 5, 0)
    assert pictures.split(0.4, views=True).X.dtype == np.uint8
    assert pictures.split(0.4, views=True).X_test.shape[1:] == (6, 6, 3)
    texts = prepare("toy:texts", "label", 5, 0)
    plain, views = texts.split(0.4), texts.split(0.4, views=True)
    assert views.X.shape == plain.X.shape
    assert np.array_equal(np.asarray(views.X), plain.X)
    moved = [np.abs(views.X.bank[:, k] - plain.X).mean() for k in range(1, 5)]
    assert 0 < max(moved[:2]) < max(moved[2:])


def test_a_model_that_cannot_be_prepared_leaves_the_others_alone():
    cells = [Cell("fixmatch", "label", "iris", n, 0.0, 0, (("steps", 3),)) for n in (5, 5000)]
    found = run_group(tuple(cells))
    assert found[0].error is None
    assert "5000" in found[1].error


def test_the_example_writes_records_that_can_be_imported(tmp_path):
    script = Path(__file__).parents[1] / "examples" / "whole_curve_on_one_gpu.py"
    options = ["--budget", "quick", "--algorithm", "vat[steps=20]", "--seeds", "2"]
    out = tmp_path / "curve.jsonl"
    found = subprocess.run(
        [sys.executable, script, *options, "--out", out], capture_output=True, text=True, check=True
    )
    assert "12 records in" in found.stdout
    loaded = robustssl.load(out, tmp_path / "store.sqlite")
    assert loaded.added == 12
    assert [p.name for p in tmp_path.iterdir() if p.suffix == ".checkpoints"] == []


def test_baselines_that_fail_leave_the_other_models_alone(monkeypatch):
    X, y = make_moons(60, noise=0.1, random_state=0)
    models = [registry.estimator("fixmatch", steps=5, random_state=s) for s in range(2)]

    def fail(*_, **__):
        raise RuntimeError("boom")

    monkeypatch.setattr(registry.algorithm("supervised_net"), "fit_together", staticmethod(fail))
    problems = [(X, y), (X, np.where(np.arange(60) < 10, y, -1))]
    first, second = type(models[0]).fit_together(models, problems)
    assert (str(first), second) == ("boom", None)
    assert models[1].predict(X).shape == (60,)


def test_where_every_row_has_a_label_the_baselines_are_one_stack():
    """As with access=labels: the baselines are trained together, and each is the same as alone."""
    X, y = make_moons(60, noise=0.1, random_state=0)
    X = X.astype(np.float32)
    models = [registry.estimator("fixmatch", steps=20, random_state=s) for s in range(3)]
    hidden = np.where(np.arange(60) < 10, y, -1)
    problems = [(X, y), (X[10:], y[10:]), (X, hidden)]
    assert type(models[0]).fit_together(models, problems) == [None] * 3
    assert [model.trained_with_["height"] for model in models] == [2, 2, 1]
    for model, (rows, codes) in zip(models[:2], problems, strict=False):
        alone = registry.estimator("supervised_net", steps=20, random_state=model.random_state)
        assert np.allclose(model.predict_proba(X), alone.fit(rows, codes).predict_proba(X))
