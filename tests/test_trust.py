"""A stranger's files: what they name is not imported by commands that only look, and nothing but
the kinds of things that we know is ever called.
"""

import json
import os
import pickle
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

import robustssl
from robustssl import InputError, registry
from robustssl.checks.submissions import submit
from robustssl.checks.validation import validate
from robustssl.cli import app
from robustssl.method import Method
from robustssl.records.files import pack
from robustssl.studies.files import read_study
from robustssl.studies.study import study as read

MODULE = """
from pathlib import Path
Path({touched!r}).touch()

from robustssl import Dataset, dataset
from robustssl.algorithms.self_training import SelfTraining
from robustssl.environments.label import Label

class Mine(SelfTraining): ...

class World(Label): ...

def load() -> Dataset:
    return dataset("iris")
"""


class Payload:
    def __init__(self, touched):
        self.touched = touched

    def __reduce__(self):
        return Path.touch, (Path(self.touched),)


class Canary:
    """A module and a pickle that leave a file behind when they are run."""

    def __init__(self, folder):
        self.touched = folder / "touched"
        (folder / "canary_module.py").write_text(MODULE.format(touched=str(self.touched)))
        (folder / "canary.pkl").write_bytes(pickle.dumps(Payload(str(self.touched))))

    @property
    def sings(self):
        return self.touched.exists()


