"""Columns of numbers, and of lengths of time as numbers of seconds."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from thalweg.errors import InvalidInput
from thalweg.tables.cells import LARGEST, BadCell, durations, numbers, parsed, with_bits, without
from thalweg.tables.columns.column import NOT_ONE, Column, Floats, counted_as_missing
from thalweg.tables.columns.head import FEW_WORDS, ColumnHead, Declared
from thalweg.tables.number_forms import Decimal, NumberForm, are_durations, is_number, number_form
from thalweg.tables.sentinels import LateSentinels, sentinels_of

if TYPE_CHECKING:
    import pyarrow as pa

_TYPES = {int, float, np.float64, np.int64, type(None)}
#: What pandas calls the columns of an index without a name.
_UNNAMED = re.compile(r"(?:Unnamed: ?\d+)?|__index_level_\d+__")
#: Numbers that are others with a decimal comma.
_UNCLEAR = r",|^\s*[1-9]\d{0,2}(?:\.\d{3})+\s*$"


class NumberColumn(Column):
    """A number as it is; the mean of those before it where it is missing, with an indicator if that is common."""

    kind = "number"
    declared_as: ClassVar[Declared | None] = "numbers"
    is_number = True
    watched = "cells"
    schema: ClassVar[frozenset[str] | None] = frozenset({"missing"})
    added_with: ClassVar[type | None] = float
    #: Whether numbers such as -999 may be codes for a missing value.
    has_sentinels = True

    def __init__(
        self,
        name: str,
        *,
        indicator: bool,
        decimal: Decimal = ".",
        unit: str = "",
        booleans: bool = False,
        na: Sequence[str] = (),
    ) -> None:
        self.indicator = indicator
        self.decimal: Decimal = decimal
        #: A sign before or behind its numbers, such as $ or %.
        self.unit = unit
        #: Whether true and false are 1 and 0, as they are to learners and to Spark.
        self.booleans = booleans
        features = (name, f"{name} is missing") if indicator else (name,)
        treatment = "as it is" if decimal == "." else "as it is, with a decimal comma"
        treatment += f", without {unit}" if unit else ""
        treatment += "; a missing value becomes the mean so far"
        super().__init__(name, features, treatment + (", marked by a feature of its own" if indicator else ""), na)
        self._na_words, self._na_numbers = _words_and_numbers(self.na, decimal, unit)
        self._sum, self._count = 0.0, 0
        #: Codes of missing values that come after the first rows; None where nobody looks for any.
        self.late: LateSentinels | None = None

    @classmethod
    def detect(cls, head: ColumnHead) -> Column | str | None:
        import pyarrow.compute as pc

        if head.declared == cls.declared_as:
            form = number_form(head.different, head.decimal, head.decimal_of_unclear) or NumberForm(head.decimal or ".")
            return cls(head.name, indicator=False, decimal=form.decimal, unit=form.unit)
        if head.code is not None:
            return None
        numbers = head.numbers
        if numbers is None:
            return cls._as_people_write(head, head.decimal)
        if _UNNAMED.fullmatch(head.name) and len(numbers) > 1 and (np.diff(numbers) == 1).all():
            return "left out: it has no name and counts the rows, as an index of pandas does"
        if head.decimal is None and head.is_text and pc.any(pc.match_substring_regex(head.cells, _UNCLEAR)).as_py():
            return cls._as_people_write(head, None) or "left out: its numbers cannot be read"
        return cls(head.name, indicator=bool(np.isnan(numbers).any()), decimal=head.decimal or ".")

    @classmethod
    def _as_people_write(cls, head: ColumnHead, decimal: Decimal | None) -> Self | None:
        """Categories recur, numbers rarely do, so that few words are slips among them."""
        counts = head.counts
        form = number_form(counts, decimal, head.decimal_of_unclear)
        if form is None:
            return None
        wrong = sum(count for cell, count in counts.items() if not is_number(cell, form))
        if wrong and (len(counts) <= counts.total() / 2 or wrong > FEW_WORDS * counts.total()):
            return None
        indicator = counts.total() < len(head.cells)
        return cls(head.name, indicator=indicator, decimal=form.decimal, unit=form.unit)

    @classmethod
    def described(cls, name: str, said: Mapping[str, Any]) -> Column:
        if not isinstance(said.get("missing", False), bool):
            raise InvalidInput(f"'missing' of column {name!r} must be true or false")
        return cls(name, indicator=said.get("missing", False))

    def options(self) -> dict[str, Any]:
        unit = {"unit": self.unit} if self.unit else {}
        booleans = {"booleans": True} if self.booleans else {}
        return {"indicator": self.indicator, "decimal": self.decimal, **unit, **booleans}

    def with_na(self, cells: pa.ChunkedArray, na: Sequence[str], *, detect_sentinels: bool) -> Self:
        plain = self.remade(na=na)
        values, wrong = parsed(plain, cells)
        values = np.delete(values, [at for at, _ in wrong])
        detect_sentinels = detect_sentinels and self.has_sentinels
        sentinels = [plain.as_written(value) for value in sentinels_of(values)] if detect_sentinels else []
        column = self.remade(na=[*na, *sentinels], indicator=bool(sentinels) or bool(np.isnan(values).any()))
        if detect_sentinels:
            column.late = LateSentinels.after(column.without_na(values))
        return column

    def parse(self, column: pa.ChunkedArray) -> Floats:
        """Numbers, NaN where one is missing."""
        cells = without(with_bits(column) if self.booleans else column, self._na_words)
        return self.without_na(numbers(cells, self.decimal, self.unit))

    def parse_values(self, values: Sequence[Any]) -> Floats | None:
        if not set(map(type, values)) <= _TYPES:
            return None
        try:
            numbers = np.array([np.nan if value is None else value for value in values], dtype=np.float64)
        except OverflowError:
            return None
        with np.errstate(invalid="ignore"):
            return None if (np.abs(numbers) > LARGEST).any() else self.without_na(numbers)

    def parse_one(self, value: Any) -> Any:
        if value is None:
            return np.nan
        if type(value) not in _TYPES or not (value != value or abs(value) <= LARGEST):
            return NOT_ONE
        number = float(value)
        if number in self._na_numbers:
            return np.nan
        if self.late is not None and not (number != number or self.late.low <= number <= self.late.high):
            return np.nan if number in self.late.codes else NOT_ONE if self.late.is_beyond(number) else number
        return number

    def encode_one(self, cell: float, out: list[float], *, learn: bool) -> bool:
        gap = cell != cell
        if learn and not gap:
            self._sum += cell
            self._count += 1
            if self.late is not None:
                self.late.widen(cell)
        out.append(self._sum / max(self._count, 1) if gap else cell)
        if self.indicator:
            out.append(float(gap))
        return gap

    def without_na(self, values: Floats) -> Floats:
        """Numbers, NaN where one stands for a missing value."""
        codes = self._na_numbers if self.late is None else [*self._na_numbers, *self.late.codes]
        return np.where(np.isin(values, codes), np.nan, values) if codes else values

    def as_written(self, value: float) -> str:
        """A number as the table writes it."""
        return repr(value).removesuffix(".0").replace(".", self.decimal)

    def na_in_words(self) -> str:
        late = [] if self.late is None else [self.as_written(value) for value in self.late.codes]
        return counted_as_missing((*self.na, *late))

    def missing(self, parsed: Floats) -> NDArray[np.bool_]:
        return np.isnan(parsed)

    def encode(self, parsed: Floats, out: Floats, *, learn: bool) -> None:
        gaps = np.isnan(parsed)[:, None]
        out[:, :1] = filled([self], parsed[:, None], gaps, learn=learn)
        if self.indicator:
            out[:, 1:] = gaps

    def state(self) -> dict[str, Any]:
        late = {} if self.late is None else {"late": self.late.state()}
        return {"sum": self._sum, "count": self._count, **late}

    def restore(self, state: dict[str, Any]) -> None:
        self._sum, self._count = float(state["sum"]), int(state["count"])
        self.late = LateSentinels.from_state(state["late"]) if "late" in state else None

    def mark(self) -> Any:
        return self._sum, self._count, None if self.late is None else self.late.mark()

    def undo(self, mark: Any) -> None:
        self._sum, self._count, late = mark
        if self.late is not None:
            self.late.undo(late)


class DurationColumn(NumberColumn):
    """A length of time as its number of seconds."""

    kind = "duration"
    declared_as: ClassVar[Declared | None] = None
    has_sentinels = False
    schema = added_with = None

    def __init__(self, name: str, *, indicator: bool, na: Sequence[str] = ()) -> None:
        super().__init__(name, indicator=indicator, na=na)
        self.treatment = self.treatment.replace("as it is", "in seconds", 1)

    @classmethod
    def detect(cls, head: ColumnHead) -> Column | str | None:
        """In text, cells that are none make their rows bad."""
        import pyarrow as pa

        if pa.types.is_duration(head.cells.type):
            return cls(head.name, indicator=head.cells.null_count > 0)
        if not head.is_of_words or not are_durations(head.different):
            return None
        return cls(head.name, indicator=head.words.null_count > 0)

    def options(self) -> dict[str, Any]:
        return {"indicator": self.indicator}

    def parse(self, column: pa.ChunkedArray) -> Floats:
        """Seconds, NaN where a duration is missing."""
        return self.without_na(durations(without(column, self._na_words)))


def _words_and_numbers(na: Sequence[str], decimal: Decimal, unit: str) -> tuple[list[str], list[float]]:
    """Values that stand for a missing one: those that are no numbers of a column, and those that are."""
    words: list[str] = []
    values: list[float] = []
    if not na:
        return words, values
    import pyarrow as pa

    for word in na:
        try:
            values += numbers(pa.chunked_array([[word]], pa.string()), decimal, unit).tolist()
        except BadCell:
            words.append(word)
    return words, values


def filled(columns: Sequence[NumberColumn], values: Floats, gaps: NDArray[np.bool_], *, learn: bool) -> Floats:
    """Columns of numbers side by side, with means so far in the gaps; with ``learn`` they remember what was seen."""
    sums = np.array([column._sum for column in columns])
    counts = np.array([column._count for column in columns])
    some = bool(gaps.any())
    if not learn:
        return np.where(gaps, sums / np.maximum(counts, 1), values) if some else values
    # cumsum adds one by one, so that chunks do not matter to the last bit
    sums_after = np.cumsum(np.concatenate([sums[None], np.where(gaps, 0.0, values) if some else values]), axis=0)
    if some:
        counts_after = counts + np.concatenate([np.zeros((1, len(columns)), np.int64), np.cumsum(~gaps, axis=0)])
        values = np.where(gaps, sums_after[:-1] / np.maximum(counts_after[:-1], 1), values)
        counts = counts_after[-1]
    else:
        counts = counts + len(values)
    for column, total, count in zip(columns, sums_after[-1].tolist(), counts.tolist(), strict=True):
        column._sum, column._count = total, count
    return values
