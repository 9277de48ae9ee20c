"""The kind of each column, found from the first rows of a table and by what the user says of it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from thalweg.errors import InvalidInput
from thalweg.tables.arrow_types import is_learnable
from thalweg.tables.cells import BadCell, brief, is_text, names, trimmed, without
from thalweg.tables.columns import EMPTY, column_from_json, detected
from thalweg.tables.columns.column import Column, Floats
from thalweg.tables.columns.head import HASH_BITS, USUAL_RATES, ColumnHead, Declared
from thalweg.tables.columns.key import KeyColumn
from thalweg.tables.columns.number import NumberColumn
from thalweg.tables.columns.wide_category import MOST_RATES
from thalweg.tables.number_forms import Decimal, number_form

if TYPE_CHECKING:
    from thalweg.tables.rows import Chunk
    from thalweg.tables.timestamps import FoundForm


@dataclass(frozen=True)
class Plan:
    """The columns that carry features, in the table's order, and why the others do not."""

    columns: tuple[Column, ...]
    #: By name, why a column carries no feature.
    left_out: dict[str, str]
    #: The table's columns, in its order.
    names: tuple[str, ...]
    #: Whether the last feature marks rows with a gap that no feature of its own marks.
    marks_gaps: bool = True
    #: By name, the columns that are made of earlier rows, and of what.
    made: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of_numbers(cls, names: Sequence[str]) -> Plan:
        """Columns of numbers that are features as they are: those of a learner that knows them by name."""
        return cls(tuple(NumberColumn(name, indicator=False, booleans=True) for name in names), {}, tuple(names), False)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """All features with names, in their order; those of sparse columns come behind them and have none."""
        return (*(feature for column in self.columns for feature in column.features), *self.marks)

    @property
    def width(self) -> int:
        """The number of features, with those of sparse columns."""
        return sum(column.width for column in self.columns) + len(self.marks)

    @property
    def empty(self) -> tuple[str, ...]:
        """The columns that are left out because they have no value in the first rows."""
        return tuple(name for name, why in self.left_out.items() if why.startswith(EMPTY))

    @property
    def sparse_columns(self) -> tuple[Column, ...]:
        """The columns that give compressed rows; with any, so do all together."""
        return tuple(column for column in self.columns if column.sparse)

    @property
    def dense_beside_sparse(self) -> int:
        """The number of features of the other columns, where some are sparse."""
        both = 0 < len(self.sparse_columns) < len(self.columns)
        return len(self.feature_names) if both else 0

    @property
    def marks(self) -> tuple[str, ...]:
        """The feature that marks gaps, where there is one."""
        return ("any other is missing",) if self.marks_gaps else ()

    @property
    def wide_categories(self) -> tuple[tuple[int, int], ...]:
        """The first feature and the number of rates of each column whose categories are hashed into cells."""
        return tuple((start, column.rates) for column, start in self._places() if column.rates)

    @property
    def key(self) -> Column | None:
        """The column of keys, if rows have one."""
        return next((column for column in self.columns if column.required), None)

    @property
    def key_place(self) -> int | None:
        """The feature that is the key of a row; None where rows have none."""
        return next((start for column, start in self._places() if column.required), None)

    @property
    def nominal(self) -> list[int]:
        """The features that are the number of a cell or a key, which measures nothing."""
        return [start for column, start in self._places() if column.rates or column.required]

    def _places(self) -> Iterable[tuple[Column, int]]:
        """The columns with their first features, of those that have names."""
        starts = itertools.accumulate((len(column.features) for column in self.columns), initial=0)
        return zip(self.columns, starts, strict=False)

    def without_cells(self, X: Any) -> Floats:
        """The features with names, with 0 for those that are `nominal`."""
        named: Floats = X
        if self.sparse_columns:
            count = len(self.feature_names)
            named = X[:, :count].toarray() if count else np.empty((X.shape[0], 0))
        if nominal := self.nominal:
            named = named.copy()
            named[:, nominal] = 0.0
        return named

    def describe(self) -> list[tuple[str, str, str]]:
        """Name, kind and treatment of every column, in the table's order."""
        by_name = {column.name: column for column in self.columns}

        def done(name: str) -> str:
            what = by_name[name].done() if name in by_name else self.left_out[name]
            return f"{self.made[name]}; {what}" if name in self.made else what

        return [(name, by_name[name].kind if name in by_name else "–", done(name)) for name in self.names]

    def to_json(self) -> dict[str, Any]:
        """The plan as JSON holds it."""
        return {
            "names": list(self.names),
            "left_out": self.left_out,
            "columns": [column.to_json() for column in self.columns],
            **({} if self.marks_gaps else {"marks_gaps": False}),
            **({"made": dict(self.made)} if self.made else {}),
        }

    @classmethod
    def from_json(cls, plan: dict[str, Any]) -> Plan:
        """Back from `to_json`."""
        columns = tuple(column_from_json(**column) for column in plan["columns"])
        return cls(columns, plan["left_out"], tuple(plan["names"]), plan.get("marks_gaps", True), plan.get("made", {}))


