"""Texts for nets that read texts: such a net has `read`, which makes token ids of them."""

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from robustssl import registry
from robustssl.data import ViewedRows
from robustssl.errors import InputError
from robustssl.views.texts import with_views

VIEWS = (4, 8)  # weak and strong ones of texts that come without


def are_texts(X: Any) -> bool:
    """Whether rows are an array of texts, or texts with views."""
    rows, axes = (X.bank, 2) if isinstance(X, ViewedRows) else (X, 1)
    return (
        isinstance(rows, np.ndarray)
        and rows.ndim == axes
        and rows.dtype.kind in "OU"
        and rows.size > 0
        and isinstance(rows.flat[0], str)
    )


def as_read(X: Any, net: Any) -> Any:
    """Rows to train on: texts as token ids with views, anything else as it is."""
    if not are_texts(X):
        _check_unread(X, net)
        return X
    if not isinstance(X, ViewedRows):
        X = ViewedRows(with_views(X, *VIEWS), np.arange(len(X)), *VIEWS)
    return replace(X, bank=token_ids(X.bank, net))


def token_ids(texts: npt.NDArray[Any], net: str) -> npt.NDArray[np.int32]:
    """Texts as the net reads them: the ids of their tokens on one more axis."""
    build = _build(net)
    if not hasattr(build, "func") or not hasattr(build.func, "read"):
        raise InputError(
            f"net={net} takes numbers, and the rows are texts; use a net that reads texts, such as "
            "text_encoder[weights=minilm], or encode the texts, as by encoder=minilm"
        )
    ids: npt.NDArray[np.int32] = build.func.read(texts, **build.keywords)
    return ids


def _check_unread(X: Any, net: Any) -> None:
    """Refuse numbers for a net that reads texts, unless they are token ids with views."""
    read = isinstance(X, ViewedRows) and X.bank.dtype.kind == "i"
    if not read and hasattr(getattr(_build(net), "func", None), "read"):
        raise InputError(
            f"net={net} reads texts, and the rows are numbers; the texts of a dataset are left as "
            "they are by encoder=none"
        )


def _build(net: Any) -> Any:
    return registry.net(net) if isinstance(net, str) and net != "auto" else None
