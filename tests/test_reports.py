"""The report: numbers that follow from the store, figures that can be read."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import PathCollection

import robustssl
from robustssl import Cell, InputError, Record, registry
from robustssl.analysis.beside import replaced_and_added
from robustssl.analysis.compare import area_below, break_even, gain, mean_ranks
from robustssl.analysis.curves import KeyedCurve, curves, matched
from robustssl.analysis.table import study_table
from robustssl.environments import Environment
from robustssl.records.catalog import method_of
from robustssl.records.files import read_frame
from robustssl.records.frame import successes, with_versions
from robustssl.records.results import read
from robustssl.reports import folder
from robustssl.reports.curve_figures import draw_curves, draw_gains
from robustssl.reports.folder import _sorted
from robustssl.reports.style import looks, style
from robustssl.reports.table_figures import draw_map, draw_metrics, draw_ranks
from robustssl.sites.payload import payload


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


@pytest.fixture
def texts(store, tmp_path, no_figures):
    """The folder of its report."""
    robustssl.report(store, tmp_path)
    return tmp_path


def test_the_table_follows_from_the_store(store, texts):
    table = pd.read_csv(texts / "table.csv")
    assert len(table) == 12
    by_name = {
        tuple(c.key[k] for k in ("environment", "dataset", "algorithm")): c.curve
        for c in curves(read(store))
    }
    pairs = {
        tuple(c.key[k] for k in ("environment", "dataset", "algorithm")): pair
        for c, pair in matched(curves(read(store)))
    }
    for row in table.itertuples():
        curve = by_name[row.environment, row.dataset, row.algorithm]
        assert pytest.approx(curve.metrics()["AUC"]) == row.AUC
        assert row.EVM_high == pytest.approx(curve.interval("EVM").high, nan_ok=True)
        assert row.p_depends_on_t == pytest.approx(curve.dependence())
        assert row.EVM_floor == pytest.approx(curve.noise_floor()["EVM"])
        assert row.VS_floor == pytest.approx(curve.noise_floor()["VS"])
        if row.algorithm != "supervised_kernel":
            difference = gain(curve, by_name[row.environment, row.dataset, "supervised_kernel"])
            assert row.gain == pytest.approx(difference.metrics()["AUC"])
            known = pairs[row.environment, row.dataset, row.algorithm].gain
            assert row.break_even == str(break_even(known))
            assert known.scores == pytest.approx(difference.scores)


def test_the_page_and_the_latex_hold_the_same_rows(texts):
    page, latex = (texts / "table.md").read_text(), (texts / "table.tex").read_text()
    assert page.count("| supervised_kernel ") == 4 + 1  # and over all tasks
    assert latex.count(r"supervised\_\allowbreak{}kernel") == 4
    assert latex.count(r"\begin{tabularx}") == latex.count(r"\label{tab:robustssl}") == 1
    assert r"\toprule" in latex
    assert len(re.findall(r"\d\.\d{3} \[\d\.\d{3}, \d\.\d{3}\]", page)) > 30
    for _, row in pd.read_csv(texts / "table.csv").iterrows():
        note = "" if pd.isna(row.EVM_note) else row.EVM_note
        found = f"{row.EVM_estimate:.3f} [{row.EVM_low:.3f}, {row.EVM_high:.3f}]{note}"
        if np.isnan(row.EVM_low):
            found = f"{row.EVM_estimate:.3f} (no interval)"
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
    found = [
        KeyedCurve({**key, "algorithm": f"m{i:02}"}, ts, scores, (0, 1), name=f"m{i:02}")
        for i in range(20)
    ]
    (panel,) = draw_curves(found, "accuracy").axes
    assert len({(line.get_color(), line.get_linestyle()) for line in panel.lines}) == 20


@pytest.mark.slow
def test_figures_are_files_that_open(store, tmp_path):
    robustssl.report(store, tmp_path)
    assert (tmp_path / "rac.png").read_bytes().startswith(b"\x89PNG")
    ET.parse(tmp_path / "rac.svg")
    first = (tmp_path / "rac.svg").read_bytes()
    robustssl.report(store, tmp_path)
    assert (tmp_path / "rac.svg").read_bytes() == first


def test_a_flat_curve_raises_an_alarm(tmp_path, no_figures):
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


def test_gain_is_over_the_seeds_that_both_have(tmp_path, no_figures):
    """The baseline has seeds 0 to 3, the learner 1 to 4; and the baseline of its own options."""
    store = tmp_path / "s.sqlite"
    place = {"environments": "feature", "datasets": "wine"}
    for algorithm, seeds in (
        ("supervised_logistic[C=0.1]", [0, 1, 2, 3]),
        ("self_training[C=0.1]", [1, 2, 3, 4]),
        ("self_training", [1, 2, 3, 4]),
    ):
        only = {"only": {"algorithm": algorithm}, "seeds": seeds}
        robustssl.run({**place, "algorithms": algorithm, **only}, store, workers=1)
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


def test_a_curve_cut_short_is_said(tmp_path, small, no_figures):
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
        [KeyedCurve({**key, "algorithm": name}, ts, scores, (0, 1), name=name) for name in names],
        "accuracy",
    )
    figure.draw_without_rendering()
    box = figure.legends[0].get_window_extent()
    assert box.x0 >= 0
    assert box.x1 <= figure.bbox.width


def test_what_is_missing_failed_or_older_is_said(tmp_path, small, correct, no_figures):
    store = tmp_path / "s.sqlite"
    robustssl.run(small, store, workers=1)
    robustssl.run({**small, "algorithms": "doomed:Fails"}, store, workers=1)
    correct("supervised_kernel", 2)
    robustssl.report(store, tmp_path / "report")
    page = (tmp_path / "report" / "table.md").read_text()
    assert "24 records of supervised_kernel are of an older version" in page
    assert "8 failed cells of doomed:Fails: RuntimeError: a column is constant" in page
    rows = [line for line in page.splitlines() if "| supervised_kernel" in line]
    assert len(rows) == 2 + 1  # of each task, and over both
    assert all("of an older version" in row for row in rows)
    robustssl.run({**small, "algorithms": "supervised_kernel"}, store, workers=1)
    robustssl.report(store, tmp_path / "report")
    page = (tmp_path / "report" / "table.md").read_text()
    assert "24 records are left out: newer versions of their curves are here" in page
    assert "of an older version" not in page


def test_curves_are_compared_only_within_the_same_versions(tmp_path, small, correct):
    """Of another version of the environment, a baseline is no baseline."""
    store = tmp_path / "s.sqlite"
    robustssl.run({**small, "algorithms": "supervised_kernel"}, store, workers=1)
    correct("label", 99, kind="environment")
    robustssl.run({**small, "only": {"algorithm": "label_spreading"}}, store, workers=1)
    table = robustssl.curves(store).to_pandas().set_index(["environment", "method"])
    assert np.isnan(table.gain["label", "label_spreading"])
    assert "was not run" in table.note["label", "label_spreading"]
    assert (table["rank"].loc["label"] == 1).all()
    assert not np.isnan(table.gain["feature", "label_spreading"])
    assert sorted(table["rank"].loc["feature"]) in ([1, 1], [1, 2])
    tasks = payload(successes(with_versions(read_frame(store))))["tasks"]
    older = {(task["environment"], task["versions"][0] == 99): task["older"] for task in tasks}
    assert older == {("label", False): True, ("label", True): False, ("feature", False): False}


def test_nothing_to_report(tmp_path, small):
    store = tmp_path / "s.sqlite"
    robustssl.Store(store).close()
    with pytest.raises(robustssl.InputError, match="no scores to report"):
        robustssl.report(store, tmp_path / "report")
    assert not (tmp_path / "report").exists()


def test_another_score_and_an_unknown_one(store, tmp_path, no_figures):
    robustssl.report(store, tmp_path, score="auroc")
    assert "The score is auroc" in (tmp_path / "table.md").read_text()
    with pytest.raises(robustssl.InputError, match="did you mean 'auroc'"):
        robustssl.report(store, tmp_path, score="auroq")


def made(algorithm, scores, environment="label", dataset="wine"):
    """A curve of one's own, a row for each seed."""
    key = {"environment": environment, "dataset": dataset, "labels": 5, "source": None}
    scores = np.asarray(scores, float)
    ts = np.linspace(0, 1, scores.shape[1])
    key |= {"target": None, "algorithm": algorithm}
    seeds = tuple(range(len(scores)))
    said = {"name": algorithm, "method": method_of(algorithm), "rows": 9999}
    return KeyedCurve(key, ts, scores, seeds, **said)


