"""The pages, in a real browser: they open from disk, compute what Python does, are for all."""

import csv
import gzip
import io
import re
import socket
import threading
import time
import urllib.error
import urllib.request
import warnings
from contextlib import contextmanager
from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from conftest import here
from js.make_cases import odd_payload
from scipy import stats
from site_pages import check_equality, choose, data_of, log_of, open_page, overflow, run_node, table

import robustssl
from robustssl import Cell, Record, Store, registry
from robustssl.analysis.beside import replaced_and_added
from robustssl.analysis.compare import BreakEven, _first_negative, break_even
from robustssl.analysis.curve import Curve
from robustssl.analysis.curves import curves, matched
from robustssl.analysis.density import Belief, expected_accuracy, hat_weights
from robustssl.analysis.interval import Interval, Ties, write_number
from robustssl.analysis.labels import median
from robustssl.analysis.metrics import GRID
from robustssl.analysis.tasks import Part, leave_one_out, over_tasks, ranks
from robustssl.analysis.worth import worth
from robustssl.environments import Environment
from robustssl.records.files import read_frame
from robustssl.records.frame import successes, with_pair, with_versions
from robustssl.records.results import read
from robustssl.sites.build import slug
from robustssl.sites.pack import packed
from robustssl.sites.serve import Server
from robustssl.spec import parse

pytestmark = pytest.mark.xdist_group("browser")

NONE = "\N{EN DASH}"  # in the place of a rank
HOSTILE = "evil:<script>alert(1)</script>"


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """A real study, a stranger's method whose name is code, one cut short and one that fails."""
    pytest.importorskip("torch")
    place = tmp_path_factory.mktemp("site") / "s.sqlite"
    study = {
        "algorithms": [
            "supervised_kernel",
            "label_spreading",
            "supervised_net[steps=20]",
            "fixmatch[steps=20]",
        ],
        "environments": ["label", "feature"],
        "datasets": ["iris", "wine"],
        "labels": 3,
        "seeds": 4,
    }
    with here():
        robustssl.run(study, place, workers=1, progress=False)
    rng = np.random.default_rng(0)
    with Store(place) as opened:
        for seed in range(4):
            for t in GRID:
                cell = Cell(HOSTILE, "label", "wine", 3, t, seed)
                score = {"accuracy": float(rng.uniform(0.5, 0.9))}
                opened.add(Record(cell, (1, Environment.version, 1), score, 0.1))
                if seed < 2:
                    short = replace(cell, algorithm="evil:Short", environment="feature")
                    opened.add(Record(short, (1, Environment.version, 1), score, 0.1))
        bad = Cell("label_spreading", "label", "digits", 3, 0.0, 0)
        opened.add(Record(bad, registry.versions(bad), error="ValueError: <b>no</b>"))
    return place


@pytest.fixture(scope="module")
def pages(store, tmp_path_factory):
    return robustssl.site(store, tmp_path_factory.mktemp("pages")).parent


@pytest.fixture
def show(browser, pages):
    """Opens a page from disk; at the end there is no error in the console and no request."""
    log_of(browser)

    def open_(name, **how):
        return open_page(browser, pages, name, **how)

    open_.pages = pages
    yield open_
    errors, urls = log_of(browser)
    assert errors == []
    assert urls
    assert [url for url in urls if not url.startswith(("file:", "data:", "about:", "blob:"))] == []


def numbers(browser, density, score="accuracy"):
    """The expected score of every curve, as the pages compute it, by task and method."""
    return browser.execute_script(
        """const D = robustssl.DATA, [score, density] = arguments;
        return D.curves.filter(curve => curve.scores[score]).map(curve => {
            const {environment, dataset} = D.tasks[curve.task], {name} = D.methods[curve.method];
            const scores = robustssl.scoresOf(D, curve, score);
            const part = robustssl.partOf(scores, robustssl.weights(scores.ts, density));
            return [environment, dataset, name, robustssl.overTasks([part], 0, 1)];
        });""",
        score,
        density,
    )


def curves_of(store, environment, dataset=None):
    """The curves of an environment: dataset -> name of the method -> KeyedCurve."""
    found = {}
    for c in curves(read(store)):
        if c.key["environment"] == environment:
            found.setdefault(c.key["dataset"], {})[c.name] = c
    return found if dataset is None else found[dataset]


def gains_of(found):
    """Of curves by name: the Parts, by t, of the gains over their baselines."""
    return {
        mine.name: Part(mine.drawn, mine.seeds, pair.gain.scores, pair.gain.ties)
        for mine, pair in matched(list(found.values()))
    }


def part_of(curve):
    return Part(curve.drawn, curve.seeds, curve.scores, Ties(curve.rows))


def under(P, parts):
    """What the parts, which have values by t, are on average under a density of t."""
    w = hat_weights(np.array(GRID), P)
    return [replace(part, values=part.values @ w) for part in parts]


EVERY_T = np.ones(len(GRID))


def test_the_javascript_passes_its_own_tests():
    assert "# fail 0" in run_node()


def test_rankings_are_those_of_python(pages, tmp_path):
    check_equality(pages, tmp_path)


