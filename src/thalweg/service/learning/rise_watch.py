"""Why the error of a live model rose: the rows whose labels came, examined as `thalweg run` examines its rows.

Rises are those that the scores of the model found, and short ones. Both are functions of the records, and so are the
numbers of rows: nothing depends on how records come together.

Cost: O(p) a label for p watched columns. Memory, also in a snapshot: 2,048 rows of p numbers, and 4,096 marks.
"""

from __future__ import annotations

import copy
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.evaluate.block_scores import BLOCK
from thalweg.evaluate.error_causes import ErrorCauses
from thalweg.evaluate.input_drift import InputDrift
from thalweg.evaluate.short_rises import ShortRises

#: Marks that are kept. A row from before the first of them gets its number.
_MARKS = 4096
#: Rises that are kept for alerts.
_RISES = 20
#: The number of a row that came before the columns were watched.
UNKNOWN = 0


class RowNumbers:
    """Numbers of rows by their records, from marks that are at least 64 rows apart: at most 63 too low.

    Examples
    --------
    >>> numbers = RowNumbers()
    >>> for seq, rows in ((2, 100), (4, 10), (6, 10)):
    ...     numbers.add(seq, rows)
    >>> [numbers.of(*place) for place in ((1, 0), (2, 99), (4, 3), (6, 0))]
    [0, 100, 104, 101]
    """

    def __init__(self) -> None:
        self.rows = 0
        #: The first record.
        self.first: int | None = None
        self._seqs: list[int] = []
        self._before: list[int] = []

    def add(self, seq: int, rows: int) -> None:
        """Count the rows of the next record."""
        self.first = seq if self.first is None else self.first
        if not self._before or self.rows - self._before[-1] >= BLOCK:
            self._seqs.append(seq)
            self._before.append(self.rows)
            del self._seqs[:-_MARKS], self._before[:-_MARKS]
        self.rows += rows

    def of(self, seq: int, row: int) -> int:
        """The number of a row, from 1, by its record and its place there; `UNKNOWN` before the first record."""
        if self.first is None or seq < self.first:
            return UNKNOWN
        return self._before[max(bisect_right(self._seqs, seq) - 1, 0)] + row + 1

    def state(self) -> dict[str, Any]:
        return {"rows": self.rows, "first": self.first}

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {"seqs": np.array(self._seqs, dtype=np.int64), "before": np.array(self._before, dtype=np.int64)}

    def restore(self, state: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        self.rows, self.first = int(state["rows"]), state["first"]
        self._seqs, self._before = arrays["seqs"].tolist(), arrays["before"].tolist()


class RiseWatch:
    """Examines rises of the error of one model."""

    def __init__(self) -> None:
        #: None before the first label.
        self.causes: ErrorCauses | None = None
        self.short = ShortRises()
        #: Rises that the scores of the model found: how many, and the last of them.
        self.count = 0
        self.found: list[dict[str, Any]] = []
        #: Scored rows up to the last one whose columns are not known: rises that began before are not examined.
        self._since = 0

    @property
    def rows(self) -> int:
        """Scored rows so far."""
        return 0 if self.causes is None else self.causes.rows

    def begin(self, scored: int, whole: bool, is_category: Sequence[bool]) -> None:
        """So many rows were scored before the first one here; errors are those of labels, or of numbers."""
        self.causes, self.short = ErrorCauses(is_category), ShortRises(whole=whole)
        self.causes.skip(scored)
        self.short.skip(scored)
        self._since = scored

    def note(self, rises: Sequence[Mapping[str, Any]], row_of: Callable[[int], int]) -> None:
        """Rises were found; a function gives the number of a scored row."""
        for rise in rises:
            told = {"row": row_of(rise["found"]), "before": rise["before"], "seen": rise["after"]}
            self.found = [*self.found, told][-_RISES:]
            self.count += 1

    def add(
        self,
        numbers: NDArray[np.int64],
        errors: NDArray[Any],
        inputs: NDArray[np.float64],
        rises: Sequence[Mapping[str, Any]],
        drift: InputDrift,
    ) -> None:
        """Take in scored rows, as `ErrorCauses.add` does; the drift has seen all of them."""
        assert self.causes is not None
        found = [*rises, *(rise | {"short": True} for rise in self.short.add(errors))]
        found = [rise for rise in found if rise["row"] > self._since]
        self.causes.add(numbers, errors, inputs, found, drift.changes, drift.names)

    def skip(self, errors: NDArray[Any]) -> None:
        """Scored rows whose columns are not known; rows before and after them are not compared."""
        assert self.causes is not None
        self.short.add(errors)
        self.causes.forget(len(errors))
        self._since = self.causes.rows

    def frozen(self) -> RiseWatch:
        """For `results` in another thread while rows are added here."""
        found = copy.copy(self)
        found.causes = None if self.causes is None else self.causes.frozen()
        return found

    def results(self, drift: InputDrift) -> list[dict[str, Any]]:
        return [] if self.causes is None else self.causes.results(drift.changes, drift.names)

    def state(self) -> dict[str, Any]:
        causes = None if self.causes is None else self.causes.state()
        own = {"since": self._since, "count": self.count, "found": self.found}
        return {"causes": causes, "short": self.short.state(), **own}

    def arrays(self) -> dict[str, NDArray[Any]]:
        parts = {"short": self.short.arrays(), "causes": {} if self.causes is None else self.causes.arrays()}
        return {f"{part} {name}": values for part, own in parts.items() for name, values in own.items()}

    def restore(self, state: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        self._since, self.count, self.found = int(state["since"]), int(state["count"]), list(state["found"])
        self.short.restore(state["short"], part_of(arrays, "short "))
        if state["causes"] is not None:
            self.causes = ErrorCauses()
            self.causes.restore(state["causes"], part_of(arrays, "causes "))


def part_of(arrays: Mapping[str, NDArray[Any]], begin: str) -> dict[str, NDArray[Any]]:
    """The arrays whose names begin so, without that."""
    return {name.removeprefix(begin): each for name, each in arrays.items() if name.startswith(begin)}


def stretches(numbers: NDArray[np.int64]) -> Iterator[tuple[slice, bool]]:
    """Rows in a stretch each, and whether their numbers are known.

    Examples
    --------
    >>> list(stretches(np.array([0, 0, 7, 8])))
    [(slice(0, 2, None), False), (slice(2, 4, None), True)]
    """
    known = numbers != UNKNOWN
    if known.all():
        yield slice(0, len(numbers)), True
        return
    ends = [0, *(np.flatnonzero(np.diff(known)) + 1).tolist(), len(numbers)]
    for begin, end in pairwise(ends):
        if begin < end:
            yield slice(begin, end), bool(known[begin])
