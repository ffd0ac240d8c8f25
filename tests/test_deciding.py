"""Who saw the rows decides whether to use them: the files of decisions, and who makes them."""

import importlib
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from searched import searched
from typer.testing import CliRunner

import robustssl
from robustssl import InputError
from robustssl.analysis.entrants import entrants, read_decisions
from robustssl.analysis.selection import select
from robustssl.audits import deciding
from robustssl.cli import app
from robustssl.reports.choosing import choosing_sections, topics_of_rule
from robustssl.splits import prepare

ROOT = Path(__file__).parents[1]
STUDY = {
    "algorithms": ["supervised_logistic", "self_training"],
    "environments": "label",
    "datasets": "wine",
    "labels": [3, 6],
    "ts": [0, 0.2, 0.5, 0.7, 1],
    "seeds": [4, 5, 6],
}
HEAD = "environment,dataset,labels,t,seed,entrant,use"
LINES = [f"label,wine,4,{t},{seed},seer,{t == 0}" for t in (0, 0.5, 1) for seed in (0, 1)]


def written(tmp_path, lines, head=HEAD):
    file = tmp_path / "decisions.csv"
    file.write_text("\n".join([head, *lines]) + "\n")
    return file


def test_a_file_of_decisions_is_read_as_it_was_written(tmp_path):
    found = read_decisions(written(tmp_path, LINES))
    assert found.use.dtype == bool
    assert found.use.tolist() == [True, True, False, False, False, False]
    assert found.t.tolist() == [0, 0, 0.5, 0.5, 1, 1]
    assert found.note.tolist() == [""] * 6


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        ([], "holds no decisions"),
        (
            [*LINES, LINES[0]],
            "seer decided twice on wine, unknown classes, 4 labels a class, t = 0",
        ),
        ([*LINES, LINES[0].replace("4,0,", "4,0.0,")], "decided twice"),
        (LINES[:-1], "seer lacks a decision on wine.*, t = 1, seed 1"),
        (
            [*LINES, *(line.replace("seer", "other") for line in LINES[1:])],
            "other lacks a decision",
        ),
        ([*LINES, *(line.replace("wine", "iris") for line in LINES[:4])], "lacks.* iris.*, t = 1"),
        ([line.replace("True", "yes") for line in LINES], "line 2: use cannot be 'yes'"),
        ([line.replace("True", "") for line in LINES], "line 2: use cannot be ''"),
        ([line.replace("True", "nan") for line in LINES], "line 2: use cannot be 'nan'"),
        ([line.replace("True", "1") for line in LINES], "line 2: use cannot be '1'"),
        ([line.replace(",1,1,", ",2,1,") for line in LINES], "line 7: t cannot be '2'"),
        ([line.replace(",1,1,", ",nan,1,") for line in LINES], "t cannot be 'nan'"),
        ([line.replace(",1,1,", ",-0.5,1,") for line in LINES], "t cannot be '-0.5'"),
        ([line.replace(",4,", ",4.5,") for line in LINES], "labels cannot be '4.5'"),
        ([line.replace(",0,seer", ",-1,seer") for line in LINES], "seed cannot be '-1'"),
        ([line.replace("seer", "") for line in LINES], "entrant cannot be ''"),
        ([line.replace("seer", "x" * 41) for line in LINES], "entrant cannot be 'xxxx"),
        (["label,wine,4,0,0,seer,True,a,b,c", *LINES], "cannot read"),
    ],
)
def test_what_is_wrong_with_a_file_of_decisions_is_a_sentence(tmp_path, lines, sentence):
    with pytest.raises(InputError, match=sentence):
        read_decisions(written(tmp_path, lines))


def test_a_file_that_holds_something_else_is_a_sentence(tmp_path):
    with pytest.raises(InputError, match="lacks the column use"):
        read_decisions(written(tmp_path, ["label,wine,4,0,0,seer"], HEAD.removesuffix(",use")))
    with pytest.raises(InputError, match="cannot read"):
        read_decisions(tmp_path / "nothing.csv")
    (tmp_path / "decisions.csv").write_bytes(b"\xff\xfe\x00\x01")
    with pytest.raises(InputError, match="cannot read"):
        read_decisions(tmp_path / "decisions.csv")
    (tmp_path / "decisions.csv").write_text("")
    with pytest.raises(InputError, match="cannot read"):
        read_decisions(tmp_path / "decisions.csv")


