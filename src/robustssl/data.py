"""The plain types that modules exchange: a dataset, the pools of its rows, a split."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from robustssl.errors import InputError, unknown
from robustssl.spec import parse

UNLABELED = -1

Kind = Literal["tabular", "image", "text", "vectors"]
Rows = npt.NDArray[np.intp]

ENCODERS = {"image": "pixels", "text": "tfidf"}  # of a dataset that names none
AUTO = {"image": "efficientnet_lite0", "text": "minilm"}  # the encoders that `auto` stands for
UNBANKED = ("", "pixels", "tfidf", "none", "given")  # encoders whose vectors are not kept in banks


def digest(*arrays: npt.NDArray[Any]) -> str:
    """sha256 of the arrays' shapes and values."""
    sha = hashlib.sha256()
    for array in arrays:
        sha.update(f"{array.dtype.str}{array.shape}".encode())
        sha.update(np.ascontiguousarray(array).data)
    return sha.hexdigest()


def as_array(X: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """X itself or, of texts, one string that holds them all."""
    return np.array("".join(f"{len(str(x))} {x}" for x in X)) if X.dtype == object else X


def contents(X: npt.NDArray[Any]) -> list[Any]:
    """What each row holds, to be compared; of vectors that come with those of views, the first."""
    if X.dtype == object:
        return [str(x) for x in X]
    rows = np.ascontiguousarray(X[:, 0] if X.ndim == 3 else X).reshape(len(X), -1)
    if np.issubdtype(rows.dtype, np.floating):
        rows = rows + rows.dtype.type(0)  # -0 equals 0
    found: list[Any] = rows.view(f"V{rows.itemsize * rows.shape[1]}").ravel().tolist()
    return found


@dataclass(frozen=True, eq=False)
class Dataset:
    """Rows X, class codes y (n,), 0 to K - 1, and maybe a domain for each row.

    X is (n, d) floats (tabular), (n, height, width, 1 or 3) bytes (image), (n,) texts, or vectors
    that come with those of views, (n, 1 + weak + strong, d) floats. `meta` names the classes, the
    owner, the licence, and counts the rows that splits leave out: `copies` of earlier rows, and
    `contradictions`, equal rows of different classes. `encoder` (a spec) makes vectors of images or
    texts; that of a dataset which names none is pixels or tfidf.
    """

    name: str
    X: npt.NDArray[Any]
    y: npt.NDArray[np.intp]
    kind: Kind = "tabular"
    domain: npt.NDArray[Any] | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)
    encoder: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "encoder", self.encoder or ENCODERS.get(self.kind, ""))
        if self.kind not in get_args(Kind):
            raise unknown(f"kind of {self.name}", self.kind, get_args(Kind))
        if len(self.y) == 0:
            raise InputError(f"{self.name} has no rows")
        if len(self.X) != len(self.y):
            raise InputError(f"{self.name}: {len(self.X)} rows, but {len(self.y)} labels")
        if self.domain is not None and len(self.domain) != len(self.y):
            raise InputError(f"{self.name}: {len(self.y)} rows, but {len(self.domain)} domains")
        getattr(self, f"_check_{self.kind}")()
        classes = np.unique(self.y)
        if not np.array_equal(classes, np.arange(len(classes))):
            raise InputError(f"{self.name}: class codes must run from 0 without a gap")
        firsts = self._firsts
        left_out = {
            "copies": int((firsts >= 0).sum() - (firsts == np.arange(len(firsts))).sum()),
            "contradictions": int((firsts < 0).sum()),
        }
        object.__setattr__(self, "meta", {**self.meta, **left_out})

    def _check_tabular(self) -> None:
        if self.X.ndim != 2 or not np.issubdtype(self.X.dtype, np.number) or not self.X.shape[1]:
            raise InputError(f"{self.name}: tabular data are a matrix of numbers")
        if not np.issubdtype(self.X.dtype, np.floating):
            object.__setattr__(self, "X", self.X.astype(float))
        bad = np.argwhere(~np.isfinite(self.X))
        if len(bad):
            row, column = bad[0]
            raise InputError(f"{self.name}: the value in row {row}, column {column} is not finite")

    def _check_image(self) -> None:
        if self.X.ndim != 4 or self.X.shape[-1] not in (1, 3) or self.X.dtype != np.uint8:
            raise InputError(f"{self.name}: images are bytes, (n, height, width, 1 or 3)")

    def _check_vectors(self) -> None:
        if self.X.ndim != 3 or not np.issubdtype(self.X.dtype, np.floating) or not self.X.size:
            raise InputError(f"{self.name}: vectors are floats, (n, 1 + weak + strong, d)")
        bad = np.argwhere(~np.isfinite(self.X))
        if len(bad):
            raise InputError(f"{self.name}: a number of row {bad[0][0]} is not finite")

    def _check_text(self) -> None:
        for row, text in enumerate(self.X):
            if not isinstance(text, str) or not text.strip():
                raise InputError(f"{self.name}: row {row} is not a text, or an empty one")

    @cached_property
    def sha256(self) -> str:
        domain = [] if self.domain is None else [as_array(self.domain)]
        return digest(as_array(self.X), self.y, *domain)

    @cached_property
    def _firsts(self) -> Rows:
        """For each row the first one that is equal in X, or -1 where such rows differ in class."""
        first: dict[Any, int] = {}
        equal = (first.setdefault(content, row) for row, content in enumerate(contents(self.X)))
        firsts = np.fromiter(equal, np.intp, len(self.y))
        contradicted = np.isin(firsts, firsts[self.y[firsts] != self.y])
        return np.where(contradicted, -1, firsts)

    @cached_property
    def without_copies(self) -> tuple["Dataset", Rows]:
        """The rows that count, and their row ids: of rows that are equal in X the first, and none
        of them where their classes differ.
        """
        rows = np.flatnonzero(self._firsts == np.arange(len(self.y)))
        if len(rows) == len(self.y):
            return self, rows
        for code in np.setdiff1d(self.y, self.y[rows]):
            raise InputError(
                f"{self.name}: every row of class {self.class_name(code)} equals a row of another "
                "class"
            )
        domain = None if self.domain is None else self.domain[rows]
        return replace(self, X=self.X[rows], y=self.y[rows], domain=domain), rows

    @property
    def loses_by_seed(self) -> bool:
        """Whether what a row loses is drawn for each seed; if its vectors are kept in a bank, it
        depends on the row alone, so that one bank serves all seeds.
        """
        return parse(self.encoder or "none")[0] in UNBANKED

    def class_name(self, code: int) -> str:
        return str(self.meta["classes"][code]) if "classes" in self.meta else str(code)


