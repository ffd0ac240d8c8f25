"""The wheel holds everything, and the documents tell the truth."""

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import yaml

from robustssl import studies
from robustssl.worker import prepare

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


def blocks(language, path="README.md"):
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / path).read_text(), re.S)


def test_the_python_of_the_readme_runs():
    (code,) = blocks("python")
    scope = {}
    exec(code, scope)
    assert scope["curve"].seeds == 3
    assert scope["model"].alpha == 0.99


def test_the_study_of_the_readme_is_one():
    (text,) = blocks("yaml")
    cells = studies.study(yaml.safe_load(text)).cells()
    assert len(cells) == 5 * 2 * 2 * 2 * 10 * 6
    for cell in cells:
        prepare(cell.dataset, cell.environment, cell.labels, cell.seed)


def test_the_commands_of_the_readme_exist():
    makefile = (ROOT / "Makefile").read_text()
    for block in blocks("sh"):
        for line in block.splitlines():
            words = line.split("#")[0].split()
            if words[0] == "make":
                assert re.search(rf"^{words[1]}:", makefile, re.M)
            else:
                help_ = subprocess.run(
                    [Path(sys.executable).parent / "robustssl", words[1], "--help"],
                    capture_output=True,
                    text=True,
                    check=True,
                ).stdout
                assert all(word in help_ for word in words if word.startswith("--"))


@pytest.mark.parametrize(
    "path",
    sorted(p.relative_to(ROOT) for p in ROOT.rglob("*.md") if ".venv" not in p.parts),
    ids=str,
)
def test_links_lead_somewhere(path):
    for target in re.findall(r"\]\(([^)#:]+)\)", (ROOT / path).read_text()):
        assert (ROOT / path).parent.joinpath(target).exists(), target
