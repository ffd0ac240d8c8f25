"""Studies: validation with clear messages, running what is missing, planning."""

from types import SimpleNamespace

import pytest

import robustssl
from robustssl import InputError, cli, registry
from robustssl.cell import Task
from robustssl.execution import plan as plans
from robustssl.execution import run as runs
from robustssl.execution.engines import local
from robustssl.execution.groups import groups
from robustssl.execution.pace import Pace
from robustssl.execution.status import place_of, seconds_a_cell, totals_of
from robustssl.execution.timing import in_order
from robustssl.records import catalog
from robustssl.records.record import Record
from robustssl.spec import parse
from robustssl.studies import changes
from robustssl.studies import study as studies

GOOD = {"algorithms": ["self_training"], "environments": "label", "datasets": ["iris"]}


def test_every_combination_is_a_cell():
    study = studies.study({**GOOD, "labels": [5, 10], "ts": [0, 0.5, 1], "seeds": [3, 7]})
    cells = study.cells()
    assert len(cells) == len(set(cells)) == 12 * 2  # with the baseline
    assert {cell.seed for cell in cells} == {3, 7}
    assert {cell.labels for cell in cells} == {5, 10}


def test_defaults():
    cells = studies.study(GOOD).cells()
    assert {cell.t for cell in cells} == {0, 0.2, 0.4, 0.6, 0.8, 1}
    assert {cell.seed for cell in cells} == set(range(5))
    assert {cell.labels for cell in cells} == {5}


def test_presets_are_resolved_into_values():
    study = studies.study({**GOOD, "algorithms": ["label_spreading[preset=reference]"]})
    assert study.cells()[0].params == (("alpha", 0.2), ("n_neighbors", None))
    same = ["label_spreading[preset=paper]", "label_spreading[n_neighbors=null]"]
    assert len(studies.study({**GOOD, "algorithms": same}).curves()) == 1 + 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"algoritms": ["x"]}, "unknown key 'algoritms'; did you mean 'algorithms'"),
        ({"algorithms": ["self_trainin"]}, "algorithms: unknown algorithm.*'self_training'"),
        ({"datasets": ["irs"]}, "datasets: unknown dataset 'irs'; did you mean 'iris'"),
        ({"environments": []}, "environments: Value should have at least 1 item"),
        ({"ts": [0, 1.2, 1]}, "ts: t must lie between 0 and 1, got 1.2"),
        ({"ts": [0, 0.5]}, "ts: the grid of t must hold 0 and 1; it lacks 1"),
        ({"labels": 0}, "labels: must be at least 1, got 0"),
        ({"labels": "five"}, "labels.0: Input should be a valid integer"),
        ({"seeds": -1}, "seeds: Value should have at least 1"),
        ({"seeds": [-1]}, "seeds: must be at least 0"),
        ({"seeds": True}, "seeds: "),
        ({"datasets": 5}, "datasets.0: Input should be a valid string"),
    ],
)
def test_a_bad_study_says_what_is_wrong(change, message):
    with pytest.raises(InputError, match=message):
        studies.study({**GOOD, **change})


