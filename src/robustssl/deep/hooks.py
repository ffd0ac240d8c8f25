"""What a method may define beside its options, and whether it does so as the engine calls it."""

import inspect
from typing import Any

from robustssl.errors import InputError

HOOKS = ("init", "parts", "inconsistency", "refresh", "handover", "serve", "combine")


def check_hooks(model: Any, usual: type) -> None:
    """Refuse a method, such as `loss`, that does not take what the usual one takes."""
    like = {**{name: name for name in HOOKS}, **dict.fromkeys(model.stages, "loss")}
    for name, known in like.items():
        own = getattr(type(model), name, None)
        if own is None or own is getattr(usual, name, None):
            continue
        wanted, taken = (inspect.signature(hook) for hook in (getattr(usual, known), own))
        try:
            taken.bind(*wanted.parameters)
        except TypeError as error:
            raise InputError(
                f"{name} of {type(model).__name__} must take ({', '.join(wanted.parameters)}), got "
                f"({', '.join(taken.parameters)})"
            ) from error


def check_loss(model: Any, name: str, found: Any) -> None:
    """Refuse what a loss returns unless it is three things."""
    if not isinstance(found, tuple) or len(found) != 3:
        got = f"{len(found)} values" if isinstance(found, tuple) else f"a {type(found).__name__}"
        raise InputError(
            f"{name} of {type(model).__name__} must return the labeled loss, the unlabeled loss "
            f"and the state, got {got}"
        )
