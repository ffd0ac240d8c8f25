"""The report's tables for a paper, as LaTeX."""

import re
from collections.abc import Callable

import pandas as pd
from tabulate import tabulate

from robustssl.analysis.curves import TASK
from robustssl.analysis.table import show
from robustssl.errors import printable
from robustssl.reports.columns import AS_IS, shown_columns

BOLD = "BOLD({})"


def latex_of(
    table: pd.DataFrame,
    columns: Callable[[pd.DataFrame], pd.DataFrame] = lambda rows: shown_columns(rows, BOLD),
) -> str:
    """The rows of a table with their tasks, and the columns that are shown."""
    task = [name for name in TASK if table[name].notna().any()]
    table = table.sort_values(TASK, kind="stable")
    shown = pd.concat([table[task].map(show), columns(table)], axis=1)
    text = (
        str(tabulate(shown.map(printable), headers="keys", tablefmt="latex_booktabs", **AS_IS))
        + "\n"
    )
    return re.sub(r"BOLD\(((?:[^()]|\([^()]*\))*)\)", r"\\textbf{\1}", text)
