"""Shared by the tests: small studies, and the tables that tests want shown."""

import os

import pytest

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[_name] = "1"  # tests run side by side; many small fits must not fight


def pytest_terminal_summary(terminalreporter):
    for report in terminalreporter.getreports("passed"):
        for name, table in getattr(report, "user_properties", ()):
            terminalreporter.section(name)
            terminalreporter.write_line(table)


@pytest.fixture
def small():
    """A study of 48 cells that takes a second."""
    return {
        "algorithms": ["supervised_logistic", "label_spreading"],
        "environments": ["label", "feature"],
        "datasets": ["iris"],
        "labels": 3,
        "ts": [0, 0.5, 1],
        "seeds": 4,
    }
