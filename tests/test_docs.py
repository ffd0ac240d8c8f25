"""Every code block of the documents is run, or at least spelled right; and the site is built.

The blocks of a page run in their order, in one folder, which has the examples, the results and, as
if a study had been run already, small stores. A block whose first line is a comment with the name
of a file is that file. A block of text is what the block before it printed; `...` is anything.
"""

import importlib
import json
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import textwrap
import time
import tomllib
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest
import typer
import yaml
from conftest import here

import robustssl
from robustssl import cli, registry
from robustssl.execution import plan
from robustssl.reports.shown import read_names
from robustssl.studies import study as studies

ROOT = Path(__file__).parent.parent
PAGES = [
    *("README.md", "CONTRIBUTING.md"),
    *(f"{folder}/README.md" for folder in ("benchmarks", "experiments", "results")),
    *sorted(str(p.relative_to(ROOT)) for p in (ROOT / "docs").rglob("*.md")),
]

# Lines that are not run: their words are checked, their effects are not seen.
NOT_RUN = {
    r"make ": "installs, or takes minutes",
    r"pip ": "installs",
    r"#SBATCH|head=|srun |sleep |ray ": "needs a cluster",
    r"robustssl run .*--engine ray": "needs a cluster",
    r"robustssl run .*--store postgresql": "needs a server",
    r"robustssl serve": "does not end",
    r"robustssl data fetch": "needs a network",
    r"robustssl quickstart": "minutes",
    r"robustssl run (quickstart|robust-digits|cifar-quick|reproduce-|leaderboard)": "minutes",
    r"robustssl run season2-": "minutes",
    r"robustssl site .*--store results/(leaderboard|pilot)": "half a minute",
    r"robustssl run (study|deep|my_study)\.yaml(?!.*--dry-run)": "minutes",
    r"robustssl (run|decide) examples/selection\.yaml": "minutes",
    r"robustssl report --store selection\.sqlite": "wants a study that was run",
    r"robustssl audit labeled\.csv unlabeled\.csv --target COLUMN": "wants files of yours",
    r"robustssl (submit|results validate)": "wants a study that was run",
    r"robustssl report .*--choices": "wants a search on other tasks",
    r"robustssl import curve\.jsonl": "wants what a GPU wrote",
    r"python (benchmarks|examples|experiments)/": "minutes, or a GPU",
}

LANGUAGES = {"python", "sh", "yaml", "toml", "text"}
_BLOCK = re.compile(r"^( *)```(\w*)\n(.*?)^ *```", re.M | re.S)


def blocks(page):
    """The language and the text of every block of a page."""
    for _, language, text in _BLOCK.findall((ROOT / page).read_text()):
        yield language, textwrap.dedent(text)


def lines(block):
    """The commands of a block, without what stands behind a #."""
    for line in block.replace("\\\n", " ").replace(".venv/bin/", "").splitlines():
        command = line if line.startswith("#SBATCH") else re.sub(r"(^|\s+)#.*", "", line)
        if command.strip():
            yield command.strip()


def reason_not_to_run(line):
    return next((why for pattern, why in NOT_RUN.items() if re.match(pattern, line)), None)


def misspelt(line):
    """What is wrong with the words of a line: its command gets them, and is not run."""
    command, words = typer.main.get_command(cli.app), shlex.split(line)
    try:
        context = command.make_context(words[0], words[1:])
        while hasattr(command, "resolve_command"):
            rest = [*context._protected_args, *context.args]
            name, command, rest = command.resolve_command(context, rest)
            context = command.make_context(name, rest, parent=context)
    except typer.BadParameter.__base__ as error:
        return type(error).__name__
    return None


