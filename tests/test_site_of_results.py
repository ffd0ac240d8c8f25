"""The site of the committed leaderboard: its numbers, its width, what it says of what lacks."""

import gzip
import json
import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from site_pages import (
    ROOT,
    check_equality,
    choose,
    data_of,
    files_of,
    log_of,
    open_page,
    overflow,
    overlaps,
    ready,
    serious,
    table,
)

import robustssl
from robustssl.analysis.density import ALIKE
from robustssl.analysis.rules import tiers
from robustssl.records import catalog
from robustssl.records.files import read_frame
from robustssl.records.frame import successes, with_pair, with_versions
from robustssl.spec import parse

LEADERBOARD = ROOT / "results" / "leaderboard"
NOT_RUN = "its baseline was not run"


@pytest.fixture
def some(tmp_path):
    """Builds the site of those records of the texts whose cell is wanted."""

    def build(wanted):
        with gzip.open(LEADERBOARD / "texts" / "records.jsonl.gz", "rt") as file:
            lines = [line for line in file if wanted(json.loads(line)["cell"])]
        (tmp_path / "some.jsonl").write_text("".join(lines))
        return robustssl.site(tmp_path / "some.jsonl", tmp_path / "site").parent

    return build


@pytest.mark.slow
def test_rankings_of_the_leaderboard_are_those_of_python(leaderboard, tmp_path):
    check_equality(leaderboard, tmp_path)


def test_rankings_of_some_results_are_those_of_python(some, tmp_path):
    methods = {"supervised_net", "uasd", "fixmatch", "supervised_svm", "tsvm"}
    pages = some(lambda cell: cell["algorithm"] in methods)
    assert len(data_of(pages)["methods"]) == len(methods)
    check_equality(pages, tmp_path)


def test_older_versions_are_marked_and_claims_are_told(browser, some):
    names = ("supervised_svm", "uasd", "defixmatch")
    pages = some(lambda cell: cell["algorithm"] in names)
    with gzip.open(LEADERBOARD / "texts" / "records.jsonl.gz", "rt") as file:
        found = {r["cell"]["algorithm"]: r for r in map(json.loads, file)}
    older = {
        name
        for name, r in found.items()
        if r["versions"][0] < catalog.version("algorithm", name)
        or r["versions"][1] < catalog.version("environment", parse(r["cell"]["environment"])[0])
    }
    open_page(browser, pages, "leaderboard.html")
    marks = {name: " (older version)" * (name in older) for name in found}
    if older == {*found}:  # then no mark tells one from another
        marks = dict.fromkeys(found, "")
        assert "All records are of older versions of the code." in browser.page_source
    svm, uasd, defixmatch = (
        name + marks[name] for name in ("supervised_svm", "uasd", "defixmatch")
    )
    assert {row["method"] for row in table(browser)} == {svm, uasd, defixmatch}
    for claim, fits in {"any": uasd, "label": uasd, "consistent": defixmatch}.items():
        choose(browser, "[data-state=targets]", claim)
        assert {row["method"] for row in table(browser)} == {svm, fits}
    control = browser.find_element("css selector", "[data-state=targets]")
    words = control.get_attribute("textContent")
    assert "t = 0 alone" in words
    page = (pages / "algorithms" / "defixmatch.html").read_text()
    place = catalog.entry("algorithm", "defixmatch").targets["consistent"]
    assert f"Its authors claim to answer rows like the labeled ones (t = 0 alone): {place}." in page


def pages_of(folder):
    """Every page of which there is one, in its states, and of each other kind the one with the
    longest name.
    """
    names = sorted(path.name for path in folder.glob("*.html"))
    names += ["leaderboard.html#more=yes&q=match", "explorer.html#show=score&p=hand:1,1,0.4,0,0,0"]
    names += ["index.html#environment=label&data=image&share=40"]
    for kind in ("tasks", "algorithms"):
        names.append(f"{kind}/{max((p.name for p in (folder / kind).glob('*.html')), key=len)}")
    return names


@pytest.mark.slow
@pytest.mark.parametrize("colour", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280, 1920])
def test_pages_of_the_leaderboard_fit_and_are_for_all(browser, leaderboard, width, colour):
    log_of(browser)
    for name in pages_of(leaderboard):
        open_page(browser, leaderboard, name, width=width, colour=colour)
        assert overflow(browser) == 0, name
        assert overlaps(browser) == [], name
        assert serious(browser) == [], name
    errors, urls = log_of(browser)
    assert errors == []
    assert [url for url in urls if not url.startswith(("file:", "data:", "about:"))] == []


