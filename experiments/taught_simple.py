"""Five simple learners that answer a context before the net reads it.

The net of taught sees their answers with the rows, and learns whom to believe. Three use the
labeled rows alone: ridge regression, one Gaussian a class, and a kernel. Two use the unlabeled rows
as well, and believe in them blindly: labels spread over neighbours, and Gaussians by EM.
"""

import torch
from torch import Tensor
from torch.nn.functional import one_hot

LEARNERS = ("ridge", "gaussian", "kernel", "spreading", "em")
PRIOR = 0.5  # the variance within a class before rows are seen, as a share of all variance
NEIGHBOURS, ALPHA, ROUNDS = 7, 0.95, 30  # of the graph over which labels spread
EM_ROUNDS = 8
LEAST = 0.01  # the least probability that an answer gives to a class


def simple_answers(x: Tensor, y: Tensor, unlabeled: int, classes: int) -> Tensor:
    """Logarithms of the probabilities that the learners give: (worlds, rows, LEARNERS, classes).

    x: (worlds, labeled + unlabeled + queries, features), without missing values; y: codes of the
    labeled rows. A class that no labeled row has gets the least probability.
    """
    member = one_hot(y, classes).to(x.dtype)
    answers = torch.stack(
        [
            _ridge(x, member),
            _gaussians(x, member, 0),
            _kernel(x, member),
            _spreading(x, member, unlabeled),
            _gaussians(x, member, unlabeled),
        ],
        2,
    )
    known = member.any(1)[:, None, None]
    answers = torch.where(known, answers, 0.0)
    answers = answers / answers.sum(-1, keepdim=True).clamp(min=1e-12)
    return torch.log((1 - LEAST) * answers + LEAST / classes)


def _ridge(x: Tensor, member: Tensor) -> Tensor:
    """Ridge regression on the indicators of the classes."""
    rows = x[:, : member.shape[1]]
    centre, share = rows.mean(1, True), member.mean(1, True)
    rows = rows - centre
    unit = torch.eye(x.shape[-1], device=x.device)
    weights = torch.linalg.solve(rows.mT @ rows + unit, rows.mT @ (member - share))
    score = (x - centre) @ weights + share
    return _softmax(4 * score, member)


def _gaussians(x: Tensor, member: Tensor, unlabeled: int) -> Tensor:
    """Gaussians of one covariance, with a prior that weighs as much as `features` rows; with
    unlabeled rows, which belong to each class by its probability, in EM_ROUNDS rounds.
    """
    labeled, features = member.shape[1], x.shape[-1]
    rows = x[:, : labeled + unlabeled]
    spread = rows[:, :labeled].var(1, unbiased=False).mean(-1)[:, None, None].clamp(min=1e-3)
    prior = PRIOR * spread * features * torch.eye(features, device=x.device)

    def answer(weight: Tensor) -> Tensor:
        used = rows[:, : weight.shape[1]]
        size = weight.sum(1)
        mean = (weight.mT @ used) / size.clamp(min=1e-6)[..., None]
        scatter = (used * weight.sum(-1, keepdim=True)).mT @ used
        scatter = scatter - (mean * size[..., None]).mT @ mean
        free = (size.sum(1) - (size > 0).sum(1)).clamp(min=0)[:, None, None]
        solved = torch.linalg.solve((scatter + prior) / (free + features), mean.mT)
        share = torch.log((size + 1) / (size + 1).sum(1, keepdim=True))
        score = x @ solved - 0.5 * (mean.mT * solved).sum(1, True) + share[:, None]
        return _softmax(score, member)

    found = answer(member)
    for _ in range(EM_ROUNDS if unlabeled else 0):
        found = answer(torch.cat([member, found[:, labeled : labeled + unlabeled]], 1))
    return found


def _kernel(x: Tensor, member: Tensor) -> Tensor:
    """A Gaussian kernel as wide as labeled rows are near; the classes weigh alike."""
    away = _squares(x, x[:, : member.shape[1]])
    width = away.amin(-1)[:, member.shape[1] :].mean(1)[:, None, None].clamp(min=1e-6)
    weight = torch.softmax(-away / width, -1)
    return weight @ (member / member.sum(1, keepdim=True).clamp(min=1))


def _spreading(x: Tensor, member: Tensor, unlabeled: int) -> Tensor:
    """Labels spread over the graph of nearest neighbours; in the end the classes weigh alike."""
    count = member.shape[1] + unlabeled
    nearest = min(NEIGHBOURS, count - 1)
    away = _squares(x, x[:, :count])
    own = torch.eye(x.shape[1], count, dtype=torch.bool, device=x.device)
    away = away.masked_fill(own, torch.inf)
    radius = away.topk(nearest, -1, largest=False).values[..., -1:].clamp(min=1e-6)
    inner = radius[:, :count].mT
    link = torch.exp(-away / torch.sqrt(radius * inner))
    link = torch.where(away <= torch.maximum(radius, inner), link, 0.0)
    graph = link[:, :count]
    degree = graph.sum(-1, keepdim=True).clamp(min=1e-9).sqrt()
    graph = graph / degree / degree.mT
    start = torch.zeros(len(x), count, member.shape[-1], device=x.device)
    start[:, : member.shape[1]] = member / member.sum(1, keepdim=True).clamp(min=1)
    label = start
    for _ in range(ROUNDS):
        label = ALPHA * (graph @ label) + (1 - ALPHA) * start
    label = label / label.sum(1, keepdim=True).clamp(min=1e-9)
    answer = torch.cat([label, link[:, count:] @ label], 1)
    return answer / answer.sum(-1, keepdim=True).clamp(min=1e-12) + 1e-6


def _squares(a: Tensor, b: Tensor) -> Tensor:
    square = a.square().sum(-1)[..., None] + b.square().sum(-1)[:, None] - 2 * (a @ b.mT)
    return square.clamp(min=0)


def _softmax(score: Tensor, member: Tensor) -> Tensor:
    return score.masked_fill(~member.any(1)[:, None], -torch.inf).softmax(-1)