def test_ranks_and_what_is_not_significantly_worse():
    rng = np.random.default_rng(0)
    level = rng.normal(0, 0.05, (5, 1))  # what all methods share in a seed
    first = 0.8 + level + rng.normal(0, 0.001, (5, 3))
    near = first + rng.normal(0, 0.01, (5, 3))
    worse = first - 0.03 + rng.normal(0, 0.002, (5, 3))
    short = first[:3] + 0.1
    table = study_table(
        [made("worse", worse), made("first", first), made("near", near), made("short", short)]
    ).set_index("algorithm")
    whole = table.loc[["worse", "first", "near"]]
    assert whole.AUC.rank(ascending=False).tolist() == whole["rank"].tolist()
    assert table["best"].to_dict() == {"worse": False, "first": True, "near": True, "short": None}
    assert np.isnan(table["rank"]["short"])
    assert table.incomplete.to_dict()["short"] == "3 of 5 seeds: no rank"


def test_a_curve_that_is_worse_in_every_seed_is_told_apart_though_the_bands_overlap():
    level = np.linspace(-0.2, 0.2, 5)[:, None]
    table = study_table(
        [made("a", 0.7 + level + np.zeros(3)), made("b", 0.69 + level + np.zeros(3))]
    )
    assert table.set_index("algorithm").best.to_dict() == {"a": True, "b": False}
    assert table.AUC_low.max() < table.AUC_high.min()


