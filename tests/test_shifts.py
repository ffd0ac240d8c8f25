"""Real shifts: domains of tables, and classes that one of two domains lacks."""

import csv
import sys
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from test_cli import call  # noqa: F401, a fixture

import robustssl
from robustssl import Cell, Dataset, InputError, checks, registry
from robustssl.datasets import _domains, adult, bank, covertype
from robustssl.downloads.sources import table
from robustssl.execution.worker import run_group
from robustssl.records.frame import frame_of, with_versions
from robustssl.reports.remarks import omissions
from robustssl.splits import prepare
from robustssl.studies.study import study
from robustssl.studies.tasks import each_pair

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "experiments"))

import shifts  # noqa: E402

LEFT_OUT = "classes of lopsided that are left out, since the domain 'here' or 'there' has no rows"


# Domains of tables


def test_domains_in_time_are_the_first_third_and_the_last():
    data = Dataset("d", np.arange(22.0).reshape(11, 2), np.arange(11) % 2)
    found = _domains.in_time(data)
    assert found.X[:, 0].tolist() == [0, 2, 4, 16, 18, 20]
    assert found.domain.tolist() == ["early"] * 3 + ["late"] * 3
    assert found.y.tolist() == [0, 1, 0, 0, 1, 0]
    assert found.name == "d"


def small_table(module, words, first, before=()):
    """A table with `first` columns before that of the words, made as the real ones are."""
    rows = len(words)
    frame = pd.DataFrame({f"number {i}": np.arange(rows) + i for i in range(first - sum(before))})
    for i, values in enumerate(before):  # columns of words that stand in front, with that many
        frame[f"word {i}"] = [f"{values} {row % values}" for row in range(rows)]
    frame["domain"] = words
    frame["behind"] = [f"after {row % 2}" for row in range(rows)]
    arrays = table(frame, pd.Series([row % 2 for row in range(rows)], name="y"))
    return Dataset(module.__name__, arrays["X"], arrays["y"])


def test_the_column_of_employment_leaves_x(monkeypatch):
    words = [*adult.EMPLOYMENT, "Private", "State-gov"]
    data = small_table(adult, words, 6)
    monkeypatch.setattr(adult, "fetch_table", lambda *_, **__: data)
    assert adult.load() is data
    found = adult.load("employment")
    kept = [row for row, word in enumerate(words) if adult.EMPLOYMENT[word]]
    assert found.domain.tolist() == [adult.EMPLOYMENT[words[row]] for row in kept]
    assert set(found.domain) == {"private", "government", "self_employed"}
    others = [*range(6), *range(15, 17)]
    assert np.array_equal(found.X, data.X[np.ix_(kept, others)])


def test_the_column_of_the_telephone_leaves_x(monkeypatch):
    words = ["telephone", "cellular"] * 20
    data = small_table(bank, words, 42, before=(12, 4, 8, 3, 3, 3))
    monkeypatch.setattr(bank, "fetch_table", lambda *_, **__: data)
    found = bank.load("contact")
    assert found.domain.tolist() == words
    assert np.array_equal(found.X, np.delete(data.X, [42, 43], axis=1))
    assert set(bank.load("time").domain) == {"early", "late"}
    assert bank.load().domain is None


def test_the_columns_of_areas_leave_x(monkeypatch):
    area = np.arange(12) % 4
    X = np.arange(12 * 54.0).reshape(12, 54)
    X[:, 10:14] = np.eye(4)[area]
    data = Dataset("covertype", X, np.arange(12) % 3)
    monkeypatch.setattr(covertype, "fetch_table", lambda *_, **__: data)
    found = covertype.load("wilderness")
    assert found.domain.tolist() == ["rawah", "neota", "comanche_peak", "cache_la_poudre"] * 3
    assert np.array_equal(found.X, np.delete(X, range(10, 14), axis=1))


@pytest.mark.parametrize("name", ["adult", "bank", "covertype", "electricity", "weather"])
def test_other_domains_are_refused_before_anything_is_fetched(name, monkeypatch):
    module = sys.modules[registry.find("dataset", name).__module__]
    monkeypatch.setattr(module, "fetch_table", lambda *_, **__: pytest.fail("it was fetched"))
    with pytest.raises(InputError, match="unknown domain 'tme'"):
        robustssl.dataset(f"{name}[domain=tme]")


