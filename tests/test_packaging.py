"""The wheel holds everything, and links lead somewhere."""

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parent.parent


def test_the_wheel_runs_on_its_own(tmp_path):
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", tmp_path, ROOT]
    subprocess.run(build, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    study = {"algorithms": "supervised_xgboost", "environments": "label", "datasets": "iris"}
    (tmp_path / "study.yaml").write_text(yaml.safe_dump(study))
    script = (
        "import robustssl, sys; from robustssl.cli import main; print(robustssl.__file__);"
        "sys.argv = ['robustssl', 'run', 'study.yaml', '-w', '1']; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path / "site"), "PATH": ""},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(str(tmp_path))
    assert "30 cells: 30 done" in done.stdout


@pytest.mark.parametrize(
    "path",
    sorted(p.relative_to(ROOT) for p in ROOT.rglob("*.md") if ".venv" not in p.parts),
    ids=str,
)
def test_links_lead_somewhere(path):
    for target in re.findall(r"\]\(([^)#:]+)\)", (ROOT / path).read_text()):
        assert (ROOT / path).parent.joinpath(target).exists(), target