def test_break_even_is_ringed_where_the_gain_turns_negative():
    base = np.full((3, 3), 0.5)
    falling = base + np.array([0.1, -0.1, -0.2])
    with style():
        figure = draw_gains([made("supervised_kernel", base), made("label_spreading", falling)])
    (panel,) = figure.axes
    (ring,) = [line for line in panel.lines if line.get_markersize() == 8]
    assert ring.get_xydata() == pytest.approx(np.array([[0.25, 0]]))
    assert draw_gains([made("supervised_kernel", base)]) is None


def test_an_algorithm_has_one_look_everywhere():
    with style():
        alone = looks({"fixmatch": False})["fixmatch"]
        known = {name: name.startswith("supervised") for name in registry.names("algorithm")}
        among = looks({**known, "mine:A": None, "mine:B": False})
    assert among["fixmatch"] == alone
    methods = [name for name in among if not name.startswith("supervised")]
    assert len({tuple(among[name].values()) for name in methods}) == len(methods)
    baselines = [name for name in among if name.startswith("supervised")]
    assert len({tuple(among[name].values()) for name in baselines}) == len(baselines)


def test_figures_of_a_report(tmp_path):
    """Every figure is made where it can be, in three forms, and holds what it should."""
    pytest.importorskip("torch")
    store = tmp_path / "s.sqlite"
    study = {
        "algorithms": [
            "supervised_kernel",
            "label_spreading",
            "supervised_net[steps=5]",
            "fixmatch[steps=5]",
        ],
        "environments": "label",
        "datasets": ["wine", "iris"],
        "ts": [0, 1],
        "seeds": 2,
    }
    robustssl.run(study, store, workers=1, progress=False)
    own = tmp_path / "own.mplstyle"
    colours = "axes.prop_cycle: cycler('color', ['ff0000', '00ff00'])"
    own.write_text(f"font.size: 14\nsavefig.dpi: 40\n{colours}\n")
    files = robustssl.report(store, tmp_path / "r", style=own)
    names = {"rac", "gain", "metrics", "ranks", "map", "cost", "detection"}
    assert {file.stem for file in files} == {*names, "table", "means"}
    drawn = {file.suffix for file in files if file.stem in names}
    assert drawn == {".png", ".svg", ".pdf", ".tex"}
    svg = (tmp_path / "r" / "rac.svg").read_text()
    assert "#00ff00" in svg or "#ff0000" in svg
    assert "chance" in (tmp_path / "r" / "detection.svg").read_text()
    ranks = (tmp_path / "r" / "ranks.svg").read_text()
    assert "Mean rank of AUC among 4 methods over 2 datasets" in ranks
    assert all(name in ranks for name in ("label_spreading", "supervised_net"))
    for name in ("gain.pdf", "cost.pdf"):
        assert (tmp_path / "r" / name).read_bytes().startswith(b"%PDF")
    with pytest.raises(robustssl.InputError, match="cannot read the style"):
        robustssl.report(store, tmp_path / "r", style=tmp_path / "none.mplstyle")


