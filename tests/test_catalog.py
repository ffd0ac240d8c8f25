"""The catalog says what the code says, and steps aside where the code has changed."""

import json
from typing import get_args

import pytest

from robustssl import registry
from robustssl.checks.catalog import make_catalog
from robustssl.records import catalog


def test_the_catalog_is_current():
    pytest.importorskip("torch")
    pytest.importorskip("xgboost")
    assert make_catalog() == catalog.FILE.read_text("utf-8"), "run `make catalog`"


def test_every_built_in_thing_is_known_without_its_code():
    for kind in get_args(registry.Kind):
        for name in registry.built_in(kind):
            found = catalog.entry(kind, name)
            assert found is not None, f"run `make catalog`: it does not know {name}"
            assert found.summary
            assert catalog.version(kind, name) == registry.version(kind, name)
            assert "base" in found.nested or catalog.version(kind, name) == found.version
    assert catalog.entry("algorithm", "nobody") is None
    assert catalog.version("environment", "label+feature") == 3003
    assert catalog.version("environment", "label+nobody") is None


def test_a_changed_file_is_asked_itself(monkeypatch):
    """Or a corrected algorithm would keep its old version until somebody runs `make catalog`."""
    monkeypatch.setattr(catalog, "source_digest", lambda kind, name: "other")
    catalog.entry.cache_clear()
    registry.about.cache_clear()
    try:
        assert catalog.entry("algorithm", "ssgmm") is None
        assert registry.about("algorithm", "ssgmm") == registry.inspected("algorithm", "ssgmm")
    finally:
        catalog.entry.cache_clear()
        registry.about.cache_clear()


def test_looks_are_kept_and_a_new_algorithm_gets_the_next(monkeypatch):
    pytest.importorskip("torch")
    pytest.importorskip("xgboost")
    known = catalog.looks()
    assert known["fixmatch"] == 0
    fewer = {name: look for name, look in known.items() if name != "fixmatch"}
    monkeypatch.setattr(catalog, "looks", lambda: dict(fewer))
    made = json.loads(make_catalog())["algorithm"]
    assert made["fixmatch"]["look"] == max(fewer.values()) + 1
    assert {name: made[name]["look"] for name in fewer} == fewer


def test_what_the_catalog_tells_of_a_method_is_what_the_registry_tells():
    for asked in ("fixmatch", "self_training[C=0.1]", "vat[steps=7,net=linear]", "tsvm"):
        spec = registry.canonical("algorithm", asked)
        assert catalog.method_of(spec) == registry.describe(spec)
    assert catalog.method_of("their_module:Theirs").supervised is None


@pytest.mark.parametrize(
    ("name", "paper"),
    [
        ("fixmatch", ("Sohn et al.", 2020, "https://arxiv.org/abs/2001.07685")),
        ("assemble", ("Bennett, Demiriz & Maclin", 2002, None)),
        ("safe_ensemble", ("Li, Guo & Zhou", 2019, None)),
        ("filtered", None),  # of three
        ("supervised_net", None),  # of none
    ],
)
def test_the_paper_of_a_method_is_the_one_that_it_cites(name, paper):
    assert catalog.entry("algorithm", name).paper == paper


def test_every_dataset_says_whose_it_is_and_under_which_licence():
    for name in registry.built_in("dataset"):
        found = catalog.entry("dataset", name)
        assert found.owner, name
        assert found.licence, name
    for name in ("iris", "wine", "digits", "breast_cancer"):
        meta, found = registry.dataset(name).meta, catalog.entry("dataset", name)
        assert (meta["owner"], meta["licence"]) == (found.owner, found.licence)
