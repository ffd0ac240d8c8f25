"""The time left of a run, by a clock that passes as groups are run."""

import heapq
import io
from types import SimpleNamespace

import pytest
from rich.console import Console

from robustssl import progress
from robustssl.cell import Cell
from robustssl.execution.groups import groups
from robustssl.execution.pace import Beside, Pace
from robustssl.execution.status import place_of
from robustssl.execution.timing import TimeLeft, in_order
from robustssl.records.record import Record
from robustssl.studies.study import study

# Seconds of a fit, beside the time of a group for rows and scores.
FITS = {"supervised_logistic": 0.001, "label_spreading": 0.02, "tri_training": 0.8}
NETS = {"supervised_net": 0.05, "fixmatch": 0.6}
ROWS = {"iris": 0.01, "wine": 0.02, "digits": 0.1}
START = 3.0  # what the first group of a process imports and loads


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def seconds_of(cell):
    """A fit takes up to twice as long where t is small, and longer on more columns; a net takes as
    long at every t.
    """
    columns = cell.dataset == "digits"
    if cell.algorithm in NETS:
        return NETS[cell.algorithm] * (1.5 if columns else 1)
    return FITS[cell.algorithm] * (4 / 3 - 2 / 3 * cell.t) * (3 if columns else 1)


def simulated(cells, known, workers, gpus=0):
    """(time, estimate) after each group of a run in the order of the engine; the last has no time
    left.
    """
    clock = Clock()
    left = TimeLeft(groups(cells), Pace(known, workers), workers, gpus, clock)
    told, running = [(0.0, left.seconds())], []
    free = [(0.0, True)] * workers
    for number, group in enumerate(in_order(cells, known)):
        while not free:
            told.append(finish(running, free, clock, left))
        at, is_new = free.pop()
        fits = sum(map(seconds_of, group))
        took = fits + ROWS[group[0].dataset] + START * is_new
        heapq.heappush(running, (max(at, clock.now) + took, number, took, group))
    while running:
        told.append(finish(running, free, clock, left))
    return told


def finish(running, free, clock, left):
    clock.now, _, took, group = heapq.heappop(running)
    records = [Record(c, (1, 1, 1), {"accuracy": 1.0}, seconds=seconds_of(c)) for c in group]
    left.done(records, took)
    free.append((clock.now, False))
    return clock.now, left.seconds()


MIXED = {
    "algorithms": [*FITS, *NETS],
    "environments": "label",
    "datasets": ["iris", "wine", "digits"],
    "labels": 3,
    "seeds": 5,
}


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_after_a_tenth_of_the_work_the_time_left_is_right_within_a_factor_of_two(workers):
    cells = study(MIXED).cells()
    assert len(cells) > 400
    told = simulated(cells, {}, workers)
    end = told[-1][0]
    assert told[0][1] is None
    assert told[-1][1] == 0
    later = [(now, left) for now, left in told if end / 10 <= now < 0.95 * end]
    assert len(later) > 100
    for now, left in later:
        assert left is not None
        assert (end - now) / 2 < left < (end - now) * 2, (now, left, end)
    early = [left for now, left in told if now < end / 50]
    assert early
    assert set(early) == {None}


def test_what_a_store_knows_is_told_at_once():
    cells = study({**MIXED, "algorithms": [*NETS]}).cells()
    known = {place_of(cell): seconds_of(cell) for cell in cells}
    told = simulated(cells, known, 2)
    end = told[-1][0]
    assert end / 2 < told[0][1] < end * 2


def test_one_more_method_is_not_known_by_the_others():
    cells = study(MIXED).cells()
    known = {place_of(c): seconds_of(c) for c in cells if c.algorithm != "tri_training"}
    assert TimeLeft(groups(cells), Pace(known, 2), 2).seconds() is None
    assert TimeLeft(groups(cells), Pace(known, 2), 2).estimate() > 0


def test_a_long_group_takes_as_long_however_many_workers_there_are():
    curve = tuple(Cell("fixmatch", "label", "wine", 3, 0.0, seed) for seed in range(30))
    pace = Pace({place_of(curve[0]): 2.0}, 8)
    assert TimeLeft([curve], pace, 8, clock=Clock()).seconds() == pytest.approx(60)


def test_on_gpus_nets_and_the_others_are_run_at_the_same_time():
    cells = study({**MIXED, "algorithms": ["fixmatch", "tri_training"]}).cells()
    pace = Pace({place_of(cell): 1.0 for cell in cells}, 2)
    each = len(cells) / 2
    assert TimeLeft(groups(cells), pace, 2, clock=Clock()).seconds() == pytest.approx(each)
    assert TimeLeft(groups(cells), pace, 2, 4, Clock()).seconds() == pytest.approx(each / 2)


def test_half_of_a_curve_leaves_the_other_half():
    curve = tuple(Cell("fixmatch", "label", "wine", 3, 0.0, seed) for seed in range(30))
    left = TimeLeft([curve], Pace({place_of(curve[0]): 1.0}, 1), 1, clock=Clock())
    half = [Record(c, (1, 1, 1), {"accuracy": 1.0}, seconds=1.0) for c in curve[:15]]
    left.done(half, 15.0)
    assert left.seconds() == pytest.approx(15)


def test_time_passes_while_a_group_is_run():
    clock = Clock()
    cells = study({**MIXED, "algorithms": "fixmatch", "datasets": "wine"}).cells()
    left = TimeLeft(groups(cells), Pace({place_of(cells[0]): 1.0}, 1), 1, clock=clock)
    before = left.seconds()
    clock.now = 7.0
    assert left.seconds() == before - 7
    clock.now = 1e6
    assert left.seconds() == 0


def test_the_first_groups_of_processes_say_nothing_about_later_ones():
    beside = Beside(2)
    for seconds in (9.0, 0.1, 8.0, 0.1, 0.1):
        beside.learn(seconds)
    assert beside.mean() == pytest.approx(0.1)
    first = Beside(2)
    first.learn(9.0)
    assert first.mean() == 9.0


def test_one_group_of_each_unknown_length_comes_first_and_none_is_lost():
    cells = study(MIXED).cells()
    ordered = list(in_order(cells, {}))
    assert sorted(ordered) == sorted(groups(cells))
    places = [place_of(group[0]) for group in ordered]
    assert len(set(places[:9])) == 9
    assert {spec for spec, *_ in places[:9]} == {*FITS}
    assert {spec for spec, *_ in places[9:15]} == {*NETS}
    known = {place_of(cell): seconds_of(cell) for cell in cells if cell.algorithm != "fixmatch"}
    ordered = list(in_order(cells, known))
    assert sorted(ordered) == sorted(groups(cells))
    assert {group[0].algorithm for group in ordered[:3]} == {"fixmatch"}
    lengths = [len(group) * known[place_of(group[0])] for group in ordered[3:]]
    assert lengths == sorted(lengths, reverse=True)


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
