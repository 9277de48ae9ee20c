"""The kind of each column, found from the first rows of a table and by what the user says of it."""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from thalweg.errors import InvalidInput
from thalweg.tables.arrow_types import is_learnable
from thalweg.tables.cells import (
    OR_MISSING,
    BadCell,
    brief,
    is_text,
    names,
    numbers,
    parsed,
    timestamps,
    trimmed,
    without,
)
from thalweg.tables.durations import are_durations
from thalweg.tables.key_column import KeyColumn
from thalweg.tables.kinds import (
    MOST_RATES,
    CategoryColumn,
    Column,
    DurationColumn,
    Floats,
    HashedColumn,
    NumberColumn,
    TimeColumn,
)
from thalweg.tables.number_forms import Decimal, NumberForm, is_number, number_form, unit_of
from thalweg.tables.retired_column import RetiredColumn
from thalweg.tables.rows import as_text
from thalweg.tables.sentinels import LateSentinels, sentinels_of
from thalweg.tables.sparse_category import SparseCategoryColumn
from thalweg.tables.sparse_column import HASH_BITS, MOST_HASH_BITS
from thalweg.tables.sparse_kinds import MapColumn, map_keys
from thalweg.tables.text_column import TextColumn, seems_text
from thalweg.tables.timestamps import FORMS, FoundForm, form_of, times_in

if TYPE_CHECKING:
    import pyarrow as pa

    from thalweg.tables.rows import Chunk

#: What pandas calls the columns of an index without a name.
_UNNAMED = re.compile(r"(?:Unnamed: ?\d+)?|__index_level_\d+__")
#: A column of text with more distinct values in its head than this, and this share of its cells, names the rows.
_MANY, _ALMOST_ALL = 50, 0.98
#: Words among so many numbers, or times, are slips: their rows are bad. With more, all cells are categories.
FEW_WORDS = 0.05
#: Numbers that are others with a decimal comma.
_UNCLEAR = r",|^\s*[1-9]\d{0,2}(?:\.\d{3})+\s*$"
#: Categories of a column that get a feature of their own, at the most.
MOST_CATEGORIES = 64
#: Rates by category where the number of labels is not known.
USUAL_RATES = 3
#: Why a column is left out that begins later than the first rows end.
_EMPTY = "left out: all of the first"
#: Why a column is left out whose categories hardly ever come again.
NAMES_ROWS = "left out: it seems to name the rows"
_KINDS: dict[str, type[Column]] = {
    each.kind: each
    for each in (
        *(NumberColumn, CategoryColumn, HashedColumn, TimeColumn, DurationColumn),
        *(MapColumn, SparseCategoryColumn, TextColumn, KeyColumn, RetiredColumn),
    )
}


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
        return tuple(name for name, why in self.left_out.items() if why.startswith(_EMPTY))

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
        ends = np.cumsum([len(column.features) for column in self.columns]).tolist()
        pairs = zip(self.columns, ends, strict=True)
        return tuple((end - column.rates, column.rates) for column, end in pairs if isinstance(column, HashedColumn))

    @property
    def key_place(self) -> int | None:
        """The feature that is the key of a row; None where rows have none."""
        starts = np.cumsum([0, *(len(column.features) for column in self.columns)]).tolist()
        pairs = zip(self.columns, starts, strict=False)
        return next((start for column, start in pairs if isinstance(column, KeyColumn)), None)

    def without_cells(self, X: Any) -> Floats:
        """The features with names, with 0 for the number of a cell or a key, which measures nothing."""
        named: Floats = X
        if self.sparse_columns:
            count = len(self.feature_names)
            named = X[:, :count].toarray() if count else np.empty((X.shape[0], 0))
        nominal = [at for at, _ in self.wide_categories] + ([] if self.key_place is None else [self.key_place])
        if nominal:
            named = named.copy()
            named[:, nominal] = 0.0
        return named

    def describe(self) -> list[tuple[str, str, str]]:
        """Name, kind and treatment of every column, in the table's order."""
        by_name = {column.name: column for column in self.columns}
        return [
            (name, by_name[name].kind, by_name[name].done()) if name in by_name else (name, "–", self.left_out[name])
            for name in self.names
        ]

    def to_json(self) -> dict[str, Any]:
        """The plan as JSON holds it."""
        return {
            "names": list(self.names),
            "left_out": self.left_out,
            "columns": [column_to_json(column) for column in self.columns],
            **({} if self.marks_gaps else {"marks_gaps": False}),
        }

    @classmethod
    def from_json(cls, plan: dict[str, Any]) -> Plan:
        """Back from `to_json`."""
        columns = tuple(column_from_json(**column) for column in plan["columns"])
        return cls(columns, plan["left_out"], tuple(plan["names"]), plan.get("marks_gaps", True))


