"""Pretrained models of transformers."""

from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any

from robustssl.downloads.weights import folder_of
from robustssl.errors import InputError

_TURN = Lock()  # a tokenizer fails if two threads use it at once


def pretrained(weights: str) -> Any:
    """A model, by the name of its weights, in single precision and without dropout."""
    transformers, folder = _transformers(), folder_of(weights)
    try:
        config = transformers.AutoConfig.from_pretrained(folder)
        for name, value in config.to_dict().items():
            if "dropout" in name and isinstance(value, float):
                setattr(config, name, 0.0)
        body, found = transformers.AutoModel.from_pretrained(
            folder,
            config=config,
            attn_implementation="eager",  # fused attention has no forward derivative
            use_safetensors=True,  # other files may hold code
            output_loading_info=True,
        )
    except Exception as error:
        raise InputError(f"cannot load the weights {weights!r}: {error}") from error
    missing = sorted(name for name in found["missing_keys"] if not name.startswith("pooler."))
    if missing:
        raise InputError(f"the weights {weights!r} are not whole: there is no {missing[0]}")
    return body.float()


def token_ids(
    texts: list[str], weights: str, tokens: int, padding: bool = False
) -> list[list[int]]:
    """The token ids of each text, as the model of these weights takes them: at most `tokens` or,
    with padding, exactly as many.
    """
    how = {"padding": "max_length" if padding else False, "max_length": tokens}
    with _TURN:
        tokenizer = _tokenizer(folder_of(weights))
        if tokens > tokenizer.model_max_length:
            most = tokenizer.model_max_length
            raise InputError(f"{weights!r} reads at most {most} tokens, got tokens={tokens}")
        if padding and tokenizer.pad_token_id is None:
            raise InputError(f"{weights!r} is not an encoder that can leave out padding")
        found: list[list[int]] = tokenizer(texts, truncation=True, **how)["input_ids"]
    return found


@lru_cache(maxsize=2)
def _tokenizer(folder: Path) -> Any:
    try:
        return _transformers().AutoTokenizer.from_pretrained(folder)
    except (OSError, ValueError) as error:
        raise InputError(f"cannot load the tokenizer of {str(folder)!r}: {error}") from error


def _transformers() -> Any:
    try:
        import torch  # noqa: F401
        import transformers
        from transformers.utils import logging
    except ImportError as error:
        raise InputError(
            "a pretrained net needs torch and transformers: pip install 'robustssl[text]'"
        ) from error
    logging.disable_progress_bar()
    logging.set_verbosity_error()  # or every load would report that the head is left out
    return transformers
