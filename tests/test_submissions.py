"""Submissions: what is sound passes, what was altered is refused with a sentence."""

import gzip
import json
import shutil

import pytest
import yaml

import robustssl
from robustssl import InputError
from robustssl.cell import cell_key
from robustssl.checks.submissions import submit
from robustssl.checks.validation import freeze, validate
from robustssl.records.documents import sha256_of


@pytest.fixture(scope="module")
def submission(tmp_path_factory):
    pytest.importorskip("torch")
    top = tmp_path_factory.mktemp("submission")
    study = {
        "title": "Mine",
        "algorithms": ["supervised_kernel", "label_spreading", "supervised_net[steps=5]"],
        "environments": ["label", "feature"],
        "datasets": ["iris"],
        "labels": [3],
        "seeds": 3,
    }
    robustssl.run(study, top / "s.sqlite", workers=1, progress=False)
    return submit(study, top / "s.sqlite", top / "results")


@pytest.fixture
def copy(submission, tmp_path):
    """The lines of a submission, to be altered, and what is said of them."""
    lines = gzip.decompress((submission / "records.jsonl.gz").read_bytes()).decode().splitlines()
    (tmp_path / "study.yaml").write_text((submission / "study.yaml").read_text())

    def said(lines, **how):
        text = "".join(line + "\n" for line in lines)
        (tmp_path / "records.jsonl.gz").write_bytes(gzip.compress(text.encode()))
        return validate(tmp_path, **{"random_state": 0, **how})

    return lines, said


def altered(line, forge=True, **changes):
    """A line with other values; forged, with the digest that belongs to them."""
    document = json.loads(line)
    for name, value in changes.items():
        inner = document
        *path, last = name.split("__")
        for part in path:
            inner = inner[part]
        inner[last] = value
    if forge:
        document.pop("sha256")
        document["sha256"] = sha256_of(document)
    return json.dumps(document)


def test_a_sound_submission_passes_every_cell_run_again(submission):
    assert validate(submission, sample=1000) == []
    document = yaml.safe_load((submission / "study.yaml").read_text())
    assert document["command"] == "robustssl run mine/study.yaml"


def test_one_altered_score_one_missing_seed_and_one_wrong_split_are_each_a_sentence(copy):
    lines, said = copy
    cells = [json.loads(line)["cell"] for line in lines]
    where = next(i for i, c in enumerate(cells) if c["algorithm"] == "label_spreading")
    other = next(
        i for i, c in enumerate(cells) if i > where and c["algorithm"] == "label_spreading"
    )
    lines[where] = altered(lines[where], scores__accuracy=0.123)
    lines[other] = altered(lines[other], provenance__split_digest="0" * 32)
    gone = {"algorithm": "supervised_kernel", "environment": "label", "seed": 2}
    lines = [
        line for line, cell in zip(lines, cells, strict=True) if not gone.items() <= cell.items()
    ]
    problems = said(lines, sample=1000)
    assert len(problems) == 3
    curve = "supervised_kernel on iris in label (3 labels)"
    assert problems[0] == f"6 cells of {curve} are missing: seeds 2, t = 0, 0.2, 0.4, 0.6, 0.8, 1"
    assert "was run on another split: 000" in problems[1]
    assert "has the accuracy 0.123, and" in problems[2]


def test_nets_may_differ_by_the_noise_of_another_device_and_no_more(copy):
    lines, said = copy

    def shifted(amount, every):
        changed, left = [], every
        for line in lines:
            document = json.loads(line)
            if document["cell"]["algorithm"] == "supervised_net" and left:
                lower = document["scores"]["accuracy"] - amount
                line, left = altered(line, scores__accuracy=lower), left - 1
            changed.append(line)
        return said(changed, sample=1000)

    assert shifted(0.2, every=1) == []
    (problem,) = shifted(0.3, every=1)
    assert "t = 0, seed 0) has the accuracy" in problem
    problems = shifted(0.05, every=36)
    assert problems
    assert all("on average, and" in problem for problem in problems)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"scores__accuracy": 1.5}, "between 0 and 1"),
        ({"scores__accuracy": 0.5, "forge": False}, "was altered: its digest does not fit it"),
        ({"provenance__machine": "other", "forge": False}, "was altered"),
        ({"method__supervised": True, "forge": False}, "was altered"),
        ({"method__supervised": "yes"}, "supervised of a method cannot be 'yes'"),
        ({"key": "0" * 32}, "does not belong to the cell"),
        ({"cell__t": 0.3}, "does not belong to the cell"),
        ({"error": "ValueError: no"}, "failed: ValueError: no"),
    ],
)
def test_what_else_is_refused(copy, change, sentence):
    lines, said = copy
    lines[0] = altered(lines[0], **change)
    assert any(sentence in problem for problem in said(lines, sample=0))


