"""Names of the files of a site."""

import hashlib
import re


def slug(name: str) -> str:
    """A name as that of a file: words and, as names may differ in other signs, a digest."""
    words = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:60]
    if words.replace("-", "_") == name:
        return words
    return f"{words}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"
