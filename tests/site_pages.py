"""Pages of a site in a browser, and the tests of their JavaScript."""

import json
import os
import shutil
import subprocess
from pathlib import Path

from conftest import missing
from js.make_cases import cases

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


def data_of(folder):
    """What the pages of a site compute with."""
    text = (folder / "assets" / "data.js").read_text()
    return json.loads(text.partition("=")[2].rstrip(";\n"))


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


def check_equality(payload, tmp_path):
    """The pages compute from a payload what Python does."""
    document = {"payload": payload, "expected": cases(payload)}
    (tmp_path / "cases.json").write_text(json.dumps(document))
    told = run_node("equality.test.js", ROBUSTSSL_CASES=str(tmp_path / "cases.json"))
    assert "# pass 1" in told
