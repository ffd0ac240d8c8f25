"""What happens to a semi-supervised learner when its unlabeled data are not like its labeled data?

Names are looked up when first used, so that `import robustssl` is quick.
"""

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOME = {
    "Cell": "cell",
    "Curve": "analysis.curve",
    "Dataset": "data",
    "InputError": "errors",
    "Record": "records.record",
    "Split": "data",
    "Store": "records.store",
    "Study": "studies.study",
    "algorithm": "registry",
    "audit": "audits",
    "catalog": "registry",
    "curves": "reports",
    "dataset": "registry",
    "environment": "registry",
    "estimator": "registry",
    "export": "records.files",
    "load": "records.files",
    "load_model": "audits",
    "merge": "records.files",
    "metrics": "analysis.table",
    "plan": "execution.plan",
    "report": "reports",
    "run": "execution.run",
    "site": "sites",
    "status": "execution.status",
}

__all__ = sorted([*_HOME, "__version__"])


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'robustssl' has no attribute {name!r}")
    return getattr(importlib.import_module(f"robustssl.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return __all__


if TYPE_CHECKING:
    from robustssl.analysis.curve import Curve  # noqa: F401
    from robustssl.analysis.table import metrics  # noqa: F401
    from robustssl.audits.audit import audit  # noqa: F401
    from robustssl.audits.model_file import load_model  # noqa: F401
    from robustssl.cell import Cell  # noqa: F401
    from robustssl.data import Dataset, Split  # noqa: F401
    from robustssl.errors import InputError  # noqa: F401
    from robustssl.execution.plan import plan  # noqa: F401
    from robustssl.execution.run import run  # noqa: F401
    from robustssl.execution.status import status  # noqa: F401
    from robustssl.records.files import export, load, merge  # noqa: F401
    from robustssl.records.record import Record  # noqa: F401
    from robustssl.records.store import Store  # noqa: F401
    from robustssl.registry import algorithm, catalog, dataset, environment, estimator  # noqa: F401
    from robustssl.reports import curves, report  # noqa: F401
    from robustssl.sites import site  # noqa: F401
    from robustssl.studies.study import Study  # noqa: F401
