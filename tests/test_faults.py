"""Studies that are disturbed at random are the same as undisturbed ones: one of many seeds."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "experiments" / "faults.py"


@pytest.mark.parametrize(
    "store", ["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)], ids=str
)
def test_a_study_that_is_disturbed_is_the_same(store, request):
    if store == "postgresql":
        request.getfixturevalue("server")  # is PostgreSQL there?
    command = [sys.executable, SCRIPT, "--first", "1000", "--seeds", "1", "--store", store]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 of 1 equal" in done.stdout
