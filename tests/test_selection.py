"""Rules choose as they say, of equally many settings, and from nothing that they may not see."""

import json

import numpy as np
import pandas as pd
import pytest
from searched import noise, searched

from robustssl.analysis.candidates import ONE, candidates
from robustssl.analysis.choices import Choices, choose
from robustssl.analysis.curves import curves, matched
from robustssl.analysis.density import ALIKE, BELIEF, Belief
from robustssl.analysis.optimism import account, by_chance, optimism
from robustssl.analysis.selection import LABEL_FREE, NEEDS, UNRANKED, common, select
from robustssl.analysis.table import study_table
from robustssl.errors import InputError
from robustssl.records.frame import scored
from robustssl.records.record import SCORES

TEST_SCORES = [
    name for name in SCORES if name not in {s for needs in NEEDS.values() for s in needs}
]


def random_scores(**cell):
    """All scores at random, in tenths so that there are ties."""
    fields = tuple(cell.values())
    names = ("accuracy", *LABEL_FREE, "cv_accuracy", "cv_log_loss")
    return {name: round(noise(name, *fields), 1) for name in names}


def development(scores=random_scores, **more):
    return searched(scores, datasets=("iris", "breast_cancer"), **more)


@pytest.fixture(scope="module")
def frame():
    return searched(random_scores, methods=("fixmatch", "vat"), datasets=("wine", "digits"))


@pytest.fixture(scope="module")
def choices():
    return choose(development(methods=("fixmatch", "vat")))


def chosen_by(frame, rule, choices=None, **more):
    return select(frame, rule, choices=choices if rule == "transfer" else None, **more)


@pytest.mark.parametrize("rule", NEEDS)
def test_a_rule_leaves_one_record_of_each_method_task_t_and_seed(frame, choices, rule):
    found = chosen_by(choices.ranked(frame) if rule == "transfer" else frame, rule, choices)
    assert not found.duplicated(ONE).any()
    assert len(found) == len(frame[ONE].drop_duplicates())
    assert (found.algorithm == found.method).all()
    users = found[found.method != "supervised_net"]
    assert {*users.baseline} == {"supervised_net"}
    assert set(found.ranked) == {rule not in UNRANKED}


def test_tables_and_curves_work_on_what_a_rule_chose(frame):
    found = scored(select(frame, "cv"), "accuracy")
    every = curves(found)
    assert len(every) == 6
    assert len(list(matched(every))) == 4
    table = study_table(every)
    assert {*table.method} == {"fixmatch", "vat", "supervised_net"}
    assert table.gain.notna().sum() == 4


def test_the_default_is_number_0(frame):
    assert {*select(frame, "default").configuration} == {0}


def test_cross_validation_takes_the_best_out_of_fold_then_log_loss_then_the_lower_number():
    cv = {0: (0.5, 0.1), 1: (0.7, 0.9), 2: (0.7, 0.4), 3: (0.7, 0.4)}

    def scores(configuration, **cell):
        accuracy, loss = cv[configuration]
        return {"accuracy": 0.5, "cv_accuracy": accuracy, "cv_log_loss": loss}

    found = select(searched(scores), "cv")
    assert {*found.configuration} == {2}
    assert found.tied.all()
    del cv[3]
    cv[2] = (0.71, 5.0)
    found = select(searched(scores, configurations=3), "cv")
    assert {*found.configuration} == {2}
    assert not found.tied.any()


@pytest.mark.parametrize("rule", LABEL_FREE)
def test_a_label_free_score_chooses_by_that_score_alone(frame, rule):
    found = select(frame, rule)
    best = frame.groupby(ONE)[rule].max()
    assert np.array_equal(found.set_index(ONE)[rule].sort_index(), best.sort_index())
    first = frame.merge(best.rename("best").reset_index(), on=ONE)
    lowest = first[first[rule] == first.best].groupby(ONE).configuration.min()
    assert np.array_equal(found.set_index(ONE).configuration.sort_index(), lowest.sort_index())


def test_ties_go_to_the_baseline_and_are_told_as_abstained():
    def scores(method, configuration, seed, **cell):
        mine = method == "fixmatch"
        better = 0.1 if mine and configuration == 2 and seed == 0 else 0
        loss = 0.1 if mine else 0.9
        accuracy = 0.4 if mine else 0.6
        return {"accuracy": accuracy, "cv_accuracy": 0.7 + better, "cv_log_loss": loss}

    found = select(searched(scores), "cv+abstain")
    mine = found[found.method == "fixmatch"].set_index("seed")
    assert (mine.loc[0, "configuration"] == 2).all()
    assert not mine.loc[0, "abstained"].any()
    assert mine.loc[[1, 2], "abstained"].all()
    assert (mine.loc[[1, 2], "accuracy"] == 0.6).all()
    assert (mine.loc[[1, 2], "setting"] == "supervised_net").all()
    assert not mine.supervised.any()
    assert not found[found.method == "supervised_net"].abstained.any()
    told = account(found).set_index("method")
    assert told.abstained["fixmatch"] == pytest.approx(2 / 3)
    assert told.abstained["supervised_net"] == 0


