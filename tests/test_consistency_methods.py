"""VAT, ICT, UASD, AdaMatch, CAFA and MTCF: what their authors' code does, beside plain formulas."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from test_deep import rows, stack_of
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy

from robustssl.algorithms.adamatch import AdaMatch
from robustssl.algorithms.cafa import CAFA, matched, scaled
from robustssl.algorithms.ict import ICT
from robustssl.algorithms.mtcf import MTCF
from robustssl.algorithms.uasd import UASD
from robustssl.algorithms.vat import VAT, one_way
from robustssl.deep.types import Batch

SMALL = {"net": "mlp[width=8]", "precision": "fp64", "random_state": 0, "device": "cpu"}


def ready(model):
    """The stack of one model, with the numbers of its first steps drawn."""
    stack = stack_of(model, *rows(0))
    stack.batches.put(stack.batches.draw())
    return stack


def batch_of(stack):
    fields = {**stack.batches.at(stack.step_number), "step": stack.step_number.double()}
    return Batch(**{name: value[0] for name, value in fields.items()})


def losses(stack, batch):
    stack.prepare()
    state = {name: value[0] for name, value in stack.state.items()}
    state |= {"params": stack.params[0], "average": stack.average[0]}
    return stack.model.loss(stack.net, stack.params[0], batch, state)


@pytest.mark.parametrize("features", [4, 4096])
def test_vats_radius_does_not_grow_with_the_number_of_features(features):
    rng = torch.Generator().manual_seed(0)
    row = torch.randn(500, features, generator=rng)
    views = [row + 0.1 * torch.randn(row.shape, generator=rng) for _ in range(2)]
    assert float(one_way(*views)) == pytest.approx(0.1, rel=0.05)


def test_vat_has_no_ramp_unless_asked():
    first, slow = ready(VAT(**SMALL, steps=10)), ready(VAT(**SMALL, steps=10, warmup=1.0))
    batch = batch_of(first)
    assert float(losses(first, batch)[1]) > 0
    for step in (0, 3):
        ratio = losses(slow, replace(batch, step=torch.tensor(float(step))))[1]
        assert float(ratio / losses(first, batch)[1]) == pytest.approx(step / 10)


def test_ict_mixes_labeled_rows_and_the_logits_of_unlabeled_ones():
    stack = ready(ICT(**SMALL, steps=10))
    batch = batch_of(stack)
    net, params = stack.net, stack.params[0]
    a, b = batch.noise
    labeled, unlabeled, _ = losses(stack, batch)
    answer = net(params, a * batch.x + (1 - a) * batch.x.roll(1, 0))
    both = a * cross_entropy(answer, batch.y) + (1 - a) * cross_entropy(answer, batch.y.roll(1))
    assert float(labeled) == pytest.approx(float(both))
    logits = net(params, batch.weak)  # before the first step the average is the net itself
    target = (b * logits + (1 - b) * logits.roll(1, 0)).softmax(-1)
    mixed = net(params, b * batch.weak + (1 - b) * batch.weak.roll(1, 0)).softmax(-1)
    expected = 100 * np.exp(-5) * ((mixed - target) ** 2).mean()
    assert float(unlabeled) == pytest.approx(float(expected))


def test_uasd_learns_the_mean_of_earlier_answers_and_keeps_all_of_them():
    stack = ready(UASD(**SMALL, batch=30, steps=9, start=0.0))
    answers, some = [], 0
    seen = {}  # the answers to the strong views of each labeled row
    for step in range(9):
        batch = batch_of(stack)
        answer, strong = stack.net(stack.params[0], batch.weak, batch.x_strong)
        q = torch.stack(answers).mean(0)[batch.index] if answers else torch.zeros_like(answer)
        sure = [float(torch.stack(each).mean(0).max()) for each in seen.values()]
        level = np.mean(sure) if sure else 0.9
        kept = q.amax(-1) >= level
        ramp = np.exp(-5 * (1 - min(1, step / (0.4 * 9))) ** 2)
        expected = ramp * float(cross_entropy(answer[kept], q[kept])) if kept.any() else 0.0
        assert float(losses(stack, batch)[1]) == pytest.approx(expected)
        some += 0 < int(kept.sum()) < 30
        answers.append(answer.softmax(-1)[batch.index.argsort()])
        for row, p in zip(batch.x_index.tolist(), strong.softmax(-1), strict=True):
            seen.setdefault(row, []).append(p)
        stack.step()
    assert (stack.state["q"][0] - torch.stack(answers).mean(0)).abs().max() < 1e-12
    assert some > 3


def test_uasd_keeps_answers_before_it_learns_from_them():
    stack = ready(UASD(**SMALL, batch=30, steps=9, start=1.0))
    for _ in range(4):
        assert losses(stack, batch_of(stack))[1] == 0
        stack.step()
    assert (stack.state["visits"] == 4).all()


def test_adamatch_aligns_with_the_mean_of_the_latest_batches_and_learns_hard_labels():
    stack = ready(AdaMatch(**SMALL, batch=8, steps=10, window=3, threshold=0.0, ratio=2))
    means = []
    for step in range(7):
        batch = batch_of(stack)
        inputs = (batch.x, batch.x_strong, batch.weak, batch.strong)
        x, x_strong, weak, strong = stack.net(stack.params[0], *inputs)
        guess = weak.softmax(-1)
        means = [*means, guess.mean(0)][-3:]
        before = stack.state["labeled"][0].clone()
        labeled, unlabeled, _ = losses(stack, batch)
        both = torch.cat([x, x_strong])  # without batch normalisation both passes are the same
        assert float(labeled) == pytest.approx(float(cross_entropy(both, batch.y.repeat(2))))
        here = 0.99 * before + 0.01 * x.softmax(-1).mean(0)
        there = torch.stack([*[torch.full((3,), 1 / 3)] * (3 - len(means)), *means]).mean(0)
        label = (guess * (here + 1e-6) / (there + 1e-6)).argmax(-1)
        weight = (1 - np.cos(min(np.pi, 2 * np.pi * step / 10))) / 2
        expected = weight * float(cross_entropy(strong, label))
        assert float(unlabeled) == pytest.approx(expected, abs=1e-12)
        stack.step()


def test_cafa_gives_the_class_of_least_weight_no_guess():
    weights = torch.tensor([0.5, 1.0, 1.5])
    assert scaled(weights, equal=1.0).tolist() == [0.0, 0.5, 1.0]
    assert scaled(torch.ones(3), equal=1.0).tolist() == [1.0] * 3


def test_cafa_learns_every_guess_however_unsure():
    stack = ready(CAFA(**SMALL, batch=8, steps=10, adversary=0.0))
    assert float(losses(stack, batch_of(stack))[1]) > 0


def test_cafa_matches_rows_of_a_class_in_the_order_of_confidence():
    y = torch.tensor([0, 1, 0, 2, 0])
    guess = torch.tensor([[5.0, 0, 0], [0, 2, 0], [9, 0, 0], [0, 3, 0], [0, 1, 0], [0, 4, 0]])
    assert matched(y, guess).tolist() == [2, 5, 0, 3, 4]  # the last two have no match


def test_mtcfs_domain_loss_counts_every_row_once():
    """As if a batch were drawn from labeled and unlabeled rows together."""
    stack = ready(MTCF(**SMALL, batch=8, steps=10, start=1.0))
    batch = batch_of(stack)
    labeled, unlabeled, _ = losses(stack, batch)
    share = np.mean(rows(0)[1] >= 0)
    net, params = stack.net, stack.params[0]
    for found, seen, target, part in (
        (labeled, batch.x, 1.0, share),
        (unlabeled, batch.weak, 0.0, 1 - share),
    ):
        said = net.part("g", params, net.part("net.features", params, seen))
        loss = binary_cross_entropy_with_logits(said, torch.full_like(said, target))
        assert float(found) == pytest.approx(part * float(loss))


def test_mtcf_mixes_all_rows_of_a_step_in_one_proportion():
    shares = MTCF(batch=4).noise(np.random.default_rng(0), (20, 6, 8))[:, 0]
    assert (shares == shares[:, :1]).all()
    assert len(np.unique(shares)) == 20
    assert shares.min() >= 0.5
