"""The idea in one picture: a class that moves, the border that follows it, and two that do not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from _landing import MOMENTS, ROWS, moments_and_errors

from thalweg.report import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw() -> Figure:
    """Snapshots side by side, the errors below."""
    figure = style.new_figure(7.2, 4.7)
    above, below = figure.subfigures(2, 1, height_ratios=[5, 6])
    places = ((8_300, 0.6), (16_300, 0.31), (ROWS - 150, 0.06))
    moments_and_errors(above.subplots(1, len(MOMENTS)), below.subplots(), places)
    return figure
