"""Figures and tables for a paper, on the leaderboard and on a store with methods of one's own."""

import itertools
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from conftest import here, missing

import robustssl
from robustssl import InputError
from robustssl.analysis.curves import curves, matched
from robustssl.analysis.identical import same_as_baseline
from robustssl.analysis.matter import MOST, left_out, standings, that_matter
from robustssl.analysis.means import means_over_tasks
from robustssl.analysis.table import interval_of, study_table
from robustssl.records.files import read_frame
from robustssl.records.frame import scored, successes, with_versions
from robustssl.reports import folder as folders
from robustssl.reports.curve_figures import draw_curves, draw_gains
from robustssl.reports.fitting import fitting
from robustssl.reports.latex import section_tex, table_tex
from robustssl.reports.layout import broken
from robustssl.reports.sections import means_section
from robustssl.reports.shown import WIDTHS, proper, shown
from robustssl.reports.style import colours, style
from robustssl.reports.table_figures import _by_task, draw_map

RESULTS = Path(__file__).parents[1] / "results" / "leaderboard"
EXAMPLES = Path(__file__).parents[1] / "examples"
LONG = "patients_of_the_university_hospital_2019_to_2024_cleaned.csv"
VOTE, TRUSTING = "own_algorithm:NeighbourVote", "own_algorithm:NeighbourVote[trust=0.5]"


@pytest.fixture(scope="module")
def leaderboard():
    """All curves of the leaderboard."""
    return curves(scored(successes(with_versions(read_frame(RESULTS))), "accuracy"))


@pytest.fixture(scope="module")
def table(leaderboard):
    return study_table(leaderboard)


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    """A store of methods and data of one's own, with long names; a baseline is named nowhere."""
    folder = tmp_path_factory.mktemp("own")
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.normal(size=(120, 4)) + np.repeat(np.eye(3, 4) * 3, 40, axis=0))
    rows.assign(diagnosis=np.repeat(["a", "b", "c"], 40)).to_csv(folder / LONG, index=False)
    study = {
        "algorithms": [VOTE, TRUSTING, "self_training", "faulty:Dead", "doomed:Dead"],
        "environments": ["label", "feature"],
        "datasets": ["iris", f"table[path={folder / LONG},target=diagnosis]"],
        "labels": 3,
        "ts": [0, 0.5, 1],
        "seeds": 2,
    }
    with pytest.MonkeyPatch.context() as patch, here():
        patch.syspath_prepend(EXAMPLES)
        robustssl.run(study, folder / "s.sqlite", workers=1, progress=False)
    return folder / "s.sqlite"


@pytest.fixture(scope="module")
def found(own):
    return curves(scored(successes(with_versions(read_frame(own))), "accuracy"))


@pytest.fixture
def report(own, tmp_path, no_figures):
    """The texts of a report of the store of one's own."""

    def made(**how):
        robustssl.report(own, tmp_path / "r", **how)
        return {file.name: file.read_text() for file in (tmp_path / "r").iterdir()}

    return made


# Methods of one's own


def test_a_method_of_ones_own_has_a_gain_everywhere(found, own, report):
    """In the table, the LaTeX, the notebook and the figures; the study did not name its baseline,
    and records say what it is.
    """
    mine = {curve.task: pair.gain for curve, pair in matched(found) if curve.name == VOTE}
    assert len(mine) == 4
    texts = report()
    rows = [line for line in texts["table.md"].splitlines() if f"| {VOTE} " in line]
    assert len(rows) == 4 + 1
    notebook = robustssl.curves(own).to_pandas()
    for (_, row), gain in zip(
        notebook[notebook.method == VOTE].sort_values(["environment", "dataset"]).iterrows(),
        [mine[task] for task in sorted(mine)],
        strict=True,
    ):
        told = f"{gain.metrics()['AUC']:+.3f}".replace("+0.000", "0.000").replace("-0.000", "0.000")
        assert row.gain == pytest.approx(gain.metrics()["AUC"])
        assert any(told in line for line in rows)
        assert told.replace("-", "$-$") in texts["table.tex"]
    with style():
        view = shown(found)
        lines = {line.get_label() for panel in draw_gains(found, view).axes for line in panel.lines}
        ticks = draw_map(notebook, view).axes[0].get_yticklabels()
    assert {VOTE, TRUSTING} <= lines
    assert VOTE in {tick.get_text().replace("\n", "") for tick in ticks}