def test_a_cell_twice_or_of_another_study(copy, submission, tmp_path):
    lines, said = copy
    assert any("is there 2 times" in problem for problem in said([*lines, lines[0]], sample=0))
    document = yaml.safe_load((tmp_path / "study.yaml").read_text())
    (tmp_path / "study.yaml").write_text(yaml.safe_dump({**document, "seeds": [0, 1]}))
    assert sum("is not of the study" in problem for problem in said(lines, sample=0)) == 36


def test_old_code_is_refused_unless_the_submission_is_frozen(copy, correct, tmp_path):
    """What is frozen is compared with the list of its cells; only what is current is run again."""
    lines, said = copy
    assert said(lines, sample=0) == []
    with pytest.raises(InputError, match="name the commit"):
        freeze(tmp_path, "abc-dirty")
    freeze(tmp_path, "abc")
    with pytest.raises(InputError, match="frozen already, at abc"):
        freeze(tmp_path, "abd")
    (tmp_path / "frozen.yaml").write_text((tmp_path / "study.yaml").read_text())
    correct("label_spreading", 99)
    told = []
    assert said(lines, sample=1000, tell=told.append) == []
    assert told == ["frozen at abc: 72 of 108 records are of the present versions"]
    without = [line for line in lines if json.loads(line)["cell"]["seed"] != 2]
    assert sum("are missing: seeds 2" in problem for problem in said(without, sample=0)) == 6
    where = next(i for i, line in enumerate(lines) if '"label_spreading"' in line)
    mixed = json.loads(lines[where])
    cell = robustssl.Record.from_json(lines[where]).cell
    mixed |= {"versions": [99, 3, 1], "key": cell_key(cell, (99, 3, 1))}
    changed = [*lines[:where], altered(json.dumps(mixed)), *lines[where + 1 :]]
    assert any("mixes the versions [(3, 3, 1), (99, 3, 1)]" in p for p in said(changed, sample=0))
    document = yaml.safe_load((tmp_path / "frozen.yaml").read_text())
    thawed = {k: v for k, v in document.items() if k not in ("frozen", "cells")}
    (tmp_path / "study.yaml").write_text(yaml.safe_dump(thawed))
    problems = said(lines, sample=0)
    assert any("is of the versions (3, 3, 1), now (99, 3, 1)" in p for p in problems)
    (tmp_path / "study.yaml").write_text(yaml.safe_dump({**document, "cells": [{"methods": 3}]}))
    assert "cannot read the cells" in said(lines)[0]


@pytest.fixture(scope="module")
def search(tmp_path_factory):
    top = tmp_path_factory.mktemp("search")
    study = {
        "algorithms": ["supervised_kernel", "label_spreading"],
        "environments": "label",
        "datasets": "iris",
        "labels": 3,
        "ts": [0, 1],
        "seeds": 1,
        "configurations": 3,
        "cross_validate": True,
    }
    robustssl.run(study, top / "s.sqlite", workers=1, progress=False)
    return submit(study, top / "s.sqlite", top / "results", "search")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"configuration": 2}, "say that their method is label_spreading, configuration 2, which"),
        ({"configuration": None}, "say that their method is label_spreading, which is label_sprea"),
        ({"configuration": -1}, "configurations have the numbers 0 to 9,999, got -1"),
        ({"configuration": 10**9}, "configurations have the numbers 0 to 9,999, got 1000000000"),
        ({"name": "supervised_logistic"}, "supervised_logistic, configuration 1, which is superv"),
        ({"name": "nobody"}, "unknown algorithm 'nobody'"),
        ({"baseline": "supervised_logistic"}, "with the baseline supervised_logistic, not superv"),
        ({"supervised": True}, "with the supervised True, not False"),
        ({"spec": "label_spreading"}, "with the spec label_spreading, not label_spreading["),
    ],
)
def test_a_configuration_must_be_the_one_drawn_for_its_number(search, tmp_path, change, sentence):
    lines = gzip.decompress((search / "records.jsonl.gz").read_bytes()).decode().splitlines()
    document = yaml.safe_load((search / "study.yaml").read_text())
    (tmp_path / "study.yaml").write_text(yaml.safe_dump(document))

    def said(lines):
        text = "".join(line + "\n" for line in lines)
        (tmp_path / "records.jsonl.gz").write_bytes(gzip.compress(text.encode()))
        return validate(tmp_path, sample=0)

    assert said(lines) == []
    tampered = []
    for line in lines:
        method = json.loads(line)["method"]
        if (method["name"], method["configuration"]) == ("label_spreading", 1):
            method = {k: v for k, v in {**method, **change}.items() if v is not None}
            line = altered(line, method=method)
        tampered.append(line)
    problems = said(tampered)
    assert any(problem.startswith("2 records of label_spreading[") for problem in problems)
    assert any(sentence in problem for problem in problems)