TS = (0.0, 0.5, 1.0)
DIST = "distribution"


def recorded(method, environment=DIST, dataset="wine", seeds=3, digest=None, **scores):
    """Records of a method; of each score a number for each t, to which seed / 100 is added."""
    described = registry.describe(method)
    cells = [Cell(method, environment, dataset, 5, t, seed) for seed in range(seeds) for t in TS]
    return [
        Record(
            cell,
            registry.versions(cell),
            {name: values[TS.index(cell.t)] + cell.seed / 100 for name, values in scores.items()},
            method=described,
            digest=digest,
            test_rows=100,
        )
        for cell in cells
    ]


def reported(tmp_path, *records, **how):
    """The page of a report of these records, and its table."""
    with robustssl.Store(tmp_path / "s.sqlite") as store:
        store.add_all([record for part in records for record in part])
    robustssl.report(tmp_path / "s.sqlite", tmp_path / "r", **how)
    return (tmp_path / "r" / "table.md").read_text(), pd.read_csv(tmp_path / "r" / "table.csv")


def lines_of(page, heading, until="\n## "):
    """The rows of the tables of a section: method -> column -> text."""
    text = page.partition(f"## {heading}\n")[2].partition(until)[0]
    rows = [
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in text.splitlines()
        if line.startswith("|") and not line.startswith("|-")
    ]
    return {row[0]: dict(zip(rows[0], row, strict=True)) for row in rows[1:]}


def test_a_method_may_lose_on_test_rows_and_gain_on_inconsistent_ones(tmp_path, no_figures):
    page, table = reported(
        tmp_path,
        recorded("supervised_kernel", accuracy=(0.8,) * 3, accuracy_there=(0.5,) * 3),
        recorded("label_spreading", accuracy=(0.8, 0.7, 0.6), accuracy_there=(0.5, 0.6, 0.6)),
        recorded("label_propagation", accuracy=(0.8, 0.8, 0.7)),
        recorded("supervised_kernel", "label", accuracy=(0.8,) * 3),
    )
    rows = lines_of(page, "On inconsistent rows")
    assert set(rows) == {"supervised_kernel", "label_spreading", "label_propagation"}
    half = 4.302653 * 0.01 / 3**0.5  # seeds are .01 apart
    mine = rows["label_spreading"]
    assert mine["accuracy"] == f"0.710 [{0.71 - half:.3f}, {0.71 + half:.3f}]"
    assert mine["accuracy there"] == f"0.585 [{0.585 - half:.3f}, {0.585 + half:.3f}]"
    assert mine["gain"].startswith("-0.100 [")
    assert mine["gain there"] == "+0.075 (no interval)"  # not known of how many rows it is a share
    assert mine["break-even there"] == "none"
    assert rows["supervised_kernel"]["gain there"] == ""
    old = rows["label_propagation"]
    assert old["accuracy there"] == old["gain there"] == "not known"
    assert "Not known for wine, unknown classes, 5 labels a class:" in page
    of = table.set_index(["environment", "algorithm"]).loc["distribution"]
    assert of.accuracy_there["label_spreading"] == pytest.approx(0.585)
    assert of.accuracy_there_gain["label_spreading"] == pytest.approx(0.075)
    assert np.isnan(of.accuracy_there["label_propagation"])
    latex = (tmp_path / "r" / "there.tex").read_text()
    assert latex.count("not known") == 2
    assert latex.count("wine") == 1  # the heading of its rows


