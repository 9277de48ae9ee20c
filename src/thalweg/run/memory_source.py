"""Rows in memory as a run reads them: an array, a frame of any library, a sparse matrix or a stream becomes blocks.

Cells are those of the table itself: numbers, categories, text, times and gaps are distinguished by the run, as in a
file.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from thalweg.errors import InvalidInput, InvalidParameter
from thalweg.frames.arrow_columns import columns_of, free_name, numbers_by_column, series_of, sparse_column
from thalweg.frames.arrow_frame import pyarrow_for
from thalweg.frames.reading import names_of_columns
from thalweg.learners.base.sparse_rows import is_sparse
from thalweg.parameters import whole_number
from thalweg.streams import Stream
from thalweg.tables import Block
from thalweg.tables.target import LabelType, label_type

#: Rows of a stream that are made at a time.
_ROWS = 8192


class MemorySource:
    """Rows and their targets as the blocks of one table, read from the beginning each time `blocks` is called.

    Parameters
    ----------
    X : array, frame, sparse matrix or Stream
        The rows. Columns of an array are called x1, x2, …
    y : array-like, str or None
        The targets, or the name of their column in X; None for a Stream, which has its own.
    time, label_time : array-like or str, optional
        When each row and its target come, or the names of columns in X. Arrays are no features.
    rows : int, optional
        Rows of a stream; by default its length.

    Examples
    --------
    >>> source = MemorySource([[0.5], [1.5]], ["dry", "wet"], time=[1, 2])
    >>> source.target, source.time, source.besides
    ('y', 'time', ('time',))
    >>> next(source.blocks()).table.column_names
    ['x1', 'y', 'time']
    """

    #: As those of a run over files: no files, no pipe, and no bytes to report.
    files: tuple[Any, ...] = ()
    is_pipe = False
    share: float | None = None
    #: What the labels are, once blocks were read; None for text.
    label_type: LabelType | None = None

    def __init__(
        self, X: Any, y: Any = None, *, time: Any = None, label_time: Any = None, rows: int | None = None
    ) -> None:
        self.given = type(X).__name__
        self._stream = X if isinstance(X, Stream) else None
        self._rows = rows
        self._columns: dict[str, Any] = {}
        if self._stream is not None:
            if y is not None:
                raise InvalidParameter.of("run", "y", "be left out for a Stream, which has its own", type(y).__name__)
            if rows is not None:
                whole_number("run", "rows", rows, least=1)
            taken = list(map(str, self._stream.feature_names))
        else:
            if isinstance(X, str):
                raise InvalidParameter.of("run", "X", "be an array, a frame, a sparse matrix or a Stream", X)
            self._columns = columns_of(X)
            taken = list(self._columns)
        if len(set(taken)) < len(taken):
            twice = next(name for name in taken if taken.count(name) > 1)
            raise InvalidInput(f"X must have a different name for each column, got {twice!r} more than once")
        #: Columns that came beside X and are no features.
        self.besides: tuple[str, ...] = ()
        if self._stream is not None:
            self.target = free_name("y", taken)
        elif y is None:
            raise InvalidParameter.of("run", "y", "be targets, or the name of their column in X", None)
        else:
            self.target = self._named("y", y, taken)
        self.time = None if time is None else self._named("time", time, taken)
        self.label_time = None if label_time is None else self._named("label_time", label_time, taken)

    def _named(self, argument: str, given: Any, taken: list[str]) -> str:
        """The name of a column of X, or of one that is given beside it."""
        if isinstance(given, str):
            if given not in taken:
                known = ", ".join(map(repr, taken[:20])) + (", …" if len(taken) > 20 else "")
                raise InvalidParameter.of("run", argument, f"name a column of X, which are {known}", given)
            return given
        if self._stream is not None:
            raise InvalidParameter.of("run", argument, "name a column of the Stream", type(given).__name__)
        own = getattr(given, "name", None)
        name = free_name(own if isinstance(own, str) and own else argument, taken)
        values = series_of(given, argument)
        rows = len(next(iter(self._columns.values())))
        if len(values) != rows:
            raise InvalidInput(
                f"{argument} must have one value for each of the {rows:,} rows of X, got {len(values):,}"
            )
        self._columns[name] = values
        taken.append(name)
        if argument != "y":
            self.besides += (name,)
        return name

    def describe(self) -> None:
        """There are no files to speak of."""

    def blocks(self) -> Iterator[Block]:
        """All rows of a table; those of a stream some at a time."""
        pa = pyarrow_for(self.given)
        if self._stream is None:
            self.label_type = label_type(self._columns[self.target])
            yield Block(pa.table(self._columns), self.given, 1, typed=True)
            return
        first = 1
        for X, y in self._stream.batches(_ROWS, self._rows):
            names = list(map(str, self._stream.feature_names))
            columns = (
                sparse_column(X)
                if is_sparse(X)
                else columns_of(X)
                if names_of_columns(X)
                else numbers_by_column(X, names)
            )
            table = pa.table(columns | {self.target: series_of(y, "y")})
            self.label_type = label_type(table.column(self.target))
            yield Block(table, self.given, first, typed=True)
            first += len(table)
