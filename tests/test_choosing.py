"""Reports of a search: a rule is a report, and never a run."""

import numpy as np
import pandas as pd
import pytest
from conftest import here
from searched import noise, searched
from typer.testing import CliRunner

import robustssl
from robustssl import InputError
from robustssl.analysis.rules import able, side_by_side, tiers
from robustssl.analysis.selection import select
from robustssl.analysis.worth import worth
from robustssl.cli import app
from robustssl.records.frame import successes, with_versions
from robustssl.reports import choose

STUDY = {
    "algorithms": ["supervised_logistic", "self_training"],
    "environments": "label",
    "datasets": ["wine", "toy:ten"],
    "labels": [2, 4],
    "ts": [0, 1],
    "seeds": 3,
    "configurations": 3,
    "cross_validate": True,
}


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    place = tmp_path_factory.mktemp("search") / "s.sqlite"
    with here():
        found = robustssl.run(STUDY, place, workers=1, progress=False)
    assert found.failed == 0
    return place


@pytest.fixture(scope="module")
def frame(store):
    with robustssl.Store(store) as opened:
        return successes(with_versions(opened.frame()))


def test_a_report_of_a_search_is_of_the_defaults_unless_a_rule_is_named(
    store, frame, tmp_path, no_figures
):
    robustssl.report(store, tmp_path / "plain")
    table = pd.read_csv(tmp_path / "plain" / "table.csv")
    assert set(table.algorithm) == {"supervised_logistic", "self_training"}
    usual = frame[(frame.configuration == 0) & (frame.method == "self_training")]
    mean = usual.groupby(["dataset", "labels", "t"]).accuracy.mean().unstack("t").mean(axis=1)
    mine = table[table.algorithm == "self_training"].set_index(["dataset", "labels"]).AUC
    assert mine.to_dict() == pytest.approx(mean.to_dict())


def test_the_numbers_of_a_rule_are_those_of_the_records_it_chose(
    store, frame, tmp_path, no_figures
):
    robustssl.report(store, tmp_path / "cv", rule="cv")
    table = pd.read_csv(tmp_path / "cv" / "table.csv")
    best = frame.sort_values(
        ["cv_accuracy", "cv_log_loss", "configuration"], ascending=[False, True, True]
    ).drop_duplicates(["method", "dataset", "labels", "t", "seed"])
    mean = best.groupby(["method", "dataset", "labels", "t"]).accuracy.mean().unstack("t")
    mine = table.set_index(["algorithm", "dataset", "labels"]).AUC
    assert mine.to_dict() == pytest.approx(mean.mean(axis=1).to_dict())


def test_the_page_tells_rules_labels_and_decisions(store, tmp_path, no_figures):
    robustssl.report(store, tmp_path / "r", rule="cv+abstain")
    page = (tmp_path / "r" / "table.md").read_text()
    for title in ("How settings are chosen", "Gains in labels", "Decisions"):
        assert f"## {title}" in page
    assert "| oracle" in page
    assert "- rankme, agreement: cannot choose for most methods here" in page
    assert "always self_training" in page


def test_rules_are_compared_on_what_all_of_them_have(frame):
    rules = able(frame)
    assert {"default", "cv", "cv+abstain", "oracle", "confidence", "bnm"} <= {*rules}
    assert "transfer" not in rules
    table, said = side_by_side(frame, rules)
    assert said == []
    assert len(table) == 2 * len(rules)
    without = frame.assign(cv_accuracy=float("nan"))
    assert "cv" not in able(without)


def test_methods_that_differ_surely_are_in_different_tiers(frame):
    chosen = select(frame, "default")
    same = tiers(chosen)
    assert sorted(name for tier in same for name in tier) == [
        "self_training",
        "supervised_logistic",
    ]
    worse = chosen.assign(
        accuracy=chosen.accuracy - 0.5 * (chosen.algorithm == "supervised_logistic")
    )
    assert tiers(worse) == [["self_training"], ["supervised_logistic"]]


def test_a_method_that_hides_a_t_is_in_no_tier_and_has_no_worth():
    def scores(method, t, seed, **cell):
        sinks = 0.9 - 0.8 * min(t, 0.5) if method == "vat" else 0.8 - 0.2 * t
        return {"accuracy": sinks + 0.01 * noise(method, seed)}

    frame = searched(scores, methods=("fixmatch", "vat"), labels=(2, 4), configurations=1)
    whole, hidden = (select(f, "default") for f in (frame, frame[~hides(frame)]))
    assert tiers(whole)[-1] == ["vat"]
    assert "vat" not in {name for tier in tiers(hidden) for name in tier}
    assert "vat" in {*worth(whole).method}
    assert "vat" not in {*worth(hidden).method}


def hides(frame):
    return (frame.method == "vat") & (frame.t == 0.5)


def test_methods_without_a_common_task_are_not_told_to_be_alike(frame):
    chosen = select(frame, "default")
    one = (chosen.method == "self_training") == (chosen.labels == 2)
    assert tiers(chosen[one]) == []


def test_a_score_of_one_method_or_a_lone_seed_takes_no_other_rule_away(frame):
    every = {*able(frame)}
    lone = frame.assign(rankme=np.where(frame.method == "self_training", 2.0, np.nan))
    assert {*able(lone)} == every
    assert {*able(frame[frame.seed == 0])} == every - {"oracle"}
    no_baseline = frame[frame.method == "self_training"]
    rules = able(no_baseline)
    assert {*rules} == every - {"cv+abstain"}
    table, _ = side_by_side(no_baseline, rules)
    assert table.gain.isna().all()
    assert all(value.high <= 1 for value in side_by_side(frame, able(frame))[0].accuracy)


def test_the_oracle_has_no_rank_anywhere(store, tmp_path):
    files = robustssl.report(store, tmp_path / "r", rule="oracle")
    table = pd.read_csv(tmp_path / "r" / "table.csv")
    assert table["rank"].isna().all()
    assert table.best.isna().all()
    assert "ranks.png" not in {file.name for file in files}
    page = (tmp_path / "r" / "table.md").read_text()
    assert "saw test rows: no rank" in page
    assert "nan was not run" not in page


def test_transfer_is_chosen_on_some_datasets_and_ranked_on_others(store, tmp_path, no_figures):
    file = tmp_path / "choices.json"
    made = choose(store, file, only=["dataset=toy:ten"])
    assert {choice.method for choice in made.made} == {"supervised_logistic", "self_training"}
    robustssl.report(store, tmp_path / "r", only=["dataset=wine"], rule="transfer", choices=file)
    assert set(pd.read_csv(tmp_path / "r" / "table.csv").dataset) == {"wine"}
    with pytest.raises(InputError, match="settings were chosen on ten"):
        robustssl.report(store, tmp_path / "r", rule="transfer", choices=file)
    file.write_text(file.read_text().replace('"configuration": ', '"configuration": 1'))
    with pytest.raises(InputError, match="altered"):
        robustssl.report(store, tmp_path / "r", rule="transfer", choices=file)


def test_the_command_line_speaks_of_rules(store, tmp_path, no_figures):
    runner = CliRunner()
    call = ["report", "--store", str(store), "--out", str(tmp_path / "r"), "--rule"]
    assert runner.invoke(app, [*call, "cv"]).exit_code == 0
    wrong = runner.invoke(app, [*call, "cw"])
    assert wrong.exit_code != 0
    chosen = runner.invoke(
        app, ["choose", "--store", str(store), "--out", str(tmp_path / "c.json")]
    )
    assert chosen.exit_code == 0
    assert "tabular, self_training: number" in chosen.output
