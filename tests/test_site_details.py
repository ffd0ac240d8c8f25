"""Pages of methods, tasks, claims and decisions, of the leaderboard and of the pilot."""

import re
from collections import Counter
from pathlib import Path
from urllib.parse import parse_qs, urlparse

import pytest
import yaml
from scipy import stats
from selenium.webdriver.common.by import By
from site_pages import choose, data_of, log_of, open_page, overflow, overlaps, serious, table

import robustssl
from robustssl.analysis.curves import curves, matched
from robustssl.analysis.density import hat_weights
from robustssl.analysis.tasks import Part, over_tasks
from robustssl.records import catalog
from robustssl.records.results import read
from robustssl.sites.pictures import picture, picture_name

pytestmark = [pytest.mark.xdist_group("browser"), pytest.mark.slow]

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="session")
def pilot(tmp_path_factory):
    return robustssl.site(ROOT / "results" / "pilot", tmp_path_factory.mktemp("pilot")).parent


def task_pages(folder, **wanted):
    """Of the tasks with these values, their descriptions."""
    tasks = data_of(folder)["tasks"]
    return [task for task in tasks if all(task[key] == value for key, value in wanted.items())]


def texts(browser, selector):
    return [element.text for element in browser.find_elements(By.CSS_SELECTOR, selector)]


@pytest.mark.parametrize("colour", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280, 1920])
def test_pages_of_the_pilot_fit_and_are_for_all(browser, pilot, width, colour):
    names = sorted(path.name for path in pilot.glob("*.html"))
    names += ["rule-cv-abstain/decisions.html", "algorithms/iomatch.html"]
    names += ["algorithms/supervised-kernel.html", "algorithms/fixmatch.html#on=there&labels=25"]
    kinds = {task["environment"]: task["page"] for task in data_of(pilot)["tasks"]}
    names += [f"tasks/{page}" for page in kinds.values()]
    log_of(browser)
    for name in names:
        open_page(browser, pilot, name, width=width, colour=colour)
        browser.execute_script("for (const d of document.querySelectorAll('details')) d.open = 1")
        assert overflow(browser) == 0, name
        assert overlaps(browser) == [], name
        assert serious(browser) == [], name
    errors, urls = log_of(browser)
    assert errors == []
    assert [url for url in urls if not url.startswith(("file:", "data:", "about:"))] == []


def test_a_method_is_drawn_on_each_task_in_order_of_gain(browser, leaderboard):
    open_page(browser, leaderboard, "algorithms/fixmatch.html")
    ordinary = task_pages(leaderboard, access=None)
    assert len(browser.find_elements(By.CSS_SELECTOR, "#multiples svg")) == len(ordinary) == 32
    gains = [float(text.split()[0]) for text in texts(browser, "#multiples .number")]
    assert gains == sorted(gains, reverse=True)
    hidden = len(data_of(leaderboard)["tasks"]) - len(ordinary)
    assert f"Not drawn: {hidden} tasks" in browser.find_element(By.ID, "drawn").text
    rows = table(browser, "#numbers")
    assert not [row["task"] for row in rows if "oracle" in row["task"] or "ceiling" in row["task"]]
    verdict = browser.find_element(By.ID, "verdict").text
    said = [int(n) for n in re.findall(r"gains on (\d+), harms on (\d+) .* on (\d+)\.", verdict)[0]]
    bars = Counter(
        "gain" if "gain" in bar.get_attribute("class") else bar.get_attribute("class")
        for bar in browser.find_elements(By.CSS_SELECTOR, "#numbers .bar circle")
    )
    assert said == [bars["gain"], bars["loss"], bars["unsure"]]


def test_oracles_and_ceilings_are_behind_a_choice_that_the_address_keeps(browser, leaderboard):
    open_page(browser, leaderboard, "algorithms/fixmatch.html")
    for access in ("oracle", "ceiling"):
        choose(browser, "[data-state=access]", access)
        rows = table(browser, "#numbers")
        assert rows
        assert all(access in row["task"] for row in rows)
        address = browser.current_url
        assert parse_qs(urlparse(address).fragment)["access"] == [access]
        open_page(browser, leaderboard, f"algorithms/fixmatch.html#{urlparse(address).fragment}")
        assert [row["task"] for row in table(browser, "#numbers")] == [row["task"] for row in rows]


