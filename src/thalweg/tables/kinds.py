"""The kinds of columns that carry features, each with what it keeps from row to row.

A column is parsed first, which changes nothing and may fail, and encoded then. Encoding is causal: what a row becomes
depends on the rows before it and on nothing in how the rows were cut into chunks.
"""

from __future__ import annotations

import zlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from thalweg.tables.cells import (
    LARGEST,
    BadCell,
    durations,
    names,
    numbers,
    spelled_as,
    timestamps,
    with_bits,
    without,
)
from thalweg.tables.number_forms import Decimal
from thalweg.tables.sentinels import LateSentinels
from thalweg.tables.timestamps import FORMS

if TYPE_CHECKING:
    import pyarrow as pa

Floats = NDArray[np.float64]
#: Cells that the categories of a wide column are hashed into.
CELLS = 65_536
#: Labels, beside the first, whose rates by category are features, at the most.
MOST_RATES = 8
#: Types of numbers and of words, and of what is missing.
_NUMBERS, _WORDS = {int, float, np.float64, np.int64, type(None)}, {str, type(None)}


class Column(ABC):
    """One column and its features."""

    kind: str
    #: Whether it gives compressed rows and no features with names.
    sparse = False
    #: Of a column that was added later, the value in rows that do not have it.
    default: Any = None
    #: Whether a row that lacks it cannot be used, whatever is done about other missing values.
    required = False

    def __init__(self, name: str, features: tuple[str, ...], treatment: str, na: Sequence[str] = ()) -> None:
        self.name = name
        #: Further values that stand for a missing one.
        self.na = tuple(na)
        self.features = features
        #: What is done to it, in words.
        self.treatment = treatment

    @property
    def optional(self) -> bool:
        """Whether rows need not have it: one with a default, or one that is ignored."""
        return self.default is not None

    def absent(self, rows: int) -> pa.ChunkedArray:
        """Its cells in rows that do not have it."""
        import pyarrow as pa

        return pa.chunked_array([pa.nulls(rows) if self.default is None else pa.array([self.default] * rows)])

    @property
    def width(self) -> int:
        """How many features it has."""
        return len(self.features)

    @abstractmethod
    def parse(self, column: pa.ChunkedArray) -> Any:
        """The cells as values; `BadCell` where one is not what the column is."""

    def parse_values(self, values: Sequence[Any]) -> Any:
        """The same of Python's values, without Arrow, which takes long for few rows; None where `parse` must decide."""
        return None

    @abstractmethod
    def missing(self, parsed: Any) -> NDArray[np.bool_]:
        """Which cells are missing."""

    @abstractmethod
    def encode(self, parsed: Any, out: Floats, *, learn: bool) -> None:
        """Write the features of each row; with ``learn`` remember what was seen."""

    def compressed(self, parsed: Any) -> tuple[NDArray[np.int64], NDArray[np.int32], Floats]:
        """Of a sparse column: where each row begins, the sorted indices of its entries, and their values."""
        raise NotImplementedError

    def done(self) -> str:
        """What is done to it, by what is known of it by now."""
        return self.treatment + self.na_in_words()

    def na_in_words(self) -> str:
        """Which values count as missing."""
        return _counted_as_missing(self.na)

    def named_features(self) -> tuple[str, ...]:
        """The features, by what is known of them by now."""
        return self.features

    def state(self) -> dict[str, Any]:
        """What was remembered, as JSON holds it."""
        return {}

    def restore(self, state: dict[str, Any]) -> None:  # noqa: B027 - nothing to take back where nothing is kept
        """Take back what `state` gave."""

    def mark(self) -> Any:
        """A point that `undo` returns to, for rows whose learning may be refused."""
        return self.state()

    def undo(self, mark: Any) -> None:
        """Forget all that was encoded since `mark`, one call of `encode` at the most."""
        self.restore(mark)


def _counted_as_missing(values: Sequence[str]) -> str:
    if not values:
        return ""
    *first, last = values
    return f"; {', '.join(first)} and {last} count as missing" if first else f"; {last} counts as missing"


