"""What robustssl says when it cannot go on with what it was given."""

import re
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


LONGEST = 2000  # characters of a text that code or a file of others gave, such as an error


def bounded(text: str, longest: int = LONGEST) -> str:
    """A text that every store can keep: without NUL, and of at most so many characters; a longer
    one is cut, and says how long it was.
    """
    said = f"... ({len(text):,} characters)"
    kept = text if len(text) <= longest else text[: longest - len(said)] + said
    return kept.encode(errors="backslashreplace").decode().replace("\0", r"\x00")


def printable(text: str) -> str:
    """A text whose control characters are shown as \\x1b, so that they cannot steer a terminal."""
    return _CONTROL.sub(lambda found: ascii(found[0])[1:-1], text)


# All but tabs and ends of lines; and the marks that turn the direction of writing around.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
