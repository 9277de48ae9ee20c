"""What reproducing one table or figure of a paper gives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from thalweg.report.finding import Finding

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Outcome:
    """An item's numbers beside the paper's, and its picture if it is a figure."""

    paper: str
    item: str
    title: str
    findings: tuple[Finding, ...]
    notes: tuple[str, ...] = ()
    #: Draws the picture; none for tables.
    draw: Callable[[], Figure] | None = None