def grouped(lines: Iterable[Sequence[str]]) -> list[tuple[str, str, str]]:
    """Columns of the same kind and treatment that stand side by side, in one line.

    Examples
    --------
    >>> grouped([("a", "number", "as it is"), ("b", "number", "as it is"), ("c", "–", "the label")])
    [('a and b', 'number', 'as it is'), ('c', '–', 'the label')]
    """
    groups = []
    for (kind, treatment), alike in itertools.groupby(lines, key=lambda line: (line[1], line[2])):
        names = [line[0] for line in alike]
        first = names[0] if len(names) == 1 else f"{names[0]} and {names[1]}"
        if len(names) > 2:
            first = f"{names[0]} to {names[-1]}, {len(names):,} columns"
        groups.append((first, kind, treatment))
    return groups


def plan_columns(
    head: Chunk,
    *,
    target: str | None,
    drop: Collection[str] = (),
    categorical: Collection[str] = (),
    numeric: Collection[str] = (),
    reserved: Sequence[str] = (),
    decimal: Decimal | None = None,
    na: Sequence[str] = (),
    detect_sentinels: bool = False,
    text: Collection[str] = (),
    detect_text: bool = False,
    ngrams: tuple[int, int] = (1, 1),
    hash_bits: int = HASH_BITS,
    key: str | None = None,
    forms: Mapping[str, FoundForm] | None = None,
) -> Plan:
    """Look at the first rows and settle what each column is.

    Parameters
    ----------
    head : Chunk
        The first rows.
    target : str or None
        The column of labels, which is no feature; None for rows that come without.
    drop : collection of str
        Columns to leave out.
    categorical : collection of str
        Columns of categories that look like numbers.
    numeric : collection of str
        Columns of text that are numbers, though they look like codes or names.
    reserved : sequence of str
        Columns with a part of their own, such as the time at which a label comes.
    decimal : {".", ","}, optional
        What stands before the decimals of numbers in text (default: detected for each column).
    na : sequence of str
        Values that stand for a missing one, in every column.
    detect_sentinels : bool
        Whether numbers such as -999 count as missing where they are repeated and far from all others.
    text : collection of str
        Columns of text.
    detect_text : bool
        Whether columns of strings that mostly differ are text where they hold words: for learners of sparse rows.
    ngrams : pair of int
        Shortest and longest run of words that is a feature of a column of text.
    hash_bits : int
        Binary logarithm of the number of features of each column whose words or names are hashed.
    key : str, optional
        The column that says which key's model a row belongs to.
    forms : mapping of str to FoundForm, optional
        By name, how the times of a column are written, where other rows than the first ones have settled it.
    """
    present = head.column_names
    for name in (target, key, *drop, *categorical, *numeric, *text, *reserved):
        if name is not None and name not in present:
            raise InvalidInput.of_column(head.pieces[0].block.file, name, present)
    if target is not None and not is_learnable(kind := head.column(target).type):
        file = head.pieces[0].block.file
        raise InvalidInput(
            f"{file}: the target {target!r} must hold labels or numbers, got values of type {brief(str(kind))}"
        )
    columns: list[Column] = []
    left_out: dict[str, str] = {}
    labels = None
    if target is not None:
        seen = names(head.column(target)).drop_null().unique().to_pylist()
        labels = len({*seen, *head.values.get(target, ())})
    rates = USUAL_RATES if labels is None else max(1, min(MOST_RATES, labels - 1))
    shown = cache(lambda: decimal_of_table(head))
    for name in present:
        if name == target:
            left_out[name] = "the label"
        elif name == key:
            columns.append(KeyColumn(name))
        elif name in reserved:
            left_out[name] = "says when the label comes"
        elif name in drop:
            left_out[name] = "left out, as asked"
        elif name in head.left_out:
            left_out[name] = head.left_out[name]
        else:
            cells = head.column(name)
            if name in text:
                _require_text(head, name)
            given: Declared | None = "text" if name in text else "numbers" if name in numeric else None
            if name in categorical or (name in head.nominal and given is None):
                given = "categories"
            known = ColumnHead(
                name,
                without(cells, na),
                given,
                values=head.values.get(name, ()),
                decimal=decimal,
                decimal_of_unclear=lambda cell: decimal_of_unclear(cell, head, shown),
                form=(forms or {}).get(name),
                rates=rates,
                detect_text=detect_text,
                ngrams=ngrams,
                hash_bits=hash_bits,
            )
            outcome = detected(known)
            if isinstance(outcome, str):
                left_out[name] = outcome
            else:
                columns.append(outcome.with_na(cells, na, detect_sentinels=detect_sentinels))
    if any(column.sparse for column in columns):
        columns = [column.among_sparse(hash_bits) for column in columns]
    if all(column.required for column in columns):
        reasons = [f"; {name!r} is {why}" for name, why in left_out.items() if why.startswith("left out:")][:1]
        beside = "" if target is None else f" beside {target!r}"
        raise InvalidInput(f"{head.pieces[0].block.file} has no column to learn from{beside}{''.join(reasons)}")
    return Plan(tuple(columns), left_out, tuple(present), marks_gaps=not all(column.sparse for column in columns))


