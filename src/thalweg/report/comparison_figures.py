"""Figures that set models side by side: mean ranks, errors over time, and the weights of a committee's members."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from thalweg.report import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Heights in the units of one line of text.
_FIRST_BAR, _BAR_STEP = 0.55, 0.34


def draw_mean_ranks(mean_ranks: Mapping[str, float], difference: float, *, title: str) -> Figure:
    """Mean ranks on a line; bars join models between which the test finds no difference (Demšar 2006).

    The better half of the models named on the left, the others on the right, best (rank 1) and worst outermost.
    Ranks differ from ``difference`` on.
    """
    order = sorted(mean_ranks, key=lambda name: mean_ranks[name])
    ranks = [mean_ranks[name] for name in order]
    bars = groups(ranks, difference)
    left = math.ceil(len(order) / 2)
    below_bars = _FIRST_BAR + _BAR_STEP * len(bars)
    depth = below_bars + left + 0.3
    with style.house_style():
        figure = style.new_figure(9.0, 1.3 + 0.23 * depth)
        axes = figure.subplots()
        axes.set_title(title)
        low, high = 1.0, float(max(2, len(order)))
        room = 0.42 * (high - low)
        axes.set_xlim(low - room, high + room)
        axes.set_ylim(depth, -1.9)
        axes.axis("off")
        axes.set(xticks=[], yticks=[])
        _draw_scale(axes, low, high)
        axes.plot([low, low + difference], [-1.25, -1.25], color=style.INK, linewidth=1.6, marker="|", markersize=7)
        axes.text(
            low + difference + 0.02 * (high - low),
            -1.25,
            f"critical difference {difference:.2f}",
            va="center",
            fontsize=9,
        )
        for number, (first, last) in enumerate(bars):
            height = _FIRST_BAR + _BAR_STEP * number
            axes.plot([ranks[first] - 0.06, ranks[last] + 0.06], [height] * 2, color=style.INK, linewidth=3.4)
        for place, (name, rank) in enumerate(zip(order, ranks, strict=True)):
            on_left = place < left
            height = below_bars + (place if on_left else len(order) - 1 - place) + 0.5
            edge = low - 0.03 * room if on_left else high + 0.03 * room
            axes.plot([rank, rank, edge], [0.0, height, height], color=style.GREY, linewidth=0.8, zorder=1)
            text = f"{name}  {rank:.1f}" if on_left else f"{rank:.1f}  {name}"
            gap = -0.03 * room if on_left else 0.03 * room
            axes.text(edge + gap, height, text, ha="right" if on_left else "left", va="center", fontsize=9)
    return figure


def groups(ranks: Sequence[float], difference: float) -> list[tuple[int, int]]:
    """The longest runs of sorted ranks that span less than the difference, as places of first and last.

    Examples
    --------
    >>> groups([1.0, 1.5, 2.6, 4.0], 1.3)
    [(0, 1), (1, 2)]
    """
    bars: list[tuple[int, int]] = []
    for first in range(len(ranks)):
        last = max(place for place in range(first, len(ranks)) if ranks[place] - ranks[first] <= difference)
        if last > first and (not bars or last > bars[-1][1]):
            bars.append((first, last))
    return bars


def _draw_scale(axes: Axes, low: float, high: float) -> None:
    axes.plot([low, high], [0.0, 0.0], color=style.INK, linewidth=1.2)
    step = 1 if high <= 12 else 2
    for rank in range(int(low), int(high) + 1):
        labelled = (rank - 1) % step == 0
        axes.plot([rank, rank], [0.0, -0.22 if labelled else -0.12], color=style.INK, linewidth=1.0)
        if labelled:
            axes.text(rank, -0.32, str(rank), ha="center", va="bottom", fontsize=8.5)


def draw_side_by_side(
    errors: Mapping[str, tuple[NDArray[np.int64], NDArray[np.float64]]], *, title: str, label: str
) -> Figure:
    """The error of several models over time: by name, the rows seen at each point and the error there."""
    with style.house_style():
        figure = style.new_figure(9.0, 3.9)
        axes = figure.subplots()
        axes.set_title(title)
        for at, (name, (rows, error)) in enumerate(errors.items()):
            colour, dashes = style.PALETTE[at % len(style.PALETTE)], ("-", (0, (4, 1.5)), (0, (1, 1.2)))[at % 3]
            axes.plot(rows, error, color=colour, linestyle=dashes, label=style.label(name, 60))
        axes.set(xlabel="rows seen", ylabel=label)
        axes.set_xlim(0, max(int(rows[-1]) for rows, _ in errors.values()))
        style.share_from_zero(axes, max(float(np.nanmax(error)) for _, error in errors.values()))
        axes.xaxis.set_major_formatter("{x:,.0f}")
        style.legend_below(figure)
    return figure


def draw_member_weights(
    rows: NDArray[np.int64],
    shares: Mapping[str, NDArray[np.float64]],
    *,
    title: str,
    block: int | None = None,
    changes: Sequence[float] = (),
) -> Figure:
    """Stacked areas that fill the height, members of one family side by side in shades of one colour.

    ``shares`` are means of ``block`` rows each; without it they are those of the moment.
    """
    with style.house_style():
        figure = style.new_figure(9.0, 4.8)
        axes = figure.subplots()
        axes.stackplot(
            rows, *shares.values(), labels=list(shares), colors=_shades(list(shares)), linewidth=0.25, edgecolor="white"
        )
        axes.set_title(title)
        axes.set(xlabel="rows seen", ylabel="weight" + (f"\n(mean of {block:,} rows)" if block else ""))
        for change in changes:
            axes.axvline(change, color=style.INK, linewidth=0.9, linestyle=(0, (1, 2)))
        axes.set_xlim(float(rows[0]), float(rows[-1]))
        axes.set_ylim(0.0, 1.0)
        axes.grid(visible=False)
        axes.xaxis.set_major_formatter("{x:,.0f}")
        handles, labels = axes.get_legend_handles_labels()
        figure.legend(handles[::-1], labels[::-1], loc="outside right center", handlelength=1.2)
    return figure


def _shades(members: list[str]) -> list[tuple[float, float, float]]:
    """A colour for each member: its family's, from full to light."""
    from matplotlib.colors import to_rgb

    shades = []
    for family, group in groupby(members, key=style.family):
        full = np.array(to_rgb(style.PALETTE[style.FAMILIES.get(family, style.PALETTE.index(style.PURPLE))]))
        of_family = list(group)
        for light in np.linspace(0.0, 0.75, len(of_family)) if len(of_family) > 1 else (0.0,):
            red, green, blue = full + light * (1.0 - full)
            shades.append((float(red), float(green), float(blue)))
    return shades
