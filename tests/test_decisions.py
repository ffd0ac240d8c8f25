"""Decisions: entrants, their regret, and how many labels until a rule protects."""

import numpy as np
import pandas as pd
import pytest
from searched import noise, searched

from robustssl.analysis.candidates import CELL
from robustssl.analysis.decisions import (
    best_baseline,
    gains,
    over,
    protected_from,
    protection,
    reference,
    regrets,
    regrets_in_labels,
    sign_seen,
    told,
)
from robustssl.analysis.density import ALIKE
from robustssl.analysis.entrants import advised, always, entrants, validated
from robustssl.analysis.interval import Interval
from robustssl.analysis.selection import select
from robustssl.errors import InputError

HARM = 0.4


def scores(method, labels, t, seed, configuration, dataset):
    """The method is better by .1 at t = 0 and worse by .3 at t = 1; folds see nothing of t."""
    base = 0.5 + 0.05 * np.log2(labels) + 0.01 * seed
    user = method == "fixmatch"
    return {
        "accuracy": base + (0.1 - HARM * t if user else 0),
        "cv_accuracy": base + (0.1 if user else 0),
        "cv_log_loss": 0.5,
    }


@pytest.fixture(scope="module")
def chosen():
    return select(searched(scores, labels=(2, 4, 8), configurations=2, seeds=4), "cv")


def follows(chosen, decisions):
    return advised(always(chosen, "fixmatch"), always(chosen, "supervised_net"), decisions)


def expected_regrets(entrants, chosen):
    table = over(regrets(entrants, chosen, ALIKE), ["entrant"])
    return {row.entrant: row.regret.estimate for row in table.itertuples()}


def test_regret_is_what_an_entrant_loses_against_the_better_at_each_t(chosen):
    found = {
        "always": always(chosen, "fixmatch"),
        "never": always(chosen, "supervised_net"),
        "folds": validated(chosen),
    }
    found = expected_regrets(found, chosen)
    assert found["always"] == pytest.approx(0.5 * 0.1 + 0.25 * 0.3)  # at t = .5 and 1
    assert found["never"] == pytest.approx(0.25 * 0.1)  # at t = 0
    assert found["folds"] == pytest.approx(found["always"])


def test_who_knows_t_regrets_nothing_and_advice_is_followed(chosen):
    advice = chosen[CELL].drop_duplicates().assign(use=lambda cells: cells.t == 0)
    wrong = advice.assign(use=~advice.use)
    both = {name: follows(chosen, x) for name, x in (("r", advice), ("w", wrong))}
    found = expected_regrets(both, chosen)
    assert found["r"] == pytest.approx(0)
    assert found["w"] == pytest.approx(0.25 * 0.1 + 0.5 * 0.1 + 0.25 * 0.3)


def test_entrants_are_compared_on_the_cells_that_all_decided_on(chosen):
    some = chosen[CELL].drop_duplicates().assign(use=True)
    some = some[some.labels == 4]
    both = {"some": follows(chosen, some), "all": always(chosen, "fixmatch")}
    table = regrets(both, chosen, ALIKE)
    assert {*table.labels} == {4}
    assert table.groupby("entrant").size().to_dict() == {"some": 4, "all": 4}


def test_the_best_is_found_on_the_other_seeds_and_scored_on_its_own():
    def lucky(method, seed, **cell):
        return {
            "accuracy": 0.9
            if method == "fixmatch" and seed == 0
            else 0.6 - 0.1 * (method == "fixmatch")
        }

    best = reference(select(searched(lucky, configurations=1), "default"))
    by_seed = best.groupby("seed").unique().map(list).to_dict()
    # fixmatch: .9, .5, .5; the net: .6. Seed 0 sees .5 against .6; seeds 1 and 2 see .7 against .6
    assert by_seed == {0: [0.6], 1: [0.5], 2: [0.5]}


def test_regret_is_told_in_labels_that_would_buy_it_back(chosen):
    table = regrets({"never": always(chosen, "supervised_net")}, chosen, ALIKE)
    found = regrets_in_labels(table, chosen, "supervised_net", ALIKE).set_index("labels").worth
    assert found[2].estimate == pytest.approx(2 * 2**0.5 - 2, abs=1e-6)  # .025 at .05 a doubling
    assert found[8].estimate == np.inf
    assert regrets_in_labels(table, chosen, "fixmatch", ALIKE).labels.tolist() == [2, 4, 8]


