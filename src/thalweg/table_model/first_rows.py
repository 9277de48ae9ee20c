"""The rows that settle what the columns of a model are, kept until there are enough of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.frames.arrow_columns import are_dicts, columns_of, free_name
from thalweg.tables.rows import Block, Chunk, Piece


@dataclass
class Call:
    """Rows with their targets, and how they are learned."""

    #: Dicts, or a table of Arrow with all columns.
    rows: Any
    targets: Any
    #: The steps of `follow`; None where each row is learned as it comes.
    order: NDArray[np.int64] | None = None
    #: How the column of targets is called.
    target: str = "y"
    #: What the learner is given besides, as weights.
    options: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, X: Any, y: Any, order: Any, options: dict[str, Any]) -> Call:
        """Rows whose targets are not checked yet."""
        import pyarrow as pa

        named = getattr(y, "name", None)
        rows = list(X) if are_dicts(X) else pa.table(columns_of(X))
        return cls(rows, None, order, named if isinstance(named, str) and named else "y", options)

    @property
    def is_plain(self) -> bool:
        """Whether its rows can be put together with others that are dicts."""
        return isinstance(self.rows, list) and self.order is None and not self.options

    @property
    def names(self) -> list[str]:
        """All columns."""
        if isinstance(self.rows, list):
            return list(dict.fromkeys(str(name) for row in self.rows for name in row))
        names: list[str] = self.rows.column_names
        return names

    def table(self) -> Any:
        """The rows with all their columns."""
        import pyarrow as pa

        return pa.table(columns_of(self.rows)) if isinstance(self.rows, list) else self.rows

    def kept(self) -> Call:
        """The same with nothing in it that the caller may change."""
        rows = self.rows
        rows = list(map(dict, rows)) if isinstance(rows, list) else rows.take(np.arange(len(rows)))
        order = None if self.order is None else np.array(self.order, dtype=np.int64)
        targets = np.array(self.targets)
        options = {name: np.array(values) for name, values in self.options.items()}
        return Call(rows, targets, order, self.target, options)


class HeldRows:
    """What a model has learned whose columns are not settled yet, to be learned again once they are.

    The columns are planned anew whenever the number of rows has doubled, so that each row is learned about twice,
    however many come at a time.
    """

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.rows = 0
        #: How many rows were there when the columns were planned last.
        self.planned = 0

    def is_due(self, more: int, enough: int) -> bool:
        """Whether the columns are to be planned once these rows are there."""
        return self.rows + more >= min(2 * self.planned, enough)

    def add_one(self, row: dict[str, Any], target: Any) -> None:
        """The same of one row."""
        self.add(Call([row], np.array([target])))

    def add(self, call: Call) -> None:
        """Keep what was learned; dicts that came one by one are put together."""
        call = call.kept()
        self.rows += len(call.rows)
        last = self.calls[-1] if self.calls else None
        if last is not None and last.is_plain and call.is_plain:
            last.rows += call.rows
            last.targets = np.concatenate([last.targets, call.targets])
        else:
            self.calls.append(call)


def head_of(calls: Sequence[Call], most: int) -> tuple[Chunk, str]:
    """The first rows of these calls beside their targets, and how the column of targets is called."""
    import pyarrow as pa

    tables = [call.table() for call in calls]
    names = list(dict.fromkeys(name for table in tables for name in table.column_names))
    target, pieces = free_name(calls[0].target, names), list[Piece]()
    for call, table in zip(calls, tables, strict=True):
        rows = min(len(table), most - sum(piece.length for piece in pieces))
        if rows:
            columns = {
                name: table.column(name) if name in table.column_names else pa.nulls(len(table)) for name in names
            }
            targets = pa.array(call.targets if call.targets.ndim == 1 else call.targets[:, 0])
            pieces.append(Piece(Block(pa.table(columns | {target: targets}), "X", 0, typed=True), 0, rows))
    return Chunk(pieces, []), target
