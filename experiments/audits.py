"""Is the verdict of an audit right? It is asked about the cases of audits_cases.py:

python experiments/audits.py audits.csv --cases cases   # makes the csv of what was collected
python experiments/audits.py audits.csv --tune          # the constants, chosen on one half
python experiments/audits.py audits.csv                 # the tables, of the other half
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from audits_cases import CASES, HELD_OUT, is_tuning
from scipy.optimize import minimize
from scipy.stats import norm

from robustssl.analysis.interval import Ties
from robustssl.analysis.worth import worth_of
from robustssl.audits.choice import score_of_best
from robustssl.audits.evidence import Evidence, evidence_of
from robustssl.audits.gains import Gains
from robustssl.audits.verdict import MARGIN, PRIOR, Prior, answer_of, believed

LARGE = 0.03  # a gain that must be seen
UNLIKE = 0.6  # AUROC above which adversarial validation advises against the rows
SAME_ROWS = ("none", "feature", "prior")  # environments whose labeled rows are of the whole table
CASE = ["table", "environment", "t", "amount", "seed"]
FIELDS = [*Evidence.__dataclass_fields__]
RULES = ("audit", "always use", "never use", "adversarial validation", "cross-validation alone")
Z = norm.ppf(0.95)


def gather(folder: Path) -> pd.DataFrame:
    """A row for each case and method: the evidence, and the true gain over the best baseline."""
    rows = []
    for case in CASES:
        file = folder / f"{case.name}.npz"
        if not file.exists():
            continue
        kept = np.load(file)
        baselines, methods = (tuple(names.split(",")) for names in kept["names"])
        parts: Any = ({}, {}, {})
        for name in (*baselines, *methods):
            for part, found in zip(("held", "answers", "truth"), parts, strict=True):
                found[name] = kept[f"{part}/{name}"]
        held, answers, truth = parts
        held = {name: P.astype(float) for name, P in held.items()}
        gains = Gains(kept["y"], held, answers, baselines, methods)
        right = {name: (P.argmax(1) == kept["y_held"]).mean() for name, P in truth.items()}
        about = {"tuning": is_tuning(case.table), **vars(case), "baseline": gains.alone}
        about |= {"alone": right[gains.alone], "forest": right["forest"]}
        expected = score_of_best(gains, baselines)
        about |= {"auroc": float(kept["auroc"]), "low": expected.low, "high": expected.high}
        for method in methods:
            found = vars(evidence_of(gains, method))
            true = right[method] - right[gains.alone]
            rows.append({**about, "method": method, **found, "true": true})
    return pd.DataFrame(rows).round(5)


def judged(table: pd.DataFrame, prior: Prior = PRIOR) -> pd.DataFrame:
    """A row for each case: the method that the audit takes, its true gain, and each rule's answer
    to whether it should be used.
    """
    found = [believed(Evidence(**row), prior) for row in table[FIELDS].to_dict("records")]
    table = table.assign(mean=[m for m, _ in found], spread=[s for _, s in found])
    best = table.loc[table.groupby(CASE, sort=False)["mean"].idxmax()]
    answers = [answer_of(m, s) for m, s in zip(best["mean"], best.spread, strict=True)]
    return best.assign(
        **{
            "audit": answers,
            "always use": "yes",
            "never use": "no",
            "adversarial validation": np.where(best.auroc > UNLIKE, "no", "yes"),
            "cross-validation alone": np.where(best.gain > 0, "yes", "no"),
        }
    )


def against_truth(cases: pd.DataFrame) -> pd.DataFrame:
    """Answers of the audit against the truth."""
    truth = np.select([cases.true > MARGIN, cases.true < -MARGIN], ["helps", "harms"], "neither")
    counts = pd.crosstab(cases.audit, truth).reindex(
        index=["yes", "no", "cannot tell"], columns=["helps", "neither", "harms"], fill_value=0
    )
    return counts.rename_axis("the audit says").reset_index()


def rules(cases: pd.DataFrame, curves: pd.DataFrame) -> pd.DataFrame:
    """Of each rule: how often it says yes where the gain is large and where it is harm, and what
    its answers lose against the better of both, in accuracy and in labels.
    """
    rows = []
    for rule in RULES:
        yes = cases[rule] == "yes"
        lost = np.maximum(cases.true, 0) - np.where(yes, cases.true, 0)
        priced = [in_labels(*pair, curves) for pair in zip(cases.itertuples(), lost, strict=True)]
        rows.append(
            {
                "rule": rule,
                f"yes, of gains over {LARGE}": share(yes[cases.true > LARGE]),
                "yes, of harms": share(yes[cases.true < -MARGIN]),
                "regret": f"{lost.mean():.4f}",
                "regret in labels": f"{np.nanmean(priced):.0f}",
            }
        )
    return pd.DataFrame(rows)


def share(yes: "pd.Series[bool]") -> str:
    """How many of how many, and the exact interval (Clopper and Pearson, 95%)."""
    n, k = len(yes), int(yes.sum())
    low, high = Ties(rows=n).limits(np.array(k / n), 0.95)
    return f"{k} of {n} [{low:.2f}, {high:.2f}]"


def in_labels(case: Any, lost: float, curves: pd.DataFrame) -> float:
    """How many more labels would buy back a loss of accuracy, by the accuracy of the best baselines
    of the table with few, some and many labels; at most as many as the curve knows, and nan where
    it does not know the case.
    """
    curve = curves[curves.table == case.table]
    if case.environment not in SAME_ROWS or case.amount not in [*curve.amount[:-1]]:
        return np.nan
    counts = [*curve.labels]
    held = counts[[*curve.amount].index(case.amount)]
    found = worth_of(np.array([lost]), curve.alone.to_numpy()[None], counts, held)
    return float(min(found.estimate, found.most))


def learning_curves(cases: pd.DataFrame) -> pd.DataFrame:
    """The accuracy of the best baselines of each table by the number of labels, over seeds."""
    plain = cases[cases.environment == "none"]
    found = plain.groupby(["table", "amount"], as_index=False)[["labels", "alone"]].mean()
    return found.assign(labels=found.labels.round().astype(int)).sort_values(["table", "labels"])


def summary(cases: pd.DataFrame) -> pd.DataFrame:
    """How many cases there are, how often intervals hold the truth, and the advised model beside a
    plain forest.
    """
    half = Z * _root(cases.spread, np.sqrt(cases.apart / HELD_OUT))
    covered = (cases.true - cases["mean"]).abs() <= half
    score = (cases.low <= cases.alone) & (cases.alone <= cases.high)
    advised = cases.alone + np.where(cases.audit == "yes", cases.true, 0)
    return pd.DataFrame(
        {
            "cases": [len(cases)],
            "tables": [cases.table.nunique()],
            "90% intervals of gains hold": [f"{covered.mean():.0%}"],
            "90% intervals of scores hold": [f"{score.mean():.0%}"],
            "accuracy of the advised model": [f"{advised.mean():.4f}"],
            "of a plain forest": [f"{cases.forest.mean():.4f}"],
        }
    )


def tune(table: pd.DataFrame) -> Any:
    """The constants that make the true gains, and what was measured of them, the likeliest: of the
    prior, and the factor by which errors are larger than estimated.
    """
    noise = np.sqrt(table.apart / HELD_OUT + 1e-6)  # of the true gain, on held-out rows

    def surprise(logs: Any) -> float:
        slope, spread, least, beyond = np.exp(logs)
        prior = norm(slope * table.likelihood, _root(least, spread * table.apart, noise))
        measured = norm(table.true, _root(beyond * table.error, noise))
        return -float(prior.logpdf(table.true).sum() + measured.logpdf(table.gain).sum())

    return np.exp(minimize(surprise, np.log([0.1, 0.3, 0.01, 1.0])).x)


def _root(*parts: Any) -> Any:
    return np.sqrt(sum(part**2 for part in parts))


def cross_tuned(table: pd.DataFrame) -> pd.DataFrame:
    """The cases of each table, judged by constants that were chosen on the others."""
    parts = []
    for name, mine in table.groupby("table"):
        *constants, beyond = tune(table[table.table != name])
        parts.append(judged(mine.assign(error=beyond * mine.error), Prior(*constants)))
    return pd.concat(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("csv", type=Path)
    parser.add_argument("--cases", type=Path, help="folder that audits_cases.py wrote")
    parser.add_argument("--tune", action="store_true")
    given = parser.parse_args()
    if given.cases:
        gather(given.cases).to_csv(given.csv, index=False)
        return
    table = pd.read_csv(given.csv)
    half = table[table.tuning == given.tune]
    cases = judged(half)
    if given.tune:
        print("likelihood, spread, least, beyond:", tune(half).round(4))
        cases = cross_tuned(half)
    for shown in (against_truth(cases), rules(cases, learning_curves(cases)), summary(cases)):
        print(shown.to_markdown(index=False), end="\n\n")


if __name__ == "__main__":
    main()
