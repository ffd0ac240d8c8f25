"""Audits of a user's own rows: whether the unlabeled rows are like the labeled rows, whether they
help or harm, and what to use.
"""

from robustssl.audits.audit import Audit, audit
from robustssl.audits.deciding import decide
from robustssl.audits.inspection import inspect
from robustssl.audits.model import Model
from robustssl.audits.model_file import load_model, save_model
from robustssl.audits.reading import images_of, of_frames
from robustssl.audits.rows import Pair

__all__ = [
    "Audit",
    "Model",
    "Pair",
    "audit",
    "decide",
    "images_of",
    "inspect",
    "load_model",
    "of_frames",
    "save_model",
]
