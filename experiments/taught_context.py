"""Rows of any number, features and classes are put before the net, which answers."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from safetensors.torch import load_file
from scipy.special import softmax
from taught_net import CLASSES, FEATURES, TaughtNet
from taught_simple import simple_answers
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

from robustssl.classifier import Codes, Matrix
from robustssl.data import UNLABELED
from robustssl.deep.device import device_of

LABELED, QUERIES = 512, 2048  # rows of one context, at most
COMPONENTS = 128  # of more features than FEATURES: what the simple learners see
LEADING = 24  # of these: what every view has
CODINGS = 12  # least number of views where there are more classes than codes
# Not cuDNN's kernel, which is compiled anew for every number of rows.
KERNELS = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]


class Answers(NamedTuple):
    classes: Matrix  # probabilities of the classes of each query
    inconsistent: npt.NDArray[np.float64]  # the probability that a query is inconsistent
    t: npt.NDArray[np.float64]  # probabilities of t = 0, .05, ..., 1


class Context:
    """Labeled and unlabeled rows, which the net reads together with every query.

    The answers of several views are averaged. In each view, features and classes have another
    order. Each view has other rows where there are more than `rows` unlabeled or LABELED labeled
    ones; the leading principal components and some of the others where there are more than FEATURES
    features; another code of the classes where there are more than CLASSES.
    """

    def __init__(
        self, net: TaughtNet, X: Matrix, codes: Codes, views: int = 4, rows: int = 1024
    ) -> None:
        self.net = net
        known = codes != UNLABELED
        self.components = _components(X[known], X[~known]) if X.shape[1] > FEATURES else None
        rows_of = self._features(X)
        self.labeled, self.codes, self.unlabeled = rows_of[known], codes[known], rows_of[~known]
        self.classes, self.rows = int(codes.max()) + 1, rows
        self.views = views if self.classes <= CLASSES else max(views, CODINGS)

    def predict_proba(self, X: Matrix) -> Matrix:
        return self.ask(X).classes

    def ask(self, X: Matrix) -> Answers:
        parts = [X[i : i + QUERIES] for i in range(0, max(len(X), 1), QUERIES)]
        found = [self._ask(self._features(part)) for part in parts]
        classes, inconsistent = (np.concatenate([part[k] for part in found]) for k in (0, 1))
        return Answers(classes, inconsistent, found[0].t)

    def _features(self, X: Matrix) -> Matrix:
        return X if self.components is None else np.nan_to_num(X) @ self.components

    def _ask(self, X: Matrix) -> Answers:
        rng = np.random.default_rng(0)
        views = [self._view(X, rng) for _ in range(self.views)]
        rows, y, order, code = (torch.stack(part) for part in zip(*views, strict=True))
        unlabeled = rows.shape[1] - y.shape[1] - len(X)
        whole = y.shape[1] == len(self.labeled) and unlabeled == len(self.unlabeled)
        several = slice(1) if whole else slice(None)  # views that differ in their rows
        with torch.inference_mode(), sdpa_kernel(KERNELS):
            simple = simple_answers(
                torch.asinh(rows[several].nan_to_num()), y[several], unlabeled, self.classes
            ).expand(len(rows), -1, -1, -1)
            seen = rows.gather(2, order[:, None].expand(-1, rows.shape[1], -1))
            answer = self.net(seen, code.gather(1, y), unlabeled, _coded(simple, code))
            used = torch.zeros(len(code), CLASSES, dtype=torch.bool, device=code.device)
            logits = answer.classes.float()[:, unlabeled:].masked_fill(
                ~used.scatter(1, code, True)[:, None], -torch.inf
            )
            logs = logits.log_softmax(-1).gather(2, code[:, None].expand(-1, len(X), -1))
            strange = answer.rows.float()[:, unlabeled:].sigmoid().mean(0)
            shares = answer.t.float().softmax(-1).mean(0)
        mean = logs.mean(0).double().cpu().numpy()
        return Answers(
            softmax(mean, axis=1), strange.double().cpu().numpy(), shares.double().cpu().numpy()
        )

    def _view(self, X: Matrix, rng: np.random.Generator) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Rows of one view, codes of the classes of its labeled rows, the features that the net
        sees, and the code of each class.
        """
        labeled = _labeled(self.codes, rng)
        unlabeled = rng.permutation(len(self.unlabeled))[: self.rows]
        rows = np.concatenate([self.labeled[labeled], self.unlabeled[unlabeled], X])
        others = LEADING + rng.permutation(max(0, rows.shape[1] - LEADING))
        seen = np.array([*range(min(LEADING, rows.shape[1])), *others[: FEATURES - LEADING]])
        codes = np.concatenate(
            [rng.permutation(CLASSES) for _ in range(-(-self.classes // CLASSES))]
        )
        device = next(self.net.parameters()).device
        return (
            torch.from_numpy(rows).float().to(device),
            torch.from_numpy(self.codes[labeled]).to(device),
            torch.from_numpy(rng.permutation(seen)).to(device),
            torch.from_numpy(rng.permutation(codes[: self.classes])).to(device),
        )


def read_net(path: Path) -> TaughtNet:
    """The net whose weights a file holds."""
    net = TaughtNet()
    net.load_state_dict({name: value.float() for name, value in load_file(path).items()})
    return net.requires_grad_(False).eval().to(device_of("auto"))


def _coded(answers: Tensor, code: Tensor) -> Tensor:
    """Answers about classes as answers about codes, which several classes may share."""
    views, rows, learners, _ = answers.shape
    chances = torch.zeros(views, rows, learners, CLASSES, device=answers.device)
    at = code[:, None, None].expand(-1, rows, learners, -1)
    return chances.scatter_add(3, at, answers.exp()).clamp(min=1e-3).log()


def _labeled(codes: Codes, rng: np.random.Generator) -> npt.NDArray[np.intp]:
    """At most LABELED rows, the first row of each class among them."""
    order = rng.permutation(len(codes))
    first = np.unique(codes[order], return_index=True)[1]
    order = np.concatenate([order[first], np.delete(order, first)])
    return np.asarray(order[: max(LABELED, len(first))])


def _components(labeled: Matrix, unlabeled: Matrix) -> Matrix:
    """Principal components, for which the labeled rows weigh as much as the unlabeled ones; scaled
    so that the leading ones have a variance of 1 on average.
    """
    both = [np.nan_to_num(rows) for rows in (labeled, unlabeled) if len(rows)]
    weighed = np.concatenate([rows / np.sqrt(len(rows) * len(both)) for rows in both])
    _, spread, directions = np.linalg.svd(weighed, full_matrices=False)
    scale = np.sqrt((spread[:FEATURES] ** 2).mean()) or 1.0
    return np.asarray(directions[:COMPONENTS].T / scale)
