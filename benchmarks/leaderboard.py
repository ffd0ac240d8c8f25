"""What the cells of the leaderboard cost, from their records:

python benchmarks/leaderboard.py results/leaderboard
"""

import sys
from pathlib import Path

import pandas as pd

from robustssl.records.files import read_records


def cost(folder: Path) -> pd.DataFrame:
    """Of each method its cells, the time of processors and of the GPU, and the mean of a cell."""
    records = [r for file in sorted(folder.rglob("*.jsonl.gz")) for r in read_records(file)]
    frame = pd.DataFrame(
        {
            "method": [r.method.name if r.method else r.cell.spec for r in records],
            "seconds": [r.seconds for r in records],
            "gpu": [r.provenance.get("device", "cpu") != "cpu" for r in records],
        }
    )
    rows = []
    for name, part in frame.groupby("method"):
        rows.append(
            {
                "method": name,
                "cells": str(len(part)),
                "CPU hours": f"{part.seconds[~part.gpu].sum() / 3600:.2f}",
                "minutes of a process on the GPU": f"{part.seconds[part.gpu].sum() / 60:.1f}",
                "seconds a cell": f"{part.seconds.mean():.3f}",
            }
        )
    return pd.DataFrame(rows)


if __name__ == "__main__":
    table = cost(Path(sys.argv[1]))
    print(table.to_markdown(index=False, tablefmt="github", disable_numparse=True))
