"""The report: numbers that follow from the store, figures that can be read."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pandas as pd
import pytest

import robustssl
from robustssl.compare import break_even, gain
from robustssl.reports.plot import draw_curves
from robustssl.results import KeyedCurve, curves, read


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "s.sqlite"
    study = {
        "algorithms": ["supervised_xgboost", "label_spreading", "label_spreading[alpha=0.9]"],
        "environments": ["label", "feature"],
        "datasets": ["wine", "iris"],
        "labels": 3,
        "ts": [0, 0.5, 1],
        "seeds": 3,
    }
    robustssl.run(study, path, workers=1)
    return path


def test_the_table_follows_from_the_store(store, tmp_path):
    robustssl.report(store, tmp_path)
    table = pd.read_csv(tmp_path / "table.csv")
    assert len(table) == 12
    by_name = {
        tuple(c.key[k] for k in ("environment", "dataset", "algorithm")): robustssl.Curve(
            c.ts, c.scores
        )
        for c in curves(read(store))
    }
    for row in table.itertuples():
        curve = by_name[row.environment, row.dataset, row.algorithm]
        assert pytest.approx(curve.metrics()["AUC"]) == row.AUC
        assert row.EVM_high == pytest.approx(curve.interval("EVM").high)
        assert row.p_depends_on_t == pytest.approx(curve.dependence())
        assert row.EVM_floor == pytest.approx(curve.noise_floor()["EVM"])
        if row.algorithm != "supervised_xgboost":
            difference = gain(curve, by_name[row.environment, row.dataset, "supervised_xgboost"])
            assert row.gain == pytest.approx(difference.metrics()["AUC"])
            assert row.break_even == str(break_even(difference))


def test_the_page_and_the_latex_hold_the_same_rows(store, tmp_path):
    robustssl.report(store, tmp_path)
    page, latex = (tmp_path / "table.md").read_text(), (tmp_path / "table.tex").read_text()
    assert page.count("| supervised_xgboost ") == 4
    assert latex.count(r"supervised\_xgboost") == 4
    assert latex.startswith(r"\begin{tabular}")
    assert r"\toprule" in latex
    assert "![Score over the inconsistency t](rac.png)" in page
    assert len(re.findall(r"\d\.\d{3} \[\d\.\d{3}, \d\.\d{3}\]", page)) > 30
    row = pd.read_csv(tmp_path / "table.csv").query("algorithm == 'label_spreading'").iloc[0]
    estimate, low, high = row.EVM_estimate, row.EVM_low, row.EVM_high
    assert f"{estimate:.3f} [{low:.3f}, {high:.3f}] ({row.EVM:.3f})" in page


def test_every_curve_is_in_the_figure_with_its_own_look(store):
    found = curves(read(store))
    figure = draw_curves(found, "accuracy")
    assert len(figure.axes) == 4
    looks = {}
    for panel in figure.axes:
        assert len(panel.lines) == 3
        assert len(panel.collections) == 3  # the bands
        for line in panel.lines:
            look = (line.get_color(), line.get_marker(), line.get_linestyle())
            assert looks.setdefault(line.get_label(), look) == look
    assert len(set(looks.values())) == 3
    red, green, blue = (int(looks["supervised_xgboost"][0][i : i + 2], 16) for i in (1, 3, 5))
    assert red == green == blue  # the baseline is grey


def test_twenty_algorithms_look_different():
    ts, scores = np.array([0.0, 1.0]), np.full((2, 2), 0.5)
    key = {"environment": "label", "dataset": "iris", "labels": 5, "source": None, "target": None}
    found = [KeyedCurve({**key, "algorithm": f"m{i:02}"}, ts, scores) for i in range(20)]
    (panel,) = draw_curves(found, "accuracy").axes
    assert len({(line.get_color(), line.get_linestyle()) for line in panel.lines}) == 20


def test_figures_are_files_that_open(store, tmp_path):
    robustssl.report(store, tmp_path)
    assert (tmp_path / "rac.png").read_bytes().startswith(b"\x89PNG")
    ET.parse(tmp_path / "rac.svg")
    first = (tmp_path / "rac.svg").read_bytes()
    robustssl.report(store, tmp_path)
    assert (tmp_path / "rac.svg").read_bytes() == first


def test_a_flat_curve_raises_an_alarm(tmp_path):
    study = {
        "algorithms": ["doomed:Constant", "supervised_logistic"],
        "environments": "label",
        "datasets": "wine",
    }
    robustssl.run(study, tmp_path / "s.sqlite", workers=1)
    robustssl.report(tmp_path / "s.sqlite", tmp_path / "report")
    page = (tmp_path / "report" / "table.md").read_text()
    (row,) = (line for line in page.splitlines() if "doomed:Constant" in line)
    assert "FLAT" in row
    (row,) = (line for line in page.splitlines() if "supervised_logistic" in line)
    assert "FLAT" not in row


def test_what_is_missing_failed_or_stale_is_said(tmp_path, small, monkeypatch):
    store = tmp_path / "s.sqlite"
    robustssl.run(small, store, workers=1)
    robustssl.run({**small, "algorithms": "doomed:Fails"}, store, workers=1)
    monkeypatch.setattr(robustssl.algorithm("supervised_logistic"), "version", 2)
    robustssl.report(store, tmp_path / "report")
    page = (tmp_path / "report" / "table.md").read_text()
    assert "24 records of an older version (stale)" in page
    assert "8 failed cells of doomed:Fails: RuntimeError: a column is constant" in page
    assert "| supervised_logistic" not in page


def test_nothing_to_report(tmp_path, small):
    store = tmp_path / "s.sqlite"
    robustssl.Store(store).close()
    with pytest.raises(robustssl.InputError, match="no scores to report"):
        robustssl.report(store, tmp_path / "report")
    assert not (tmp_path / "report").exists()


def test_another_score_and_an_unknown_one(store, tmp_path):
    robustssl.report(store, tmp_path, score="auroc")
    assert "The score is auroc" in (tmp_path / "table.md").read_text()
    with pytest.raises(robustssl.InputError, match="did you mean 'auroc'"):
        robustssl.report(store, tmp_path, score="auroq")
