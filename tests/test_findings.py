"""The findings are what the records say."""

import re
import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
_INTERVAL = re.compile(r"[+-]?\d\.\d{3}\s+\[[+-]?\d\.\d{3},\s+[+-]?\d\.\d{3}\]")


@pytest.mark.slow
def test_every_interval_on_the_page_is_one_that_the_records_give(capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["findings.py", str(ROOT / "results/leaderboard")])
    runpy.run_path(str(ROOT / "experiments/findings.py"), run_name="__main__")
    given = set(_INTERVAL.findall(capsys.readouterr().out))
    page = (ROOT / "docs/findings.md").read_text(encoding="utf-8")
    quoted = {re.sub(r"\s+", " ", found) for found in _INTERVAL.findall(page)}
    assert len(quoted) > 30
    assert quoted <= given
