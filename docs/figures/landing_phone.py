"""The landing page's figure for a narrow screen: the same, with its snapshots in two rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from _landing import MOMENTS, ROWS, moments_and_errors

from thalweg.report import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw() -> Figure:
    """As wide as a phone, so that letters are as large as those of the page."""
    figure = style.new_figure(3.9, 6.6)
    above, below = figure.subfigures(2, 1, height_ratios=[7, 6])
    places = ((ROWS, 0.85), (ROWS, 0.79), (ROWS, 0.73))  # above the curves, where there is room
    moments_and_errors(above.subplots(2, len(MOMENTS) // 2).ravel(), below.subplots(), places)
    return figure
