"""The pages of a search: a switch of the rule, numbers of that rule, how settings are chosen."""

import re

import pandas as pd
import pytest
import yaml
from conftest import here, without_figures
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait
from site_pages import data_of, log_of, open_page, overflow, table
from typer.testing import CliRunner

import robustssl
from robustssl import Store, reports
from robustssl.cli import app

pytestmark = pytest.mark.xdist_group("browser")

STUDY = {
    "algorithms": ["supervised_logistic", "self_training", "supervised_kernel", "label_spreading"],
    "environments": ["label"],
    "datasets": ["iris", "wine"],
    "labels": [3, 6],
    "ts": [0.0, 1.0],
    "seeds": 3,
    "configurations": 3,
    "cross_validate": True,
}
FOLDERS = {
    "default": "",
    "transfer": "rule-transfer/",
    "cv": "rule-cv/",
    "cv+abstain": "rule-cv-abstain/",
    "confidence": "rule-confidence/",
    "bnm": "rule-bnm/",
    "oracle": "rule-oracle/",
}
ORACLE = "oracle (never ranked: saw test rows)"


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("rules")


@pytest.fixture(scope="module")
def store(place):
    with here():
        robustssl.run(STUDY, place / "s.sqlite", workers=1, progress=False)
    return place / "s.sqlite"


@pytest.fixture(scope="module")
def pages(store, place):
    """With the rule transfer, by choices on iris, whose tasks it has no pages of."""
    reports.choose(store, place / "choices.json", only=["dataset=iris"])
    asked = ["site", str(place / "site"), "--store", str(store)]
    done = CliRunner().invoke(app, [*asked, "--choices", str(place / "choices.json")])
    assert done.exit_code == 0, done.output
    return place / "site"


@pytest.fixture(scope="module")
def report(store, place):
    with without_figures():
        reports.report(store, place / "report", rule="cv")
    return place / "report"


@pytest.fixture
def show(browser, pages):
    """Opens a page from disk; at the end there is no error in the console."""
    log_of(browser)
    yield lambda name, **how: open_page(browser, pages, name, **how)
    assert log_of(browser)[0] == []


def switch_of(page):
    """The choices of a page: the name of a rule and where it leads, and the rule of the page."""
    control = page.read_text().partition('<select id="rule"')[2].partition("</select>")[0]
    found = re.findall(r'<option value="(\S+)"( selected)?>(.*)</option>', control)
    [here] = [name for _, selected, name in found if selected]
    return {name: way for way, _, name in found}, here


def test_every_page_leads_to_itself_under_every_rule_or_else_to_the_first_page(pages):
    seen, missed = 0, set()
    for rule, folder in FOLDERS.items():
        top = pages / folder
        for file in (
            *top.glob("*.html"),
            *top.glob("algorithms/*.html"),
            *top.glob("tasks/*.html"),
        ):
            ways, here = switch_of(file)
            assert list(ways) == [*list(FOLDERS)[:-1], ORACLE]
            assert here == (ORACLE if rule == "oracle" else rule)
            for other, way in ways.items():
                there = pages / FOLDERS[other.partition(" ")[0]]
                wanted = there / file.relative_to(top)
                if not wanted.is_file():
                    missed.add(wanted)
                    wanted = there / "index.html"
                assert (file.parent / way).resolve() == wanted.resolve()
                seen += 1
    assert seen > 400
    assert {file.parent.parent.name for file in missed} == {"rule-transfer"}
    assert all("iris" in file.name for file in missed)


def test_the_switch_keeps_the_page_the_state_and_the_focus(show, pages):
    browser = show("leaderboard.html#sort=method&labels=3")
    control = browser.find_element(By.ID, "rule")
    assert control.accessible_name == "settings chosen by"
    control.send_keys("cv", Keys.ENTER)
    wanted = (pages / "rule-cv" / "leaderboard.html").as_uri()
    WebDriverWait(browser, 60).until(lambda b: b.current_url.startswith(wanted))
    WebDriverWait(browser, 60).until(lambda b: b.find_elements(By.CSS_SELECTOR, "#ranking td"))
    assert "labels=3" in browser.current_url
    assert "sort=method" in browser.current_url
    assert browser.switch_to.active_element.get_attribute("id") == "rule"
    assert [row["method"] for row in table(browser)] == sorted(STUDY["algorithms"])


def test_numbers_of_a_rule_are_those_of_its_report(show, pages, report):
    told = pd.read_csv(report / "table.csv")
    wanted = {
        (row.dataset, row.labels, row.method): (row.AUC, row.AUC_low, row.AUC_high)
        for row in told.itertuples()
    }
    data = data_of(pages / "rule-cv")
    found = {}
    for curve in data["curves"]:
        task, method = data["tasks"][curve["task"]], data["methods"][curve["method"]]
        value, _, low, high, _ = curve["scores"]["accuracy"]["metrics"]["definition"][0]
        found[task["dataset"], task["labels"], method["name"]] = (value, low, high)
    assert found == {key: pytest.approx(x, abs=1e-6) for key, x in wanted.items()}
    default = data_of(pages)
    assert [m["name"] for m in default["methods"]] == [m["name"] for m in data["methods"]]
    assert [c["scores"] for c in default["curves"]] != [c["scores"] for c in data["curves"]]
    [task] = [t for t in data["tasks"] if (t["dataset"], t["labels"]) == ("wine", 3)]
    rows = table(show(f"rule-cv/tasks/{task['page']}"), "#numbers")
    assert {row["method"]: row["AUC"].split()[0] for row in rows} == {
        row.method: f"{row.AUC_estimate:.3f}"
        for row in told.itertuples()
        if (row.dataset, row.labels) == ("wine", 3)
    }


