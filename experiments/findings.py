"""The numbers of docs/findings.md, from the records of the leaderboard.

    python experiments/findings.py results/leaderboard

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

from robustssl import registry
from robustssl.analysis.compare import break_even
from robustssl.analysis.curve import Curve
from robustssl.analysis.density import hat_weights
from robustssl.analysis.interval import Interval, student_interval
from robustssl.records import files as results
from robustssl.registry import without_budget
from robustssl.spec import parse

WHERE = ["data", "inconsistent", "task"]


def place(environment: str, dataset: str) -> dict[str, str]:
    """Of a task the kind of data, what is inconsistent, and its name."""
    name, options = parse(environment)
    pair = f" {options['source']} to {options['target']}" if "source" in options else ""
    task = parse(dataset)[0] + pair
    return {"data": registry.data_kind(dataset), "inconsistent": name, "task": task}


def read(folder: Path) -> pd.DataFrame:
    """One row a method, task, seed and access; a column for each t, and seconds."""
    records = [r for f in sorted(folder.rglob("*.jsonl.gz")) for r in results.read_records(f)]
    rows = []
    for r in records:
        rows.append(
            {
                **place(r.cell.environment, r.cell.dataset),
                "access": parse(r.cell.environment)[1].get("access", "all"),
                "method": without_budget(r.cell.spec),
                "seed": r.cell.seed,
                "t": r.cell.t,
                "accuracy": r.scores["accuracy"],
                "balanced": r.scores["balanced_accuracy"],
                "seconds": r.seconds,
                "device": r.provenance.get("device", "cpu"),
            }
        )
    return pd.DataFrame(rows)


def auc(frame: pd.DataFrame, score: str = "accuracy") -> pd.DataFrame:
    """The area under each curve: a row a task and seed, a column a method."""
    points = frame.pivot_table(index=[*WHERE, "seed"], columns=["method", "t"], values=score)
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
    return hasattr(registry.algorithm(parse(method)[0]), "fit_together")


def targets_of(method: str) -> set[str]:
    return set(getattr(registry.algorithm(parse(method)[0]), "targets", ()))


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
    """Of the methods that run on all tasks; in bold what is left after Holm's correction."""
    whole = area.dropna(axis=1)
    first, *others = whole.mean().sort_values(ascending=False).index
    sure = holm(pd.Series({m: p_value(whole[first] - whole[m]) for m in others}))
    yield ["1", first, told(whole[first], False), ""]
    for place, method in enumerate(others, 2):
        bold = "**" if sure[method] else ""
        behind = f"{bold}{told(whole[method] - whole[first])}{bold}"
        yield [str(place), method, told(whole[method], False), behind]


def gain_at(frame: pd.DataFrame) -> pd.DataFrame:
    """The gain of each method at each t: a row a task, seed and t."""
    index = [*WHERE, "seed", "t"]
    return gains(frame.pivot_table(index=index, columns="method", values="accuracy"))


def mean_gain(frame: pd.DataFrame, t: float) -> Iterator[list[str]]:
    """Of all methods that use unlabeled rows; also without the two that lose wherever they are."""
    at = gain_at(frame).xs(t, level="t")
    for (data, env), part in at.groupby(["data", "inconsistent"]):
        part = part.dropna(axis=1)
        others = part.drop(columns=["co_training", "assemble"])
        yield [
            data,
            env,
            told(part.mean(axis=1)),
            told(others.mean(axis=1)),
            f"{part.mean().median():+.3f}",
            f"{len(harmed(part))} of {part.shape[1]}",
        ]


def harmed(gain: pd.DataFrame) -> list[str]:
    """The methods that are worse than their baseline beyond chance, of so many tried."""
    ps = pd.Series({method: p_value(gain[method]) for method in gain})
    return [m for m in gain if holm(ps)[m] and gain[m].mean() < 0]


