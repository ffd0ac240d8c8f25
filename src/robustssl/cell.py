"""The cell: what is run, its key, and the randomness that follows from it; the task it is of."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import PurePath
from typing import Any

import numpy as np

from robustssl.errors import InputError
from robustssl.spec import parse, spell

Versions = tuple[int, int, int]  # of algorithm, environment and dataset

_WORDS = {
    "distribution": "other distribution",
    "label": "unknown classes",
    "feature": "missing features",
    "prior": "other class shares",
}
_OPTIONS = {
    ("known", "drawn"): "known classes drawn",
    ("unknown", "near"): "near ones",
    ("unknown", "far"): "far ones",
    ("labeled", "biased"): "biased labels",
    ("labeled", "tail"): "labels with the reverse tail",
}
_ACCESS = {"consistent": "oracle", "labels": "ceiling"}
_CAPS = ("test", "unlabeled", "rows")  # options that bound numbers of rows


@dataclass(frozen=True, order=True, slots=True)
class Task:
    """What a method is measured on: an environment and a dataset, as canonical specs, and the
    number of labels per class (None where results do not say it).
    """

    environment: str
    dataset: str
    labels: int | None

    @property
    def name(self) -> str:
        """A short name for people, such as "letter, unknown classes, 5 labels a class". It leaves
        out how many rows there are at most; `task_names` adds that where two tasks need it.
        """
        return self.called({})

    def called(self, names: Mapping[str, str]) -> str:
        """The short name, in which a dataset or an inconsistency may have another one."""
        parts = [data_in_words(self.dataset), self.inconsistency]
        parts += [] if self.labels is None else [labels_in_words(self.labels)]
        return ", ".join(names.get(part, part) for part in parts)

    @property
    def inconsistency(self) -> str:
        """What the environment does, in words: "unknown classes", "mnist to usps", ..."""
        name, options = parse(self.environment)
        if name == "reference":
            kind = str(options.pop("kind", "distribution"))
            words = f"{_WORDS.get(kind, kind)} (published protocol)"
        else:
            words = " and ".join(_WORDS.get(part, part) for part in name.split("+"))
        if "source" in options and "target" in options:
            pair = f"{options.pop('source')} to {options.pop('target')}"
            words = " and ".join([pair, *words.split(" and ")[1:]])
        access = options.pop("access", None)
        more = [_ACCESS[access]] if access in _ACCESS else []
        more += [_in_words(key, value) for key, value in options.items() if key not in _CAPS]
        return ", ".join([words, *more])

    @property
    def access(self) -> str | None:
        """oracle or ceiling, which see what no method may; None for an ordinary task."""
        return _ACCESS.get(str(parse(self.environment)[1].get("access")))


def _in_words(key: str, value: Any) -> str:
    """An option of an environment for people."""
    return _OPTIONS.get((key, value), f"rows of {value}" if key == "unknown" else f"{key} {value}")


def data_in_words(dataset: str) -> str:
    """A short name of a dataset (a spec) for people, such as "cifar10 by resnet50"; it leaves out
    how many rows there are at most, and the options of the encoder.
    """
    name, options = parse(dataset)
    encoder = f" by {parse(str(options.pop('encoder')))[0]}" if "encoder" in options else ""
    if "path" in options:
        return PurePath(str(options["path"])).name + encoder
    told = {k: v for k, v in options.items() if k not in _CAPS}
    words = [str(v) if k == "kind" else f"{k} {v}" for k, v in told.items()]
    return (f"{name} ({', '.join(words)})" if words else name) + encoder


def data_names(datasets: Iterable[str]) -> dict[str, str]:
    """A short name for each dataset (a spec); where two would share one, the specs."""
    short = {spec: data_in_words(spec) for spec in datasets}
    twice = [name for name in short.values() if list(short.values()).count(name) > 1]
    return {spec: spec if name in twice else name for spec, name in short.items()}


def labels_in_words(labels: int) -> str:
    return f"{labels} label{'' if labels == 1 else 's'} a class"


def task_names(tasks: Iterable[Task]) -> dict[Task, str]:
    """A short name for each task; where two would share one, with all of their options."""
    every = list(dict.fromkeys(tasks))
    short = [task.name for task in every]
    return {
        task: name if short.count(name) == 1 else f"{name} ({task.environment} on {task.dataset})"
        for task, name in zip(every, short, strict=True)
    }


@dataclass(frozen=True, order=True, slots=True)
class Cell:
    """One run: everything that can change its number, and nothing else.

    `environment` and `dataset` are canonical specs; `params` are the algorithm's options that
    differ from its defaults. `labels` is per class. `registry.key(cell)` is its present key.
    """

    algorithm: str
    environment: str
    dataset: str
    labels: int
    t: float
    seed: int
    params: tuple[tuple[str, Any], ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "t", round(float(self.t), 6))
        if not 0 <= self.t <= 1:
            raise InputError(f"t must lie between 0 and 1, got {self.t:g}")
        if self.labels < 1:
            raise InputError(f"labels per class must be at least 1, got {self.labels}")

    @property
    def spec(self) -> str:
        """The algorithm with its params, as a spec."""
        return spell(self.algorithm, dict(self.params))

    @property
    def task(self) -> Task:
        return Task(self.environment, self.dataset, self.labels)

    def __str__(self) -> str:
        return (
            f"{self.spec} on {self.dataset} in {self.environment} ({self.labels} labels a class, "
            f"t = {self.t:g}, seed {self.seed})"
        )

    def rng(self, *names: str) -> np.random.Generator:
        """Randomness that depends on the named fields alone."""
        unknown = set(names) - {field.name for field in fields(self)}
        if unknown:
            raise KeyError(f"a cell has no {sorted(unknown)}")
        return draws({name: getattr(self, name) for name in names})


def cell_key(cell: Cell, versions: Versions) -> str:
    """A digest of all fields and versions: a corrected algorithm makes a new cell."""
    return _digest([*(getattr(cell, name) for name in Cell.__slots__), *versions]).hex()


def draws(value: Any) -> np.random.Generator:
    """Randomness that depends on the value alone."""
    return np.random.default_rng(int.from_bytes(_digest(value)))


def _digest(value: Any) -> bytes:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).digest()[:16]
