"""Wide ResNet (Zagoruyko and Komodakis, 2016: arXiv:1605.07146), 28 layers deep and 2 wide."""

from typing import Annotated

from torch import Tensor, nn
from torch.nn.functional import leaky_relu

from robustssl.deep.net import BatchNorm, Headed
from robustssl.errors import InputError
from robustssl.nets._inputs import Shape, centred, is_image
from robustssl.spec import Count, Range


class WideResNet(Headed):
    """Three stages of residual blocks; the image is halved twice."""

    stacks = False

    def __init__(
        self,
        shape: Shape,
        classes: int,
        *,
        depth: Annotated[int, Range(least=10)] = 28,
        widen: Count = 2,
    ) -> None:
        super().__init__()
        if not is_image(shape):
            raise InputError("wide_resnet takes images: (rows, height, width, channels)")
        blocks, widths = (depth - 4) // 6, [16, 16 * widen, 32 * widen, 64 * widen]
        self.stem = nn.Conv2d(shape[2], 16, 3, padding=1, bias=False)
        self.stages = nn.Sequential(
            *(
                _Block(before if k == 0 else after, after, stride if k == 0 else 1)
                for before, after, stride in zip(widths, widths[1:], (1, 2, 2), strict=False)
                for k in range(blocks)
            )
        )
        self.norm = BatchNorm(widths[-1])
        self.head = nn.Linear(widths[-1], classes)

    def features(self, x: Tensor) -> Tensor:
        x = self.stages(self.stem(centred(x)))
        return leaky_relu(self.norm(x), 0.1).mean((2, 3))


class _Block(nn.Module):
    def __init__(self, before: int, after: int, stride: int) -> None:
        super().__init__()
        self.first, self.second = BatchNorm(before), BatchNorm(after)
        self.convolve = nn.Conv2d(before, after, 3, stride, padding=1, bias=False)
        self.again = nn.Conv2d(after, after, 3, padding=1, bias=False)
        self.shortcut = nn.Conv2d(before, after, 1, stride, bias=False) if before != after else None

    def forward(self, x: Tensor) -> Tensor:
        active = leaky_relu(self.first(x), 0.1)
        inside = self.again(leaky_relu(self.second(self.convolve(active)), 0.1))
        around: Tensor = x if self.shortcut is None else self.shortcut(active)
        return inside + around
