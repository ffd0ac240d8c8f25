"""What it costs to decide whether to use the unlabeled rows of digits and wine, t not being known:

    robustssl run examples/selection.yaml --store selection.sqlite
    robustssl decide examples/selection.yaml --seeds 3 --out advice.csv
    python experiments/decisions.py selection.sqlite advice.csv experiments/decisions.csv

writes the regrets of all entrants, with settings chosen by each of three rules, and prints the
table of `docs/decide.md`, which is of the rule cv.
"""

import argparse
from pathlib import Path

import pandas as pd

from robustssl.analysis.entrants import read_decisions
from robustssl.analysis.selection import select
from robustssl.records.files import read_frame
from robustssl.records.frame import successes, with_versions
from robustssl.records.sheets import csv_of, without_apostrophes
from robustssl.reports.choosing import topics_of_rule

RULES = ("default", "cv", "cv+abstain")


def numbers(store: str, decisions: str) -> pd.DataFrame:
    """The regrets of all entrants, over tasks and on each."""
    frame, advice = successes(with_versions(read_frame(store))), read_decisions(decisions)
    sheets = []
    for rule in RULES:
        *_, topic = topics_of_rule(select(frame, rule), rule, advice)
        sheets.append(topic.sheet.assign(rule=rule))
    return pd.concat(sheets).round(6)


def table(file: str | Path) -> str:
    """The regrets over tasks of the entrants that are not of one method, by the rule cv."""
    told = without_apostrophes(pd.read_csv(file))
    told = told[told.dataset.isna() & (told.rule == "cv") & told.entrant.str.contains("fold")]
    lines = [
        f"| {row.entrant} | {row.regret:.3f} [{row.regret_low:.3f}, {row.regret_high:.3f}] "
        f"| {row.in_labels_told} |"
        for row in told.itertuples()
    ]
    return "\n".join(["| entrant | regret | in labels |", "|---|---|---|", *lines])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("store", "decisions", "csv"):
        parser.add_argument(name)
    given = parser.parse_args()
    Path(given.csv).write_text(csv_of(numbers(given.store, given.decisions)), encoding="utf-8")
    print(table(given.csv))
