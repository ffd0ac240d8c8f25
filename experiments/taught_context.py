"""Rows of any number, features and classes are put before a pretrained net, which answers."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from safetensors.torch import load_file
from scipy.special import expit, log_softmax, softmax
from taught_net import CLASSES, FEATURES, TaughtNet
from torch.nn.attention import SDPBackend, sdpa_kernel

from robustssl.classifier import Codes, Matrix
from robustssl.data import UNLABELED
from robustssl.deep.device import device_of

LABELED, QUERIES = 512, 2048  # rows of one context, at most
LEADING = 24  # principal components that every view of many features has
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
        self.labeled, self.codes, self.unlabeled = X[known], codes[known], X[~known]
        self.classes, self.rows = int(codes.max()) + 1, rows
        self.views = views if self.classes <= CLASSES else max(views, CODINGS)
        many = X.shape[1] > FEATURES
        self.components = _components(self.labeled, self.unlabeled) if many else None

    def predict_proba(self, X: Matrix) -> Matrix:
        return self.ask(X).classes

    def ask(self, X: Matrix) -> Answers:
        parts = [X[i : i + QUERIES] for i in range(0, max(len(X), 1), QUERIES)]
        found = [self._ask(part) for part in parts]
        classes, inconsistent = (np.concatenate([part[k] for part in found]) for k in (0, 1))
        return Answers(classes, inconsistent, found[0].t)

    def _ask(self, X: Matrix) -> Answers:
        rng = np.random.default_rng(0)
        views = [self._view(X, rng) for _ in range(self.views)]
        logs, inconsistent, t = (np.mean(part, axis=0) for part in zip(*views, strict=True))
        return Answers(softmax(logs, axis=1), inconsistent, t)

    def _view(self, X: Matrix, rng: np.random.Generator) -> Answers:
        """The answers of one view, with logarithms of the probabilities of the classes."""
        labeled = _some(len(self.labeled), LABELED, rng)
        unlabeled = _some(len(self.unlabeled), self.rows, rng)
        rows = np.concatenate([self.labeled[labeled], self.unlabeled[unlabeled], X])
        code = _coding(self.classes, rng)
        device = device_of("auto")
        with torch.inference_mode(), sdpa_kernel(KERNELS):
            answer = self.net(
                torch.from_numpy(self._features(rows, rng)).float().to(device)[None],
                torch.from_numpy(code[self.codes[labeled]]).to(device)[None],
                len(unlabeled),
            )
        logits, inconsistent, t = (part[0].double().cpu().numpy() for part in answer)
        used = np.isin(np.arange(CLASSES), code)
        logs = log_softmax(np.where(used, logits[len(unlabeled) :], -np.inf), axis=1)
        return Answers(logs[:, code], expit(inconsistent[len(unlabeled) :]), softmax(t))

    def _features(self, rows: Matrix, rng: np.random.Generator) -> Matrix:
        if self.components is not None:
            rows = np.nan_to_num(rows) @ self.components
            others = LEADING + rng.permutation(max(0, rows.shape[1] - LEADING))
            rows = rows[:, [*range(min(LEADING, rows.shape[1])), *others[: FEATURES - LEADING]]]
        return rows[:, rng.permutation(rows.shape[1])]


def read_net(path: Path) -> TaughtNet:
    """The net whose weights a file holds."""
    made = TaughtNet()
    made.load_state_dict({name: value.float() for name, value in load_file(path).items()})
    return made.requires_grad_(False).eval().to(device_of("auto"))


def _some(count: int, most: int, rng: np.random.Generator) -> npt.NDArray[np.intp]:
    return np.arange(count) if count <= most else rng.permutation(count)[:most]


def _coding(classes: int, rng: np.random.Generator) -> npt.NDArray[np.intp]:
    """The code of each class; where there are more classes than codes, some share one."""
    codes = np.concatenate([rng.permutation(CLASSES) for _ in range(-(-classes // CLASSES))])
    return np.asarray(rng.permutation(codes[:classes]))


def _components(labeled: Matrix, unlabeled: Matrix) -> Matrix:
    """Principal components, at most 2 FEATURES, for which the labeled rows weigh as much as the
    unlabeled ones; scaled so that the leading ones have a variance of 1 on average.
    """
    both = [np.nan_to_num(rows) for rows in (labeled, unlabeled) if len(rows)]
    weighed = np.concatenate([rows / np.sqrt(len(rows) * len(both)) for rows in both])
    _, spread, directions = np.linalg.svd(weighed, full_matrices=False)
    scale = np.sqrt((spread[:FEATURES] ** 2).mean()) or 1.0
    return np.asarray(directions[: 2 * FEATURES].T / scale)
