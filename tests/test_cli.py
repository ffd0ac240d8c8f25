"""The command line as people use it: what it prints, what it returns, no traceback ever."""

import io
import json
import re
import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
import typer
import yaml

import robustssl
from robustssl import cli, registry

DATA = Path(__file__).parent / "data"


@pytest.fixture
def call(monkeypatch, capsys, tmp_path):
    """Run a command in an empty folder; returns the exit code, what it printed and said aside."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["robustssl", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        out, err = capsys.readouterr()
        return ended.value.code or 0, out, err

    return call


@pytest.fixture
def study(tmp_path, small):
    path = tmp_path / "study.yaml"
    path.write_text(yaml.safe_dump(small))
    return path


def test_from_nothing_to_a_report_and_back(call, study, tmp_path):
    code, out, _ = call("run", study, "--dry-run")
    assert code == 0
    assert re.fullmatch(
        r"48 cells: 0 done, 0 failed, 48 to run, about .* with \d+ workers?\.\n", out
    )
    assert not (tmp_path / "robustssl.sqlite").exists()
    code, out, err = call("run", study, "--workers", 1)
    assert code == 0
    assert "48 cells: 48 done, 0 failed, 0 missing" in out
    assert re.search(r"48/48 cells, [\d.]+/s, 0 s left", err)
    code, out, err = call("run", study)
    assert (code, err) == (0, "")
    code, out, _ = call("status", study)
    assert "48 cells: 48 done" in out
    code, out, _ = call("report")
    assert code == 0
    for name in ("rac.png", "table.md", "table.csv", "table.json", "table.tex"):
        assert name in out
        assert (tmp_path / "report" / name).stat().st_size > 500
    code, out, _ = call("export", "records.jsonl")
    assert (code, out) == (0, "48 records written to records.jsonl\n")
    code, out, _ = call("import", "records.jsonl", "--store", "other.sqlite")
    assert (code, out) == (0, "48 records added, 0 already there\n")
    code, out, _ = call("metrics", "records.jsonl", "--format", "csv")
    code, direct, _ = call("metrics", "robustssl.sqlite", "--format", "csv")
    assert out == direct


def test_metrics_of_the_published_results_as_csv(call):
    code, out, err = call("metrics", DATA / "published", "--convention", "published", "-f", "csv")
    assert code == 0
    columns = "environment,dataset,labels,source,target,algorithm,AUC,Acc0,WA,EVM,VS,RCC"
    assert out.splitlines()[0] == columns
    assert len(out.splitlines()) == 1 + 508
    assert err.count("left out, it lacks t = 0") == 5
    assert {line.split(",")[2] for line in out.splitlines()[1:]} == {"", "5", "10", "100", "1000"}
    frame = pd.read_csv(io.StringIO(out))
    row = frame.query(
        "dataset == 'CIFAR10' and algorithm == 'FixMatch' and environment == 'feature'"
    )
    assert row[["AUC", "WA", "RCC"]].round(3).to_numpy().tolist() == [[0.517, 0.430, -0.661]]


def test_metrics_as_table_and_json(call):
    file = DATA / "published" / "Feature" / "iris_deep_feature_labels_5.csv"
    code, out, _ = call("metrics", file)
    assert code == 0
    assert out.startswith("environment feature, dataset iris, labels 5\n")
    assert re.search(r"FT_Transformer +0.937 +0.937 +0.937 +0.000 +0.000 +n/a", out)
    assert max(map(len, out.splitlines())) <= 80
    code, out, _ = call("metrics", file, "--format", "json")
    rows = json.loads(out)
    assert rows[0]["algorithm"] == "FT_Transformer"
    assert rows[0]["RCC"] is None
    code, out, _ = call("metrics", file, "--convention", "re-ssl", "--format", "csv")
    assert out.splitlines()[0].endswith("algorithm,slope,GM,BAD,WAD,P(AD>=0)")


@pytest.mark.parametrize("kind", ["algorithms", "environments", "datasets", "studies"])
def test_list(call, kind):
    code, out, _ = call("list", kind)
    assert code == 0
    code, text, _ = call("list", kind, "--format", "json")
    rows = json.loads(text)
    assert all(row["name"] in out for row in rows)
    if kind != "studies":
        assert [row["name"] for row in rows] == list(registry.names(kind[:-1]))
    if kind == "algorithms":
        assert all({"presets", "targets", "baseline"} <= set(row) for row in rows)
    code, table, _ = call("list", kind, "--format", "csv")
    assert len(table.splitlines()) == len(rows) + 1


def commands(group, *words):
    """The words of every command of a group, its own first."""
    yield words
    for name, command in getattr(group, "commands", {}).items():
        yield from commands(command, *words, name)


@pytest.mark.parametrize("words", [*commands(typer.main.get_command(cli.app))], ids=" ".join)
def test_help_helps(call, monkeypatch, words):
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = call(*words, "--help")
    assert code == 0
    assert " ".join(["robustssl", *words]) in out.splitlines()[0]
    assert max(map(len, out.splitlines())) <= 80
    assert "..." not in out.partition("Commands:")[2], "a summary is too long for its line"


def test_a_first_command_runs_reports_and_opens_the_page_where_somebody_watches(
    call, tmp_path, monkeypatch, no_figures, in_process
):
    """What the Makefile calls after the installation."""
    monkeypatch.chdir(tmp_path)
    small = {"algorithms": "ssgmm", "environments": "label", "datasets": "iris", "seeds": 2}
    file = tmp_path / "small.yaml"
    file.write_text(yaml.safe_dump(small))
    monkeypatch.setattr("robustssl.studies.files.named", lambda: {"quickstart": file})
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    for words, watched in (((), False), (("--no-open",), True), ((), True)):
        monkeypatch.setattr("robustssl.cli.quickstart._is_watched", lambda watched=watched: watched)
        code, out, _ = call("quickstart", *words)
        assert code == 0
        assert "24 cells: 24 done, 0 failed" in out
        assert len(opened) == (watched and not words)
    assert (tmp_path / "quickstart-report" / "table.md").exists()
    assert opened == [(tmp_path / "quickstart-site" / "index.html").as_uri()]
    recipe = (Path(__file__).parents[1] / "Makefile").read_text().partition("\nquickstart:")[2]
    assert recipe.splitlines()[1] == "\t$(BIN)/robustssl quickstart"


def test_version(call):
    assert re.fullmatch(r"\d+\.\d+\.\d+(\.dev\d+)?\n", call("--version")[1])


def bad_store(path):
    path.write_text("this is no database, however long it may be" * 100)


def newer_store(path):
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE meta (name, value)")
        connection.execute("CREATE TABLE records (id)")
        connection.execute("INSERT INTO meta VALUES ('schema', '99')")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["run", "quikstart"], "unknown study 'quikstart'; did you mean 'quickstart'?"),
        (["run", "bad.yaml"], "unknown key 'algoritms'; did you mean 'algorithms'?"),
        (["run", "good.yaml", "-s", "bad.sqlite"], "bad.sqlite is not a store"),
        (["run", "good.yaml", "-s", "newer.sqlite"], "newer version of robustssl"),
        (["run", "good.yaml", "-w", "0"], "workers must be"),
        (["run", "good.yaml", "-s", "no/where.sqlite"], "folder of the store"),
        (["status"], "there is no store at robustssl.sqlite"),
        (["report"], "there is no store at robustssl.sqlite"),
        (["report", "-s", "bad.sqlite"], "bad.sqlite is not a store"),
        (["metrics", "bad.csv"], "bad.csv has no header"),
        (["metrics", "empty"], "there are no results"),
        (["metrics", "nothing.csv"], "there is no file or folder nothing.csv"),
        (["metrics", "nan.csv"], "a has the score nan at t = 1"),
        (["metrics", "nan.csv", "--score", "scor"], "did you mean 'score'?"),
        (["metrics", "x" * 300], "File name too long"),
        (["status", "-s", "x" * 300], "File name too long"),
        (["run", "twice.yaml"], "the key 'seeds' stands there twice"),
        (["run", "halfbaked.yaml"], "cannot load the algorithm 'halfbaked:Mine': SyntaxError"),
        (["status", "-s", "zero.sqlite"], "not a store of robustssl"),
        (["export", "x.jsonl"], "there is no store"),
        (["import", "nothing.jsonl"], "there is no file nothing.jsonl"),
        (["import", "bad.csv"], "bad.csv, line 1: not a record"),
    ],
)
def test_bad_input_is_a_sentence_and_exit_code_2(call, tmp_path, words, message):
    (tmp_path / "empty").mkdir()
    (tmp_path / "bad.csv").write_text("1,2\n")
    (tmp_path / "bad.yaml").write_text("algoritms: [x]\n")
    (tmp_path / "good.yaml").write_text("algorithms: ssgmm\nenvironments: label\ndatasets: iris\n")
    (tmp_path / "nan.csv").write_text("algorithm,t,seed,score\na,0,0,0.5\na,1,0,nan\n")
    (tmp_path / "twice.yaml").write_text("seeds: 1\nseeds: 2\n")
    (tmp_path / "halfbaked.py").write_text("class Mine(:\n")
    (tmp_path / "halfbaked.yaml").write_text(
        "algorithms: ['halfbaked:Mine']\nenvironments: label\ndatasets: iris\n"
    )
    (tmp_path / "zero.sqlite").touch()
    bad_store(tmp_path / "bad.sqlite")
    newer_store(tmp_path / "newer.sqlite")
    code, _, err = call(*words)
    assert code == 2
    assert message in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"labels": 60}, "60 labels per class are too many for iris: class setosa has"),
        ({"datasets": ["breast_cancer"], "environments": ["label"]}, "needs three"),
    ],
)
@pytest.mark.parametrize("dry", [(), ("--dry-run",)])
def test_a_task_that_cannot_be_is_refused_before_anything_runs(
    call, small, tmp_path, change, message, dry
):
    (tmp_path / "study.yaml").write_text(yaml.safe_dump({**small, **change}))
    code, _, err = call("run", "study.yaml", "-w", 1, *dry)
    assert code == 2
    assert message in " ".join(err.split())
    assert "Traceback" not in err


def test_cells_that_fail_are_shown_and_exit_code_1(call, small, tmp_path):
    change = {"algorithms": ["doomed:Fails"], "environments": ["feature"]}
    message = "a column is constant"
    (tmp_path / "study.yaml").write_text(yaml.safe_dump({**small, **change}))
    code, _, err = call("run", "study.yaml", "-w", 1)
    assert code == 1
    assert message in err
    assert "--retry" in err
    code, _, err = call("status", "study.yaml")
    assert code == 0
    assert message in err


def test_a_dry_run_says_what_would_fail(call, small, tmp_path):
    change = {"algorithms": ["doomed:Own"], "environments": ["feature"]}
    (tmp_path / "study.yaml").write_text(yaml.safe_dump({**small, **change}))
    code, _, err = call("run", "study.yaml", "--dry-run", "--trust", "doomed")
    assert code == 0
    assert "why not" in err


def test_status_of_a_store_without_a_record(call, study):
    from robustssl import Store

    Store("robustssl.sqlite").close()
    assert call("status")[1].startswith("0 cells: 0 done")
    assert "48 missing" in call("status", study)[1]


def test_names_with_brackets_are_printed_whole(call, tmp_path):
    long = "self_training[threshold=0.95,rounds=3]" * 3
    rows = [f"{name},{t},0,{0.5 + t / 4}" for name in (f'"{long}"', "[red]x[/red]") for t in (0, 1)]
    (tmp_path / "r.csv").write_text("\n".join(["algorithm,t,seed,score", *rows]))
    out = call("metrics", "r.csv", "--intervals")[1]
    assert re.search(re.escape(long) + r" +0\.625 ", out)
    assert "[red]x[/red]" in out


def test_text_of_others_cannot_control_the_terminal(call, tmp_path):
    rows = [f"\x1b[2Jevil,{t},0,0.5,\x9b31mx" for t in (0, 1)]
    (tmp_path / "r.csv").write_text("\n".join(["algorithm,t,seed,score,dataset", *rows]))
    code, out, _ = call("metrics", "r.csv")
    assert code == 0
    assert r"dataset \x9b31mx" in out
    assert r"\x1b[2Jevil" in out
    assert not {"\x1b", "\x9b"} & {*out}


def test_an_import_that_conflicts_is_shown_and_exit_code_1(call, study, tmp_path):
    call("run", study, "-w", 1)
    call("export", "r.jsonl")
    lines = (tmp_path / "r.jsonl").read_text().splitlines()
    (tmp_path / "r.jsonl").write_text(lines[0].replace('"seconds": ', '"seconds": 1'))
    code, out, err = call("import", "r.jsonl")
    assert code == 2
    assert "was altered: its digest does not fit it" in err
    records = [robustssl.Record.from_json(line) for line in lines]
    others = [replace(r, scores={**r.scores, "accuracy": 0.123}) for r in records[:2]]
    text = "".join(record.to_json() + "\n" for record in (*others, *records[2:]))
    (tmp_path / "r.jsonl").write_text(text)
    code, out, err = call("import", "r.jsonl")
    assert (code, out) == (1, "0 records added, 46 already there\n")
    assert "2 records differ from those in the store" in err


def test_data_and_show_and_check(call, tmp_path, monkeypatch):
    monkeypatch.setenv("ROBUSTSSL_CACHE", str(tmp_path / "cache"))
    assert "letter" in call("data", "list")[1]
    assert call("data", "path", "letter")[1].strip() == str(tmp_path / "cache" / "letter-1")
    assert call("data", "path", "leter")[0] == 2
    code, out, _ = call("data", "fetch", "iris")
    assert (code, out.splitlines()[0]) == (0, "iris: tabular, 150 x 4, 3 classes")
    code, out, _ = call("show", "environment", "label", "--out", "it")
    assert code == 0
    assert (tmp_path / "it.png").exists()
    code, out, _ = call("check", "label", "--dataset", "iris")
    assert code == 0
    assert out.count("holds") == 13
    code, out, _ = call("check", "broken:Leaks")
    assert code == 1
    assert "broken  no label leaves: a hidden label is shown at t = 0.0" in out
    assert call("check", "labl")[0] == 2


def test_an_own_algorithm_in_the_present_folder(call, small, tmp_path):
    source = "from doomed import Constant\nclass Mine(Constant): pass\n"
    (tmp_path / "own_module.py").write_text(source)
    changed = {**small, "algorithms": ["own_module:Mine"]}
    (tmp_path / "study.yaml").write_text(yaml.safe_dump(changed))
    code, out, err = call("run", "study.yaml", "-w", 2)
    assert (code, "24 done" in out) == (0, True), err


def test_a_full_disk(call, study, monkeypatch):
    import robustssl.records.places

    def small_disk(connection, _):
        connection.isolation_level = None
        connection.execute("PRAGMA max_page_count=12")

    monkeypatch.setattr(robustssl.records.places, "_set_up_connection", small_disk)
    code, _, err = call("run", study, "-w", 1, "--keep-predictions")
    assert code == 2
    assert "database or disk is full" in err
    assert "What was committed before is kept" in err
    monkeypatch.undo()


def test_importing_robustssl_is_light():
    script = """
import sys
before = set(sys.modules)
import robustssl
loaded = {name.partition(".")[0] for name in set(sys.modules) - before}
print(loaded - sys.stdlib_module_names, len(dir(robustssl)) > 10)
heavy = {"torch", "xgboost", "sklearn", "pandas", "matplotlib", "scipy", "numpy"}
from robustssl import cli
print(sorted(heavy & set(sys.modules)))
from robustssl import reports
from robustssl.studies import study
print(sorted({"torch", "xgboost"} & set(sys.modules)))
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == ["{'robustssl'} True", "[]", "[]"]


def test_show_algorithm_says_what_it_is(call):
    code, output, _ = call("show", "algorithm", "label_spreading")
    assert code == 0
    assert "Zhou et al., 2004" in output
    assert "(1 - alpha) (I - alpha S)^-1 Y" in output
    assert "options:  label_spreading[alpha=0.99,gamma=1.0,n_neighbors=7]" in output
    assert "preset paper: label_spreading[n_neighbors=null] (from Zhou et al. 2004" in output
    assert "baseline: supervised_kernel" in output
    assert call("show", "algorithm", "label_spreadin")[0] == 2
