"""Names, specs, presets."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import robustssl
from robustssl import InputError, registry
from robustssl.cell import Cell
from robustssl.records import catalog
from robustssl.spec import parse, spell, thing_of

values = st.one_of(
    st.booleans(),
    st.none(),
    st.integers(-10, 10),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(["add", "imdb", "a_b"]),
)


@given(st.dictionaries(st.sampled_from(["alpha", "mix", "b"]), values))
def test_parse_reads_what_spell_writes(options):
    assert parse(spell("name", options)) == ("name", options)


@pytest.mark.parametrize("spec", ["", "a[", "a[b]", "a[=1]", "a[b=1,b=2]", "a b", "a[[b=1]]"])
def test_a_spec_that_is_none(spec):
    with pytest.raises(InputError, match="write name"):
        parse(spec)


def test_one_thing_has_one_spelling():
    def canonical(spec):
        return registry.canonical("algorithm", spec)

    assert canonical("label_spreading[gamma=1,alpha=0.99]") == "label_spreading"
    assert canonical("label_spreading[gamma=2, alpha=.5]") == canonical(
        "label_spreading[alpha=0.5,gamma=2.0]"
    )
    assert (
        canonical("label_spreading[preset=reference]")
        == "label_spreading[alpha=0.2,n_neighbors=null]"
    )
    assert (
        canonical("label_spreading[preset=reference,alpha=0.99]")
        == canonical("label_spreading[preset=paper]")
        == "label_spreading[n_neighbors=null]"
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: robustssl.algorithm("label_spredding"), "did you mean 'label_spreading'"),
        (lambda: robustssl.dataset("irs"), "unknown dataset 'irs'; did you mean 'iris'"),
        (lambda: robustssl.environment("labels"), "did you mean 'label'"),
        (lambda: robustssl.environment("label[mx=add]"), "unknown option of label 'mx'"),
        (lambda: robustssl.estimator("label_spreading", alfa=1), "did you mean 'alpha'"),
        (lambda: robustssl.estimator("label_spreading", preset="papr"), "did you mean 'paper'"),
        (lambda: robustssl.estimator("self_training", budget="quick"), "has no budgets"),
        (lambda: robustssl.algorithm("no_such_module:Thing"), "cannot load the algorithm"),
        (lambda: robustssl.algorithm("toy:tables"), "not a class"),
        (
            lambda: robustssl.algorithm("toy:Dataset"),
            "it has no fit and no predict",
        ),
        (lambda: robustssl.estimator("subprocess:Popen"), "of Python's own library"),
        (lambda: robustssl.dataset("os:system"), "of Python's own library"),
        (lambda: robustssl.dataset("toy:Dataset"), "not a function"),
        (lambda: parse("label[" + 9000 * "," + "]"), "at most 4096 characters"),
        (lambda: robustssl.algorithm("__main__:Mine"), "into a module of its own"),
        (lambda: robustssl.dataset("toy:_y[n=3,classes=2]"), "not a function that says"),
        (lambda: robustssl.catalog("algorithms"), "did you mean 'algorithm'"),
        (lambda: robustssl.algorithm("zzzz"), "there is: acr, adamatch, assemble"),
    ],
)
def test_unknown_names_get_a_hint(call, message):
    with pytest.raises(InputError, match=message.replace("(", r"\(")):
        call()


def test_every_name_is_a_file_and_works():
    pytest.importorskip("torch")
    pytest.importorskip("xgboost")
    assert registry.names("dataset")[:3] == ("adult", "agnews", "arrays")
    names = ("distribution", "feature", "label", "prior", "reference")
    assert registry.names("environment") == names
    for name in registry.names("algorithm"):
        model = robustssl.estimator(name)
        assert isinstance(model, robustssl.algorithm(name))
    for row in robustssl.catalog("algorithm"):
        assert row["summary"]
        if row["baseline"]:
            assert robustssl.algorithm(row["baseline"]).supervised
        for preset in row["presets"]:
            robustssl.estimator(row["name"], preset=preset)


def test_a_baseline_matches_in_the_options_it_shares():
    assert registry.matched_baseline("self_training") == "supervised_logistic"
    matched = registry.matched_baseline("self_training[C=0.1,threshold=0.9]")
    assert matched == "supervised_logistic[C=0.1]"
    assert registry.matched_baseline("supervised_logistic") is None


def test_params_win_over_the_preset():
    model = robustssl.estimator("label_spreading", preset="paper", gamma=3)
    assert (model.alpha, model.gamma) == (0.99, 3)


@pytest.mark.parametrize(
    ("name", "shape", "classes"),
    [
        ("iris", (150, 4), 3),
        ("wine", (178, 13), 3),
        ("digits", (1797, 64), 10),
        ("breast_cancer", (569, 30), 2),
    ],
)
def test_datasets(name, shape, classes):
    data = robustssl.dataset(name)
    assert data.X.shape == shape
    assert np.array_equal(np.unique(data.y), np.arange(classes))
    assert len(data.meta["classes"]) == classes
    assert data.meta["licence"]
    assert data.meta["owner"]
    assert data is robustssl.dataset(name)


def test_bad_data_are_refused():
    X, y = np.ones((4, 2)), np.array([0, 0, 1, 1])
    with pytest.raises(InputError, match="row 2, column 1 is not finite"):
        robustssl.Dataset("mine", np.where(np.arange(8).reshape(4, 2) == 5, np.nan, X), y)
    with pytest.raises(InputError, match="4 rows, but 3 labels"):
        robustssl.Dataset("mine", X, y[:3])
    with pytest.raises(InputError, match="without a gap"):
        robustssl.Dataset("mine", X, y * 2)


_NO_TORCH = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "torch":
            raise ModuleNotFoundError("No module named 'torch'", name="torch")

sys.meta_path.insert(0, Absent())
from robustssl import registry
from robustssl.studies import study as studies

listed = {row["name"]: row["summary"] for row in registry.catalog("algorithm")}
print(listed["fixmatch"][:8], listed["ssgmm"][:15])
print(len(studies.study("quickstart").cells()))
try:
    registry.estimator("fixmatch")
except Exception as error:
    print(error)
"""