def grouped(lines: Iterable[Sequence[str]]) -> list[tuple[str, str, str]]:
    """Columns of the same kind and treatment that stand side by side, in one line.

    Examples
    --------
    >>> grouped([("a", "number", "as it is"), ("b", "number", "as it is"), ("c", "–", "the label")])
    [('a and b', 'number', 'as it is'), ('c', '–', 'the label')]
    """
    found = []
    for (kind, treatment), alike in itertools.groupby(lines, key=lambda line: (line[1], line[2])):
        names = [line[0] for line in alike]
        first = names[0] if len(names) == 1 else f"{names[0]} and {names[1]}"
        if len(names) > 2:
            first = f"{names[0]} to {names[-1]}, {len(names):,} columns"
        found.append((first, kind, treatment))
    return found


def column_to_json(column: Column) -> dict[str, Any]:
    """What a column is, without what it has seen."""
    found: dict[str, Any] = {"kind": column.kind, "name": column.name}
    if isinstance(column, NumberColumn):
        found["indicator"] = column.indicator
        if not isinstance(column, DurationColumn):
            found |= {"decimal": column.decimal} | ({"unit": column.unit} if column.unit else {})
            found |= {"booleans": True} if column.booleans else {}
    elif isinstance(column, CategoryColumn):
        found["room"] = column.room
    elif isinstance(column, HashedColumn):
        found |= {"rates": column.rates} | ({"means": True} if column.means else {})
    elif isinstance(column, TimeColumn):
        found |= {"hours": column.hours, "form": column.form}
    elif isinstance(column, MapColumn):
        found |= {"keys": column.keys} | ({"hash_bits": column.hash_bits} if column.keys == "name" else {})
    elif isinstance(column, SparseCategoryColumn):
        found["hash_bits"] = column.hash_bits
    elif isinstance(column, TextColumn):
        found |= {"ngrams": list(column.ngrams.ngrams), "hash_bits": column.ngrams.hash_bits}
    elif isinstance(column, RetiredColumn):
        found |= {"features": column.features, "values": column.values}
    found |= {} if column.default is None else {"default": column.default}
    return found | ({"na": list(column.na)} if column.na else {})


def column_from_json(kind: str, name: str, default: Any = None, **options: Any) -> Column:
    """A column as a file describes it, which may be forged: ValueError before it takes all memory."""
    too_wide = options.get("room", 0) > MOST_CATEGORIES or not 1 <= options.get("rates", 1) <= MOST_RATES
    too_wide |= not 1 <= options.get("hash_bits", HASH_BITS) <= MOST_HASH_BITS
    if too_wide or options.get("form") not in FORMS or options.get("keys", "index") not in ("index", "name"):
        raise ValueError(f"column {name!r} has an invalid description")
    column = _KINDS[kind](name, **options)
    if default is not None:
        column.default = default
    return column


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
            declared = name in categorical or (name in head.nominal and name not in numeric)
            cells = head.column(name)
            as_text = TextColumn(name, ngrams=ngrams, hash_bits=hash_bits)
            found: Column | str
            if name in text:
                _require_text(head, name)
                found = as_text
            else:
                found = _settle(
                    name,
                    without(cells, na),
                    categorical=declared,
                    numeric=name in numeric,
                    values=head.values.get(name, ()),
                    decimal=decimal,
                    decimal_of_unclear=lambda cell: decimal_of_unclear(cell, head, shown),
                    rates=rates,
                    as_text=as_text if detect_text else None,
                    form=(forms or {}).get(name),
                )
            if isinstance(found, str):
                left_out[name] = found
            else:
                columns.append(_with_na(found, cells, na, detect_sentinels=detect_sentinels))
    if any(column.sparse for column in columns):
        columns = [among_sparse(column, hash_bits) for column in columns]
    if all(isinstance(column, KeyColumn) for column in columns):
        told = [f"; {name!r} is {why}" for name, why in left_out.items() if why.startswith("left out:")][:1]
        beside = "" if target is None else f" beside {target!r}"
        raise InvalidInput(f"{head.pieces[0].block.file} has no column to learn from{beside}{''.join(told)}")
    return Plan(tuple(columns), left_out, tuple(present), marks_gaps=not all(column.sparse for column in columns))


def _require_text(head: Chunk, name: str) -> None:
    column = head.column(name)
    if not is_text(column) and column.null_count < len(column):
        try:
            names(column)
        except BadCell as error:
            raise InvalidInput(f"{head.pieces[0].block.file}: column {name!r} cannot be text: {error.what}") from error


def among_sparse(column: Column, hash_bits: int) -> Column:
    """A column as it is in a plan with sparse columns, over whose rows rates by category are not learned."""
    if isinstance(column, HashedColumn):
        return SparseCategoryColumn(column.name, hash_bits=hash_bits, na=column.na)
    if isinstance(column, MapColumn):
        return MapColumn(column.name, keys=column.keys, hash_bits=hash_bits)
    return column


