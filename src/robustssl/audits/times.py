"""Columns that say when a row was made, and whether time separates the two files."""

import numpy as np
import numpy.typing as npt
import pandas as pd

from robustssl.audits import remarks
from robustssl.audits.folds import Both

Times = npt.NDArray[np.float64]

DAYS = (
    *("%Y/%m/%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y"),
    *("%d %b %Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y"),
)
FORMS = ("ISO8601", *DAYS, *(f"{day} {clock}" for day in DAYS for clock in ("%H:%M", "%H:%M:%S")))
CENTURY = 1.0e9, 2.2e9  # seconds since 1970 of the years 2001 to 2039
TRIED = 200  # values that choose the form


def times_of(column: pd.Series) -> Times | None:
    """Seconds since 1970, nan where there is no time; or None if the column holds no times.

    Times are dates in a common form, numbers of days as YYYYMMDD, or Unix time of this century.
    """
    if pd.api.types.is_bool_dtype(column):
        return None
    if pd.api.types.is_datetime64_any_dtype(column):
        return _seconds(pd.to_datetime(column, utc=True))
    if pd.api.types.is_numeric_dtype(column):
        return _of_numbers(column)
    words = column.astype(object).where(column.isna(), column.astype(str)).str.strip()
    some = words.dropna()[:TRIED]
    if not some.str.fullmatch(r"\D{0,10}\d{1,4}\D.*\d.*|\d{8}(T.*)?").mean() > 0.9:
        return None
    read = {form: _parsed(some, form).notna().sum() for form in FORMS}
    best = max(FORMS, key=lambda form: read[form])
    found = _parsed(words, best)
    return _seconds(found) if found.notna().sum() > 0.9 * words.notna().sum() else None


def _parsed(words: pd.Series, form: str) -> pd.Series:
    return pd.to_datetime(words, format=form, errors="coerce", utc=True)


def _of_numbers(column: pd.Series) -> Times | None:
    known = column.dropna()
    if not len(known) or not (np.isfinite(known) & (known % 1 == 0)).all():
        return None
    for scale in (1.0, 1e3, 1e6, 1e9):  # seconds, milli-, micro- and nanoseconds
        if known.between(*(scale * end for end in CENTURY)).all():
            return np.asarray(column, float) / scale
    if known.between(19000101, 21001231).all():
        days = _parsed(column.astype("Int64").astype(str), "%Y%m%d")
        return _seconds(days) if days.notna().sum() == len(known) else None
    return None


def _seconds(moments: pd.Series) -> Times:
    since = (moments - pd.Timestamp(0, tz="UTC")) / pd.Timedelta(seconds=1)
    return np.asarray(since, float)


def separation(time: Both) -> str:
    """How completely time separates the unlabeled from the labeled rows, in a sentence."""
    labeled, unlabeled = (part[~np.isnan(part)] for part in time)
    if not len(labeled) or not len(unlabeled):
        return remarks.NO_TIME
    later, earlier = (unlabeled > labeled.max()).mean(), (unlabeled < labeled.min()).mean()
    if max(later, earlier) < 0.5:
        return remarks.SAME_TIME.format(later=later, earlier=earlier)
    word, share = ("later", later) if later >= earlier else ("earlier", earlier)
    return remarks.OTHER_TIME.format(word=word, share=share)
