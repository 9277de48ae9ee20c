"""Tables 1 and 2 of the paper: its printed numbers, and their layout beside the measured ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, TypeAlias

from thalweg.papers.registry import Finding
from thalweg.report import tables

if TYPE_CHECKING:
    from rich.table import Table

STAGGER, PLANE, ELEC2 = "STAGGER", "Moving plane", "ELEC2"

#: Marks an error that differs significantly from O-LDC's.
MARK = "•"


@dataclass(frozen=True)
class Printed:
    """A printed error, the half-width of its 95 % interval, and the rate if the paper names one."""

    error: float
    ci95: float
    rate: float | None = None


Printout: TypeAlias = Mapping[tuple[str, str], Printed]

TABLE_1: Printout = {
    (STAGGER, "O-LDC"): Printed(0.156, 0.024, rate=0.90),
    (STAGGER, "Perceptron"): Printed(0.191, 0.023, rate=0.91),
    (STAGGER, "Winnow"): Printed(0.197, 0.025, rate=0.01),
    (STAGGER, "Hiraoka's LDA"): Printed(0.334, 0.029, rate=0.01),
    (PLANE, "O-LDC"): Printed(0.082, 0.005, rate=0.96),
    (PLANE, "Perceptron"): Printed(0.116, 0.003, rate=0.70),
    (PLANE, "Winnow"): Printed(0.110, 0.009, rate=0.20),
    (PLANE, "Hiraoka's LDA"): Printed(0.139, 0.005, rate=0.36),
    (ELEC2, "O-LDC"): Printed(0.162, 0.0342, rate=0.50),
    (ELEC2, "Perceptron"): Printed(0.169, 0.035, rate=0.90),
    (ELEC2, "Winnow"): Printed(0.171, 0.035, rate=0.10),
    (ELEC2, "Hiraoka's LDA"): Printed(0.190, 0.036, rate=0.50),
}
TABLE_2: Printout = {
    (STAGGER, "O-LDC"): Printed(0.171, 0.022),
    (STAGGER, "Perceptron"): Printed(0.216, 0.023),
    (STAGGER, "Winnow"): Printed(0.211, 0.022),
    (STAGGER, "Hiraoka's LDA"): Printed(0.251, 0.017),
    (PLANE, "O-LDC"): Printed(0.101, 0.002),
    (PLANE, "Perceptron"): Printed(0.119, 0.002),
    (PLANE, "Winnow"): Printed(0.138, 0.005),
    (PLANE, "Hiraoka's LDA"): Printed(0.158, 0.002),
    (ELEC2, "O-LDC"): Printed(0.165, 0.035),
    (ELEC2, "Perceptron"): Printed(0.169, 0.035),
    (ELEC2, "Winnow"): Printed(0.172, 0.035),
    (ELEC2, "Hiraoka's LDA"): Printed(0.198, 0.036),
}


@dataclass(frozen=True)
class Comparison:
    """A line of a table: a model on a data set, here and in the paper."""

    finding: Finding
    #: How the paper writes the model's rate, empty for models without one.
    symbol: str
    printed: Printed | None = None
    #: Measured at the rate the paper prints.
    at_printed_rate: Finding | None = None
    #: Whether the error differs from O-LDC's at p < 0.05; None where it cannot be tested.
    differs: bool | None = None
    kappa_temporal: float | None = None

    def cells(self) -> list[str]:
        """The line, a cell for each of `HEADERS`."""
        finding, printed = self.finding, self.printed
        return [
            f" {finding.model} {self.symbol}".rstrip(),
            "" if printed is None or printed.rate is None else f"{printed.rate:.2f}",
            "" if finding.rate is None else f"{finding.rate:.2f}",
            "" if printed is None else _interval(printed.error, printed.ci95),
            _interval(finding.measured, finding.ci95) + (f" {MARK}" if self.differs else ""),
            "" if self.at_printed_rate is None else f"{self.at_printed_rate.measured:.3f}",
            "" if self.kappa_temporal is None else f"{self.kappa_temporal:+.3f}",
        ]


HEADERS = ("", "rate\npaper", "rate\nhere", "error\npaper", "error\nhere", "at paper\nrate", "κ tem-\nporal")
_LEFT = ("", "error\npaper", "error\nhere")


def layout(comparisons: Sequence[Comparison]) -> Table:
    """A section for each data set, its best model in bold, without the columns that would be empty."""
    columns = zip(*(comparison.cells() for comparison in comparisons), strict=True)
    shown = [place for place, column in enumerate(columns) if any(column)]
    groups = {}
    for data, group in groupby(comparisons, key=lambda comparison: comparison.finding.data):
        members = list(group)
        best = min((member.finding.measured for member in members if member.symbol), default=None)
        groups[data] = [
            tables.Styled(
                [member.cells()[place] for place in shown],
                "bold" if member.finding.measured == best else None if member.symbol else "dim",
            )
            for member in members
        ]
    headers = [HEADERS[place] for place in shown]
    return tables.sections(headers, groups, left=[place for place, header in enumerate(headers) if header in _LEFT])


def _interval(error: float, ci95: float | None) -> str:
    return f"{error:.3f}" if ci95 is None else f"{error:.3f} ± {ci95:.3f}"
