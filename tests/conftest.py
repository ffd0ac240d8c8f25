"""Shared by the tests: small studies, and the tables that tests want shown."""

import copy
import os
import shutil
import uuid
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest
import servers
import sqlalchemy as sa
from gates import Gate
from hypothesis import HealthCheck, settings

import robustssl
from robustssl import registry
from robustssl.execution.engines import local
from robustssl.records import catalog

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[_name] = "1"  # tests run side by side; many small fits must not fight

NEEDS = {  # files all of whose tests need a package that an installation without extras lacks
    "mkdocs": ["test_docs.py"],
    "torch": [
        f"test_{name}.py"
        for name in (
            *("banks", "blocks", "consistency_methods", "deep", "gpu", "image_encoders", "nets"),
            *("new_methods", "one_after_the_other", "open_set_methods", "prior_methods"),
            *("resnet50", "robust", "true_to_authors", "views"),
        )
    ],
    "xgboost": ["test_algorithms.py"],
}
if not os.environ.get("TEST_EVERYTHING"):
    collect_ignore = [f for name, files in NEEDS.items() if not find_spec(name) for f in files]

# How long an example takes says how busy the machine is.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")


def pytest_xdist_auto_num_workers():
    """One more than there are cores, since some tests wait for a browser, a cluster, a network."""
    return len(os.sched_getaffinity(0)) + 1 if hasattr(os, "sched_getaffinity") else None


def pytest_terminal_summary(terminalreporter):
    for report in terminalreporter.getreports("passed"):
        for name, table in getattr(report, "user_properties", ()):
            terminalreporter.section(name)
            terminalreporter.write_line(table)


@pytest.fixture
def small():
    """A study of 48 cells that takes a second."""
    return {
        "algorithms": ["supervised_kernel", "label_spreading"],
        "environments": ["label", "feature"],
        "datasets": ["iris"],
        "labels": 3,
        "ts": [0, 0.5, 1],
        "seeds": 4,
    }


@contextmanager
def without_figures():
    """Reports are texts alone; their figures would take ten times as long."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("robustssl.reports.folder._draw", lambda *_: [])
        yield


@pytest.fixture
def no_figures():
    with without_figures():
        yield


@pytest.fixture
def gate(tmp_path):
    with Gate(tmp_path) as opened:
        yield opened


def pytest_collection_modifyitems(items):
    if not os.environ.get("TEST_EVERYTHING"):
        for item in items:
            if item.get_closest_marker("slow"):
                item.add_marker(pytest.mark.skip(reason="slow: TEST_EVERYTHING=1 make test"))


def missing(program):
    """Where everything must be tested, a program that is not there is a failure."""
    (pytest.fail if os.environ.get("TEST_EVERYTHING") else pytest.skip)(f"{program} is missing")


@pytest.fixture(scope="module")
def browser():
    """A real one, without a window; it keeps what it was asked to load and what went wrong."""
    from selenium import webdriver

    if not (shutil.which("chromium") and shutil.which("chromedriver")):
        missing("Chromium (chromium, chromium-driver)")
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1280,900"):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    service = webdriver.ChromeService(shutil.which("chromedriver"))
    driver = webdriver.Chrome(options, service)
    driver.set_page_load_timeout(600)
    yield driver
    driver.quit()


@pytest.fixture(scope="session")
def leaderboard(tmp_path_factory):
    """The pages of the published leaderboard."""
    records = Path(__file__).parents[1] / "results" / "leaderboard"
    return robustssl.site(records, tmp_path_factory.mktemp("leaderboard")).parent


@pytest.fixture(scope="session")
def server():
    """A PostgreSQL server, for as long as the tests run; whoever stops it starts it again."""
    if not find_spec("psycopg"):
        missing("psycopg")
    if servers.programs() is None:
        missing("PostgreSQL")
    with servers.Server() as started:
        yield started


@pytest.fixture(scope="session")
def postgres(server):
    """The URL of a PostgreSQL server, with a password in it."""
    return server.url


@pytest.fixture
def database(postgres):
    """The URL of an empty database."""
    name = f"t{uuid.uuid4().hex}"
    engine = sa.create_engine(postgres, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name}")
    engine.dispose()
    return postgres.set(database=name).render_as_string(hide_password=False)


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request, tmp_path):
    """Where a store may be: a file, a database."""
    if request.param == "sqlite":
        return tmp_path / "s.sqlite"
    return request.getfixturevalue("database")


@contextmanager
def here():
    """Groups are run in this process: for tests that change code or look at it at work, and for
    those that are about records alone, since a process imports nets anew.
    """

    def run_groups(groups, work, workers, **_):
        yield from (local.timed(work, group) for group in groups)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local, "run_groups", run_groups)
        yield


@pytest.fixture
def in_process():
    with here():
        yield


@pytest.fixture
def correct(monkeypatch, in_process):
    """Gives a built-in thing another version, as if its code had been corrected."""

    def set_version(name, version, kind="algorithm"):
        document = copy.deepcopy(catalog._document())
        document[kind][name]["version"] = version
        monkeypatch.setattr(catalog, "_document", lambda: document)
        catalog.entry.cache_clear()
        registry.about.cache_clear()

    yield set_version
    monkeypatch.undo()
    catalog.entry.cache_clear()
    registry.about.cache_clear()
