"""Tables in, rows of features out, by a plan: causal, and the same however the table is cut into chunks."""

from __future__ import annotations

import copy
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from thalweg.errors import InvalidInput
from thalweg.tables.cells import parsed
from thalweg.tables.columns.column import NOT_ONE, Column, Floats
from thalweg.tables.columns.number import NumberColumn, filled
from thalweg.tables.plan import Plan
from thalweg.tables.rows import BadRow, Chunk
from thalweg.tables.sentinels import LateSentinel

BadRows = Literal["error", "skip"]
#: Up to so many rows, columns of numbers are encoded at once: a call costs more than its rows. The digits are the same.
_FEW = 1024


@dataclass(frozen=True)
class Encoded:
    """The rows of a chunk that could be used."""

    #: A `scipy.sparse.csr_array` where the plan has a sparse column.
    X: Any
    #: Their places in the chunk.
    kept: NDArray[np.int64]
    #: The others, with those that could not even be read.
    bad: list[BadRow]
    #: The moments of each column of times, by name.
    times: dict[str, NDArray[np.datetime64]]
    #: Codes of missing values that were found: the place in the chunk, the column, the code.
    sentinels: list[tuple[int, NumberColumn, LateSentinel]]
    #: The parsed cells of each column of the plan.
    cells: list[Any]


