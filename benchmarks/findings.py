"""The numbers of docs/findings.md, from the records of the leaderboard.

    python benchmarks/findings.py results/leaderboard

An interval is Student's, at 95%, over the five seeds: of each seed the mean over the tasks is taken
first, so that the tasks are what they are and the seeds are chance. Differences are taken seed by
seed.
"""

import argparse
from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy import stats
from tabulate import tabulate

from robustssl import registry, results
from robustssl.compare import break_even
from robustssl.curve import Curve, Interval, hat_weights, student_interval
from robustssl.registry import without_budget

WHERE = ["data", "inconsistent", "task"]


def read(folder: Path) -> pd.DataFrame:
    """One row a method, task, seed and access; a column for each t, and seconds."""
    records = [r for f in sorted(folder.rglob("*.jsonl.gz")) for r in results.read_records(f)]
    rows = []
    for r in records:
        name, options = registry.parse(r.cell.environment)
        pair = f" {options['source']} to {options['target']}" if "source" in options else ""
        rows.append(
            {
                "data": registry.data_kind(r.cell.dataset),
                "inconsistent": name,
                "task": registry.parse(r.cell.dataset)[0] + pair,
                "access": options.get("access", "all"),
                "method": without_budget(r.cell.method),
                "seed": r.cell.seed,
                "t": r.cell.t,
                "accuracy": r.scores["accuracy"],
                "seconds": r.seconds,
                "device": r.provenance.get("device", "cpu"),
            }
        )
    return pd.DataFrame(rows)


def auc(frame: pd.DataFrame) -> pd.DataFrame:
    """The area under each curve: a row a task and seed, a column a method."""
    points = frame.pivot_table(index=[*WHERE, "seed"], columns=["method", "t"], values="accuracy")
    ts = np.array(sorted(frame.t.unique()))
    weights = hat_weights(ts, lambda t: 1.0)
    return pd.DataFrame({m: points[m] @ weights for m in points.columns.levels[0]})


def over_seeds(values: pd.Series) -> Interval:
    """Of a value for each task and seed."""
    of_seeds = values.groupby("seed").mean()
    return student_interval(of_seeds.to_numpy(), 0.95, (-1.0, 1.0))


def told(values: pd.Series, sign: bool = True) -> str:
    found = over_seeds(values)
    write = (lambda x: f"{x:+.3f}") if sign else (lambda x: f"{x:.3f}")
    return f"{write(found.estimate)} [{write(found.low)}, {write(found.high)}]"


def p_value(values: pd.Series) -> float:
    return float(stats.ttest_1samp(values.groupby("seed").mean(), 0).pvalue)


def holm(ps: pd.Series, level: float = 0.05) -> pd.Series:
    """Which are small enough, of so many."""
    ordered = ps.sort_values()
    fine = (ordered <= level / np.arange(len(ps), 0, -1)).cumprod().astype(bool)
    return fine.reindex(ps.index)


def baseline_of(method: str) -> str | None:
    return registry.matched_baseline(method)


def learners(methods: Sequence[str]) -> list[str]:
    """Those that use unlabeled rows."""
    return [m for m in methods if baseline_of(m) is not None]


def is_deep(method: str) -> bool:
    return hasattr(registry.algorithm(registry.parse(method)[0]), "fit_together")


def targets_of(method: str) -> set[str]:
    return set(getattr(registry.algorithm(registry.parse(method)[0]), "targets", ()))