@dataclass(frozen=True, eq=False)
class Pools:
    """Row ids from which the splits of every t are made.

    `aside` are inconsistent rows that no split uses, kept to measure detection; `seed` is for what
    is drawn row by row.
    """

    data: Dataset
    labeled: Rows
    test: Rows
    consistent: Rows
    inconsistent: Rows
    aside: Rows
    seed: int

    @property
    def by_column(self) -> bool:
        """Whether features go missing in every unlabeled row, so that rows cannot be told apart."""
        return np.array_equal(self.consistent, self.inconsistent)


@dataclass(frozen=True, eq=False)
class ViewedRows:
    """Rows with views that were made before: those of a bank at the places `index`.

    The bank, (m, 1 + weak + strong, ...), holds of each row the row itself, weak views of it and
    strong ones; many of these may share one bank. As an array it is the rows themselves. `blocks`
    are the numbers of columns of each encoder, where vectors of several stand side by side.
    """

    bank: npt.NDArray[Any]
    index: Rows
    weak: int
    strong: int
    blocks: tuple[int, ...] = ()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return np.asarray(self.bank[self.index, 0], dtype)

    def __len__(self) -> int:
        return len(self.index)

    def __getitem__(self, rows: Any) -> "ViewedRows":
        return replace(self, index=self.index[rows])

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.index), *self.bank.shape[2:])

    @property
    def nbytes(self) -> int:
        return int(self.bank.nbytes)


@dataclass(frozen=True, eq=False)
class Split:
    """What a learner is fitted on and tested on: y is -1 where unlabeled; rows are row ids."""

    X: Any  # an array or, for nets, maybe `ViewedRows`
    y: npt.NDArray[np.intp]
    rows: Rows
    X_test: npt.NDArray[Any]
    y_test: npt.NDArray[np.intp]
    test_rows: Rows

    @property
    def digest(self) -> str:
        return digest(self.rows, self.y, self.test_rows)