def spell(line):
    """What can be said of a line that is not run."""
    words = shlex.split(line)
    if words[0] == "robustssl":
        assert not misspelt(line), line
    elif words[0] == "make":
        assert re.search(rf"^{words[-1]}:", (ROOT / "Makefile").read_text(), re.M), line
    elif words[0] == "python":
        compile((ROOT / words[1]).read_text(), words[1], "exec")
    elif words[:2] == ["pip", "install"]:
        extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
        asked = re.search(r"\[(.*)\]", words[-1])
        assert set(asked[1].split(",") if asked else ()) <= {*extras["optional-dependencies"]}, line


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """What a small study leaves."""
    place = tmp_path_factory.mktemp("docs") / "small.sqlite"
    study = {
        "title": "A small study",
        "algorithms": ["supervised_logistic", "self_training", "supervised_xgboost", "cast"],
        "environments": "feature",
        "datasets": "wine",
        "seeds": 2,
    }
    with here():
        robustssl.run(study, place, workers=1, progress=False)
    return place


@pytest.fixture
def folder(tmp_path, store, monkeypatch, no_figures, in_process):
    for name in ("examples", "results"):
        shutil.copytree(ROOT / name, tmp_path / name)
    for name in ("robustssl", "quickstart"):
        shutil.copy(store, tmp_path / f"{name}.sqlite")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setattr(plan, "_trial", lambda *_: ())  # of a dry run, as in test_cli
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:  # modules of the page's own, which another may have too
        if str(getattr(sys.modules[name], "__file__", None)).startswith(str(tmp_path)):
            del sys.modules[name]
    for cached in (registry.names, registry.find, registry.lookup.entry_points):
        cached.cache_clear()


def command(line, monkeypatch):
    """Run a line as a shell would; robustssl itself in this process, which is quicker."""
    words = shlex.split(line)
    if words[0] == "cd":
        os.chdir(words[1])
    elif words[0] == "robustssl" and not re.search(r"[|>&;]", line):
        alone = ["-w", "1"] if words[1] == "run" and "--dry-run" not in words else []
        monkeypatch.setattr(sys, "argv", [*words, *alone])
        monkeypatch.setattr(sys, "path", sys.path[:])
        with pytest.raises(SystemExit) as end:
            cli.main()
        assert not end.value.code, f"{line} ends with {end.value.code}"
    else:
        print(subprocess.run(["bash", "-ec", line], check=True, stdout=-1, text=True).stdout)


def is_said(expected, printed):
    """Whether a text, or its parts between `...`, stands in what was printed."""
    said, place = " ".join(printed.split()), 0
    for part in " ".join(expected.split()).split("..."):
        place = said.find(part.strip(), place)
        if place < 0:
            return False
        place += len(part.strip())
    return True


# An audit like that of the tutorial is among the tests of audits.
SLOW = {"docs/tutorials/audit.md"}


@pytest.mark.parametrize(
    "page", [pytest.param(p, marks=[pytest.mark.slow] if p in SLOW else []) for p in PAGES]
)
def test_the_blocks_of_a_page_run(page, folder, monkeypatch):
    scope, printed = {"__name__": "page"}, ""
    for language, text in blocks(page):
        assert language in LANGUAGES, f"{page}: what is a block of {language or 'no language'}?"
        os.chdir(folder)
        if named := re.match(r"# ([\w/.]+\.(?:py|yaml|csv))\b", text):
            Path(named[1]).write_text(text)
        if language == "text":
            assert is_said(text, printed), f"{text}\nis not in what was printed:\n{printed}"
            continue
        with redirect_stdout(StringIO()) as out:
            if language == "sh":
                subprocess.run(["bash", "-n"], input=text, text=True, check=True)
                for line in lines(text):
                    spell(line) if reason_not_to_run(line) else command(line, monkeypatch)
            elif language == "python" and named:
                importlib.import_module(Path(named[1]).stem)
            elif language == "python":
                exec(compile(text, f"{page}, a block", "exec"), scope)
            elif language == "yaml" and named and named[1] == "names.yaml":
                assert read_names(named[1])
            elif language == "yaml":
                assert studies.study(yaml.safe_load(text)).cells()
            else:
                tomllib.loads(text)
        printed = out.getvalue()


