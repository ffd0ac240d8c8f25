"""What an audit says of rows as it reads them: what was left out, and what is odd about them."""

from collections.abc import Iterable
from typing import Any

# What was left out when the rows were read
RARE = (
    "Classes with fewer than {fewest} labeled rows were left out: {names}. They have {share:.0%} "
    "of the labeled rows; unlabeled rows of these classes look inconsistent for this reason alone."
)
NO_TARGET = "Rows of {file} with an empty {target} were left out: {rows}."
IGNORED_TARGET = "The column {target} of {file} was ignored."
EXTRA = "Columns that only the unlabeled rows have were left out: {names}."
IDENTIFIERS = (
    "Columns that look like an identifier, with a different value in nearly every row, were left "
    "out: {names}."
)
DATES = (
    "Columns that hold dates or times were left out of the comparison: {names}. If rows are to be "
    "ordered by one of them, audit again with --time."
)
AMBIGUOUS = (
    "The commas in {names} may mark decimals or thousands, so the values were read as words. Write "
    "1.234 or 1234 instead of 1,234."
)
LEAK = (
    "Warning: {names} nearly determines the target, and the other columns do not. If it is not "
    "known before the class is, the accuracies below are false: audit again with --drop."
)
SAME = "Warning: the labeled and the unlabeled rows are the same rows."
MAYBE_TEXT = "If {name} holds texts to learn from, audit again with --text {name}."
NO_TEXT = "Rows with an empty text were left out: {rows}."
ENCODER = "The {kind}s were compared by the vectors of the encoder {encoder}."

# What to do if the target holds numbers
BIN = (
    'make classes of numbers first, such as pd.cut(frame["price"], [0, 10, 100, 1000], '
    'labels=["low", "middle", "high"])'
)
REGRESSION = "holds {values} different numbers, and an audit does not predict numbers: " + BIN

# Whether time separates the files
OTHER_TIME = (
    "Your unlabeled rows are {word}: {share:.0%} of them are {word} than every labeled row."
)
SAME_TIME = (
    "Time does not separate the files: {later:.0%} of the unlabeled rows are later than every "
    "labeled row, and {earlier:.0%} are earlier."
)
NO_TIME = "Whether time separates the files is not known: one of them has no times."

# How the unlabeled rows have lost a column
MISSING = "missing"
CONSTANT = "the same value in every unlabeled row"
OTHER_TYPE = "{} in the labeled rows, {} in the unlabeled rows"
NEW_WORDS = "{:.0%} of the unlabeled rows have a value that no labeled row has"
OTHER_SCALE = "on another scale: about {} times as spread out as in the labeled rows"
GAPS = "missing in {:.0%} of the unlabeled rows and in {:.0%} of the labeled rows"


def counted(number: int, noun: str) -> str:
    """A number of things."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def listed(names: Iterable[Any], most: int = 5) -> str:
    """Names with commas, the first few of many."""
    every = [str(name) for name in names]
    more = f" and {len(every) - most} more" if len(every) > most else ""
    return ", ".join(every[:most]) + more
