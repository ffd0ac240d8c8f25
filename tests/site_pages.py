"""Pages of a site in a browser, and the tests of their JavaScript."""

import base64
import json
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
from conftest import missing
from js.make_cases import cases, holm_cases, median_cases, worth_cases
from selenium.webdriver.support.ui import WebDriverWait

from robustssl.sites.pack import MICRO, NOTES, UNKNOWN

ROOT = Path(__file__).parents[1]


def open_page(browser, folder, name, width=1280, colour="light"):
    """Opens a page from disk; `name` may have a fragment."""
    shape = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    media = [{"name": "prefers-color-scheme", "value": colour}]
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", shape)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": media})
    path, _, fragment = name.partition("#")
    browser.get("about:blank")  # or a change of the fragment would not load anew
    browser.get(f"{(folder / path).as_uri()}#{fragment}")
    return ready(browser)


def ready(browser):
    """Waits until the page has the parts of the data that it asked for."""
    busy = "return document.querySelector('main')?.ariaBusy === 'true'"
    WebDriverWait(browser, 60, poll_frequency=0.02).until_not(lambda b: b.execute_script(busy))
    return browser


def overflow(browser):
    """By how many pixels the page is wider than its window."""
    return browser.execute_script(
        "const page = document.documentElement; return page.scrollWidth - page.clientWidth;"
    )


def log_of(browser):
    """Messages of the console, and addresses that were asked for, since the last call."""
    errors = [entry["message"] for entry in browser.get_log("browser")]
    sent = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = [m for m in sent if m["method"] == "Network.requestWillBeSent"]
    return errors, [m["params"]["request"]["url"] for m in asked]


def table(browser, selector="#ranking"):
    """Rows of a table as mappings of headings to texts."""
    script = """
        const rows = [...document.querySelector(arguments[0]).rows].map(
            row => [...row.cells].map(cell => cell.textContent.trim()));
        return rows;"""
    head, *body = browser.execute_script(script, selector)
    return [dict(zip(head, row, strict=True)) for row in body]


def choose(browser, selector, value):
    """As a person changes a control."""
    browser.execute_script(
        """const control = document.querySelector(arguments[0]);
        control.value = arguments[1];
        control.dispatchEvent(new Event("input", {bubbles: true}));""",
        selector,
        value,
    )
    ready(browser)


def files_of(folder):
    """The documents in the files of data of a site: the first, then its parts by name."""
    paths = [folder / "assets" / "data.js", *sorted((folder / "assets").glob("*-*.js"))]
    index, *parts = (json.loads(p.read_text().partition(" = ")[2].rstrip(";\n")) for p in paths)
    return index, {path.stem: part for path, part in zip(paths[1:], parts, strict=True)}


def data_of(folder):
    """What the pages of a site compute with, all parts of it, read without JavaScript."""
    index, parts = files_of(folder)
    columns, names = index.pop("curves"), [*index.pop("baselines"), None]
    curves = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    for curve in curves:
        name = curve["baselineName"]
        curve |= {"baselineName": None if name is None else names[name], "scores": {}}
    index["curves"] = curves
    for part in (*index.pop("parts").values(), *parts.values()):
        (_add_scores if "score" in part else _add_metrics)(index, part)
    return index


def _numbers(part, kind):
    return np.frombuffer(base64.b64decode(part["values"]), kind)


def _add_scores(data, part):
    counted = part["numbers"] == "rows"
    values, at = _numbers(part, "<u2" if counted else "<f8"), 0
    for k, i in enumerate(part["curves"]):
        grid, seeds, rows = (part[name][k] for name in ("grid", "seeds", "rows"))
        shape = len(data["seeds"][seeds]), len(data["grids"][grid])
        mine = values[at : at + shape[0] * shape[1]] / (rows if counted else 1)
        at += mine.size
        found = {"grid": grid, "seeds": seeds, "rows": rows, "identical": i in part["identical"]}
        data["curves"][i]["scores"].setdefault(part["score"], {}).update(
            {**found, "values": mine.reshape(shape).tolist()}
        )
    assert at == values.size


