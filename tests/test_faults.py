"""Studies that are disturbed at random are the same as undisturbed ones: one of many seeds.

What happens when is a matter of chance here; `test_engines_local` strikes at chosen moments.
"""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "experiments" / "faults.py"


@pytest.mark.slow
@pytest.mark.parametrize(("store", "seed"), [("sqlite", "2"), ("postgresql", "3")])
def test_a_study_that_is_disturbed_is_the_same(store, seed, request):
    """A run of two is killed; a server restarts twice, and ends connections."""
    if store == "postgresql":
        request.getfixturevalue("server")  # is PostgreSQL there?
    command = [sys.executable, SCRIPT, "--first", seed, "--seeds", "1", "--store", store]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 of 1 equal" in done.stdout
