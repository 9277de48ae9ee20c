"""The shares of a committee's members over time, one upon the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from thalweg.report import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: A family of members, by the first word of its name, keeps one colour; its members are shades of it.
_FAMILIES = {
    "O-LDC": style.BLUE,
    "perceptron": style.GREY,
    "passive-aggressive": style.VERMILION,
    "logistic": style.GREEN,
    "persistence": style.ORANGE,
}


def draw(
    rows: NDArray[np.int64],
    shares: Mapping[str, NDArray[np.float64]],
    *,
    title: str,
    block: int | None = None,
    changes: Sequence[float] = (),
) -> Figure:
    """Stacked areas that fill the height, members of one family side by side in shades of one colour.

    Parameters
    ----------
    rows : array
        How many rows had been seen at each point.
    shares : mapping of member to array
        Each member's mean share at the same points.
    title : str
        What was run.
    block : int, optional
        Rows over which shares are averaged, for the axis label; without it they are those of the moment.
    changes : sequence of float
        Moments of change.
    """
    with style.house_style():
        figure = style.new_figure(9.0, 4.8)
        axes = figure.subplots()
        axes.stackplot(
            rows, *shares.values(), labels=list(shares), colors=_shades(list(shares)), linewidth=0.25, edgecolor="white"
        )
        axes.set_title(title)
        axes.set(xlabel="rows seen", ylabel="share in the answer" + (f"\n(mean of {block:,} rows)" if block else ""))
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
    for family, group in groupby(members, key=lambda member: member.split()[0]):
        full = np.array(to_rgb(_FAMILIES.get(family, style.PURPLE)))
        of_family = list(group)
        for light in np.linspace(0.0, 0.75, len(of_family)) if len(of_family) > 1 else (0.0,):
            red, green, blue = full + light * (1.0 - full)
            shades.append((float(red), float(green), float(blue)))
    return shades