@pytest.fixture
def canary(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    yield Canary(tmp_path)
    sys.modules.pop("canary_module", None)
    for cached in (registry.find, registry.about, registry.dataset):
        cached.cache_clear()


CALLS = ["pandas:read_pickle[filepath_or_buffer=canary.pkl]", "joblib:load[filename=canary.pkl]"]
HOSTILE = {
    "algorithms": ["canary_module:Mine", *CALLS, "supervised_net[net=canary_module:Net]"],
    "environments": ["canary_module:World", "label+canary_module:World", *CALLS],
    "datasets": [
        *("canary_module:load", "cifar10[encoder=canary_module:Eye]"),
        *("cifar10[encoder=pandas:read_pickle[filepath_or_buffer=canary.pkl]]", *CALLS),
    ],
}
FIELDS = [(field, name) for field, names in HOSTILE.items() for name in names]
STUDY = {
    "algorithms": ["supervised_logistic"],
    "environments": ["label"],
    "datasets": ["iris"],
    "ts": [0, 1],
    "seeds": 1,
}


def studies():
    """Studies that name the canary in each of their fields: alone, beside others, inside."""
    for field, name in FIELDS:
        beside = {**STUDY, field: [*STUDY[field], name]}
        yield from ({**STUDY, field: [name]}, beside, {**beside, "total_labels": 6})
        yield {"parts": [beside], "seeds": 1}
        for other in ("exclude", "only"):
            pattern = {field[:-1]: name}
            yield {**STUDY, other: [pattern] if other == "exclude" else {field[:-1]: [name]}}
    for field in ("title", "budget"):
        yield {**STUDY, field: CALLS[0]}


def look(*words):
    answer = CliRunner().invoke(app, list(map(str, words)))
    assert answer.exception is None or isinstance(answer.exception, InputError | SystemExit)
    return answer.output + str(answer.exception or "")


def test_looking_at_a_study_runs_nothing_of_it(canary, tmp_path, in_process):
    robustssl.run(STUDY, "s.sqlite", workers=1, progress=False)
    submit(STUDY, "s.sqlite", "results", "clean")
    study = tmp_path / "results" / "clean" / "study.yaml"
    for document in studies():
        study.write_text(yaml.safe_dump(document))
        look("run", study, "--dry-run")
        look("status", study, "--store", "s.sqlite")
        look("results", "validate", study.parent, "--sample", 0)
        look("results", "freeze", study.parent, "--commit", "0")
        assert not canary.sings, document


def test_looking_at_records_runs_nothing_that_they_name(canary, tmp_path):
    robustssl.run(STUDY, "s.sqlite", workers=1, progress=False)
    submit(STUDY, "s.sqlite", "results", "clean")
    with robustssl.Store("s.sqlite") as store:
        good = list(store.records())
    record = good[0]
    hostile = [
        replace(record, cell=replace(record.cell, **{field[:-1]: name}))
        for field, name in FIELDS
        if "[" not in name or field != "algorithms"
    ]
    params = (("net", "canary_module:Net"),)
    hostile.append(
        replace(record, cell=replace(record.cell, algorithm="mean_teacher", params=params))
    )
    for name in ("canary_module:Mine", *CALLS):
        method = Method(name, name, baseline=name)
        hostile.append(replace(record, method=method, provenance={"data": {"name": name}}))
    pack([*good, *hostile], tmp_path / "results" / "clean" / "records.jsonl.gz")
    (tmp_path / "lines.jsonl").write_text("".join(r.to_json() + "\n" for r in hostile))
    for words in (
        ["import", "lines.jsonl", "--store", "s.sqlite"],
        ["status", "--store", "s.sqlite"],
        ["report", "--store", "s.sqlite", "--out", "report"],
        ["site", "pages", "--store", "s.sqlite"],
        ["metrics", "s.sqlite"],
        ["export", "table.csv", "--store", "s.sqlite"],
        ["store", "check", "--store", "s.sqlite"],
        ["store", "merge", "s.sqlite", "--store", "other.sqlite"],
        ["list", "algorithms"],
        ["results", "validate", "results/clean", "--sample", 99],
    ):
        said = look(*words)
        assert not canary.sings, words
    assert "canary_module:Mine" in said
    assert "cannot be checked" in said


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("field", HOSTILE)
def test_a_run_calls_nothing_but_what_it_knows(canary, field, call):
    said = look("run", _written({**STUDY, field: [call]}), "--store", "s.sqlite")
    assert f"is no {field[:-1]}" in said
    assert not canary.sings


def test_a_run_imports_what_its_study_names(canary):
    robustssl.run({**STUDY, "algorithms": ["canary_module:Mine"]}, "s.sqlite", progress=False)
    assert canary.sings


def test_what_is_not_trusted_is_not_counted_and_named(canary):
    study = _written({**STUDY, "algorithms": ["supervised_logistic", "canary_module:Mine"]})
    said = look("run", study, "--dry-run")
    assert "2 cells" in said
    assert "Not counted: canary_module:Mine" in said
    assert "--trust canary_module" in said
    said = look("run", study, "--dry-run", "--trust", "canary_module")
    assert "4 cells" in said
    assert "Not counted" not in said


def test_what_the_command_line_names_is_trusted(canary):
    said = look("run", _written(STUDY), "--dry-run", "--algorithm", "canary_module:Mine")
    assert "4 cells" in said


def test_a_status_counts_what_is_trusted(canary):
    study = {**STUDY, "algorithms": ["supervised_logistic", "canary_module:Mine"]}
    robustssl.run(study, "s.sqlite", workers=1, progress=False)
    for cached in (registry.find, registry.about):
        cached.cache_clear()  # as in a new process
    path = _written(study)
    said = look("status", path, "--store", "s.sqlite")
    assert "2 cells: 2 done" in said
    assert "Not counted: canary_module:Mine" in said
    assert "4 cells: 4 done" in look(
        "status", path, "--store", "s.sqlite", "--trust", "canary_module"
    )


def test_a_submission_carries_its_code_and_its_files(canary, tmp_path, monkeypatch):
    frame = robustssl.dataset("iris")
    rows = [",".join(map(str, [*x, y])) for x, y in zip(frame.X, frame.y, strict=True)]
    Path("mine.csv").write_text("\n".join(["a,b,c,d,kind", *rows]) + "\n")
    data = "table[path=mine.csv,target=kind]"
    study = {**STUDY, "algorithms": ["canary_module:Mine", "supervised_logistic"], "datasets": data}
    robustssl.run(study, "s.sqlite", workers=1, progress=False)
    said = look("submit", _written(study), "--store", "s.sqlite", "--out", "results")
    assert "It carries code/canary_module.py, files/mine.csv" in said
    place = tmp_path / "results" / "study"
    told = yaml.safe_load((place / "study.yaml").read_text())
    assert told["trust"] == ["canary_module"]
    assert told["command"].startswith("cd study/files && PYTHONPATH=../code robustssl run")
    # A reviewer has the submission alone.
    for left in ("canary_module.py", "mine.csv"):
        Path(left).unlink()
    sys.modules.pop("canary_module")
    for cached in (registry.find, registry.about):
        cached.cache_clear()
    canary.touched.unlink()
    (problem,) = validate(place)
    assert problem.startswith("2 records cannot be checked: they are of canary_module:Mine")
    assert not canary.sings
    assert validate(place, trust=["canary_module"]) == []
    assert canary.sings
    assert "canary_module" not in sys.modules  # it ran in a process of its own
    # Its own command runs it again.
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([*sys.path]))
    command = told["command"].replace("PYTHONPATH=", "PYTHONPATH=$PYTHONPATH:")
    command = command.replace("robustssl run", f"{sys.executable} -m robustssl run")
    assert os.system(f"cd {tmp_path / 'results'} && {command} --dry-run --trust canary_module") == 0


def test_what_a_submission_lacks_is_said(tmp_path, canary):
    data = f"table[path={tmp_path / 'far.csv'},target=kind]"
    (tmp_path / "far.csv").write_text("a,kind\n" + "".join(f"{i},{i % 3}\n" for i in range(90)))
    study = {**STUDY, "datasets": data, "labels": 3}
    robustssl.run(study, "s.sqlite", workers=1, progress=False)
    said = look("submit", _written(study), "--store", "s.sqlite", "--out", "results")
    assert "It does not carry" in said
    assert "far.csv" in said


def test_the_studies_of_submissions_can_be_run():
    """Or they are frozen: then their cells are listed, and options may be gone."""
    found = list(Path(__file__).parents[1].glob("results/**/study.yaml"))
    assert all("frozen" in read_study(path) or read(path).algorithms for path in found)
    assert found


def _written(study):
    path = Path("study.yaml")
    path.write_text(json.dumps(study))
    return path
