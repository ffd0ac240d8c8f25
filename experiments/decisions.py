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
from robustssl.records.sheets import csv_of
from robustssl.reports.choosing import topics_of_rule

RULES = ("default", "cv", "cv+abstain")
SHOWN = "cv"
OVER_METHODS = "out of fold"  # entrants that are not of one method


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("store", "decisions", "csv"):
        parser.add_argument(name)
    given = parser.parse_args()
    frame, decisions = (
        successes(with_versions(read_frame(given.store))),
        read_decisions(given.decisions),
    )
    sheets = []
    for rule in RULES:
        *_, topic = topics_of_rule(select(frame, rule), rule, decisions)
        sheets.append(topic.sheet.assign(rule=rule))
        if rule == SHOWN:
            print(
                topic.table[topic.table.entrant.str.contains(OVER_METHODS)].to_markdown(index=False)
            )
            print(*(f"- {note}" for note in topic.notes), sep="\n")
    Path(given.csv).write_text(csv_of(pd.concat(sheets).round(6)), encoding="utf-8")
    uses = decisions.groupby(["entrant", "labels", "t"]).use.agg(["sum", "size"])
    print(uses.to_markdown())


if __name__ == "__main__":
    main()
