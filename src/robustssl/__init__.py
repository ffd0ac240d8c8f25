"""What happens to a semi-supervised learner when its unlabeled data are not like its labeled data?

The public names stand in `__init__.pyi`, where type checkers and editors read them. Each is
imported when it is first used, so that `import robustssl` is quick.
"""

import importlib
import re
from pathlib import Path
from typing import Any

__version__ = "0.2.0.dev0"

_STUB = Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8")
_HOME = {name: home for home, name in re.findall(r"^from (\S+) import (\w+)", _STUB, re.M)}

__all__ = sorted([*_HOME, "__version__"])


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'robustssl' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return __all__