def test_both_numbers_of_a_page_are_those_of_a_report_of_one_score(tmp_path, no_figures):
    study = {
        "algorithms": ["supervised_kernel", "label_spreading"],
        "environments": ["distribution"],
        "datasets": ["wine", "iris"],
        "labels": 3,
        "ts": [0, 0.5, 1],
        "seeds": 3,
    }
    robustssl.run(study, tmp_path / "s.sqlite", workers=1, progress=False)
    robustssl.report(tmp_path / "s.sqlite", tmp_path / "both")
    robustssl.report(tmp_path / "s.sqlite", tmp_path / "one", score="accuracy_there")
    both, one = (pd.read_csv(tmp_path / name / "table.csv") for name in ("both", "one"))
    assert "On inconsistent rows" not in (tmp_path / "one" / "table.md").read_text()
    keys = ["dataset", "algorithm"]
    both, one = both.sort_values(keys), one.sort_values(keys)
    for mine, theirs in (("", "AUC"), ("_low", "AUC_low"), ("_gain", "gain")):
        column = both[f"accuracy_there{mine}"].to_numpy()
        assert column == pytest.approx(one[theirs].to_numpy(), nan_ok=True)
    assert both.AUC.tolist() != both.accuracy_there.tolist()


def test_the_same_predictions_of_test_rows_say_nothing_of_other_rows(tmp_path, no_figures):
    same = {"accuracy": (0.8,) * 3, "digest": "the same"}
    page, _ = reported(
        tmp_path,
        recorded("supervised_kernel", accuracy_there=(0.5,) * 3, **same),
        recorded("label_spreading", accuracy_there=(0.5,) * 3, **same),
    )
    row = lines_of(page, "On inconsistent rows")["label_spreading"]
    assert (row["gain"], row["gain there"]) == ("0.000 (identical)", "0.000 (no interval)")
    shown = payload(successes(with_versions(read_frame(tmp_path / "s.sqlite"))))
    scores = shown["curves"][1]["scores"]
    assert scores["accuracy"]["identical"]
    assert not scores["accuracy_there"]["identical"]


def test_records_that_do_not_say_it_have_no_accuracy_there(tmp_path, no_figures):
    page, table = reported(
        tmp_path,
        recorded("supervised_kernel", accuracy=(0.8,) * 3),
        recorded("label_spreading", accuracy=(0.8, 0.7, 0.6)),
    )
    assert "Not known for any task here:" in page
    assert lines_of(page, "On inconsistent rows") == {}
    assert not [name for name in table if "there" in name]
    assert not (tmp_path / "r" / "there.tex").exists()


def test_a_loss_with_rows_replaced_has_two_parts(tmp_path, no_figures):
    add = "distribution[mix=add]"
    page, _ = reported(
        tmp_path,
        *(recorded("supervised_kernel", where, accuracy=(0.7,) * 3) for where in (DIST, add)),
        recorded("label_spreading", accuracy=(0.8, 0.7, 0.4)),
        recorded("label_spreading", add, seeds=2, accuracy=(0.8, 0.8, 0.7)),
        recorded("label_propagation", add, accuracy=(0.8, 0.8, 0.8)),
        recorded("self_training", accuracy=(0.9, 0.9, 0.9)),
        recorded("label_spreading", dataset="iris", accuracy=(0.8, 0.7, 0.4)),
    )
    rows = lines_of(page, "Rows replaced or added")
    assert set(rows) == {"label_spreading", "label_propagation", "self_training"}
    both = rows["label_spreading"]
    assert both["seeds"] == "2"
    assert both["gain, replaced"].startswith("-0.050 ")
    assert both["gain, added"].startswith("+0.075 ")
    losses = [float(both[f"loss, {how}"].split()[0]) for how in ("replaced", "added")]
    assert losses == [0.15, 0.025]
    assert both["added - replaced"].startswith("+0.125 [")
    alone = rows["label_propagation"]
    assert alone["gain, replaced"] == alone["loss, replaced"] == "not run"
    assert alone["added - replaced"] == "not run"
    assert alone["gain, added"].startswith("+0.100 ")
    other = rows["self_training"]
    assert other["gain, added"] == other["added - replaced"] == "not run"
    assert other["gain, replaced"] == "not known"
    latex = (tmp_path / "r" / "mix.tex").read_text()
    assert "added - replaced" in latex