def test_who_has_no_gain_is_named_with_the_reason(found, own, report):
    texts = report()
    assert "| it names no baseline" in texts["table.md"].replace("anything?; ", "| ")
    assert "- Not shown, since the gain is not known: doomed:Dead." in texts["table.md"]
    assert "it names no baseline" in texts["table.tex"]
    with style():
        figure = draw_gains(found, shown(found))
    (legend,) = figure.legends
    assert legend.get_title().get_text() == "Not shown, since the gain is not known: doomed:Dead."
    assert "doomed:Dead" not in {line.get_label() for panel in figure.axes for line in panel.lines}


def test_a_method_that_is_its_baseline_is_said_to_be(found, own, report):
    same = same_as_baseline(found)
    assert str(same["faulty:Dead"]) == "identical to its baseline in 24 of 24 cells"
    assert same["faulty:Dead"].everywhere
    assert not same["self_training"].everywhere
    assert 0 < same["self_training"].of == 24
    texts = report()
    assert "- faulty:Dead is identical to its baseline in 24 of 24 cells" in texts["table.md"]
    assert "- self_training is identical" not in texts["table.md"]
    for name in ("table.md", "table.tex"):
        assert "identical to its baseline in 6 of 6 cells" in texts[name]
    assert "identical to its baseline in 24 of 24 cells" in texts["means.tex"]
    notebook = robustssl.curves(own)
    dead = notebook.to_pandas().set_index("method").loc["faulty:Dead"]
    assert (dead.identical_cells == 6).all()
    assert dead.note.str.contains("identical to its baseline in 6 of 6 cells").all()
    assert "identical to its baseline in 6 of 6 cells" in notebook._repr_html_()


@pytest.mark.slow
def test_identical_cells_are_counted_on_the_leaderboard(leaderboard, table):
    """The digests are those of the records."""
    records = successes(with_versions(read_frame(RESULTS)))
    keys = ["environment", "dataset", "labels", "t", "seed"]
    digests = records.set_index(["method", *keys]).digest
    base = digests.loc["supervised_xgboost"]
    expected = (digests.loc["cast"].loc[base.index] == base).sum()
    same = same_as_baseline(leaderboard)["cast"]
    assert (same.cells, same.of) == (expected, len(base)) == (328, 960)
    marked = table[table.identical_cells == 30]
    assert len(marked) == (table.gain_note == "identical").sum() > 20
    assert marked.note.str.contains("identical to its baseline in 30 of 30 cells").all()


# Methods that matter


def test_own_methods_matter_first(found):
    assert that_matter(found, 3)[0] in (VOTE, TRUSTING)
    assert {*that_matter(found, 4)} == {VOTE, TRUSTING, "faulty:Dead", "doomed:Dead"}
    assert that_matter(found, 4)[2:] == ["faulty:Dead", "doomed:Dead"]  # identical, then unknown
    assert left_out(found) == ""


@pytest.mark.slow
def test_then_larger_gains_matter(leaderboard):
    every = standings(leaderboard)
    assert len(every) == 36
    compared = [s.gain for s in every if s.is_compared]
    assert compared == sorted(compared, reverse=True)
    assert [s.name for s in every[len(compared) :]] == ["scarf", "feature_dropout"]
    assert {s.lacking for s in every[len(compared) :]} == {8}  # no images
    told = left_out(leaderboard)
    assert told.startswith(
        "Of 36 methods 8 are shown: those with the largest mean gain over tasks."
    )
    assert "Left out are 28 (-0.125 to -0.003), 2 of which were not compared on every task." in told


