"""What is installed is what is needed: the wheel, its dependencies, its extras, and the links."""

import ast
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml

import robustssl
from robustssl import registry

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "robustssl"
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
EXTRAS = PYPROJECT["project"]["optional-dependencies"]


def packages(requirements):
    """The names of the packages, spelled as modules are."""
    return {re.match(r"[\w.-]+", r)[0].lower().replace("-", "_") for r in requirements}


def test_the_wheel_runs_on_its_own(tmp_path):
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", tmp_path, ROOT]
    subprocess.run(build, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    study = {"algorithms": "supervised_logistic", "environments": "label", "datasets": "iris"}
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


MODULES = {"PIL": "pillow", "sklearn": "scikit_learn", "xgboost": "xgboost_cpu", "yaml": "pyyaml"}
LATE = ("algorithms", "deep", "nets", "views")  # imported when one of them is asked for
LATE_FILES = {f"encoders/{n}.py" for n in ("_folded", "_images", "efficientnet_lite0", "resnet50")}


def imports(path):
    """The other packages that a file imports: the name, the line, whether inside a function."""
    tree = ast.parse(path.read_text())
    functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    inside = {id(node) for function in functions for node in ast.walk(function)}
    for node in ast.walk(tree):
        named = [a.name for a in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and not node.level:
            named = [node.module]
        for name in {name.partition(".")[0] for name in named}:
            if name not in {*sys.stdlib_module_names, "robustssl"}:
                yield MODULES.get(name, name), node.lineno, id(node) in inside


@pytest.mark.parametrize(
    "path", sorted(SOURCE.rglob("*.py")), ids=lambda path: str(path.relative_to(SOURCE))
)
def test_every_import_is_declared(path):
    """What an extra brings is imported only where it is used, so that the rest works without."""
    plain = packages(PYPROJECT["project"]["dependencies"])
    extra = packages(package for extra in EXTRAS.values() for package in extra)
    for package, line, late in imports(path):
        place = path.relative_to(SOURCE)
        late = late or place.parts[0] in LATE or place.as_posix() in LATE_FILES
        assert package in (plain | extra if late else plain), f"{path}:{line}: {package}"


def test_every_extra_that_a_message_names_is_there():
    for path in SOURCE.rglob("*.py"):
        for name in re.findall(r"robustssl\[(\w+)\]", path.read_text()):
            assert name in EXTRAS, path
    for package, extra in registry.EXTRAS.items():
        assert MODULES.get(package, package) in packages(EXTRAS[extra])


_WITHOUT = """
import sys
from robustssl import InputError, registry

absent = sys.argv[1]

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == absent:
            raise ModuleNotFoundError(f"No module named {absent!r}", name=absent)

sys.meta_path.insert(0, Absent())
try:
    registry.find("algorithm", sys.argv[2])
except (InputError, ModuleNotFoundError) as error:
    print(type(error).__name__, error)
"""


@pytest.mark.parametrize(
    ("absent", "algorithm", "said"),
    [
        ("torch", "fixmatch", "InputError fixmatch needs torch: pip install 'robustssl[deep]'"),
        (
            "xgboost",
            "supervised_xgboost",
            "InputError supervised_xgboost needs xgboost: pip install 'robustssl[boosting]'",
        ),
        ("sklearn", "tsvm", "ModuleNotFoundError No module named 'sklearn'"),
    ],
)
def test_a_missing_package_is_named_with_its_extra(absent, algorithm, said):
    command = [sys.executable, "-c", _WITHOUT, absent, algorithm]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == said


def test_a_gpu_without_triton_uses_the_plain_products(monkeypatch):
    torch = pytest.importorskip("torch")
    from robustssl.nets import _attention

    class OnGPU(torch.Tensor):
        is_cuda = True

    monkeypatch.setattr(_attention, "HAS_TRITON", False)
    triples = torch.randn(5, 14, 48).as_subclass(OnGPU)
    ours = _attention.attention(triples, 2, 14)
    assert torch.equal(ours, _attention.plain_attention(triples, 2, 14))


def test_public_names_are_public_to_type_checkers():
    """A stub exports what it imports as itself, and nothing else."""
    lines = (SOURCE / "__init__.pyi").read_text().splitlines()
    exported = [re.fullmatch(r"from robustssl\.[\w.]+ import (\w+) as \1", x) for x in lines[:-2]]
    assert sorted([*(found[1] for found in exported), "__version__"]) == robustssl.__all__
    assert lines[-2:] == ["", "__version__: str"]
    for name in robustssl.__all__:
        assert getattr(robustssl, name) is not None
    with pytest.raises(AttributeError, match="module 'robustssl' has no attribute 'nothing'"):
        _ = robustssl.nothing


def test_every_python_that_is_promised_is_tested():
    prefix = "Programming Language :: Python :: 3."
    named = [c for c in PYPROJECT["project"]["classifiers"] if c.startswith(prefix)]
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text())
    tested = workflow["jobs"]["test"]["strategy"]["matrix"]["python"]
    assert [f"{prefix}{version.removeprefix('3.')}" for version in tested] == named
    assert PYPROJECT["project"]["requires-python"] == f">={tested[0]}"


def test_the_citation_is_of_this_project():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["license"] == PYPROJECT["project"]["license"]
    assert citation["keywords"] == PYPROJECT["project"]["keywords"]


def test_the_changelog_begins_with_the_version_of_the_code():
    """Before its release, which takes `.dev0` away, a version is called unreleased."""
    heading = re.search(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(), re.M)[1]
    number, dev, _ = robustssl.__version__.partition(".dev")
    assert heading == (f"{number} (unreleased)" if dev else number)


ELSEWHERE = {".venv", ".venv-light", "node_modules"}


@pytest.mark.parametrize(
    "path",
    sorted(p.relative_to(ROOT) for p in ROOT.rglob("*.md") if not ELSEWHERE & {*p.parts}),
    ids=str,
)
def test_links_lead_somewhere(path):
    for target in re.findall(r"\]\(([^)#:]+)\)", (ROOT / path).read_text()):
        assert (ROOT / path).parent.joinpath(target).exists(), target
