"""A budget of so many labels in each period of time, as the share of the rows to come."""

from __future__ import annotations

from typing import ClassVar

from thalweg.option_fields import UNITS, parse_per
from thalweg.saved import Saved

#: What a budget must be, as it is written.
RULE = "be a share of the rows above 0 and at most 1, or a number per period, such as 0.1, 100/day or 5/100rows"

#: Rows after which the rows of the first period are foreseen by how many came in its part so far.
_FIRST_ROWS = 20
#: The least share of a period's rows that is held to be still to come.
_STILL = 0.1


class PeriodShare(Saved):
    """What is left of the budget over the rows still expected in the period, of which the last one had as many.

    No more than ``count`` rows are asked for in a period; what is not used is not carried over.

    Examples
    --------
    >>> budget = PeriodShare(5, 100)
    >>> budget.share(now=0, asked=0), budget.share(now=3, asked=5)  # five were asked for: nothing is left
    (0.1, 0.0)
    """

    _saved: ClassVar[tuple[str, ...]] = ("_period", "_began", "_rows", "_before", "_asked")

    def __init__(self, count: int, length: int) -> None:
        self.count = count
        self.length = length
        #: The period, the time of its first row, its rows so far, and how many had been asked for before it.
        self._period: int | None = None
        self._began = self._rows = self._asked = 0
        #: Rows of the period before; 0 while there is none.
        self._before = 0

    def share(self, now: int, asked: int) -> float:
        """The share at a row of this time, when so many rows were asked for in all."""
        period = now // self.length
        if self._period is None or period > self._period:
            self._before = self._rows if self._period is not None else 0
            self._period, self._began, self._rows, self._asked = period, now, 0, asked
        self._rows += 1
        left = self.count - (asked - self._asked)
        if left <= 0:
            return 0.0
        expected = float(self._before)
        if not self._before:
            gone = (now - self._began) / self.length
            expected = self._rows / gone if self._rows >= _FIRST_ROWS and gone > 0 else 10.0 * self.count
        return min(left / max(expected - self._rows + 1, _STILL * expected, 1.0), 1.0)


def parse_budget(text: str) -> float | PeriodShare:
    """A share of the rows, or so many labels in a period of time; a `ValueError` for anything else.

    Examples
    --------
    >>> parse_budget("0.1"), parse_budget("100/10000rows"), parse_budget("5/hour").count
    (0.1, 0.01, 5)
    """
    count, rows, unit = parse_per(text) or (None, None, None)
    if count is not None and unit is not None:
        return PeriodShare(count, UNITS[unit])
    share = float(text) if count is None or rows is None else count / rows
    if not 0.0 < share <= 1.0:
        raise ValueError(text)
    return share