@pytest.mark.slow
def test_texts_that_lie_over_each_other_are_found(browser, leaderboard):
    """The check of the test before bites."""
    open_page(browser, leaderboard, "leaderboard.html")
    browser.execute_script("document.querySelector('#count').style.marginBottom = '-2rem'")
    found = [{a[:10], b[:10]} for a, b in overlaps(browser)]
    assert {"36 methods", "method"} in found
    browser.execute_script("document.querySelector('h1').style.width = '3000px'")
    browser.execute_script("document.querySelector('h1').style.maxWidth = 'none'")
    assert overflow(browser) > 1000


@pytest.mark.slow
def test_the_first_page_is_light_and_loads_nothing_else(browser, leaderboard):
    log_of(browser)
    open_page(browser, leaderboard, "index.html")
    _, urls = log_of(browser)
    files = {Path(urlsplit(url).path) for url in urls if url.startswith("file:")}
    assert {file.name for file in files} == {"index.html", "data.js", "site.js", "style.css"}
    assert sum(file.stat().st_size for file in files) < 1_500_000
    index, _ = files_of(leaderboard)
    assert index["parts"]["score-accuracy"]["numbers"] == "rows"  # two bytes each, and exact
    choose(browser, "#ask [name=data]", "image")
    assert not [url for url in log_of(browser)[1] if "assets" in url]
    open_page(browser, leaderboard, "leaderboard.html#more=yes&score=auroc")
    loaded = {url.rpartition("/")[2] for url in log_of(browser)[1]}
    assert {"score-auroc.js", "metrics-auroc.js"} < loaded
    assert "metrics-accuracy.js" not in loaded


@pytest.mark.slow
@pytest.mark.parametrize("page", ["index.html", "leaderboard.html", "explorer.html"])
def test_every_control_changes_the_address_and_is_restored_from_it(browser, leaderboard, page):
    open_page(browser, leaderboard, page)
    names = browser.execute_script(
        "return [...document.querySelectorAll('main select, main input')]"
        ".filter(c => c.offsetParent || c.closest('details')).filter(c => !c.closest('[hidden]'))"
        ".map(c => c.dataset.state ? `[data-state=${c.dataset.state}]` : c.id ? `#${c.id}`"
        ' : c.name ? `[name=${c.name}]` : `[aria-label="${c.ariaLabel}"]`)'
    )
    assert len(names) >= 3
    for name in names[:20]:  # the boxes that choose lines are all alike
        open_page(browser, leaderboard, page)
        before = browser.current_url
        value = browser.execute_script(_CHANGE, name)
        ready(browser)
        address = browser.current_url
        assert address != before, name
        open_page(browser, leaderboard, f"{page}#{address.partition('#')[2]}")
        assert browser.execute_script(_VALUE, name) == value, name
        assert browser.current_url == address


_VALUE = """
    const read = c => c.type === "checkbox" ? c.checked : c.multiple
        ? [...c.selectedOptions].map(o => o.value).join("|") : c.value;
    return read(document.querySelector(arguments[0]));"""
_CHANGE = (
    """
    const control = document.querySelector(arguments[0]);
    if (control.type === "checkbox") control.checked = !control.checked;
    else if (control.multiple) control.options[1].selected = true;
    else if (control.options) control.value = [...control.options].at(-1).value;
    else control.value = {range: "20", number: "3", search: "match"}[control.type];
    for (const kind of ["input", "change"]) control.dispatchEvent(new Event(kind, {bubbles: true}));
"""
    + _VALUE
)


@pytest.mark.slow
def test_an_answer_is_little_work(browser, leaderboard):
    """Few elements, and lines over t are not drawn again when the density of t moves alone."""
    most = {"index.html": 500, "leaderboard.html": 1500, "explorer.html": 2000}
    for page, elements in most.items():
        open_page(browser, leaderboard, page)
        assert browser.execute_script("return document.querySelectorAll('*').length") < elements
    open_page(browser, leaderboard, "explorer.html#draw=fixmatch")
    before = browser.find_element("css selector", "#chart svg")
    rows = table(browser)
    choose(browser, "#beta-a", "7")
    assert table(browser) != rows
    assert browser.find_element("css selector", "#chart svg") == before