def test_study_files(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text("algorithms: [self_training]\nenvironments: [label]\ndatasets: [iris]\n")
    assert studies.study(file).cells() == studies.study(GOOD).cells()
    file.write_text("algorithms: [self_training\n")
    with pytest.raises(InputError, match="is not YAML"):
        studies.study(file)
    file.write_text("just words")
    with pytest.raises(InputError, match="keys and values"):
        studies.study(file)
    file.write_text("algorithms: [self_training]\nenvironments: [label]\n")
    with pytest.raises(InputError, match="the key 'datasets' is missing"):
        studies.study(file)
    file.write_text("1: 2\n")
    with pytest.raises(InputError, match="keys must be words"):
        studies.study(file)
    file.write_text("title: !!python/object/apply:os.system ['true']\n")
    with pytest.raises(InputError, match="is not YAML"):
        studies.study(file)
    with pytest.raises(InputError, match="there is no study file"):
        studies.study(tmp_path / "other.yaml")
    with pytest.raises(InputError, match="did you mean 'quickstart'"):
        studies.study("quikstart")


def test_only_what_is_missing_is_run(tmp_path, small, monkeypatch, in_process):
    store = tmp_path / "s.sqlite"
    first = robustssl.run({**small, "only": {"algorithm": "label_spreading"}}, store, workers=1)
    assert (first.cells, first.done, first.missing) == (24, 24, 0)
    ran = []
    real = runs.run_group
    monkeypatch.setattr(
        runs, "run_group", lambda group, **kw: (ran.extend(group), real(group, **kw))[1]
    )
    again = robustssl.run(small, store, workers=1)
    assert (again.cells, again.done) == (48, 48)
    assert {cell.algorithm for cell in ran} == {"supervised_kernel"}
    assert len(ran) == 24


def test_a_corrected_algorithm_runs_again_and_the_old_is_stale(tmp_path, small, correct):
    store = tmp_path / "s.sqlite"
    robustssl.run(small, store, workers=1)
    correct("label_spreading", 9)
    before = robustssl.status(store, small)
    assert (before.done, before.missing, before.stale) == (24, 24, 24)
    after = robustssl.run(small, store, workers=1)
    assert (after.done, after.missing, after.stale) == (48, 0, 24)
    assert len(robustssl.metrics(store)) == 4


def test_failures_are_shown_left_alone_and_retried_on_request(
    tmp_path, small, monkeypatch, in_process
):
    store = tmp_path / "s.sqlite"
    doomed = {**small, "algorithms": ["doomed:Fails"], "environments": "feature"}
    first = robustssl.run(doomed, store, workers=1)
    assert (first.done, first.failed, first.missing) == (4, 8, 0)
    assert first.failures == {"RuntimeError: a column is constant": 8}
    assert robustssl.plan(doomed, store).left == 0
    assert robustssl.plan(doomed, store, retry=True).left == 8
    import doomed as module

    monkeypatch.setattr(module.Fails, "fit", module.Constant.fit)
    assert robustssl.run(doomed, store, workers=1).failed == 8
    mended = robustssl.run(doomed, store, workers=1, retry=True)
    assert (mended.done, mended.failed) == (12, 0)


def test_processes_and_one_process_agree_to_the_last_bit(tmp_path, small):
    pytest.importorskip("xgboost")
    study = {**small, "algorithms": [*small["algorithms"], "supervised_xgboost", "self_training"]}
    study["seeds"] = 2
    robustssl.run(study, tmp_path / "one.sqlite", workers=1)
    robustssl.run(study, tmp_path / "two.sqlite", workers=2)

    def results(name):
        with robustssl.Store(tmp_path / name) as store:
            return {r.key: (r.scores, r.digest, r.provenance) for r in store.records()}

    assert results("one.sqlite") == results("two.sqlite")


def test_predictions_are_kept_on_request(tmp_path, small):
    for keep in (False, True):
        path = tmp_path / f"{keep}.sqlite"
        robustssl.run({**small, "seeds": 1}, path, workers=1, keep_predictions=keep)
        with robustssl.Store(path) as store:
            assert all((r.predictions is not None) == keep for r in store.records())


def test_a_plan_counts_and_estimates_and_writes_nothing(tmp_path, small, monkeypatch, in_process):
    """Trials end when ten seconds have gone by since the first: here, where a group takes 6, after
    three of the four. A cell takes a second of the 6, whatever its group.
    """
    took, tried = [], []
    monkeypatch.setattr(plans, "time", SimpleNamespace(monotonic=lambda: sum(took)))
    monkeypatch.setattr(local, "time", SimpleNamespace(perf_counter=lambda: sum(took)))

    def work(group, extras):
        took.append(6)
        tried.append(group)
        return [Record(cell, (1, 1, 1), {"accuracy": 1.0}, seconds=1.0) for cell in group]

    monkeypatch.setattr(plans, "try_group", work)
    store = tmp_path / "s.sqlite"
    plan = robustssl.plan(small, store, workers=2)
    assert (plan.cells, plan.done, plan.left, plan.workers) == (48, 0, 48, 2)
    assert len(took) == 3
    assert {group[0].t for group in tried if len(group) == 1} == {0.5}  # the middle one
    beside = 3  # the least, of groups of 3 cells and of 1
    assert plan.seconds == pytest.approx((48 * 1 + (8 + 24) * beside) / 2)
    assert not store.exists()
    robustssl.run(small, store, workers=1)
    after = robustssl.plan({**small, "seeds": 5}, store, workers=1)
    assert (after.cells, after.done, after.left) == (60, 48, 12)
    with robustssl.Store(store) as opened:
        mean = opened.frame().seconds.mean()
    assert after.seconds == pytest.approx(12 * mean)


def test_all_steps_of_a_net_are_extrapolated_from_some():
    """Twenty steps less five; but a pause in between is not taken for steps."""
    assert plans._extrapolated(3.0, 6.0, 500) == pytest.approx(6 + 480 * 0.2)
    assert plans._extrapolated(3.0, 18.0, 500) == pytest.approx(18 + 480 * 0.9)
    assert plans._extrapolated(6.0, 3.0, 500) == 3.0


def test_status_of_a_store_without_a_study(tmp_path, small, in_process):
    store = tmp_path / "s.sqlite"
    robustssl.run(small, store, workers=1)
    got = robustssl.status(store)
    assert (got.cells, got.done, got.missing, got.failed) == (48, 48, 0, 0)


def test_a_store_knows_its_studies_and_what_is_left_of_them(
    tmp_path, small, monkeypatch, in_process
):
    """Also of a larger one that was stopped, and however many other cells the store holds."""
    store = tmp_path / "s.sqlite"
    robustssl.run({**small, "seeds": [0, 1], "ts": [0, 1]}, store, workers=1)
    robustssl.run({**small, "labels": 4, "datasets": "wine"}, store, workers=1)
    doomed = {**small, "algorithms": "doomed:Fails", "environments": "feature"}
    robustssl.run({**doomed, "seeds": [9], "ts": [0, 0.25, 1]}, store, workers=1)
    larger = {**small, "title": "Larger", "algorithms": ["doomed:Fails", *small["algorithms"]]}

    def stop(self, records):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(robustssl.Store, "add_all", stop)
        with pytest.raises(KeyboardInterrupt):
            robustssl.run(larger, store, workers=1)
    found = robustssl.status(store)
    assert (found.cells, found.done) == (16 + 48 + 3, 16 + 48 + 1)
    assert {(s.cells, s.done, s.missing) for _, s in found.studies} == {
        (48, 48, 0),  # the first of all is part of the last
        (72, 16, 56),
        (3, 1, 0),
    }
    mine = dict(found.studies)["Larger"]
    assert mine == robustssl.status(store, larger)
    totals = robustssl.Store(store).counts()
    each = totals.seconds / totals.cells
    own = totals.algorithm == "doomed:Fails"
    of_iris = each[(totals.dataset == "iris") & ~own]
    assert mine.left == pytest.approx(8 * of_iris.sum() + 12 * each[own].sum() + 12 * each.mean())
    robustssl.run(larger, store, workers=1)
    after = dict(robustssl.status(store).studies)["Larger"]
    assert (after.done, after.failed, after.missing, after.left) == (64, 8, 0, 0)
    assert 'raise RuntimeError("a column is constant")' in next(iter(after.logs.values()))


def test_workers_must_be_positive(tmp_path, small):
    with pytest.raises(InputError, match="workers must be at least 1, got"):
        robustssl.run(small, tmp_path / "s.sqlite", workers=0)


def small(**changes):
    keys = {"algorithms": "self_training", "environments": "label", "datasets": "digits"}
    return studies.study({**keys, "seeds": 1, "ts": [0, 1], **changes})


def test_a_total_of_labels_is_spread_over_the_classes_that_have_any():
    cells = small(environments=["label", "feature"], total_labels=[50, 100]).cells()
    assert {(c.environment, c.labels) for c in cells} == {
        ("label", 10),
        ("label", 20),
        ("feature", 5),
        ("feature", 10),
    }
    with pytest.raises(InputError, match="52 labels cannot be spread evenly over the 5 classes"):
        small(total_labels=52).cells()
    with pytest.raises(InputError, match=r"the study: give labels .* or total_labels, not both"):
        small(total_labels=50, labels=5)
    with pytest.raises(InputError, match="total_labels: must be at least 1"):
        small(total_labels=0)


def test_each_stands_for_every_ordered_pair_of_domains(tmp_path):
    lines = ["a,kind,site", *(f"{i},{'xy'[i % 2]},{site}" for i in range(20) for site in "pqr")]
    (tmp_path / "mine.csv").write_text("\n".join(lines))
    mine = f"table[domain=site,path={tmp_path / 'mine.csv'},target=kind]"
    cells = small(environments="distribution[source=each,target=each]", datasets=mine).cells()
    assert {c.environment for c in cells} == {
        f"distribution[source={a},target={b}]" for a in "pqr" for b in "pqr" if a != b
    }
    cells = small(environments="distribution[mix=add,source=each,target=r]", datasets=mine).cells()
    assert {c.environment for c in cells} == {
        f"distribution[mix=add,source={a},target=r]" for a in "pq"
    }
    cells = small(environments="distribution[source=each]", datasets=mine).cells()
    assert len({c.environment for c in cells}) == 6
    pattern = {"environment": "distribution[source=each]", "dataset": mine}
    with pytest.raises(InputError, match="did you mean"):
        small(environments="distribution[source=each,target=rr]", datasets=mine).cells()
    (tmp_path / "other.csv").write_text("\n".join(lines))
    other = mine.replace("mine.csv", "other.csv")
    several = {"environments": ["distribution[source=each]", "feature"], "datasets": [mine, other]}
    left = small(**several, exclude=[pattern]).cells()
    assert {(c.environment == "feature", c.dataset) for c in left} == {
        (True, mine),
        (True, other),
        (False, other),
    }
    with pytest.raises(InputError, match="digits has no domains"):
        small(environments="distribution[source=each]").cells()


def test_a_file_that_has_changed_is_refused(tmp_path, in_process):
    def write(sign):
        rows = [f"{sign * i},{i % 7},{'xy'[i % 2]}" for i in range(60)]
        (tmp_path / "mine.csv").write_text("\n".join(["a,b,kind", *rows]))

    write(1)
    mine = f"table[path={tmp_path / 'mine.csv'},target=kind]"
    asked = small(environments="feature", datasets=mine)
    runs.run(asked, tmp_path / "s.sqlite", workers=1)
    runs.run(asked, tmp_path / "s.sqlite", workers=1)
    write(-1)
    registry.dataset.cache_clear()
    with pytest.raises(InputError, match=r"mine\.csv.* has changed since"):
        runs.run(asked, tmp_path / "s.sqlite", workers=1)


def test_what_cannot_be_run_is_left_out():
    asked = {
        "algorithms": ["self_training", "self_training[threshold=0.9]"],
        "environments": ["label", "feature"],
        "exclude": [{"algorithm": "self_training[threshold=.90]", "environment": "label"}],
    }
    cells = small(**asked).cells()
    assert {(c.spec, c.environment) for c in cells if c.algorithm == "self_training"} == {
        ("self_training", "label"),
        ("self_training", "feature"),
        ("self_training[threshold=0.9]", "feature"),
    }
    for bad in ({"seed": 1}, {}):
        with pytest.raises(InputError, match="exclude"):
            small(exclude=[bad])
    with pytest.raises(InputError, match="did you mean 'self_training'"):
        small(exclude=[{"algorithm": "self_trainin"}])


def test_long_groups_start_first_from_what_the_store_knows(small, tmp_path, in_process):
    """And before them, some groups of what is not known."""
    place = tmp_path / "s.sqlite"
    robustssl.run({**small, "seeds": 1}, place, workers=1, progress=False)
    cells = robustssl.Study(**small).cells()
    with robustssl.Store(place) as store:
        known = seconds_a_cell(totals_of(store.counts()))
    assert set(known) == {place_of(cell) for cell in cells}
    slow, *quick = sorted(known)
    known = {**dict.fromkeys(quick, 0.1), slow: 5.0}
    ordered = list(in_order(cells, Pace(known, 1)))
    first = [place_of(group[0]) == slow for group in ordered]
    assert first == sorted(first, reverse=True)
    assert sorted(ordered, key=str) == sorted(groups(cells), key=str)
    del known[slow]
    strange = [place_of(group[0]) == slow for group in in_order(cells, Pace(known, 1))]
    assert strange[:3] == [True] * 3


def test_a_study_of_parts_has_the_curves_of_each_once():
    part = {"algorithms": "tsvm", "environments": "label", "datasets": "iris", "labels": 3}
    whole = studies.study({"parts": ["quickstart", part, part], "seeds": 2})
    assert len(whole.curves()) == len(studies.study("quickstart").curves()) + 2
    assert len(whole.cells()) == 6 * 2 * len(whole.curves())
    for method in ("tsvm", "supervised_svm"):
        assert (method, Task("label", "iris", 3)) in whole.curves()
    assert {"iris", "wine", "digits"} == set(whole.datasets)


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ({"parts": ["quickstart"], "labels": 5}, "of parts has no labels of its own"),
        ({"parts": ["quickstrat"]}, "unknown study 'quickstrat'"),
        ({"parts": [{"datasets": "iris"}]}, "'algorithms' is missing"),
    ],
)
def test_parts_that_cannot_be_are_told(document, words):
    with pytest.raises(InputError, match=words):
        studies.study(document)