def test_the_difference_of_mixes_is_paired_by_seed_and_both_start_alike(tmp_path):
    study = {
        "algorithms": ["label_spreading", "ssgmm"],
        "environments": ["distribution", "distribution[mix=add]"],
        "datasets": ["wine", "digits"],
        "labels": 3,
        "ts": [0, 0.5, 1],
        "seeds": 3,
    }
    robustssl.run(study, tmp_path / "s.sqlite", workers=1, progress=False)
    found = curves(read(tmp_path / "s.sqlite"))
    at = {(c.algorithm, c.key["dataset"], c.key["environment"]): c.scores for c in found}
    table = replaced_and_added(found)
    assert len(table) == 4
    for row in table.itertuples():
        replaced, added = (at[row.algorithm, row.dataset, where] for where in study["environments"])
        assert np.array_equal(replaced[:, 0], added[:, 0])
        seeds = np.trapezoid(added - replaced, [0, 0.5, 1])
        assert row.difference == pytest.approx(seeds.mean())
        assert row.replace_loss == pytest.approx(row.add_loss + row.difference)
        if np.ptp(seeds) > 0:
            half = 4.302653 * seeds.std(ddof=1) / 3**0.5
            assert row.difference_high - row.difference == pytest.approx(half, abs=1e-6)


def test_without_rows_added_there_is_no_such_section(texts):
    assert "Rows replaced or added" not in (texts / "table.md").read_text()


def test_methods_are_judged_by_the_score_of_their_environment_first(tmp_path, no_figures):
    scores = {"accuracy": (0.9, 0.8, 0.7), "balanced_accuracy": (0.6, 0.5, 0.4)}
    prior = [recorded("label_spreading", where, **scores) for where in ("prior", "prior[ratio=5]")]
    page, table = reported(tmp_path, *prior)
    assert "The score is balanced accuracy." in page
    assert table.AUC.tolist() == pytest.approx([0.51, 0.51])
    page, table = reported(tmp_path, recorded("label_spreading", "label", **scores))
    assert "The score is accuracy." in page
    assert "balanced accuracy where the shares of the\nclasses change, it stands before AUC" in page
    first, *_ = [line for line in page.splitlines() if "balanced accuracy" in line and "|" in line]
    words = [word.strip() for word in first.split("|")]
    assert words.index("balanced accuracy") < words.index("AUC")
    assert (
        "balanced accuracy" not in page.partition("## wine, unknown classes")[2].partition("##")[0]
    )
    of = table.set_index("environment")
    assert of.balanced_accuracy["prior"] == pytest.approx(0.51)
    assert np.isnan(of.balanced_accuracy["label"])
    assert (of.AUC - 0.81).abs().max() < 1e-9
    page, table = reported(tmp_path, score="accuracy")
    assert "balanced_accuracy" not in table


def test_rows_are_sorted_by_any_metric(store, tmp_path):
    table = study_table(curves(read(store)))
    for metric in ("EVM", "VS"):
        assert _sorted(table, metric)[metric].is_monotonic_increasing
    for metric in ("WA", "AUC", "Acc0"):
        assert _sorted(table, metric)[metric].is_monotonic_decreasing
    assert _sorted(table, "RCC").RCC.dropna().is_monotonic_decreasing
    with pytest.raises(robustssl.InputError, match="unknown metric to sort by 'AUCC'"):
        robustssl.report(store, tmp_path, sort="AUCC")


def test_reported_numbers_stand_beside_the_measured(store, tmp_path, no_figures):
    lines = ["environment,dataset,labels,algorithm,t,score,defect"]
    lines += [
        f"label,Wine,3,LabelSpreading,{t},{s},its loss was 0" for t, s in ((0, 0.9), (1, 0.7))
    ]
    lines += [f"label,wine,7,LabelSpreading,{t},0.5," for t in (0, 1)]
    lines += [f"label,wine,,LabelSpreading,{t},0.5," for t in (0, 1)]
    (tmp_path / "theirs.csv").write_text("\n".join(lines))
    robustssl.report(store, tmp_path / "r", published=tmp_path / "theirs.csv")
    page = (tmp_path / "r" / "table.md").read_text().partition("## Beside reported numbers")[2]
    rows = [line.split("|")[4:8] for line in page.splitlines() if line.startswith("| label")]
    assert sorted([cell.strip() for cell in row][0::2] for row in rows) == [
        ["label_spreading", "0.800"],
        ["label_spreading[alpha=0.9]", "0.800"],
    ]
    assert page.count("its loss was 0") == 2


