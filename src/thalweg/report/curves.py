"""Curves over time: several learners, and the weights of a committee's members."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from thalweg.report import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
