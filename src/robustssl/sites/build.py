"""The site: a static folder of pages that open from disk, built from records."""

import datetime
import re
from collections import Counter
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
from robustssl.progress import Watch, console, watch
from robustssl.records.files import read_frame
from robustssl.records.frame import failures, successes, with_versions
from robustssl.records.places import shown
from robustssl.records.published import KEYS
from robustssl.records.record import SCORES
from robustssl.records.sheets import csv_of
from robustssl.sites.editions import Edition, editions
from robustssl.sites.names import slug
from robustssl.sites.pack import packed
from robustssl.sites.pictures import copy_picture
from robustssl.sites.prose import (
    CLAIMS,
    ENVIRONMENTS,
    about_dataset,
    about_method,
    about_task,
    settings_of,
)

_DECISIONS = "decisions.html"
_MENU = (  # pages of which there is one; each has a template of its name
    ("Overview", "index.html"),
    ("Leaderboard", "leaderboard.html"),
    ("Explorer", "explorer.html"),
    ("Methods", "methods.html"),
    ("Claims", "claims.html"),
    ("Decisions", _DECISIONS),
    ("About", "about.html"),
)


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
    shows = console()
    shows.print(f"Reading {shown(source)}", highlight=False, markup=False)
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
    folder, titles = Path(out), _titles(source)
    try:
        (folder / "assets").mkdir(parents=True, exist_ok=True)
        static = files("robustssl.sites").joinpath("static")
        (folder / "assets" / "style.css").write_bytes(static.joinpath("style.css").read_bytes())
        (folder / "assets" / "site.js").write_text(script(), encoding="utf-8")
        with watch(sum(map(_count, made)), shows, unit="pages") as watched:
            for edition in made:
                _write_pages(folder, edition, made, frame, titles, live, watched)
    except OSError as error:
        raise InputError(f"cannot write the site to {folder}: {error.strerror}") from error
    return folder / "index.html"


def _titles(source: str | Path) -> list[str]:
    """The titles of the studies in a folder of results; none of another store."""
    found = sorted(Path(source).rglob("study.yaml")) if Path(source).is_dir() else []
    studies = [yaml.safe_load(path.read_text("utf-8")) for path in found]
    return [
        str(study["title"]) for study in studies if isinstance(study, dict) and "title" in study
    ]


def script() -> str:
    """The modules of the pages as one script, since a page from disk cannot import modules."""
    static = files("robustssl.sites").joinpath("static")
    names = static.joinpath("modules.txt").read_text("utf-8").split()
    parts = [static.joinpath(name).read_text("utf-8") for name in names]
    body = re.sub(r"^export ", "", "\n".join(parts), flags=re.M)
    body = re.sub(r"^import .*\n", "", body, flags=re.M)
    return f'(() => {{\n"use strict";\n{body}}})();\n'


def _menu(edition: Edition) -> list[tuple[str, str]]:
    return [(label, file) for label, file in _MENU if edition.rule or file != _DECISIONS]


def _count(edition: Edition) -> int:
    """How many pages it has."""
    return len(_menu(edition)) + len(edition.data["tasks"]) + len(edition.data["methods"])