def test_a_part_of_a_study_is_asked_for_by_names():
    part = changes.narrowed("quickstart", ["dataset=wine", "dataset=iris", "algorithm=fixmatch"])
    assert {(method, task.dataset) for method, task in part.curves()} == {
        ("fixmatch", "iris"),
        ("fixmatch", "wine"),
    }
    assert set(part.cells()) < set(studies.study("quickstart").cells())
    whole = changes.narrowed({"parts": ["quickstart"]}, ["environment=label", "dataset=wine"])
    assert {(task.environment, task.dataset) for _, task in whole.curves()} == {("label", "wine")}
    with pytest.raises(InputError, match="nothing that is dataset=letter"):
        changes.narrowed("quickstart", ["dataset=letter"])
    with pytest.raises(InputError, match="cannot read 'wine'"):
        changes.narrowed("quickstart", ["wine"])


def test_the_leaderboard_has_43_algorithms_and_one_budget_for_each_kind_of_data():
    whole = studies.study("leaderboard")
    names = {parse(spec)[0] for spec in whole.methods}
    assert len(names) == 43
    assert (len(whole.ts), len(whole.seeds)) == (6, 5)
    kinds = {"table": "tabular", "image": "image", "text": "text"}
    for part in (inner for outer in whole.parts for inner in outer.parts):
        assert {catalog.data_kind(name) for name in part.datasets} == {kinds[part.budget]}
        nets = [spec for spec in part.methods if spec.startswith("fixmatch")]
        assert nets == [registry.canonical("algorithm", "fixmatch", part.budget)]
    images = studies.study("leaderboard-images")
    assert not {"scarf", "feature_dropout"} & {parse(a)[0] for a in images.methods}
    for outer in whole.parts:
        found = {parse(e)[1].get("access") for e in outer.environments}
        assert found == ({"consistent", "labels"} if "oracles" in outer.title else {None})