def test_rankings_of_odd_data_are_those_of_python(tmp_path):
    (tmp_path / "assets").mkdir()
    for name, text in packed(odd_payload()):
        (tmp_path / "assets" / name).write_text(text)
    check_equality(tmp_path, tmp_path)


@pytest.mark.parametrize(
    ("density", "P"),
    [
        ({"kind": "beta", "a": 2, "b": 5}, stats.beta(2, 5)),
        ({"kind": "beta", "a": 0.3, "b": 0.4}, stats.beta(0.3, 0.4)),
        ({"kind": "beta", "a": 400, "b": 37.5}, stats.beta(400, 37.5)),
        (
            {"kind": "hand", "ts": list(GRID), "values": [0, 1, 0.2, 0, 0.7, 0.1]},
            [0, 1, 0.2, 0, 0.7, 0.1],
        ),
    ],
)
def test_expected_accuracy_and_its_interval_are_those_of_python(show, store, density, P):
    browser = show("explorer.html")
    found = {tuple(names): value for *names, value in numbers(browser, density)}
    assert len(found) == 18
    for keyed in curves(read(store)):
        exact = keyed.curve.interval(expected_accuracy(P))
        ours = found[keyed.key["environment"], keyed.key["dataset"], keyed.name]
        assert ours["estimate"] == pytest.approx(keyed.curve.ea(P), abs=1e-9)
        assert ours["low"] == pytest.approx(exact.low, abs=1e-9)
        assert ours["high"] == pytest.approx(exact.high, abs=1e-9)


def test_moving_the_density_moves_the_ranking(show, store):
    browser = show("explorer.html#environment=label&dataset=wine")
    before = {row["method"]: row["expected accuracy"] for row in table(browser)}
    choose(browser, "#beta-a", "1")
    choose(browser, "#beta-b", "30")
    after = {row["method"]: row["expected accuracy"] for row in table(browser)}
    assert before != after
    assert "p=beta%3A1%2C30" in browser.current_url
    curve = curves_of(store, "label", "wine")["label_spreading"].curve
    exact = curve.interval(expected_accuracy(stats.beta(1, 30)))
    assert after["label_spreading"] == str(exact)
    places = [row["#"] for row in table(browser)]
    assert places == [str(k + 1) for k in range(len(places))]


def test_the_density_is_drawn_with_the_keyboard(show):
    from selenium.webdriver.common.keys import Keys

    browser = show("explorer.html")
    before = table(browser)
    handle = browser.find_elements("css selector", ".handle")[5]
    for _ in range(4):
        handle.send_keys(Keys.ARROW_UP)
    assert handle.get_attribute("aria-valuenow") == "80"
    assert "p=hand%3A0.6%2C0.6%2C0.6%2C0.6%2C0.6%2C0.8" in browser.current_url
    assert table(browser) != before
    handle.send_keys(Keys.HOME)
    assert handle.get_attribute("aria-valuenow") == "0"


def test_the_density_is_drawn_by_dragging_anywhere(show):
    from selenium.webdriver import ActionChains

    browser = show("explorer.html")
    before = table(browser)
    picture = browser.find_element("css selector", "#density svg")
    drag = ActionChains(browser).move_to_element_with_offset(picture, -150, -50)
    drag.click_and_hold().move_by_offset(150, 40).move_by_offset(150, 40).release().perform()
    kind, _, values = parse_qs(urlsplit(browser.current_url).fragment)["p"][0].partition(":")
    drawn = [float(value) for value in values.split(",")]
    assert kind == "hand"
    assert drawn == sorted(drawn, reverse=True)
    assert drawn[0] > 0.8
    assert drawn[-1] < 0.2
    assert table(browser) != before
    said = browser.find_element("id", "words").text
    assert re.match(r"You expect t to be about 0\.\d\d, and between 0\.\d\d and 0\.\d\d", said)


def test_the_leaderboard_is_searched_and_links_to_papers(show):
    browser = show("leaderboard.html")
    choose(browser, "[data-state=q]", "sohn")
    assert [row["method"] for row in table(browser)] == ["fixmatch[steps=20]"]
    assert "1 of 4 methods and 2 baselines" in browser.find_element("id", "count").text
    paper = browser.find_element("link text", "Sohn et al.").get_attribute("href")
    assert paper == "https://arxiv.org/abs/2001.07685"
    assert table(browser)[0]["year"] == "2020"
    link = browser.find_element("id", "permalink").get_attribute("href")
    assert link == browser.current_url
    assert link.endswith("#q=sohn")


def test_the_leaderboard_sorts_and_filters(show):
    browser = show("leaderboard.html#more=yes")
    assert len(table(browser)) == 6
    choose(browser, "[data-state=environment]", "label")
    choose(browser, "[data-state=data]", "tabular")
    assert "on 2 tasks" in browser.find_element("css selector", "#count").text
    browser.find_element("css selector", "[data-column=WA]").click()
    rows = [row for row in table(browser) if row["#"] != NONE]
    found = [float(row["WA"]) for row in rows]
    assert found == sorted(found, reverse=True)
    browser.find_element("css selector", "[data-column=WA]").click()
    found = [float(row["WA"]) for row in table(browser) if row["#"] != NONE]
    assert found == sorted(found)
    assert browser.switch_to.active_element.get_attribute("data-column") == "WA"
    (short,) = [row for row in table(browser) if row["method"] == HOSTILE]
    assert (short["#"], short["tasks"]) == (NONE, "1 of 2")  # incomplete: shown, no place
    again = show(f"leaderboard.html#{browser.current_url.partition('#')[2]}")
    assert "on 2 tasks" in again.find_element("css selector", "#count").text