def test_validated_takes_by_folds_and_prefers_a_supervised_method_of_equals(chosen):
    never = validated(chosen, supervised=True)
    assert never.sort_index().equals(always(chosen, "supervised_net").sort_index())
    equal = chosen.assign(cv_accuracy=0.5)
    assert validated(equal).equals(never)
    assert validated(equal, supervised=False).equals(always(chosen, "fixmatch").sort_index())
    with pytest.raises(InputError, match="out of fold"):
        validated(chosen.drop(columns="cv_accuracy"))


def test_what_saw_test_rows_is_no_entrant():
    marked = select(searched(scores, configurations=2), "oracle")
    with pytest.raises(InputError, match="no entrant"):
        always(marked, "fixmatch")


def test_decisions_must_be_whole_and_fit(chosen):
    advice = chosen[CELL].drop_duplicates().assign(use=True)
    for wrong, sentence in (
        (pd.concat([advice, advice]), "one decision for each"),
        (advice.assign(seed=advice.seed + 99), "no decision is on"),
        (advice.assign(use="False"), "must be True or False"),  # a text that is true in Python
        (advice.assign(use=np.nan), "must be True or False"),
        (advice.assign(use=1), "must be True or False"),
        (advice[advice.t < 1], "from the lowest t of the records to the highest, 0 to 1"),
        (advice[advice.t == 0.5], "from the lowest t"),
    ):
        with pytest.raises(InputError, match=sentence):
            follows(chosen, wrong)
    with pytest.raises(InputError, match="unknown method"):
        always(chosen, "vat")


def test_everybody_decides_and_advice_stands_beside(chosen):
    found, said = entrants(chosen)
    assert said == []
    assert [*found] == [
        *("always fixmatch", "always supervised_net"),
        *("the best out of fold", "never: the best baseline out of fold"),
        "always: the best method out of fold",
    ]
    cells = chosen[CELL].drop_duplicates()
    some = cells[cells.seed < 2].assign(use=lambda cells: cells.t == 0, entrant="a seer")
    advised_too, said = entrants(chosen, some)
    assert {*advised_too} - {*found} == {
        "fixmatch if a seer says so",
        "the best method out of fold if a seer says so",
    }
    assert said == [
        f"compared on {len(some)} of {len(cells)} cells (task, t and seed), at t = 0, 0.5, 1"
    ]
    assert {len(entrant) for entrant in advised_too.values()} == {len(some)}
    every, one = told(advised_too, chosen, ALIKE)
    assert every.entrant.iloc[0] == "fixmatch if a seer says so"
    assert every.regret.iloc[0].estimate == pytest.approx(0)
    assert len(one) == 3 * len(every)


def test_who_loses_more_than_the_first_is_told_apart_by_seeds_alone(chosen):
    """Where all seeds agree there is no interval, and so nobody is told apart."""
    found, _ = entrants(chosen)
    assert not told(found, chosen, ALIKE)[0].apart.any()
    net = chosen.method == "supervised_net"
    moved = chosen.assign(accuracy=chosen.accuracy - 0.001 * chosen.seed * net)
    found, _ = entrants(moved)
    apart = told(found, moved, ALIKE)[0].set_index("entrant").apart
    assert not apart["always supervised_net"]  # the first
    assert apart["always fixmatch"]


