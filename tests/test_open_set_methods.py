"""Methods for unknown classes, and Bidirectional Adaptation: each beside a plain loop of what its
authors' code does, and with their settings.
"""

from collections import deque

import numpy as np
import pytest
import torch
from test_deep import rows, stack_of

from robustssl import registry
from robustssl.algorithms.bidirectional_adaptation import BidirectionalAdaptation, discrepancy
from robustssl.algorithms.iomatch import IOMatch
from robustssl.algorithms.openmatch import OpenMatch
from robustssl.algorithms.scomatch import SCOMatch, logits_of
from robustssl.algorithms.ssb import SSB
from robustssl.deep.inputs import Inputs
from robustssl.deep.together import Training
from robustssl.deep.types import Batch

SMALL = {"net": "mlp[width=8]", "batch": 8, "precision": "fp64", "random_state": 0}


@pytest.fixture(autouse=True)
def _one_thread_of_the_processor(monkeypatch):
    torch.set_num_threads(1)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)


def steps_of(stack):
    """The batch of each step; after it has been looked at, the step is taken."""
    for step in range(stack.steps):
        if step % stack.batches.chunk == 0:
            stack.batches.put(stack.batches.draw())
        stack.prepare()
        fields = {name: value[0] for name, value in stack.batches.at(stack.step_number).items()}
        yield Batch(**fields, step=torch.tensor(step % stack.model.steps, dtype=torch.float64))
        stack.step()
        stack.done += 1


def losses_at(stack, batch, state=None, **changes):
    """The labeled and the unlabeled loss with the present parameters, after changes of the batch
    and of the state.
    """
    fields = {**{name: getattr(batch, name) for name in Batch.__dataclass_fields__}, **changes}
    present = {name: value[0] for name, value in stack.state.items()}
    present |= {"average": stack.average[0], **(state or {})}
    with torch.no_grad():
        labeled, unlabeled, _ = stack.model.loss(
            stack.net, stack.params[0], Batch(**fields), present
        )
    return float(labeled), float(unlabeled)


AUTHORS = {
    "bidirectional_adaptation": {"ratio": 1, "transfer": 0.5, "weight": 0.1},
    "scomatch": {"ratio": 2, "threshold": 0.95, "weight": 1.0, "queue": 256},
    "openmatch": {
        "ratio": 2,
        "threshold": 0.0,
        "weight": 1.0,
        "entropy": 0.1,
        "agreement": 0.5,
        "start": 10 / 512,
    },
    "ssb": {
        "ratio": 2,
        "threshold": 0.95,
        "weight": 1.0,
        "entropy": 0.1,
        "agreement": 0.5,
        "negative": 0.01,
        "start": 475 / 512,
    },
    "iomatch": {
        "ratio": 7,
        "threshold": 0.95,
        "open_threshold": 0.5,
        "weight": 1.0,
        "open_weight": 1.0,
        "width": 128,
        "queue": 128,
        "start": 1 / 256,
    },
}


@pytest.mark.parametrize("name", AUTHORS)
def test_the_defaults_are_the_authors_settings(name):
    defaults = registry.defaults("algorithm", name)
    assert {option: defaults[option] for option in AUTHORS[name]} == AUTHORS[name]
    shared = {*registry.defaults("algorithm", "supervised_net"), "strong"}
    assert set(AUTHORS[name]) == set(defaults) - shared
    assert registry.canonical("algorithm", f"{name}[preset=paper]") == name


# Bidirectional Adaptation


def test_the_discrepancy_is_that_of_a_plain_loop():
    rng = np.random.default_rng(0)
    x, u = rng.normal(size=(4, 3)), 1 + rng.normal(size=(6, 3))
    both = [*x, *u]
    mean = np.sum([np.sum((a - b) ** 2) for a in both for b in both]) / (10 * 9)

    def kernel(a, b):
        return sum(np.exp(-np.sum((a - b) ** 2) / (mean / 4 * 2**k)) for k in range(5))

    def between(one, two):
        return np.mean([kernel(a, b) for a in one for b in two])

    expected = between(x, x) + between(u, u) - between(x, u) - between(u, x)
    assert float(discrepancy(torch.tensor(x), torch.tensor(u))) == pytest.approx(expected, abs=1e-9)
    same = torch.ones(5, 3, requires_grad=True)
    found = discrepancy(same, same)
    found.backward()
    assert float(found.detach()) == pytest.approx(0, abs=1e-6)
    assert same.grad.isfinite().all()


