"""What robustssl says when it cannot go on with what it was given."""

from collections.abc import Iterable
from difflib import get_close_matches


class InputError(ValueError):
    """Bad input, with a message for the person who gave it; the command line shows it alone."""


def unknown(what: str, name: str, known: Iterable[str]) -> InputError:
    """An unknown name, with the nearest known one."""
    known = sorted(known)
    near = get_close_matches(name, known, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]!r}?" if near else f"there is: {', '.join(known) or 'none'}"
    return InputError(f"unknown {what} {name!r}; {hint}")
