"""Frames, arrays and dicts as the cells of the columns that a model reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from thalweg.errors import InvalidInput
from thalweg.frames.arrow_columns import are_dicts, columns_of, names_by_place
from thalweg.frames.arrow_frame import array_of, pyarrow_for
from thalweg.frames.frame import Frame
from thalweg.frames.reading import frame_of
from thalweg.learners.base.rows import names_of
from thalweg.tables.cells import BadCell, parsed
from thalweg.tables.columns.column import Column
from thalweg.tables.encoder import Encoder
from thalweg.tables.sparse_rows import FEATURES

_MOST_NAMED = 5


def table_of(
    X: Any, encoder: Encoder, features: Sequence[str], *, lenient: bool = False, owner: str = "the model"
) -> Any:
    """The columns that are read, as a table of Arrow.

    ``features`` are the columns that the model began with. With ``lenient`` one that is absent is empty.
    """
    pa = pyarrow_for(X)
    known = {column.name: column for column in encoder.plan.columns}
    columns = {name: known.get(name) for name in encoder.sources}
    if are_dicts(X):
        if not lenient:
            present = list(dict.fromkeys(name for row in X for name in row))
            encoder.require_columns(present, "the row" if len(X) == 1 else "X")
        cells = {
            name: [row.get(name, None if column is None else column.default) for row in X]
            for name, column in columns.items()
        }
        return pa.table({name: _array(columns[name], values) for name, values in cells.items()})
    frame = frame_of(X)
    if frame is None:
        return pa.table(_by_place(X, list(columns), features, owner))
    named = {str(name): name for name in frame.names}
    if not lenient:
        encoder.require_columns(named, "X")
    for name in columns:
        if name in named and frame.names.count(named[name]) > 1:
            raise InvalidInput(f"X must have a different name for each column, got {name!r} more than once")

    def cells_of(name: str, column: Column | None) -> Any:
        if name in named:
            return _cells(column, frame, named[name])
        return pa.nulls(len(X)) if column is None else column.absent(len(X))

    return pa.table({name: cells_of(name, column) for name, column in columns.items()})


def quick_cells(rows: Sequence[Mapping[str, Any]], encoder: Encoder) -> list[Any] | None:
    """The parsed cells of dicts, by Arrow only for columns that need it; None where something is wrong."""
    columns = []
    for column in encoder.plan.columns:
        values = [row.get(column.name, column.default) for row in rows]
        try:
            cells, wrong = column.parse_values(values), list[tuple[int, str]]()
        except BadCell:
            return None
        if cells is None:
            cells, wrong = parsed(column, pyarrow_for(rows).chunked_array([array_of(values, column.name)]))
        absent = not any(column.name in row for row in rows)
        whole = column.required or encoder.missing == "error"
        if wrong or absent or (whole and column.missing(cells).any()):
            return None
        columns.append(cells)
    return columns


def refused(given: object, rule: str) -> InvalidInput:
    """For those who have encoded rows, what takes them."""
    return InvalidInput(f"{rule}, got a {type(given).__name__}: model.learner_ takes rows that are encoded already")


def require_width(given: int, wanted: int, owner: str) -> None:
    """Refuse an array of another width, in scikit-learn's words."""
    if given != wanted:
        raise InvalidInput(f"X has {given} features, but {owner} is expecting {wanted} features as input")


def _by_place(X: Any, columns: Sequence[str], features: Sequence[str], owner: str) -> dict[str, Any]:
    """The columns of an array, of a model that began with one."""
    is_sparse = hasattr(X, "tocsr")
    if list(features) != ([FEATURES] if is_sparse else names_by_place(len(features))):
        more = ", …" if len(columns) > _MOST_NAMED else ""
        named = ", ".join(map(repr, columns[:_MOST_NAMED])) + more
        if names_of(X) is not None:
            raise InvalidInput("X must be rows, got a single one: give it to predict_one, or a list of it, [row]")
        raise refused(X, f"X must be a frame with the columns {named}, or a list of dicts")
    given = columns_of(X)
    require_width(len(given), len(features), owner)
    return {name: given[name] for name in columns}


def _cells(column: Column | None, frame: Frame, name: Any) -> Any:
    """A column of a frame as an array of Arrow; pandas has dicts, too, where a column holds maps."""
    values = frame.column(name)
    if column is None or not column.nested or getattr(values, "dtype", None) != np.dtype(object):
        return frame.arrow_column(name)
    return _array(column, [None if value is None or value != value else value for value in values])


def _array(column: Column | None, values: list[Any]) -> Any:
    """Cells of dicts as an array of Arrow."""
    if column is None:
        return array_of(values)
    try:
        cells = column.as_arrow(values)
    except BadCell as error:
        raise InvalidInput(f"X, row {error.at}, column {column.name!r}: {error.what}") from None
    return array_of(values, column.name) if cells is None else cells
