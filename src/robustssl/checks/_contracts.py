"""What a contract is: a check with a sentence for a name, and one for what does not hold."""

from collections.abc import Iterator
from typing import Any

import numpy as np


class BrokenContractError(AssertionError):
    """A contract that does not hold, in a sentence."""


def require(holds: Any, sentence: str) -> None:
    if not holds:
        raise BrokenContractError(sentence)


def verdicts(checks: Any, subject: Any) -> Iterator[tuple[str, str | None]]:
    for check in checks:
        try:
            check(subject)
            yield check.__name__.replace("_", " "), None
        except BrokenContractError as broken:
            yield check.__name__.replace("_", " "), str(broken)
        except Exception as error:
            yield check.__name__.replace("_", " "), f"{type(error).__name__}: {error}"


def equal(a: Any, b: Any) -> bool:
    return bool(np.array_equal(np.asarray(a), np.asarray(b)))
