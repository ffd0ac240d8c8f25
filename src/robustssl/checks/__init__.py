"""The public contracts: what an algorithm, an environment or a dataset must hold, each in a
sentence.

A check raises `BrokenContractError` with the sentence that does not hold. The tests run them over
everything that comes with robustssl, `robustssl check NAME` over anybody's own.
"""

from typing import cast, get_args

from robustssl import registry
from robustssl.checks._contracts import BrokenContractError as BrokenContractError
from robustssl.checks.algorithms import check_algorithm as check_algorithm
from robustssl.checks.datasets import check_dataset as check_dataset
from robustssl.checks.environments import check_environment as check_environment
from robustssl.errors import InputError, unknown
from robustssl.registry.trust import imported
from robustssl.spec import parse


def kind_of(name: str) -> registry.Kind:
    """Whether a name is that of an algorithm, an environment or a dataset."""
    plain, _ = parse(name)
    kinds = get_args(registry.Kind)
    for kind in kinds:
        if all(part in registry.names(kind) for part in plain.split("+")):
            return cast(registry.Kind, kind)
    if ":" not in plain:
        every = [known for kind in kinds for known in registry.names(kind)]
        raise unknown("algorithm, environment or dataset", plain, every)
    found = imported(plain)
    if not isinstance(found, type):
        return "dataset"
    if hasattr(found, "fit"):
        return "algorithm"
    if not hasattr(found, "pools"):
        raise InputError(f"{name} has neither `fit`, like an algorithm, nor `pools`")
    return "environment"
