"""Everything built in keeps its contracts, and each contract fails on something that breaks it."""

import numpy as np
import pytest
from test_open_environments import PLACES

from robustssl import Dataset, checks, registry
from robustssl.checks import environments as contracts
from robustssl.checks._contracts import verdicts

HERE = [
    *PLACES,
    ("distribution", "wine"),
    ("distribution[test=20,unlabeled=15]", "breast_cancer"),
    ("label", "wine"),
    ("feature", "wine"),
    ("feature", "breast_cancer"),
]
LIKE = "test and consistent rows are like the labeled"
WITH_ADD = [(spec, data) for spec, data in HERE if data != "wine" and "[" not in spec][:-1]


def broken(spec, dataset):
    """The contracts that are broken, except the slow one that starts another process."""
    case = contracts.case(registry.canonical("environment", spec), dataset)
    quick = [c for c in contracts.ENVIRONMENT if c is not contracts.the_same_in_another_process]
    return {name: reason for name, reason in verdicts(quick, case) if reason}


@pytest.mark.parametrize(("spec", "dataset"), HERE)
def test_every_environment_keeps_every_contract(spec, dataset):
    assert broken(spec, dataset) == {}


@pytest.mark.parametrize(("spec", "dataset"), WITH_ADD)
def test_environments_that_add_rows_keep_every_contract(spec, dataset):
    assert broken(f"{spec}[mix=add]", dataset) == {}


@pytest.mark.parametrize(
    ("name", "contract", "sentence"),
    [
        ("Overlaps", "disjoint", "rows are used twice at t = 0.0"),
        ("MovesTest", "labeled and test rows do not move", "the test set at t = 0.5"),
        ("MovesLabeled", "labeled and test rows do not move", "the labeled rows at t = 1.0"),
        ("NotNested", "nested", "an inconsistent row leaves"),
        ("Miscounts", "counts", "rows are inconsistent at t = 0.1, not"),
        ("Shrinks", "counts", "unlabeled rows at t = 0.35"),
        ("RedrawsColumns", "columns are lost", "a lost feature is back"),
        ("Leaks", "no label leaves", "a hidden label is shown at t = 0.0"),
        (
            "ScalesByT",
            "preprocessing sees neither t nor test",
            "depends on other rows",
        ),
        ("LeaksInFeature", "rows are what they were", "a consistent row at t = 0.1"),
        ("TestsTheUnknown", LIKE, "the test rows have classes that have no labels"),
        ("Mislabels", "rows are what they were", "a test row at t = 0.0"),
        ("SwapsPools", LIKE, "the consistent rows have classes that have no labels"),
        ("DegradesByT", "rows are what they were", "an inconsistent row is different"),
        ("UsesWhatIsAside", "disjoint", "rows are used twice"),
        ("BringsBack", "nested", "a consistent row comes back"),
        ("LosesTooMany", "columns are lost", "3 features are lost at t = 0.1, not 2"),
        ("AddsTooFew[mix=add]", "counts", "unlabeled rows at t = 0.35"),
    ],
)
def test_a_broken_promise_is_found(name, contract, sentence):
    found = broken(f"broken:{name}", "wine")
    assert sentence in found.get(contract, ""), found


def test_another_process_is_another_witness():
    """That the contract holds of a good environment is shown by `robustssl check` (test_cli)."""
    for name in ("broken:Forgets", "broken:Blinks"):
        case = contracts.case(name, "wine")
        ((_, found),) = verdicts([contracts.the_same_in_another_process], case)
        assert found == "another process makes other splits"


def test_datasets():
    for name in ("iris", "wine", "digits", "breast_cancer"):
        assert all(reason is None for _, reason in checks.check_dataset(name))


def nameless() -> Dataset:
    return Dataset("nameless", np.zeros((4, 1)), np.array([0, 0, 0, 1]), meta={"classes": ["a"]})


def test_a_dataset_that_breaks_its_promises():
    found = dict(checks.check_dataset("test_checks:nameless"))
    assert found["is named and owned"] == "its meta lacks licence, owner"
    assert "a class has 1 rows" in found["every class can be learned"]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("label+feature[mix=add]", "environment"),
        ("wine", "dataset"),
        ("broken:Leaks", "environment"),
        ("toy:images", "dataset"),
    ],
)
def test_what_a_name_is(name, kind):
    assert checks.kind_of(name) == kind