def test_every_control_of_the_new_pages_is_kept_in_the_address(browser, pilot):
    [task, *_] = task_pages(pilot, kind="prior")
    for name in ("algorithms/fixmatch.html", f"tasks/{task['page']}", "claims.html"):
        open_page(browser, pilot, name)
        before = table(browser, "table[id]")
        controls = browser.execute_script(
            """return [...document.querySelectorAll("[data-state]")]
                .filter(control => control.checkVisibility())
                .map(control => [control.dataset.state, control[control.length - 1].value])"""
        )
        assert len(controls) > 2
        for state, value in controls:
            open_page(browser, pilot, name)
            choose(browser, f"[data-state={state}]", value)
            fragment = urlparse(browser.current_url).fragment
            assert parse_qs(fragment)[state] == [value], (name, state)
            changed = table(browser, "table[id]")
            open_page(browser, pilot, f"{name}#{fragment}")
            assert table(browser, "table[id]") == changed
        assert changed != before


def test_claims_are_measured_as_python_does_or_said_to_be_not_measured(browser, leaderboard):
    open_page(browser, leaderboard, "claims.html")
    rows = {(row["method"], row["claims to answer"]): row for row in table(browser, "#claims")}
    methods = data_of(leaderboard)["methods"]
    assert len(rows) == sum(len(method["targets"]) for method in methods)
    found = [
        (mine, pair)
        for mine, pair in matched(curves(read(ROOT / "results" / "leaderboard")))
        if mine.task.environment.startswith("label[") and not mine.task.access
    ]
    for name in ("uasd", "iomatch"):
        mine = [(curve, pair.gain) for curve, pair in found if curve.name == name]
        areas = [gain.scores @ hat_weights(curve.ts, stats.uniform()) for curve, gain in mine]
        parts = [
            Part(curve.drawn, curve.seeds, area, gain.ties)
            for (curve, gain), area in zip(mine, areas, strict=True)
        ]
        wanted = over_tasks(parts, bounds=(-1, 1))
        gain = rows[name, "unknown classes"]["gain there in accuracy"]
        numbers = (wanted.estimate, wanted.low, wanted.high)
        estimate, low, high = (f"{x:+.3f}".replace("+0.000", "0.000") for x in numbers)
        assert gain == f"{estimate} [{low}, {high}]"
    assert rows["softmatch", "other class shares"]["gain there in accuracy"] == "not measured"
    place = catalog.entry("algorithm", "uasd").targets["label"]
    assert rows["uasd", "unknown classes"]["where it is claimed"] == place
    assert "Not measured: 2." in browser.find_element(By.ID, "verdict").text


def test_a_task_is_told_in_a_sentence_a_picture_and_a_command(browser, pilot):
    log_of(browser)
    [task] = task_pages(pilot, kind="feature", labels=4)
    open_page(browser, pilot, f"tasks/{task['page']}")
    lead = browser.find_element(By.CSS_SELECTOR, ".lead").text
    assert "10,992 digits" in lead
    assert "4 labeled rows a class" in lead
    image = browser.find_element(By.TAG_NAME, "img")
    assert image.get_attribute("src").endswith(picture_name(task["environment"], task["dataset"]))
    assert browser.execute_script("return arguments[0].naturalWidth", image) > 500
    assert "E. Alpaydin and F. Alimoglu; licence: CC BY 4.0" in texts(browser, "figcaption")[0]
    assert f"robustssl run {task['page'].removesuffix('.html')}.yaml" in texts(browser, "pre")
    study = yaml.safe_load((pilot / "records" / f"{task['page'][:-5]}.yaml").read_text())
    assert study["environments"] == [task["environment"]]
    assert log_of(browser)[0] == []


