"""The pilot of the second season: what it holds, and that each page has records to show."""

import os
import pickle
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
import yaml

from robustssl import registry
from robustssl.analysis.rules import able
from robustssl.checks import repetition
from robustssl.checks.submissions import Submission
from robustssl.records.files import read_frame, read_records
from robustssl.records.frame import successes, with_versions
from robustssl.spec import parse
from robustssl.studies.study import study

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "results" / "pilot"


@pytest.fixture(scope="module")
def frame():
    return successes(with_versions(read_frame(FOLDER)))


def test_the_records_are_those_of_the_study_and_small(frame):
    cells = set(study("season2-pilot").cells())
    assert Submission.read(FOLDER).cells == cells
    assert len(frame) == len(cells) == 5940
    assert (FOLDER / "records.jsonl.gz").stat().st_size < 2e6


def test_six_tasks_of_three_kinds_of_data_in_four_environments():
    tasks = {(task.environment, task.dataset) for _, task in study("season2-pilot").curves()}
    assert len(tasks) == 6
    environments = {parse(environment)[0] for environment, _ in tasks}
    assert environments == {"distribution", "label", "feature", "prior"}
    kinds = [registry.about("dataset", parse(dataset)[0]).data for _, dataset in tasks]
    assert {kind: kinds.count(kind) for kind in kinds} == {"tabular": 2, "image": 2, "text": 2}


def test_eight_methods_whose_baselines_are_there(frame):
    methods = study("season2-pilot").methods.values()
    names = {parse(method.spec)[0] for method in methods if not method.supervised}
    assert len(names) == 8
    baselines = {parse(method.baseline)[0] for method in methods if method.baseline}
    assert baselines == {parse(method.spec)[0] for method in methods if method.supervised}
    assert set(frame.labels) == {4, 25}
    assert set(frame.configuration) == {0, 1, 2}


def test_three_rules_can_choose_and_both_populations_are_known(frame):
    assert {"default", "cv", "cv+abstain"} <= set(able(frame, None))
    known = frame.groupby("environment").accuracy_there.count() > 0
    there = {parse(environment)[0] for environment in known[known].index}
    assert there == {"distribution", "prior"}  # elsewhere no labeled class is set aside


def test_another_machine_may_round_vectors_otherwise(frame, monkeypatch):
    """A record of a statistical method behind an encoder need not be the same to the last bit."""
    records = {r.cell: r for r in read_records(FOLDER / "records.jsonl.gz")}

    def said(dataset, by):
        cell = next(
            c for c in records if c.dataset.startswith(dataset) and c.algorithm.endswith("logistic")
        )
        record = records[cell]
        scores = {name: score + by for name, score in record.scores.items()}
        monkeypatch.setattr(repetition, "run_group", lambda *_: [replace(record, scores=scores)])
        return list(repetition.not_repeated([record], 1, Random(0)))

    assert said("newsgroups", 0.01) == []
    assert said("newsgroups", 0.06) != []
    assert said("penbased", 0.01) != []
    assert said("penbased", 0.0) == []


@pytest.mark.slow
def test_the_search_plans_what_lacks_and_runs_it(tmp_path):
    """On a machine without a store, as the pilot was run."""
    pytest.importorskip("torch")
    document = {
        "algorithms": ["supervised_logistic", "supervised_net[steps=5]"],
        "environments": ["label"],
        "datasets": ["iris"],
        "labels": [3],
        "ts": [0.0, 1.0],
        "seeds": 2,
        "cross_validate": True,
    }
    (tmp_path / "study.yaml").write_text(yaml.safe_dump(document))

    def search(*words):
        command = [sys.executable, ROOT / "experiments" / "search.py", *words]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        return done.stdout

    assert "{True: 4}" in search("plan", "study.yaml", "plan.pickle", "--nets")
    search("run", "plan.pickle", "--gpu", "1", "--cpu", "0")
    [file] = (tmp_path / "records").glob("*.jsonl.gz")
    made = read_records(file)
    assert {r.cell.algorithm for r in made} == {"supervised_net"}
    assert all(r.error is None and "cv_accuracy" in r.scores for r in made)
    assert "{False: 4}" in search("plan", "study.yaml", "plan.pickle")


@pytest.mark.slow
def test_a_search_whose_processes_die_ends(tmp_path):
    plan = {"units": [], "extras": None, "commit": None}
    (tmp_path / "plan.pickle").write_bytes(pickle.dumps(plan))
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "sitecustomize.py").write_text("import sys; sys.modules['sklearn'] = None")
    command = [sys.executable, ROOT / "experiments" / "search.py", "run", "plan.pickle"]
    environment = {**os.environ, "PYTHONPATH": f"{broken}{os.pathsep}{ROOT / 'src'}"}
    done = subprocess.run(
        [*command, "--gpu", "1", "--cpu", "0"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert "Process SpawnProcess-1" in done.stderr