def test_the_first_net_labels_every_row_and_its_labels_weight_the_classes():
    """Also where another model of the stack has more rows, so that this one's are padded."""
    model = BidirectionalAdaptation(**SMALL, steps=5)
    problems = []
    for seed, unlabeled in ((0, 20), (1, 30)):
        X, y = rows(seed, unlabeled)
        y[3] = -1  # classes differ in their number of labels
        model._encode(X, y)
        problems.append(model._problem(X, y))
    stack = Training(model, Inputs("table", (8,)), 3).stack(problems)
    for step in range(6):
        if step % stack.batches.chunk == 0:
            stack.batches.put(stack.batches.draw())
        if step == 5:
            first, starts = stack.average.clone(), stack.starts
        stack.prepare()
        if step == 5:
            assert stack.stage == 1
            assert torch.equal(stack.params, starts[1])
            assert not torch.equal(starts[0], starts[1])
        stack.step()
        stack.done += 1
    for m, problem in enumerate(problems):
        z = stack.net.part("net.features", first[m], torch.tensor(problem.unlabeled))
        answers = stack.net.part("labeler", first[m], stack.net.part("shared", first[m], z))
        guesses = answers.softmax(-1).detach()
        count = len(problem.unlabeled)
        assert torch.allclose(stack.state["guesses"][m, :count], guesses)
        shares = [np.mean(problem.codes == k) for k in range(3)]
        found = [max(1, int((guesses.argmax(-1) == k).sum())) for k in range(3)]
        expected = [share * count / n for share, n in zip(shares, found, strict=True)]
        assert np.allclose(stack.state["classes"][m], expected)


def test_the_second_net_weights_rows_by_its_confidence():
    X, y = rows(0)
    model = BidirectionalAdaptation(**SMALL, steps=6)
    stack = stack_of(model, X, y)
    seen = {k: [] for k in range(3)}
    for batch in steps_of(stack):
        if stack.stage == 0:
            continue
        answer = stack.net(stack.params[0], batch.weak).log_softmax(-1).detach()
        guess = stack.state["guesses"][0][batch.index]
        label = guess.argmax(-1).tolist()
        sure = [float(answer[i, k].exp()) for i, k in enumerate(label)]
        for k, confidence in zip(label, sure, strict=True):
            seen[k].append(confidence)
        weights = np.array([c / np.mean(seen[k]) for k, c in zip(label, sure, strict=True)])
        weights = weights / weights.mean() * stack.state["classes"][0].numpy()[label]
        expected = 0.1 * np.mean(weights * -(guess * answer).sum(-1).numpy())
        assert losses_at(stack, batch)[1] == pytest.approx(expected, rel=1e-9)
    assert sum(map(len, seen.values())) == 6 * 8


# SCOMatch

TRUST = 0.8


def test_the_queue_and_the_threshold_of_outliers_are_those_of_a_plain_loop():
    X, y = rows(0, unlabeled=100)
    X[-50:] += 4
    model = SCOMatch(**SMALL, steps=120, queue=24, threshold=TRUST, learning_rate=0.02)
    stack = stack_of(model, X, y)
    queue, bar, counts, bars = deque(maxlen=24), 0.95, [0, 0], set()
    half = 100 // (2 * 16)
    for step, batch in enumerate(steps_of(stack)):
        if step > 0 and step % half == 0:
            ratio = counts[1] / counts[0] if counts[0] else np.inf
            bar, counts = min(0.95, max(0.75, TRUST * ratio)), [0, 0]
        bars.add(bar)
        places = [int(u * min(step, 24)) for u in batch.noise.tolist()]
        ring = {(step - len(queue) + i) % 24: entry for i, entry in enumerate(queue)}
        begun = step >= 8
        queued = torch.stack([ring[place][0] for place in places]) if begun else batch.x
        views = (batch.x, queued, batch.weak, batch.strong)
        with torch.no_grad():
            _, out, weak, strong = logits_of(stack.net, stack.params[0], *views)
        p, learned = weak.softmax(-1), strong.log_softmax(-1)
        closed = strong[:, :3].log_softmax(-1)
        missed = float(-out.log_softmax(-1)[:, 3].mean()) if begun else 0.0
        expected = 0.0
        for i in range(16):
            confidence, label = float(p[i].max()), int(p[i].argmax())
            if confidence >= (bar if label == 3 else TRUST):
                expected -= float(learned[i, label]) / 16
            if confidence >= TRUST and label < 3:
                expected -= float(closed[i, label]) / 16
            if confidence > TRUST:
                counts[int(label == 3)] += 1
        # Rows that were confident of a known class when they entered are not learned as outliers.
        for score, found in ((TRUST - 0.01, missed), (TRUST, 0.0)):
            state = {"scores": torch.full((24,), score, dtype=torch.float64)}
            _, unlabeled = losses_at(stack, batch, state)
            assert unlabeled == pytest.approx(expected + found, abs=1e-9)
        scores = [ring[k][1] if k in ring else 0.0 for k in range(24)]
        assert stack.state["scores"][0].tolist() == pytest.approx(scores, abs=1e-9)
        least = int(p[:, :3].amax(-1).argmin())
        queue.append((batch.weak[least], float(p[least, :3].max())))
    assert len(bars) > 2


# OpenMatch