def test_without_torch_the_rest_works():
    found = subprocess.run(
        [sys.executable, "-c", _NO_TORCH], capture_output=True, text=True, check=True
    )
    assert found.stdout.splitlines() == [
        "FixMatch Semi-supervised",
        "2160",
        "fixmatch needs torch: pip install 'robustssl[deep]'",
    ]


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("a[b=c[d=1,e=2],f=3]", ("a", {"b": "c[d=1,e=2]", "f": 3})),
        ("a[f=3,b=c[d=1]]", ("a", {"f": 3, "b": "c[d=1]"})),
        ("a[b=c[d=x/y.z]]", ("a", {"b": "c[d=x/y.z]"})),
        ("a[b=True,c=False]", ("a", {"b": True, "c": False})),
    ],
)
def test_a_value_may_be_a_spec(spec, expected):
    assert parse(spec) == expected
    assert parse(spell(*parse(spec))) == expected


@pytest.mark.parametrize("spec", ["a[b=c[d=1]", "a[b=c]d=1]]", "a[b=c[d=e[f=1]]]", "a]b["])
def test_brackets_close(spec):
    with pytest.raises(InputError, match="cannot read"):
        parse(spec)


@pytest.mark.parametrize(
    ("spec", "base"),
    [
        ("ggr", "iomatch"),
        ("ggr[base=openmatch]", "openmatch"),
        ("filtered[base=ggr]", "iomatch"),
        ("filtered[base=ggr[base=uda]]", "uda"),
        ("filtered_statistical[base=ssgmm]", "ssgmm"),
    ],
)
def test_a_corrected_base_makes_a_new_cell_of_what_stands_in_front_of_it(spec, base, correct):
    name, options = parse(spec)
    cell = Cell(name, "label", "iris", 5, 0.0, 0, tuple(options.items()))
    before, other = registry.key(cell), catalog.version("algorithm", "uasd")
    assert registry.versions(cell)[0] == catalog.version("algorithm", thing_of("algorithm", spec))
    correct(base, 99)
    assert registry.key(cell) != before
    assert catalog.version("algorithm", thing_of("algorithm", spec)) % 1000 == 99
    assert other == catalog.version("algorithm", "uasd")


def test_a_base_that_is_no_method_has_no_version():
    assert registry.version("algorithm", thing_of("algorithm", "assemble[base=svm]")) == 1
