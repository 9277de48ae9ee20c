"""One number of a paper beside ours, and lists of them as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol, TypedDict

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
