"""Features from earlier rows by a double loop: each value from all rows and labels before its row, nothing remembered.

An entry is an earlier row, or a label that is known by then. It has a clock, which is the latest time of the rows read
so far: it does not go back, and stays where a time is missing. Without times the clock counts rows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from thalweg.history.language import TARGET, Call, Feature, OwnColumn, evaluate


@dataclass(frozen=True)
class Entry:
    clock: float
    value: Any


def oracle(
    features: Sequence[Feature],
    rows: Sequence[Mapping[str, Any]],
    *,
    times: Sequence[float | None] | None = None,
    target: Sequence[Any] | None = None,
    due: Sequence[float | None] | None = None,
    delay: int = 0,
    label: str | None = None,
    name: str | None = None,
) -> dict[str, list[Any]]:
    """The column of every feature: numbers, or words where `last` or `lag` is of a column of words; NaN for nothing.

    `target` has the labels, None where there is none. They are known `delay` rows late, or at the times `due` (None:
    never). `label` is the one that ``rate(target)`` is about, and `name` the target's column.
    """
    table = Table(rows, times, target, due, delay, label, name)
    return {feature.name: column(feature, table) for feature in features}


def column(feature: Feature, table: Table) -> list[Any]:
    if isinstance(feature.expression, Call):
        values = [table.value(feature.expression, row) for row in range(len(table.rows))]
        if any(isinstance(value, str) for value in values):
            return values

    def numbers(leaf: Call | OwnColumn) -> np.ndarray:
        if isinstance(leaf, Call):
            return np.array([table.value(leaf, row) for row in range(len(table.rows))], dtype=float)
        return np.array(
            [math.nan if is_missing(row.get(leaf.name)) else row[leaf.name] for row in table.rows], dtype=float
        )

    return evaluate(feature.expression, numbers).tolist()


def is_missing(value: Any) -> bool:
    return value is None or value != value


def age(now: float, then: float) -> float:
    return 0.0 if now == then else now - then  # also where both are before the first time


class Table:
    def __init__(self, rows, times, target, due, delay, label, name) -> None:
        self.rows, self.label, self.of_target = rows, label, (TARGET, name)
        self.clocks: list[float] = []
        for row in range(len(rows)):
            before = self.clocks[-1] if self.clocks else -math.inf
            time = row if times is None else times[row]
            self.clocks.append(before if is_missing(time) else max(before, time))
        #: Of labels that become known: before which row, when they were due, and which they are.
        self.known: list[tuple[int, float, int]] = []
        self.target = target or []
        for row, value in enumerate(self.target):
            at = row + delay if due is None else due[row]
            if is_missing(value) or is_missing(at):
                continue
            knows = [later for later in range(row + 1, len(rows)) if due is None or self.clocks[later] >= at]
            if len(knows) > (delay if due is None else 0):
                self.known.append((knows[delay if due is None else 0], at, row))
        self.known.sort()

    def key(self, call: Call, row: int) -> tuple[Any, ...] | None:
        """The cells after `by`; None where one is missing."""
        cells = tuple(self.rows[row].get(name) for name in call.by)
        return None if any(map(is_missing, cells)) else cells

    def entries(self, call: Call, row: int) -> list[Entry]:
        """The rows, or labels, of the same key before a row, the newest first."""
        key = self.key(call, row)
        if call.column is None or call.column not in self.of_target:
            earlier = [other for other in range(row) if self.key(call, other) == key]
            return [Entry(self.clocks[other], self.rows[other].get(call.column)) for other in reversed(earlier)]
        known = [item for item in self.known if item[0] <= row and self.key(call, item[2]) == key]
        return [Entry(self.clocks[first - 1], self.label_of(call, labelled)) for first, _, labelled in reversed(known)]

    def label_of(self, call: Call, row: int) -> Any:
        value = self.target[row]
        return float(str(value) == (call.label or self.label)) if call.function == "rate" else value

    def value(self, call: Call, row: int) -> Any:
        if self.key(call, row) is None:
            return math.nan
        entries, now = self.entries(call, row), self.clocks[row]
        if call.function == "since_last":
            return age(now, entries[0].clock) if entries else math.nan
        if call.steps is not None:
            value = entries[call.steps - 1].value if call.steps <= len(entries) else math.nan
            return math.nan if is_missing(value) else value
        in_rows = call.window is not None and call.window.unit == "rows"
        distances, values = [], []
        for later, entry in enumerate(entries):
            distance = later if in_rows else age(now, entry.clock)
            is_within = call.window is None or call.window.fading or distance < call.window.length
            if is_within and distance >= (call.span or 0) and not (call.column and is_missing(entry.value)):
                distances.append(distance)
                values.append(entry.value)
        return summary(call, distances, values)


def summary(call: Call, distances: list[float], values: list[Any]) -> Any:
    """Of what is in a window, the newest first."""
    fades = call.window is not None and call.window.fading

    def weight_of(distance: float) -> float:
        return 2 ** (-distance / call.window.length) if fades else 1.0

    weights = [weight_of(distance) for distance in distances]
    if call.function == "count":
        return math.fsum(weights)
    if call.function == "distinct":
        return len(set(values))
    if call.function == "sum":
        return math.fsum(weight * value for weight, value in zip(weights, values, strict=True))
    if not values:
        return math.nan
    if call.function in ("min", "max"):
        return min(values) if call.function == "min" else max(values)
    if call.function in ("last", "lag"):
        return values[0]
    # A weighted mean is the same for weights that are all greater by one factor: none is lost where all are old.
    weights = [weight_of(age(distance, distances[0])) for distance in distances]
    mean = math.fsum(weight * value for weight, value in zip(weights, values, strict=True)) / math.fsum(weights)
    if call.function != "std":
        return mean
    squares = [weight * (value - mean) ** 2 for weight, value in zip(weights, values, strict=True)]
    return math.sqrt(math.fsum(squares) / math.fsum(weights))