def safety(frame: pd.DataFrame, area: pd.DataFrame) -> Iterator[list[str]]:
    gain, areas = gain_at(frame), gains(area)
    ts = np.array(sorted(frame.t.unique()))
    for method in areas.mean().sort_values(ascending=False).index:
        part = gain[method].dropna().groupby(["seed", "t"]).mean().unstack("t")
        fall = break_even(Curve(ts, part.to_numpy(), bounds=(-1.0, 1.0)))
        of_tasks = areas[method].dropna().groupby(WHERE)
        ends = [student_interval(v.to_numpy(), 0.95, (-1.0, 1.0)) for _, v in of_tasks]
        better, worse = sum(e.low > 0 for e in ends), sum(e.high < 0 for e in ends)
        worst = of_tasks.mean().idxmin()
        plain = areas[method][areas.index.get_level_values("data") != "text"].dropna()
        first, last = (gain[method].dropna().xs(t, level="t") for t in (0.0, 1.0))
        yield [
            method,
            "robust" if targets_of(method) else "",
            told(areas[method].dropna()),
            told(plain),
            told(first),
            told(last),
            told(last - first),
            str(fall),
            f"{better} / {worse} of {len(ends)}",
            f"{of_tasks.mean().min():+.3f} ({worst[2]}, {worst[1]})",
        ]


def safe_by_kind(frame: pd.DataFrame) -> Iterator[list[str]]:
    """Those whose gain has an interval above 0 at every t; in bold those whose largest p over t is
    left after Holm's correction over all methods.
    """
    gain = gain_at(frame)
    kinds = {("all", "all"): gain}
    for data, part in gain.groupby("data"):
        kinds[data, "all"] = part
        kinds |= {(data, env): rows for env, rows in part.groupby("inconsistent")}
    for (data, env), part in kinds.items():
        part = part.dropna(axis=1)
        by_t = {m: [v for _, v in part[m].groupby("t")] for m in part}
        sure = holm(pd.Series({m: max(map(p_value, vs)) for m, vs in by_t.items()}))
        above = [m for m, vs in by_t.items() if all(over_seeds(v).low > 0 for v in vs)]
        names = (f"**{m}**" if sure[m] else m for m in above)
        each = (f"{m}: {'; '.join(map(told, by_t[m]))}" for m in above if sure[m])
        yield [data, env, ", ".join(names), " / ".join(each)]


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
    losing = ["co_training", "assemble", "ssgmm"]
    parts = {f", without {', '.join(losing)}": every.drop(columns=losing)}
    parts |= {f", without {name}": every[names != name] for name in names.unique()}
    for words, tables in {"": every, **parts}.items():
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
    yield [
        "supervised_net - supervised_logistic",
        told(every.supervised_net - every.supervised_logistic),
        "",
        "",
    ]


def robust(area: pd.DataFrame) -> Iterator[list[str]]:
    """Against FixMatch and against the baseline: where a method belongs and elsewhere, with texts
    and without. In bold what is left after Holm's correction over the methods.
    """
    env = area.index.get_level_values("inconsistent")
    texts = area.index.get_level_values("data") == "text"
    gain, methods = gains(area), sorted(m for m in area if targets_of(m))
    columns = []
    for against_fixmatch in (True, False):
        for there, some in ((True, True), (True, ~texts), (False, True), (False, ~texts)):
            values = {}
            for m in methods:
                own = np.isin(env, list(targets_of(m)))
                where = (own == there) & some
                part = area[m] - area.fixmatch if against_fixmatch else gain[m]
                if len(part[where].dropna()):
                    values[m] = part[where].dropna()
            sure = holm(pd.Series({m: p_value(v) for m, v in values.items()}))
            bold = {m: "**" if sure[m] else "" for m in values}
            columns.append({m: f"{bold[m]}{told(v)}{bold[m]}" for m, v in values.items()})
    for m in methods:
        yield [m, ", ".join(sorted(targets_of(m))), *(column.get(m, "") for column in columns)]


