"""FreeMatch (Wang et al., 2023: arXiv:2205.07246)."""

from dataclasses import dataclass
from typing import ClassVar

import torch

from robustssl.deep import (
    Batch,
    DeepClassifier,
    Loss,
    Net,
    Shape,
    State,
    Tensor,
    cross_entropy,
    frozen,
    one_hot,
)
from robustssl.method import Between, Preset, Space
from robustssl.spec import Count, Decay, NotNegative


@dataclass(eq=False, repr=False, kw_only=True)
class FreeMatch(DeepClassifier):
    """FixMatch with thresholds that follow the net: tau p_c / max p, where tau and p are running
    averages of the confidence and of the predictions. A fairness loss is added: the negative
    cross-entropy between norm(p / h) and norm(p_s / h_s), where h is a histogram of guesses and
    p_s, h_s are those of the trusted strong views.

    memory: the decay of the averages.

    Departures: memory .99 instead of .999, since runs are a thousand times shorter.
    """

    weight: NotNegative = 1.0
    fairness: NotNegative = 0.001
    memory: Decay = 0.99
    ratio: Count = 7

    targets: ClassVar[dict[str, str]] = {"prior": "arXiv:2205.07246, abstract: imbalanced SSL"}
    collapses: ClassVar[dict[str, str]] = {
        "weak_signal_in_128_features": "at first every guess of the untrained net is trusted, as "
        "in the authors' code: .51, with a ramp of the weight .80, baseline .77 (10 seeds)"
    }
    views = ("weak", "strong")
    presets: ClassVar[dict[str, Preset]] = {
        "paper": Preset(
            "microsoft/Semi-supervised-learning: config/classic_cv/freematch", {"memory": 0.999}
        ),
    }
    space: ClassVar[Space] = {
        "weight": Between(0.1, 3.0, log=True),
        "fairness": Between(0.0001, 0.1, log=True),
        "memory": (0.9, 0.99, 0.999),
    }

    def init(self, params: Tensor, shape: Shape) -> State:
        even = params.new_full((shape.classes,), 1 / shape.classes)
        return {"tau": even[0], "p": even, "h": even}

    def loss(self, net: Net, params: Tensor, batch: Batch, state: State) -> Loss:
        guess = net(frozen(params), batch.weak).softmax(-1)
        confidence, label = guess.max(-1)
        labeled, strong = net(params, batch.x, batch.strong)
        tau = torch.lerp(confidence.mean(), state["tau"], self.memory)
        p = torch.lerp(guess.mean(0), state["p"], self.memory)
        h = torch.lerp(one_hot(label, guess).mean(0), state["h"], self.memory)
        trusted = (confidence >= tau * (p / p.max())[label]).to(strong.dtype)
        unlabeled = (trusted * cross_entropy(strong, label, reduction="none")).mean()
        asked = trusted[:, None] * strong.softmax(-1)
        chosen = trusted[:, None] * one_hot(strong.argmax(-1), strong)
        fair = (_norm(p, h) * (_norm(asked.sum(0), chosen.sum(0)) + 1e-12).log()).sum()
        after = {**state, "tau": tau, "p": p, "h": h}
        loss = self.weight * unlabeled + self.fairness * fair
        return cross_entropy(labeled, batch.y), loss, after


def _norm(p: Tensor, h: Tensor) -> Tensor:
    """p / h, scaled to sum to 1; 0 where h is 0."""
    ratio = torch.where(h > 0, p / h.clamp(min=1e-12), 0)
    return ratio / ratio.sum().clamp(min=1e-12)
