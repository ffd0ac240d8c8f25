"""The paper that a method's first line cites."""

import re
from typing import NamedTuple


class Paper(NamedTuple):
    """Who wrote a paper and when, and where it can be read, None if it is not on arXiv."""

    authors: str
    year: int
    address: str | None


# "(Sohn et al., 2020: arXiv:2001.07685)", also behind a word and a colon.
_CITATION = re.compile(r"[(;] ?(?:[^();]*?: )?([^();:]+?), ((?:19|20)\d\d)\b([^();]*)")
_ARXIV = re.compile(r"arXiv:(\d{4}\.\d{4,5})")


def cited(summary: str) -> Paper | None:
    """The paper that a sentence cites; None if it cites none, or several."""
    found = _CITATION.findall(summary)
    if len(found) != 1:
        return None
    authors, year, more = found[0]
    arxiv = _ARXIV.search(more)
    return Paper(authors, int(year), f"https://arxiv.org/abs/{arxiv[1]}" if arxiv else None)
