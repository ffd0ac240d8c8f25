"""Whether a net learns from its unlabeled rows: the gradient of its unlabeled loss."""

from typing import Any

import numpy as np

from robustssl.classifier import Codes, Matrix
from robustssl.deep.inputs import inputs_of
from robustssl.deep.together import Training


def unlabeled_gradients(model: Any, X: Matrix, y: Codes, count: int = 20) -> list[float]:
    """Norms of the gradient of the unlabeled loss, at `count` steps from the first to the last."""
    rows, codes = model._encode(X, y)
    training = Training(model, inputs_of(rows), len(model.classes_))
    stack = training.stack([model._problem(rows, codes)])
    measured = set(np.linspace(0, stack.steps - 1, count).astype(int).tolist())
    norms: list[float] = []
    while stack.done < stack.steps:
        if stack.done % stack.batches.chunk == 0:
            stack.batches.put(stack.batches.draw())
        stack.prepare()
        if stack.done in measured:
            norms.append(float(stack.unlabeled_gradient().norm()))
        stack.step()
        stack.done += 1
    return norms