class NumberColumn(Column):
    """A number as it is; the mean of those before it where it is missing, with an indicator if that is common."""

    kind = "number"

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
        told = "as it is" if decimal == "." else "as it is, with a decimal comma"
        told += f", without {unit}" if unit else ""
        told += "; a missing value becomes the mean so far"
        super().__init__(name, features, told + (", marked by a feature of its own" if indicator else ""), na)
        self._na_words, self._na_numbers = _words_and_numbers(self.na, decimal, unit)
        self._sum, self._count = 0.0, 0
        #: Codes of missing values that come after the first rows; None where nobody looks for any.
        self.late: LateSentinels | None = None

    def parse(self, column: pa.ChunkedArray) -> Floats:
        """Numbers, NaN where one is missing."""
        cells = without(with_bits(column) if self.booleans else column, self._na_words)
        return self.without_na(numbers(cells, self.decimal, self.unit))

    def parse_values(self, values: Sequence[Any]) -> Floats | None:
        if not set(map(type, values)) <= _NUMBERS:
            return None
        try:
            numbers = np.array([np.nan if value is None else value for value in values], dtype=np.float64)
        except OverflowError:
            return None
        with np.errstate(invalid="ignore"):
            return None if (np.abs(numbers) > LARGEST).any() else self.without_na(numbers)

    def without_na(self, values: Floats) -> Floats:
        """Numbers, NaN where one stands for a missing value."""
        codes = self._na_numbers if self.late is None else [*self._na_numbers, *self.late.found]
        return np.where(np.isin(values, codes), np.nan, values) if codes else values

    def as_written(self, value: float) -> str:
        """A number as the table writes it."""
        return repr(value).removesuffix(".0").replace(".", self.decimal)

    def na_in_words(self) -> str:
        late = [] if self.late is None else [self.as_written(value) for value in self.late.found]
        return _counted_as_missing((*self.na, *late))

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


class DurationColumn(NumberColumn):
    """A length of time as its number of seconds."""

    kind = "duration"

    def __init__(self, name: str, *, indicator: bool, na: Sequence[str] = ()) -> None:
        super().__init__(name, indicator=indicator, na=na)
        self.treatment = self.treatment.replace("as it is", "in seconds", 1)

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

    for each in na:
        try:
            values += numbers(pa.chunked_array([[each]], pa.string()), decimal, unit).tolist()
        except BadCell:
            words.append(each)
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


class NamesColumn(Column):
    """Names, each of which is the same wherever it occurs."""

    def parse(self, column: pa.ChunkedArray) -> tuple[NDArray[np.int64], list[str]]:
        """The place of each cell among the distinct ones, in the order in which they come; -1 where one is missing."""
        import pyarrow.compute as pc

        encoded = names(without(column, self.na)).combine_chunks().dictionary_encode()
        return pc.fill_null(encoded.indices, -1).to_numpy(zero_copy_only=False), encoded.dictionary.to_pylist()

    def parse_values(self, values: Sequence[Any]) -> tuple[NDArray[np.int64], list[str]] | None:
        if self.na or not set(map(type, values)) <= _WORDS or not all(map(_is_trimmed, values)):
            return None
        places: dict[str, int] = {}
        found = np.array([places.setdefault(word, len(places)) if word else -1 for word in values], dtype=np.int64)
        return found, list(places)

    def missing(self, parsed: tuple[NDArray[np.int64], list[str]]) -> NDArray[np.bool_]:
        return parsed[0] < 0


class CategoryColumn(NamesColumn):
    """One feature for each category, with room for some that come late; then one for all others."""

    kind = "category"

    def __init__(self, name: str, *, room: int, na: Sequence[str] = ()) -> None:
        self.room = room
        features = (*(f"{name} = category {i + 1}" for i in range(room)), f"{name} = any other")
        told = (
            f"one feature for each of its first {room} categories, one for all others; an empty cell has none of them"
        )
        super().__init__(name, features, told, na)
        self.categories: dict[str, int] = {}

    def encode(self, parsed: tuple[NDArray[np.int64], list[str]], out: Floats, *, learn: bool) -> None:
        """One of the features is 1; none where the value is missing or, when only predicting, was never seen."""
        places, distinct = parsed
        slots = np.empty(len(distinct) + 1, dtype=np.int64)
        slots[-1] = -1  # missing
        for i in _in_order_of_arrival(places):
            category = distinct[i] if learn else spelled_as(distinct[i], self.categories)
            if learn and category not in self.categories and len(self.categories) < self.room:
                self.categories[category] = len(self.categories)
            full = len(self.categories) == self.room
            slots[i] = self.categories.get(category, self.room if learn or full else -1)
        slot = slots[places]
        out[:] = 0.0
        known = np.flatnonzero(slot >= 0)
        out[known, slot[known]] = 1.0

    def done(self) -> str:
        """With the number of categories that were seen, once some were."""
        seen = len(self.categories)
        if not seen or seen == self.room:
            return super().done()
        named = "its one category" if seen == 1 else f"each of its {seen} categories"
        further = f"{self.room - seen} for further ones that may come"
        return f"one feature for {named}, {further}, one for all others{self.na_in_words()}"

    def named_features(self) -> tuple[str, ...]:
        """Each category by its name, once it was seen."""
        seen = tuple(f"{self.name} = {category}" for category in self.categories)
        return (*seen, *self.features[len(seen) :])

    def state(self) -> dict[str, Any]:
        """The categories, in the order in which they came."""
        return {"categories": list(self.categories)}

    def restore(self, state: dict[str, Any]) -> None:
        if len(state["categories"]) > self.room:
            raise ValueError(f"column {self.name!r} has room for {self.room} categories only")
        self.categories = {category: i for i, category in enumerate(state["categories"])}


