"""What is asked of the records of the leaderboard: a function for each table of findings."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from board import (
    BASELINE,
    DATA,
    ENVIRONMENTS,
    Board,
    Values,
    at,
    average,
    corrected,
    difference,
    level,
    mean,
    number,
    only,
)
from table import Column, Number, Table

from robustssl.analysis.compare import break_even_of
from robustssl.analysis.interval import IDENTICAL
from robustssl.analysis.metrics import GRID, Metric
from robustssl.analysis.table import targets_of
from robustssl.analysis.tasks import holm, over_tasks, p_value
from robustssl.spec import parse

KINDS = [(data, environment) for data in DATA for environment in ENVIRONMENTS]
KIND_NAMES = [f"{DATA[data]}, {ENVIRONMENTS[environment]}" for data, environment in KINDS]
NO_TEXTS = ("tabular", "image")
CONSISTENT = "consistent"  # a claim about t = 0
LOSING = ("co_training", "assemble")  # far below their baselines on all kinds of data


def claims(name: str) -> str:
    """What the authors of a method claim to answer, in words."""
    words = {**ENVIRONMENTS, CONSISTENT: "t = 0"}
    return ", ".join(words[kind] for kind in words if kind in targets_of(name))


def best(board: Board, metric: str | Metric = "AUC") -> Table:
    """The first of each kind of task; the best method that uses unlabeled rows minus the best
    baseline, in bold what is left after Holm's correction for the nine kinds. `not worse`: how many
    are not behind the first after the correction.
    """
    rows, leads = [], {}
    for kind, (data, environment) in zip(KIND_NAMES, KINDS, strict=True):
        where = (metric, [data], [environment])
        levels = board.levels(*where)
        first, second, *_ = levels
        others = [name for name in levels if name != first]
        ahead = corrected({name: number(board.against(first, name, *where)) for name in others})
        learner = next(name for name in levels if name in board.learners)
        baseline = next(name for name in levels if name in board.baselines)
        leads[kind] = number(board.against(learner, baseline, *where))
        alike = sum(not each.sure for each in ahead.values())
        row = [kind, str(len(levels[first])), first, level(levels[first]), second, ahead[second]]
        rows.append([*row, f"{alike} of {len(others)}", f"{learner} - {baseline}"])
    heads = ["kind of task", "tasks", "first", "its mean", "second", "first - second"]
    heads += ["not worse", "best method - best baseline", "difference"]
    sure = corrected(leads)
    return Table(heads, [[*row, sure[row[0]]] for row in rows])


def overall(board: Board, metric: str | Metric = "AUC", data: Any = DATA) -> Table:
    """The methods that ran on all of the tasks, by their mean over tasks, and minus the first; in
    bold what is left after Holm's correction over the methods.
    """
    levels = board.levels(metric, data)
    first, *others = levels
    behind = {name: number(board.against(name, first, metric, data)) for name in others}
    minus = corrected(behind)
    rows = [[name, level(levels[name]), minus.get(name, "")] for name in levels]
    return Table(["method", "mean", "- first"], rows)


def by_gain(board: Board) -> list[str]:
    """Methods by their gain; those that lack tasks come last, for theirs is a mean of others."""
    gains = board.gains()
    return sorted(gains, key=lambda name: (-len(gains[name]), -mean(gains[name])))


def by_kind(board: Board, metric: str | Metric = "AUC") -> Table:
    """The gain of each method over all tasks, on each kind of data and on each kind of task.
    Methods that were not run on all tasks come last. Nothing is corrected here.
    """
    rows = []
    for name in by_gain(board):
        gain = board.against(name, BASELINE, metric)
        parts = [gain, *(only(gain, [data]) for data in DATA)]
        parts += [only(gain, [data], [environment]) for data, environment in KINDS]
        rows.append([name, *(number(part) if part else "" for part in parts)])
    return Table(["method", "all tasks", *DATA.values(), *KIND_NAMES], rows)


def mean_gain(board: Board) -> Table:
    """The mean gain of all methods at the ends of t, also without the two that lose everywhere;
    that of the median method; how many are better or worse after Holm's correction.
    """
    rows = []
    for kind, (data, environment) in zip(KIND_NAMES, KINDS, strict=True):
        row: list[str | Number] = [kind]
        for t in (0.0, 1.0):
            gains = board.gains(at(t), [data], [environment])
            each = Column(corrected({name: number(gain) for name, gain in gains.items()}))
            others = [gain for name, gain in gains.items() if name not in LOSING]
            median = np.median([n.estimate for n in each.values()])
            row += [number(average([*gains.values()])), number(average(others)), f"{median:+.3f}"]
            row += [f"{each.ahead} of {len(each)}", f"{each.behind} of {len(each)}"]
        rows.append(row)
    heads = ("mean gain", f"without {', '.join(LOSING)}", "median", "better", "worse")
    return Table(["kind of task", *(f"{head} at t = {t}" for t in (0, 1) for head in heads)], rows)


def safety(board: Board) -> Table:
    """The gain averaged over t, at its ends, and the t at which the mean gain falls below 0; on how
    many single tasks the interval is above 0, below 0, or all predictions are the baseline's.
    """
    change = Metric(lambda ts, scores: scores[..., -1] - scores[..., 0])
    rows = []
    for name in by_gain(board):
        gain, curve = board.against(name, BASELINE), board.against(name, BASELINE, None)
        ends = {place: over_tasks([part]) for place, part in gain.items()}
        worst = min(ends, key=lambda place: ends[place].estimate)
        counts = [sum(e.low > 0 for e in ends.values()), sum(e.high < 0 for e in ends.values())]
        counts.append(sum(e.note == IDENTICAL for e in ends.values()))
        row = [name, claims(name), number(gain), number(only(gain, NO_TEXTS))]
        row += [number(board.against(name, BASELINE, m)) for m in (at(0.0), at(1.0), change)]
        row.append(str(break_even_of(np.array(GRID), over_tasks(list(curve.values())))))
        row.append(f"{' / '.join(map(str, counts))} of {len(ends)}")
        rows.append([*row, f"{ends[worst].estimate:+.3f} ({worst.task.name})"])
    heads = ["method", "authors claim", "gain", "without texts", "at t = 0", "at t = 1", "1 - 0"]
    heads += ["break-even", "better / worse / identical", "worst task"]
    return Table(heads, rows)


def above(board: Board) -> Table:
    """The methods whose gain has an interval above 0 at every t; those of them whose largest
    p-value over t is small after Holm's correction over the methods.
    """
    groups = {"all": (DATA, ENVIRONMENTS), "tables, images": (NO_TEXTS, ENVIRONMENTS)}
    groups |= {words: ([data], ENVIRONMENTS) for data, words in DATA.items()}
    groups |= {kind: ([d], [e]) for kind, (d, e) in zip(KIND_NAMES, KINDS, strict=True)}
    rows = []
    for words, where in groups.items():
        parts = {name: [*values.values()] for name, values in board.gains(None, *where).items()}
        sure = dict(zip(parts, holm([np.max(p_value(p)) for p in parts.values()]), strict=True))
        found = {name: over_tasks(p) for name, p in parts.items()}
        names = [name for name, each in found.items() if (each.low > 0).all()]
        left = " and ".join(name for name in names if sure[name])
        means = sum((each.estimate > 0).all() for each in found.values())
        rows.append([words, ", ".join(names), left, f"{means} of {len(parts)}"])
    heads = ["tasks", "interval above 0 at every t", "after the correction"]
    return Table([*heads, "mean above 0 at every t"], rows)


def robust(board: Board) -> Table:
    """Minus FixMatch and minus the matched baseline, in the environments that the authors of a
    method claim to answer (there) and in the others (elsewhere); in bold what is left after Holm's
    correction over the methods, column by column. Two baselines, minus FixMatch in all
    environments, stand beside them.
    """
    claimed = {name: set(targets_of(name)) & set(ENVIRONMENTS) for name in board.learners}
    columns = {}
    for other, there in (("fixmatch", 1), (BASELINE, 1), ("fixmatch", 0), (BASELINE, 0)):
        for words, data in (("", DATA), (", no texts", NO_TEXTS)):
            where = {
                name: [e for e in ENVIRONMENTS if (e in own) == there]
                for name, own in claimed.items()
                if own
            }
            head = f"- {other} {'there' if there else 'elsewhere'}{words}"
            columns[head] = _minus(board, other, "AUC", data, where)
    return _judged(board, columns, "AUC")


def consistent(board: Board) -> Table:
    """Of methods whose authors claim that unlabeled rows like the labeled ones help, or do no harm:
    minus FixMatch and minus the matched baseline at t = 0, in all environments; in bold what is
    left after Holm's correction over the methods, column by column. Two baselines, minus FixMatch,
    stand beside them.
    """
    names = [name for name in board.learners if CONSISTENT in targets_of(name)]
    where = dict.fromkeys(names, ENVIRONMENTS)
    columns = {
        f"- {other} at t = 0{words}": _minus(board, other, at(0.0), data, where)
        for other in ("fixmatch", BASELINE)
        for words, data in (("", DATA), (", no texts", NO_TEXTS))
    }
    return _judged(board, columns, at(0.0))


def _minus(
    board: Board, other: str, metric: str | Metric, data: Any, where: Mapping[str, Any]
) -> dict[str, Number]:
    """The methods minus another, each in its environments."""
    found = {name: board.against(name, other, metric, data, e) for name, e in where.items()}
    return corrected({name: number(values) for name, values in found.items() if values})


def _judged(board: Board, columns: Mapping[str, dict[str, Number]], metric: str | Metric) -> Table:
    """Methods by their gain where their authors claim it, then two baselines minus FixMatch."""
    gain = next(column for head, column in columns.items() if BASELINE in head)
    rows = [
        [name, claims(name), *(column.get(name, "") for column in columns.values())]
        for name in sorted(gain, key=lambda name: -gain[name].estimate)
    ]
    for name in ("supervised_net", "supervised_logistic"):
        ahead = [board.against(name, "fixmatch", metric, data) for data in (DATA, NO_TEXTS)]
        rows.append([name, "", *map(number, ahead), *[""] * (len(columns) - 2)])
    return Table(["method", "authors claim", *columns], rows)


def families(board: Board) -> Table:
    """Statistical methods, nets and baselines on tables: the means of all, of their gains, and of
    the one that is best on the other tables, which is what one can know beforehand (without a
    table, it is chosen again).
    """
    levels, gains = board.levels("AUC", ["tabular"]), board.gains("AUC", ["tabular"])
    losing = (*LOSING, "ssgmm")
    deep, statistical = (
        [name for name in gains if board.methods[name].family == family]
        for family in ("deep", "statistical")
    )
    kept = [name for name in statistical if name not in losing]
    pairs = {
        "statistical - deep": (statistical, deep),
        f"statistical without {', '.join(losing)} - deep": (kept, deep),
        "statistical - baselines": (statistical, board.baselines),
        "deep - baselines": (deep, board.baselines),
    }
    rows = []
    for words, names in pairs.items():
        row = [words]
        for values in (levels, gains):
            known = all(name in values for group in names for name in group)
            means = [average([values[name] for name in group]) for group in names if known]
            row.append(number(difference(*means)) if known else "")
        rows.append([*row, _picked(levels, *names)])
    return Table(["", "means", "mean gains", "best on the other tables"], rows)


def _picked(levels: dict[str, Values], *groups: Sequence[str]) -> Number:
    datasets = sorted({place.drawn for place in levels[groups[0][0]]})
    found = number(difference(*(_chosen(levels, names, datasets) for names in groups)))
    ends = []
    for left in datasets:
        rest = [dataset for dataset in datasets if dataset != left]
        ends.append(mean(difference(*(_chosen(levels, names, rest) for names in groups))))
    return replace(found, without_one=(min(ends), max(ends)))


def _chosen(levels: dict[str, Values], names: Sequence[str], datasets: Sequence[str]) -> Values:
    """On each dataset the scores of the method that is best on the others."""
    found: Values = {}
    for dataset in datasets:
        others = set(datasets) - {dataset}
        means = {name: mean(_on(levels[name], others)) for name in names}
        found |= _on(levels[max(means, key=means.__getitem__)], {dataset})
    return found


def _on(values: Values, datasets: set[str]) -> Values:
    return {place: part for place, part in values.items() if place.drawn in datasets}


def single_tasks(board: Board) -> Table:
    """How much the seeds tell of the gain of one method on one task; on which tasks some learners
    make no mistake.
    """
    ends = [over_tasks([part]) for gain in board.gains().values() for part in gain.values()]
    half = [(e.high - e.low) / 2 for e in ends]
    counts = {
        "gains of one method on one task": len(ends),
        "all predictions are the baseline's": sum(e.note == IDENTICAL for e in ends),
        "interval holds 0": sum(e.low <= 0 <= e.high for e in ends),
        "interval above 0": sum(e.low > 0 for e in ends),
        "interval below 0": sum(e.high < 0 for e in ends),
    }
    rows = [[words, f"{count:,}"] for words, count in counts.items()]
    for words, q in (("half the width, median", 0.5), ("half the width, one in ten is wider", 0.9)):
        rows.append([words, f"{np.nanquantile(half, q):.3f}"])
    for place in board.places:
        curves = [c for (_, p, a), c in board.curves.items() if p == place and a is None]
        if none := sum((c.scores == 1).all() for c in curves):
            rows.append([f"no mistake on {place.task.name}", f"{none} of {len(curves)}"])
    return Table(["", "count"], rows)


def setup(board: Board) -> Table:
    """What was run."""
    families = [board.methods[name].family for name in board.learners]
    claim = sum(bool({*targets_of(name)} & {*ENVIRONMENTS}) for name in board.learners)
    words = (
        f"{len(families)} ({families.count('statistical')} statistical, {families.count('deep')}"
    )
    rows = [
        [
            "methods that use unlabeled rows",
            f"{words} nets), {claim} of them with a claim about inconsistency",
        ],
        ["baselines, which do not", str(len(board.baselines))],
    ]
    for data, name in DATA.items():
        places = [place for place in board.places if place.data == data]
        datasets = ", ".join(sorted({place.drawn for place in places}))
        labels = " or ".join(map(str, sorted({place.task.labels for place in places})))
        rows.append([name, f"{datasets}: {len(places)} tasks, {labels} labels a class"])
    for name, words in ENVIRONMENTS.items():
        rows.append([words, f"{sum(place.environment == name for place in board.places)} tasks"])
    curve, place = board.curves["supervised_net", board.places[0], None], board.places[0]
    caps, steps = parse(place.task.environment)[1], parse(curve.algorithm)[1]["steps"]
    return Table(
        ["", "what was run"],
        [
            *rows,
            ["t, seeds", f"{', '.join(f'{t:g}' for t in curve.ts)}; {len(curve.seeds)} seeds"],
            ["rows", f"at most {caps['unlabeled']:,} unlabeled, at most {caps['test']:,} tested"],
            ["nets", f"perceptrons, trained for {steps:,} steps; one budget for a kind of data"],
            ["statistical methods", "with their defaults"],
        ],
    )
