"""A model in a file, without pickle: loading it runs no code but ours and scikit-learn's."""

import io
import json
from collections.abc import Sequence
from importlib import import_module
from inspect import isclass
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from robustssl.audits.model import Model, column_of
from robustssl.encoders import Blocks, Encoded
from robustssl.errors import InputError
from robustssl.preprocessing import OneScale
from robustssl.registry.trust import trusting


def flat_pixels(X: Any) -> Any:
    """Images as rows of numbers, in models of version 0.1."""
    return X.reshape(len(X), -1).astype(float)


def _name(thing: Any) -> str:
    return f"{thing.__module__}.{thing.__qualname__}"


# What a file may hold besides what skops trusts and the classes of robustssl.algorithms
_PARTS = {
    *map(_name, (Model, column_of, Blocks, Encoded, OneScale, flat_pixels)),
    "robustssl.encoders.pixels._flat",
    "numpy.dtype",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "sklearn.tree._tree.Tree",
    "xgboost.core.Booster",
    "xgboost.sklearn.XGBClassifier",
}

# Names in files of version 0.1, and what they mean now
_RENAMED = {"robustssl.features.OneScale": OneScale, "robustssl.features._flat": flat_pixels}


LARGEST = 4 * 10**9  # bytes of a model, unpacked


def save_model(model: Model, path: str | Path) -> None:
    import skops.io

    skops.io.dump(model, path)


def load_model(path: str | Path, trusted: Sequence[str] = ()) -> Any:
    """The model that an audit saved.

    A file that names anything but our algorithms and encoders is refused, unless you trust it by
    name, such as an algorithm of your own, `my_module.Mine`.
    """
    import skops.io

    if not Path(path).is_file():
        raise InputError(f"there is no file {path}")
    try:
        data = _with_present_names(path)
        named = skops.io.get_untrusted_types(data=data)
        for name in named:
            if name not in {*_PARTS, *trusted} and not _is_our_class(name):
                raise InputError(f"{path} names {name}, which is not ours: it is not loaded")
        with trusting(name.rpartition(".")[0] for name in trusted):
            model = skops.io.loads(data, trusted=named)
    except InputError:
        raise
    except Exception as error:
        raise InputError(f"{path} is not a model: {type(error).__name__}: {error}") from error
    if not isinstance(model, Model):
        raise InputError(f"{path} holds a {type(model).__name__}, not the model of an audit")
    return model


def _with_present_names(path: str | Path) -> bytes:
    """The contents of a file, in which names of version 0.1 are replaced."""
    made = io.BytesIO()
    with ZipFile(path) as old, ZipFile(made, "w") as new:
        if sum(info.file_size for info in old.infolist()) > LARGEST:
            raise InputError(f"{path} holds more than {LARGEST:,} bytes, unpacked")
        for name in old.namelist():
            content = old.read(name)
            if name == "schema.json":
                content = json.dumps(json.loads(content, object_hook=_rename)).encode()
            new.writestr(name, content)
    return made.getvalue()


def _rename(node: dict[str, Any]) -> dict[str, Any]:
    present = _RENAMED.get(f"{node.get('__module__')}.{node.get('__class__')}")
    if present is None:
        return node
    return node | {"__module__": present.__module__, "__class__": present.__qualname__}


def _is_our_class(name: str) -> bool:
    module, _, attribute = name.rpartition(".")
    if not module.startswith("robustssl.algorithms."):
        return False
    found = getattr(import_module(module), attribute, None)
    return isclass(found) and found.__module__ == module
