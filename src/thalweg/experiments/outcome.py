"""What reproducing one table or figure of a paper gives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from thalweg.report.finding import Reported

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.table import Table


@dataclass(frozen=True)
class Outcome:
    """An item's numbers beside the paper's, laid out as a table or drawn as a figure."""

    paper: str
    item: str
    title: str
    findings: tuple[Reported, ...]
    #: What the numbers come to, said with them.
    summary: tuple[str, ...] = ()
    #: What must be known to read them, said once for all items.
    notes: tuple[str, ...] = ()
    #: Lays out the table; none for figures. Two outcomes are equal if their numbers are.
    table: Callable[[], Table] | None = field(default=None, compare=False)
    #: Draws the picture; none for tables.
    draw: Callable[[], Figure] | None = field(default=None, compare=False)
    #: How long the work took, which is never the same twice.
    timing: str = field(default="", compare=False)