@pytest.mark.slow
def test_figures_of_curves_show_at_most_eight_methods_and_say_so(leaderboard):
    wine = [curve for curve in leaderboard if curve.drawn == "wine"]
    with style():
        view = shown(wine)
        rac, gain = draw_curves(wine, "accuracy", view), draw_gains(wine, view)
    assert len(rac.axes) == len(gain.axes) == 3  # without oracles and ceilings
    names = {line.get_label() for line in gain.axes[0].lines if len(line.get_xdata()) == 6}
    assert names == {*that_matter(wine)}
    assert len(names) == MOST
    drawn = {line.get_label() for line in rac.axes[0].lines}
    assert drawn > names
    assert all(name.startswith("supervised") for name in drawn - names)
    for figure in (rac, gain):
        said = " ".join(figure.legends[0].get_title().get_text().split())
        assert said == left_out(wine)


def test_a_method_has_one_colour_in_all_figures(found, own, tmp_path, monkeypatch):
    """Also one of one's own, and where others are missing."""
    drawn = {}
    monkeypatch.setattr(folders, "save", lambda figure, path: drawn.update({path: figure}) or [])
    robustssl.report(own, tmp_path)
    drawn = {path.stem: figure for path, figure in drawn.items()}
    with style():
        some = robustssl.curves(own).plot(methods=[TRUSTING, "self_training"], tasks=["iris"])
        look = shown(found).looks
        assert {each["color"] for each in look.values()} <= {*colours(), "#777777", "#aaaaaa"}
    figures = [drawn["rac"], drawn["gain"], some.figure]
    for figure in figures:
        lines = {line.get_label(): line for panel in figure.axes for line in panel.lines}
        for name in (TRUSTING, "self_training"):
            assert lines[name].get_color() == look[name]["color"]


def test_no_label_is_cut(found, own):
    """Of rows, titles and the legend, in every width; a long name is broken."""
    for width in (None, *WIDTHS):
        with style(printed=width is not None):
            figure = draw_curves(found, "accuracy", shown(found, width=width))
            figure.draw_without_rendering()
            texts = [part for panel in figure.axes for part in (panel.yaxis.label, panel.title)]
            boxes = [text.get_window_extent() for text in texts if text.get_text()]
            boxes.append(figure.legends[0].get_window_extent())
        if width:
            assert figure.get_figwidth() == WIDTHS[width]
        for box in boxes:
            assert box.x0 >= -1
            assert box.y0 >= -1
            assert box.x1 <= figure.bbox.x1 + 1
            assert box.y1 <= figure.bbox.y1 + 1
        labels = [panel.yaxis.label for panel in figure.axes if panel.get_ylabel()]
        sides = sorted((text.get_window_extent() for text in labels), key=lambda box: box.y0)
        for below, above in itertools.pairwise(sides):
            assert below.y1 <= above.y0 + 1 or below.x1 <= above.x0 or above.x1 <= below.x0
        told = "".join(text.get_text().replace("\n", "") for text in [*labels, *texts])
        assert LONG in told


def test_long_names_break_where_one_reads_on():
    assert broken("own_deep_algorithm:EntropyMinimization", 20).split("\n") == [
        "own_deep_algorithm:",
        "EntropyMinimization",
    ]
    assert broken("wine, 5 labels a class", 12).split("\n") == ["wine, 5", "labels a", "class"]
    assert broken("x" * 25, 10).split("\n") == ["x" * 10, "x" * 10, "x" * 5]
    assert broken("short", 10) == "short"


# Tables


@pytest.mark.slow
def test_means_over_tasks_are_those_of_the_findings(leaderboard):
    """And a method without images counts its tasks."""
    means = means_over_tasks(leaderboard).set_index("method")
    assert means.tasks["fixmatch"] == 32
    assert means.tasks["scarf"] == means.compared["scarf"] == 24
    assert np.isnan(means.gain["supervised_svm"])  # it has no baseline
    assert means.harmed["co_training"] == 27
    page = (RESULTS.parents[1] / "docs" / "findings.md").read_text()
    svm = interval_of(means.loc["supervised_svm"], "AUC")
    assert f"supervised_svm with {svm}" in page


