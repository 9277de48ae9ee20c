"""Where in a stream something happened, in words: at a row, or on the date of that row where the run has times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from thalweg.report.page.formats import count, listed

#: Days from which on dates need no hours, and seconds from which on times need no seconds.
_DAYS, _MINUTES = 90, 7200
#: Points that the page's script interpolates between.
_POINTS = 256


class RowAxis:
    """Of one run. Curves and changes of the error count labels as they came; columns count rows as they were read.

    Examples
    --------
    >>> points = {"labels": [1, 1001], "rows": [1, 1001], "times": [1704067200, 1790467200]}
    >>> axis = RowAxis({"times": {"column": "when", "kind": "time", **points}})
    >>> axis.at(501), axis.at([1, 1001]), axis.when(1)
    ('on 2025-05-15 (row 501)', 'on 2024-01-01 and 2026-09-27', '2024-01-01')
    >>> RowAxis({}).at(501), RowAxis({}).at([1, 1001]), RowAxis({}).when(1001)
    ('at row 501', 'at rows 1 and 1,001', '1,001')
    """

    def __init__(self, metrics: Mapping[str, Any]) -> None:
        self._times = metrics.get("times")
        #: The largest of these units of which all times are multiples: what lies between them is written so, too.
        self._unit = 1
        if self._times is not None and self.is_dated:
            times = self._times["times"]
            self._unit = next(unit for unit in (86_400, 3600, 60, 1) if unit == 1 or not any(t % unit for t in times))

    def __bool__(self) -> bool:
        """Whether there are times."""
        return self._times is not None

    @property
    def name(self) -> str:
        """What the axis counts, as a header."""
        return "row" if self._times is None else str(self._times["column"])

    def at(self, rows: int | Sequence[int], *, read: bool = False) -> str:
        """Some rows in a sentence; ``read`` where they count rows as they were read, and not labels."""
        numbers = [rows] if isinstance(rows, int) else list(rows)
        if self._times is None:
            return f"at row{'s' if len(numbers) > 1 else ''} {listed([count(row) for row in numbers])}"
        words = listed([self.when(row, read=read) for row in numbers])
        if len(numbers) == 1:
            words += f" (row {count(numbers[0])})"
        if not self.is_dated:
            return f"at {self._times['column']} {words}"
        return f"{'on' if self._digits == 10 else 'at'} {words}"

    def when(self, row: int, *, read: bool = False) -> str:
        """The time of a row, as exact as the whole run asks for; without times, its number."""
        if self._times is None:
            return count(row)
        time = float(np.interp(row, self._times["rows" if read else "labels"], self._times["times"]))
        if not self.is_dated:
            return count(round(time))
        return str(datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=time // self._unit * self._unit))[
            : self._digits
        ]

    @property
    def _digits(self) -> int:
        """Of an ISO date: 10 for days, 16 for minutes, 19 for seconds."""
        assert self._times is not None
        span = self._times["times"][-1] - self._times["times"][0]
        return 10 if span >= _DAYS * 86_400 or self._unit == 86_400 else 16 if span >= _MINUTES else 19

    @property
    def is_dated(self) -> bool:
        """Whether the times are dates, and not those of a counter."""
        return self._times is not None and self._times["kind"] == "time"

    def times_of(self, labels: Sequence[float]) -> list[float]:
        assert self._times is not None
        interpolated: list[float] = np.interp(labels, self._times["labels"], self._times["times"]).tolist()
        return interpolated

    def labels_at(self, times: Sequence[float]) -> list[float]:
        """How many labels had come at some times."""
        assert self._times is not None
        interpolated: list[float] = np.interp(times, self._times["times"], self._times["labels"]).tolist()
        return interpolated

    def points(self) -> dict[str, Any] | None:
        """What the page's script reads: labels that had come, and times, at some points."""
        if self._times is None:
            return None
        labels, times = self._times["labels"], self._times["times"]
        step = -(-len(labels) // _POINTS)
        kept = sorted({*range(0, len(labels), step), len(labels) - 1})
        return {
            "name": self.name,
            "isTime": self.is_dated,
            "digits": self._digits,
            "unit": self._unit,
            "rows": [labels[at] for at in kept],
            "times": [times[at] for at in kept],
        }