def do_nothing(area: pd.DataFrame) -> Iterator[list[str]]:
    """How far ahead of FixMatch those are that never see an unlabeled row."""
    env = area.index.get_level_values("inconsistent")
    lacking = np.isin(env, ["label", "distribution"])
    places = {"label": env == "label", "label, distribution": lacking, "feature": env == "feature"}
    for place, where in {**places, "all": env == env}.items():
        ahead = area[where].sub(area.fixmatch[where], axis=0)
        plain = ahead[ahead.index.get_level_values("data") != "text"]
        for name in ("supervised_net", "supervised_logistic"):
            yield [place, name, told(ahead[name]), told(plain[name])]


def unknown_without_texts(frame: pd.DataFrame) -> Iterator[list[str]]:
    """The gain with unknown classes at each t, on tables and images."""
    gain = gain_at(frame).query("inconsistent == 'label' and data != 'text'")
    for name in ("openmatch", "mtcf", "cast", "mixmatch"):
        yield [name, told(auc_of(gain[name])), *(told(v) for _, v in gain[name].groupby("t"))]


def auc_of(values: pd.Series) -> pd.Series:
    """Of a value for each task, seed and t the area over t."""
    wide = values.unstack("t")
    return pd.Series(wide @ hat_weights(wide.columns.to_numpy(), lambda t: 1.0), wide.index)


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
            f"{difference.mean():+.3f} on {len(difference)}, standard error {difference.sem():.3f}",
            told(gain[method][tables]),
            f"{moved_.xs(name, level='algorithm').mean():.3f}",
            f"{np.mean(evm):.3f}",
        ]


def against_trees(area: pd.DataFrame) -> Iterator[list[str]]:
    """On tables, against XGBoost for all, as was published, beside the gain."""
    tables = area.loc["tabular"]
    for name in ("label_propagation", "label_spreading", "self_training", "tsvm"):
        matched = tables[name] - tables[baseline_of(name)]
        yield [name, told(tables[name] - tables.supervised_xgboost), told(matched)]


def references(frame: pd.DataFrame) -> Iterator[list[str]]:
    """At t = 1: what the inconsistent rows cost (oracle - method), what labels would give. In bold
    what is left after Holm's correction over the eight methods.

    Of a table that lacks features the oracle has the same rows whole. Elsewhere rows are replaced:
    it has none left, and is the baseline.
    """
    at = frame[frame.t == 1].pivot_table(
        index=[*WHERE, "seed", "method"], columns="access", values="accuracy"
    )
    for env, group in at.dropna().groupby("inconsistent"):
        data = group.index.get_level_values("data")
        parts = {
            "all": group,
            "tables": group[data == "tabular"],
            "no texts": group[data != "text"],
        }
        for where, part in parts.items():
            costs = {m: v["consistent"] - v["all"] for m, v in part.groupby("method")}
            sure = holm(pd.Series({m: p_value(v) for m, v in costs.items()}))
            for m, cost in costs.items():
                bold, of = "**" if sure[m] else "", part.xs(m, level="method")
                yield [env, where, m, f"{bold}{told(cost)}{bold}", told(of["labels"] - of["all"])]


