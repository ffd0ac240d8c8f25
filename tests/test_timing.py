"""The time left of a run: recorded runs are replayed, by a clock that passes as groups are run."""

import heapq
import io
import json
import random
import threading
from functools import partial
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import pytest
import works
from gates import wait_for
from rich.console import Console

from robustssl import progress
from robustssl.cell import Cell
from robustssl.execution import begun
from robustssl.execution.begun import Begun, Desk, Expectation
from robustssl.execution.engines import local
from robustssl.execution.groups import are_nets, groups
from robustssl.execution.pace import Beside, Pace
from robustssl.execution.status import place_of
from robustssl.execution.timing import TimeLeft, in_order
from robustssl.records.record import Record
from robustssl.studies.study import study

# What the cells of two real runs took on two cores: a fit, and beside it rows and scores. Cells of
# one place are sorted by seed and t; where all took equally long, there is one number.
RECORDED = json.loads((Path(__file__).parent / "data" / "durations.json").read_text())
SEEDS, TS = range(5), (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
METHODS = ["supervised_logistic", "label_spreading", "tri_training", "supervised_net", "fixmatch"]
MIXED = {
    "algorithms": METHODS,
    "only": {"algorithm": METHODS},
    "environments": "label",
    "datasets": ["iris", "wine", "digits"],
    "labels": 3,
    "seeds": 5,
}
STUDIES = {"mixed": MIXED, "quickstart": "quickstart"}
SOON = 0.02  # the share of its training after which a net says when it will be done


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def durations(name):
    """The seconds of the fit of each cell, and those beside it."""
    found = {}
    for cell in study(STUDIES[name]).cells():
        recorded = RECORDED[name][" ".join(place_of(cell))]
        at = list(product(SEEDS, TS)).index((cell.seed, cell.t))
        found[cell] = tuple(
            x[at] if isinstance(x, list) else x for x in (recorded["fits"], recorded["beside"])
        )
    return found


def shuffled(cells, seed):
    """The cells of the same study, had it named its algorithms, datasets and so on in another
    order.
    """
    fields = ("seed", "environment", "dataset", "algorithm", "t")
    values = {f: sorted({getattr(cell, f) for cell in cells}) for f in fields}
    for known in values.values():
        random.Random(seed).shuffle(known)
    return sorted(cells, key=lambda cell: [values[f].index(getattr(cell, f)) for f in fields])


class Replay:
    """A run in the order of the engine, of which each cell takes as long as recorded. `told` are
    the time, the share of the work that is done, and the time left that is shown: after each
    group, and every half second.
    """

    def __init__(self, cells, took, workers, known=()):
        self.clock, self.running, self.workers, self.took = Clock(), [], workers, took
        pace = Pace(dict(known), workers)
        self.left = TimeLeft(groups(cells), pace, workers, begun=self.begun, clock=self.clock)
        self.waiting, self.told, self.spent = in_order(cells, pace), [], 0.0
        self.total = sum(sum(took[cell]) for cell in cells)
        self.tell()
        self.fill()
        while self.running:
            while (tick := self.clock.now // 0.5 * 0.5 + 0.5) < self.running[0][0]:
                self.clock.now = tick
                self.tell()
            self.finish()
            self.fill()
            self.tell()

    def begun(self):
        """Nets say when they will be done after some of their steps."""
        return [
            Begun(
                group,
                start,
                end * (are_nets(group) and self.clock.now >= end - (1 - SOON) * self.fits(group)),
            )
            for end, start, group in self.running
        ]

    def fits(self, group):
        return sum(self.took[cell][0] for cell in group)

    def fill(self):
        while len(self.running) < self.workers and (group := next(self.waiting, None)):
            end = self.clock.now + sum(sum(self.took[cell]) for cell in group)
            heapq.heappush(self.running, (end, self.clock.now, group))

    def finish(self):
        self.clock.now, start, group = heapq.heappop(self.running)
        self.spent += self.clock.now - start
        fits = [record(cell, self.took[cell][0]) for cell in group]
        self.left.done(fits, self.clock.now - start)

    def tell(self):
        done = self.spent + sum(self.clock.now - start for _, start, _ in self.running)
        self.told.append((self.clock.now, done / self.total, self.left.seconds()))


def record(cell, seconds):
    return Record(cell, (1, 1, 1), {"accuracy": 1.0}, seconds=seconds)


@pytest.mark.parametrize("workers", [1, 2, 4])
@pytest.mark.parametrize("name", STUDIES)
def test_the_time_left_is_told_soon_and_right_within_a_factor_of_two(name, workers):
    """In whichever order a study names its parts. Below two seconds a factor means nothing."""
    took = durations(name)
    assert len(took) > 400
    for seed in range(8 if name == "mixed" else 2):
        told = Replay(shuffled(took, seed), took, workers).told
        end = told[-1][0]
        assert told[-1][2] == 0
        shown = [(now, left) for now, _, left in told if left is not None and end - now > 2]
        assert len(shown) > 20
        for now, left in shown:
            assert (end - now) / 2 < left < (end - now) * 2, (now, left, end, seed)
        shares = [share for _, share, left in told if left is not None]
        assert 0.08 < shares[0] < 0.25
        assert shares == [share for _, share, _ in told if share >= shares[0]]


def test_what_a_store_knows_is_told_at_once():
    took = durations("mixed")
    known = {}
    for cell, (fit, _) in took.items():
        known.setdefault(place_of(cell), []).append(fit)
    told = Replay([*took], took, 2, {place: sum(x) / 30 for place, x in known.items()}).told
    end = told[-1][0]
    assert end / 2 < told[0][2] < end * 2


def test_one_more_method_is_not_known_by_the_others():
    cells = study(MIXED).cells()
    places = {place_of(cell) for cell in cells}
    known = {place: 1.0 for place in places if place[0] != "tri_training"}
    assert TimeLeft(groups(cells), Pace(known, 2), 2).seconds() is None
    assert TimeLeft(groups(cells), Pace(known, 2), 2).estimate() > 0
    known = {place: 1.0 for place in places if place[0] != "fixmatch"}
    assert TimeLeft(groups(cells), Pace(known, 2), 2).estimate() is None  # nor by its baseline


def test_other_options_take_as_long_as_the_same_algorithm_with_others():
    pace = Pace({("tri_training", "label", "wine"): 3.0, ("tsvm", "label", "wine"): 9.0}, 1)
    asked = [("tri_training[rounds=5]", "label", "wine"), ("label_spreading", "label", "wine")]
    assert pace.each(asked) == {asked[0]: 3.0, asked[1]: 6.0}


CURVE = tuple(Cell("fixmatch", "label", "wine", 3, 0.0, seed) for seed in range(30))


def test_a_long_group_takes_as_long_however_many_workers_there_are():
    pace = Pace({place_of(CURVE[0]): 2.0}, 8)
    assert TimeLeft([CURVE], pace, 8, clock=Clock()).seconds() == pytest.approx(60)


def test_on_gpus_nets_and_the_others_are_run_at_the_same_time():
    cells = study({**MIXED, "only": {"algorithm": ["fixmatch", "tri_training"]}}).cells()
    pace = Pace({place_of(cell): 1.0 for cell in cells}, 2)
    each = len(cells) / 2
    assert TimeLeft(groups(cells), pace, 2, clock=Clock()).seconds() == pytest.approx(each)
    assert TimeLeft(groups(cells), pace, 2, 4, clock=Clock()).seconds() == pytest.approx(each / 2)


def test_half_of_a_curve_leaves_the_other_half():
    left = TimeLeft([CURVE], Pace({place_of(CURVE[0]): 1.0}, 1), 1, clock=Clock())
    left.done([record(cell, 1.0) for cell in CURVE[:15]], 15.0)
    assert left.seconds() == pytest.approx(15)


def test_time_passes_while_a_group_is_run():
    clock, under_way = Clock(), [Begun(CURVE, 2.0, 0.0)]
    pace = Pace({place_of(CURVE[0]): 1.0}, 1)
    left = TimeLeft([CURVE], pace, 1, begun=lambda: under_way, clock=clock)
    clock.now = 9.0
    assert left.seconds() == pytest.approx(30 - 7)
    under_way[0] = Begun(CURVE, 2.0, 50.0)  # what it says itself counts
    assert left.seconds() == pytest.approx(50 - 9)
    clock.now = 1e6
    assert left.seconds() == 0


def test_the_first_groups_say_little_about_later_ones():
    beside = Beside(2)
    for seconds in (9.0, 0.1, 8.0, 0.1, 0.1):
        beside.learn(seconds)
    assert beside.mean() == pytest.approx(0.1)
    first = Beside(2)
    first.learn(9.0)
    assert first.mean() == 9.0
    pace, place = Pace({}, 1), place_of(CURVE[0])
    for cell, seconds in zip(CURVE, (9.0, 1.0, 2.0), strict=False):
        pace.learn([record(cell, seconds)], seconds)
        assert pace.each([place])[place] == {9.0: 9.0, 1.0: 1.0, 2.0: 1.5}[seconds]


def test_some_groups_of_each_unknown_length_come_first_and_none_is_lost():
    cells = study(MIXED).cells()
    ordered = list(in_order(cells, Pace({}, 2)))
    assert sorted(ordered) == sorted(groups(cells))
    places = [place_of(group[0]) for group in ordered]
    assert all(places[:27].count(place) == 3 for place in places[:9])
    assert {cell.t for (cell, *_) in ordered[:27] if cell.algorithm == "tri_training"} == {
        *(0.0, 0.6, 1.0)
    }
    assert [spec for spec, *_ in places[27:33]] == ["supervised_net"] * 3 + ["fixmatch"] * 3


def test_what_is_learned_on_the_way_decides_the_order():
    """Nets begin where others took long; what is left, with the longest."""
    cells, pace = study(MIXED).cells(), Pace({}, 2)
    seconds, ordered = {"digits": 9.0, "wine": 1.0, "iris": 3.0}, []
    for group in in_order(cells, pace):
        ordered.append(group)
        pace.learn([record(cell, seconds[cell.dataset]) for cell in group], 1.0)
    datasets = [cell.dataset for (cell, *_) in ordered]
    assert datasets[27:33] == ["digits", "iris", "wine"] * 2
    lengths = [len(group) * seconds[group[0].dataset] for group in ordered[33:]]
    assert lengths == sorted(lengths, reverse=True)


def test_a_process_says_when_it_began_and_when_it_will_be_done(tmp_path):
    """A group is under way until its records have been counted."""
    desk = Desk(local.in_flight(1, 0))
    work = partial(works.expect, folder=tmp_path)
    done = local.run_groups([CURVE[:2], CURVE[2:3]], work, 1, desk=desk)
    seen = []

    def has_told():
        seen[:] = desk.begun()
        return seen and seen[0].end

    counted = []
    thread = threading.Thread(target=lambda: counted.extend(desk.begun()[0].group for _ in done))
    thread.start()
    wait_for(has_told)
    ((group, start, end),) = seen
    assert group == CURVE[:2]
    assert end > start > 0
    (tmp_path / "go").touch()
    thread.join()
    assert counted == [CURVE[:2], CURVE[2:3]]
    assert desk.begun() == []


def test_what_is_left_takes_as_long_as_what_was_done(monkeypatch):
    """Steps that an earlier process took do not count."""
    clock, times = Clock(), [0.0, 0.0]
    monkeypatch.setattr(begun, "_times", times)
    expectation = Expectation(clock)
    expectation.tell(0.5)
    assert times == [0.0, 0.0]
    clock.now = 10.0
    expectation.tell(0.6)
    assert times[1] == pytest.approx(10 + 40)


def said(total, left, steps, monkeypatch):
    """The lines of a run of which each step takes two seconds, where time is asked for."""
    now, out = [0.0], io.StringIO()
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: now[0]))
    with progress.watch(total, Console(file=out, width=200), "steps", left) as seen:
        seen.start = seen.said = 0.0
        for number in range(steps):
            now[0] += 2.0
            seen.step(number == 0)
    return out.getvalue().splitlines()


def test_a_line_says_what_is_left_or_that_it_is_not_known(monkeypatch):
    told = iter([None, 3700.0, 2.0])
    assert said(10, lambda: next(told), 10, monkeypatch) == [
        "3/10 steps, 1 failed, 0.5/s, time left not known yet",
        "6/10 steps, 1 failed, 0.5/s, about 1 h 1 min left",
        "9/10 steps, 1 failed, 0.5/s, about 2 s left",
        "10/10 steps, 1 failed, 0.5/s, 0 s left",
    ]


def test_steps_alone_are_taken_to_last_equally_long_after_a_tenth_of_them(monkeypatch):
    lines = said(100, None, 12, monkeypatch)
    assert [line.partition("/s, ")[2] for line in lines] == [
        "time left not known yet",
        "time left not known yet",
        "time left not known yet",
        "about 2 min 56 s left",
    ]