class Encoder:
    """Columns of a table in, features out: the part of a `thalweg.TableClassifier` that knows the table.

    It remembers the categories and the means of the rows that it encoded to be learned. Rows that are only predicted
    change nothing.

    Attributes
    ----------
    plan : Plan
        What each column is.
    missing : {"mean", "error"}
        Whether a missing number becomes the mean so far, or makes its row bad.
    """

    def __init__(self, plan: Plan, *, bad_rows: BadRows = "error", missing: Literal["mean", "error"] = "mean") -> None:
        self.plan = plan
        self.bad_rows = bad_rows
        self.missing = missing
        #: The features from earlier rows, a `thalweg.history.history.History`; None for none.
        self.history: Any = None
        #: What to do about a bad row, behind its description.
        self.remedy = ""

    def encode(
        self,
        chunk: Chunk,
        *,
        learn: bool = True,
        unusable: Collection[tuple[int, str, str]] = (),
        misfits_are_missing: bool = False,
        order: NDArray[np.int64] | None = None,
    ) -> Encoded:
        """The features of each row; an `InvalidInput` that names file, row and column changes nothing.

        Parameters
        ----------
        chunk : Chunk
            The rows.
        learn : bool
            Whether to remember what was seen.
        unusable : collection of (place, column, what is wrong)
            Cells of other columns for which rows are bad, too.
        misfits_are_missing : bool
            Whether a cell that is not what its column is counts as missing.
        order : array, optional
            The steps of `follow`, by which features from earlier rows know targets; by default as the history says.
        """
        if self.history is not None and not chunk.added and len(chunk):
            chunk = self.history.extended(chunk, learn=learn, order=order)
        wrong = list(unusable)
        encoded: list[Any] = []
        for column in self.plan.columns:
            values, cells = self._parse(column, chunk, misfits_are_missing)
            wrong += [(at, column.name, what) for at, what in cells]
            encoded.append(values)
        bad = list(chunk.bad)
        taken: set[int] = set()
        for at, name, what in sorted(wrong, key=lambda cell: cell[0]):
            if at not in taken:
                bad.append(chunk.complaint(at, name, what))
                taken.add(at)
        if bad and self.bad_rows == "error":
            raise InvalidInput(f"{bad[0]}{self.remedy}")
        good = np.ones(len(chunk), dtype=np.bool_)
        good[list(taken)] = False
        kept = np.flatnonzero(good)
        chosen = encoded if good.all() else [_chosen(values, kept) for values in encoded]
        late = self._without_late_sentinels(chosen) if learn else []
        sentinels = [(int(kept[sentinel.at]), column, sentinel) for column, sentinel in late]
        clocks = {column.name: column.clock(values) for column, values in zip(self.plan.columns, chosen, strict=True)}
        times = {name: clock for name, clock in clocks.items() if clock is not None}
        return Encoded(self.features(chosen, len(kept), learn=learn), kept, bad, times, sentinels, chosen)

    def with_sparse_parsed(self, chunk: Chunk) -> Chunk:
        """A chunk that is encoded later with its sparse columns parsed: on another thread."""
        if len(chunk):
            chunk.parsed.update(
                {column.name: parsed(column, chunk.column(column.name)) for column in self.plan.sparse_columns}
            )
        return chunk

    def _without_late_sentinels(self, parsed: list[Any]) -> list[tuple[NumberColumn, LateSentinel]]:
        """Replace codes of missing values that the first rows did not have; those that were found."""
        sentinels: list[tuple[NumberColumn, LateSentinel]] = []
        if self.missing != "mean":
            return sentinels
        for i, column in enumerate(self.plan.columns):
            if isinstance(column, NumberColumn) and column.late is not None:
                parsed[i], new = column.late.treat(parsed[i])
                sentinels += [(column, sentinel) for sentinel in new]
        return sentinels

    def features(self, parsed: Sequence[Any], rows: int, *, learn: bool) -> Any:
        """The features of rows whose cells are parsed, column by column in the order of the plan.

        They are an array, or a `scipy.sparse.csr_array` where the plan has sparse columns: those stand behind all
        others.
        """
        X = np.empty((rows, len(self.plan.feature_names)))
        gaps = np.zeros(rows, dtype=np.bool_)
        numbers: list[tuple[NumberColumn, int, Floats]] = []
        start = 0
        for column, values in zip(self.plan.columns, parsed, strict=True):
            end = start + len(column.features)
            if isinstance(column, NumberColumn) and rows <= _FEW:
                numbers.append((column, start, values))
            else:
                column.encode(values, X[:, start:end], learn=learn)
                if not getattr(column, "indicator", False):
                    gaps |= column.missing(values)
            start = end
        if numbers:
            gaps |= self._numbers(numbers, X, learn=learn)
        if self.plan.marks_gaps:
            X[:, -1] = gaps
        return self._with_sparse(X, parsed) if self.plan.sparse_columns else X

    def row(self, x: Mapping[str, Any], *, learn: bool) -> Floats | dict[int, float] | None:
        """The features of one row, a dict, which a call for each column in NumPy or Arrow would make slow.

        With sparse columns they are a dict of those that are not zero. None, and nothing remembered, where there is
        more to it: a cell that is no plain value of its column, or a column that is absent.
        """
        columns = self.plan.columns
        if self.missing == "error" or self.plan.key is not None or self.history is not None:
            return None
        cells: list[Any] = []
        for column in columns:
            cell = column.parse_one(x[column.name]) if column.name in x else NOT_ONE
            if cell is NOT_ONE:
                return None
            cells.append(cell)
        features: list[float] = []
        gap = False
        for column, cell in zip(columns, cells, strict=True):
            is_missing = column.encode_one(cell, features, learn=learn)
            gap |= is_missing and not getattr(column, "indicator", False)
        if self.plan.marks_gaps:
            features.append(float(gap))
        if not self.plan.sparse_columns:
            return np.array(features)
        entries, start = {at: value for at, value in enumerate(features) if value}, len(features)
        for column, cell in zip(columns, cells, strict=True):
            if column.sparse:
                indices, values = column.compressed_one(cell)
                entries.update(zip((indices + start).tolist(), values.tolist(), strict=True))
                start += column.width
        return entries

    def _with_sparse(self, X: Floats, parsed: Sequence[Any]) -> Any:
        from scipy.sparse import csr_array, hstack

        # scipy would take 64-bit indices wherever one of its arrays has them.
        small = np.int32 if self.plan.width <= np.iinfo(np.int32).max else np.int64
        parts = [csr_array(X)] if X.shape[1] else []
        for column, cells in zip(self.plan.columns, parsed, strict=True):
            if column.sparse:
                indptr, indices, values = column.compressed(cells)
                arrays: Any = values, indices.astype(small, copy=False), indptr.astype(small)
                parts.append(csr_array(arrays, shape=(len(X), column.width)))
        return parts[0] if len(parts) == 1 else hstack(parts, format="csr")

    def _numbers(self, numbers: list[tuple[NumberColumn, int, Floats]], X: Floats, *, learn: bool) -> NDArray[np.bool_]:
        """Write all columns of numbers at once; which rows have a gap that no feature of its own marks."""
        columns = [column for column, _, _ in numbers]
        values = np.stack([values for _, _, values in numbers], axis=1)
        missing = np.isnan(values)
        X[:, [start for _, start, _ in numbers]] = filled(columns, values, missing, learn=learn)
        marked = np.array([column.indicator for column in columns])
        X[:, [start + 1 for column, start, _ in numbers if column.indicator]] = missing[:, marked]
        return np.asarray(missing[:, ~marked].any(axis=1))

    def _parse(self, column: Column, chunk: Chunk, misfits_are_missing: bool) -> tuple[Any, list[tuple[int, str]]]:
        """The values of a column, and the places where there is none, with the reason."""
        is_absent = column.optional and column.name not in chunk.column_names
        cells = column.absent(len(chunk)) if is_absent else None
        values, wrong = chunk.parsed.pop(column.name, None) or parsed(
            column, chunk.column(column.name) if cells is None else cells
        )
        if misfits_are_missing:
            wrong = []
        if self.missing == "error" or column.required:
            seen = {at for at, _ in wrong}
            places = (int(at) for at in np.flatnonzero(column.missing(values)))
            what = f"the {column.kind if column.required else 'value'} is missing{column.na_in_words()}"
            wrong += [(at, what) for at in places if at not in seen]
        return values, wrong

    def feature_names(self) -> tuple[str, ...]:
        """The names of the features in their order, with those categories that were seen."""
        named = (feature for column in self.plan.columns for feature in column.named_features())
        return (*named, *self.plan.marks)

    def require_columns(self, present: Collection[str], where: str) -> None:
        """Refuse a table that lacks a column; those that it has besides are of no account."""
        made = () if self.history is None else self.history.names
        for column in self.plan.columns:
            if column.name not in present and not column.optional and column.name not in made:
                what = f"{where} lacks the column {column.name!r} that the model learned from"
                raise InvalidInput(f"{what}: add it, with None where a value is missing")

    def state(self) -> dict[str, Any]:
        """All that was remembered, as JSON holds it."""
        return {column.name: column.state() for column in self.plan.columns}

    def restore(self, state: dict[str, Any]) -> None:
        """Take back what `state` gave."""
        for column in self.plan.columns:
            column.restore(state[column.name])

    def mark(self) -> list[Any]:
        """A point that `undo` returns to: unlike `state`, cheap whatever was remembered."""
        history = [] if self.history is None else [self.history.mark()]
        return [column.mark() for column in self.plan.columns] + history

    def undo(self, marks: list[Any]) -> None:
        """Forget what was remembered since `mark`, by one call of `encode` at the most."""
        for column, mark in zip(self.plan.columns, marks, strict=False):
            column.undo(mark)
        if self.history is not None:
            self.history.undo(marks[-1])

    def passing(self) -> AbstractContextManager[None]:
        """Inside, rows that are not learned follow one another: features from earlier rows see those before them."""
        return nullcontext() if self.history is None else self.history.passing()

    @property
    def accepted(self) -> tuple[str, ...]:
        """The columns that rows may have: those of the plan that are not made of earlier rows, and what these read."""
        if self.history is None:
            return self.plan.names
        own = [name for name in self.plan.names if name not in self.history.names]
        return tuple(dict.fromkeys([*own, *self.history.sources]))

    @property
    def sources(self) -> tuple[str, ...]:
        """The columns of a table that are read, in the order of the plan: those that features are made of come last."""
        if self.history is None:
            return tuple(column.name for column in self.plan.columns)
        own = [column.name for column in self.plan.columns if column.name not in self.history.names]
        return tuple(dict.fromkeys([*own, *self.history.sources]))

    def to_json(self) -> dict[str, Any]:
        """The whole encoder, as model files and journals hold it; of a history without its arrays."""
        history = {} if self.history is None else {"history": self.history.to_json()}
        return {"plan": self.plan.to_json(), "encoder": self.state(), "missing": self.missing, **history}

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> Encoder:
        """Back from `to_json`."""
        encoder = cls(Plan.from_json(kept["plan"]), missing=kept["missing"])
        encoder.restore(kept["encoder"])
        return encoder


def stack_rows(parts: Sequence[Any]) -> Any:
    """Features of several chunks one below the other, be they arrays or compressed rows."""
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    from scipy.sparse import vstack

    return vstack(parts, format="csr")


def rows_between(X: Any, begin: int, end: int) -> Any:
    """Consecutive rows of an array or of compressed rows; their values are not copied.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> rows_between(csr_array([[0, 1], [2, 0], [0, 3]]), 1, 3).toarray().tolist()
    [[2, 0], [0, 3]]
    """
    if isinstance(X, np.ndarray):
        return X[begin:end]
    first, last = X.indptr[begin], X.indptr[end]
    part = copy.copy(X)  # the constructor would check all arrays again, and a slice of SciPy's copies them
    part.indptr = X.indptr[begin : end + 1] - first
    part.indices, part.data = X.indices[first:last], X.data[first:last]
    part.resize(end - begin, X.shape[1])
    return part


#: The arrays of compressed rows.
_COMPRESSED = ("data", "indices", "indptr")


def _chosen(values: Any, kept: NDArray[np.int64]) -> Any:
    return (values[0][kept], values[1]) if isinstance(values, tuple) else values[kept]