def test_the_oracle_sees_the_other_seeds_alone_under_the_belief():
    """Number 1 is best at small t, number 2 at large t; on its own seed number 3 is best of all."""
    ours = {1: (0.9, 0.6, 0.1), 2: (0.6, 0.6, 0.95), 0: (0.5, 0.5, 0.5), 3: (0.4, 0.4, 0.4)}

    def scores(configuration, t, seed, **cell):
        lucky = configuration == 3 and seed == 1
        return {"accuracy": 0.8 if lucky else ours[configuration][int(2 * t)]}

    frame = searched(scores)
    by_seed = select(frame, "oracle").groupby("seed").configuration.unique().map(list)
    assert by_seed.to_dict() == {0: [1], 1: [1], 2: [1]}
    assert {*select(frame, "oracle", belief=ALIKE).configuration} == {2}
    assert {*select(frame, "oracle", belief=Belief(5, 2)).configuration} == {2}
    with pytest.raises(InputError, match="fixmatch: one seed has no other seeds"):
        select(frame[frame.seed == 0], "oracle")


def test_transfer_takes_what_is_best_over_the_development_tasks_under_the_belief():
    def scores(method, configuration, dataset, t, **cell):
        if method == "supervised_net":
            return {"accuracy": 0.5}
        rows = {"iris": (0.5, 0.6, 0.7, 0.4), "breast_cancer": (0.5, 0.7, 0.4, 0.4)}
        late = {2: t}.get(configuration, 0)  # number 2 is good where t is large
        return {"accuracy": rows[dataset][configuration] * (1 - late) + late}

    made = {choice.method: choice for choice in choose(development(scores)).made}
    assert made["fixmatch"].configuration == 2
    assert made["supervised_net"].configuration == 0  # the lower number of equals
    assert made["fixmatch"].setting == "fixmatch[rate=0.02]"
    assert (made["fixmatch"].tasks, made["fixmatch"].tries) == (2, 4)
    early = {choice.method: choice for choice in choose(development(scores), Belief(1, 50)).made}
    assert early["fixmatch"].configuration == 1
    without = {name.split(",")[0]: number for name, number in early["fixmatch"].without.items()}
    assert without == {"iris": 1, "breast_cancer": 2}


def test_choices_are_kept_in_a_file_that_cannot_be_altered(choices, tmp_path):
    path = tmp_path / "choices.json"
    choices.write(path)
    assert Choices.read(path) == choices
    assert Choices.read(path).sha256 == choices.sha256
    document = json.loads(path.read_text())
    document["made"][0]["configuration"] += 1
    path.write_text(json.dumps(document))
    with pytest.raises(InputError, match="altered"):
        Choices.read(path)
    path.write_text("[]")
    with pytest.raises(InputError, match="holds no choices"):
        Choices.read(path)


@pytest.mark.parametrize("labels", [4, 8])
def test_transfer_never_ranks_a_dataset_that_it_was_made_on(frame, choices, labels):
    seen = searched(random_scores, datasets=("iris",), labels=(labels,))
    both = pd.concat([frame, seen], ignore_index=True)
    with pytest.raises(InputError, match="chosen on iris, so tasks of it are never ranked"):
        select(both, "transfer", choices=choices)
    assert len(select(choices.ranked(both), "transfer", choices=choices))
    with pytest.raises(InputError, match="needs the choices"):
        select(frame, "transfer")


def test_transfer_says_where_a_setting_is_lacking_or_another(frame, choices):
    frame = frame[frame.dataset == "wine"]
    number = next(c.configuration for c in choices.made if c.method == "vat")
    lost = frame[~((frame.method == "vat") & (frame.configuration == number))]
    with pytest.warns(UserWarning, match="vat on wine.* no record of its chosen setting"):
        found = select(lost, "transfer", choices=choices)
    assert "vat" not in {*found.method}
    other = frame.assign(algorithm=frame.algorithm + "x")
    with pytest.raises(InputError, match=r"nothing to choose among: .*no record of its chosen"):
        select(other, "transfer", choices=choices)
    alien = searched(random_scores, methods=("ict",))
    with pytest.warns(UserWarning, match="ict: no setting was chosen"):
        select(alien, "transfer", choices=choices)


def test_one_choice_serves_all_label_counts(choices):
    several = searched(random_scores, methods=("fixmatch", "vat"), labels=(2, 8))
    found = select(several, "transfer", choices=choices)
    assert (found.groupby("method").configuration.nunique() == 1).all()


