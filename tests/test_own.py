"""Things of one's own: the examples run, entry points are found, failures are explained."""

import sys
from dataclasses import replace
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

import robustssl
from robustssl import checks, registry
from robustssl.environments import Environment
from robustssl.studies import changes
from robustssl.studies import study as studies

EXAMPLES = Path(__file__).parent.parent / "examples"


@pytest.fixture(autouse=True)
def _in_the_folder(monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLES)


@pytest.mark.parametrize(
    "name",
    [
        "own_algorithm:NeighbourVote",
        pytest.param("own_deep_algorithm:EntropyMinimization", marks=pytest.mark.slow),
    ],
)
def test_the_algorithms_of_the_examples_keep_every_contract(name):
    found = dict(checks.check_algorithm(name))
    assert {promise: reason for promise, reason in found.items() if reason} == {}


def test_the_environment_and_the_dataset_of_the_examples_keep_theirs():
    found = dict(checks.check_environment("own_environment:LargeValues", "wine"))
    found |= dict(checks.check_dataset("own_dataset:rings"))
    assert len(found) > 10
    assert {promise: reason for promise, reason in found.items() if reason} == {}


def test_the_study_of_the_examples_runs(tmp_path):
    got = robustssl.run(
        EXAMPLES / "own_study.yaml", tmp_path / "s.sqlite", workers=1, progress=False
    )
    assert (got.done, got.failed) == (4 * 2 * 2 * 6 * 3, 0)


def test_the_examples_are_short():
    for file in EXAMPLES.glob("own_*.py"):
        assert len(file.read_text().splitlines()) < 40


def test_one_more_algorithm_comes_with_its_baseline():
    mine = "own_algorithm:NeighbourVote[trust=0.9]"
    study = changes.with_algorithms("quickstart", [mine, "tsvm"])
    assert study.baselines == ["supervised_svm"]
    assert list(study.methods)[-3:] == [mine, "tsvm", "supervised_svm"]
    assert len(study.methods) == 8 + 3
    assert changes.with_algorithms("quickstart", []) == studies.study("quickstart")


@pytest.fixture
def offered(monkeypatch):
    """A package that is installed offers an algorithm, and one under a name that is taken."""
    points = [
        EntryPoint("vote", "own_algorithm:NeighbourVote", "robustssl.algorithms"),
        EntryPoint("tsvm", "own_algorithm:NeighbourVote", "robustssl.algorithms"),
    ]
    caches = (registry.names, registry.find, registry.lookup.entry_points)
    monkeypatch.setattr(
        "importlib.metadata.entry_points",
        lambda group: points if group == "robustssl.algorithms" else [],
    )
    for cached in caches:
        cached.cache_clear()
    yield
    for cached in caches:
        cached.cache_clear()


def test_an_installed_package_offers_names(offered, tmp_path, small, in_process):
    assert "vote" in registry.names("algorithm")
    assert registry.algorithm("vote").__name__ == "NeighbourVote"
    assert registry.algorithm("tsvm").__name__ == "TSVM"  # what comes with robustssl stays
    assert any(row["name"] == "vote" for row in registry.catalog("algorithm"))
    got = robustssl.run(
        {**small, "algorithms": "vote", "seeds": 1}, tmp_path / "s.sqlite", workers=1
    )
    assert got.done == 6 + 6  # with its baseline
    assert registry.matched_baseline("vote[trust=0.9]") == "supervised_logistic"


def test_reports_and_status_never_import_what_a_record_names(tmp_path):
    """A store may come from somebody else, with a module that must not be run."""
    cell = robustssl.Cell("antigravity:Mine", "label", "wine", 5, 0.0, 0)
    records = [
        robustssl.Record(
            replace(cell, t=t, seed=seed),
            (1, Environment.version, 1),
            scores={"accuracy": 0.5 + t / 9},
        )
        for t in (0.0, 1.0)
        for seed in (0, 1)
    ]
    with robustssl.Store(tmp_path / "s.sqlite") as store:
        store.add_all(records)
    robustssl.status(tmp_path / "s.sqlite")
    robustssl.report(tmp_path / "s.sqlite", tmp_path / "report")
    robustssl.site(tmp_path / "s.sqlite", tmp_path / "site")
    assert "antigravity" not in sys.modules
    page = (tmp_path / "report" / "table.md").read_text()
    assert "its records do not say what its baseline is" in page