def test_a_method_that_lacks_seeds_has_no_place(show):
    browser = show("leaderboard.html#environment=feature")
    rows = {row["method"]: row for row in table(browser)}
    assert rows["evil:Short"]["#"] == NONE


def test_a_name_that_is_code_is_shown_as_text(show):
    for name in (
        "methods.html",
        "leaderboard.html",
        "explorer.html",
        f"algorithms/{slug(HOSTILE)}.html",
    ):
        browser = show(name)
        assert HOSTILE in browser.find_element("css selector", "body").text
        assert browser.execute_script("return document.querySelectorAll('main script').length") == 0
    assert "ValueError: <b>no</b>" in show("about.html").find_element("css selector", "main").text


def test_a_link_leads_from_a_number_to_its_records(show, pages, store):
    browser = show("leaderboard.html")
    browser.find_element("link text", "label_spreading").click()
    assert browser.find_element("css selector", "h1").text == "label_spreading"
    browser.find_element("link text", "wine, unknown classes, 3 labels a class").click()
    rows = {row["method"]: row for row in table(browser, "#numbers")}
    curve = curves_of(store, "label", "wine")["label_spreading"].curve
    assert rows["label_spreading"]["AUC"] == str(curve.interval("AUC"))
    records = browser.find_element("partial link text", "Every record").get_attribute("href")
    file = pages / "records" / records.rpartition("/")[2]
    lines = file.read_text().splitlines()
    assert sum(line.startswith("label,wine,3,,,label_spreading,") for line in lines) == 24
    study = robustssl.Study(
        **__import__("yaml").safe_load(
            file.with_suffix(".yaml").read_text().replace(f"- {HOSTILE}\n", "")
        )
    )
    assert len(study.cells()) == 4 * 6 * 4


def test_the_question_of_a_newcomer_is_answered(show):
    """Which is safest on tabular data if half of my unlabeled rows may be of unknown classes?"""
    browser = show("index.html")
    choose(browser, "#ask [name=data]", "tabular")
    choose(browser, "#ask [name=environment]", "label")
    said = browser.find_element("css selector", "#answer .verdict").text
    assert said.startswith(
        "No method is told apart from the labeled rows alone here; use supervised_"
    )
    assert len(table(browser, "#drawn")) >= 3
    browser.find_element("link text", "See all methods in the explorer").click()
    assert "environment=label" in browser.current_url


def test_over_several_tasks_everything_is_what_python_says(show, store):
    browser = show("leaderboard.html#environment=feature&more=yes")
    rows = {row["method"]: row for row in table(browser)}
    tasks = curves_of(store, "feature")
    assert set(tasks) == {"iris", "wine"}
    whole = [name for name in tasks["wine"] if name != "evil:Short"]
    parts = {n: under(EVERY_T, [part_of(found[n]) for found in tasks.values()]) for n in whole}
    places = rank_parts(parts)
    gains = [gains_of(found) for found in tasks.values()]
    for name in whole:
        row = rows[name]
        assert row["AUC"] == str(over_tasks(parts[name], bounds=(0, 1)))
        assert row["mean rank"] == f"{over_tasks(places[name], bounds=(1, len(whole))):.1f}"
        for metric in ("WA", "EVM"):
            values = [found[name].curve.metrics()[metric] for found in tasks.values()]
            assert float(row[metric]) == pytest.approx(np.mean(values), abs=6e-4)
        if name not in gains[0]:
            told = ("is a baseline", "", "")
        else:
            mine = [found[name] for found in gains]
            band, means = over_tasks(mine, bounds=(-1, 1)), under(EVERY_T, mine)
            ends = [
                np.nan if np.isnan(x).any() else _first_negative(np.array(GRID), x)
                for x in (band.plain, band.low, band.high)
            ]
            least, most = (write_number(x, "+.3f") for x in leave_one_out(means))
            over = gain_text(over_tasks(means, bounds=(-1, 1)), 2 * 6 * 4)
            told = (over, f"{least} to {most}", str(BreakEven(*ends)))
        assert (row["gain"], row["gain without one dataset"], row["break-even"]) == told
    assert sum(row["gain"] == "is a baseline" for row in rows.values()) == 2
    best = max(whole, key=lambda n: over_tasks(parts[n]).estimate)
    assert rows[best]["#"] == "1"


def gain_text(gain, cells):
    same = f"identical to its baseline in {cells} of {cells} cells"
    return same if gain.note == "identical" else f"{gain:+.3f}"


def rank_parts(parts):
    """Ranks within task and seed, of methods that have the same tasks and seeds."""
    found = {name: [] for name in parts}
    for of_task in zip(*parts.values(), strict=True):
        for name, row in zip(parts, ranks(np.array([p.values for p in of_task])), strict=True):
            found[name].append(Part(of_task[0].dataset, of_task[0].seeds, row))
    return found