def test_a_method_keeps_the_name_it_was_asked_by():
    for budget in (None, "table", "image", "text", "reference"):
        asked = {"algorithms": ["fixmatch[threshold=0.8]", "tsvm[C=2]", "vat[preset=paper]"]}
        chosen = studies.study(
            {**asked, "environments": ["label"], "datasets": ["wine"], "budget": budget}
        )
        first, second, third, *baselines = chosen.methods.values()
        assert first.name == "fixmatch[threshold=0.8]"
        assert first.spec == registry.canonical("algorithm", first.name, budget)
        assert (first.budget, first.family, first.supervised) == (budget, "deep", False)
        assert first.baseline == registry.canonical("algorithm", "supervised_net", budget)
        assert second == registry.describe("tsvm[C=2]")
        assert (second.budget, second.family) == (None, "statistical")
        assert third.name == "vat[preset=paper]"
        assert [method.name for method in baselines] == ["supervised_net", "supervised_svm[C=2.0]"]
    own = studies.study({**asked, "environments": ["label"], "datasets": ["wine"]})
    twice = changes.with_algorithms(own, ["fixmatch[threshold=0.8,budget=quick]"])
    assert twice.methods == own.methods  # quick is what nets are anyway


def test_baselines_come_along_wherever_a_method_is_named(tmp_path, capsys, monkeypatch, in_process):
    """Named in a study or with --algorithm, alone or in a part, whatever the budget."""
    pytest.importorskip("torch")  # of the nets of the quickstart
    monkeypatch.chdir(tmp_path)
    for budget in (None, "table"):
        named = studies.study({**GOOD, "algorithms": ["fixmatch", "tsvm"], "budget": budget})
        assert named.algorithms == ["fixmatch", "tsvm"]
        assert named.baselines == ["supervised_net", "supervised_svm"]
        net, svm = (registry.canonical("algorithm", name, budget) for name in named.baselines)
        assert {*named.methods} - {net, svm} == {
            registry.canonical("algorithm", name, budget) for name in ("fixmatch", "tsvm")
        }
        added = changes.with_algorithms({**GOOD, "budget": budget}, ["fixmatch", "tsvm"])
        assert {net, svm, "supervised_logistic"} <= {method for method, _ in added.curves()}
    searched = studies.study({**GOOD, "configurations": 2})
    assert [m.configuration for m in searched.methods.values()] == [0, 1, 0, 1]
    alone = {**GOOD, "exclude": [{"algorithm": "supervised_logistic"}]}
    assert {method for method, _ in studies.study(alone).curves()} == {"self_training"}
    for asked, told in ((GOOD, ("supervised_logistic",)), (alone, ()), ("quickstart", ())):
        asked = changes.narrowed(asked, ["dataset=iris", "environment=label"])
        plan = robustssl.plan({**asked.model_dump(exclude_unset=True), "seeds": 1})
        assert plan.baselines == told
    (tmp_path / "mine.yaml").write_text("algorithms: tsvm\nenvironments: label\ndatasets: iris\n")
    cli.app(["run", "mine.yaml", "--dry-run"], standalone_mode=False)
    assert "60 cells: 0 done, 0 failed, 60 to run" in (said := capsys.readouterr().out)
    assert "Of these, baselines that come along: supervised_svm.\n" in said


def test_more_algorithms_go_into_every_part():
    whole = changes.with_algorithms({"parts": ["quickstart"]}, ["tsvm"])
    assert {method for method, *_ in whole.curves()} >= {"tsvm", "supervised_svm"}
