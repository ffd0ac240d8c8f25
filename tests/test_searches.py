"""Spaces and configurations: every method is searched as widely as every other one."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import robustssl
from robustssl import InputError, registry
from robustssl.method import Between, Shares
from robustssl.records import catalog
from robustssl.registry.searches import configurations, configured
from robustssl.spec import parse
from robustssl.studies.study import study

ALGORITHMS = registry.names("algorithm")
MANY = 64


@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_algorithm_has_as_many_different_configurations(name):
    found = [configured(name, None, number) for number in range(MANY)]
    assert len(set(found)) == MANY
    assert found[0] == registry.canonical("algorithm", name)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_configurations_are_what_the_space_allows(name):
    known = registry.about("algorithm", name)
    assert known.space
    assert known.space.keys() <= known.options.keys()
    for number in range(1, 20):
        options = parse(configured(name, None, number))[1]
        for option, value in options.items():
            values = known.space.get(option)
            if option == "base":
                continue
            if isinstance(values, Between):
                assert values.low <= value <= values.high
            elif isinstance(values, Shares):
                usual = known.options[option]
                assert value in [max(1, round(usual * share)) for share in values.shares]
            else:
                assert value in values


def test_a_configuration_depends_on_the_name_and_the_number_alone():
    """Pinned, since records are found by their options."""
    assert configured("label_spreading", None, 1) == "label_spreading[alpha=0.9,n_neighbors=11]"
    configured.cache_clear()
    assert configured("fixmatch", None, 3) == configured("fixmatch", None, 3)
    assert configured("self_training", None, 1) != configured("self_training", None, 2)


def test_what_is_asked_for_stays_and_steps_are_shares_of_the_budget():
    for number in range(12):
        options = parse(configured("fixmatch[threshold=0.7]", "table", number))[1]
        assert options["threshold"] == 0.7
        assert options.get("steps", 500) in (250, 500, 1000)
        assert options["net"] == "mlp[width=256]"


def test_equal_configurations_are_drawn_anew(monkeypatch):
    few = registry.about("algorithm", "label_spreading")
    few = catalog.About(**{**vars(few), "space": {"alpha": (0.2, 0.5, 0.8)}})
    monkeypatch.setattr(registry, "about", lambda kind, name: few)
    configured.cache_clear()
    try:
        found = [configured("label_spreading", None, number) for number in range(4)]
        assert len(set(found)) == 4
        with pytest.raises(InputError, match="no 5 different configurations: its space is too"):
            configured("label_spreading", None, 4)
    finally:
        configured.cache_clear()


@given(st.floats(1e-6, 1e3), st.floats(1.01, 1e3), st.floats(0, 1), st.booleans())
def test_numbers_lie_between_their_ends(low, times, place, log):
    values = Between(low, low * times, log)
    assert values.low * 0.994 <= values.at(place) <= values.high * 1.006
    whole = Between(3, 50, log=True)
    assert isinstance(whole.at(place), int)
    assert math.isclose(Between(1.0, 100.0, log=True).at(0.5), 10)


def test_a_study_runs_configurations_as_cells_like_any_others(tmp_path):
    asked = {
        "algorithms": ["supervised_logistic", "self_training"],
        "environments": "label",
        "datasets": "wine",
        "ts": [0, 1],
        "seeds": 2,
        "configurations": 3,
    }
    chosen = study(asked)
    assert len(chosen.cells()) == 2 * 2 * 2 * 3
    found = robustssl.run(asked, tmp_path / "s.sqlite", workers=1, progress=False)
    assert (found.done, found.failed) == (24, 0)
    with robustssl.Store(tmp_path / "s.sqlite") as store:
        frame = store.frame()
    assert frame.groupby("method").configuration.agg(set).tolist() == [{0, 1, 2}] * 2
    assert frame.groupby(["method", "configuration"]).algorithm.nunique().eq(1).all()
    assert set(frame[frame.method == "self_training"].baseline) == {"supervised_logistic"}
    more = robustssl.run({**asked, "configurations": 4}, tmp_path / "s.sqlite", progress=False)
    assert more.done == 32


def test_an_excluded_method_is_excluded_with_all_its_configurations():
    asked = {
        "algorithms": ["supervised_logistic", "self_training"],
        "environments": "label",
        "datasets": ["wine", "digits"],
        "configurations": 3,
        "exclude": [{"algorithm": "self_training", "dataset": "digits"}],
    }
    curves = study(asked).curves()
    assert len(curves) == 3 + 3 + 3
    assert not [m for m, task in curves if "self_training" in m and task.dataset == "digits"]


def test_a_study_without_a_search_numbers_nothing():
    plain = study({"algorithms": "self_training", "environments": "label", "datasets": "wine"})
    assert [method.configuration for method in plain.methods.values()] == [None, None]
    assert [m.configuration for m in configurations("self_training", None, 2)] == [0, 1]
