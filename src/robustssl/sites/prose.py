"""What the pages say of methods, tasks and datasets, from the catalog, and of the settings that
rules chose. Of what is not built in they say that it is not known.
"""

import re
import shlex
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

from robustssl.records import catalog
from robustssl.sites.editions import Edition
from robustssl.spec import parse, spell

ENVIRONMENTS = {
    "distribution": "rows from another distribution",
    "label": "rows of unknown classes",
    "feature": "features that are missing",
    "prior": "rows with other class shares",
}
CLAIMS = {**ENVIRONMENTS, "consistent": "rows like the labeled ones (t = 0 alone)"}
BASELINE = "its baseline instead"


def about_method(spec: str) -> dict[str, Any]:
    """Of a method the paper, what it does in paragraphs, claims with their places, departures from
    the authors' code, presets, and the command that says more.
    """
    name, _ = parse(spec)
    about = catalog.entry("algorithm", name)
    if about is None:
        nothing = dict.fromkeys(("paper", "departures"))
        return {**nothing, "cited": "", "texts": [], "claims": {}, "presets": {}, "command": ""}
    cited, *texts = about.text.split("\n\n")
    return {
        "cited": " ".join(cited.split()),
        "paper": about.paper,
        "texts": [text for text in texts if not text.startswith("Departures:")],
        "claims": dict(about.targets),
        "departures": about.departures and " ".join(about.departures.split()),
        "presets": {preset: spell(name, values) for preset, (_, values) in about.presets.items()},
        "command": f"robustssl show algorithm {shlex.quote(name)}",
    }


def about_task(task: dict[str, Any]) -> dict[str, Any]:
    """Of a task what its rows are and what t is, in sentences."""
    name, options = parse(task["environment"])
    shown = spell(name, {key: value for key, value in options.items() if key != "access"})
    parts = [catalog.entry(*part) for part in catalog.parts_of("environment", name)]
    encoder = parse(task["dataset"])[1].get("encoder")
    return {
        **about_dataset(task["dataset"]),
        "t": [about.summary for about in parts if about],
        "encoder": encoder and parse(str(encoder))[0],
        "added": options.get("mix") == "add",
        "command": f"robustssl show environment {shlex.quote(shown)} --dataset "
        f"{shlex.quote(task['dataset'])} --labels {task['labels']}",
    }


def about_dataset(spec: str) -> dict[str, Any]:
    name = parse(spec)[0]
    about = catalog.entry("dataset", name)
    return {
        "dataset": name,
        "summary": re.sub(r";.*", ".", about.summary) if about else None,
        "owner": about.owner if about else None,
        "licence": about.licence if about else None,
    }


def settings_of(method: str, editions: Sequence[Edition]) -> list[dict[str, Any]]:
    """The settings of a method that rules chose: of each the options that differ from the defaults,
    and for each rule the share of its cells that have it, None where the rule left the method out.
    A choice may be the baseline instead.
    """
    shares: dict[str, Counter[str]] = {}
    said: dict[str, dict[str, set[Any]]] = defaultdict(lambda: defaultdict(set))
    for edition in editions:
        chosen = edition.good[edition.good.method == method]
        names = [
            BASELINE if abstained else f"{number}"
            for abstained, number in zip(chosen.abstained, chosen.configuration, strict=True)
        ]
        shares[str(edition.rule)] = Counter(names)
        for name, setting in set(zip(names, chosen.setting, strict=True)) if names else ():
            for option, value in parse(setting)[1].items() if name != BASELINE else ():
                said[name][option].add(value)
    every = sorted({name for counts in shares.values() for name in counts}, key=_order)
    return [
        {
            "name": name,
            "options": ", ".join(
                f"{option}={' or '.join(map(str, sorted(values, key=str)))}"
                for option, values in sorted(said[name].items())
            ),
            "shares": {
                rule: counts[name] / counts.total() if counts else None
                for rule, counts in shares.items()
            },
        }
        for name in every
    ]


def _order(name: str) -> tuple[bool, int]:
    """Configurations by their numbers, the baseline last."""
    return (name == BASELINE, 0 if name == BASELINE else int(name))