@pytest.mark.slow
def test_ranks_and_costs_are_over_all_tasks(table):
    """Also those whose environment names no domains."""
    scores = _by_task(proper(table))
    assert scores.shape == (32, 41)  # but for two methods that take no images


def cells(page, method, place):
    """The texts in a column of the tables of tasks, of the rows of a method."""
    rows = [line.split("|") for line in page.partition("3 labels a class")[2].splitlines()]
    rows = [[cell.strip() for cell in row] for row in rows if len(row) > 3]
    return [row[row.index(method) + place] for row in rows if method in row]


def test_numbers_do_not_depend_on_what_is_shown(report, own, tmp_path):
    names = tmp_path / "names.yaml"
    names.write_text("self_training: Self_Training & co\niris: The Iris\nunknown classes: Novel\n")
    every = report()
    some = report(
        methods=["self_training", TRUSTING], names=names, columns=["gain", "AUC"], width="column"
    )
    assert every["table.csv"] == some["table.csv"]
    assert every["means.csv"] == some["means.csv"]
    page = some["table.md"]
    assert "## The Iris, Novel, 3 labels a class" in page
    heads = [re.sub(" +", " ", line) for line in page.splitlines() if line[:8] == "| method"]
    assert heads.count("| method | gain | AUC |") == 4
    assert "Self_Training &amp; co" in page
    assert VOTE + " " not in page.partition("## Notes")[0]
    rows = [line for line in some["table.tex"].splitlines() if line.endswith(r"\\")]
    assert sum(r"Self\_\allowbreak{}Training \& co" in row for row in rows) == 4
    assert [cells(page, "Self_Training &amp; co", 1), cells(page, TRUSTING, 1)] == [
        cells(every["table.md"], "self_training", 9),
        cells(every["table.md"], TRUSTING, 9),
    ]


@pytest.mark.parametrize(
    ("how", "sentence"),
    [
        ({"methods": ["self_trainig"]}, "unknown method 'self_trainig'; did you mean"),
        ({"columns": ["gian"]}, "unknown column 'gian'; did you mean 'gain'"),
        ({"width": "colum"}, "unknown width 'colum'; did you mean 'column'"),
        ({"names": "none.yaml"}, "cannot read the names in none.yaml"),
        (
            {"columns": ["gain", "AUC", "WA", "EVM", "VS"], "width": "column"},
            "the columns gain, AUC, WA, EVM, VS do not fit into 3.25 inches: take fewer",
        ),
    ],
)
def test_what_cannot_be_shown_is_told(report, how, sentence):
    with pytest.raises(InputError, match=re.escape(sentence)):
        report(**how)


def test_names_must_be_texts(tmp_path, own):
    for text in ("- fixmatch\n", "fixmatch: 3\n", "just words\n", "a: [\n"):
        (tmp_path / "names.yaml").write_text(text)
        with pytest.raises(InputError, match="names"):
            robustssl.report(own, tmp_path / "r", names=tmp_path / "names.yaml")


def test_what_does_not_fit_beside_a_number_goes_below_it_and_then_is_left_out():
    interval = "0.913 [0.848, 0.978]"
    texts = pd.DataFrame({"method": ["fixmatch"], **{f"c{i}": [interval] for i in range(9)}})
    wide = fitting(texts.iloc[:, :3], 5.5, must=False)
    assert (wide.size, wide.texts.c1[0]) == ("footnotesize", interval)
    below = fitting(texts.iloc[:, :4], 3.25, must=False)
    assert below.texts.c1[0] == "0.913\n[0.848, 0.978]"
    few = fitting(texts, 3.25, must=False)
    assert 2 <= len(few.texts.columns) < 10
    with pytest.raises(InputError, match="do not fit into"):
        fitting(texts, 3.25, must=True)


