"""Frames of searches for the tests of selection: real records with scores that a test makes up."""

from itertools import product

import numpy as np

from robustssl.cell import Cell
from robustssl.method import Method
from robustssl.records.frame import frame_of, successes, with_versions
from robustssl.records.record import Record

TS = (0.0, 0.5, 1.0)


def searched(
    scores,
    *,
    methods=("fixmatch",),
    baseline="supervised_net",
    datasets=("wine",),
    labels=(4,),
    ts=TS,
    seeds=3,
    configurations=4,
):
    """The frame of a search; `scores` maps a cell's fields to a mapping of scores, or to None where
    there is no record. `configurations` is a number for all methods, or one for each.
    """
    records = []
    for name in (*methods, baseline):
        many = configurations if isinstance(configurations, int) else configurations[name]
        for number, dataset, n, t, seed in product(range(many), datasets, labels, ts, range(seeds)):
            asked = {"method": name, "configuration": number, "dataset": dataset}
            found = scores(**asked, labels=n, t=t, seed=seed)
            if found is not None:
                records.append(_record(name, number, dataset, n, t, seed, found, baseline))
    return successes(with_versions(frame_of(records), lambda kind, name: 1))


def _record(name, number, dataset, labels, t, seed, scores, baseline):
    params = (("rate", number / 100),) if number else ()
    cell = Cell(name, "label", dataset, labels, t, seed, params)
    supervised = name == baseline
    method = Method(
        name, cell.spec, "quick", "deep", supervised, None if supervised else baseline, number
    )
    return Record(cell, (1, 1, 1), scores, method=method, test_rows=100)


def noise(*fields):
    """A number from 0 to 1 that depends on the fields alone."""
    return np.random.default_rng([*repr(fields).encode()]).random()
