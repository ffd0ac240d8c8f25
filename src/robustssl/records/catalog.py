"""What is known of the built-in algorithms, environments, datasets, encoders and nets without
importing them.

`catalog.json` is written by `make catalog`, from the code; a test says when it is out of date. So
reports need no code of a method, and `robustssl list` no torch.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import cache, reduce
from pathlib import Path
from typing import Any

from robustssl.method import Between, Family, Method, Preset, Shares, Space
from robustssl.records.papers import Paper, cited
from robustssl.spec import parse, spell

_PACKAGE = Path(__file__).parents[1]
FILE = Path(__file__).with_name("catalog.json")
USUAL = "accuracy"


@dataclass(frozen=True)
class About:
    """What a thing that has a name says of itself.

    `options` are its options with their defaults, but for the `required` ones; `texts` are those
    that take a text. `text` is its documentation, `summary` the first sentence, `shared_text` tells
    of the options that it shares with other algorithms. `space` says which options of an algorithm
    a search sets, and to which values. `look` is the place of an algorithm in the
    order of colours, kept for good. `targets` are the inconsistencies that the authors of an
    algorithm claim to answer, each with the place of the claim; `departures` says how it differs
    from their code. `data` is the kind of data that a dataset holds, or that an encoder encodes;
    `owner` and `licence` are those of a dataset's rows. `score` is what methods are judged by first
    in an environment.
    """

    name: str
    version: int = 1
    summary: str = ""
    text: str = ""
    shared_text: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    presets: Mapping[str, Preset] = field(default_factory=dict)
    budgets: Mapping[str, Mapping[str, Any]] | None = None
    space: Space = field(default_factory=dict)
    nested: Mapping[str, str] = field(default_factory=dict)  # options that are specs, of a kind
    baseline: str | None = None
    targets: Mapping[str, str] = field(default_factory=dict)
    departures: str | None = None
    family: Family = "statistical"
    supervised: bool = False
    data: str | None = None
    look: int | None = None
    score: str = USUAL
    owner: str | None = None
    licence: str | None = None

    @property
    def paper(self) -> Paper | None:
        """The paper that the summary cites."""
        return cited(self.summary)

    def to_dict(self) -> dict[str, Any]:
        """The fields that differ from their defaults."""
        usual = About(self.name)
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        told = {k: v for k, v in values.items() if k != "name" and v != getattr(usual, k)}
        if "space" in told:
            told["space"] = {option: _written(of) for option, of in self.space.items()}
        return told


def _written(values: Between | Shares | tuple[Any, ...]) -> Any:
    return values._asdict() if isinstance(values, Between | Shares) else list(values)


def _read(values: Any) -> Between | Shares | tuple[Any, ...]:
    if isinstance(values, list):
        return tuple(values)
    return Shares(tuple(values["shares"])) if "shares" in values else Between(**values)


@cache
def _document() -> dict[str, dict[str, dict[str, Any]]]:
    document: dict[str, dict[str, dict[str, Any]]] = json.loads(FILE.read_text("utf-8"))
    return document


@cache
def entry(kind: str, name: str) -> About | None:
    """What the catalog says of a built-in thing; None if it does not know it, or if its file has
    changed since.
    """
    found = dict(_document().get(kind, {}).get(name, {}))
    if not found or found.pop("source") != source_digest(kind, name):
        return None
    lists: dict[str, Any] = {k: tuple(found.pop(k)) for k in ("required", "texts") if k in found}
    presets = {which: Preset(*preset) for which, preset in found.pop("presets", {}).items()}
    space = {option: _read(values) for option, values in found.pop("space", {}).items()}
    return About(name, presets=presets, space=space, **lists, **found)


def source_digest(kind: str, name: str) -> str | None:
    """A digest of the file of a built-in thing; None if there is none."""
    path = _PACKAGE / f"{kind}s" / f"{name}.py"
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16] if path.is_file() else None


def version(kind: str, name: str) -> int | None:
    """The present version of a built-in thing; None of anything else."""
    found = [entry(*part) for part in parts_of(kind, name)]
    if None in found:
        return None
    return composed_version(*(about.version for about in found if about is not None))


def parts_of(kind: str, name: str) -> list[tuple[str, str]]:
    """The things, each a kind and a name, that make up an environment such as label+feature or
    label/fashion_mnist, an encoder such as minilm+mpnet, a dataset with its encoders, such as
    cifar10+resnet50, or a method in front of another one, such as ggr+openmatch; `ggr` alone is in
    front of its default.
    """
    if kind == "algorithm":
        own, _, base = name.partition("+")
        known = entry(kind, own)
        if known is None or "base" not in known.nested:
            return [(kind, own)]
        return [(kind, own), *parts_of(kind, base or parse(known.options["base"])[0])]
    if kind == "environment" and "/" in name:
        own, _, data = name.partition("/")
        return [*parts_of(kind, own), ("dataset", data)]
    first, *others = name.split("+") if kind in ("environment", "encoder", "dataset") else [name]
    return [(kind, first), *(("encoder" if kind == "dataset" else kind, one) for one in others)]


def composed_version(*versions: int) -> int:
    """The version of what is made up of things with these versions."""
    return reduce(lambda before, version: 1000 * before + version, versions)


def baseline_spec(spec: str, baseline: About) -> str:
    """A baseline with the options that it shares with a method (a canonical spec)."""
    own = parse(spec)[1]
    shared = {k: v for k, v in own.items() if k in (*baseline.options, *baseline.required)}
    changed = {k: v for k, v in shared.items() if (k, v) not in baseline.options.items()}
    return spell(baseline.name, changed)


def shares_baseline_with(spec: str, known: About) -> str | None:
    """The method (a spec) that has the same baseline, if `baseline` names the option that holds it:
    what is put in front of another method is judged by that method's baseline.
    """
    if known.baseline is None or known.baseline not in known.nested:
        return None
    return str(parse(spec)[1].get(known.baseline, known.options[known.baseline]))


def method_of(spec: str) -> Method:
    """What the catalog knows of a method, given as a canonical spec; of one that is not built in,
    the spec alone.
    """
    found = entry("algorithm", parse(spec)[0])
    if found is None:
        return Method(spec, spec)
    if (base := shares_baseline_with(spec, found)) is not None:
        shared = method_of(base).baseline
    else:
        baseline = entry("algorithm", found.baseline) if found.baseline else None
        shared = baseline_spec(spec, baseline) if baseline else None
    return Method(spec, spec, family=found.family, supervised=found.supervised, baseline=shared)


def data_kind(dataset: str) -> str:
    """The kind of data of a dataset (a spec), as far as the catalog knows; else other."""
    name, options = parse(dataset)
    found = entry("dataset", name)
    kind = options.get("kind")
    if kind in ("tabular", "image", "text"):
        return str(kind)
    return "other" if found is None else found.data or "tabular"


def score_of(environment: str) -> str:
    """The score by which methods are judged first in an environment (a spec); of one that is not
    built in, accuracy.
    """
    found = [entry(*part) for part in parts_of("environment", parse(environment)[0])]
    return next((about.score for about in found if about and about.score != USUAL), USUAL)


def shared_score(environments: Iterable[str]) -> str:
    """The score by which methods are judged first in all of the environments; accuracy if they
    differ.
    """
    scores = {score_of(environment) for environment in environments}
    return scores.pop() if len(scores) == 1 else USUAL


def looks() -> dict[str, int]:
    """The place of every built-in algorithm in the order of colours."""
    return {name: found["look"] for name, found in _document().get("algorithm", {}).items()}