def test_the_published_convention_is_that_of_python(show, store):
    page = next(p for p in show.pages.glob("tasks/wine-unknown*"))
    browser = show(f"tasks/{page.name}#convention=published")
    rows = {row["method"]: row for row in table(browser, "#numbers")}
    found = curves_of(store, "label", "wine")
    for metric in ("AUC", "EVM", "RCC"):
        exact = found["label_spreading"].curve.interval(metric, convention="published")
        assert rows["label_spreading"][metric] == str(exact)
    pairs = {mine.name: pair for mine, pair in matched(list(found.values()))}
    assert rows["label_spreading"]["break-even"] == str(break_even(pairs["label_spreading"].gain))


def test_the_answer_harms_and_gains_are_those_of_python(show, store):
    browser = show("index.html#environment=feature&data=tabular&share=20")
    assert browser.find_element("css selector", "#ask output").text == "20%"
    P = stats.beta(1 + 20 * 0.2, 1 + 20 * 0.8)
    tasks = curves_of(store, "feature")
    gains = [gains_of(found) for found in tasks.values()]
    expected = {}
    for name in [name for name in tasks["wine"] if name != "evil:Short"]:
        parts = under(P, [part_of(found[name]) for found in tasks.values()])
        expected[name] = over_tasks(parts, bounds=(0, 1))
    rows = {row["method"]: row for row in table(browser, "#drawn")}
    assert len(rows) == 3
    for name, row in rows.items():
        assert row["expected accuracy"] == str(expected[name])
        mine = under(P, [found[name] for found in gains if name in found])
        if not mine:
            assert row["gain"] == "is a baseline"
            continue
        assert row["gain"] == gain_text(over_tasks(mine, bounds=(-1, 1)), 2 * 6 * 4)
        alone = [over_tasks([part], bounds=(-1, 1)) for part in mine]
        harms, helps = sum(x.high < 0 for x in alone), sum(x.low > 0 for x in alone)
        told = f"{helps} / {2 - helps - harms} / {harms}"
        assert row["gains / unclear / harms"] == told
        assert row["worst task"].startswith(write_number(min(x.estimate for x in alone), "+.3f"))
    free = [name for name in expected if name.startswith("supervised")]
    best = max(free, key=lambda name: expected[name].estimate)
    said = browser.find_element("css selector", "#answer .verdict").text
    told = "No method is told apart from the labeled rows alone here; use"
    rests = "2 tasks of 2 datasets, 4 seeds"
    assert said == f"{told} {best}, expected accuracy {expected[best]} ({rests})."
    drawn = browser.execute_script("return document.querySelector('#chart').lines")
    assert {line["name"] for line in drawn} == {*gains[0]}  # what cannot be compared is not drawn
    browser.find_element("link text", "See all methods in the explorer").click()
    browser.back()
    assert browser.find_element("css selector", "#ask output").text == "20%"
    assert browser.find_element("css selector", "#answer .verdict").text == said


@pytest.mark.parametrize(
    "fragment",
    [
        "p=beta:0,0&score=zzz&sort=zzz&environment=zzz&draw=zzz&labels=null&show=zzz",
        "convention=constructor&sort=-draw&p=hand:Infinity,1,1,1,1,1",
        "convention=__proto__&family=zzz&p=hand:1e308,1,1,1,1,1&dataset=zzz",
    ],
)
def test_garbage_in_the_address_does_no_harm(show, fragment):
    pages = ["index.html", "leaderboard.html", "explorer.html"]
    pages += [f"{k}/{next((show.pages / k).glob('*.html')).name}" for k in ("tasks", "algorithms")]
    for name in pages:
        browser = show(f"{name}#{fragment}")
        text = browser.find_element("css selector", "main").text
        assert not re.search(r"NaN|undefined|Infinity|\[object", text)
        if "dataset" not in fragment:
            assert len(browser.find_elements("css selector", "tbody tr")) > 0


def test_a_table_is_saved_as_it_is_shown(show):
    browser = show("explorer.html#environment=label&dataset=wine")
    text = browser.execute_script(
        """const make = URL.createObjectURL;
        let kept;
        URL.createObjectURL = blob => { kept = blob; return make(blob); };
        document.querySelector("#csv").click();
        return kept.text();"""
    )
    rows = list(csv.DictReader(io.StringIO(text)))
    shown = [{k: v for k, v in row.items() if k != "draw"} for row in table(browser)]
    assert rows == shown


@pytest.fixture
def odd(tmp_path):
    """Curves on two grids, one flat, one flat at 1, labels of two numbers, a stale record."""
    with Store(tmp_path / "odd.sqlite") as opened:
        for dataset, grid, labels in (
            ("iris", (0, 0.5, 1), 3),
            ("wine", (0, 0.25, 1), 3),
            ("wine", (0, 1), 7),
        ):
            for t in grid:
                for seed in range(2):
                    scores = {"their:Falls": 0.9 - 0.4 * t, "their:Flat": 0.5, "their:One": 1.0}
                    for name, score in scores.items():
                        cell = Cell(name, "label", dataset, labels, t, seed)
                        opened.add(
                            Record(cell, (2, Environment.version, 1), {"accuracy": score}, 0.1)
                        )
        old = Cell("their:Falls", "label", "iris", 3, 0.0, 9)
        opened.add(Record(old, (1, Environment.version, 1), {"accuracy": 0.1}))
    return robustssl.site(tmp_path / "odd.sqlite", tmp_path / "odd").parent