class HashedColumn(NamesColumn):
    """Very many categories: the number of a cell, by a hash of the name, for a learner that counts labels by cell."""

    kind = "wide category"

    def __init__(self, name: str, *, rates: int, means: bool = False, na: Sequence[str] = ()) -> None:
        self.rates = rates
        #: Whether the target is a number, whose mean by category is learned.
        self.means = means
        features = (f"{name}: label rates",) if rates == 1 else tuple(f"{name}: rate {i + 2}" for i in range(rates))
        numbers = "one number" if rates == 1 else f"{rates} numbers"
        told = f"{numbers}: how often each label came with its category so far, counted in {CELLS:,} hashed cells"
        if means:
            features = (f"{name}: mean target", *features[1:])
            told = f"the mean target of its category so far, less that of all rows, counted in {CELLS:,} hashed cells"
        super().__init__(name, features, f"{told}; 0 for an empty cell or a new category", na)

    def encode(self, parsed: tuple[NDArray[np.int64], list[str]], out: Floats, *, learn: bool) -> None:
        """The number of the cell, -1 where the value is missing; zeros where the rates of further labels will be."""
        places, distinct = parsed
        # The same on every machine and in every version, which Python's own hash is not.
        cells = [zlib.crc32(word.encode(errors="surrogatepass")) % CELLS for word in distinct]
        out[:] = 0.0
        out[:, 0] = np.array([*cells, -1], dtype=np.float64)[places]


def _is_trimmed(word: str | None) -> bool:
    """Whether there is nothing about a word that would have to be trimmed, by anybody's rules."""
    return word is None or (word.isprintable() and word == word.strip())


def _in_order_of_arrival(places: NDArray[np.int64]) -> list[int]:
    """The distinct places, less that of missing values: rows that were skipped may have brought others."""
    distinct, first = np.unique(places, return_index=True)
    return [int(place) for place in distinct[np.argsort(first)] if place >= 0]


class TimeColumn(Column):
    """A time as points on circles: the hour of the day and the day of the week, or the days of week and year."""

    kind = "time"

    def __init__(self, name: str, *, hours: bool, form: str | None = None, na: Sequence[str] = ()) -> None:
        self.hours = hours
        self.form = form
        self.cycles: tuple[str, ...] = ("hour", "weekday") if hours else ("weekday", "day of year")
        if form == "hour:minute":
            self.cycles = ("hour",)
        elif FORMS[form].monthly:
            self.cycles = ("day of year",)
        features = tuple(f"{name} {wave} {cycle}" for cycle in self.cycles for wave in ("sin", "cos"))
        told = f"{' and '.join(self.cycles)} as points on a circle"
        told += "" if form is None else f", read as {form}"
        super().__init__(name, features, f"{told}; its middle for a missing value", na)

    @property
    def is_exchangeable(self) -> bool:
        """Whether its days could be read as months."""
        return FORMS[self.form].exchanged is not None

    def parse(self, column: pa.ChunkedArray) -> NDArray[np.datetime64]:
        return timestamps(without(column, self.na), self.form)

    def missing(self, parsed: NDArray[np.datetime64]) -> NDArray[np.bool_]:
        return np.isnat(parsed)

    def encode(self, parsed: NDArray[np.datetime64], out: Floats, *, learn: bool) -> None:
        """Sine and cosine of each cycle; zeros, the middle of the circle, where a time is missing."""
        days = parsed.astype("datetime64[D]")
        of_day = (parsed - days) / np.timedelta64(1, "D")
        weekday = ((days - np.datetime64("1970-01-05")) / np.timedelta64(1, "D") + of_day) % 7 / 7
        of_year = (parsed - parsed.astype("datetime64[Y]")) / np.timedelta64(1, "D") / 365.2425
        with np.errstate(invalid="ignore"):
            turns = {"hour": of_day, "weekday": weekday, "day of year": of_year}
            for i, turn in enumerate(turns[cycle] for cycle in self.cycles):
                out[:, 2 * i] = np.nan_to_num(np.sin(2 * np.pi * turn))
                out[:, 2 * i + 1] = np.nan_to_num(np.cos(2 * np.pi * turn))