def _add_metrics(data, part):
    lists = [(name, k) for name, found in data["conventions"].items() for k in range(len(found))]
    values = _numbers(part, "<i4").reshape(len(part["curves"]), len(lists), 4)
    for place, i in enumerate(part["curves"]):
        told = {name: [] for name in data["conventions"]}
        for j, (name, _) in enumerate(lists):
            numbers = [None if x == UNKNOWN else x / MICRO for x in values[place, j].tolist()]
            note = NOTES[int(part["notes"][place * len(lists) + j])]
            told[name].append([*numbers, note])
        data["curves"][i]["scores"].setdefault(part["metrics"], {})["metrics"] = told


def run_node(*tests, **environment):
    """Runs tests of the JavaScript (files in tests/js, all of them by default)."""
    if shutil.which("node") is None:
        missing("Node")
    files = tests or sorted(path.name for path in (ROOT / "tests" / "js").glob("*.test.js"))
    done = subprocess.run(
        ["node", "--test", *(f"tests/js/{name}" for name in files)],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def check_equality(folder, tmp_path):
    """The pages of a site compute from its files what Python does."""
    index, parts = files_of(folder)
    expected = {"expected": cases(data_of(folder)), "worth": worth_cases()}
    expected |= {"holm": holm_cases(), "medians": median_cases()}
    document = {"index": index, "parts": parts, **expected}
    (tmp_path / "cases.json").write_text(json.dumps(document))
    told = run_node("equality.test.js", ROBUSTSSL_CASES=str(tmp_path / "cases.json"))
    assert "# pass 2" in told


def overlaps(browser):
    """Pairs of texts on a page whose boxes lie over each other, as they are seen: what a scrolled
    region hides does not count.
    """
    return browser.execute_script(_OVERLAPS)


_OVERLAPS = """
    const texts = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const hiding = element => {
        const found = [];
        for (let e = element; e; e = e.parentElement)
            if (getComputedStyle(e).overflow !== "visible" && e !== document.body
                && e.tagName !== "svg") found.push(e);
        return found.map(e => e.getBoundingClientRect());
    };
    for (let node; node = walker.nextNode();) {
        const parent = node.parentElement;
        if (!node.data.trim() || !parent.checkVisibility({visibilityProperty: true})
            || ["SCRIPT", "STYLE", "OPTION", "title"].includes(parent.tagName)) continue;
        const range = document.createRange();
        range.selectNodeContents(node);
        const frames = hiding(parent);
        for (const box of range.getClientRects()) {
            let [left, top, right, bottom] = [box.left, box.top, box.right, box.bottom];
            for (const frame of frames) {
                left = Math.max(left, frame.left); right = Math.min(right, frame.right);
                top = Math.max(top, frame.top); bottom = Math.min(bottom, frame.bottom);
            }
            if (right - left > 2 && bottom - top > 2 && left > -1000)
                texts.push({text: node.data.trim(), parent, left, top, right, bottom});
        }
    }
    texts.sort((a, b) => a.top - b.top);
    const found = [];
    texts.forEach((a, i) => {
        for (let j = i + 1; j < texts.length && texts[j].top < a.bottom - 3; j++) {
            const b = texts[j];
            if (a.parent !== b.parent && Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2
                && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3)
                found.push([a.text.slice(0, 40), b.text.slice(0, 40)]);
        }
    });
    return found;
"""


def serious(browser):
    """What axe finds to be a serious or critical hindrance."""
    from axe_core_python.selenium import Axe

    found = Axe().run(browser)["violations"]
    bad = [v for v in found if v["impact"] in ("serious", "critical")]
    return [(v["id"], [n["html"][:200] for n in v["nodes"]][:3]) for v in bad]