def test_grids_are_joined_flat_curves_told_and_stale_records_left_out(browser, odd):
    open_page(browser, odd, "explorer.html#labels=3&draw=their:Falls&show=score")
    drawn = browser.execute_script("return document.querySelector('#chart').lines")
    (line,) = [found for found in drawn if found["look"]]
    assert line["name"] == "their:Falls"
    assert {found["name"] for found in drawn} == {"their:Falls", "their:Flat", "their:One"}
    assert line["ts"] == [0, 0.25, 0.5, 1]
    values = [found["estimate"] for found in line["at"]]
    assert values == pytest.approx([0.9, 0.8, 0.7, 0.5])  # linear between its points
    task = next(p for p in odd.glob("tasks/wine-unknown-classes-3-*"))
    open_page(browser, odd, f"tasks/{task.name}")
    notes = {row["method"]: row["note"] for row in table(browser, "#numbers")}
    assert notes["their:Flat"].startswith("flat: do")
    assert notes["their:One"] == "flat at 1"
    assert notes["their:Falls"] == ""
    records = (odd / "records" / task.name).with_suffix(".csv").read_text().splitlines()
    assert len(records) == 1 + 3 * 3 * 2  # of 3 labels alone
    assert "36 trained models" not in (odd / "about.html").read_text()
    assert "48 trained models" in (odd / "about.html").read_text()


def test_a_chart_reads_the_few_nearest_lines_and_shows_a_band(show):
    from selenium.webdriver import ActionChains

    browser = show("explorer.html#environment=label&dataset=wine&show=score")
    shown = "return document.querySelectorAll('#chart .band').length"
    assert browser.execute_script(shown) == 0
    drawing = browser.find_element("css selector", "#chart svg")
    ActionChains(browser).move_to_element(drawing).perform()
    first, *others = [item.text for item in browser.find_elements("css selector", ".readout li")]
    assert first in ("t = 0.40", "t = 0.60")
    assert len(others) == 4  # of five lines
    assert all(re.search(r" \d\.\d{3} \[\d\.\d{3}, \d\.\d{3}\]$", text) for text in others)
    near = browser.find_elements("css selector", "#chart .series.near")
    assert [line.get_attribute("data-name") for line in near] == [others[0].split()[0]]
    assert browser.execute_script(shown) == 1


@pytest.mark.parametrize("colour", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_no_page_is_wider_than_the_screen_or_hard_to_use(show, pages, width, colour):
    from axe_core_python.selenium import Axe

    names = ["index.html", "leaderboard.html", "explorer.html", "explorer.html#p=hand:1,1,1,0,0,0"]
    names += [
        f"{kind}/{next((pages / kind).glob('*.html')).name}" for kind in ("tasks", "algorithms")
    ]
    for name in names:
        browser = show(name, width=width, colour=colour)
        assert overflow(browser) == 0, name
        found = Axe().run(browser)["violations"]
        serious = [v for v in found if v["impact"] in ("serious", "critical")]
        assert [(name, v["id"], [n["html"] for n in v["nodes"]][:3]) for v in serious] == []


def test_a_page_of_many_methods_grows_by_no_answer(browser, tmp_path):
    rng = np.random.default_rng(0)
    place = tmp_path / "s.sqlite"
    with Store(place) as opened:
        for k in range(25):
            cells = [
                Cell(f"their:M{k}", "label", f"table[path={d}.csv,target=y]", 5, t, seed)
                for d in range(2)
                for t in GRID
                for seed in range(3)
            ]
            opened.add_all(
                [
                    Record(c, (1, Environment.version, 1), {"accuracy": float(rng.uniform())})
                    for c in cells
                ]
            )
    open_page(browser, robustssl.site(place, tmp_path / "site").parent, "explorer.html")
    sizes = []
    for a in (1.5, 2.5, 3.5, 1.5, 2.5, 3.5):
        choose(browser, "#beta-a", str(a))
        sizes.append(browser.execute_script("return document.querySelectorAll('*').length"))
    assert len(table(browser)) == 25
    assert sizes[:3] == sizes[3:]  # an answer takes the place of the one before


def get(url, **headers):
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=10) as answer:
        return answer.read().decode()


def about(server):
    try:
        return get(server.url + "about.html")
    except urllib.error.HTTPError:  # until there are pages
        return ""