def without_text(fresh: Plan, plan: Plan, owner: str) -> tuple[Plan, list[str]]:
    """The plan that leaves out the columns of text in another, with the reason, and the names of these columns."""
    why = f"left out: it seems to be text, whose words are sparse features, which {owner} does not take"
    text = {column.name: why for column in fresh.columns if column.kind == "text" and column.name in plan.left_out}
    return replace(plan, left_out=plan.left_out | text), list(text)


def _require_text(head: Chunk, name: str) -> None:
    column = head.column(name)
    if not is_text(column) and column.null_count < len(column):
        try:
            names(column)
        except BadCell as error:
            raise InvalidInput(f"{head.pieces[0].block.file}: column {name!r} cannot be text: {error.what}") from error


def decimal_of_table(head: Chunk) -> Decimal | None:
    """The decimal separator that some columns of text show; None where none does."""
    points = False
    for column in map(head.column, head.column_names):
        if not is_text(column):
            continue
        form = number_form(cells := trimmed(column).drop_null().unique().to_pylist())
        if form is not None and form.unclear is None:
            if form.decimal == ",":
                return ","
            points |= any("." in cell for cell in cells)
    return "." if points else None


def decimal_of_unclear(cell: str, head: Chunk, shown: Callable[[], Decimal | None]) -> Decimal:
    """The decimal separator of a cell such as 1,250: that of other columns, else the one that suits the delimiter."""
    as_programs_write = cell.replace(".", "").isdigit()
    return shown() or ("," if head.delimiter == ";" and not as_programs_write else ".")
