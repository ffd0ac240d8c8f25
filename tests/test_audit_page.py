"""What people and machines see of an audit: page, terminal, JSON, rows to label next, server."""

import asyncio
import json
import math
import os
import re
import sys
from dataclasses import replace
from importlib.resources import files

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine
from typer.testing import CliRunner

from robustssl import InputError, audits, cli
from robustssl.analysis.interval import Interval
from robustssl.analysis.labels import Labels
from robustssl.audits import forests, headline, of_frames, server
from robustssl.audits.advice import advise
from robustssl.audits.bench import folds_of
from robustssl.audits.columns import Column
from robustssl.audits.gains import Gains
from robustssl.audits.inspection import UNKNOWN, Inconsistency
from robustssl.audits.keeping import Keeping
from robustssl.audits.labeling import far_apart
from robustssl.audits.mixture import Mixture
from robustssl.audits.model import Model
from robustssl.audits.model_file import load_model
from robustssl.audits.terminal import describe
from robustssl.audits.verdict import Verdict

SCHEMA = json.loads(files("robustssl.audits").joinpath("audit.schema.json").read_text())
ANSWERS = ("yes", "no", "cannot tell")
T = Interval(0.3, 0.2, 0.4)


def wine():
    frame = load_wine(as_frame=True).frame.rename(columns={"target": "cultivar"})
    return frame.rename(columns={"alcohol": "<script>alert(1)</script> " + "in a long name " * 8})


def verdict_of(answer):
    gain = {"yes": 0.031, "no": -0.02, "cannot tell": 0.004}[answer]
    return Verdict(
        answer,
        *("label_spreading", "forest"),
        gain=Interval(gain, gain - 0.02, gain + 0.02),
        measured=Interval(2 * gain, gain - 0.05, 3 * gain + 0.05),
        helps=0.9,
        harms=0.01,
        apart=0.12,
        labels=1234 if answer == "cannot tell" else None,
        worth=Labels(40, 12, 75, -60, 80, a_class=False),
    )


def made(answer="yes", **changes):
    """An audit of which nothing was computed but the model."""
    frame, rng = wine(), np.random.default_rng(0)
    pair = of_frames(frame[::2], frame[1::2].drop(columns="cultivar"), "cultivar").sample(100, 100)
    n, m, codes = 89, 89, np.unique(pair.y, return_inverse=True)[1]
    names = ("forest", "label_spreading")
    gains = Gains(
        codes,
        {name: rng.dirichlet(np.ones(3), (2, n)) for name in names},
        {name: rng.integers(0, 3, (10, m)) for name in names},
        *(names[:1], names[1:]),
        failed={"ssgmm": "ValueError: too few rows"},
        asked=np.arange(m),
    )
    shares = np.array([0.5, 0.3, 0.2])
    mixture = Mixture(
        *(T, UNKNOWN, np.nan, 0.5, 0.7, 0.001),
        classes=Interval(shares, shares - 0.1, shares + 0.1),
        changed=np.array([True, False, True]),
        weight=np.ones(13),
        inconsistent=np.linspace(0, 1, m),
    )
    telling = ((f"{frame.columns[0]} (12%)", "1 (0 to 2)", "3 (2 to 4)"),)
    lost = (Column("ash", "missing in 40% of the unlabeled rows", 0.4),)
    verdict, expected = verdict_of(answer), Interval(0.9, 0.85, 0.95)
    some = Interval(0.02, -0.01, 0.05)
    made = audits.Audit(
        *(pair, "cultivar", "", 1089, 1597),
        Inconsistency(T, UNKNOWN, Interval(0.0, 0.0, 0.0), lost, telling, mixture),
        *(gains, verdict, expected),
        Keeping("label_spreading", {0.0: Interval(0.0), 0.5: some, 1.0: some}, Interval(0.5, 0, 1)),
        advise(verdict, expected, "accuracy"),
        Model("supervised_logistic").fit(pair.labeled, pair.y),
    )
    return replace(made, unlabeled=m, **changes)


