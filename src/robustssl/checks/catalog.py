"""The catalog of what is built in, made from the code: `make catalog` writes it."""

import json
from typing import Any, get_args

from robustssl import registry
from robustssl.records import catalog


def make_catalog() -> str:
    """The text of `records/catalog.json`. An algorithm keeps its look; a new one gets the next of
    its kind, since baselines are drawn in greys.
    """
    document: dict[str, dict[str, Any]] = {}
    for kind in get_args(registry.Kind):
        document[kind] = {
            name: {
                **registry.inspected(kind, name).to_dict(),
                "source": catalog.source_digest(kind, name),
            }
            for name in sorted(registry.built_in(kind))
        }
    looks, algorithms = catalog.looks(), document["algorithm"]
    for name, found in algorithms.items():
        supervised = found.get("supervised")
        alike = [
            n for n in looks if n in algorithms and algorithms[n].get("supervised") == supervised
        ]
        found["look"] = looks.setdefault(name, max((looks[n] for n in alike), default=-1) + 1)
    return json.dumps(document, indent=1, default=list) + "\n"


def main() -> None:
    place = catalog.FILE
    place.write_text(make_catalog(), encoding="utf-8")
    print(f"wrote {place}")


if __name__ == "__main__":
    main()
