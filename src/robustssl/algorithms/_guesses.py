"""Parts of losses that several methods share: FixMatch's loss of each row, and a detector of
unknown classes.
"""

import torch
from torch.nn.functional import logsigmoid

from robustssl.deep import Net, Tensor, cross_entropy, one_hot


def trusted(weak: Tensor, strong: Tensor, threshold: float) -> Tensor:
    """The loss of each row: 1(max p(weak) >= threshold) CE(strong, argmax p(weak))."""
    confidence, label = weak.detach().softmax(-1).max(-1)
    trust = (confidence >= threshold).to(strong.dtype)
    return trust * cross_entropy(strong, label, reduction="none")


def one_against_all(logits: Tensor, y: Tensor) -> Tensor:
    """-log o_y + max over the other classes k of -log(1 - o_k), where o = sigmoid(logits) holds for
    every class the probability that a row belongs to it. (The papers use a softmax of two logits,
    which is the sigmoid of their difference.)
    """
    own = one_hot(y, logits)
    mine = -(own * logsigmoid(logits)).sum(-1)
    others = (-logsigmoid(-logits)).masked_fill(own > 0, -torch.inf).amax(-1)
    return (mine + others).mean()


def entropy(logits: Tensor) -> Tensor:
    """The mean entropy of all detectors."""
    o = logits.sigmoid()
    return -(o * logsigmoid(logits) + (1 - o) * logsigmoid(-logits)).mean()


def disagreement(one: Tensor, two: Tensor) -> Tensor:
    """The mean over rows of the squared differences of all detectors in two views, both of o and of
    1 - o.
    """
    return 2 * (one.sigmoid() - two.sigmoid()).square().sum(-1).mean()


def mean_of(kept: Tensor, losses: Tensor) -> Tensor:
    """The mean of the losses of the rows that are kept; 0 if none is."""
    weight = kept.to(losses.dtype)
    return (weight * losses).sum() / weight.sum().clamp(min=1)


def accepted(net: Net, params: Tensor, rows: Tensor) -> Tensor:
    """The detector's probability that a row belongs to the class that the classifier guesses."""
    z = net.part("net.features", params, rows)
    label = net.part("net.head", params, z).argmax(-1, keepdim=True)
    inside: Tensor = net.part("detector", params, z).sigmoid().gather(1, label)[:, 0]
    return inside
