"""Curves over time: one learner beside the baselines, several learners, and the weights of a committee's members."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from thalweg.report import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_over_time(
    rows: NDArray[np.int64],
    errors: Mapping[str, NDArray[np.float64]],
    rate: tuple[NDArray[np.int64], NDArray[np.float64]] | None,
    *,
    title: str,
    window: int,
    changes: Sequence[float] = (),
) -> Figure:
    """Error and learning rate over time.

    ``rows`` is how many rows had been seen at each point of the errors, each the mean of the last ``window`` rows, the
    learner of interest first. ``rate`` has rows and rates of its own; without it the lower panel is left out.
    """
    with style.house_style():
        figure = style.new_figure(9.0, 5.2 if rate is not None else 3.6)
        panels = 1 if rate is None else 2
        axes_column = figure.subplots(
            panels, 1, sharex=True, squeeze=False, height_ratios=[5, 3] if panels == 2 else [1]
        )[:, 0]
        above = axes_column[0]
        above.set_title(title)
        above.set_ylabel(f"error\n(share of the last {window:,} rows)")
        for name, error in errors.items():
            look = style.look_of(name, style.MAIN)
            above.plot(rows, error, color=look.colour, linestyle=look.dashes, label=name)
        above.set_xlim(0, int(rows[-1]))
        style.share_from_zero(above, max(float(np.max(error)) for error in errors.values()))
        if rate is not None:
            below = axes_column[1]
            below.plot(*rate, color=style.look_of(next(iter(errors)), style.MAIN).colour)
            below.set_ylabel("learning rate\n(no unit)")
            below.set_ylim(0.0, 1.05 * max(1.0, float(np.nanmax(rate[1]))))
        for axes in axes_column:
            style.mark_changes(axes, changes)
        axes_column[-1].set_xlabel("rows seen")
        axes_column[-1].xaxis.set_major_formatter("{x:,.0f}")
        style.legend_below(figure)
    return figure


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
