"""Columns of times, as points on circles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from thalweg.tables.cells import timestamps, without
from thalweg.tables.columns.column import NOT_ONE, Column, Floats, invalid
from thalweg.tables.columns.head import FEW_WORDS, ColumnHead
from thalweg.tables.timestamps import FORMS, form_of, time_of, times_in

if TYPE_CHECKING:
    import pyarrow as pa

#: Microseconds of a day, and the number of some Monday.
_DAY, _MONDAY = 86_400_000_000, date(1970, 1, 5).toordinal()


class TimeColumn(Column):
    """A time as points on circles: the hour of the day and the day of the week, or the days of week and year."""

    kind = "time"
    watched = "steps"
    measure = "seconds since the row before"
    schema = frozenset[str]()
    added_with = str

    def __init__(self, name: str, *, hours: bool, form: str | None = None, na: Sequence[str] = ()) -> None:
        if form not in FORMS:
            raise invalid(name)
        self.hours = hours
        self.form = form
        self.cycles: tuple[str, ...] = ("hour", "weekday") if hours else ("weekday", "day of year")
        if form == "hour:minute":
            self.cycles = ("hour",)
        elif FORMS[form].monthly:
            self.cycles = ("day of year",)
        features = tuple(f"{name} {wave} {cycle}" for cycle in self.cycles for wave in ("sin", "cos"))
        treatment = f"{' and '.join(self.cycles)} as points on a circle"
        treatment += "" if form is None else f", read as {form}"
        super().__init__(name, features, f"{treatment}; its middle for a missing value", na)

    @classmethod
    def detect(cls, head: ColumnHead) -> Column | str | None:
        """In text, a few cells that are no times make their rows bad, and many make it a column of categories."""
        import pyarrow as pa

        if pa.types.is_timestamp(head.cells.type) or pa.types.is_date(head.cells.type):
            return cls(head.name, hours=_has_hours(timestamps(head.cells)))
        if not head.is_of_words and not (head.is_text and head.form is not None):  # else 20240131 is a number
            return None
        cells = head.words
        form = head.form or form_of(cells)
        if form is None:
            return None
        if form.unclear:
            example = cells.drop_null()[0].as_py()
            return f"left out: its dates, such as {example}, may be day/month or month/day: write them as 2024-01-31"
        times, wrong = times_in(cells, form.form)
        if head.form is None and wrong.sum() > max(1, FEW_WORDS * (len(cells) - cells.null_count)):
            return None
        return cls(head.name, hours=_has_hours(times), form=form.form)

    @classmethod
    def described(cls, name: str, said: Mapping[str, Any]) -> Column:
        return cls(name, hours=True)

    def options(self) -> dict[str, Any]:
        return {"hours": self.hours, "form": self.form}

    @property
    def is_exchangeable(self) -> bool:  # type: ignore[override]
        return FORMS[self.form].exchanged is not None

    def parse(self, column: pa.ChunkedArray) -> NDArray[np.datetime64]:
        return timestamps(without(column, self.na), self.form)

    def parse_values(self, values: Sequence[Any]) -> NDArray[np.datetime64] | None:
        if self.form is not None or self.na or not all(value is None or _is_plain_time(value) for value in values):
            return None
        times = [None if value != value else value for value in values]  # as pandas' NaT
        return np.array(times, dtype="datetime64[us]")

    def parse_one(self, value: Any) -> Any:
        if value is None or value != value or self.na:  # as pandas' NaT
            return NOT_ONE if self.na else None
        if type(value) is str:
            return (time_of(value, self.form) or NOT_ONE) if value else None
        return value if self.form is None and _is_plain_time(value) else NOT_ONE

    def encode_one(self, cell: datetime | None, out: list[float], *, learn: bool) -> bool:
        """As `encode`, to the last bit: the same numbers are divided, and NumPy takes the sine of them."""
        if cell is None:
            out += [0.0] * len(self.features)
            return True
        micros = ((cell.hour * 60 + cell.minute) * 60 + cell.second) * 10**6 + cell.microsecond
        day, of_day = cell.toordinal(), micros / _DAY
        turns = {"hour": of_day, "weekday": (float(day - _MONDAY) + of_day) % 7 / 7}
        if "day of year" in self.cycles:
            turns["day of year"] = ((day - date(cell.year, 1, 1).toordinal()) * _DAY + micros) / _DAY / 365.2425
        angles = 2 * np.pi * np.array([turns[cycle] for cycle in self.cycles])
        for waves in zip(np.sin(angles).tolist(), np.cos(angles).tolist(), strict=True):
            out += waves
        return False

    def missing(self, parsed: NDArray[np.datetime64]) -> NDArray[np.bool_]:
        return np.isnat(parsed)

    def clock(self, parsed: NDArray[np.datetime64]) -> NDArray[np.datetime64] | None:
        return None if self.form == "hour:minute" else parsed

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


def _is_plain_time(value: object) -> bool:
    return isinstance(value, datetime) and value.tzinfo is None


def _has_hours(times: NDArray[np.datetime64]) -> bool:
    known = times[~np.isnat(times)]
    return bool((known != known.astype("datetime64[D]")).any())