def test_records_without_the_score_are_said_and_not_guessed(frame):
    no_folds = frame.assign(cv_accuracy=np.nan)
    with pytest.raises(InputError, match="fixmatch: no record has the score cv_accuracy"):
        select(no_folds, "cv")
    with pytest.raises(InputError, match=r"nothing to choose among: .*rankme"):
        select(frame.drop(columns="rankme"), "rankme")
    one = frame.assign(rankme=frame.rankme.where(frame.method != "vat"))
    with pytest.warns(UserWarning, match="vat: no record has the score rankme"):
        assert "vat" not in {*select(one, "rankme").method}
    with pytest.raises(InputError, match="unknown rule 'cw'"):
        select(frame, "cw")


def test_a_configuration_that_lacks_a_record_is_no_candidate_on_that_task(frame):
    gone = (frame.method == "vat") & (frame.configuration == 2) & (frame.dataset == "wine")
    hole = frame[~(gone & (frame.t == 1) & (frame.seed == 0))]
    found, said = candidates(hole)
    assert said == [
        "vat on wine, unknown classes, 4 labels a class: configuration 2 lacks some of 9 t and "
        "seeds and is no candidate"
    ]
    left = found[found.method == "vat"].groupby("dataset").configuration.unique().map(set)
    assert left.to_dict() == {"wine": {0, 1, 3}, "digits": {0, 1, 2, 3}}
    with pytest.warns(UserWarning, match="no candidate"):
        assert len(select(hole, "cv")) == len(select(frame, "cv"))


def test_more_seeds_of_the_default_do_not_end_the_search():
    def scores(configuration, seed, **cell):
        few = configuration and seed > 2
        return None if few else random_scores(configuration=configuration, seed=seed, **cell)

    found, said = candidates(searched(scores, seeds=5))
    assert {*found.seed} == {0, 1, 2}
    assert {*found.configuration} == {0, 1, 2, 3}
    assert len(said) == 2


def test_two_records_of_one_configuration_are_refused(frame):
    both = pd.concat([frame, frame[frame.method == "vat"].assign(budget="full")])
    for rule in ("default", "cv", "oracle"):
        with pytest.raises(InputError, match="has two records"):
            select(both, rule)


def test_a_method_with_a_larger_space_gets_no_more_tries():
    """The further settings of vat are perfect out of fold, and on the test rows."""

    def scores(method, configuration, **cell):
        perfect = method == "vat" and configuration >= 4
        score = 1.0 if perfect else 0.5
        return {"accuracy": score, "cv_accuracy": score, "cv_log_loss": 0.1, "bnm": score}

    many = {"fixmatch": 4, "vat": 16, "supervised_net": 4}
    frame = searched(scores, methods=("fixmatch", "vat"), configurations=many)
    for rule in ("cv", "cv+abstain", "bnm", "oracle"):
        with pytest.warns(UserWarning, match="vat on wine.*: 4 of 16 configurations"):
            assert select(frame, rule).configuration.max() < 4
    with pytest.warns(UserWarning, match="4 of 16"):
        made = choose(frame)
    assert {choice.tries for choice in made.made} == {4}


def test_a_method_that_was_not_searched_takes_no_tries_from_others():
    many = {"fixmatch": 4, "tsvm": 1, "supervised_net": 4}
    found, said = candidates(
        searched(random_scores, methods=("fixmatch", "tsvm"), configurations=many)
    )
    assert found[found.method == "fixmatch"].configuration.nunique() == 4
    assert said == []


def test_rules_are_compared_on_what_all_of_them_have(frame, choices):
    rules = [*NEEDS]
    whole, said = common(frame, rules, choices=choices)
    assert len(whole) == len(frame)
    assert said == []
    vat = frame.method == "vat"
    no_seed = vat & (frame.seed == 2) & (frame.dataset == "wine")
    no_default = vat & (frame.configuration == 0) & (frame.dataset == "digits")
    less = frame[~no_seed & ~no_default]
    less = less.assign(cv_log_loss=less.cv_log_loss.where(less.configuration != 3))
    part, said = common(less, rules, choices=choices)
    assert 3 not in {*part.configuration}
    assert {*part[part.dataset == "wine"].seed} == {0, 1}
    assert "vat" not in {*part[part.dataset == "digits"].method}
    assert any("default" in sentence for sentence in said)
    assert "t and seeds that a method of the same task lacks are left out" in said
    cells = [{*map(tuple, chosen_by(part, rule, choices)[ONE].to_numpy())} for rule in rules]
    assert all(found == cells[0] for found in cells)


def test_without_its_baseline_a_method_cannot_abstain(frame):
    alone = frame[(frame.method != "supervised_net") | (frame.dataset == "wine")]
    with pytest.warns(UserWarning, match="left out where there are no records of its baseline"):
        found = select(alone, "cv+abstain")
    assert {*found.dataset} == {"wine"}
    part, said = common(alone, ["cv", "cv+abstain"])
    assert {*part.dataset} == {"wine"}
    assert any(sentence.startswith("cv+abstain: fixmatch") for sentence in said)


