"""What a method says of its authors, and training in stages, which some of them need."""

import csv
import re
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
import torch
from test_deep import fit, rows
from torch.nn.functional import cross_entropy

from robustssl import InputError, registry
from robustssl.checks._gains import COLLAPSE
from robustssl.checks._worlds import WORLDS
from robustssl.deep import DeepClassifier
from robustssl.deep import train as training
from robustssl.deep.starts import seeds_of
from robustssl.method import Preset

ALGORITHMS = registry.names("algorithm")
REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+: \S+")
PAPER = re.compile(r"arXiv:\d{4}\.\d{5}|[A-Z]\w+.* (19|20)\d\d")


@pytest.mark.parametrize("name", ALGORITHMS)
def test_settings_have_a_source_and_claims_a_place(name):
    found = registry.about("algorithm", name)
    for which, (source, _) in found.presets.items():
        assert REPOSITORY.match(source) or PAPER.search(source), (which, source)
    for place in found.targets.values():
        assert PAPER.search(place), place


@pytest.mark.parametrize("name", [n for n in ALGORITHMS if registry.about("algorithm", n).baseline])
def test_departures_are_told_in_one_form(name):
    told = registry.about("algorithm", name).departures
    assert told


with (Path(__file__).parents[1] / "experiments/authors.csv").open(newline="") as _file:
    MEASURED = list(csv.DictReader(_file))


@pytest.mark.parametrize("name", [n for n in ALGORITHMS if registry.about("algorithm", n).baseline])
def test_every_method_was_measured_and_collapses_only_where_it_says_so(name):
    """After a change of a method: python experiments/authors.py METHOD."""
    about = registry.about("algorithm", name)
    rows = {row["measure"]: row for row in MEASURED if row["method"] == name}
    assert {row["version"] for row in rows.values()} == {str(about.version)}
    assert float(rows["changed"]["value"]) > 0
    if about.family == "deep":
        found = {w.__name__ for w in WORLDS if float(rows[w.__name__]["high"]) < -COLLAPSE}
        assert found == set(getattr(registry.algorithm(name), "collapses", {})) - {"blobs"}


class Unsourced(DeepClassifier):
    presets: ClassVar = {"paper": {"ratio": 7}}


class Empty(DeepClassifier):
    presets: ClassVar = {"paper": Preset("", {"ratio": 7})}


@pytest.mark.parametrize("kind", ["Unsourced", "Empty"])
def test_a_preset_without_a_source_is_refused(kind):
    with pytest.raises(InputError, match="does not say where its settings come from"):
        registry.inspected("algorithm", f"test_true_to_authors:{kind}")


@dataclass(eq=False, repr=False, kw_only=True)
class Twice(DeepClassifier):
    """A first net labels the unlabeled rows; a fresh one learns these labels as well."""

    views = ("weak",)
    stages = ("first", "loss")

    def init(self, params, shape):
        return {"labels": torch.full((shape.rows,), -1, device=params.device)}

    def first(self, net, params, batch, state):
        labeled = cross_entropy(net(params, batch.x), batch.y)
        return labeled, 0 * net(params, batch.weak).mean(), state

    def handover(self, net, params, rows, state):
        return {**state, "labels": net(params, rows.unlabeled).argmax(-1)}

    def loss(self, net, params, batch, state):
        labels = state["labels"][batch.index]
        unlabeled = cross_entropy(net(params, batch.weak), labels)
        return cross_entropy(net(params, batch.x), batch.y), unlabeled, state


def twice(count=2, **options):
    options = {"steps": 70, "net": "mlp[width=8]", "precision": "fp64", **options}
    return [Twice(random_state=seed, **options) for seed in range(count)]


def test_the_second_stage_learns_what_the_first_one_handed_over(monkeypatch):
    handed = []
    before = Twice.handover

    def told(self, net, params, given, state):
        after = before(self, net, params, given, state)
        handed.append((net(params, given.unlabeled).argmax(-1), int(given.count)))
        return after

    monkeypatch.setattr(Twice, "handover", told)
    models, data = twice(learning_rate=0.05, steps=300), [rows(0, 30), rows(1, 20)]
    fit(models, data)
    assert [count for _, count in handed] == [30, 20]
    for model, (X, y), (labels, count) in zip(models, data, handed, strict=True):
        assert (model.predict(X[y < 0]) == labels[:count].numpy()).all()


def test_a_stage_begins_with_a_fresh_net_and_the_last_with_that_of_the_baseline():
    first, last = seeds_of(7, 2)
    assert last == 7 != first
    assert seeds_of(7, 1) == [7]
    (model,) = twice(1, learning_rate=1e-12, ema=0.0)
    baseline = model._matched("supervised_net")
    X, y = rows(0)
    for fitted in (model, baseline):
        fitted.fit(X, y)
    assert torch.allclose(model.model_.params, baseline.model_.params, atol=1e-8)


def test_stages_do_not_depend_on_the_stack():
    stacked, data = twice(3), [rows(0, 30), rows(1, 20), rows(2, 30)]
    fit(stacked, data)
    for model, alone, (X, y) in zip(stacked, twice(3), data, strict=True):
        assert (model.model_.params - alone.fit(X, y).model_.params).abs().max() < 1e-9


@pytest.mark.parametrize("killed", [50, 100])  # in the first stage of 70 steps, and in the second
def test_a_killed_training_continues_in_its_stage(killed, tmp_path, monkeypatch):
    monkeypatch.setattr(training, "CHECKPOINT_SECONDS", 0.0)

    def tell(share):
        if share == killed / 140:
            raise KeyboardInterrupt

    whole, data = twice(), [rows(0), rows(1)]
    fit(whole, data)
    broken, resumed = twice(), twice()
    with pytest.raises(KeyboardInterrupt):
        broken[0].fit_together(broken, data, checkpoints=tmp_path, tell=tell)
    resumed[0].fit_together(resumed, data, checkpoints=tmp_path)
    for a, b in zip(whole, resumed, strict=True):
        assert torch.equal(a.model_.params, b.model_.params)


def test_a_part_without_a_gradient_does_not_decay_away():
    """As it does when weight decay goes through Adam, whose steps do not shrink with it."""

    class Headed(DeepClassifier):
        views = ("weak",)

        def parts(self, build, features, classes):
            return {"idle": torch.nn.Linear(features, classes)}

    X, y = rows(0)
    sizes = {}
    for decay in ("decoupled", "coupled"):
        model = Headed(random_state=0, decay=decay, weight_decay=0.01, ema=0.0, steps=300).fit(X, y)
        weights = model.model_.net.unpack(model.model_.params)["idle.weight"]
        sizes[decay] = float(np.linalg.norm(weights))
    assert sizes["decoupled"] > 100 * sizes["coupled"]
