"""Pretrained models."""

from typing import Any

from robustssl.errors import InputError


def pretrained(weights: str) -> Any:
    """A model of transformers, from a folder or from the hub, in single precision and without
    dropout.
    """
    try:
        from transformers import AutoConfig, AutoModel
        from transformers.utils import logging
    except ImportError as error:
        raise InputError(
            "a pretrained net needs transformers: pip install 'robustssl[text]'"
        ) from error
    logging.disable_progress_bar()
    logging.set_verbosity_error()  # or every load would report that the head is left out
    try:
        config = AutoConfig.from_pretrained(weights)
        for name, value in config.to_dict().items():
            if "dropout" in name and isinstance(value, float):
                setattr(config, name, 0.0)
        # Fused attention has no forward derivative.
        body, found = AutoModel.from_pretrained(
            weights, config=config, attn_implementation="eager", output_loading_info=True
        )
    except Exception as error:
        raise InputError(
            f"cannot load the weights {weights!r}, neither as a folder nor from the hub: {error}"
        ) from error
    missing = sorted(name for name in found["missing_keys"] if not name.startswith("pooler."))
    if missing:
        raise InputError(f"the weights {weights!r} are not whole: there is no {missing[0]}")
    return body.float()