def _write_pages(
    top: Path,
    edition: Edition,
    every: Sequence[Edition],
    frame: pd.DataFrame,
    titles: Sequence[str],
    live: bool,
    watched: Watch,
) -> None:
    data, good, folder = edition.data, edition.good, top / edition.folder
    for name in ("algorithms", "tasks", "records", "assets"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for name, text in packed(data):
        (folder / "assets" / name).write_text(text, encoding="utf-8")
    pages = Environment(
        loader=PackageLoader("robustssl.sites", "templates"),
        autoescape=select_autoescape(),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    menu = _menu(edition)
    told = {method["name"]: about_method(method["name"]) for method in data["methods"]}
    shared = {
        "version": metadata.version("robustssl"),
        "live": live,
        "words": ENVIRONMENTS,
        "claims": CLAIMS,
        "places": {name: about["claims"] for name, about in told.items()},
        "datasets": [about_dataset(name) for name in sorted({t["drawn"] for t in data["tasks"]})],
        "today": datetime.date.today(),
        "data": data,
        "titles": titles,
        "all_older": all(curve["older"] for curve in data["curves"]),
        "edition": edition,
        "counts": _counts(edition, frame),
        "menu": menu,
    }

    def write(name: str, template: str, **more: Any) -> None:
        root = "../" * name.count("/")
        way = root + "../" * edition.folder.count("/")  # to what all editions share
        rules = [(other.label, way + _same_page(name, other), other is edition) for other in every]
        ways = {"root": root, "top": way, "rules": rules, "page": name}
        page = pages.get_template(template).render(**ways, **shared, **more)
        (folder / name).write_text(page, encoding="utf-8")
        watched.step()

    for _, name in menu:
        write(name, name)
    for i, task in enumerate(data["tasks"]):
        rows = good[(good.environment == task["environment"]) & (good.dataset == task["dataset"])]
        drawn = [list(versions[1:]) == task["versions"] for versions in rows.versions]
        rows = rows[(rows.labels == task["labels"]) & np.array(drawn)]
        name = task["page"].removesuffix(".html")
        columns = [*KEYS, *(["setting"] if edition.rule else []), "t", "seed", *SCORES]
        sheet = csv_of(rows[[*columns, "seconds", "key"]])
        (folder / "records" / f"{name}.csv").write_text(sheet, encoding="utf-8")
        (folder / "records" / f"{name}.yaml").write_text(_study(task, rows), encoding="utf-8")
        about = about_task(task)
        picture = copy_picture(task, top / "assets" / "tasks")
        more = {"number": i, "task": task, "file": name, "about": about, "picture": picture}
        write(f"tasks/{task['page']}", "task.html", **more)
    for i, method in enumerate(data["methods"]):
        settings = settings_of(method["name"], every) if edition.rule else []
        more = {"number": i, "algorithm": method, "about": told[method["name"]]}
        mine = {curve["task"] for curve in data["curves"] if curve["method"] == i}
        more |= {"settings": settings, "tasks": [data["tasks"][task] for task in sorted(mine)]}
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
        **_kinds(edition.data),
        "commits": Counter(edition.good.commit.dropna().map(lambda commit: commit[:7])),
        "failed": len(bad),
        "reasons": [
            {"algorithm": name, "error": error, "cells": len(cells)}
            for (name, error), cells in bad.groupby(["method", "error"])
        ],
    }


def _kinds(data: dict[str, Any]) -> dict[str, int]:
    """How many methods, baselines, tasks, and tasks in which a method is given what none has."""
    baselines = sum(method["supervised"] is True for method in data["methods"])
    beside = sum(task["access"] is not None for task in data["tasks"])
    return {
        "methods": len(data["methods"]) - baselines,
        "baselines": baselines,
        "tasks": len(data["tasks"]) - beside,
        "beside": beside,
        "seeds": max(map(len, data["seeds"])),
    }


def _study(task: dict[str, Any], rows: pd.DataFrame) -> str:
    """The study that repeats the records of a task; `only`, since a baseline that a rule gave other
    settings would come along with its default ones.
    """
    algorithms = sorted(rows.get("setting", rows.algorithm).unique().tolist())
    document = {
        "title": task["name"],
        "algorithms": algorithms,
        "environments": [task["environment"]],
        "datasets": [task["dataset"]],
        "labels": [task["labels"]],
        "ts": sorted(rows.t.unique().tolist()),
        "seeds": sorted(int(seed) for seed in rows.seed.unique()),
    }
    if "setting" in rows:
        document["only"] = {"algorithm": algorithms}
    return yaml.safe_dump(document, sort_keys=False)