def test_no_entrant_takes_the_place_of_another_by_its_name_or_is_a_tag(tmp_path):
    def scores(method, labels, t, seed, **cell):
        user = method == "fixmatch"
        return {"accuracy": 0.5 + 0.02 * labels - 0.3 * t * user + 0.01 * seed}

    chosen = select(searched(scores, seeds=2, configurations=1), "default")
    for name in ("=1+1", "<script>alert(1)</script>", "always fixmatch", "a|b"):
        lines = [line.replace("seer", f'"{name}"') for line in LINES]
        file = written(tmp_path, lines)
        found, _ = entrants(chosen, read_decisions(file))
        assert [*found] == [
            *("always fixmatch", "always supervised_net"),
            f"fixmatch if {name} says so",
        ]
        assert found["always fixmatch"].equals(entrants(chosen)[0]["always fixmatch"])
        *_, topic = topics_of_rule(chosen, "default", read_decisions(file))
        assert topic.sheet.entrant.str.contains(name, regex=False).any()
        assert {*topic.table["in labels"]} == {"not known"}
    *_, section = choosing_sections(chosen, chosen, "default", None, tagged(tmp_path))
    assert section.name == "decisions"
    assert "&lt;script>" in section.text
    assert "<script" not in section.text


def tagged(tmp_path):
    return read_decisions(written(tmp_path, [line.replace("seer", "<script>") for line in LINES]))


@pytest.fixture
def seen(monkeypatch):
    """Deciders that keep what they are given, and use the rows where there are many labels."""
    found = []

    def decide(rows):
        found.append(rows)
        return bool(rows.target.notna().sum() > 6), "=by hand"

    monkeypatch.setattr(deciding, "DECIDERS", {"the hand": decide})
    return found


def test_decisions_are_made_on_labeled_and_unlabeled_rows_alone(seen, tmp_path):
    made = robustssl.decide(STUDY, tmp_path / "d.csv")
    assert sorted({*zip(made.t, made.seed, strict=True)}) == [
        (t, seed) for t in (0, 0.5, 1) for seed in (4, 5)
    ]
    assert made.groupby("labels").use.unique().map(list).to_dict() == {3: [False], 6: [True]}
    for rows, (_, cell) in zip(seen, made.iterrows(), strict=True):
        prepared = prepare("wine", "label", cell.labels, cell.seed)
        split = prepared.environment.split(prepared.pools, cell.t)
        X = rows.drop(columns="target").to_numpy()
        assert np.array_equal(X, split.X)
        test = {row.tobytes() for row in prepared.pools.data.X[prepared.pools.test]}
        assert not test & {row.tobytes() for row in X}
        assert rows.target.isna().to_numpy().tolist() == (split.y < 0).tolist()
        assert {*rows} - {"target"} == {f"x{k}" for k in range(split.X.shape[1])}


def test_decisions_that_were_made_are_kept(seen, tmp_path):
    file = tmp_path / "d.csv"
    whole = robustssl.decide(STUDY, file)
    lines = file.read_text().splitlines()
    assert "'=by hand" in lines[1]
    file.write_text("\n".join(lines[:5]) + "\n")
    before = len(seen)
    again = robustssl.decide(STUDY, file)
    assert len(seen) - before == 1 + len(whole) - 4  # the first is made again
    pd.testing.assert_frame_equal(whole, again)
    with pytest.raises(InputError, match="holds decisions on other tasks, t or seeds"):
        robustssl.decide(STUDY, file, seeds=1)


def test_decisions_of_another_audit_are_not_kept(seen, tmp_path, monkeypatch):
    file = tmp_path / "d.csv"
    robustssl.decide(STUDY, file)
    before = file.read_text()
    monkeypatch.setattr(deciding, "DECIDERS", {"the hand": lambda rows: (False, "by now")})
    with pytest.raises(InputError, match="decisions of the hand that it does not make any more"):
        robustssl.decide(STUDY, file)
    assert file.read_text() == before


