"""The report: numbers that follow from the store, figures that can be read."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pandas as pd
import pytest

import robustssl
from robustssl.compare import area_below, break_even, gain
from robustssl.reports.plot import draw_curves
from robustssl.results import KeyedCurve, curves, read


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "s.sqlite"
    study = {
        "algorithms": ["supervised_kernel", "label_spreading", "label_spreading[alpha=0.9]"],
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
        assert row.VS_floor == pytest.approx(curve.noise_floor()["VS"])
        if row.algorithm != "supervised_kernel":
            difference = gain(curve, by_name[row.environment, row.dataset, "supervised_kernel"])
            assert row.gain == pytest.approx(difference.metrics()["AUC"])
            assert row.break_even == str(break_even(difference))


def test_the_page_and_the_latex_hold_the_same_rows(store, tmp_path):
    robustssl.report(store, tmp_path)
    page, latex = (tmp_path / "table.md").read_text(), (tmp_path / "table.tex").read_text()
    assert page.count("| supervised_kernel ") == 4
    assert latex.count(r"supervised\_kernel") == 4
    assert latex.startswith(r"\begin{tabular}")
    assert r"\toprule" in latex
    assert "![Score over the inconsistency t](rac.png)" in page
    assert len(re.findall(r"\d\.\d{3} \[\d\.\d{3}, \d\.\d{3}\]", page)) > 30
    for _, row in pd.read_csv(tmp_path / "table.csv").iterrows():
        found = f"{row.EVM_estimate:.3f} [{row.EVM_low:.3f}, {row.EVM_high:.3f}]"
        plain = "" if f"{row.EVM:.3f}" == f"{row.EVM_estimate:.3f}" else f" ({row.EVM:.3f})"
        assert f"| {found}{plain} " in page


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
    red, green, blue = (int(looks["supervised_kernel"][0][i : i + 2], 16) for i in (1, 3, 5))
    assert red == green == blue  # the baseline is grey


def test_twenty_algorithms_look_different():
    ts, scores = np.array([0.0, 1.0]), np.full((2, 2), 0.5)
    key = {"environment": "label", "dataset": "iris", "labels": 5, "source": None, "target": None}
    found = [KeyedCurve({**key, "algorithm": f"m{i:02}"}, ts, scores, (0, 1)) for i in range(20)]
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
        "algorithms": ["doomed:Dead", "supervised_logistic", "label_spreading"],
        "environments": "label",
        "datasets": "digits",
    }
    robustssl.run(study, tmp_path / "s.sqlite", workers=1)
    robustssl.report(tmp_path / "s.sqlite", tmp_path / "report")
    page = (tmp_path / "report" / "table.md").read_text()
    rows = {line.split()[3]: line for line in page.splitlines() if line.startswith("| ")}
    assert "FLAT" in rows["doomed:Dead"]
    assert "FLAT" not in rows["supervised_logistic"]
    assert "FLAT" not in rows["label_spreading"]


def test_gain_is_over_the_seeds_that_both_have(tmp_path):
    """The baseline has seeds 0 to 3, the learner 1 to 4; and the baseline of its own options."""
    store = tmp_path / "s.sqlite"
    place = {"environments": "feature", "datasets": "wine"}
    for algorithm, seeds in (
        ("supervised_logistic[C=0.1]", [0, 1, 2, 3]),
        ("self_training[C=0.1]", [1, 2, 3, 4]),
        ("self_training", [1, 2, 3, 4]),
    ):
        robustssl.run({**place, "algorithms": algorithm, "seeds": seeds}, store, workers=1)
    robustssl.report(store, tmp_path)
    table = pd.read_csv(tmp_path / "table.csv").set_index("algorithm")
    found = {c.key["algorithm"]: c for c in curves(read(store))}
    ours, theirs = found["self_training[C=0.1]"], found["supervised_logistic[C=0.1]"]
    assert (ours.seeds, theirs.seeds) == ((1, 2, 3, 4), (0, 1, 2, 3))
    difference = ours.scores[:3] - theirs.scores[1:]
    expected = robustssl.Curve(ours.ts, difference, bounds=(-1, 1))
    row = table.loc["self_training[C=0.1]"]
    assert row.gain == pytest.approx(expected.metrics()["AUC"])
    assert (row.gain_low, row.gain_high) == pytest.approx(
        (expected.interval("AUC").low, expected.interval("AUC").high)
    )
    assert row.area_below == pytest.approx(area_below(expected.ts, expected.mean))
    assert row.area_below > 0
    assert "supervised_logistic was not run" in table.note["self_training"]


def test_a_curve_cut_short_is_said(tmp_path, small):
    store = tmp_path / "s.sqlite"
    robustssl.run(small, store, workers=1)
    robustssl.export(store, tmp_path / "all.jsonl")
    lines = (tmp_path / "all.jsonl").read_text().splitlines(keepends=True)
    kept = [line for line in lines if '"label_spreading"' not in line or '"t": 1.0' not in line]
    (tmp_path / "some.jsonl").write_text("".join(kept))
    robustssl.load(tmp_path / "some.jsonl", tmp_path / "cut.sqlite")
    robustssl.report(tmp_path / "cut.sqlite", tmp_path / "report")
    page = (tmp_path / "report" / "table.md").read_text()
    assert "algorithm=label_spreading: left out, it lacks t = 1" in page
    assert "| label_spreading" not in page


def test_the_band_is_the_95_percent_band(store):
    found = [c for c in curves(read(store)) if c.key["algorithm"] == "label_spreading"][:1]
    figure = draw_curves(found, "accuracy")
    (band,) = figure.axes[0].collections
    low, high = robustssl.Curve(found[0].ts, found[0].scores).band(0.95)
    drawn = band.get_paths()[0].vertices[:, 1]
    assert drawn.min() == pytest.approx(low.min())
    assert drawn.max() == pytest.approx(high.max())


def test_a_legend_of_long_names_stays_on_the_page():
    ts, scores = np.array([0.0, 1.0]), np.full((2, 2), 0.5)
    key = {"environment": "label", "dataset": "iris", "labels": 5, "source": None, "target": None}
    names = [f"self_training[C=0.1,rounds=3,threshold=0.{i}]" for i in range(9)]
    figure = draw_curves(
        [KeyedCurve({**key, "algorithm": name}, ts, scores, (0, 1)) for name in names], "accuracy"
    )
    figure.draw_without_rendering()
    box = figure.legends[0].get_window_extent()
    assert box.x0 >= 0
    assert box.x1 <= figure.bbox.width


def test_what_is_missing_failed_or_stale_is_said(tmp_path, small, monkeypatch):
    store = tmp_path / "s.sqlite"
    robustssl.run(small, store, workers=1)
    robustssl.run({**small, "algorithms": "doomed:Fails"}, store, workers=1)
    monkeypatch.setattr(robustssl.algorithm("supervised_logistic"), "version", 2)
    robustssl.report(store, tmp_path / "report")
    page = (tmp_path / "report" / "table.md").read_text()
    assert "24 records of another version (stale)" in page
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
