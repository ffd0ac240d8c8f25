"""The site: a static folder of pages that open from disk, built from records."""

import hashlib
import json
import re
import shlex
from collections.abc import Sequence
from importlib import metadata
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml
from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from robustssl.analysis.choices import Choices
from robustssl.analysis.entrants import read_decisions
from robustssl.errors import InputError
from robustssl.records import catalog
from robustssl.records.files import read_frame
from robustssl.records.frame import failures, successes, with_versions
from robustssl.records.places import shown
from robustssl.records.published import KEYS
from robustssl.records.record import SCORES
from robustssl.records.sheets import csv_of
from robustssl.sites.editions import Edition, editions
from robustssl.spec import parse, spell

_ASSETS = ("style.css", "uPlot.min.js", "uPlot.min.css", "uPlot.LICENSE")
_ENVIRONMENTS = {
    "distribution": "rows from another distribution",
    "label": "rows of unknown classes",
    "feature": "features that are missing",
    "prior": "rows with other class shares",
}
_CLAIMS = {**_ENVIRONMENTS, "consistent": "rows like the labeled ones (t = 0 alone)"}


def site(
    source: str | Path = "robustssl.sqlite",
    out: str | Path = "site",
    *,
    choices: str | Path | None = None,
    decisions: str | Path | None = None,
    live: bool = False,
) -> Path:
    """Build the pages of a store, or of a file or folder of exported records (jsonl), into a
    folder; returns its first page. Those that are `live` ask their server for newer ones.

    Of a search, there are pages for each rule that chooses settings, those of the rule `default`
    first; `choices` is the file of transfer's, `decisions` one of `robustssl.decide`.
    """
    frame = with_versions(read_frame(source))
    good = successes(frame)
    if good.empty:
        raise InputError(f"{shown(source)} holds no scores to show; `robustssl status` tells why")
    made = editions(
        good,
        None if choices is None else Choices.read(choices),
        None if decisions is None else read_decisions(decisions),
    )
    for edition in made:
        for thing in (*edition.data["tasks"], *edition.data["methods"]):
            thing["page"] = slug(thing["name"]) + ".html"
    folder = Path(out)
    try:
        (folder / "assets").mkdir(parents=True, exist_ok=True)
        static = files("robustssl.sites").joinpath("static")
        for name in _ASSETS:
            (folder / "assets" / name).write_bytes(static.joinpath(name).read_bytes())
        (folder / "assets" / "site.js").write_text(script(), encoding="utf-8")
        for edition in made:
            _write_pages(folder, edition, made, frame, live)
    except OSError as error:
        raise InputError(f"cannot write the site to {folder}: {error.strerror}") from error
    return folder / "index.html"


def script() -> str:
    """The modules of the pages as one script, since a page from disk cannot import modules."""
    static = files("robustssl.sites").joinpath("static")
    names = static.joinpath("modules.txt").read_text("utf-8").split()
    parts = [static.joinpath(name).read_text("utf-8") for name in names]
    body = re.sub(r"^export ", "", "\n".join(parts), flags=re.M)
    body = re.sub(r"^import .*\n", "", body, flags=re.M)
    return f'(() => {{\n"use strict";\n{body}}})();\n'


def slug(name: str) -> str:
    """A name as that of a file: words and, as names may differ in other signs, a digest."""
    words = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:60]
    if words.replace("-", "_") == name:
        return words
    return f"{words}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def _write_pages(
    top: Path, edition: Edition, every: Sequence[Edition], frame: pd.DataFrame, live: bool
) -> None:
    data, good, folder = edition.data, edition.good, top / edition.folder
    for name in ("algorithms", "tasks", "records", "assets"):
        (folder / name).mkdir(parents=True, exist_ok=True)
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
        "edition": edition,
    }

    def write(name: str, template: str, **more: Any) -> None:
        root = "../" * name.count("/")
        way = root + "../" * edition.folder.count("/")  # to what all editions share
        rules = [(other.label, way + _same_page(name, other), other is edition) for other in every]
        ways = {"root": root, "top": way, "rules": rules}
        page = pages.get_template(template).render(**ways, **shared, **more)
        (folder / name).write_text(page, encoding="utf-8")

    write("index.html", "index.html", counts=_counts(edition, frame))
    write("leaderboard.html", "leaderboard.html")
    write("explorer.html", "explorer.html")
    if edition.rule:
        write("choosing.html", "choosing.html")
    for i, task in enumerate(data["tasks"]):
        rows = good[(good.environment == task["environment"]) & (good.dataset == task["dataset"])]
        drawn = [list(versions[1:]) == task["versions"] for versions in rows.versions]
        rows = rows[(rows.labels == task["labels"]) & np.array(drawn)]
        name = task["page"].removesuffix(".html")
        columns = [*KEYS, *(["setting"] if edition.rule else []), "t", "seed", *SCORES]
        sheet = csv_of(rows[[*columns, "seconds", "key"]])
        (folder / "records" / f"{name}.csv").write_text(sheet, encoding="utf-8")
        (folder / "records" / f"{name}.yaml").write_text(_study(task, rows), encoding="utf-8")
        write(f"tasks/{task['page']}", "task.html", number=i, task=task, file=name)
    for i, method in enumerate(data["methods"]):
        more = {"number": i, "algorithm": method, "about": _about(method["name"])}
        write(f"algorithms/{method['page']}", "algorithm.html", **more)


def _same_page(name: str, other: Edition) -> str:
    """The page of that name in another edition, or its first one if it has none."""
    kind, _, page = name.rpartition("/")
    things = {"algorithms": "methods", "tasks": "tasks"}
    there = not kind or page in {thing["page"] for thing in other.data[things[kind]]}
    return other.folder + (name if there else "index.html")


def _counts(edition: Edition, frame: pd.DataFrame) -> dict[str, Any]:
    """How much was run, and what failed and why."""
    bad = failures(frame)
    return {
        "records": len(edition.good),
        "searched": len(successes(frame)),
        "curves": len(edition.data["curves"]),
        "failed": len(bad),
        "reasons": [
            {"algorithm": name, "error": error, "cells": len(cells)}
            for (name, error), cells in bad.groupby(["method", "error"])
        ],
    }


def _study(task: dict[str, Any], rows: pd.DataFrame) -> str:
    """The study that repeats the records of a task."""
    document = {
        "title": task["name"],
        "algorithms": sorted(rows.get("setting", rows.algorithm).unique().tolist()),
        "environments": [task["environment"]],
        "datasets": [task["dataset"]],
        "labels": [task["labels"]],
        "ts": sorted(rows.t.unique().tolist()),
        "seeds": sorted(int(seed) for seed in rows.seed.unique()),
    }
    return yaml.safe_dump(document, sort_keys=False)


def _about(algorithm: str) -> dict[str, Any]:
    """What the catalog says of a method; nothing of one that is not built in."""
    name, _ = parse(algorithm)
    about = catalog.entry("algorithm", name)
    if about is None:
        return {"text": "", "claims": {}, "presets": {}, "command": ""}
    claims = {_CLAIMS.get(kind, kind): place for kind, place in about.targets.items()}
    presets = {preset: spell(name, values) for preset, (_, values) in about.presets.items()}
    command = f"robustssl show algorithm {shlex.quote(name)}"
    return {"text": about.text, "claims": claims, "presets": presets, "command": command}
