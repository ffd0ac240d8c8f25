"""What the unlabeled rows are worth in labels, by the learning curve of the best baseline."""

from collections.abc import Mapping

import numpy as np

from robustssl.analysis import worth as curves
from robustssl.analysis.interval import Interval, student
from robustssl.analysis.labels import Labels
from robustssl.audits.bench import Bench, Matrix
from robustssl.audits.gains import Gains
from robustssl.audits.mixture import LEVEL
from robustssl.audits.scores import score_of
from robustssl.audits.trials import Rows


def in_labels(
    bench: Bench, gains: Gains, by_part: Mapping[float, Matrix], gain: Interval
) -> Labels | None:
    """What a gain is worth; None if the learning curve could not be measured.

    by_part: what the baseline says of held-out rows with a part of the labels, by part (n,
    classes). Beyond all labels the curve is continued by as much as the last doubling brought: it
    usually brings less, so that the gain is not priced too high.
    """
    said = {**by_part, 1.0: gains.held[gains.alone][0]}
    if len(said) < 2 or len(bench.first) < 2:
        return None
    held = round(float(np.mean([len(bench.folds[key][0]) for key in bench.first])))
    tests = [np.searchsorted(bench.seen, bench.folds[key][1]) for key in bench.first]
    parts = sorted(said)
    scores = np.array([[_score(gains, said[part], rows) for part in parts] for rows in tests])
    beyond = 2 * scores[:, -1] - scores[:, -2]
    scores = np.column_stack([scores, beyond])[~np.isnan(scores).any(1)]
    if len(scores) < 2:
        return None
    counts = [round(held * part) for part in (*parts, 2.0)]
    n = len(scores)
    drawn = np.linspace(-1, 1, n)  # numbers whose mean has the interval of the gain
    drawn *= (gain.high - gain.low) / 2 / student(n - 1, LEVEL) * np.sqrt(n) / drawn.std(ddof=1)
    return curves.worth_of(gain.estimate + drawn, scores, counts, held, LEVEL).times(1)


def _score(gains: Gains, P: Matrix, rows: Rows) -> float:
    return float(score_of(gains.score, gains.y[rows], P[rows], np.ones((1, len(rows))))[0])