def test_what_is_not_run_is_there():
    every = [
        line for page in PAGES for kind, b in blocks(page) if kind == "sh" for line in lines(b)
    ]
    for pattern in NOT_RUN:
        assert any(re.match(pattern, line) for line in every), f"no line is {pattern}"


def test_a_misspelt_command_is_noticed():
    for line in ("robustssl rnu quickstart", "robustssl run quickstart --sotre a"):
        assert misspelt(line)
    assert misspelt("robustssl run") == "MissingParameter"
    assert not misspelt("robustssl store merge other.sqlite --store mine.sqlite")
    with pytest.raises(AssertionError):
        spell("make dosc")
    with pytest.raises(AssertionError):
        spell("pip install 'robustssl[tpu]'")


@pytest.mark.parametrize("page", PAGES)
def test_commands_within_a_sentence_exist(page):
    text = _BLOCK.sub("", (ROOT / page).read_text())
    for found in re.findall(r"`(robustssl [^`]+)`", text):
        error = misspelt(" ".join(found.split()))  # a sentence may leave out what it is not about
        assert error in (None, "MissingParameter"), f"{found}: {error}"


def test_no_block_is_hidden_by_its_indentation():
    for page in PAGES:
        text = _BLOCK.sub("", (ROOT / page).read_text())
        assert not re.search(r"^ {4,}(?:robustssl|python|pip|import|from|make) ", text, re.M), page


@pytest.mark.parametrize("name", ["pictures", pytest.param("worlds", marks=pytest.mark.slow)])
def test_the_pictures_are_made_by_the_project(tmp_path, monkeypatch, name):
    monkeypatch.setattr(sys, "argv", [f"{name}.py", str(tmp_path)])
    runpy.run_path(str(ROOT / f"docs/{name}.py"), run_name="__main__")
    there = list((ROOT / "docs" / name).iterdir())
    assert {p.name for p in tmp_path.iterdir()} == {p.name for p in there}
    page = (ROOT / "docs" / "worlds.md").read_text()
    assert name == "pictures" or all(f"(worlds/{p.name})" in page for p in there)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    out = tmp_path_factory.mktemp("site")
    build = [Path(sys.executable).parent / "mkdocs", "build", "--strict", "--site-dir", out]
    quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(build, cwd=ROOT, env=quiet, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    return out


@pytest.mark.slow  # CI builds it in a job of its own, too
def test_the_site_is_built_whole_and_asks_nothing_of_a_network(site):
    for name in registry.names("algorithm"):
        assert f"{name}.py" in (site / f"algorithms/{name}.html").read_text()
    assert "<math" in (site / "metrics.html").read_text()
    for name in robustssl.__all__:
        assert name == "__version__" or f".{name}" in (site / "api.html").read_text()
    for page, way in (("index.html", ""), ("algorithms/fixmatch.html", "../")):
        assert f'href="{way}leaderboard/index.html"' in (site / page).read_text()
    for page in site.rglob("*.html"):
        text = page.read_text()
        assert "arithmatex" not in text, page
        for tag in re.findall(r"<(?:script|link|img|iframe|source|video)\b[^>]*>", text):
            assert not re.search(r"""(?:src|href|srcset)=["']?(?:https?:)?//""", tag), (page, tag)
    for sheet in site.rglob("*.css"):
        assert not re.search(r"(?:url\(|@import\s*)[\"']?(?:https?:)?//", sheet.read_text()), sheet


@pytest.mark.slow
def test_a_browser_finds_what_it_searches_from_disk(site, browser):
    browser.get_log("performance")
    browser.get((site / "algorithms" / "ict.html").as_uri())
    field = browser.find_element("css selector", ".md-search__input")
    field.send_keys("break-even")
    for _ in range(100):
        found = browser.find_elements("css selector", ".md-search-result__link")
        if found:
            break
        time.sleep(0.1)
    assert any("metrics.html" in link.get_attribute("href") for link in found)
    sent = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = [m["params"]["request"]["url"] for m in sent if m["method"].endswith("WillBeSent")]
    assert asked
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