def test_a_name_that_is_code_is_text_in_the_tables(tmp_path, no_figures):
    ts, seeds = (0.0, 1.0), (0, 1)
    name = "evil:<img>"
    with robustssl.Store(tmp_path / "s.sqlite") as opened:
        for t in ts:
            for seed in seeds:
                cell = robustssl.Cell(name, "label", "wine", 5, t, seed)
                opened.add(
                    robustssl.Record(
                        cell, (1, Environment.version, 1), {"accuracy": 0.5 + t * seed / 9}
                    )
                )
    robustssl.report(tmp_path / "s.sqlite", tmp_path / "r")
    page = (tmp_path / "r" / "table.md").read_text()
    assert "<img" not in page
    assert "evil:&lt;img&gt;" in page


def test_what_differs_by_rounding_alone_is_a_tie():
    third = [[1 / 3, 1 / 3, 1 / 3]] * 2
    near = [[1 / 3 + 1e-16, 1 / 3, 1 / 3 - 1e-16]] * 2
    table = study_table([made("a", third), made("b", near), made("c", np.asarray(third) - 0.1)])
    assert table["rank"].tolist() == [1, 1, 3]
    scores = pd.DataFrame([[0.5, 0.5 + 1e-16, 0.1]], columns=["a", "b", "c"])
    assert mean_ranks(scores).to_dict() == {"a": 1.5, "b": 1.5, "c": 3.0}


def test_figures_show_the_numbers_of_the_table(texts):
    table = pd.read_csv(texts / "table.csv")
    with style():
        drawn = draw_metrics(table.assign(source=None, target=None))
        rows = draw_map(table)
    first = table[(table.environment == "feature") & (table.dataset == "iris")].sort_values("AUC")
    evm = drawn.axes[2]
    dots = [c.get_offsets() for c in evm.collections if isinstance(c, PathCollection)]
    points = {int(y): x for part in dots for x, y in np.asarray(part)}
    assert [points[i] for i in range(3)] == pytest.approx(first.EVM_estimate.tolist())
    assert all(panel.get_ylim() == (-0.5, 2.5) for panel in drawn.axes)
    told = {text.get_text() for text in rows.axes[0].texts}
    means = table.dropna(subset="gain").groupby(["method", "environment"]).gain.mean()
    assert told == {f"{value:+.3f}" for value in means}
    ranks = draw_ranks(table)
    best = table.groupby("algorithm").AUC.mean().idxmax()
    texts = [text.get_text() for text in ranks.axes[0].texts]
    mean = mean_ranks(table.pivot_table(index="dataset", columns="algorithm", values="AUC"))
    assert any(f"{best} ({mean[best]:.1f})" in text for text in texts)


def test_of_many_tasks_single_ones_are_drawn_only_where_they_are_asked_for(tmp_path, monkeypatch):
    monkeypatch.setattr(folder, "MANY_TASKS", 1)
    record = {"scores": {"accuracy": 0.5}, "provenance": {}}
    with robustssl.Store(tmp_path / "s.sqlite") as store:
        for environment in ("label", "feature"):
            for t in (0.0, 1.0):
                for seed in (0, 1):
                    cell = robustssl.Cell("ssgmm", environment, "iris", 5, t, seed)
                    store.add(robustssl.Record(cell, (1, 1, 1), **record))
    files = robustssl.report(tmp_path / "s.sqlite", tmp_path / "all")
    assert "rac.png" not in {file.name for file in files}
    page = (tmp_path / "all" / "table.md").read_text()
    assert "since 2 do not fit into one" in page
    assert "rac.png" not in page
    files = robustssl.report(tmp_path / "s.sqlite", tmp_path / "one", only=["environment=label"])
    assert {"rac.png", "metrics.png"} <= {file.name for file in files}
    assert "(rac.png)" in (tmp_path / "one" / "table.md").read_text()
    table = pd.read_csv(tmp_path / "one" / "table.csv")
    assert set(table.environment) == {"label"}
    with pytest.raises(InputError, match="there are no records that are dataset=none"):
        robustssl.report(tmp_path / "s.sqlite", tmp_path / "none", only=["dataset=none"])