# The answer


@pytest.mark.parametrize("answer", ANSWERS)
def test_the_answer_comes_first(answer, tmp_path):
    audit = made(answer)
    word = {"yes": "Yes", "no": "No", "cannot tell": "Cannot tell"}[answer]
    page = audit.save(tmp_path / "new" / "folder")
    body = page.read_text().partition("<main")[2]
    assert body.index(f'<span class="word">{word}</span>') < 200
    assert body.index("<svg") < body.index("<h2>")  # the picture, then the rest
    said = describe(audit, page)
    assert said.startswith(f"Should you use the unlabeled rows? {word}")
    assert repr(audit) == str(audit)
    assert str(audit).startswith(word)
    assert f">{word}</b>" in audit._repr_html_()
    assert "<script" not in audit._repr_html_()
    assert len(audit._repr_html_()) < 10_000
    assert "a mixture of Gaussians could not be trained: ValueError: too few" in said


def test_the_answer_says_what_to_do_with_which_model_and_what_it_gains():
    yes, no, unclear = (headline.told(made(answer)) for answer in ANSWERS)
    assert yes == (
        "Yes. Use your 89 unlabeled rows, with label spreading. It gives about 3.1 more right "
        "answers in 100 [+1.1, +5.1] than a random forest, the best model without them. This holds "
        "for rows like your labeled rows; by estimate, 30% of the unlabeled rows differ from them. "
        "The unlabeled rows are worth about 40 more labels [12, 75]."
    )
    assert "worth" not in no
    assert "Leave your 89 unlabeled rows aside, and train a random forest" in no
    assert "gives about 2.0 fewer right answers in 100 [-4.0, 0.0]" in no
    assert unclear.startswith("Cannot tell (about 1,200 labels would). Your 1,089 labels are too")
    assert "may give between 1.6 fewer and 2.4 more right answers in 100" in unclear


def test_a_yes_that_may_be_none_says_so():
    sure, doubtful = (
        replace(verdict_of("yes"), gain=Interval(0.02, low, 0.05)) for low in (0.001, 0.0)
    )
    doubt = "reaches 0 or less: the rows help with a probability of 90%, not for certain."
    assert doubt in headline.sentence(made(verdict=doubtful))
    assert doubt not in headline.sentence(made(verdict=sure))
    assert doubt not in headline.sentence(made("cannot tell"))


def test_models_have_one_name_in_sentences_and_tables(tmp_path):
    """The page also shows the name by which code knows a model, in small print."""
    audit = made("yes")
    page = audit.save(tmp_path)
    said, shown = describe(audit, page), page.read_text()
    for name, spec in {"label spreading": "label_spreading", "random forest": "forest"}.items():
        assert f"\n  {name} " in said
        assert f'<td>{name}<br><span class="small name">{spec}</span></td>' in shown
    assert "label_spreading" not in said
    for text in (said, shown):
        text = " ".join(text.split())
        assert "The model, label spreading, was fitted" in text
        assert "label spreading has an expected accuracy" in text


def test_what_t_is_stands_in_words_before_its_numbers(tmp_path):
    audit = made("yes")
    page = audit.save(tmp_path)
    for text in (describe(audit, page), page.read_text().partition("<main")[2]):
        text = " ".join(text.split())
        assert "How inconsistent" in text.partition("t is the share of the unlabeled rows")[0]
        assert "0.30 [" in text.partition("t is the share of the unlabeled rows")[2]


def test_a_gain_that_is_too_small_is_called_so():
    small = replace(verdict_of("no"), gain=Interval(0.002, -0.01, 0.009))
    assert "too little to matter" in headline.sentence(made(verdict=small))
    assert "too little" not in headline.sentence(made("no"))


