"""What the columns of a model are: as its creator says, or as its first rows show."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any

from thalweg.client.protocol import MOST_COLUMNS, MOST_TEXT
from thalweg.errors import InvalidInput
from thalweg.history.language import TARGET, Feature, parse_features
from thalweg.history.planning import settled, with_features
from thalweg.service.commands import Refused
from thalweg.service.learning.task import ModelTask
from thalweg.tables.cells import is_text, parsed, trimmed
from thalweg.tables.clock import Clock
from thalweg.tables.columns import DESCRIBED
from thalweg.tables.columns.category import is_category
from thalweg.tables.columns.column import Column
from thalweg.tables.columns.head import HASH_BITS
from thalweg.tables.columns.key import KeyColumn
from thalweg.tables.columns.map import map_keys
from thalweg.tables.columns.number import NumberColumn
from thalweg.tables.encoder import Encoder
from thalweg.tables.plan import Plan, plan_columns
from thalweg.tables.rows import Block, Chunk, Piece


def as_described(schema: Any, key: str | None = None) -> Encoder:
    """An encoder for the columns of a schema; `Refused` names what is wrong with it.

    ``key`` is the column of keys, whether the schema names it or not.

    Examples
    --------
    >>> described = {"columns": [{"name": "load", "kind": "number"}, {"name": "day", "kind": "category"}]}
    >>> as_described(described).plan.feature_names[:2]
    ('load', 'day = category 1')
    """
    described = schema.get("columns") if isinstance(schema, dict) else None
    if not isinstance(described, list) or not 0 < len(described) <= MOST_COLUMNS:
        raise Refused(422, f"a schema must have a list of 1 to {MOST_COLUMNS} columns")
    columns = [_column(column, at) for at, column in enumerate(described)]
    if key is not None:
        columns = [column for column in columns if column.name != key]
        if not columns:
            raise Refused(422, f"a schema must have a column beside the key {key!r}")
        columns.append(KeyColumn(key))
    if any(column.sparse for column in columns):
        columns = [column.among_sparse(HASH_BITS) for column in columns]
    names = tuple(column.name for column in columns)
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise Refused(422, f"a schema must name each column once, but {twice!r} is there twice")
    return Encoder(Plan(tuple(columns), {}, names, marks_gaps=not all(column.sparse for column in columns)))


def _column(said: Any, at: int, more: Collection[str] = ()) -> Column:
    if not isinstance(said, dict):
        raise Refused(422, f"column {at} of the schema must be an object with a name and a kind")
    name = said.get("name")
    if not isinstance(name, str) or not 0 < len(name) <= MOST_TEXT:
        raise Refused(422, f"column {at} of the schema must have a name of at most {MOST_TEXT} letters")
    owners = {option: kind for kind, column in DESCRIBED.items() for option in column.schema or ()}
    kind = said.get("kind")
    for option in sorted(set(said) - {"name", "kind", *more}):
        if option not in owners:
            raise Refused(422, f"column {name!r} of the schema must have no {option!r}")
        if owners[option] != kind:
            raise Refused(422, f"column {name!r} of the schema has {option} and must be of kind {owners[option]}")
    if not isinstance(kind, str) or kind not in DESCRIBED:
        raise Refused(422, f"the kind of column {name!r} must be {_either(DESCRIBED)}")
    try:
        return DESCRIBED[kind].described(name, said)
    except InvalidInput as error:
        raise Refused(422, str(error)) from error


def _either(kinds: Iterable[str]) -> str:
    *others, last = kinds
    return f"{', '.join(others)} or {last}"


def added_column(name: str, given: Any) -> Column:
    """A column that is added to a model, by its default or by what a schema says of it and the default.

    Examples
    --------
    >>> added_column("load", 0.5).features, added_column("day", "mon").kind
    (('load',), 'category')
    """
    said = given if isinstance(given, dict) else {"default": given}
    default = said.get("default")
    is_number = isinstance(default, int | float) and not isinstance(default, bool) and math.isfinite(default)
    kind = said.get("kind", "number" if is_number else "category")
    added_with = {column.kind: column.added_with for column in DESCRIBED.values() if column.added_with is not None}
    if kind not in added_with:
        raise Refused(422, f"column {name!r} cannot be added: it must be of kind {_either(added_with)}")
    if not (is_number if added_with[kind] is float else is_category(default)):
        what = "a number" if added_with[kind] is float else "a text" if "kind" in said else "a number or a text"
        raise Refused(422, f"column {name!r} cannot be added: its default must be {what}")
    column = _column({**said, "name": name, "kind": kind}, 0, {"default"})
    column.default = default
    if column.parse_values([default]) is None:
        _parsed_default(column)
    return column


def _parsed_default(column: Column) -> None:
    """`Refused` where the default is no cell of the column."""
    import pyarrow as pa

    try:
        _, wrong = parsed(column, column.absent(1))
    except (pa.ArrowException, ValueError, TypeError, OverflowError) as error:
        raise Refused(422, f"column {column.name!r} cannot be added: {' '.join(str(error).split())}") from error
    if wrong:
        raise Refused(422, f"column {column.name!r} cannot be added: {wrong[0][1]}")


def allowed_labels(schema: Any) -> list[str] | None:
    """The labels that a schema allows; None where it leaves them open."""
    labels = schema.get("labels") if isinstance(schema, dict) else None
    if labels is None:
        return None
    if not isinstance(labels, list) or not labels or not all(map(is_category, labels)):
        raise Refused(422, "the labels of a schema must be a list of texts")
    return list(dict.fromkeys(labels))


def of_table(table: Any, key: str | None = None) -> Encoder:
    """An encoder for the columns that a table of first rows shows; pyarrow's, whatever they came as.

    ``key`` is the column of keys. What these rows do not tell could never be learned later, so a column that shows
    nothing is refused.
    """
    import pyarrow as pa

    if key is not None and key not in table.column_names:
        raise Refused(422, f"row 0, column {key!r}: the key is missing")
    for name, cells in zip(table.column_names, table.columns, strict=True):
        if pa.types.is_nested(cells.type) and map_keys(cells.type) is None:
            why = f"has values of type {cells.type}, which cannot be learned: leave it out"
        elif cells.null_count == len(cells) or (is_text(cells) and trimmed(cells).null_count == len(cells)):
            why = "has no value in these first rows, which show what the columns are: fill it"
        else:
            continue
        raise Refused(422, f"column {name!r} {why}, or give a schema when the model is made")
    try:
        plan = plan_columns(_head(table), target=None, key=key)
    except InvalidInput as error:
        raise Refused(422, str(error)) from error
    return Encoder(plan)


def parsed_features(lines: Sequence[str]) -> tuple[Feature, ...]:
    """Features from earlier rows as they were sent; `Refused` says what is wrong with one."""
    try:
        return parse_features(lines)
    except InvalidInput as error:
        raise Refused(422, str(error)) from error


def with_earlier_rows(encoder: Encoder, task: ModelTask, table: Any = None) -> Encoder:
    """The same with the columns of features from earlier rows; `Refused` says what one of them cannot be made of.

    A ``table`` of first rows has all columns. Without one, columns that no schema names are read by features only.
    """
    if not task.features:
        return encoder
    plan, head, clock = encoder.plan, None if table is None else _head(table), None
    known = plan if task.has_classes else replace(plan, columns=(*plan.columns, NumberColumn(TARGET, indicator=False)))
    try:
        if (time := task.time_column) is not None:
            clock = time, Clock() if head is None else Clock.settle(time, _column_of(head, time))
        features = parse_features(task.features)
        history = settled(
            features, head, known, target=TARGET, classes=task.has_classes, label=task.positive, time=clock
        )
    except InvalidInput as error:
        raise Refused(422, str(error)) from error
    made: list[Column] = []
    for name in history.names:
        kind = {"kind": "category"} if history.is_of_words(name) else {"kind": "number", "missing": True}
        column = _column({"name": name, **kind}, 0)
        made.append(column.among_sparse(HASH_BITS) if plan.sparse_columns else column)
    plan = replace(plan, columns=(*plan.columns, *made), names=(*plan.names, *history.names))
    encoder = Encoder(with_features(plan, history))
    encoder.history = history
    return encoder


def _column_of(head: Chunk, name: str) -> Any:
    if name not in head.column_names:
        raise InvalidInput.of_column("time", name, head.column_names)
    return head.column(name)


def _head(table: Any) -> Chunk:
    return Chunk([Piece(Block(table, "the first rows", 1), 0, len(table))], [])