COMPILED = r"""\documentclass%s{article}
\usepackage{booktabs,tabularx}
\setlength{\textwidth}{%sin}\setlength{\columnsep}{.25in}
\begin{document}
%s
\end{document}
"""


@pytest.mark.slow
@pytest.mark.parametrize("width", [*WIDTHS])
@pytest.mark.parametrize("columns", [(), ("gain", "AUC", "WA")])
def test_tex_finds_nothing_that_is_too_wide(
    leaderboard, table, own, found, tmp_path, width, columns
):
    """The tables of the leaderboard, and those of methods with long names."""
    if not shutil.which("pdflatex"):
        missing("pdflatex (texlive-latex-base, texlive-latex-recommended)")
    parts = []
    for curves_, rows in ((leaderboard, table), (found, robustssl.curves(own).to_pandas())):
        view = shown(curves_, width=width)
        parts.append(table_tex(proper(rows), "accuracy", view, () if curves_ is found else columns))
        parts.append(section_tex(means_section(curves_), view))
    form, inches = ("[twocolumn]", 6.75) if width == "column" else ("", WIDTHS[width])
    text = COMPILED % (form, inches, "\n\\clearpage\n".join(parts))
    (tmp_path / "paper.tex").write_text(text, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout[-2000:]
    log = (tmp_path / "paper.log").read_text(encoding="latin-1")
    assert not [line for line in log.splitlines() if "Overfull" in line]
    assert "Float too large" not in log
    for part in parts:
        assert part.count(r"\caption{") == part.count(r"\label{tab:robustssl") == 1
    assert int(re.search(r"\((\d+) pages", log)[1]) > 10


# The notebook


def test_the_table_of_a_notebook_is_one_of_pandas(own):
    table = robustssl.curves(own).to_pandas()
    assert list(table)[:4] == ["task", "method", "rank", "gain"]
    numbers = ["rank", "gain", "gain_low", "AUC", "WA", "EVM", "seeds", "labels"]
    assert all(pd.api.types.is_numeric_dtype(table[name]) for name in numbers)
    best = table[table.gain > -1].sort_values("WA", ascending=False)
    assert best.WA.is_monotonic_decreasing
    assert VOTE in set(best.method)
    shown_ = best[["method", "rank", "gain", "AUC"]]._repr_html_()
    numbers = re.findall(r"<td>([-+]?\d[\d.]*)</td>", shown_)
    assert numbers
    assert all(re.fullmatch(r"\d+|[-+]?\d\.\d{3}", number) for number in numbers)
    assert re.search(r"<td>[-+]\d\.\d{3}</td>", shown_)


def test_plots_take_methods_tasks_names_a_score_and_axes(own):
    from matplotlib.figure import Figure

    found = robustssl.curves(own)
    figure = Figure()
    axes = figure.subplots(1, 2)
    names = {"self_training": "Ours", "unknown classes": "New classes", "iris": "Iris"}
    drawn = found.plot(True, methods=["self_training"], tasks=["iris"], names=names, axes=axes)
    assert drawn.figure is figure
    assert [panel.get_title() for panel in axes] == [
        "Iris, 3 labels a class\nmissing features",
        "Iris, 3 labels a class\nNew classes",
    ]
    for panel in axes:
        assert [line.get_label() for line in panel.lines if len(line.get_xdata()) == 3] == ["Ours"]
    other = found.plot(
        score="balanced_accuracy", tasks=["iris, missing features, 3 labels a class"]
    )
    (panel,) = other.figure.axes
    assert "balanced accuracy" in panel.get_ylabel()
    with pytest.raises(InputError, match="there are 4 tasks to draw and 2 axes"):
        found.plot(axes=axes)
    with pytest.raises(InputError, match="unknown task 'irsi'"):
        found.plot(tasks=["irsi"])
    with pytest.raises(InputError, match="no gain is known"):
        found.plot(True, methods=["doomed:Dead"])