def test_a_dataset_is_described_with_its_domains(call):  # noqa: F811
    code, out, _ = call("show", "dataset", "adult")
    assert code == 0
    assert "domain=employment, those who are private, government or self_employed" in out
    assert "options: adult[domain=null]" in out
    assert "domains: " not in call("data", "fetch", "iris")[1]
    assert "domains: here (120 rows), there (120 rows)" in call("data", "fetch", "toy:tables")[1]


# Classes that a domain lacks


def test_classes_that_a_domain_lacks_are_left_out_with_a_sentence():
    prepared = prepare("toy:lopsided", "distribution", 3, 0)
    for t in (0.0, 1.0):
        with pytest.warns(UserWarning, match=LEFT_OUT) as told:
            split = prepared.split(t)
        assert [str(w.message).rpartition(": ")[2] for w in told] == ["2"]
        y = prepared.pools.data.y
        for rows in (split.rows, split.test_rows, prepared.pools.aside):
            assert set(y[rows]) == {0, 1}


@pytest.mark.parametrize(
    "name", ["label_spreading", "supervised_boosting", "supervised_xgboost", "fixmatch"]
)
def test_methods_take_class_codes_with_a_gap(name):
    """They predict what they predict with the codes 0 and 1."""
    options = {}
    if name == "supervised_xgboost":
        pytest.importorskip("xgboost")
    if name == "fixmatch":
        pytest.importorskip("torch")
        options = {"steps": 5}
    with warnings.catch_warnings(action="ignore"):
        spec = "distribution[source=a,target=b]"
        split = prepare("toy:scattered", spec, 3, 0).split(1.0)
    codes = np.array([1, 3])
    assert set(split.y) == {-1, *codes}
    plain = np.where(split.y < 0, -1, np.searchsorted(codes, split.y))
    one, other = (
        registry.estimator(name, random_state=0, **options).fit(split.X, y).predict(split.X_test)
        if name != "label_spreading"
        else registry.estimator(name).fit(split.X, y).predict(split.X_test)
        for y in (split.y, plain)
    )
    assert np.array_equal(one, codes[other])


def test_every_record_has_the_sentence_and_a_report_tells_it_once():
    cells = [
        Cell(name, "distribution", "toy:lopsided", 3, t, 0)
        for name in ("supervised_logistic", "label_spreading")
        for t in (0.0, 1.0)
    ]
    records = [*run_group(tuple(cells[:2])), *run_group(tuple(cells[2:]))]
    assert all(record.error is None for record in records)
    (sentence,) = {warning for record in records for warning in record.warnings}
    assert LEFT_OUT in sentence
    notes = omissions(with_versions(frame_of(records)))
    assert notes == [f"4 cells of label_spreading, supervised_logistic warned: {sentence}"]


@pytest.mark.parametrize(
    ("dataset", "environment", "message"),
    [
        (
            "scattered",
            "distribution[source=a,target=c]",
            "'a' and 'c' of scattered must have at least two classes in common, got 1",
        ),
        ("lonely", "distribution", "lonely has one domain, 'home', and two are needed"),
        ("scattered", "distribution[source=aa]", "domain of scattered 'aa'; did you mean 'a'"),
    ],
)
def test_domains_that_do_not_fit_are_refused_before_anything_runs(
    call,  # noqa: F811
    tmp_path,
    dataset,
    environment,
    message,
):
    write_study(tmp_path, environments=[environment], datasets=[f"toy:{dataset}"])
    code, _, err = call("run", "study.yaml", "-w", 1)
    assert code == 2
    assert message in err
    assert "Traceback" not in err


def test_a_run_tells_the_sentence_once(call, tmp_path):  # noqa: F811
    write_study(tmp_path, environments=["distribution"], datasets=["toy:lopsided"], labels=[2, 3])
    code, _, err = call("run", "study.yaml", "-w", 1)
    assert code == 0
    assert err.count(f"note: {LEFT_OUT}") == err.count("left out") == 1
    code, _, err = call("check", "distribution", "--dataset", "toy:lopsided")
    assert code == 0
    assert err.count(f"note: {LEFT_OUT}") == err.count("left out") == 1