def test_how_settings_are_chosen_is_told_as_in_the_report(show, store, report, place):
    robustssl.site(store, place / "plain")  # without the choices of transfer, as the report
    titles = ["Decisions", "Gains in labels", "How settings are chosen"]
    titles += ["Methods that cannot be told apart", "What cross-validation saw"]
    browser = open_page(show("index.html"), place / "plain", "rule-cv/decisions.html")
    assert [h.text for h in browser.find_elements(By.TAG_NAME, "h2")] == titles
    text = (report / "table.md").read_text()
    for title in titles:
        lines = re.search(rf"## {title}\n.*?\n(\|.*?)\n(?:\n|\Z)", text, re.S)[1].splitlines()
        rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
        wanted = [dict(zip(rows[0], row, strict=True)) for row in rows[2:]]
        found = table(browser, f'[aria-label="{title}"] table')
        assert [{k: " ".join(v.split()) for k, v in row.items()} for row in found] == wanted
    first, *others = table(browser, '[aria-label="Decisions"] table')
    verdict = browser.find_element(By.CSS_SELECTOR, ".verdict").text
    assert f"Here {first['entrant']} loses least: {first['regret']}" in verdict
    [never] = [row for row in [first, *others] if row["entrant"].startswith("never")]
    assert never["regret"] in verdict
    rules = table(browser, '[aria-label="How settings are chosen"] table')
    assert [*rules[0]] == ["method", *(rule for rule in FOLDERS if rule != "transfer")]


def test_the_oracle_is_never_ranked(show):
    browser = show("rule-oracle/leaderboard.html#more=yes")
    assert "never ranked: saw test rows" in browser.find_element(By.TAG_NAME, "main").text
    said = show("rule-oracle/index.html").find_element(By.CSS_SELECTOR, "#answer .verdict").text
    assert said.startswith("No recommendation: these settings were chosen by test rows")
    assert "supervised_" not in said
    browser = show("rule-oracle/leaderboard.html#more=yes")
    assert not {"#", "mean rank"} & {*table(browser)[0]}
    browser = show("rule-cv/leaderboard.html#more=yes")
    assert "never ranked" not in browser.find_element(By.TAG_NAME, "main").text
    assert {"#", "mean rank"} < {*table(browser)[0]}
    heads = show("rule-oracle/decisions.html").find_elements(By.TAG_NAME, "h2")
    assert not {"Methods that cannot be told apart", "Decisions"} & {h.text for h in heads}


def test_records_of_a_rule_say_their_setting_and_the_study_runs_it(pages, store):
    file = "wine-unknown-classes-3-labels-a-class"
    [sheet] = (pages / "rule-cv" / "records").glob(f"{file}*.csv")
    rows = pd.read_csv(sheet)
    assert {*rows.algorithm} == {*STUDY["algorithms"]}
    assert {name.partition("[")[0] for name in rows.setting} == {*STUDY["algorithms"]}
    assert rows.setting.nunique() > rows.algorithm.nunique()
    study = yaml.safe_load(sheet.with_suffix(".yaml").read_text())
    assert study["algorithms"] == sorted(rows.setting.unique())
    with Store(store) as opened:
        before = len(opened)
        with here():
            robustssl.run(study, store, workers=1, progress=False)
        assert len(opened) == before


@pytest.mark.parametrize("width", [1280, 390])
def test_pages_of_a_rule_fit_the_screen_and_are_for_all(show, width):
    from axe_core_python.selenium import Axe

    for name in ("decisions.html", "rule-oracle/index.html", "rule-cv/decisions.html"):
        for colour in ("light", "dark"):
            browser = show(name, width=width, colour=colour)
            assert overflow(browser) == 0, name
            found = Axe().run(browser)["violations"]
            assert [v["id"] for v in found if v["impact"] in ("serious", "critical")] == []


def test_without_a_search_there_is_no_switch(tmp_path, small):
    with here():
        robustssl.run(small, tmp_path / "s.sqlite", workers=1, progress=False)
    pages = robustssl.site(tmp_path / "s.sqlite", tmp_path / "site").parent
    assert {path.name for path in pages.iterdir()} == {
        *("index.html", "leaderboard.html", "explorer.html", "methods.html", "claims.html"),
        *("about.html", "algorithms", "tasks", "records", "assets"),
    }
    for page in pages.rglob("*.html"):
        assert "decisions.html" not in page.read_text()
        assert 'id="rule"' not in page.read_text()
    for sheet in pages.rglob("*.csv"):
        assert "setting" not in pd.read_csv(sheet)


def test_a_rule_that_cannot_choose_has_no_pages_and_a_sentence(tmp_path):
    study = {**STUDY, "datasets": ["iris"], "labels": 3, "seeds": 1, "cross_validate": False}
    with here():
        robustssl.run(study, tmp_path / "s.sqlite", workers=1, progress=False)
    pages = robustssl.site(tmp_path / "s.sqlite", tmp_path / "site").parent
    assert not (pages / "rule-oracle").exists()
    assert not (pages / "rule-cv").exists()
    told = (pages / "decisions.html").read_text()
    assert "cv, cv+abstain, confidence, bnm, rankme, agreement, oracle: cannot choose" in told
    assert "Not known" in told
