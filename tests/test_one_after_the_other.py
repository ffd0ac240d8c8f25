"""Models that are trained one after the other, in the tensors of the first."""

import numpy as np
import pytest
import torch
from test_deep import rows

from robustssl import registry
from robustssl.deep.together import Training

ALONE = {"net": "wide_resnet[depth=10,widen=1]", "batch": 4, "steps": 3}


def pictures(seed, unlabeled=9):
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(6) % 2, np.full(unlabeled, -1)])
    return rng.integers(0, 256, (len(y), 8, 8, 3), dtype=np.uint8), y


def fitted_together(name, problems, mode="eager", **options):
    models = [
        registry.estimator(name, random_state=s, **{**ALONE, **options})
        for s in range(len(problems))
    ]
    assert models[0].fit_together(models, problems, mode=mode) == [None] * len(models)
    return models


@pytest.mark.parametrize("counts", [(9, 9, 9), (5, 9, 7)])
@pytest.mark.parametrize("name", ["supervised_net", "fixmatch", "flexmatch", "openmatch"])
def test_a_model_is_the_same_whether_it_is_the_first_of_a_curve_or_a_later_one(name, counts):
    problems = [pictures(s, count) for s, count in enumerate(counts)]
    together = fitted_together(name, problems)
    for seed, problem in enumerate(problems):
        alone = registry.estimator(name, random_state=seed, **ALONE).fit(*problem)
        assert torch.equal(together[seed].model_.params, alone.model_.params)
        assert np.array_equal(
            together[seed].predict_proba(problem[0]), alone.predict_proba(problem[0])
        )
    assert not torch.equal(together[0].model_.params, together[1].model_.params)


def test_models_one_after_the_other_keep_constants_of_their_own():
    problems = [rows(s) for s in range(2)]
    models = fitted_together("supervised_net", problems, net="own_net:Alone")
    drawn = [model.model_.net.module.drawn for model in models]
    assert not torch.equal(*drawn)
    for seed, problem in enumerate(problems):
        options = {**ALONE, "net": "own_net:Alone", "random_state": seed}
        alone = registry.estimator("supervised_net", **options).fit(*problem)
        assert torch.equal(drawn[seed], alone.model_.net.module.drawn)
        assert torch.equal(models[seed].model_.params, alone.model_.params)


@pytest.mark.parametrize("name", ["supervised_net", "fixmatch"])
def test_what_is_compiled_for_the_first_model_serves_all(name, monkeypatch):
    compiled = []

    def backend(graph, inputs):
        compiled.append(graph)
        return graph.forward

    compile_ = torch.compile
    monkeypatch.setattr(
        torch, "compile", lambda part, **how: compile_(part, backend=backend, **how)
    )
    problems = [pictures(s, count) for s, count in enumerate((9, 5, 7))]
    first = fitted_together(name, problems[:1], mode="compile")
    once = len(compiled)
    compiled.clear()
    models = fitted_together(name, problems, mode="compile")
    assert len(compiled) == once > 0
    assert torch.equal(models[0].model_.params, first[0].model_.params)
    eager = fitted_together(name, problems)
    for one, other in zip(models, eager, strict=True):
        torch.testing.assert_close(one.model_.params, other.model_.params)


def test_where_memory_does_not_suffice_for_two_the_first_makes_room(monkeypatch):
    held, stack = [], Training.stack

    def crowded(self, problems, room=(1, 1)):
        held.append(len(self._last))
        if self._last:
            raise torch.OutOfMemoryError
        return stack(self, problems, room)

    problems = [pictures(s) for s in range(2)]
    expected = fitted_together("fixmatch", problems)
    monkeypatch.setattr(Training, "stack", crowded)
    models = fitted_together("fixmatch", problems)
    assert held == [0, 1, 0]
    assert all(
        torch.equal(a.model_.params, b.model_.params) for a, b in zip(models, expected, strict=True)
    )
