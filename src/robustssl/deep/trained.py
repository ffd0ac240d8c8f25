"""A trained net that predicts."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from robustssl.data import ViewedRows
from robustssl.deep.device import device_of
from robustssl.deep.net import Headed, Net, Whole
from robustssl.views import Views


@dataclass(frozen=True, eq=False)
class Trained:
    """A net with the parameters that it predicts with."""

    net: Net
    params: Tensor
    statistics: dict[str, Tensor]
    views: Views
    device: str

    def predict_proba(self, X: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        return self.answers(X, _probabilities)

    def answers(
        self, X: npt.NDArray[Any], answer: Callable[[Net, Tensor, Tensor], Tensor]
    ) -> npt.NDArray[np.float64]:
        """The values of a function of net, parameters and rows for all rows of X."""
        return self._answers(torch.from_numpy(np.ascontiguousarray(X)), self.views.plain, answer)

    def weak_proba(self, X: Any, rng: np.random.Generator) -> npt.NDArray[np.float64]:
        """The probabilities of a weak view of each row; X may be `ViewedRows`."""
        views, chance = self.views, self.views.draw(rng, (len(X),), "weak")
        if isinstance(X, ViewedRows):
            views = replace(views, bank=torch.from_numpy(X.bank[X.index]))  # type: ignore[type-var]
            X = np.arange(len(X))
        rows = torch.from_numpy(np.ascontiguousarray(X))
        seen = views.view(rows, torch.from_numpy(chance), "weak")
        return self._answers(seen, lambda rows: rows, _probabilities)

    def features(self, X: npt.NDArray[Any]) -> npt.NDArray[np.float64] | None:
        """What the head of the net is given for each row; None if it has no head."""
        module = self.net.module.net if isinstance(self.net.module, Whole) else self.net.module
        if not isinstance(module, Headed):
            return None

        def answer(net: Net, params: Tensor, rows: Tensor) -> Tensor:
            given: list[Tensor] = []
            keep = module.head.register_forward_pre_hook(lambda _, inputs: given.append(*inputs))
            with keep:
                net(params, rows)
            return torch.cat(given)

        return self.answers(X, answer)

    def _answers(
        self,
        X: Tensor,
        see: Callable[[Tensor], Tensor],
        answer: Callable[[Net, Tensor, Tensor], Tensor],
    ) -> npt.NDArray[np.float64]:
        device = device_of(self.device)
        params = self.params.to(device)
        statistics = {name: value.to(device) for name, value in self.statistics.items()}
        self.net.module.to(device)
        net, found = self.net.served(statistics), []
        with torch.inference_mode():
            for first in range(0, len(X), net.at_once):
                rows = see(X[first : first + net.at_once].to(device))
                rows = self.net.prepare(rows).to(params.dtype)
                found.append(answer(net, params, rows).double().cpu())
        return np.asarray(torch.cat(found))


def _probabilities(net: Net, params: Tensor, rows: Tensor) -> Tensor:
    answer: Tensor = net(params, rows).double().softmax(-1)
    return answer