@pytest.mark.parametrize("rule", NEEDS)
def test_test_scores_change_no_choice_but_the_oracle_s(frame, choices, rule):
    flipped = frame.assign(**{name: 1 - frame[name] for name in SCORES})
    before, after = (chosen_by(part, rule, choices) for part in (frame, flipped))
    same = before[[*ONE, "setting", "abstained"]].equals(after[[*ONE, "setting", "abstained"]])
    assert same == (rule != "oracle")


def test_a_search_that_finds_nothing_is_as_optimistic_as_chance_says():
    chance = by_chance(16, 24, 0.6)
    assert chance.tied == pytest.approx(1 / 3, abs=0.02)
    assert chance.optimism == pytest.approx(0.17, abs=0.005)
    assert by_chance(1, 24, 0.6) == pytest.approx((0, 0))


def test_selection_on_pure_noise_is_optimistic_as_expected_and_its_interval_covers_that():
    worlds, rng = 300, np.random.default_rng(0)

    def scores(**cell):
        cv, test = rng.binomial(24, 0.6) / 24, rng.binomial(1000, 0.6) / 1000
        return {"accuracy": test, "cv_accuracy": cv, "cv_log_loss": rng.random()}

    names = tuple(f"world{k}" for k in range(worlds))
    more = {"methods": (), "ts": (0.0,), "seeds": 5, "configurations": 16}
    found = select(searched(scores, datasets=names, **more), "cv")
    chance = by_chance(16, 24, 0.6)
    told = account(found, ["dataset"])
    assert told.tied.mean() == pytest.approx(chance.tied, abs=0.04)
    assert optimism(found).estimate == pytest.approx(chance.optimism, abs=0.005)
    covered = [one.low <= chance.optimism <= one.high for one in told.optimism]
    assert 0.92 <= np.mean(covered) <= 0.98
    not_chosen = select(searched(scores, datasets=names[:100], **more), "default")
    assert abs(optimism(not_chosen).estimate) < 0.02


def harmful(method, configuration, dataset, labels, t, seed):
    """Labeled folds say nothing about t: all is right there, and the method is surer of it."""
    if method == "supervised_net":
        return {"accuracy": 0.7, "cv_accuracy": 1.0, "cv_log_loss": 0.3}
    luck = 0.02 * noise(method, configuration, dataset, labels, t, seed)
    return {"accuracy": 0.71 - 0.4 * t + luck, "cv_accuracy": 1.0, "cv_log_loss": luck}


def test_where_folds_do_not_see_t_cross_validation_fails_and_abstaining_wins():
    frame = searched(harmful, seeds=4)
    gains = {}
    for rule in ("cv", "cv+abstain"):
        (_, pair), *_ = matched(curves(scored(select(frame, rule), "accuracy")))
        gains[rule] = pair.gain.mean
    assert gains["cv"][-1] < -0.35
    assert gains["cv"][0] > 0
    assert (gains["cv+abstain"] == 0).all()
    assert select(frame, "cv+abstain").abstained.sum() == 4 * 3


def test_a_belief_weighs_the_points_of_a_whole_grid():
    weights = BELIEF.weights([0, 0.2, 0.5, 1])
    assert sum(weights.values()) == pytest.approx(1)
    assert max(weights, key=weights.get) == 0.2
    assert ALIKE.weights([0, 0.5, 1]) == pytest.approx({0: 0.25, 0.5: 0.5, 1: 0.25})
    assert str(BELIEF) == "Beta(2, 5)"
    with pytest.raises(InputError, match="must hold 0 and 1"):
        BELIEF.weights([0, 0.5])
    with pytest.raises(InputError, match="above 0"):
        Belief(0, 1)


def test_choices_need_one_setting_for_a_number(frame):
    mixed = frame.assign(
        algorithm=frame.algorithm.where(frame.dataset != "wine", frame.algorithm + "y")
    ).assign(data="tabular")
    with pytest.raises(InputError, match="is not one setting on tabular data"):
        choose(mixed)


def test_a_development_task_that_a_configuration_lacks_takes_it_from_the_candidates():
    def scores(configuration, dataset, **cell):
        best = configuration == 3
        if best and dataset == "iris":
            return None
        return {"accuracy": 0.9 if best else 0.5}

    with pytest.warns(UserWarning, match="configuration 3 lacks a development task"):
        made = choose(development(scores))
    assert {choice.configuration for choice in made.made} == {0}


def test_optimism_is_known_of_folds_only(frame):
    with pytest.raises(InputError, match="cv_accuracy"):
        optimism(select(frame, "default").drop(columns="cv_accuracy"))
