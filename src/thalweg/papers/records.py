"""Numbers of a paper beside ours, as records: findings, table cells, facts, measurements, errors over splits,
durations.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple, Protocol, Self, TypedDict

import numpy as np
from numpy.typing import NDArray

from thalweg.evaluate import mean_interval
from thalweg.files import write_atomically


class Reported(Protocol):
    """Numbers that can be written as JSON objects."""

    def rows(self) -> Sequence[Mapping[str, Any]]:
        """The objects."""


class Row(TypedDict):
    """A finding as other programs read it."""

    paper: str
    item: str
    data: str
    model: str
    rate: float | None
    paper_value: float | None
    measured: float
    ci95: float | None
    runs: int


@dataclass(frozen=True)
class Printed:
    """What the paper prints: an error, the half-width of its 95 % interval, and the rate if it names one."""

    error: float
    ci95: float
    rate: float | None = None


@dataclass(frozen=True)
class Finding:
    """A mean error measured here, and the paper's."""

    paper: str
    item: str
    data: str
    model: str
    #: How the paper writes the model's rate, empty for models without one.
    symbol: str
    #: The fixed rate; none where it adapts itself or the model has none.
    rate: float | None
    measured: float
    #: Half-width of the 95 % interval; none where a single run allows no interval.
    ci95: float | None
    runs: int
    printed: Printed | None = None
    #: Measured error and half-width at the rate the paper prints, where that is not the rate above.
    at_printed_rate: tuple[float, float | None] | None = None
    #: Whether the error differs from O-LDC's at p < 0.05; none where it cannot be told.
    differs: bool | None = None
    kappa_temporal: float | None = None

    def rows(self) -> list[Row]:
        """The finding as JSON objects; what was measured at the paper's own rate has an item of its own."""
        row = Row(
            paper=self.paper,
            item=self.item,
            data=self.data,
            model=self.model,
            rate=self.rate,
            paper_value=None if self.printed is None else self.printed.error,
            measured=self.measured,
            ci95=self.ci95,
            runs=self.runs,
        )
        if self.printed is None or self.at_printed_rate is None:
            return [row]
        error, ci95 = self.at_printed_rate
        there = replace(
            self,
            item=f"{self.item}-at-paper-rate",
            rate=self.printed.rate,
            measured=error,
            ci95=ci95,
            at_printed_rate=None,
        )
        return [row, *there.rows()]


def write_json(findings: Sequence[Reported], path: Path) -> None:
    """Write the findings as a JSON list; readers see the old file or the whole new one, never a part."""
    text = json.dumps([row for finding in findings for row in finding.rows()], indent=1, allow_nan=False) + "\n"
    write_atomically(path, text.encode())


class CellRow(Row):
    """A cell as other programs read it."""

    window: int | str | None
    sd_curve: float
    mean_sd: float | None
    paper_sd_curve: float | None
    paper_mean_sd: float | None


@dataclass(frozen=True)
class Curve:
    """An error curve in three numbers."""

    #: Mean over time of the mean over runs.
    mean: float
    #: Standard deviation over time of the mean over runs.
    sd_curve: float
    #: Mean over time of the standard deviation over runs; none for a single run.
    mean_sd: float | None


@dataclass(frozen=True)
class Cell:
    """A curve measured here, and the paper's."""

    paper: str
    item: str
    data: str
    model: str
    #: The model's rate; none where it has none.
    rate: float | None
    #: Time points behind the trend; none without one.
    window: int | str | None
    measured: Curve
    #: Half-width of the mean's 95 % interval; none for a single run.
    ci95: float | None
    runs: int
    printed: Curve | None = None

    @property
    def deviation(self) -> float | None:
        """Measured mean less the printed one."""
        return None if self.printed is None else self.measured.mean - self.printed.mean

    def rows(self) -> list[CellRow]:
        """The cell as one JSON object."""
        printed = self.printed
        return [
            CellRow(
                paper=self.paper,
                item=self.item,
                data=self.data,
                model=self.model,
                rate=self.rate,
                paper_value=None if printed is None else printed.mean,
                measured=self.measured.mean,
                ci95=self.ci95,
                runs=self.runs,
                window=self.window,
                sd_curve=self.measured.sd_curve,
                mean_sd=self.measured.mean_sd,
                paper_sd_curve=None if printed is None else printed.sd_curve,
                paper_mean_sd=None if printed is None else printed.mean_sd,
            )
        ]


@dataclass(frozen=True)
class Fact:
    """A quantity, as the paper prints it and as it was measured here."""

    paper: str
    item: str
    #: The part of the paper it belongs to.
    part: str
    quantity: str
    measured: float
    #: Half-width of the mean's 95 % interval; none for what has no runs, or one.
    ci95: float | None = None
    runs: int = 1
    #: None where the paper gives no number.
    printed: float | None = None
    #: What must be known of it: a misprint, a condition.
    remark: str = ""

    def rows(self) -> list[Row]:
        """The fact as one JSON object."""
        return [
            Row(
                paper=self.paper,
                item=self.item,
                data=self.part,
                model=self.quantity,
                rate=None,
                paper_value=self.printed,
                measured=self.measured,
                ci95=self.ci95,
                runs=self.runs,
            )
        ]


