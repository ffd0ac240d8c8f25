"""The site: a static folder of pages that open from disk, built from the records of a store."""

import hashlib
import inspect
import json
import re
import shlex
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from importlib.resources import files
from pathlib import Path
from typing import Any

import pandas as pd
import yaml
from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from robustssl import registry
from robustssl.errors import InputError
from robustssl.records import files as results
from robustssl.records.files import KEYS
from robustssl.records.record import SCORES
from robustssl.records.store import Store, failures, shown, url_of
from robustssl.sites.payload import payload
from robustssl.spec import parse, spell

_ASSETS = ("style.css", "site.js", "uPlot.min.js", "uPlot.min.css", "uPlot.LICENSE")
_ENVIRONMENTS = {
    "distribution": "rows from another distribution",
    "label": "rows of unknown classes",
    "feature": "features that are missing",
}


def site(
    source: str | Path = "robustssl.sqlite", out: str | Path = "site", *, live: bool = False
) -> Path:
    """Build the pages of a store, or of a file or folder of exported records (jsonl), into a
    folder; returns its first page. Those that are `live` ask their server for newer ones.
    """
    with _store(source) as store:
        everything = store.frame()
    good = results.with_pair(everything[everything.error.isna() & ~everything.stale])
    if good.empty:
        raise InputError(f"{shown(source)} holds no scores to show; `robustssl status` tells why")
    data = payload(good)
    folder = Path(out)
    try:
        for name in ("algorithms", "tasks", "records", "assets"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        for name in _ASSETS:
            asset = files("robustssl.sites").joinpath("static", name)
            (folder / "assets" / name).write_bytes(asset.read_bytes())
        _write_pages(folder, data, good, failures(everything), live)
    except OSError as error:
        raise InputError(f"cannot write the site to {folder}: {error.strerror}") from error
    return folder / "index.html"


@contextmanager
def _store(source: str | Path) -> Iterator[Store]:
    """The store itself; of exported records one that lasts as long as it is read."""
    path = Path(source)
    if url_of(source) is not None or not (results.holds_records(path) or path.is_dir()):
        with Store(source, create=False) as store:
            yield store
        return
    every = sorted(path.rglob("*")) if path.is_dir() else [path]
    found = [file for file in every if file.is_file() and results.holds_records(file)]
    if not found:
        raise InputError(f"there are no records (jsonl files) in {path}")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "s.sqlite"
        for file in found:
            results.load(file, place)
        with Store(place) as store:
            yield store


def slug(name: str) -> str:
    """A name as that of a file: words and, as names may differ in other signs, a digest."""
    words = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:60]
    if words.replace("-", "_") == name:
        return words
    return f"{words}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def _write_pages(
    folder: Path, data: dict[str, Any], good: pd.DataFrame, bad: pd.DataFrame, live: bool
) -> None:
    for thing in (*data["tasks"], *data["algorithms"]):
        thing["page"] = slug(thing["name"]) + ".html"
    text = json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    (folder / "assets" / "data.js").write_text(f"const ROBUSTSSL = {text};\n", encoding="utf-8")
    pages = Environment(
        loader=PackageLoader("robustssl.sites", "templates"),
        autoescape=select_autoescape(),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    shared = {
        "version": metadata.version("robustssl"),
        "live": live,
        "words": _ENVIRONMENTS,
        "data": data,
    }

    def write(name: str, template: str, **more: Any) -> None:
        root = "../" * name.count("/")
        page = pages.get_template(template).render(root=root, **shared, **more)
        (folder / name).write_text(page, encoding="utf-8")

    counts = {
        "records": len(good),
        "curves": len(data["curves"]),
        "failed": len(bad),
        "reasons": [
            {"algorithm": name, "error": error, "cells": len(cells)}
            for (name, error), cells in bad.groupby(["algorithm", "error"])
        ],
    }
    write("index.html", "index.html", counts=counts)
    write("leaderboard.html", "leaderboard.html")
    write("explorer.html", "explorer.html")
    for i, task in enumerate(data["tasks"]):
        rows = good[(good.environment == task["environment"]) & (good.dataset == task["dataset"])]
        rows = rows[rows.labels == task["labels"]]
        name = task["page"].removesuffix(".html")
        columns = [*KEYS, "t", "seed", *SCORES, "seconds", "key"]
        rows[columns].to_csv(folder / "records" / f"{name}.csv", index=False)
        (folder / "records" / f"{name}.yaml").write_text(_study(task, rows), encoding="utf-8")
        write(f"tasks/{task['page']}", "task.html", number=i, task=task, file=name)
    for i, algorithm in enumerate(data["algorithms"]):
        more = {"number": i, "algorithm": algorithm, "about": _about(algorithm["name"])}
        write(f"algorithms/{algorithm['page']}", "algorithm.html", **more)


def _study(task: dict[str, Any], rows: pd.DataFrame) -> str:
    """The study that repeats the records of a task."""
    document = {
        "title": task["name"],
        "algorithms": sorted(rows.algorithm.unique().tolist()),
        "environments": [task["environment"]],
        "datasets": [task["dataset"]],
        "labels": [task["labels"]],
        "ts": sorted(rows.t.unique().tolist()),
        "seeds": sorted(int(seed) for seed in rows.seed.unique()),
    }
    return yaml.safe_dump(document, sort_keys=False)


def _about(algorithm: str) -> dict[str, Any]:
    """What its file says; nothing of an algorithm that is not here."""
    name, _ = parse(algorithm)
    if not registry.is_here("algorithm", name):
        return {"text": "", "presets": {}, "command": ""}
    kind = registry.algorithm(name)
    presets = {k: spell(name, v) for k, v in registry.presets(name).items()}
    said = dict.fromkeys(inspect.getdoc(thing) for thing in (inspect.getmodule(kind), kind))
    text = "\n\n".join(filter(None, said))
    command = f"robustssl show algorithm {shlex.quote(name)}"
    return {"text": text, "presets": presets, "command": command}
