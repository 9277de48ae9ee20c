"""Categories of any number, by cells: what each has learned of its rows, and estimators behind such columns.

A category comes as the number of a cell, by a hash of its name (`thalweg.tables`), so that memory is bounded. A target
counts when it is learned, after the features of its row were taken: neither a prediction nor a step of the learner ever
rests on the row's own target.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from numbers import Integral
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.metaestimators import available_if

from thalweg.errors import InvalidParameter
from thalweg.learners.base.rows import Floats
from thalweg.tables.columns.wide_category import CELLS, MOST_RATES

#: Rows of a cell, and of all cells together, at which their sums are halved, so that they follow changes.
MOST_IN_CELL, MOST_IN_ALL = 512, 65_536


class Touched(NamedTuple):
    """The cells of one column that some rows fall into, as lists, which are faster than arrays one by one."""

    #: The numbers of the cells, and for each row which of them it is in; -1 where its category is missing.
    cells: NDArray[np.int64]
    place: list[int]
    #: By cell what it has learned; the same of all cells together.
    sums: list[list[Any]]
    whole: list[Any]

    def of_row(self, row: int) -> list[list[Any]]:
        """What is summed for a row: that of its cell, and the whole; nothing where its category is missing."""
        place = self.place[row]
        return [] if place < 0 else [self.sums[place], self.whole]


class CellColumn:
    """By cell, how many rows it has and what is summed of them; the same of all cells."""

    #: Where the number of rows is among the sums, and which of them are never negative.
    rows_at: ClassVar[int]
    never_negative: ClassVar[Any]

    def __init__(self, at: int, sums: int, dtype: Any) -> None:
        self.at = at
        self._sums, self._dtype = sums, dtype
        self.forget()

    def forget(self) -> None:
        self.sums = np.zeros((CELLS, self._sums), dtype=self._dtype)
        self.whole: list[Any] = np.zeros(self._sums, dtype=self._dtype).tolist()

    def touched(self, X: Floats) -> Touched:
        numbers = X[:, self.at]
        cells = np.where(numbers < 0, -1.0, np.fmod(np.floor(numbers), CELLS)).astype(np.int64)
        different, place = (cells, np.zeros(1, np.int64)) if len(X) == 1 else np.unique(cells, return_inverse=True)
        if len(different) and different[0] < 0:
            different, place = different[1:], place - 1
        return Touched(different, place.tolist(), self.sums[different].tolist(), list(self.whole))

    def keep(self, touched: Touched) -> None:
        if len(touched.cells):
            self.sums[touched.cells] = touched.sums
        self.whole = touched.whole

    def state(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """The cells that have rows, and their sums, those of all cells last."""
        cells = np.flatnonzero(self.sums[:, self.rows_at])
        return cells.astype(np.int32), np.concatenate([self.sums[cells], np.array([self.whole], dtype=self._dtype)])

    def restore(self, cells: NDArray[Any], sums: NDArray[Any]) -> None:
        rising = cells.ndim == 1 and not (np.diff(cells.astype(np.int64)) <= 0).any()
        if not rising or (len(cells) and not 0 <= cells[0] <= cells[-1] < CELLS):
            raise ValueError("the cells of categories are out of bounds")
        fits = sums.dtype == self._dtype and sums.shape == (len(cells) + 1, self._sums)
        if not fits or not np.isfinite(sums).all() or (sums[:, self.never_negative] < 0).any():
            raise ValueError("the sums of categories do not fit their cells")
        self.forget()
        self.sums[cells] = sums[:-1]
        self.whole = sums[-1].tolist()


def learner_has(name: str) -> Any:
    return lambda model: hasattr(model.learner, name)


class BehindCategories(ABC):
    """An estimator whose ``learner`` is behind ``columns`` of categories."""

    learner: Any
    columns: Sequence[tuple[int, int]]

    _core: Any
    _fit_depends_on_order = True
    _why_not_merged = "what its learner saw depends on the order of the rows"

    def _check(self, kind: type, rule: str, features: int) -> None:
        if not isinstance(self.learner, kind):
            raise InvalidParameter.of(type(self).__name__, "learner", rule, self.learner)
        end = 0
        for at, width in self.columns:
            are_whole = isinstance(at, Integral) and isinstance(width, Integral)
            if not are_whole or at < end or not 1 <= width <= MOST_RATES or at + width > features:
                rule = f"be rising places among the {features} features with widths of 1 to {MOST_RATES}"
                raise InvalidParameter.of(type(self).__name__, "columns", rule, self.columns)
            end = at + width

    @abstractmethod
    def _known_targets(self) -> Any:
        """What the learner must know of the targets: the labels, or how many columns there are."""

    @property
    def learned(self) -> Any:
        """The learner with all it learned, to read from."""
        learner = clone(self.learner)
        self._learned_core()
        names = self.__dict__.get("feature_names_in_")
        learner._commit(self._core.last, self._known_targets(), None if names is None else tuple(names.tolist()))
        return learner

    def __getattr__(self, name: str) -> Any:
        """What the learner has learned beyond what every one has, such as ``rate_`` and ``members_``."""
        if not name.endswith("_") or name.startswith("_") or name == "feature_names_in_" or "_core" not in vars(self):
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        return getattr(self.learned, name)

    @available_if(learner_has("explain"))  # type: ignore[untyped-decorator]
    def explain(self) -> str:
        """What the learner says of itself."""
        return str(self.learned.explain())
