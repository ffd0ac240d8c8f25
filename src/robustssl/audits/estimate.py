"""A number with its interval."""

from dataclasses import dataclass

LEVEL = 0.9  # of every interval of t


@dataclass(frozen=True)
class Estimate:
    estimate: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.estimate:.2f} [{self.low:.2f}, {self.high:.2f}]"