@pytest.mark.parametrize(
    ("criterion", "value"), [("cv_accuracy", 0.123), ("cv_log_loss", 0.9), ("bnm", 0.123)]
)
def test_criteria_by_which_settings_are_chosen_are_run_again(search, tmp_path, criterion, value):
    """Else whoever has seen the test scores chooses by writing accuracies out of fold."""
    shutil.copytree(search, tmp_path / "s")
    assert validate(tmp_path / "s", sample=1000) == []
    file = tmp_path / "s" / "records.jsonl.gz"
    first, *others = gzip.decompress(file.read_bytes()).decode().splitlines()
    forged = altered(first, **{f"scores__{criterion}": value})
    file.write_bytes(gzip.compress("".join(f"{line}\n" for line in [forged, *others]).encode()))
    (problem,) = validate(tmp_path / "s", sample=1000)
    assert f"has the {criterion} {value}, and" in problem


def test_of_older_versions_nobody_knows_what_was_drawn(search, correct, tmp_path):
    shutil.copytree(search, tmp_path / "s")
    freeze(tmp_path / "s", "abc")
    correct("label_spreading", 99)
    told = []
    assert validate(tmp_path / "s", sample=0, tell=told.append) == []
    assert told[1:] == [
        "whether 4 records of other versions have the settings drawn for the numbers of their "
        "configurations is not known"
    ]


def test_records_without_a_digest_are_refused(copy):
    lines, said = copy
    document = json.loads(lines[0])
    document.pop("sha256")
    (problem,) = said([json.dumps(document), *lines[1:]], sample=0)
    assert "has no digest" in problem


def test_a_study_that_is_not_done_is_not_submitted(submission, tmp_path, small):
    robustssl.run({**small, "seeds": 1}, tmp_path / "s.sqlite", workers=1, progress=False)
    with pytest.raises(InputError, match="36 of 48 cells have no success"):
        submit(small, tmp_path / "s.sqlite", tmp_path, "mine")
    with pytest.raises(InputError, match="give the submission a name"):
        submit({**small, "seeds": 1}, tmp_path / "s.sqlite", tmp_path)
    place = submit({**small, "seeds": 1}, tmp_path / "s.sqlite", tmp_path, "mine")
    with pytest.raises(InputError, match="is there already"):
        submit({**small, "seeds": 1}, tmp_path / "s.sqlite", tmp_path, "mine")
    assert validate(place, sample=3) == []
    assert "lacks study.yaml" in validate(tmp_path)[0]


def test_a_leaderboard_is_made_of_submissions(submission, tmp_path):
    page = robustssl.site(submission.parent, tmp_path / "site")
    assert "108 trained models" in page.with_name("about.html").read_text()


def test_a_damaged_file_is_told(submission, tmp_path):
    (tmp_path / "study.yaml").write_text((submission / "study.yaml").read_text())
    whole = (submission / "records.jsonl.gz").read_bytes()
    for bytes_ in (whole[:-20], b"not packed"):
        (tmp_path / "records.jsonl.gz").write_bytes(bytes_)
        (problem,) = validate(tmp_path)
        assert "cannot read" in problem
        assert "records.jsonl.gz" in problem


@pytest.mark.parametrize("name", ["../../x", "..", "a/b", "/x", "x\x1b"])
def test_a_submission_stays_in_its_folder(submission, tmp_path, name):
    store = submission.parents[1] / "s.sqlite"
    study = yaml.safe_load((submission / "study.yaml").read_text())
    study.pop("command")
    with pytest.raises(InputError, match="must be that of one folder"):
        submit(study, store, tmp_path / "out", name)
    assert list(tmp_path.rglob("*")) == []


@pytest.mark.parametrize(
    "content",
    [
        b"datasets: [iris",
        b"title: \xff\xfe",
        b"datasets: " + b"[" * 5000,
        b"datasets: " + b"[" * 300 + b"]" * 300,
        b"parts: " + b"[{parts: " * 300 + b"[]" + b"}]" * 300,
        b"datasets: &a [*a]",
        b"parts: &a [{parts: *a}]",
        b"- 1",
        b"1: 2",
        b"title: \x00",
        b"frozen: x\ncells: " + b"[" * 300 + b"]" * 300,
        b"frozen: x\ncells: &a [*a]",
        b"title: 2001-99-99",
        b"? [a, b]\n: c",
        b"? {a: b}\n: c",
        b"!!python/object/apply:os.system [x]",
    ],
)
def test_a_study_that_cannot_be_read_is_a_sentence(submission, tmp_path, content):
    (tmp_path / "records.jsonl.gz").write_bytes((submission / "records.jsonl.gz").read_bytes())
    (tmp_path / "study.yaml").write_bytes(content)
    (problem, *_) = validate(tmp_path, sample=0)
    assert len(problem) < 2000