def test_a_running_store_is_served_as_it_grows(tmp_path, small, monkeypatch, capfd):
    monkeypatch.setattr("robustssl.sites.serve.PAUSE", 0.1)
    place = tmp_path / "s.sqlite"
    Store(place).close()
    with Server(place, port=0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        assert server.url.startswith("http://127.0.0.1:")
        assert "Waiting" in get(server.url)
        robustssl.run({**small, "seeds": 1}, place, workers=1, progress=False)
        wait(lambda: "12 trained models" in about(server))
        before = get(server.url + "version")
        robustssl.run({**small, "seeds": 2}, place, workers=1, progress=False)
        wait(lambda: "24 trained models" in about(server))
        assert get(server.url + "version") > before
        for url, headers in ((server.url + "assets/", {}), (server.url, {"Host": "evil.example"})):
            with pytest.raises(urllib.error.HTTPError, match=r"404|403"):
                get(url, **headers)
        with pytest.raises(urllib.error.HTTPError, match="404"):
            get(server.url + "%00")
        assert get(server.url + "version?x=1", Host="LOCALHOST:8000")
        asked = urllib.request.Request(server.url, method="POST", data=b"x")
        with pytest.raises(urllib.error.HTTPError, match="501"):
            urllib.request.urlopen(asked, timeout=10)
        server.shutdown()
    assert not server.top.exists()
    assert "pages" not in capfd.readouterr().err  # the terminal is the user's


def wait(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.2)


def test_exported_records_make_the_same_site(store, pages, tmp_path):
    robustssl.export(store, tmp_path / "part.jsonl")
    packed = gzip.compress((tmp_path / "part.jsonl").read_bytes())
    (tmp_path / "part.jsonl").rename(tmp_path / "not-records")
    (tmp_path / "part.jsonl.gz").write_bytes(packed)
    again = robustssl.site(tmp_path, tmp_path / "site").parent
    for name in ("index.html", "assets/data.js"):
        assert (again / name).read_text() == (pages / name).read_text()


def test_building_says_how_far_it_is(store, tmp_path, capfd):
    robustssl.site(store, tmp_path / "site")
    said = capfd.readouterr().err.splitlines()
    made = len([*(tmp_path / "site").rglob("*.html")])
    assert said[0] == f"Reading {store}"
    assert said[-1].startswith(f"{made}/{made} pages, ")


def test_nothing_to_show(tmp_path):
    Store(tmp_path / "s.sqlite").close()
    with pytest.raises(robustssl.InputError, match="no scores to show"):
        robustssl.site(tmp_path / "s.sqlite", tmp_path / "site")
    (tmp_path / "empty").mkdir()
    with pytest.raises(robustssl.InputError, match="no records"):
        robustssl.site(tmp_path / "empty", tmp_path / "site")


def test_curves_show_themselves_in_a_notebook(store):
    found = robustssl.curves(store)
    assert len(found) == len(found.to_pandas()) == 18
    shown = found._repr_html_()
    assert "<svg" in shown
    assert "&lt;script&gt;" in shown
    assert "<script>" not in shown
    assert "<svg" in found.plot(gain=True)._repr_svg_()
    curve = Curve([0, 1], [[0.5, 0.75], [0.25, 0.5]])
    assert curve.to_pandas()["mean"].tolist() == [0.375, 0.625]
    assert "AUC 0.500" in curve._repr_html_()


def test_a_place_that_cannot_be_served_is_a_sentence(store):
    with Server(store, port=0) as server:
        for how in ({"port": server.server_address[1]}, {"port": 99999}, {"host": "no.such.host"}):
            with pytest.raises(robustssl.InputError, match="cannot serve at"):
                Server(store, **how)


def made(tmp_path, records):
    """What the pages of a store that holds these records compute with."""
    with Store(tmp_path / "s.sqlite") as store:
        store.add_all(records)
    return data_of(robustssl.site(tmp_path / "s.sqlite", tmp_path / "site").parent)


def curve_of(method, environment="label", dataset="wine", budget=None):
    described = registry.describe(method, budget)
    name, params = parse(described.spec)
    options = tuple(sorted(params.items()))
    cells = [Cell(name, environment, dataset, 5, t, seed, options) for seed in (0, 1) for t in GRID]
    return [
        Record(cell, registry.versions(cell), {"accuracy": 0.5 + 0.1 * cell.t}, method=described)
        for cell in cells
    ]


def both_populations(tmp_path):
    """Pages of a baseline, a method and a method of older records, in two environments."""
    rng, records = np.random.default_rng(0), []
    for method in ("supervised_kernel", "label_spreading", "label_propagation"):
        for environment in ("distribution", "label"):
            for record in curve_of(method, environment):
                scores = {"accuracy": float(rng.uniform(0.5, 0.9))}
                if environment == "distribution" and method != "label_propagation":
                    scores["accuracy_there"] = float(rng.uniform(0.2, 0.6))
                records.append(replace(record, scores=scores))
    return made(tmp_path, records)


def test_the_accuracy_there_and_its_gain_are_those_of_python(tmp_path, browser):
    data = both_populations(tmp_path)
    assert data["scores"] == ["accuracy", "accuracy_there"]
    check_equality(tmp_path / "site", tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        found = {c.name: c for c in curves(read(tmp_path / "s.sqlite", "accuracy_there"))}
    wanted = over_tasks(under(EVERY_T, [part_of(found["label_spreading"])]), bounds=(0, 1))
    gain = over_tasks(under(EVERY_T, gains_of(found).values()), bounds=(-1, 1))
    open_page(browser, tmp_path / "site", "leaderboard.html#environment=distribution")
    rows = {row["method"]: row for row in table(browser)}
    assert rows["label_spreading"]["accuracy there"] == format(wanted, ".3f")
    assert rows["label_spreading"]["gain there"] == format(gain, "+.3f")
    assert rows["supervised_kernel"]["gain there"] == "is a baseline"
    old = rows["label_propagation"]
    assert old["accuracy there"] == old["gain there"] == "not known"
    open_page(browser, tmp_path / "site", "leaderboard.html")
    rows = {row["method"]: row for row in table(browser)}
    assert rows["label_spreading"]["accuracy there"] == f"{wanted:.3f} on 1 of 2 tasks"
    choose(browser, "[data-state=on]", "there")
    assert "on=there" in browser.current_url
    rows = {row["method"]: row for row in table(browser)}
    assert "accuracy there" not in rows["label_spreading"]
    assert rows["label_spreading"]["AUC"] == f"{wanted:.3f}"


def test_a_gain_is_told_in_labels_as_python_tells_it(tmp_path, browser):
    """On three label counts; the method gains surely, so that the answer tells it, too."""
    rng, records = np.random.default_rng(0), []
    for labels, level in ((4, 0.6), (16, 0.7), (64, 0.8)):
        for method, more in (("supervised_kernel", 0.0), ("label_spreading", 0.03)):
            for record in curve_of(method):
                gain = more if labels < 64 else -more / 60
                score = level + gain + 0.0005 * rng.normal()
                cell = replace(record.cell, labels=labels)
                records.append(replace(record, cell=cell, scores={"accuracy": score}))
    made(tmp_path, records)
    frame = with_pair(successes(with_versions(read_frame(tmp_path / "s.sqlite"))))
    told = worth(frame, Belief(1 + 20 * 0.4, 1 + 20 * 0.6))
    found = {row.labels: row.worth for row in told.itertuples() if "spreading" in row.method}
    browser = open_page(browser, tmp_path / "site", "index.html#share=40")
    text = f"{median([*found.values()])} (median of 3 tasks)"
    assert re.match(r"\+\d+\.\d labels a class ", text)
    assert re.match(r"\+\d+\.\d labels a class \[", str(found[16]))
    rows = {row["method"]: row for row in table(browser, "#drawn")}
    assert rows["label_spreading"]["worth"] == text
    assert rows["supervised_kernel"]["worth"] == ""
    said = browser.find_element("css selector", "#answer .verdict").text
    assert said.startswith("label_spreading gains +0.0")
    assert f" accuracy, worth {text}, over supervised_kernel on the labeled" in said


def test_a_method_that_predicts_what_its_baseline_does_is_said_to_be_identical(tmp_path, browser):
    records = [
        replace(record, digest="0" * 16, scores={"accuracy": 0.8})
        for method in ("supervised_kernel", "label_spreading")
        for record in curve_of(method)
    ]
    made(tmp_path, records)
    open_page(browser, tmp_path / "site", "leaderboard.html")
    gains = {row["method"]: row["gain"] for row in table(browser)}
    assert gains["label_spreading"] == "identical to its baseline in 12 of 12 cells"
    open_page(browser, tmp_path / "site", "index.html")
    said = browser.find_element("css selector", "#answer .verdict").text
    assert said.startswith("No method is told apart from the labeled rows alone here; use superv")


def test_what_fewer_consistent_rows_do_is_what_python_says(tmp_path, browser):
    rng, mixes = np.random.default_rng(0), ("distribution", "distribution[mix=add]")
    places = [(m, where) for m in ("label_spreading", "supervised_kernel") for where in mixes]
    records = [
        replace(record, scores={"accuracy": float(rng.uniform(0.5, 0.9))})
        for place in [*places, ("label_propagation", "distribution"), ("ssgmm", "label")]
        for record in curve_of(*place)
    ]
    data = made(tmp_path, records)
    assert [task["otherMix"] for task in data["tasks"]] == [1, 0, None]
    (row,) = [
        row
        for row in replaced_and_added(curves(read(tmp_path / "s.sqlite"))).itertuples()
        if row.algorithm == "label_spreading"
    ]
    ends = (row.difference_estimate, row.difference_low, row.difference_high)
    for task in data["tasks"][:2]:
        open_page(browser, tmp_path / "site", f"tasks/{task['page']}")
        shown = {found["method"]: found for found in table(browser, "#numbers")}
        text = shown["label_spreading"]["added - replaced"]
        assert text == format(Interval(*ends), "+.3f")
        assert shown["supervised_kernel"]["added - replaced"] == "is a baseline"
        if "label_propagation" in shown:
            assert shown["label_propagation"]["added - replaced"] == "not run"


def test_pages_of_records_that_do_not_say_it_say_that_it_is_not_known(tmp_path, browser):
    data = made(tmp_path, [*curve_of("label_spreading"), *curve_of("supervised_kernel")])
    assert data["scores"] == ["accuracy"]
    site = tmp_path / "site"
    assert "Here it is not known for any method." in (site / "about.html").read_text()
    (task,) = (site / "tasks").iterdir()
    assert "The accuracy on inconsistent rows is not known." in task.read_text()
    open_page(browser, site, "leaderboard.html")
    assert not [name for name in table(browser)[0] if "there" in name]


def test_balanced_accuracy_comes_first_where_all_tasks_are_of_other_class_shares(tmp_path):
    records = [
        replace(record, scores={**record.scores, "balanced_accuracy": 0.5})
        for record in curve_of("label_spreading", "prior")
    ]
    assert made(tmp_path, records)["scores"] == ["balanced_accuracy", "accuracy"]


def test_a_method_is_one_row_whatever_its_budget(tmp_path):
    both = [("wine", "table"), ("digits[kind=image]", "image")]
    records = [
        record
        for dataset, budget in both
        for method in ("fixmatch", "supervised_net")
        for record in curve_of(method, dataset=dataset, budget=budget)
    ]
    data = made(tmp_path, records)
    assert [method["name"] for method in data["methods"]] == ["fixmatch", "supervised_net"]
    mine, baselines = ([c for c in data["curves"] if c["method"] == k] for k in (0, 1))
    assert [data["curves"][c["baseline"]] for c in mine] == baselines
    assert [c["task"] for c in mine] == [c["task"] for c in baselines]


def test_two_budgets_in_one_task_are_two_rows(tmp_path):
    records = [*curve_of("uda", budget="table"), *curve_of("uda", budget="text")]
    records += curve_of("vat", dataset="iris", budget="table")
    names = {method["name"] for method in made(tmp_path, records)["methods"]}
    assert names == {"uda[net=mlp[width=256],steps=1000]", "uda[steps=1000]", "vat"}


def test_a_baseline_of_another_budget_is_no_baseline(tmp_path):
    records = [*curve_of("uda", budget="table"), *curve_of("supervised_net", budget="text")]
    found = made(tmp_path, records)["curves"]
    assert [(c["baseline"], c["baselineName"]) for c in found] == [
        (None, "supervised_net"),
        (None, None),
    ]


def test_oracles_and_ceilings_are_tasks_of_their_own(tmp_path, browser):
    places = ("label", "label[access=consistent]", "label[access=labels]")
    records = [record for place in places for record in curve_of("tsvm", place)]
    tasks = made(tmp_path, records)["tasks"]
    assert [t["kind"] for t in tasks] == ["label", "label, oracle", "label, ceiling"]
    assert [t["access"] for t in tasks] == [None, "oracle", "ceiling"]
    open_page(browser, tmp_path / "site", "leaderboard.html")
    assert browser.find_element("id", "count").text == "1 method on 1 task of 1 dataset."
    choose(browser, "[data-state=access]", "ceiling")
    assert "access=ceiling" in browser.current_url
    assert [row["method"] for row in table(browser)] == ["tsvm"]
    browser.get((tmp_path / "site" / "index.html").as_uri())
    assert "oracle" not in browser.find_element("id", "ask").text


@pytest.fixture
def serving(tmp_path):
    """Serves the pages of a store that has no records, for as long as a test runs."""
    Store(tmp_path / "s.sqlite").close()

    @contextmanager
    def start():
        with Server(tmp_path / "s.sqlite", port=0) as server:
            thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
            thread.start()
            yield server
            server.shutdown()
            thread.join()

    return start


def half_asked(server):
    """A connection that sends half a request."""
    connection = socket.create_connection(server.server_address[:2])
    connection.sendall(b"GET / HTTP/1.0\r\nHost: local")
    return connection


def test_a_request_that_is_sent_by_half_is_ended(serving, monkeypatch):
    """The server hangs up by itself: to read from it comes to an end."""
    monkeypatch.setattr("robustssl.sites.serve.PATIENCE", 0.0)
    with serving() as server, half_asked(server) as connection:
        assert connection.recv(100) == b""


def test_only_so_many_connections_are_held(serving, monkeypatch):
    monkeypatch.setattr("robustssl.sites.serve.MOST", 3)
    monkeypatch.setattr("robustssl.sites.serve.PATIENCE", float("inf"))
    monkeypatch.setattr("robustssl.sites.serve._Handler.timeout", None)
    with serving() as server:
        held = [half_asked(server) for _ in range(3)]
        with half_asked(server) as more:
            assert more.recv(100).startswith(b"HTTP/1.0 503")
        for connection in held:
            connection.sendall(b"host\r\n\r\n")
            assert connection.recv(100).startswith(b"HTTP/1.0 200")
            while connection.recv(10_000):
                pass
            connection.close()
        wait(lambda: "Waiting" in answered(server))


def answered(server):
    try:
        return get(server.url)
    except urllib.error.HTTPError as refused:  # until the places of others are free
        return str(refused)


def test_a_client_that_goes_away_leaves_no_traceback(serving, capfd):
    with serving() as server:
        for error in (BrokenPipeError, ConnectionResetError, TimeoutError):
            try:
                raise error
            except OSError:
                server.handle_error(None, ("client", 1))
        assert "Traceback" not in "".join(capfd.readouterr())
        try:
            raise KeyError("x")
        except KeyError:
            server.handle_error(None, ("client", 1))
        assert "Traceback" in "".join(capfd.readouterr())
