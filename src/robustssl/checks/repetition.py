"""Cells that are run again: whether their scores are those of the records."""

import random
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from robustssl.execution.banks import wanted_banks
from robustssl.execution.groups import are_nets, groups
from robustssl.execution.worker import run_group
from robustssl.records.extras import NO_EXTRAS, Extras
from robustssl.records.record import CRITERIA, SCORES, Record

# Training turns the rounding of another device into other nets: as good on average, not each.
NOISE = 0.03  # by which the mean score of a curve of nets may differ
GROSS = 0.25  # by which that of one net may
ENCODED = 0.05  # by which that of another learner may on vectors, since machines round these
EXACT = 1e-9  # by which scores of other learners may
# Criteria are none of nets and of vectors, where one of a few labeled rows moves them more than all
# this; those that are no shares of rows depend on the last digits of a solver.
CLOSE = {**dict.fromkeys(CRITERIA, 1e-3), "cv_accuracy": EXACT}


def not_repeated(records: Sequence[Record], sample: int, chance: random.Random) -> Iterator[str]:
    """Scores of cells that are run again here, and criteria by which settings may be chosen."""
    known = {r.cell: r for r in records}
    whole = list(groups(sorted(known)))
    for group in chance.sample(whole, min(sample, len(whole))):
        nets, encoded = are_nets(group), bool(wanted_banks(group))
        exact = not nets and not encoded
        near = dict.fromkeys(SCORES, GROSS if nets else ENCODED if encoded else EXACT)
        near |= CLOSE if exact else {}
        asked = any(known[cell].extras.criteria for cell in group) and exact
        extras = Extras(criteria=True) if asked else NO_EXTRAS
        pairs = [(known[again.cell], again) for again in run_group(group, extras)]
        for record, again in pairs:
            yield from _differences(record, again, near)
        if nets:
            yield from _mean_differences(pairs)


def _differences(record: Record, again: Record, near: Mapping[str, float]) -> Iterator[str]:
    if again.error is not None:
        yield f"{again.cell} fails here: {again.error}"
        return
    for name in (score for score in near if score in again.scores):
        if name in CRITERIA and not record.extras.criteria:
            continue
        said, score = record.scores.get(name), again.scores[name]
        if said is None or abs(said - score) > near[name]:
            yield f"{again.cell} has the {name} {said}, and {score} when it is run again"


def _mean_differences(pairs: Sequence[tuple[Record, Record]]) -> Iterator[str]:
    first = pairs[0][0].cell
    shared = set.intersection({*SCORES}, *({*a.scores} & {*b.scores} for a, b in pairs))
    for name in sorted(shared):
        said, found = (np.mean([r.scores[name] for r in side]) for side in zip(*pairs, strict=True))
        if abs(said - found) > NOISE:
            yield (
                f"{first.spec} on {first.dataset} in {first.environment} ({first.labels} labels) "
                f"has the {name} {said:.4f} on average, and {found:.4f} when it is run again"
            )
