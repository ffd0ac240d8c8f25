"""The findings are what the records say, and nothing else than the records is asked."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXPERIMENTS = ROOT / "experiments"
PAGE = ROOT / "docs" / "findings.md"
_INTERVAL = re.compile(r"[+-]?\d\.\d{3} \[[^]]*\](?:\*\*)?(?: \([^)]* to [^)]*\))?")

_RUN = """
import runpy, sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if any(name == part or name.startswith(part + ".") for part in absent):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

absent, script, *words = sys.argv[1].split(), *sys.argv[2:]
sys.meta_path.insert(0, Absent())
sys.path.insert(0, script.rpartition("/")[0])
sys.argv = [script, *words]
runpy.run_path(script, run_name="__main__")
"""


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """What the script writes, with all packages, and without torch and all code of methods."""
    folders, runs = {}, []
    for name, absent in (("whole", ""), ("bare", "torch robustssl.registry robustssl.algorithms")):
        folders[name] = tmp_path_factory.mktemp(name)
        script, records = EXPERIMENTS / "findings.py", ROOT / "results/leaderboard"
        command = [sys.executable, "-c", _RUN, absent, script, records, "--out", folders[name]]
        runs.append(subprocess.Popen(command, stderr=subprocess.PIPE, text=True))
    for run in runs:
        _, errors = run.communicate()
        assert run.returncode == 0, errors
    return {
        name: {file.name: file.read_bytes() for file in folder.iterdir()}
        for name, folder in folders.items()
    }


@pytest.mark.slow
def test_findings_are_a_function_of_the_records(written):
    assert len(written["whole"]) == 5
    assert written["bare"] == written["whole"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["findings.md", "all_findings.md", "findings.csv", "scores.csv"])
def test_what_is_committed_is_what_the_script_writes(written, name):
    """Every digit of the page is one that the script has written."""
    folder = PAGE.parent if name == "findings.md" else EXPERIMENTS
    assert (folder / name).read_text("utf-8") == written["whole"][name].decode()


def test_every_interval_on_the_page_stands_in_the_tables():
    page = PAGE.read_text("utf-8")
    given = set(_INTERVAL.findall((EXPERIMENTS / "all_findings.md").read_text("utf-8")))
    quoted = set(_INTERVAL.findall(page))
    assert len(quoted) > 50
    assert quoted <= given
    digit = next(re.finditer(r"\d(?=\])", page)).start()
    wrong = page[:digit] + str((int(page[digit]) + 5) % 10) + page[digit + 1 :]
    assert not set(_INTERVAL.findall(wrong)) <= given


def test_the_text_of_the_page_has_no_numbers_of_its_own():
    text = (EXPERIMENTS / "findings.txt").read_text("utf-8")
    text = re.sub(r"\{[^}]*\}|```.*?```|\]\([^)]*\)|`[^`]*`", "", text, flags=re.S)
    assert set(re.findall(r"\S*\d\S*", re.sub(r"t = [01]\b", "", text))) == {"95%"}