def write_study(folder, **parts):
    document = {"algorithms": ["supervised_logistic"], "seeds": 2, **parts}
    (folder / "study.yaml").write_text(yaml.safe_dump(document))


def test_each_stands_for_domains_with_two_classes_in_common():
    found = each_pair("distribution[source=each,target=each]", "toy:scattered")
    assert found == ["distribution[source=a,target=b]", "distribution[source=b,target=a]"]
    with pytest.raises(InputError, match="lonely has no two domains with two classes in common"):
        each_pair("distribution[source=each,target=each]", "toy:lonely")
    with pytest.raises(InputError, match="scattered has no two domains"):
        each_pair("distribution[source=c,target=each]", "toy:scattered")


def test_a_total_of_labels_is_spread_over_the_common_classes():
    found = study(
        {
            "algorithms": ["supervised_logistic"],
            "environments": ["distribution[source=a,target=b]", "feature"],
            "datasets": ["toy:scattered"],
            "total_labels": 8,
        }
    )
    labels = {task.environment: task.labels for _, task in found.curves()}
    assert labels == {"distribution[source=a,target=b]": 4, "feature": 2}


# The page


def test_the_page_has_the_numbers_of_the_experiment():
    page = (ROOT / "docs/shifts.md").read_text()
    for made in shifts.tables(ROOT / "experiments/shifts.csv"):
        assert made in page


def numbers():
    """What the experiment found of a domain or a pair: {(dataset, source, target): {...}}."""
    found = {}
    with (ROOT / "experiments/shifts.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            place = row["dataset"], row["source"], row["target"]
            found.setdefault(place, {})[row["measure"]] = float(row["value"])
    return found


PAIRS = [place for place in numbers() if place[2]]


def test_every_shift_is_measured():
    assert {spec for spec, _, _ in PAIRS} == set(shifts.SHIFTS)
    ways = {
        name: registry.about("dataset", name).options
        for name in registry.names("dataset")
        if name not in ("table", "arrays")
    }
    assert {name for name, options in ways.items() if "domain" in options} == {
        spec.partition("[")[0] for spec in shifts.SHIFTS
    }


@pytest.mark.slow
@pytest.mark.parametrize("spec", shifts.SHIFTS)
def test_domains_of_real_tables_are_those_of_the_page(spec):
    data, plain = robustssl.dataset(spec), robustssl.dataset(spec.partition("[")[0])
    measured = {source: m for (s, source, to), m in numbers().items() if s == spec and not to}
    rows = Counter(data.domain.tolist())
    assert rows == {name: found["rows"] for name, found in measured.items()}
    for name, found in measured.items():
        for code, label in enumerate(data.meta["classes"]):
            share = (data.y[data.domain == name] == code).mean()
            assert share == pytest.approx(found[f"class {label}"], abs=5e-4)
    gone = {"covertype": 4, "adult": 9, "bank": 2 * ("contact" in spec)}
    assert plain.X.shape[1] - data.X.shape[1] == gone.get(plain.name, 0)
    assert plain.domain is None


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:classes of covertype that are left out")
@pytest.mark.parametrize(("spec", "source", "target"), PAIRS)
def test_real_shifts_keep_every_contract(spec, source, target):
    environment = f"distribution[source={source},target={target},test=500,unlabeled=500]"
    assert {name: why for name, why in checks.check_environment(environment, spec) if why} == {}


@pytest.mark.slow
def test_the_experiment_gives_its_numbers_again():
    data, _ = robustssl.dataset("weather[domain=time]").without_copies
    found = numbers()["weather[domain=time]", "early", "late"]
    here, there = shifts.rows_of(data, "early", "late")
    assert shifts.told_apart(data.X[here], data.X[there]) == pytest.approx(found["auroc"], abs=1e-3)
    for measure, value in shifts.here_and_there(data, here, there).items():
        assert value == pytest.approx(found[measure], abs=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "digest"), [("weather", "9d370895f5d9ed1a"), ("bank", "3aec169bcb7cff9a")]
)
def test_new_tables_are_fetched_for_real(name, digest, tmp_path, monkeypatch):
    monkeypatch.setenv("ROBUSTSSL_CACHE", str(tmp_path))
    registry.dataset.cache_clear()
    assert robustssl.dataset(name).sha256.startswith(digest)
    registry.dataset.cache_clear()
