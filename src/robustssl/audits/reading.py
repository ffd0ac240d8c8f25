"""How rows are read: from two tables, from one with empty targets, or from folders of images."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from robustssl import registry
from robustssl.audits import remarks
from robustssl.audits.folds import Both
from robustssl.audits.roles import is_text
from robustssl.audits.rows import Classes, Pair, is_number, texts_of
from robustssl.audits.tables import pair_of_tables
from robustssl.audits.times import times_of
from robustssl.data import AUTO, ENCODERS
from robustssl.datasets.image_folder import image_files, read_image
from robustssl.datasets.table import read_frame
from robustssl.errors import InputError, unknown

NUMBERS = 20  # values of a target with fractions that may be classes
SIZE, SMALL = 128, 32  # of an image, in pixels; the second is that of images without an encoder


def read(
    labeled: str | Path,
    unlabeled: str | Path | None,
    target: str,
    text: str | None = None,
    drop: Sequence[str] = (),
    encoder: str = "auto",
    time: str | None = None,
    group: str | None = None,
) -> Pair:
    """The pair in two files, in one file with some empty targets, or in two folders of images."""
    first, second = Path(labeled), None if unlabeled is None else Path(unlabeled)
    for path in filter(None, (first, second)):
        if not path.exists():
            raise InputError(f"there is no file or folder {path}")
    if first.is_dir():
        return _images(first, second, encoder)
    if second is not None and second.is_dir():
        raise InputError(f"{first} is a file, but {second} is a folder")
    if not target:
        raise InputError("the column that holds the classes must be named: --target COLUMN")
    frame = read_frame(first, target)
    if target not in frame:
        raise unknown(f"column of {first}", target, map(str, frame.columns))
    empty, notes = frame[target].isna(), []
    if second is None:
        if not empty.any():
            raise InputError(
                f"every row of {first} has a {target}: name a second file with unlabeled rows, or "
                f"leave {target} empty where it is not known"
            )
        other = frame.loc[empty].drop(columns=target)
    else:
        if empty.any():
            notes.append(remarks.NO_TARGET.format(rows=empty.sum(), file=first, target=target))
        other = read_frame(second)
        if target in other:
            notes.append(remarks.IGNORED_TARGET.format(file=second, target=target))
        other = other.drop(columns=target, errors="ignore")
    pair = of_frames(frame[~empty], other, target, text, drop, encoder, time, group)
    pair.notes[:0] = notes
    return pair


def of_frames(
    labeled: pd.DataFrame,
    unlabeled: pd.DataFrame,
    target: str,
    text: str | None = None,
    drop: Sequence[str] = (),
    encoder: str = "auto",
    time: str | None = None,
    group: str | None = None,
) -> Pair:
    """The pair of two frames; the first has the classes. time, group: columns that say when a row
    was made and which rows belong together; they are not compared.
    """
    if target not in labeled:
        raise unknown("column of the labeled rows", target, map(str, labeled.columns))
    for name in (*drop, *filter(None, (time, group))):
        if name == target:
            raise InputError(f"{target} is the target: it cannot be dropped, or be a time or group")
        if name not in labeled and name not in unlabeled:
            raise unknown("column", name, map(str, labeled.columns))
    y, files = _classes_of(labeled[target]), (labeled, unlabeled)
    aside: dict[str, Any] = {
        "source": unlabeled.drop(columns=target, errors="ignore"),
        "time": None if time is None else _times(_column(files, time)),
        "group": None if group is None else _groups(_column(files, group)),
    }
    gone = [*drop, *filter(None, (time, group))]
    labeled = labeled.drop(columns=[target, *gone], errors="ignore")
    unlabeled = unlabeled.drop(columns=gone, errors="ignore")
    if not labeled.shape[1]:
        raise InputError(f"the labeled rows have no column besides {target}")
    text = text or _text_column(labeled)
    if text is not None:
        return _texts(labeled, y, unlabeled, text, encoder, **aside)
    return pair_of_tables(labeled, y, unlabeled, **aside)


def _column(files: tuple[pd.DataFrame, pd.DataFrame], name: str) -> pd.Series:
    """A column that both files must have: the labeled rows, then the unlabeled rows."""
    for frame, whose in zip(files, ("labeled", "unlabeled"), strict=True):
        if name not in frame:
            raise InputError(f"the {whose} rows have no column {name}")
    return pd.concat([frame[name] for frame in files], keys=range(2))


def _times(column: pd.Series) -> Both:
    found = times_of(column)
    if found is None and not is_number(column):
        raise InputError(f"the column {column.name} holds no times, such as 2024-12-31 or numbers")
    return _both(column, column.to_numpy(float) if found is None else found)


def _groups(column: pd.Series) -> Both:
    """A number for each group; a row without a group is one of its own."""
    codes = pd.factorize(column)[0]
    return _both(column, np.where(codes < 0, len(codes) + np.arange(len(codes)), codes))


def _both(column: pd.Series, values: npt.NDArray[Any]) -> Both:
    return Both(*np.split(values, [int((column.index.get_level_values(0) == 0).sum())]))


def _classes_of(column: pd.Series) -> Classes:
    """The classes as they were read; whole numbers that became fractions by a gap are whole. Other
    numbers are no classes, unless they are few.
    """
    if pd.api.types.is_float_dtype(column) and (column % 1 == 0).all():
        column = column.astype(int)
    if pd.api.types.is_float_dtype(column) and column.nunique() > NUMBERS:
        raise InputError(f"{column.name} {remarks.REGRESSION.format(values=column.nunique())}")
    if is_number(column):
        return np.asarray(column)
    return np.asarray(column.astype(str), object)


def _text_column(frame: pd.DataFrame) -> str | None:
    """The only column, if it holds sentences."""
    return frame.columns[0] if frame.shape[1] == 1 and is_text(frame.iloc[:, 0]) else None


def _texts(
    labeled: pd.DataFrame,
    y: Classes,
    unlabeled: pd.DataFrame,
    text: str,
    encoder: str,
    source: pd.DataFrame,
    **aside: Any,
) -> Pair:
    for frame, whose in ((labeled, "labeled"), (unlabeled, "unlabeled")):
        if text not in frame:
            raise unknown(f"column of the {whose} rows", text, map(str, frame.columns))
    X, Z = (texts_of(frame[text]) for frame in (labeled, unlabeled))
    full = [np.array([bool(x.strip()) for x in rows], bool) for rows in (X, Z)]
    empty = sum(int((~f).sum()) for f in full)
    notes = [remarks.NO_TEXT.format(rows=empty)] if empty else []
    rows = (X[full[0]], y[full[0]], Z[full[1]])
    kept: dict[str, Any] = {
        name: both and Both(both.labeled[full[0]], both.unlabeled[full[1]])
        for name, both in aside.items()
    }
    kept["source"] = source[full[1]]
    return _encoded(Pair(*rows, kind="text", text=text, notes=notes, **kept), encoder)


def _encoded(pair: Pair, asked: str) -> Pair:
    """With the encoder that is asked for, and a note that says so."""
    found = registry.canonical("encoder", AUTO[pair.kind] if asked == "auto" else asked)
    try:
        getattr(registry.encoder(found), "width", None)  # fails before anything takes long
    except InputError as error:
        raise InputError(f"{error}; or use --encoder {ENCODERS[pair.kind]}") from error
    note = remarks.ENCODER.format(kind=pair.kind, encoder=found)
    return replace(pair, encoder=found, notes=[*pair.notes, note])


def _images(labeled: Path, unlabeled: Path | None, encoder: str) -> Pair:
    """The images in labeled/CLASS/, and all images below the other folder."""
    if unlabeled is None or not unlabeled.is_dir():
        raise InputError(f"{labeled} is a folder: name a second folder with the unlabeled images")
    files, others = image_files(labeled), image_files(unlabeled)
    if {len(file.relative_to(labeled).parts) for file in files} != {2}:
        raise InputError(f"{labeled} must hold images as CLASS/file")
    if not others:
        raise InputError(f"{unlabeled} holds no images")
    y = np.array([file.parent.name for file in files], object)
    size = SMALL if encoder == "pixels" else SIZE
    rows = images_of(files, size), y, images_of(others, size)
    source = pd.DataFrame({"file": [str(file) for file in others]})
    return _encoded(Pair(*rows, kind="image", source=source), encoder)


def images_of(files: Sequence[str | Path], size: int = SIZE) -> npt.NDArray[np.uint8]:
    """The images in files, in the size that an audit uses."""
    return np.stack([read_image(Path(file), size) for file in files])
