"""What is audited: labeled and unlabeled rows, read from tables, folders of images, or texts."""

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

Matrix = npt.NDArray[Any]
Labels = npt.NDArray[np.object_]


@dataclass(frozen=True, eq=False)
class Pair:
    """Labeled rows with their classes y (words), and unlabeled rows, both as they were read.

    labeled, unlabeled: frames of the columns that both have (tabular), arrays of bytes (image) or
    of texts. lost: columns of the labeled rows that the unlabeled ones lack.
    """

    labeled: Any
    y: Labels
    unlabeled: Any
    kind: Kind = "tabular"
    lost: tuple[str, ...] = ()
    notes: list[str] = field(default_factory=list)
    rows: npt.NDArray[np.intp] | None = None  # numbers of the unlabeled ones, of a sample

    def __post_init__(self) -> None:
        if not len(self.unlabeled):
            raise InputError("there are no unlabeled rows")
        counts = pd.Series(self.y).value_counts()
        if len(counts) < 2:
            raise InputError(f"the labeled rows have {len(counts)} class, and two are needed")
        if len(counts) > len(self.y) / FEWEST:
            raise InputError(
                f"the target has {len(counts)} different values in {len(self.y)} rows: an audit is "
                f"of classes, with {FEWEST} labeled rows each or more"
            )
        if counts.min() < FEWEST:
            raise InputError(
                f"the class {counts.index[-1]!r} has {counts.min()} labeled rows, and an audit "
                f"needs {FEWEST} of each"
            )

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


def take(X: Any, rows: npt.NDArray[np.intp]) -> Any:
    return X.iloc[rows] if isinstance(X, pd.DataFrame) else X[rows]


FEWEST = 5  # labeled rows of a class


def read(labeled: str | Path, unlabeled: str | Path | None, target: str, text: str | None) -> Pair:
    """The pair in two files (or in one, of which some targets are empty), or in two folders of
    images.
    """
    first, second = Path(labeled), None if unlabeled is None else Path(unlabeled)
    for path in filter(None, (first, second)):
        if not path.exists():
            raise InputError(f"there is no file or folder {path}")
    if first.is_dir():
        return _images(first, second)
    frame = read_frame(first)
    if not target:
        raise InputError("name the column that holds the classes: --target COLUMN")
    if target not in frame:
        raise unknown(f"column of {first}", target, map(str, frame.columns))
    empty = frame[target].isna()
    if second is None:
        if not empty.any():
            raise InputError(
                f"every row of {first} has a {target}: name a second file of unlabeled rows, or "
                f"leave {target} empty where it is not known"
            )
        return of_frames(frame[~empty], frame.loc[empty].drop(columns=target), target, text)
    notes = [f"{empty.sum()} rows of {first} have no {target}, and were left out."]
    other = read_frame(second)
    if target in other:
        notes.append(f"{second} has a column {target}, which was not looked at.")
    pair = of_frames(frame[~empty], other.drop(columns=target, errors="ignore"), target, text)
    pair.notes[:0] = notes if empty.any() else notes[1:]
    return pair


def of_frames(
    labeled: pd.DataFrame, unlabeled: pd.DataFrame, target: str, text: str | None = None
) -> Pair:
    """The pair of two frames, of which the first has the classes."""
    y = classes_of(labeled[target])
    labeled, notes = labeled.drop(columns=target), []
    if not labeled.shape[1]:
        raise InputError(f"there is no column but {target}")
    text = text or _text_column(labeled)
    if text is not None:
        return _texts(labeled, y, unlabeled, text)
    both = [name for name in labeled if name in unlabeled]
    if not both:
        raise InputError("labeled and unlabeled rows have no column in common")
    extra = [str(name) for name in unlabeled if name not in labeled]
    if extra:
        notes.append(f"Only the unlabeled rows have {_list(extra)}: left out.")
    named = [name for name in both if _is_a_name(labeled[name])]
    if named:
        notes.append(f"Different in nearly every row, like a name, and left out: {_list(named)}.")
    kept = [name for name in both if name not in named]
    if not kept:
        raise InputError("no column is left that says anything about a row")
    lost = tuple(
        str(name) for name in labeled if name not in unlabeled and not _is_a_name(labeled[name])
    )
    columns = [*kept, *(name for name in labeled if str(name) in lost)]
    return Pair(labeled[columns], y, unlabeled[kept], lost=lost, notes=notes)


def classes_of(column: pd.Series) -> Labels:
    """The classes as words: 1 and 1.0 are one class."""
    if pd.api.types.is_float_dtype(column) and (column % 1 == 0).all():
        column = column.astype(int)
    return np.asarray(column.astype(str), object)


def is_number(column: pd.Series) -> bool:
    return bool(pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column))


def _is_a_name(column: pd.Series) -> bool:
    """Whether a column of words has another word in nearly every row, as ids and dates do."""
    return not is_number(column) and column.nunique() > max(50, len(column) / 2)


def _text_column(frame: pd.DataFrame) -> str | None:
    """The one column, if it holds sentences."""
    if frame.shape[1] != 1 or is_number(frame.iloc[:, 0]):
        return None
    words = frame.iloc[:, 0].dropna().astype(str).str.split().str.len()
    return str(frame.columns[0]) if words.mean() > 3 else None


def _texts(labeled: pd.DataFrame, y: Labels, unlabeled: pd.DataFrame, text: str) -> Pair:
    for frame, whose in ((labeled, "labeled"), (unlabeled, "unlabeled")):
        if text not in frame:
            raise unknown(f"column of the {whose} rows", text, map(str, frame.columns))
    columns = [frame[text].fillna("").astype(str) for frame in (labeled, unlabeled)]
    full = [np.asarray(column.str.strip() != "") for column in columns]
    rows = [np.asarray(column, object)[f] for column, f in zip(columns, full, strict=True)]
    blank = sum(int((~f).sum()) for f in full)
    notes = [f"{blank} rows without a word were left out."] if blank else []
    return Pair(rows[0], y[full[0]], rows[1], kind="text", notes=notes)


def _images(labeled: Path, unlabeled: Path | None) -> Pair:
    """labeled/CLASS/*.png, and all images below the other folder."""
    if unlabeled is None or not unlabeled.is_dir():
        raise InputError(f"{labeled} is a folder: name a second folder, of the unlabeled images")
    files, others = image_files(labeled), image_files(unlabeled)
    if {len(file.relative_to(labeled).parts) for file in files} != {2}:
        raise InputError(f"{labeled} must hold images as CLASS/file")
    y = np.array([file.parent.name for file in files], object)
    if not others:
        raise InputError(f"{unlabeled} holds no images")
    X, Z = (np.stack([read_image(file, 32) for file in part]) for part in (files, others))
    return Pair(X, y, Z, kind="image")


def _list(names: list[Any], most: int = 5) -> str:
    shown = ", ".join(str(name) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
