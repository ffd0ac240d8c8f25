"""The site of the committed leaderboard: its numbers, its width, what it says of what lacks."""

import gzip
import json

import pytest
from site_pages import ROOT, check_equality, choose, data_of, open_page, overflow, table

import robustssl
from robustssl.records import catalog
from robustssl.spec import parse

LEADERBOARD = ROOT / "results" / "leaderboard"
NOT_RUN = "its baseline was not run"


@pytest.fixture(scope="session")
def leaderboard(tmp_path_factory):
    return robustssl.site(LEADERBOARD, tmp_path_factory.mktemp("leaderboard")).parent


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
    check_equality(data_of(leaderboard), tmp_path)


def test_rankings_of_some_results_are_those_of_python(some, tmp_path):
    methods = {"supervised_net", "uasd", "fixmatch", "supervised_svm", "tsvm"}
    pages = some(lambda cell: cell["algorithm"] in methods)
    assert len(data_of(pages)["methods"]) == len(methods)
    check_equality(data_of(pages), tmp_path)


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
    svm, uasd, defixmatch = (
        name + marks[name] for name in ("supervised_svm", "uasd", "defixmatch")
    )
    assert {row["method"] for row in table(browser)} == {svm, uasd, defixmatch}
    for claim, fits in {"any": uasd, "label": uasd, "consistent": defixmatch}.items():
        choose(browser, "[data-state=targets]", claim)
        assert {row["method"] for row in table(browser)} == {svm, fits}
    words = browser.find_element("css selector", "[data-state=targets]").text
    assert "t = 0 alone" in words
    page = (pages / "algorithms" / "defixmatch.html").read_text()
    place = catalog.entry("algorithm", "defixmatch").targets["consistent"]
    assert f"Its authors claim to answer rows like the labeled ones (t = 0 alone): {place}." in page


@pytest.mark.slow
def test_no_page_of_the_leaderboard_scrolls_sideways(browser, leaderboard):
    names = ["index.html", "leaderboard.html", "explorer.html", "explorer.html#show=gain"]
    for kind in ("tasks", "algorithms"):  # of each the page with the longest name
        pages = (path.name for path in (leaderboard / kind).glob("*.html"))
        names.append(f"{kind}/{max(pages, key=len)}")
    for width in (390, 1280, 1920):
        for name in names:
            open_page(browser, leaderboard, name, width=width)
            assert len(browser.find_elements("css selector", "main tbody tr")) > 5
            assert overflow(browser) == 0, (name, width)


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
    open_page(browser, pages, "index.html")
    harms = {plain(row): row["harms on"] for row in table(browser, "#answer table")}
    assert harms["supervised_kernel"] == "none"
    assert "not known on 2 of 7 tasks" in harms["uasd"]
    assert "not known on 7 of 7 tasks" in harms["tsvm"]
    verdict = browser.find_element("css selector", "#answer .verdict")
    assert verdict.text.startswith("Safest: label_spreading")
    choose(browser, "#ask [name=environment]", "feature")
    harms = {plain(row): row["harms on"] for row in table(browser, "#answer table")}
    assert "not known" not in harms["uasd"]
    assert "not known on 3 of 3 tasks" in harms["tsvm"]


def test_without_any_baseline_nothing_is_called_safe(browser, some):
    pages = some(lambda cell: cell["algorithm"] in {"uasd", "label_spreading", "tsvm"})
    open_page(browser, pages, "index.html")
    verdict = browser.find_element("css selector", "#answer .verdict")
    assert verdict.text.startswith("No method is known to be safe here")
    harms = [row["harms on"] for row in table(browser, "#answer table")]
    assert len(harms) == 3
    assert all(text.startswith("not known on 7 of 7 tasks") for text in harms)
