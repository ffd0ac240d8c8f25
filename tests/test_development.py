"""The development tasks, and the settings that were chosen on them."""

import json
from pathlib import Path

import pandas as pd
import pytest

from robustssl import InputError
from robustssl.analysis.choices import Choices, choose
from robustssl.analysis.selection import select
from robustssl.registry.searches import configured
from robustssl.spec import parse
from robustssl.studies.files import named
from robustssl.studies.study import study

FOLDER = Path(__file__).parents[1] / "results" / "development"
FILE = FOLDER / "choices.json"
BUDGETS = {"tabular": "table", "image": "vectors", "text": "vectors"}
# What is ranked, and by what other names its rows go.
RANKED = {
    *("letter", "covertype", "electricity", "weather", "adult", "bank", "penbased", "cifar10"),
    *("handwriting", "digits", "imdb_amazon", "movie_reviews", "newsgroups"),
}


@pytest.fixture(scope="module")
def chosen():
    return Choices.read(FILE)


@pytest.fixture(scope="module")
def scores():
    return pd.read_csv(FOLDER / "scores.csv.gz")


def test_development_tasks_are_three_of_each_kind_in_four_environments(chosen, scores):
    tasks = scores[["data", "environment", "dataset"]].drop_duplicates()
    assert tasks.data.value_counts().to_dict() == {"tabular": 3, "image": 3, "text": 3}
    assert {parse(e)[0] for e in tasks.environment} == {"distribution", "label", "feature", "prior"}
    assert {task for _, task in study("development").curves()} == set(chosen.tasks)
    assert "bbc_news" in chosen.datasets


def test_development_tasks_share_no_dataset_with_a_ranked_task(chosen):
    seasons = [name for name in named() if name.startswith(("leaderboard", "season"))]
    ranked = {parse(spec)[0] for name in seasons for spec in study(name).datasets}
    first_season = {"bbc_news"}  # ranked once, and since then a development task
    assert not RANKED.union(ranked - first_season) & set(chosen.datasets)
    assert {parse(spec)[0] for spec in study("development").datasets} == set(chosen.datasets)


@pytest.mark.filterwarnings("ignore:.*one try")
def test_the_committed_scores_give_the_committed_choices(chosen, scores):
    assert choose(scores) == chosen


def test_an_altered_file_of_choices_is_refused(tmp_path):
    document = json.loads(FILE.read_text())
    document["made"][0]["configuration"] += 1
    (tmp_path / "choices.json").write_text(json.dumps(document))
    with pytest.raises(InputError, match="were altered"):
        Choices.read(tmp_path / "choices.json")


def test_the_settings_are_those_that_a_study_draws_today(chosen):
    for choice in chosen.made:
        assert choice.tries in (1, 16)
        drawn = configured(choice.method, BUDGETS[choice.data], choice.configuration)
        assert drawn == choice.setting


def test_transfer_takes_the_chosen_settings_on_another_dataset(chosen, scores):
    frame = scores[scores.environment.str.startswith("label") & (scores.data == "tabular")]
    frame = frame.assign(dataset="letter", drawn="letter")
    found = select(frame, "transfer", choices=chosen)
    settings = found.groupby("method").setting.unique().map(list).to_dict()
    made = {c.method: [c.setting] for c in chosen.made if c.data == "tabular"}
    assert settings == made
    with pytest.raises(InputError, match="settings were chosen on satimage"):
        select(scores[scores.drawn == "satimage"], "transfer", choices=chosen)