def gains(area: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({m: area[m] - area[baseline_of(m)] for m in learners(list(area))})


def best(area: pd.DataFrame) -> Iterator[list[str]]:
    """`real`: a lead or a lag of the best learner that is left after Holm's correction for nine."""
    rows, ps = [], {}
    for (data, env), part in area.groupby(["data", "inconsistent"]):
        part = part.dropna(axis=1)
        order = part.mean().sort_values(ascending=False).index
        first, second = order[:2]
        behind = pd.Series({m: p_value(part[first] - part[m]) for m in order[1:]})
        learner = next(m for m in order if baseline_of(m) is not None)
        label = next(m for m in order if baseline_of(m) is None)
        ps[data, env] = p_value(part[learner] - part[label])
        rows.append(
            [
                data,
                env,
                str(part.index.get_level_values("task").nunique()),
                f"{first}, {told(part[first], False)}",
                f"{second}, by {told(part[first] - part[second])}",
                f"{int((~holm(behind)).sum())} of {len(order) - 1}",
                f"{learner} against {label}, {told(part[learner] - part[label])}",
            ]
        )
    real = holm(pd.Series(ps))
    yield from ([*row, "yes" if real[row[0], row[1]] else ""] for row in rows)


def by_data(gain: pd.DataFrame) -> Iterator[list[str]]:
    """The gain of each method on each kind of data, and in each environment there."""
    for method in gain.mean().sort_values(ascending=False).index:
        for data in ("tabular", "image", "text"):
            part = gain.loc[data, method].dropna()
            if len(part):
                each = [part.loc[env] for env in ("distribution", "label", "feature")]
                yield [method, data, told(part), *map(told, each)]


def overall(area: pd.DataFrame) -> Iterator[list[str]]:
    """Of the methods that run on all tasks."""
    whole = area.dropna(axis=1)
    order = whole.mean().sort_values(ascending=False).index
    for place, method in enumerate(order, 1):
        behind = told(whole[method] - whole[order[0]])
        yield [str(place), method, told(whole[method], False), behind]


def mean_gain(frame: pd.DataFrame) -> Iterator[list[str]]:
    """Of all methods that use unlabeled rows, at t = 0 and at t = 1."""
    index = [*WHERE, "seed", "t"]
    scores = frame.pivot_table(index=index, columns="method", values="accuracy")
    gain = gains(scores)
    for (data, env), part in gain.groupby(["data", "inconsistent"]):
        part = part.dropna(axis=1)
        mean = part.mean(axis=1)
        at = [mean.xs(t, level="t") for t in (0.0, 1.0)]
        worse = [f"{len(harmed(part.xs(t, level='t')))} of {part.shape[1]}" for t in (0.0, 1.0)]
        yield [data, env, told(at[0]), worse[0], told(at[1]), worse[1]]


def harmed(gain: pd.DataFrame) -> list[str]:
    """The methods that are worse than their baseline beyond chance, of so many tried."""
    ps = pd.Series({method: p_value(gain[method]) for method in gain})
    return [m for m in gain if holm(ps)[m] and gain[m].mean() < 0]


def safety(frame: pd.DataFrame, area: pd.DataFrame) -> Iterator[list[str]]:
    index = [*WHERE, "seed", "t"]
    gain = gains(frame.pivot_table(index=index, columns="method", values="accuracy"))
    areas = gains(area)
    ts = np.array(sorted(frame.t.unique()))
    for method in areas.mean().sort_values(ascending=False).index:
        part = gain[method].dropna().groupby(["seed", "t"]).mean().unstack("t")
        fall = break_even(Curve(ts, part.to_numpy(), bounds=(-1.0, 1.0)))
        of_tasks = areas[method].dropna().groupby(WHERE)
        ends = [student_interval(v.to_numpy(), 0.95, (-1.0, 1.0)) for _, v in of_tasks]
        better, worse = sum(e.low > 0 for e in ends), sum(e.high < 0 for e in ends)
        worst = of_tasks.mean().idxmin()
        plain = areas[method][areas.index.get_level_values("data") != "text"].dropna()
        yield [
            method,
            "robust" if targets_of(method) else "",
            told(areas[method].dropna()),
            told(plain),
            told(gain[method].dropna().xs(0.0, level="t")),
            told(gain[method].dropna().xs(1.0, level="t")),
            str(fall),
            f"{better} / {worse} of {len(ends)}",
            f"{of_tasks.mean().min():+.3f} ({worst[2]}, {worst[1]})",
        ]


def chosen_elsewhere(area: pd.DataFrame, methods: Sequence[str]) -> pd.Series:
    """Of each dataset the method that is best on the others: what one can know beforehand."""
    names = area.index.get_level_values("task")
    found = pd.Series(index=area.index, dtype=float)
    for task in names.unique():
        others = area[names != task].groupby("task")[list(methods)].mean().mean()
        found[names == task] = area.loc[names == task, others.idxmax()]
    return found


def families(area: pd.DataFrame) -> Iterator[list[str]]:
    every = area.loc["tabular"].dropna(axis=1)
    names = every.index.get_level_values("task")
    for words, tables in (("", every), (", without covertype", every[names != "covertype"])):
        methods = learners(list(tables))
        groups = {
            "statistical": [m for m in methods if not is_deep(m)],
            "deep": [m for m in methods if is_deep(m)],
            "baselines": [m for m in tables if baseline_of(m) is None],
        }
        picks = {name: chosen_elsewhere(tables, of) for name, of in groups.items()}
        gain = gains(tables)
        for one, other in combinations(groups, 2):
            row = [f"{one} - {other}{words}"]
            row.append(told(tables[groups[one]].mean(axis=1) - tables[groups[other]].mean(axis=1)))
            if other == "baselines":
                row.append("")
            else:
                row.append(told(gain[groups[one]].mean(axis=1) - gain[groups[other]].mean(axis=1)))
            yield [*row, told(picks[one] - picks[other])]


def robust(area: pd.DataFrame) -> Iterator[list[str]]:
    """Against FixMatch and against the baseline: where a method belongs, also without texts, and
    elsewhere. In bold what is left after Holm's correction over the methods.
    """
    env = area.index.get_level_values("inconsistent")
    texts = area.index.get_level_values("data") == "text"
    gain, methods = gains(area), sorted(m for m in area if targets_of(m))
    columns = []
    for against_fixmatch in (True, False):
        for place in ("own", "own, no texts", "elsewhere"):
            values = {}
            for m in methods:
                own = np.isin(env, list(targets_of(m)))
                where = {"own": own, "own, no texts": own & ~texts, "elsewhere": ~own}[place]
                part = area[m] - area.fixmatch if against_fixmatch else gain[m]
                if len(part[where].dropna()):
                    values[m] = part[where].dropna()
            sure = holm(pd.Series({m: p_value(v) for m, v in values.items()}))
            bold = {m: "**" if sure[m] else "" for m in values}
            columns.append({m: f"{bold[m]}{told(v)}{bold[m]}" for m, v in values.items()})
    for m in methods:
        yield [m, ", ".join(sorted(targets_of(m))), *(column.get(m, "") for column in columns)]


def moved(frame: pd.DataFrame) -> Iterator[list[str]]:
    """How far t moves each curve, EVM over the seeds' mean curve by the jackknife, on tables."""
    ts = np.array(sorted(frame.t.unique()))
    for method in ("ict", "uda", "temporal_ensembling", "fixmatch"):
        part = frame[(frame.method == method) & (frame.data == "tabular")]
        grid = part.pivot_table(
            index=["task", "inconsistent"], columns=["seed", "t"], values="accuracy"
        )
        found = []
        for _, row in grid.iterrows():
            curve = Curve(ts, row.to_numpy().reshape(-1, len(ts)))
            found.append((curve.metrics()["EVM"], curve.noise_floor()["EVM"], curve.dependence()))
        evm, floor, p = np.array(found).T
        yield [
            method,
            f"{evm.mean():.3f}",
            f"{floor.mean():.3f}",
            f"{int((p < 0.05).sum())} of {len(p)}",
            f"{int((evm == 0).sum())}",
        ]


PUBLISHED = {
    "FixMatch": "fixmatch",
    "FlexMatch": "flexmatch",
    "ICT": "ict",
    "MixMatch": "mixmatch",
    "PiModel": "pi_model",
    "PseudoLabel": "pseudo_label",
    "SoftMatch": "softmatch",
    "UDA": "uda",
}


def published(frame: pd.DataFrame, area: pd.DataFrame) -> Iterator[list[str]]:
    """The same methods on iris, wine, letter and covertype, 5 labels, as they were published."""
    file = Path(__file__).parents[1] / "results" / "published.csv"
    theirs = pd.read_csv(file)
    theirs = theirs[(theirs.labels == 5) & theirs.file.str.contains("deep")]
    curves = theirs.pivot_table(
        index=["environment", "dataset", "algorithm"], columns="t", values="score"
    ).dropna()
    ts = np.array(sorted(frame.t.unique()))
    value, moved_ = (
        pd.Series([Curve(ts, row[None]).metrics()[m] for row in curves.to_numpy()], curves.index)
        for m in ("AUC", "EVM")
    )
    base = value.xs("FT_Transformer", level="algorithm")
    gain = gains(area)
    shared = ["iris", "wine", "letter", "covertype"]
    tables = area.index.get_level_values("task").isin(shared)
    for name, method in PUBLISHED.items():
        mine = frame[(frame.method == method) & frame.task.isin(shared)]
        of = mine.groupby(["inconsistent", "task", "t"]).accuracy.mean().unstack("t")
        evm = [Curve(ts, row[None]).metrics()["EVM"] for row in of.to_numpy()]
        difference = (value.xs(name, level="algorithm") - base).dropna()
        yield [
            method,
            f"{difference.mean():+.3f} on {len(difference)}",
            told(gain[method][tables]),
            f"{moved_.xs(name, level='algorithm').mean():.3f}",
            f"{np.mean(evm):.3f}",
        ]


def references(frame: pd.DataFrame) -> Iterator[list[str]]:
    """At t = 1: what the inconsistent rows cost (oracle - method), what labels would give.

    Where rows are replaced the oracle has none left, and is the baseline.
    """
    at = frame[frame.t == 1].pivot_table(
        index=[*WHERE, "seed", "method"], columns="access", values="accuracy"
    )
    for (env, method), part in at.dropna().groupby(["inconsistent", "method"]):
        cost = part["consistent"] - part["all"]
        plain = cost[cost.index.get_level_values("data") != "text"]
        yield [env, method, told(cost), told(plain), told(part["labels"] - part["all"])]


def widths(area: pd.DataFrame) -> str:
    gain = gains(area)
    ends = [
        student_interval(v.to_numpy(), 0.95, (-1.0, 1.0))
        for m in gain
        for _, v in gain[m].dropna().groupby(WHERE)
    ]
    half = np.array([(e.high - e.low) / 2 for e in ends])
    unsure = sum(e.low <= 0 <= e.high for e in ends)
    return (
        f"{len(ends)} gains, each of one method on one task: half the width of the interval is "
        f"{np.median(half):.3f} in the median, {np.quantile(half, 0.9):.3f} for one in ten; "
        f"{unsure} of the intervals hold 0; {sum(e.low > 0 for e in ends)} lie above, "
        f"{sum(e.high < 0 for e in ends)} below"
    )


def cost(frame: pd.DataFrame) -> Iterator[list[str]]:
    for method, part in frame.groupby("method"):
        gpu = part.device != "cpu"
        yield [
            method,
            str(len(part)),
            f"{part.seconds[~gpu].sum() / 3600:.2f}",
            f"{part.seconds[gpu].sum() / 60:.1f}",
            f"{part.seconds.mean():.3f}",
        ]


def picture(gain: pd.DataFrame, file: Path) -> None:
    """Of each method and kind of task the gain, in bold where its interval leaves out 0."""
    kinds, environments = ("tabular", "image", "text"), ("distribution", "label", "feature")
    groups = [(data, environment) for data in kinds for environment in environments]
    order = gain.mean().sort_values(ascending=False).index
    figure = Figure(figsize=(9, 10.5), layout="constrained")
    axes = figure.subplots()
    values = np.full((len(order), len(groups)), np.nan)
    for i, method in enumerate(order):
        for j, group in enumerate(groups):
            part = gain.loc[group, method].dropna()
            if part.empty:
                continue
            found = over_seeds(part)
            values[i, j] = found.estimate
            sure = found.low > 0 or found.high < 0
            ink = "white" if abs(found.estimate) > 0.1 else "black"
            weight = "bold" if sure else "normal"
            text = f"{found.estimate:+.3f}".replace("0.", ".")
            axes.text(j, i, text, ha="center", va="center", color=ink, weight=weight, size=8)
    image = axes.imshow(values, cmap="RdBu", vmin=-0.15, vmax=0.15, aspect="auto")
    axes.set_yticks(range(len(order)), order)
    axes.set_xticks(range(len(groups)), [f"{d}\n{e}" for d, e in groups], fontsize=8)
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.set_facecolor("0.85")
    figure.colorbar(image, shrink=0.4, label="gain over the matched baseline, mean over t")
    figure.savefig(file, dpi=110)


def show(title: str, heads: Sequence[str], rows: Iterator[list[str]]) -> None:
    print(f"\n## {title}\n")
    print(tabulate(list(rows), headers=heads, tablefmt="github", disable_numparse=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, nargs="?", default=Path("results/leaderboard"))
    parser.add_argument("--picture", type=Path, help="Draw the gains into this file.")
    asked = parser.parse_args()
    every = read(asked.folder)
    frame = every[every.access == "all"]
    area = auc(frame)
    if asked.picture:
        picture(gains(area), asked.picture)
    print(f"{len(every)} records")
    heads = ["data", "inconsistent", "tasks", "best, AUC", "ahead of the next", "not worse"]
    heads += ["best learner of unlabeled rows against best baseline", "real"]
    show("Best", heads, best(area))
    at_0 = frame[frame.t == 0].pivot_table(
        index=[*WHERE, "seed"], columns="method", values="accuracy"
    )
    show("Best at t = 0, by accuracy", heads, best(at_0))
    named = ["method", "data", "gain", "distribution", "label", "feature"]
    show("Gain by kind of data", named, by_data(gains(area)))
    show("Over all tasks", ["", "method", "AUC", "behind the first"], overall(area))
    heads = ["data", "inconsistent", "gain at t = 0", "worse", "gain at t = 1", "worse"]
    show("Gain over the baseline, all methods", heads, mean_gain(frame))
    heads = ["method", "claims", "gain", "without texts", "at t = 0", "at t = 1", "break-even"]
    heads += ["better / worse", "worst task"]
    show("Safety", heads, safety(frame, area))
    heads = ["", "mean of the family", "of their gains", "chosen elsewhere"]
    show("Families on tables", heads, families(area))
    places = ("there", "there, no texts", "elsewhere")
    heads = ["method", "built for", *(f"- fixmatch {place}" for place in places)]
    show("Robust", [*heads, *(f"gain {place}" for place in places)], robust(area))
    heads = ["method", "EVM", "noise", "depends on t", "flat"]
    show("Moved by t, on tables", heads, moved(frame))
    heads = ["method", "published gain", "our gain", "published EVM", "our EVM"]
    show("As published, on iris, wine, letter and covertype", heads, published(frame, area))
    heads = [
        "inconsistent",
        "method",
        "oracle - method, t = 1",
        "without texts",
        "ceiling - method, t = 1",
    ]
    show("Oracle and ceiling", heads, references(every))
    print("\n## Seeds\n\n" + widths(area))
    heads = ["method", "cells", "CPU hours", "minutes of a process on the GPU", "seconds a cell"]
    show("Cost", heads, cost(every))


if __name__ == "__main__":
    main()