@pytest.mark.parametrize(
    ("worth", "words"),
    [
        (None, "How many labels that is worth is not known."),
        (Labels(math.nan), "How many labels that is worth is not known."),
        (Labels(3, -math.inf, math.inf, -9, 9), "How many labels that is worth is not known."),
        (Labels(40.4, 12, 75), "The unlabeled rows are worth about 40 more labels [12, 75]."),
        (Labels(-0.2, -3, 2), "The unlabeled rows are worth about 0 labels [-3, 2]."),
        (Labels(-8, -20, -1), "about -8 labels [-20, -1], as if labels were lost."),
        (Labels(math.inf, 5, math.inf, most=160), "more than 160 labels [5, more than 160]."),
        (Labels(3, -math.inf, 9, least=-14), "about 3 more labels [0 or fewer, 9]."),
    ],
)
def test_what_unlabeled_rows_are_worth_in_labels(worth, words):
    assert headline.worth(made(verdict=replace(verdict_of("yes"), worth=worth))).endswith(words)


def test_other_scores_are_told_in_their_own_unit():
    audit = made()
    gains = replace(audit.gains, score="log_loss")
    assert "gives about 0.031 better log loss [+0.011, +0.051] than" in str(
        replace(audit, gains=gains)
    )
    assert "more right answers" not in replace(audit, gains=gains)._repr_html_()


def test_time_is_told_first_of_all(tmp_path):
    audit = made(time="Your unlabeled rows are later.")
    page = audit.save(tmp_path)
    assert describe(audit, page).startswith(audit.time)
    body = page.read_text().partition("<main")[2]
    assert body.index(audit.time) < body.index("<h1>")


def test_text_fits_into_a_terminal_and_pages_run_nothing(tmp_path):
    audit = made()
    page = audit.save(tmp_path)
    lines = describe(audit, page).splitlines()
    assert [line for line in lines if len(line) > 80 and str(tmp_path) not in line] == []
    html = page.read_text()
    assert "<script" not in html
    assert "&lt;script" in html
    assert "http" not in re.sub(r"http-equiv|http://www\.w3\.org", "", html)


def test_an_interval_of_no_width_is_not_shown(tmp_path):
    audit = made()
    best = replace(audit.keeping, best=Interval(0.5, 0.5, 0.5))
    page = replace(audit, keeping=best).save(tmp_path)
    for said in (describe(replace(audit, keeping=best), page), page.read_text()):
        assert not re.search(r"\[([^\],]+), \1\]", said)


def test_an_audit_is_not_written_over_other_files(tmp_path):
    for name in ("index.html", "rows.csv", "model.skops", "audit.json", "label_next.csv"):
        folder = tmp_path / name.partition(".")[0]
        folder.mkdir()
        (folder / name).write_text("mine")
        with pytest.raises(InputError, match=f"{name} that is not from an audit"):
            made().save(folder)
        assert [(path.name, path.read_text()) for path in folder.iterdir()] == [(name, "mine")]
    with pytest.raises(InputError, match=r"cannot write the audit to .*rows.csv: File exists"):
        made().save(tmp_path / "rows" / "rows.csv")


def test_a_saved_audit_has_its_rows_and_its_model(tmp_path):
    audit = made()
    page = audit.save(tmp_path)
    assert audit.save(tmp_path) == page  # over an earlier audit
    rows = pd.read_csv(tmp_path / "rows.csv")
    assert sorted(rows.row) == list(range(89))
    assert rows.inconsistent.is_monotonic_decreasing
    assert list(load_model(tmp_path / "model.skops").predict(wine())) == list(
        audit.model.predict(wine())
    )


# A whole audit


