"""What a study's environments and numbers of labels mean on a dataset."""

from robustssl import registry
from robustssl.errors import InputError
from robustssl.spec import parse, spell


def each_pair(environment: str, dataset: str) -> list[str]:
    """The environments that `each` stands for in `distribution[source=each,target=each]`."""
    name, options = parse(environment)
    if "each" not in options.values():
        return [environment]
    if not hasattr(found := registry.environment(environment), "pairs"):
        raise InputError(f"`each` stands for domains, which {name} does not have")
    pairs = found.pairs(registry.dataset(dataset))
    return [spell(name, {**options, **pair}) for pair in pairs]


def labels_per_class(total: int, environment: str, dataset: str) -> int:
    """How many labels each class has, if so many in all are spread evenly over those with any."""
    found = registry.environment(environment)
    known = found.labeled_classes(len(found.classes(registry.dataset(dataset))))
    if total % known:
        raise InputError(
            f"{total} labels cannot be spread evenly over the {known} classes of {dataset} "
            f"that have labels in the environment {environment}"
        )
    return int(total // known)