def test_a_task_of_which_no_gain_is_known_shows_scores(browser, leaderboard):
    task = next(t for t in task_pages(leaderboard, access="ceiling") if t["data"] == "text")
    open_page(browser, leaderboard, f"tasks/{task['page']}")
    assert not browser.find_element(By.CSS_SELECTOR, "[data-state=show]").is_displayed()
    assert len(browser.find_elements(By.CSS_SELECTOR, "#chart .series")) > 3


def test_settings_are_told_for_each_rule(browser, pilot):
    open_page(browser, pilot, "algorithms/fixmatch.html")
    settings = table(browser, '[aria-label="settings by rule"] table')
    names = ["default", "number 1", "number 2", "its baseline instead"]
    assert [row["setting"] for row in settings] == names
    for rule in ("default", "cv", "cv+abstain", "oracle"):
        shares = [int(row[rule].strip("%\N{EN DASH}") or 0) for row in settings]
        assert sum(shares) == pytest.approx(100, abs=2)
        assert (shares[0] == 100) == (rule == "default")
        assert (shares[-1] > 0) == (rule == "cv+abstain")
    open_page(browser, pilot, "algorithms/self-training.html")
    settings = table(browser, '[aria-label="settings by rule"] table')
    assert {row["agreement"] for row in settings} == {"left out"}  # it is a score of nets


def test_a_study_is_named_and_its_methods_counted_apart_from_baselines(browser, pilot, leaderboard):
    title = yaml.safe_load((ROOT / "results" / "pilot" / "study.yaml").read_text())["title"]
    open_page(browser, pilot, "index.html")
    text = browser.find_element(By.TAG_NAME, "main").text
    assert title in text
    assert "8 methods and 3 baselines on 12 tasks with 3 seeds" in text
    open_page(browser, leaderboard, "about.html")
    text = browser.find_element(By.TAG_NAME, "main").text
    assert "36 methods and 7 baselines, 32 tasks and 64 in which" in text
    open_page(browser, leaderboard, "leaderboard.html")
    count = browser.find_element(By.ID, "count").text
    assert count.startswith("36 methods and 7 baselines on 32 tasks of ")


def test_a_decision_says_who_is_not_told_apart_and_names_no_entrant_that_is_not_there(pilot):
    page = (pilot / "decisions.html").read_text()
    assert re.search(r"Not told apart from it: never: the best baseline out of fold;", page)
    assert "somebody" not in page
    assert "more than 0.0" not in page


def test_a_method_says_how_its_numbers_were_made(browser, pilot):
    open_page(browser, pilot, "algorithms/fixmatch.html")
    command = "robustssl run TASK.yaml --only algorithm=fixmatch --only algorithm=supervised_net"
    assert command in texts(browser, "pre")
    links = browser.find_elements(By.CSS_SELECTOR, "main a[download]")
    files = [pilot / "records" / a.get_attribute("href").rpartition("/")[2] for a in links]
    assert len(files) == 2 * 12
    assert all(file.is_file() for file in files)


def test_about_says_what_was_run_how_to_cite_it_and_whose_the_data_are(browser, pilot):
    page = (pilot / "about.html").read_text()
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert f"title   = {{{cited['title']}}}" in page
    assert f"author  = {{{{{cited['authors'][0]['name']}}}}}" in page
    assert f"license = {{{cited['license']}}}" in page
    assert robustssl.__version__ in page
    assert "<code>f12f1b1</code> (1,980 records)" in page
    open_page(browser, pilot, "about.html")
    rows = table(browser, '[aria-label="licences of the data"] table')
    names = ["cifar10", "electricity", "imdb_amazon", "newsgroups", "penbased"]
    assert [row["dataset"] for row in rows] == names
    assert rows[-1]["licence"] == catalog.entry("dataset", "penbased").licence


def test_every_ranked_task_has_a_picture_and_a_site_copies_no_other(leaderboard):
    wanted = set()
    for task in data_of(leaderboard)["tasks"]:
        found = picture(task["environment"], task["dataset"])
        assert found is not None, task["name"]
        assert found.stat().st_size < 20_000
        wanted.add(found.name)
    assert {path.name for path in (leaderboard / "assets" / "tasks").iterdir()} == wanted
