"""What a contract is: a function whose name says what must hold, and that raises if it does not. It
may return a remark, such as what it could not check.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np


class BrokenContractError(AssertionError):
    """A contract is broken; the message says how."""


def require(holds: Any, sentence: str) -> None:
    if not holds:
        raise BrokenContractError(sentence)


def verdicts(checks: Any, subject: Any) -> Iterator[tuple[str, str | None]]:
    """The name of every check, in words, with its remark, and what is wrong, or None."""
    for check in checks:
        try:
            remark = check(subject)
            yield check.__name__.replace("_", " ") + (f" ({remark})" if remark else ""), None
        except BrokenContractError as broken:
            yield check.__name__.replace("_", " "), str(broken)
        except Exception as error:
            yield check.__name__.replace("_", " "), f"{type(error).__name__}: {error}"


def equal(a: Any, b: Any) -> bool:
    return bool(np.array_equal(np.asarray(a), np.asarray(b)))