def distinct_remarks(facts: Sequence[Fact]) -> list[str]:
    """Each remark once, in the order of the facts."""
    return list(dict.fromkeys(fact.remark for fact in facts if fact.remark))


def remarks(facts: Sequence[Fact]) -> tuple[str, ...]:
    """The remarks, numbered as in the table."""
    return tuple(f"({number}) {said}" for number, said in enumerate(distinct_remarks(facts), start=1))


class MeasurementRow(Row):
    """A measurement as other programs read it."""

    measure: str


@dataclass(frozen=True)
class Measurement:
    """What was measured of a model on a data set."""

    paper: str
    item: str
    data: str
    model: str
    #: What the number is, such as "accuracy" or "blocks to recover".
    measure: str
    value: float
    #: Half-width of the 95 % interval; none for a single run.
    ci95: float | None
    runs: int

    @classmethod
    def of_runs(cls, paper: str, item: str, data: str, model: str, measure: str, runs: NDArray[np.float64]) -> Self:
        """The mean over runs, and how sure it is."""
        ci95 = mean_interval(runs).halfwidth if len(runs) > 1 else None
        return cls(paper, item, data, model, measure, float(runs.mean()), ci95, len(runs))

    def rows(self) -> list[MeasurementRow]:
        """The measurement as one JSON object."""
        return [
            MeasurementRow(
                paper=self.paper,
                item=self.item,
                data=self.data,
                model=self.model,
                rate=None,
                paper_value=None,
                measured=self.value,
                ci95=self.ci95,
                runs=self.runs,
                measure=self.measure,
            )
        ]


class Spread(NamedTuple):
    """A mean error and its standard deviation over the splits, as shares of the test rows."""

    mean: float
    #: None for a single split.
    sd: float | None

    def __str__(self) -> str:
        """In per cent, as papers print it."""
        return f"{100.0 * self.mean:.1f}" + ("" if self.sd is None else f"±{100.0 * self.sd:.1f}")


class SplitErrorRow(Row):
    """A split error as other programs read it."""

    sd: float | None
    paper_sd: float | None
    parameters: dict[str, float]


@dataclass(frozen=True)
class SplitError:
    """A mean error over splits measured here, and the paper's."""

    paper: str
    item: str
    data: str
    model: str
    measured: Spread
    #: Half-width of the mean's 95 % interval; none for a single split.
    ci95: float | None
    splits: int
    printed: Spread | None = None
    #: With which the model was measured, where all splits share them.
    parameters: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        paper: str,
        item: str,
        data: str,
        model: str,
        errors: NDArray[np.float64],
        printed: Spread | None = None,
        parameters: Mapping[str, float] | None = None,
    ) -> SplitError:
        """From the error of each split.

        Examples
        --------
        >>> str(SplitError.of("p", "table1", "heart", "METH.", np.array([0.16, 0.18])).measured)
        '17.0±1.4'
        """
        several = len(errors) > 1
        measured = Spread(float(errors.mean()), float(errors.std(ddof=1)) if several else None)
        ci95 = mean_interval(errors).halfwidth if several else None
        return cls(paper, item, data, model, measured, ci95, len(errors), printed, parameters or {})

    @property
    def deviation(self) -> float | None:
        """Measured mean less the printed one."""
        return None if self.printed is None else self.measured.mean - self.printed.mean

    def rows(self) -> list[SplitErrorRow]:
        """The error as one JSON object."""
        printed = self.printed
        return [
            SplitErrorRow(
                paper=self.paper,
                item=self.item,
                data=self.data,
                model=self.model,
                rate=None,
                paper_value=None if printed is None else printed.mean,
                measured=self.measured.mean,
                ci95=self.ci95,
                runs=self.splits,
                sd=self.measured.sd,
                paper_sd=None if printed is None else printed.sd,
                parameters=dict(self.parameters),
            )
        ]


@dataclass(frozen=True)
class Duration:
    """Processor seconds that a model took for an operation on so many training rows."""

    paper: str
    item: str
    data: str
    model: str
    operation: str
    rows_learned: int
    #: Never the same twice, so it makes no difference between durations.
    seconds: float = field(compare=False)

    def rows(self) -> list[Mapping[str, Any]]:
        """The duration as one JSON object."""
        return [asdict(self)]


def readable(seconds: float) -> str:
    """Three digits and the unit that fits.

    Examples
    --------
    >>> readable(0.000321), readable(0.0456), readable(12.3)
    ('321 µs', '45.6 ms', '12.3 s')
    """
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} µs"
