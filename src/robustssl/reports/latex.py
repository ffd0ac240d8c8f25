"""The report's table for a paper, as LaTeX."""

import re

import pandas as pd
from tabulate import tabulate

from robustssl.analysis.curves import TASK
from robustssl.analysis.table import show
from robustssl.errors import printable
from robustssl.reports.markdown import AS_IS, shown_columns


def latex_of(table: pd.DataFrame) -> str:
    task = [name for name in TASK if table[name].notna().any()]
    table = table.sort_values(TASK, kind="stable")
    columns = pd.concat([table[task].map(show), shown_columns(table, "BOLD({})")], axis=1)
    text = (
        str(tabulate(columns.map(printable), headers="keys", tablefmt="latex_booktabs", **AS_IS))
        + "\n"
    )
    return re.sub(r"BOLD\(((?:[^()]|\([^()]*\))*)\)", r"\\textbf{\1}", text)
