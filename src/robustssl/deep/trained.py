"""A trained net that predicts."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from robustssl.deep.device import device_of
from robustssl.deep.net import Net
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
        return self.answers(X, lambda net, params, rows: net(params, rows).double().softmax(-1))

    def answers(
        self, X: npt.NDArray[Any], answer: Callable[[Net, Tensor, Tensor], Tensor]
    ) -> npt.NDArray[np.float64]:
        """The values of a function of net, parameters and rows for all rows of X."""
        device = device_of(self.device)
        params = self.params.to(device)
        statistics = {name: value.to(device) for name, value in self.statistics.items()}
        self.net.module.to(device)
        net, found = self.net.served(statistics), []
        with torch.inference_mode():
            for first in range(0, len(X), net.at_once):
                part = np.ascontiguousarray(X[first : first + net.at_once])
                rows = torch.from_numpy(part).to(device)
                rows = self.net.prepare(self.views.plain(rows)).to(params.dtype)
                found.append(answer(net, params, rows).double().cpu())
        return np.asarray(torch.cat(found))