@pytest.mark.slow
def test_no_two_coloured_lines_share_colour_and_dash(browser, leaderboard):
    everybody = "|".join(m["name"] for m in data_of(leaderboard)["methods"])
    open_page(browser, leaderboard, f"explorer.html#show=score&data=tabular&draw={everybody}")
    drawn = browser.execute_script("return document.querySelector('#chart').lines")
    looks = [(line["look"]["colour"], line["look"]["dash"]) for line in drawn]
    assert len(looks) == 43
    assert len(set(looks)) == 43
    open_page(browser, leaderboard, "explorer.html#draw=fixmatch|adamatch")
    drawn = browser.execute_script("return document.querySelector('#chart').lines")
    coloured = {line["name"]: line["look"]["colour"] for line in drawn if line["look"]}
    assert len(set(coloured.values())) == len(coloured) == 2


@pytest.mark.slow
def test_the_first_tier_is_that_of_python(browser, leaderboard):
    frame = with_pair(successes(with_versions(read_frame(LEADERBOARD))))
    ordinary = frame[~frame.environment.str.contains("access=")]
    open_page(browser, leaderboard, "leaderboard.html")
    shaded = browser.execute_script(
        "return [...document.querySelectorAll('tr.first-tier th')].map(th => th.textContent)"
    )
    assert len(shaded) == 3
    assert shaded == tiers(ordinary, ALIKE)[0]


@pytest.mark.slow
def test_the_answer_says_what_it_rests_on_and_who_gains_by_which_test(browser, leaderboard):
    open_page(browser, leaderboard, "index.html#environment=label&data=image&share=40")
    assert "36 methods and 7 baselines" in browser.find_element("css selector", ".lead").text
    said = browser.find_element("css selector", "#answer .verdict").text
    assert "over supervised_net, the same learner on the labeled rows alone" in said
    assert "over supervised_svm, the best on these" in said
    assert said.endswith("harms on none and is unclear on 1 of 3 tasks of 3 datasets, 5 seeds.")
    more = browser.find_element("css selector", "#answer .soft").text
    assert "(defixmatch, freematch, label_spreading) gain accuracy beyond chance" in more
    assert "allowing for 34 comparisons (Holm's correction)" in more
    assert re.search(r"among them .*\bmtcf\b.* with a higher accuracy than freematch, gain", more)
    shown = f"Shown are {len(table(browser, '#drawn')) - 1} methods and 1 baseline of 34 methods"
    assert shown in browser.find_element("id", "shown").text


def plain(row):
    """The method of a row, without the mark of an older version."""
    return row["method"].removesuffix(" (older version)")


def test_what_was_not_compared_is_told_and_not_called_safe(browser, some):
    """Of three learners, one lacks its baseline everywhere, one on the tasks of one environment."""
    methods = {"supervised_kernel", "label_spreading", "supervised_net", "uasd", "tsvm"}

    def wanted(cell):
        lacking = cell["algorithm"] == "supervised_net" and cell["environment"].startswith("label")
        return cell["algorithm"] in methods and not lacking

    pages = some(wanted)
    open_page(browser, pages, "leaderboard.html")
    rows = table(browser)
    assert plain(rows[0]) in {"tsvm", "uasd"}  # the best, but not compared everywhere
    gains = {plain(row): row["gain"] for row in rows}
    assert gains["supervised_kernel"] == "is a baseline"
    assert gains["label_spreading"].startswith(("+", "-", "0"))
    assert gains["uasd"] == f"not compared on 2 of 7 tasks: {NOT_RUN}"
    assert gains["tsvm"] == f"not compared: {NOT_RUN}"
    harms = {plain(row): row["gains / unclear / harms"] for row in rows}
    assert harms["supervised_kernel"] == ""
    assert re.fullmatch(r"\d / \d / \d", harms["label_spreading"])
    assert re.fullmatch(r"\d / \d / \d, 2 not known", harms["uasd"])
    assert harms["tsvm"] == "not known"
    open_page(browser, pages, "index.html")
    said = browser.find_element("css selector", "#answer").text
    assert said.startswith(("label_spreading ", "Use supervised_", "No method is told apart"))
    assert "2 cannot be compared on every task (tsvm, uasd)" in said
    caption = browser.find_element("id", "caption").text
    assert "Not drawn: 2 that cannot be compared on every task." in caption
    choose(browser, "#ask [name=environment]", "feature")
    assert "1 cannot be compared on every task (tsvm)" in browser.find_element("id", "answer").text


def test_without_any_baseline_nothing_is_called_safe(browser, some):
    pages = some(lambda cell: cell["algorithm"] in {"uasd", "label_spreading", "tsvm"})
    open_page(browser, pages, "index.html")
    verdict = browser.find_element("css selector", "#answer .verdict")
    assert verdict.text.startswith("No method is known to be safe here: none was compared")
    open_page(browser, pages, "leaderboard.html")
    assert [row["gains / unclear / harms"] for row in table(browser)] == ["not known"] * 3
