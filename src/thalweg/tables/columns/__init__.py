"""Kinds of columns, one class each: `Column` says what a kind does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from thalweg.tables.arrow_types import is_learnable
from thalweg.tables.cells import OR_MISSING, brief
from thalweg.tables.columns.category import CategoryColumn
from thalweg.tables.columns.column import Column, RetiredColumn
from thalweg.tables.columns.head import ColumnHead
from thalweg.tables.columns.key import KeyColumn
from thalweg.tables.columns.map import MapColumn
from thalweg.tables.columns.number import DurationColumn, NumberColumn
from thalweg.tables.columns.text import TextColumn
from thalweg.tables.columns.time import TimeColumn
from thalweg.tables.columns.wide_category import HashedColumn, SparseCategoryColumn

#: Why a column is left out that begins later than the first rows end.
EMPTY = "left out: all of the first"
#: Those that first cells show, in the order in which they are asked; the last of them takes what is left.
DETECTED: tuple[type[Column], ...] = (
    *(MapColumn, DurationColumn, TimeColumn, NumberColumn, TextColumn, HashedColumn, CategoryColumn),
)
#: Those that a schema can name.
DESCRIBED = {column.kind: column for column in DETECTED if column.schema is not None}
_ALL: tuple[type[Column], ...] = (*DETECTED, SparseCategoryColumn, KeyColumn, RetiredColumn)
_KINDS: dict[str, Callable[..., Column]] = {column.kind: column for column in _ALL}


def detected(head: ColumnHead) -> Column | str:
    """What a column is, or why it is left out."""
    learnable = is_learnable(head.cells.type)
    if learnable and head.declared in (None, "numbers") and head.is_empty:
        return f"{EMPTY} {len(head.cells):,} values are missing: empty or {OR_MISSING}"
    for kind in DETECTED:
        if kind.nested is not learnable and head.declared in (None, kind.declared_as):
            column = kind.detect(head)
            if column is not None:
                return column
    return f"left out: values of type {brief(str(head.cells.type))} cannot be learned"


def column_from_json(kind: str, name: str, default: Any = None, **options: Any) -> Column:
    """A column as a file describes it, which may be forged: ValueError before it takes all memory."""
    column = _KINDS[kind](name, **options)
    if default is not None:
        column.default = default
    return column
