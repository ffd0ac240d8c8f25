"""What is audited: labeled and unlabeled rows, read from tables, folders of images, or texts."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.model_selection import train_test_split

from robustssl.data import Kind
from robustssl.datasets.image_folder import image_files, read_image
from robustssl.datasets.table import read_frame
from robustssl.errors import InputError, unknown

Classes = npt.NDArray[Any]

FEWEST = 5  # labeled rows of a class
FEWEST_UNLABELED = 30


@dataclass(frozen=True, eq=False)
class Pair:
    """Labeled rows with their classes y, and unlabeled rows, both as they were read.

    labeled, unlabeled: frames (tabular; the second has the columns that both have), arrays of bytes
    (image) or of texts, which are the column `text` of a frame. lost: columns of the labeled rows
    that the unlabeled ones lack.
    """

    labeled: Any
    y: Classes
    unlabeled: Any
    kind: Kind = "tabular"
    text: str | None = None
    lost: tuple[str, ...] = ()
    notes: list[str] = field(default_factory=list)
    rows: npt.NDArray[np.intp] | None = None  # numbers of the unlabeled ones, of a sample

    def __post_init__(self) -> None:
        counts = pd.Series(self.y).value_counts()
        if len(counts) > len(self.y) / FEWEST and len(counts) > 2:
            raise InputError(
                f"the target has {len(counts)} different values in {len(self.y)} rows: an audit is "
                f"of classes, with {FEWEST} labeled rows each or more"
            )
        if len(counts) < 2 or counts.iloc[1] < FEWEST:
            raise InputError(
                f"two classes with {FEWEST} labeled rows or more are needed; there are "
                + (", ".join(f"{n} of {name!r}" for name, n in counts.items()) or "no labeled rows")
            )
        if counts.min() < FEWEST:
            self._leave_out(counts.index[counts < FEWEST])
        if len(self.unlabeled) < FEWEST_UNLABELED:
            raise InputError(
                f"there are {len(self.unlabeled)} unlabeled rows, and {FEWEST_UNLABELED} or more "
                "are needed"
            )

    def _leave_out(self, rare: pd.Index) -> None:
        keep = np.flatnonzero(~pd.Series(self.y).isin(rare))
        object.__setattr__(self, "labeled", take(self.labeled, keep))
        object.__setattr__(self, "y", self.y[keep])
        self.notes.append(f"Left out, with fewer than {FEWEST} labeled rows each: {_list(rare)}.")

    def sample(self, labeled: int, unlabeled: int) -> "Pair":
        """With at most so many rows, drawn at random, labeled ones class by class."""
        chosen = np.arange(len(self.y))
        if len(self.y) > labeled:
            chosen, _ = train_test_split(
                chosen, train_size=labeled, stratify=self.y, random_state=0
            )
        rows = np.sort(np.random.default_rng(0).permutation(len(self.unlabeled))[:unlabeled])
        return replace(
            self,
            labeled=take(self.labeled, chosen),
            y=self.y[chosen],
            unlabeled=take(self.unlabeled, rows),
            rows=rows,
        )

    def without(self, columns: Sequence[str]) -> "Pair":
        """Of a table, the rows without some columns."""
        labeled, unlabeled = (
            frame[[name for name in frame if str(name) not in columns]]
            for frame in (self.labeled, self.unlabeled)
        )
        lost = tuple(name for name in self.lost if name not in columns)
        return replace(self, labeled=labeled, unlabeled=unlabeled, lost=lost)


def take(X: Any, rows: npt.NDArray[np.intp]) -> Any:
    return X.iloc[rows] if isinstance(X, pd.DataFrame) else X[rows]


def read(
    labeled: str | Path,
    unlabeled: str | Path | None,
    target: str,
    text: str | None = None,
    drop: Sequence[str] = (),
) -> Pair:
    """The pair in two files (or in one, of which some targets are empty), or in two folders of
    images.
    """
    first, second = Path(labeled), None if unlabeled is None else Path(unlabeled)
    for path in filter(None, (first, second)):
        if not path.exists():
            raise InputError(f"there is no file or folder {path}")
    if first.is_dir():
        return _images(first, second)
    if second is not None and second.is_dir():
        raise InputError(f"{first} is a file, but {second} is a folder")
    frame = read_frame(first)
    if not target:
        raise InputError("name the column that holds the classes: --target COLUMN")
    if target not in frame:
        raise unknown(f"column of {first}", target, map(str, frame.columns))
    frame[target] = _whole_target(first, frame[target])
    empty = frame[target].isna()
    if second is None:
        if not empty.any():
            raise InputError(
                f"every row of {first} has a {target}: name a second file of unlabeled rows, or "
                f"leave {target} empty where it is not known"
            )
        return of_frames(frame[~empty], frame.loc[empty].drop(columns=target), target, text, drop)
    notes = [f"{empty.sum()} rows of {first} have no {target}, and were left out."]
    other = read_frame(second)
    if target in other:
        notes.append(f"{second} has a column {target}, which was not looked at.")
    other = other.drop(columns=target, errors="ignore")
    pair = of_frames(frame[~empty], other, target, text, drop)
    pair.notes[:0] = notes if empty.any() else notes[1:]
    return pair


def _whole_target(path: Path, column: pd.Series) -> pd.Series:
    """The classes of a csv file, of which only an empty cell is none: NA and None are classes."""
    if path.suffix.lower() == ".parquet" or is_number(column) or not column.isna().any():
        return column
    words = read_frame(path, keep_default_na=False, dtype={column.name: str})[column.name]
    return words.where(words.str.strip() != "")


def of_frames(
    labeled: pd.DataFrame,
    unlabeled: pd.DataFrame,
    target: str,
    text: str | None = None,
    drop: Sequence[str] = (),
) -> Pair:
    """The pair of two frames, of which the first has the classes."""
    if target not in labeled:
        raise unknown("column of the labeled rows", target, map(str, labeled.columns))
    for name in drop:
        if name not in labeled and name not in unlabeled:
            raise unknown("column", name, map(str, labeled.columns))
    y, notes = classes_of(labeled[target]), list[str]()
    labeled = labeled.drop(columns=[target, *drop], errors="ignore")
    unlabeled = unlabeled.drop(columns=[*drop], errors="ignore")
    if not labeled.shape[1]:
        raise InputError(f"there is no column but {target}")
    text = text or _text_column(labeled)
    if text is not None:
        return _texts(labeled, y, unlabeled, text)
    both = [name for name in labeled if name in unlabeled]
    if not both:
        raise InputError("labeled and unlabeled rows have no column in common")
    extra = [name for name in unlabeled if name not in labeled]
    if extra:
        notes.append(f"Only the unlabeled rows have {_list(extra)}: left out.")
    named = [name for name in labeled if _is_a_name(labeled[name], unlabeled.get(name))]
    if named:
        hint = next((f" (a text is read by --text {n})" for n in named if _is_text(labeled[n])), "")
        notes.append(
            f"Different in nearly every row, like a name, and left out: {_list(named)}{hint}."
        )
    kept = [name for name in both if name not in named]
    if not kept:
        raise InputError("no column is left that says anything about a row")
    lost = [name for name in labeled if name not in unlabeled and name not in named]
    labeled, unlabeled = labeled[[*kept, *lost]].copy(), unlabeled[kept].copy()
    for name in kept:
        labeled[name], unlabeled[name] = _alike(labeled[name], unlabeled[name])
    return Pair(labeled, y, unlabeled, lost=tuple(map(str, lost)), notes=notes)


def classes_of(column: pd.Series) -> Classes:
    """The classes as they were read; whole numbers that a gap made fractions are whole again."""
    if pd.api.types.is_float_dtype(column) and (column % 1 == 0).all():
        column = column.astype(int)
    if is_number(column):
        return np.asarray(column)
    return np.asarray(column.astype(str), object)


def is_number(column: pd.Series) -> bool:
    return bool(pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column))


def _alike(mine: pd.Series, theirs: pd.Series) -> tuple[pd.Series, pd.Series]:
    """Two columns as numbers, if one is and most of the other can be: what cannot is missing."""
    columns = [column.astype(float) if _is_truth(column) else column for column in (mine, theirs)]
    if is_number(columns[0]) != is_number(columns[1]):
        read = [pd.to_numeric(column, errors="coerce") for column in columns]
        if all(r.notna().sum() > 0.5 * c.notna().sum() for r, c in zip(read, columns, strict=True)):
            columns = read
    return columns[0], columns[1]


def _is_truth(column: pd.Series) -> bool:
    """Whether a column holds true and false, and maybe gaps."""
    return {type(value) for value in column.dropna()} <= {bool, np.bool_} and column.notna().any()


def _is_a_name(labeled: pd.Series, unlabeled: pd.Series | None) -> bool:
    """Whether a column says which row it is, as ids and dates do, or cannot be compared: words that
    differ in nearly every row, or numbers that count the rows.
    """
    try:
        distinct, rows = labeled.nunique(), len(labeled)
    except TypeError:  # of lists, say
        return True
    if not is_number(labeled):
        return bool(distinct > max(50, rows / 2) or distinct > max(20, 0.9 * rows))
    both = pd.concat([labeled, unlabeled]).dropna() if unlabeled is not None else labeled.dropna()
    if not is_number(both) or len(both) < 20 or both.nunique() < 0.9 * len(both):
        return False
    numbers = both.to_numpy(float)
    steps = np.diff(numbers)
    counts = np.ptp(numbers) < 2 * len(numbers) and (numbers % 1 == 0).all()
    return bool(counts or ((numbers % 1 == 0).all() and (steps > 0).mean() > 0.98))


def _is_text(column: pd.Series) -> bool:
    if is_number(column):
        return False
    words = column.dropna().astype(str).str.split().str.len()
    return bool(words.mean() > 3)


def _text_column(frame: pd.DataFrame) -> str | None:
    """The one column, if it holds sentences."""
    return frame.columns[0] if frame.shape[1] == 1 and _is_text(frame.iloc[:, 0]) else None


def _texts(labeled: pd.DataFrame, y: Classes, unlabeled: pd.DataFrame, text: str) -> Pair:
    for frame, whose in ((labeled, "labeled"), (unlabeled, "unlabeled")):
        if text not in frame:
            raise unknown(f"column of the {whose} rows", text, map(str, frame.columns))
    mine, theirs = (texts_of(frame[text]) for frame in (labeled, unlabeled))
    full = [np.array([bool(x.strip()) for x in rows], bool) for rows in (mine, theirs)]
    blank = sum(int((~f).sum()) for f in full)
    notes = [f"{blank} rows without a word were left out."] if blank else []
    return Pair(mine[full[0]], y[full[0]], theirs[full[1]], kind="text", text=text, notes=notes)


def texts_of(column: Any) -> npt.NDArray[np.object_]:
    """Texts, of which a missing one is empty."""
    return np.asarray(pd.Series(column, dtype=object).fillna("").astype(str), object)


def _images(labeled: Path, unlabeled: Path | None) -> Pair:
    """labeled/CLASS/*.png, and all images below the other folder."""
    if unlabeled is None or not unlabeled.is_dir():
        raise InputError(f"{labeled} is a folder: name a second folder, of the unlabeled images")
    files, others = image_files(labeled), image_files(unlabeled)
    if {len(file.relative_to(labeled).parts) for file in files} != {2}:
        raise InputError(f"{labeled} must hold images as CLASS/file")
    if not others:
        raise InputError(f"{unlabeled} holds no images")
    y = np.array([file.parent.name for file in files], object)
    return Pair(images_of(files), y, images_of(others), kind="image")


SIZE = 32  # of an image, in pixels


def images_of(files: Sequence[str | Path]) -> npt.NDArray[np.uint8]:
    """The images in files, as an audit reads them."""
    return np.stack([read_image(Path(file), SIZE) for file in files])


def _list(names: Any, most: int = 5) -> str:
    shown = ", ".join(str(name) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