def _settle(
    name: str,
    column: pa.ChunkedArray,
    *,
    categorical: bool,
    numeric: bool,
    values: Sequence[str],
    decimal: Decimal | None,
    decimal_of_unclear: Callable[[str], Decimal],
    rates: int,
    as_text: TextColumn | None,
    form: FoundForm | None = None,
) -> Column | str:
    """What a column is, or why it is left out; ``as_text`` is what it becomes where it holds running text.

    ``form`` is how its times are written, where that is known.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if keys := map_keys(column.type):
        return MapColumn(name, keys=keys)
    if is_learnable(column.type) and (categorical or pa.types.is_boolean(column.type)):
        return _category(name, column, declared=categorical, rates=rates, as_text=None, values=values)
    if not is_learnable(column.type):
        return f"left out: values of type {brief(str(column.type))} cannot be learned"
    if column.null_count == len(column) or (is_text(column) and trimmed(column).null_count == len(column)):
        return f"{_EMPTY} {len(column):,} values are missing: empty or {OR_MISSING}"
    if pa.types.is_duration(column.type):
        return DurationColumn(name, indicator=column.null_count > 0)
    if pa.types.is_timestamp(column.type) or pa.types.is_date(column.type):
        return TimeColumn(name, hours=_has_hours(timestamps(column)))
    if numeric and is_text(column):
        found = number_form(_different(column), decimal, decimal_of_unclear) or NumberForm(decimal or ".")
        return NumberColumn(name, indicator=False, decimal=found.decimal, unit=found.unit)
    if form is not None and is_text(column) and (times := _time(name, column, form)):
        return times  # 20240131 would be a number
    if code_among(column):
        return _category(name, column, declared=False, rates=rates, as_text=None)
    try:
        read = numbers(column, decimal or ".")
    except BadCell:
        return (
            _duration(name, column)
            or _time(name, column, form)
            or _number(name, column, decimal, decimal_of_unclear)
            or _category(name, column, declared=False, rates=rates, as_text=as_text)
        )
    if _UNNAMED.fullmatch(name) and len(read) > 1 and (np.diff(read) == 1).all():
        return "left out: it has no name and counts the rows, as an index of pandas does"
    if decimal is None and is_text(column) and pc.any(pc.match_substring_regex(column, _UNCLEAR)).as_py():
        return _number(name, column, None, decimal_of_unclear) or "left out: its numbers cannot be read"
    return NumberColumn(name, indicator=bool(np.isnan(read).any()), decimal=decimal or ".")


def _with_na(column: Column, cells: pa.ChunkedArray, na: Sequence[str], *, detect_sentinels: bool) -> Column:
    """The column with the values that stand for a missing one: those that are given, and those that are found."""
    if isinstance(column, MapColumn):
        return column
    column = column_from_json(**column_to_json(column) | {"na": na})
    if not isinstance(column, NumberColumn):
        return column
    values, wrong = parsed(column, cells)
    values = np.delete(values, [at for at, _ in wrong])
    detect_sentinels = detect_sentinels and column.kind == "number"
    found = sentinels_of(values) if detect_sentinels else ()
    written = [column.as_written(value) for value in found]
    indicator = bool(found) or bool(np.isnan(values).any())
    column = column_from_json(**column_to_json(column) | {"na": [*na, *written], "indicator": indicator})
    if detect_sentinels and isinstance(column, NumberColumn):
        column.late = LateSentinels.after(column.without_na(values))
    return column


def _has_hours(times: NDArray[np.datetime64]) -> bool:
    known = times[~np.isnat(times)]
    return bool((known != known.astype("datetime64[D]")).any())


def _duration(name: str, column: pa.ChunkedArray) -> Column | None:
    """Lengths of time in text, for which cells that are none make their rows bad."""
    cells = trimmed(as_text(column))
    if not are_durations(cells.drop_null().unique().to_pylist()):
        return None
    return DurationColumn(name, indicator=cells.null_count > 0)


def _different(column: pa.ChunkedArray) -> list[str]:
    cells: list[str] = trimmed(as_text(column)).drop_null().unique().to_pylist()
    return cells


def _counts(column: pa.ChunkedArray) -> Counter[str]:
    """The different cells that are not missing, and how often each stands there."""
    counted = trimmed(as_text(column)).drop_null().value_counts()
    return Counter(dict(zip(*(counted.field(at).to_pylist() for at in (0, 1)), strict=True)))


def _time(name: str, column: pa.ChunkedArray, known: FoundForm | None) -> Column | str | None:
    """Times in text; a few cells that are none make their rows bad, and many make it a column of categories."""
    cells = trimmed(as_text(column))
    found = known or form_of(cells)
    if found is None:
        return None
    if found.unclear:
        example = cells.drop_null()[0].as_py()
        return f"left out: its dates, such as {example}, may be day/month or month/day: write them as 2024-01-31"
    times, wrong = times_in(cells, found.form)
    if known is None and wrong.sum() > max(1, FEW_WORDS * (len(cells) - cells.null_count)):
        return None
    return TimeColumn(name, hours=_has_hours(times), form=found.form)


def decimal_of_table(head: Chunk) -> Decimal | None:
    """The decimal separator that some columns of text show; None where none does."""
    points = False
    for column in map(head.column, head.column_names):
        if not is_text(column):
            continue
        form = number_form(cells := _different(column))
        if form is not None and form.unclear is None:
            if form.decimal == ",":
                return ","
            points |= any("." in cell for cell in cells)
    return "." if points else None


def decimal_of_unclear(cell: str, head: Chunk, shown: Callable[[], Decimal | None]) -> Decimal:
    """The decimal separator of a cell such as 1,250: that of other columns, else the one that suits the delimiter."""
    as_programs_write = cell.replace(".", "").isdigit()
    return shown() or ("," if head.delimiter == ";" and not as_programs_write else ".")


def _number(
    name: str, column: pa.ChunkedArray, decimal: Decimal | None, decimal_of_unclear: Callable[[str], Decimal]
) -> Column | None:
    """Numbers as people write them; categories recur, numbers rarely do, so that few words are slips among them."""
    counts = _counts(column)
    form = number_form(counts, decimal, decimal_of_unclear)
    if form is None:
        return None
    wrong = sum(count for cell, count in counts.items() if not is_number(cell, form))
    if wrong and (len(counts) <= counts.total() / 2 or wrong > FEW_WORDS * counts.total()):
        return None
    return NumberColumn(name, indicator=counts.total() < len(column), decimal=form.decimal, unit=form.unit)


def _nested_in(cell: str, name: str) -> str:
    """Where an object of JSON has a first value that is no number, such as user.address.city; nothing for a list."""
    try:
        value = json.loads(cell)
    except ValueError:
        return ""
    path = [name]
    while isinstance(value, dict):
        wrong = [key for key, each in value.items() if not isinstance(each, int | float | None)]
        if not wrong:
            break
        path.append(wrong[0])
        value = value[wrong[0]]
    return brief(".".join(path)) if path[1:] else ""


def code_among(column: pa.ChunkedArray) -> str | None:
    """A cell such as 01001, where cells are whole numbers of one width of which some begin with zeros; else None.

    Postal codes, FIPS and the like: their zeros say that they count nothing. A few cells may be words.

    Examples
    --------
    >>> import pyarrow as pa
    >>> code_among(pa.chunked_array([["10001", "02138", ""]])), code_among(pa.chunked_array([["100", "0", "02"]]))
    ('02138', None)
    """
    if not is_text(column):
        return None
    counts = _counts(column)
    codes = [cell for cell in counts if cell.isascii() and cell.isdigit()]
    code = next((cell for cell in codes if cell[0] == "0"), None)
    if code is None or len(code) == 1 or any(len(cell) != len(code) for cell in codes):
        return None
    words = [cell for cell in counts if not (cell.isascii() and cell.isdigit())]
    few = sum(map(counts.__getitem__, words)) <= FEW_WORDS * counts.total()
    return code if few and all(unit_of(cell) is None for cell in words) else None


def _category(
    name: str,
    column: pa.ChunkedArray,
    *,
    declared: bool,
    rates: int,
    as_text: TextColumn | None,
    values: Sequence[str] = (),
) -> Column | str:
    cells = names(column).drop_null()
    different = cells.unique().to_pylist()
    distinct = len(different)
    if different and not declared and all(cell[0] + cell[-1] in ("{}", "[]") for cell in different):
        kind = "lists" if different[0][0] == "[" else "objects"
        path = _nested_in(different[0], name)
        where = f" where a value is no number, as that of {path}" if path else ""
        return f"left out: {kind} of JSON cannot be learned{where}: write what they hold as columns of their own"
    if not declared and distinct > _MANY and distinct > len(cells) / 2:
        if as_text is not None and seems_text(different):
            return as_text
        if distinct > _ALMOST_ALL * len(cells):
            return f"{NAMES_ROWS} ({distinct:,} different values in the first {len(cells):,})"
    room = len({*different, *values}) if values else distinct + max(4, distinct // 2)  # for those that come later
    if max(distinct, len(values)) > MOST_CATEGORIES:
        return HashedColumn(name, rates=rates)
    return CategoryColumn(name, room=min(MOST_CATEGORIES, room))