@pytest.mark.parametrize(
    ("changes", "how", "sentence"),
    [
        ({}, {"seeds": 0}, "seeds must be at least 1, got 0"),
        ({}, {"ts": [0.3]}, "t = 0.3 is not of the study, whose t are 0, 0.2, 0.5, 0.7, 1"),
        ({"datasets": "toy:images"}, {}, "decisions are made on tables"),
        ({"algorithms": ["supervised_logistic"]}, {}, "no method to use on one"),
    ],
)
def test_what_cannot_be_decided_is_a_sentence(seen, tmp_path, changes, how, sentence):
    with pytest.raises(InputError, match=sentence):
        robustssl.decide({**STUDY, **changes}, tmp_path / "d.csv", **how)
    assert not (tmp_path / "d.csv").exists()


def rows_of(shift):
    """40 labeled rows, and 60 unlabeled ones that lie elsewhere by a shift."""
    rng = np.random.default_rng(0)
    labeled = pd.DataFrame(rng.normal(size=(40, 3))).assign(target=[0, 1] * 20)
    unlabeled = pd.DataFrame(shift + rng.normal(size=(60, 3))).assign(target=pd.NA)
    rows = pd.concat([labeled, unlabeled], ignore_index=True).astype({"target": "Int64"})
    return rows.rename(columns=str)


def test_the_page_has_the_numbers_of_the_experiment(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "experiments")
    table = importlib.import_module("decisions").table(ROOT / "experiments/decisions.csv")
    assert table.count("\n") == 6
    assert table in (ROOT / "docs/decide.md").read_text()


def test_adversarial_validation_uses_rows_that_cannot_be_told_apart():
    assert deciding.by_adversarial_validation(rows_of(0))[0]
    use, why = deciding.by_adversarial_validation(rows_of(2))
    assert not use
    assert float(why.removeprefix("AUROC ")) > 0.9
    one = rows_of(0).drop(index=range(1, 40))
    assert deciding.by_adversarial_validation(one) == (
        False,
        "one row cannot be told apart out of fold",
    )


def test_the_audit_uses_what_it_advises_and_nothing_if_it_is_refused(monkeypatch):
    few = rows_of(0).drop(index=range(4, 40))
    use, why = deciding.by_audit(few)
    assert not use
    assert "at least 5 labeled rows each, got 2 of class 0" in why
    for advises in (True, False):

        def audit(labeled, unlabeled, target, advises=advises):
            assert labeled[target].tolist() == [0, 1] * 20
            assert target not in unlabeled
            assert len(unlabeled) == 60
            advice = SimpleNamespace(uses_unlabeled=advises)
            return type("Found", (), {"advice": advice, "__str__": lambda found: "why"})()

        monkeypatch.setattr(deciding, "audit", audit)
        assert deciding.by_audit(rows_of(0)) == (advises, "why")


def test_commands_decide_and_show_it_beside_the_others(seen, tmp_path):
    """A study without a search, whose settings are the default ones."""
    study = {**STUDY, "ts": [0, 1], "seeds": 2}
    file, store = tmp_path / "d.csv", tmp_path / "s.sqlite"
    (tmp_path / "study.yaml").write_text(str(study))
    robustssl.run(study, store, workers=1, progress=False)

    def call(*words):
        done = CliRunner().invoke(app, [*map(str, words)])
        assert done.exit_code == 0, done.output
        return done.output

    told = call("decide", tmp_path / "study.yaml", "--out", file, "--seeds", 2)
    assert "the hand: use the rows in 4 of 8 cases" in told
    call("report", "--store", store, "--out", tmp_path / "r", "--decisions", file)
    call("site", tmp_path / "site", "--store", store, "--decisions", file)
    with pytest.raises(InputError, match="not compared under the rule oracle"):
        robustssl.report(store, tmp_path / "o", rule="oracle", decisions=file)
    numbers = pd.read_csv(tmp_path / "r" / "decisions.csv").set_index(["entrant", "labels"])
    mine = "self_training if the hand says so"
    for place in (tmp_path / "r" / "table.md", tmp_path / "site" / "decisions.html"):
        assert mine in place.read_text()
    assert numbers.regret[mine, 3] == numbers.regret["always supervised_logistic", 3]
    assert numbers.regret[mine, 6] == numbers.regret["always self_training", 6]
    assert numbers.in_labels.notna().any()