def controls(frame: pd.DataFrame, area: pd.DataFrame) -> Iterator[list[str]]:
    """What experiments/controls.py measured, beside the records."""
    rows = pd.read_csv(Path(__file__).parent / "controls.csv")
    places = map(place, rows.environment, rows.dataset)
    rows = rows.join(pd.DataFrame(places))
    scaled, unweighed = (
        rows[rows.control == name] for name in ("labeled rows scale", "no unlabeled loss")
    )
    ensemble = auc(scaled[scaled.method == "safe_ensemble"]).safe_ensemble
    plain = scaled[scaled.t == 0].pivot(index=[*WHERE, "seed"], columns="method", values="accuracy")
    so = "without unlabeled rows in its features"
    tables = ensemble - area.safe_ensemble.loc[["tabular"]]
    yield [f"safe_ensemble {so} - recorded", "tabular", told(tables)]
    for name in ("supervised_svm", "supervised_logistic"):
        change = plain[name] - area[name]
        yield [f"{name} {so} - recorded", "all", told(change)]
        for data, part in change.groupby("data"):
            yield [f"{name} {so} - recorded", data, told(part)]
        yield [f"safe_ensemble - {name} {so}", "all", told(area.safe_ensemble - plain[name])]
        both = ensemble - plain[name].loc[["tabular"]]
        yield [f"safe_ensemble - {name}, both {so}", "tabular", told(both)]
    nets = unweighed.pivot(index=[*WHERE, "seed"], columns="method", values="accuracy")
    recorded = gains(area).reindex(nets.index)
    for name in ("adamatch", "defixmatch"):
        yield [f"{name}, weight=0, gain", "image, label", told(nets[name] - nets.supervised_net)]
        yield [f"{name}, recorded gain", "image, label", told(recorded[name])]


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
    heads = ["data", "inconsistent", "tasks", "best", "ahead of the next", "not worse"]
    heads += ["best learner of unlabeled rows against best baseline", "real"]
    show("Best", heads, best(area))
    at_0 = frame[frame.t == 0].pivot_table(
        index=[*WHERE, "seed"], columns="method", values="accuracy"
    )
    show("Best at t = 0", heads, best(at_0))
    show("Best by balanced accuracy", heads, best(auc(frame, "balanced")))
    named = ["method", "data", "gain", "distribution", "label", "feature"]
    show("Gain by kind of data", named, by_data(gains(area)))
    heads = ["", "method", "mean", "- first"]
    show("Over all tasks", heads, overall(area))
    show("Over all tasks at t = 0", heads, overall(at_0))
    show("Over all tasks by balanced accuracy", heads, overall(auc(frame, "balanced")))
    for data, part in area.groupby("data"):
        show(f"Over all tasks, {data}", heads, overall(part))
    heads = ["data", "inconsistent", "mean gain", "without co_training, assemble", "median"]
    for t in (0.0, 1.0):
        show(f"Gain of all methods at t = {t:g}", [*heads, "worse"], mean_gain(frame, t))
    show("Gain by kind of data at t = 0", named, by_data(gains(at_0)))
    heads = ["method", "claims", "gain", "without texts", "at t = 0", "at t = 1", "1 - 0"]
    heads += ["break-even", "better / worse", "worst task"]
    show("Safety", heads, safety(frame, area))
    heads = ["data", "inconsistent", "above at every t", "by t"]
    show("Safe by kind of data", heads, safe_by_kind(frame))
    heads = ["", "mean of the family", "of their gains", "chosen elsewhere"]
    show("Families on tables", heads, families(area))
    places = ("there", "there, no texts", "elsewhere", "elsewhere, no texts")
    heads = ["method", "built for", *(f"- fixmatch {place}" for place in places)]
    show("Robust", [*heads, *(f"gain {place}" for place in places)], robust(area))
    heads = ["where", "method", "- fixmatch", "without texts"]
    show("Without unlabeled rows, against FixMatch", heads, do_nothing(area))
    heads = ["method", "gain", *(f"t = {t:g}" for t in sorted(frame.t.unique()))]
    show("Unknown classes, without texts", heads, unknown_without_texts(frame))
    heads = ["method", "EVM", "noise", "depends on t", "flat"]
    show("Moved by t, on tables", heads, moved(frame))
    heads = ["method", "published gain", "our gain", "published EVM", "our EVM"]
    show("As published, on iris, wine, letter and covertype", heads, published(frame, area))
    heads = ["method", "- supervised_xgboost", "gain"]
    show("One baseline for all, on tables", heads, against_trees(area))
    heads = ["inconsistent", "data", "method", "oracle - method", "ceiling - method"]
    show("Oracle and ceiling, t = 1", heads, references(every))
    show("Controls", ["", "where", "accuracy or difference"], controls(frame, area))
    print("\n## Seeds\n\n" + widths(area))
    heads = ["method", "cells", "CPU hours", "minutes of a process on the GPU", "seconds a cell"]
    show("Cost", heads, cost(every))


if __name__ == "__main__":
    main()
