"""A report is a function of its records: the same without torch, xgboost and ray."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

LEADERBOARD = Path(__file__).parent.parent / "results" / "leaderboard"

_BLOCKED = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("torch", "xgboost", "ray"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
"""
_MAKE = """
import sys
import robustssl

whole, part, out = sys.argv[1:]
robustssl.site(whole, f"{out}/site")
robustssl.report(part, f"{out}/report")
"""
_NO_FIGURES = """
from robustssl.reports import folder

folder._draw = lambda *_: []
"""


def made(whole, part, out, script):
    """The site of all records, and the report of a part of them."""
    out.mkdir()
    words = [sys.executable, "-c", script, *map(str, (whole, part, out))]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    files = {path.relative_to(out): path for path in out.rglob("*") if path.is_file()}
    return {name: path.read_bytes() for name, path in files.items()}


def same(whole, part, tmp_path, first=""):
    ours = made(whole, part, tmp_path / "with", "import torch, xgboost\n" + first + _MAKE)
    theirs = made(whole, part, tmp_path / "without", _BLOCKED + first + _MAKE)
    assert ours.keys() == theirs.keys()
    assert [name for name in ours if ours[name] != theirs[name]] == []
    return ours


def test_report_and_site_of_a_small_store_need_no_torch(tmp_path, in_process):
    """Nets, their baseline and a boosted tree among the methods."""
    pytest.importorskip("torch")
    pytest.importorskip("xgboost")
    import robustssl

    study = {
        "algorithms": ["supervised_net[steps=5]", "fixmatch[steps=5]", "supervised_xgboost"],
        "environments": ["label"],
        "datasets": ["wine"],
        "ts": [0, 1],
        "seeds": 2,
    }
    robustssl.run(study, tmp_path / "s.sqlite", workers=1, progress=False)
    found = same(tmp_path / "s.sqlite", tmp_path / "s.sqlite", tmp_path, _NO_FIGURES)
    page = found[Path("report/table.md")].decode()
    row = next(line for line in page.splitlines() if "fixmatch" in line)
    assert "not known" not in row
    assert "was not run" not in row


@pytest.mark.slow
def test_site_and_report_of_the_leaderboard_need_no_torch(tmp_path):
    """All pages; of the report, texts: the figures of 96 tasks would take minutes."""
    pytest.importorskip("torch")
    pytest.importorskip("xgboost")
    found = same(LEADERBOARD, LEADERBOARD / "texts", tmp_path)
    data = found[Path("site/assets/data.js")].decode()
    assert data.count('"family":"deep"') == 27
    assert data.count('"family":"statistical"') == 16


def test_status_and_lists_need_no_torch(tmp_path):
    commands = [
        ["list", "algorithms"],
        ["list", "studies"],
        ["show", "algorithm", "fixmatch"],
        ["run", "quickstart", "--only", "algorithm=ssgmm", "--only", "dataset=iris", "-w", "1"],
        ["status", "quickstart"],
    ]
    script = f"""{_BLOCKED}
from robustssl.cli import main

for words in {commands!r}:
    sys.argv = ["robustssl", *words]
    try:
        main()
    except SystemExit as end:
        assert not end.code, words
    print("ended:", *words)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-500:]
    said = re.split(r"^ended: .*\n", done.stdout, flags=re.M)
    assert len(said) == len(commands) + 1
    assert all(said[:-1])
