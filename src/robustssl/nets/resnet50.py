"""ResNet-50 (He et al., 2016: arXiv:1512.03385), pretrained on ImageNet."""

from typing import Any, Self

import torch
from torch import Tensor, nn

from robustssl.deep.net import BatchNorm, Headed
from robustssl.errors import InputError
from robustssl.nets._inputs import Shape, is_image
from robustssl.nets._pretrained import pretrained

MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # of ImageNet


class ResNet50(Headed):
    """A pretrained ResNet of any depth, with a new head; grey images get three equal channels.

    weights: a folder or a name on the hub.
    frozen: train only the head, on features normalised by the statistics that come with the
    weights.
    """

    stacks = False
    mean: Tensor
    deviation: Tensor

    def __init__(
        self,
        shape: Shape,
        classes: int,
        *,
        weights: str = "microsoft/resnet-50",
        frozen: bool = False,
    ) -> None:
        super().__init__()
        if not is_image(shape) or shape[2] not in (1, 3):
            raise InputError("resnet50 takes images: (rows, height, width, 1 or 3 channels)")
        self.body, self.frozen = pretrained(weights), frozen
        if self.body.config.model_type != "resnet":
            raise InputError(f"{weights!r} is a {self.body.config.model_type}, not a resnet")
        if frozen:
            self.body.requires_grad_(False)
        else:
            _replace_norms(self.body)
        self.head = nn.Linear(self.body.config.hidden_sizes[-1], classes)
        for name, values in (("mean", MEAN), ("deviation", DEVIATION)):
            self.register_buffer(name, torch.tensor(values)[:, None, None])
        self.train()

    def train(self, mode: bool = True) -> Self:
        """A frozen body is never in training mode, so that it keeps its own statistics."""
        super().train(mode)
        if self.frozen:
            self.body.eval()
        return self

    def features(self, x: Tensor) -> Tensor:
        coloured = (x - self.mean) / self.deviation  # a single channel becomes three
        features: Tensor = self.body(coloured).pooler_output.flatten(1)
        return features


def _replace_norms(body: Any) -> None:
    """Replace batch normalisation by the layer that `Net` knows, with the same weights and
    statistics.
    """
    for part in list(body.modules()):
        for name, old in part.named_children():
            if isinstance(old, nn.BatchNorm2d):
                new = BatchNorm(old.num_features, old.eps)
                new.weight, new.bias = old.weight, old.bias
                new.register_buffer("mean", old.running_mean)
                new.register_buffer("variance", old.running_var)
                setattr(part, name, new)