def test_openmatch_learns_two_weak_views_of_labeled_rows():
    X, y = rows(0)
    stack = stack_of(OpenMatch(**SMALL, steps=50, start=0.5), X, y)
    for step, batch in enumerate(steps_of(stack)):
        if step in (24, 25):
            labeled, unlabeled = losses_at(stack, batch)
            swapped, _ = losses_at(stack, batch, x=batch.x_other, x_other=batch.x)
            assert swapped == pytest.approx(labeled, rel=1e-12)
            alone = [losses_at(stack, batch, x=v, x_other=v)[0] for v in (batch.x, batch.x_other)]
            assert np.mean(alone) == pytest.approx(labeled, rel=1e-12)
            _, other = losses_at(stack, batch, strong=batch.strong + 1)
            assert (other == unlabeled) == (step == 24)  # FixMatch begins with step 25
    assert "x_strong" not in OpenMatch.views


def test_openmatch_averages_the_rows_that_its_averaged_detector_accepts():
    X, y = rows(0)
    stack = stack_of(OpenMatch(**SMALL, steps=60, entropy=0.0, agreement=0.0, start=0.0), X, y)
    shares = set()
    for batch in steps_of(stack):
        with torch.no_grad():
            z = stack.net.part("net.features", stack.average[0], batch.weak)
            label = stack.net.part("net.head", stack.average[0], z).argmax(-1)
            o = stack.net.part("detector", stack.average[0], z).sigmoid()
            weak, strong = stack.net(stack.params[0], batch.weak, batch.strong)
        learned = -strong.log_softmax(-1)
        kept = [float(learned[i, int(weak[i].argmax())]) for i in range(16) if o[i, label[i]] > 0.5]
        shares.add(len(kept))
        expected = np.mean(kept) if kept else 0.0
        assert losses_at(stack, batch)[1] == pytest.approx(expected, abs=1e-9)
    assert len(shares) > 2


# SSB


def test_ssbs_detector_is_trained_in_the_last_steps_with_all_negatives():
    X, y = rows(0)
    stack = stack_of(SSB(**SMALL, steps=40, start=0.75, negative=0.5, threshold=0.4), X, y)
    mined = 0
    for step, batch in enumerate(steps_of(stack)):
        views = (batch.x, batch.x_strong, batch.weak, batch.other, batch.strong)
        with torch.no_grad():
            z = stack.net.part("net.features", stack.params[0], *views)
            x, weak, strong = (stack.net.part("net.head", stack.params[0], z[k]) for k in (0, 2, 4))
            o = [stack.net.part("detector", stack.params[0], part).sigmoid() for part in z]
        labeled = float(-x.log_softmax(-1).gather(1, batch.y[:, None]).mean())
        sure, label = weak.softmax(-1).max(-1)
        learned = -strong.log_softmax(-1).gather(1, label[:, None])[:, 0]
        unlabeled = float((learned * (sure >= 0.4)).mean())
        if step >= 30:
            labeled += np.mean([-np.log(float(o[0][i, k])) for i, k in enumerate(batch.y.tolist())])
            labeled += np.mean(
                [
                    -np.log(1 - float(o[view][i, k])) * (k != int(batch.y[i]))
                    for view in (0, 1)
                    for i in range(8)
                    for k in range(3)
                ]
            )
            negative = o[2] <= 0.5
            mined += int(negative.sum())
            unlabeled += float((-(1 - o[4]).log() * negative).sum(-1).mean())
            for view in (2, 3):
                h = -(o[view] * o[view].log() + (1 - o[view]) * (1 - o[view]).log())
                unlabeled += 0.1 * float(h.mean()) / 2
            pairs = [torch.stack([part, 1 - part]) for part in (o[2], o[3])]
            unlabeled += 0.5 * float((pairs[0] - pairs[1]).square().sum((0, 2)).mean())
        assert losses_at(stack, batch) == pytest.approx((labeled, unlabeled), rel=1e-9)
    assert mined > 10


# IOMatch


def test_iomatch_aligns_guesses_by_the_last_batches():
    X, y = rows(0)
    stack = stack_of(
        IOMatch(**SMALL, steps=20, queue=4, threshold=0.4, open_threshold=0.3, start=0.5), X, y
    )
    last = deque(maxlen=4)
    for step, batch in enumerate(steps_of(stack)):
        with torch.no_grad():
            z = stack.net.part("net.features", stack.params[0], batch.weak, batch.strong)
            weak, strong = stack.net.part("net.head", stack.params[0], *z)
            projected = stack.net.part("projection", stack.params[0], *z)
            o = stack.net.part("detector", stack.params[0], projected[0]).sigmoid()
            opened = stack.net.part("open", stack.params[0], projected[1]).log_softmax(-1)
        guess = weak.softmax(-1)
        last.append(guess.mean(0))
        # Means of batches to come count as 0 in the authors' queue.
        guess = guess / (torch.stack(list(last)).sum(0) / 4 + 1e-6)
        guess = guess / guess.sum(-1, keepdim=True)
        outside = (guess * (1 - o)).sum(-1)
        target = torch.cat([guess * o, outside[:, None]], -1)
        closed = -(guess * strong.log_softmax(-1)).sum(-1)
        expected = float((closed * ((outside < 0.5) & (guess.amax(-1) >= 0.4))).mean())
        if step >= 10:
            expected -= float(((target * opened).sum(-1) * (target.amax(-1) >= 0.3)).mean())
        assert losses_at(stack, batch)[1] == pytest.approx(expected, rel=1e-9)