def test_an_entrant_that_lacks_a_cell_takes_it_from_nobody_else(chosen):
    """Else a method that failed where it is weak would hide it for all."""
    lacking = chosen[~((chosen.method == "fixmatch") & (chosen.t == 1) & (chosen.seed == 0))]
    found, said = entrants(lacking.assign(cv_accuracy=np.nan).pipe(with_a_third))
    assert said == ["always fixmatch: left out, it lacks cells that most have"]
    assert {len(entrant) for entrant in found.values()} == {len(chosen) // 2}


def with_a_third(chosen):
    more = chosen[chosen.method == "supervised_net"]
    return pd.concat([chosen, more.assign(method="vat", algorithm="vat", supervised=False)])


def test_regrets_are_told_in_labels_where_they_are_known(chosen):
    assert best_baseline(chosen) == "supervised_net"
    every, one = told(entrants(chosen)[0], chosen, ALIKE)
    rows = every.set_index("entrant")
    assert rows.priced.to_dict() == dict.fromkeys(rows.index, 3)
    middle = rows.worth["always supervised_net"]  # of .8, 1.7 and a number above 0
    assert str(middle) == "more than 0.8 labels a class"
    never = one[one.entrant == "always supervised_net"].set_index("labels")
    table = regrets({"never": always(chosen, "supervised_net")}, chosen, ALIKE)
    same = regrets_in_labels(table, chosen, "supervised_net", ALIKE).set_index("labels")
    assert {n: str(x) for n, x in never.worth.items()} == {n: str(x) for n, x in same.worth.items()}
    alone = chosen[chosen.labels == 4]
    every, one = told(entrants(alone)[0], alone, ALIKE)
    assert {*every.worth} == {None}
    assert {*one.worth} == {None}
    users = chosen[chosen.method == "fixmatch"]
    assert best_baseline(users) is None
    assert told(entrants(users)[0], users)[0].priced.tolist() == [0, 0, 0]


def test_more_labels_show_more_harm_until_cross_validation_protects():
    """The folds see a harm of .1, each labeled row with its own luck."""

    def seen(method, configuration, dataset, labels, t, seed):
        rows, truth = 3 * labels, 0.6 if method == "fixmatch" else 0.7
        luck = noise(method, configuration, dataset, labels, seed)
        right = int((np.random.default_rng(int(luck * 2**32)).random(rows) < truth).sum())
        return {"accuracy": truth, "cv_accuracy": right / rows, "cv_log_loss": 0.5}

    more = {"datasets": tuple(f"data{k}" for k in range(12)), "labels": (4, 16, 64, 128)}
    frame = searched(seen, configurations=2, seeds=4, ts=(0.0, 1.0), **more)
    table = protection(select(frame, "cv+abstain"))
    harm = table.set_index("labels").gain
    assert -0.05 < harm[4].estimate < harm[16].estimate < -0.005
    assert harm[128].note == "identical"
    assert protected_from(table, 0.01).to_dict() == {"fixmatch": 64}
    assert np.isnan(protected_from(protection(select(frame, "cv")), 0.01)["fixmatch"])


def test_a_rule_protects_from_a_count_only_if_it_does_at_all_larger_ones():
    ends = {4: 0.0, 8: -0.2, 16: -0.02, 32: -0.005, 64: 0.01}
    rows = [("vat", count, Interval(0.1, low, 0.2)) for count, low in ends.items()]
    table = pd.DataFrame(rows, columns=["method", "labels", "gain"])
    found = [protected_from(table, margin)["vat"] for margin in (0.01, 0.05, 0.5)]
    assert found == [32, 16, 4]
    assert np.isnan(protected_from(table, -0.05)["vat"])


def test_gains_are_paired_by_seed(chosen):
    table = gains(chosen, ALIKE)
    assert {*table.method} == {"fixmatch"}
    assert np.allclose(table.gain, 0.1 - HARM / 2)
    assert len(table) == 12


@pytest.mark.parametrize(("labels", "seen"), [(50, 0.67), (250, 0.84), (1000, 0.98)])
def test_how_likely_labels_show_the_sign_of_a_harm(labels, seen):
    assert sign_seen(0.02, 0.1, labels) == pytest.approx(seen, abs=0.005)
    rng = np.random.default_rng(0)
    better, worse = rng.multinomial(labels, [0.04, 0.06, 0.9], size=100_000)[:, :2].T
    simulated = (better < worse).mean() + (better == worse).mean() / 2
    assert sign_seen(0.02, 0.1, labels) == pytest.approx(simulated, abs=0.005)


def test_signs_of_no_harm_and_of_a_sure_one():
    assert sign_seen(0, 0.1, 1000) == 0.5
    assert sign_seen(1, 1, 1) == 1
    with pytest.raises(InputError, match="share of discordant rows"):
        sign_seen(0.2, 0.1, 10)
