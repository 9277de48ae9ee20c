"""Rules such as ``error>0.2`` that say when an alert fires, for `thalweg run --alert` and the service.

    metric [(column)] [comparison number] [over N rows] [for N rows]

A rule of a value compares the mean of a metric over the last rows: 1,000 unless ``over`` says otherwise. With ``for``
it fires when that has held for so many rows. A rule of an event, such as ``input_drift``, has neither. Nothing of a
rule is ever evaluated as code.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from thalweg.errors import InvalidParameter

if TYPE_CHECKING:
    from thalweg.evaluate.metrics import Metric

#: Rows of the window where a rule names none.
WINDOW = 1000
_MOST_ROWS = 1_000_000
#: Of columns, for every task.
OF_COLUMNS = ("missing",)
#: What happens at a row, without a value.
EVENTS = ("input_drift", "new_category", "prediction_drift", "label_drift", "error_rise")
#: Rules that name a column, and those that may.
_NEEDS_COLUMN, _MAY_NAME_COLUMN = ("missing",), ("missing", "input_drift", "new_category")
_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}
_FORM = re.compile(
    r"(?P<metric>[a-z_][a-z0-9_]*+)(?:\s*+\((?P<column>.+)\))?"
    r"(?:\s*+(?P<comparison>[<>]=?+)\s*+(?P<bound>[-+]?(?:\d++\.?+\d*+|\.\d++)(?:[eE][-+]?\d++)?+))?"
    r"(?:\s++over\s++(?P<window>\d++)\s++rows?)?(?:\s++for\s++(?P<hold>\d++)\s++rows?)?"
)


@cache
def _followed() -> tuple[Metric, ...]:
    """Metrics that are read from sums over rows."""
    from thalweg.evaluate.metrics import METRICS  # loads NumPy, which help does without

    needed = {"probabilities", "positive", "intervals"}
    return tuple(metric for metric in METRICS.values() if metric.of_rows and needed.issuperset(metric.needs))


def followed(metrics: Iterable[Metric], has: Collection[str]) -> tuple[str, ...]:
    """What rules about these metrics and about columns may name, where there is so much for metrics to need."""
    return (*(metric.name for metric in metrics if metric in _followed() and metric.applies(has)), *OF_COLUMNS)


@dataclass(frozen=True)
class AlertRule:
    """One rule, as it was written and by its parts.

    Examples
    --------
    >>> rule = AlertRule.parse("missing(temperature) > 0.1 over 500 rows")
    >>> rule.metric, rule.column, rule.bound, rule.window, rule.holds(0.2)
    ('missing', 'temperature', 0.1, 500, True)
    >>> AlertRule.parse("error above 0.2")
    Traceback (most recent call last):
        ...
    thalweg.errors.InvalidParameter: --alert must be as in error>0.2, mae>3 for 500 rows, missing(COLUMN)>0.1 or \
input_drift, got 'error above 0.2'
    """

    text: str
    metric: str
    column: str | None = None
    comparison: str | None = None
    bound: float = 0.0
    window: int = WINDOW
    #: Rows for which the comparison must have held.
    hold: int = 0

    @classmethod
    def parse(cls, text: str) -> AlertRule:
        """The rule that was typed; `InvalidParameter` says what is wrong with it."""
        match = _FORM.fullmatch(text.strip())
        if match is None:
            raise _refusal("be as in error>0.2, mae>3 for 500 rows, missing(COLUMN)>0.1 or input_drift", text)
        metric, column, comparison = match["metric"], match["column"], match["comparison"]
        values = (*(metric.name for metric in _followed()), *OF_COLUMNS)
        if metric not in (*values, *EVENTS):
            raise _refusal(f"name one of {', '.join((*values, *EVENTS))}", text)
        if metric in EVENTS and (comparison or match["window"] or match["hold"]):
            raise _refusal(f"have no number behind {metric}, which happens at a row", text)
        if metric not in EVENTS and comparison is None:
            raise _refusal(f"compare {metric} with a number, in quotes, as in '{metric}>0.2'", text)
        if column is not None and metric not in _MAY_NAME_COLUMN:
            raise _refusal(f"name no column for {metric}", text)
        if column is None and metric in _NEEDS_COLUMN:
            raise _refusal(f"name a column, as in {metric}(temperature)>0.1", text)
        window, hold = int(match["window"] or WINDOW), int(match["hold"] or 0)
        if not 1 <= window <= _MOST_ROWS or hold > _MOST_ROWS:
            raise _refusal(f"look back on 1 to {_MOST_ROWS:,} rows", text)
        column, bound = None if column is None else column.strip(), float(match["bound"] or 0.0)
        shares = (*(metric.name for metric in _followed() if metric.form == "share"), *OF_COLUMNS)
        if metric in shares and (not 0.0 <= bound <= 1.0 or (comparison, bound) in ((">", 1.0), ("<", 0.0))):
            raise _refusal(f"compare {metric}, a share from 0 to 1, with a number that it can pass: 0.2 is 20 %", text)
        return cls(text.strip(), metric, column, comparison, bound, window, hold)

    @property
    def is_event(self) -> bool:
        return self.metric in EVENTS

    def holds(self, value: float) -> bool:
        """Whether a value raises an alert."""
        return self.comparison is not None and _COMPARISONS[self.comparison](value, self.bound)


class Holding:
    """Since when a rule of a value holds, and whether it has fired since then: again only after it has ceased to."""

    #: Rows so far when it began to hold; None while it does not.
    since: int | None = None
    fired = False

    def fires(self, rule: AlertRule, value: float | None, rows: int) -> bool:
        """Whether the rule fires now, after so many rows; a value that is not known raises no alert."""
        if value is None or not rule.holds(value):
            self.since, self.fired = None, False
            return False
        self.since = rows if self.since is None else self.since
        before, self.fired = self.fired, self.fired or rows - self.since >= rule.hold
        return self.fired and not before


def _refusal(rule: str, text: str) -> InvalidParameter:
    return InvalidParameter.of_option("alert", rule, text)