@pytest.fixture(scope="module")
def audited(tmp_path_factory):
    """The folder of an audit, what was said, and what was told before the end."""
    folder = tmp_path_factory.mktemp("audit")
    frame = wine().sample(frac=1, random_state=0)
    frame[:60].to_csv(folder / "l.csv", index=False)
    frame[60:].drop(columns=["cultivar", "ash"]).to_csv(folder / "u.csv", index=False)
    words = ["audit", f"{folder}/l.csv", f"{folder}/u.csv", "--target", "cultivar"]
    words += ["-a", "label_spreading", "--label-next", "5", "--out", str(folder / "out")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(forests, "TREES", 25)
        patch.setattr(forests, "TREES_OF_LIKENESS", 15)
        result = CliRunner().invoke(cli.app, words, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return folder, result.stdout, result.stderr


def test_an_audit_answers_and_then_tells_the_rest(audited):
    folder, said, before = audited
    word = r"(Yes|No|Cannot tell \(about [\d,]+ labels would\))"
    assert re.match(rf"Should you use the unlabeled rows\? {word}\n", said)
    assert re.search(rf"^{word}\. The rest follows\.$", before, re.M)
    assert re.search(
        r"How inconsistent.*Which models were tried.*How do I use the model", said, re.S
    )
    assert re.search(r"distribution +0\.\d\d \[0\.00, 0\.\d\d\]", said)  # they are like each other
    assert "lost in the unlabeled rows: ash (missing)." in said
    assert re.search(r"rows: ash\. For such rows.* accuracy of [01]\.\d{3}", " ".join(said.split()))
    assert re.search(r"label spreading +[01]\.\d{3} +[+-]?0\.\d{3} \[", said)
    assert all(len(line) <= 80 for line in said.splitlines() if str(folder) not in line)
    assert len(pd.read_csv(folder / "out" / "rows.csv")) == 118
    assert len(pd.read_csv(folder / "out" / "label_next.csv")) == 5
    validate(json.loads((folder / "out" / "audit.json").read_text()))


def test_the_lines_that_load_the_model_do(audited, monkeypatch):
    folder, said, _ = audited
    wine().to_csv(folder / "new.csv", index=False)
    monkeypatch.chdir(folder)
    lines = re.search(r"  import pandas.*\n.*\n.*\n", said)[0]
    first, second, third = (line.strip() for line in lines.splitlines())
    answers = {}
    exec(f"{first}\n{second}\nanswers = {third}", answers)
    assert np.mean(answers["answers"] == wine().cultivar) > 0.85


@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_is_sound_in_a_browser(audited, browser, width):
    from axe_core_python.selenium import Axe

    folder, *_ = audited
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.get_log("browser")
    browser.get((folder / "out" / "index.html").as_uri())
    assert browser.get_log("browser") == []
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    serious = [
        violation["id"]
        for violation in Axe().run(browser)["violations"]
        if violation["impact"] in ("serious", "critical")
    ]
    assert serious == []


# For machines


def validate(document):
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.Draft202012Validator(SCHEMA).validate(document)


def check(audit):
    document = json.loads(json.dumps(audit.to_dict(), allow_nan=False))
    validate(document)
    return document


@pytest.mark.parametrize("answer", ANSWERS)
def test_the_document_is_as_its_schema_says(answer):
    document = check(made(answer))
    assert document["answer"] == answer
    assert document["gain"]["worth_in_labels"]["estimate"] == 40
    assert document["inconsistency"]["classes"][0] == {
        "name": "0",
        "labeled": pytest.approx(30 / 89),
        "unlabeled": {"estimate": 0.5, "low": 0.4, "high": 0.6},
        "changed": True,
    }


def test_what_is_not_known_is_null():
    found = Inconsistency(UNKNOWN, UNKNOWN, UNKNOWN, (), (), None)
    worth = Labels(math.inf, 5, math.inf, most=160)
    document = check(made(inconsistency=found, verdict=replace(verdict_of("no"), worth=worth)))
    assert document["inconsistency"]["distribution"] is None
    assert document["inconsistency"]["auroc"] is None
    assert document["gain"]["at_unlabeled_shares"] is None
    assert document["gain"]["worth_in_labels"] == {
        "estimate": None,
        "low": 5,
        "high": None,
        "least": None,
        "most": 160,
    }


def fields(schema, before=""):
    """Every field of a schema, and its description."""
    for name, inner in schema.get("properties", {}).items():
        inside = inner.get("items", inner)
        yield before + name, inner.get("description", "")
        yield from fields(inside, f"{before}{name}.")


def test_every_field_is_documented():
    page = (cli.Path(__file__).parent.parent / "docs" / "audit_json.md").read_text()
    for name, description in fields(SCHEMA):
        assert f"| `{name}` | {description} |" in page


@pytest.mark.parametrize(("answer", "status"), [("yes", 0), ("no", 3), ("cannot tell", 4)])
def test_the_command_ends_with_the_answer_if_asked(answer, status, tmp_path, monkeypatch):
    asked = {}
    monkeypatch.setattr(audits, "audit", lambda *files, **how: asked.update(how) or made(answer))
    words = ["audit", "l.csv", "u.csv", "-t", "cultivar", "-o", str(tmp_path / "out")]
    words += ["--group", "who", "--time", "when", "--label-next", "3", "--json"]
    run = CliRunner().invoke(cli.app, [*words, "-", "--exit-code"], catch_exceptions=False)
    assert run.exit_code == status
    assert json.loads(run.stdout)["answer"] == answer  # and nothing else is printed
    assert (asked["group"], asked["time"]) == ("who", "when")
    assert len(pd.read_csv(tmp_path / "out" / "label_next.csv")) == 3
    words[6], words[-2:] = str(tmp_path / "more"), ["3", "--json"]
    run = CliRunner().invoke(cli.app, [*words, str(tmp_path / "a.json")], catch_exceptions=False)
    assert run.exit_code == 0
    assert json.loads((tmp_path / "a.json").read_text())["answer"] == answer
    assert "label_next.csv" in run.stdout


# Rows to label next


def test_rows_to_label_are_consistent_ones_on_which_the_models_differ():
    audit = made()
    answers = {name: np.zeros((10, 89), int) for name in audit.gains.answers}
    answers["label_spreading"][:, 20:60] = 1
    probability = np.where(np.arange(89) < 40, 0.0, 1.0)
    mixture = replace(audit.inconsistency.mixture, inconsistent=probability)
    audit = replace(
        audit,
        gains=replace(audit.gains, answers=answers),
        inconsistency=replace(audit.inconsistency, mixture=mixture),
    )
    found = audit.label_next(30)
    assert sorted(found.row) == list(range(20, 40))  # no more than there are
    assert (found.cultivar == "").all()
    unlabeled = wine()[1::2].drop(columns="cultivar")
    assert [*found.columns] == ["row", *unlabeled.columns, "cultivar"]
    np.testing.assert_array_equal(found.ash, unlabeled.ash.iloc[found.row])
    agreed = replace(audit.gains, answers=dict.fromkeys(answers, answers["forest"]))
    assert len(replace(audit, gains=agreed).label_next(30)) == 0
    with pytest.raises(InputError, match="must be at least 1, got 0"):
        audit.label_next(0)


def test_rows_to_label_lie_apart():
    X = np.concatenate([np.zeros((50, 2)), np.ones((50, 2)), [[5.0, 5.0]]])
    assert sorted(far_apart(X, np.ones(101), 20)) == [0, 50, 100]  # each of the copies once
    assert list(far_apart(X, np.where(np.arange(101) == 60, 1.0, 0.1), 2)) == [60, 100]


def test_labels_that_were_filled_in_are_not_lost(tmp_path):
    made().save(tmp_path, label_next=5)
    with pytest.raises(InputError, match="may hold labels of yours"):
        made().save(tmp_path, label_next=5)
    text = made().save(tmp_path).read_text()
    assert "label next" not in text
    assert (tmp_path / "label_next.csv").exists()


# Reading


def test_a_target_of_numbers_is_refused_and_what_to_do_is_told():
    frame = wine()
    with pytest.raises(InputError, match=r"ash holds 79 different numbers.*pd\.cut"):
        of_frames(frame, frame, "ash")
    frame["year"] = np.arange(len(frame))
    with pytest.raises(
        InputError, match=r"178 different values in 178 rows: make classes.*pd\.cut"
    ):
        of_frames(frame, frame, "year")


def test_folds_keep_groups_together_and_hold_out_later_rows():
    frame = wine().sample(frac=1, random_state=0)
    frame["who"], frame["when"] = np.arange(178) // 4, np.arange(178)
    labeled, unlabeled = frame[:120], frame[120:].drop(columns="cultivar")
    pair = of_frames(labeled, unlabeled, "cultivar", group="who", time=None)
    for learn, test in folds_of(pair)[0].values():
        assert not set(pair.group.labeled[learn]) & set(pair.group.labeled[test])
    pair = of_frames(labeled, unlabeled, "cultivar", group=None, time="when")
    for learn, test in folds_of(pair)[0].values():
        assert pair.time.labeled[learn].max() < pair.time.labeled[test].min()


# The server


def test_a_server_without_its_package_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "mcp.server", None)
    with pytest.raises(InputError, match=r"pip install 'robustssl\[mcp\]'"):
        server.make_server()


def test_a_server_reads_the_named_files_alone(tmp_path, monkeypatch):
    asked = {}
    monkeypatch.setattr(server, "audit", lambda *files, **how: asked.update(how) or made())
    (tmp_path / "l.csv").write_text("a,y\n1,0\n")
    path = str(tmp_path / "l.csv")
    assert server.audit_files(path, path, "y", score="auroc")["answer"] == "yes"
    assert asked == {"encoder": "tfidf", "score": "auroc"}
    for bad in (str(tmp_path), str(tmp_path / "none.csv"), "/dev/zero"):
        with pytest.raises(InputError, match="there is no file"):
            server.audit_files(path, bad, "y")
    monkeypatch.setattr(server, "LARGEST", 5)
    with pytest.raises(InputError, match="more than 5 bytes"):
        server.audit_files(path, path, "y")


def asked_of_a_client(place, calls):
    """The tools that a server names, and its answers to calls."""
    mcp = pytest.importorskip("mcp")

    async def talk():
        async with mcp.Client(place) as client:
            tools = (await client.list_tools()).tools
            return tools, [await client.call_tool("audit", call) for call in calls]

    return asyncio.run(talk())


def test_an_assistant_gets_the_document_or_a_sentence(tmp_path, monkeypatch):
    pytest.importorskip("mcp")
    (tmp_path / "l.csv").write_text("a,y\n1,0\n")
    call = {"labeled": str(tmp_path / "l.csv"), "unlabeled": str(tmp_path / "l.csv"), "target": "y"}
    monkeypatch.setattr(server, "audit", lambda *files, step, **how: step() or made("no"))
    tools, (good, bad) = asked_of_a_client(
        server.make_server(), [call, {**call, "unlabeled": "/etc"}]
    )
    assert [tool.name for tool in tools] == ["audit"]
    assert tools[0].annotations.read_only_hint
    assert not {"model", "algorithms", "encoder"} & set(tools[0].input_schema["properties"])
    assert good.structured_content == json.loads(json.dumps(made("no").to_dict()))
    assert bad.is_error
    assert "there is no file /etc" in bad.content[0].text


@pytest.mark.slow
def test_the_command_serves_an_audit_and_writes_nothing(tmp_path):
    mcp = pytest.importorskip("mcp")
    frame = wine().sample(frac=1, random_state=0)
    frame[:60].to_csv(tmp_path / "l.csv", index=False)
    frame[60:].drop(columns="cultivar").to_csv(tmp_path / "u.csv", index=False)
    call = {"labeled": "l.csv", "unlabeled": "u.csv", "target": "cultivar"}
    place = mcp.StdioServerParameters(
        command=sys.executable, args=["-m", "robustssl", "mcp"], cwd=tmp_path, env=dict(os.environ)
    )
    _, (found,) = asked_of_a_client(place, [call])
    assert found.structured_content["answer"] in ANSWERS
    assert sorted(path.name for path in tmp_path.iterdir()) == ["l.csv", "u.csv"]
