"""Columns that change while a model lives: some are added with a default, some retired, some renamed.

Features of retired and renamed columns stay where they are, so learners continue. Those of added columns come behind
all others, before the mark of gaps; a learner for them has to be learned again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from thalweg.errors import InvalidInput
from thalweg.tables.columns import column_from_json
from thalweg.tables.columns.column import Column, Floats, RetiredColumn
from thalweg.tables.encoder import Encoder
from thalweg.tables.plan import Plan


@dataclass(frozen=True)
class ColumnChange:
    """What becomes of the columns of a model: new ones, each with its default, and old ones by their names."""

    add: Sequence[Column] = ()
    retire: Sequence[str] = ()
    rename: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        added = [column.to_json() | {"state": column.state()} for column in self.add]
        return {"add": added, "retire": list(self.retire), "rename": dict(self.rename)}

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> ColumnChange:
        added = []
        for entry in kept["add"]:
            described = {name: value for name, value in entry.items() if name != "state"}
            added.append(column_from_json(**described))
            added[-1].restore(entry["state"])
        return cls(added, kept["retire"], kept["rename"])


class Widening(NamedTuple):
    """Features that rows from before a record lack: their place, and their values for these rows."""

    seq: int
    place: int
    values: Sequence[float]

    def widened(self, X: Floats) -> Floats:
        """Rows with the features, which they lack.

        Examples
        --------
        >>> Widening(7, 1, (0.5, 0.25)).widened(np.array([[1.0, 0.0]])).tolist()
        [[1.0, 0.5, 0.25, 0.0]]
        """
        return np.insert(X, [self.place] * len(self.values), self.values, axis=1)


def changed(encoder: Encoder, change: ColumnChange) -> Encoder:
    """An encoder after a change; an `InvalidInput` names a column that cannot be changed so."""
    plan = encoder.plan
    known = {column.name: column for column in plan.columns}
    for name in (*change.retire, *change.rename):
        if name not in known or isinstance(known[name], RetiredColumn):
            raise InvalidInput(f"column {name!r} cannot be changed: the model learns from no such column")
        if known[name].required:
            raise InvalidInput(f"column {name!r} cannot be changed: it holds the keys of the model")
        if known[name].sparse:
            raise InvalidInput(f"column {name!r} cannot be changed: its features have no names")
    for name in (*change.retire, *change.rename) if encoder.history is not None else ():
        if name in encoder.history.names and name in change.rename:
            raise InvalidInput(f"column {name!r} cannot be renamed: it is made of earlier rows under this name")
        if name in encoder.history.sources:
            raise InvalidInput(f"column {name!r} cannot be changed: features from earlier rows read it")
    if both := set(change.retire) & set(change.rename):
        raise InvalidInput(f"column {min(both)!r} can be retired or renamed, not both")
    if change.add and plan.sparse_columns:
        raise InvalidInput(f"column {change.add[0].name!r} cannot be added: the model has sparse columns")
    names = [change.rename.get(name, name) for name in plan.names] + [column.name for column in change.add]
    if twice := [name for name in names if names.count(name) > 1]:
        retired = isinstance(known.get(twice[0]), RetiredColumn)
        why = ": it was retired, and its name cannot be used again" if retired else ""
        raise InvalidInput(f"column {twice[0]!r} would be there twice{why}")
    columns: list[Column] = []
    for column in plan.columns:
        if column.name in change.retire:
            columns.append(RetiredColumn.of(column))
        else:
            columns.append(column.remade(name=change.rename.get(column.name, column.name)))
            columns[-1].restore(column.state())
    if all(isinstance(column, RetiredColumn) for column in (*columns, *change.add)):
        raise InvalidInput("a model must have a column that is not retired")
    for column in change.add:
        columns.append(column.remade())
        columns[-1].restore(column.state())
    left_out = {change.rename.get(name, name): why for name, why in plan.left_out.items()}
    changed = Encoder(
        Plan(tuple(columns), left_out, tuple(names), plan.marks_gaps, plan.made),
        bad_rows=encoder.bad_rows,
        missing=encoder.missing,
    )
    changed.history = encoder.history
    return changed


def widening(encoder: Encoder, change: ColumnChange, seq: int) -> Widening | None:
    """What rows from before a change at a record lack, given the encoder before it; None where nothing is added."""
    if not change.add:
        return None
    values: list[float] = []
    for column in change.add:
        row = np.empty((1, len(column.features)))
        parsed = column.parse_values([column.default])
        column.encode(parsed if parsed is not None else column.parse(column.absent(1)), row, learn=False)
        values += row[0].tolist()
    return Widening(seq, len(encoder.plan.feature_names) - len(encoder.plan.marks), tuple(values))
