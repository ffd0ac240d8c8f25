"""What a method is, as far as numbers depend on it; kept with every record."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, NamedTuple, Self

Family = Literal["statistical", "deep"]


class Preset(NamedTuple):
    """Named settings of an algorithm: where they come from (repository and file, or the table of a
    paper), and the options that differ from the defaults.
    """

    source: str
    options: Mapping[str, Any]


class Between(NamedTuple):
    """Numbers that a search draws evenly from `low` to `high`, or their logarithms; whole numbers
    if both ends are whole.
    """

    low: float
    high: float
    log: bool = False

    def at(self, place: float) -> float:
        """The number at a place from 0 to 1, to three digits."""
        if self.log:
            number = self.low * math.exp(place * math.log(self.high / self.low))
        else:
            number = self.low + (self.high - self.low) * place
        if isinstance(self.low, int) and isinstance(self.high, int):
            return round(number)
        return float(f"{number:.3g}")

    def __str__(self) -> str:
        return f"{self.low:g} to {self.high:g}" + ", by the logarithm" * self.log


class Shares(NamedTuple):
    """Shares of what a method has without a search, such as of the steps of its budget."""

    shares: tuple[float, ...]

    def __str__(self) -> str:
        return ", ".join(f"{share:g}" for share in self.shares) + " of the usual value"


Space = Mapping[str, Between | Shares | tuple[Any, ...]]  # options and the values to search


@dataclass(frozen=True, order=True)
class Method:
    """An algorithm with its options, as a study asked for it.

    `name` is what was asked, `spec` its canonical form. `budget` names what all nets of the study
    share; `baseline` is the spec of the matched supervised method. `configuration` numbers the
    settings of a search. What is not known is None, and is shown as unknown.
    """

    name: str
    spec: str
    budget: str | None = None
    family: Family | None = None
    supervised: bool | None = None
    baseline: str | None = None
    configuration: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """What is known of it."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in values.items() if value is not None}

    @classmethod
    def from_dict(cls, document: Any) -> Self:
        """The method that `to_dict` wrote; a ValueError or TypeError if it did not."""
        method = cls(**document)
        kinds: dict[str, Any] = {"supervised": bool, "configuration": int}
        for field in fields(cls):
            value = getattr(method, field.name)
            optional = field.name not in ("name", "spec")
            if type(value) is not kinds.get(field.name, str) and not (optional and value is None):
                raise ValueError(f"{field.name} of a method cannot be {value!r}")
        if method.family not in ("statistical", "deep", None):
            raise ValueError(f"family of a method cannot be {method.family!r}")
        return method
