"""The figures of the papers: panels beside and below each other, in each of them curves and other marks, one legend."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import zip_longest
from operator import methodcaller
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from thalweg.report import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats: TypeAlias = NDArray[np.float64]
#: Draws itself on axes; `methodcaller` makes one of any method of theirs.
Mark: TypeAlias = Callable[[Any], object]

SMALL = {"fontsize": 10.5}
IN_PLANE = "$x_1$ (no unit)", "$x_2$ (no unit)"


@dataclass(frozen=True)
class Curve:
    """Values of one model over time, learning rate or number of rows."""

    model: str
    x: NDArray[Any]
    y: Floats
    #: For the legend; the model's name by default.
    label: str = ""
    #: Lowest and highest values of a band around y.
    band: tuple[Floats, Floats] | None = None
    #: Mean over the whole stream, by default that of y, and the paper's.
    mean: float | None = None
    paper_mean: float | None = None
    #: The (x, y) the paper prints as its best.
    paper_best: tuple[float, float] | None = None
    #: By default that of the model.
    look: style.Look | None = None

    def draw(self, axes: Axes, *, markersize: float | None = None, shade: float = 0.15, **options: Any) -> None:
        """In the look of the model, with markers if they have a size."""
        look = self.look or style.look_of(self.model)
        if self.band is not None:
            axes.fill_between(self.x, *self.band, color=look.colour, alpha=shade, linewidth=0)
        if markersize is not None:
            options |= {"marker": look.marker, "markersize": markersize}
        axes.plot(self.x, self.y, color=look.colour, linestyle=look.dashes, label=self.label or self.model, **options)


@dataclass(frozen=True)
class Panel:
    title: str
    curves: Sequence[Curve] = ()
    x_label: str = ""
    y_label: str = ""
    #: Times of sudden change.
    changes: Sequence[float] = ()
    #: Drawn after the curves.
    marks: Sequence[Mark] = ()
    #: Of `Axes.set`.
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def top(self) -> float:
        """The highest value, with its band."""
        return max(float(np.max(curve.y if curve.band is None else curve.band[1])) for curve in self.curves)


def draw(
    panels: Sequence[Panel | None],
    size: tuple[float, float],
    *,
    columns: int = 0,
    share: Literal["", "x", "y", "xy"] = "",
    labels: tuple[str, str] = ("", ""),
    title: str = "",
    title_font: Mapping[str, Any] | None = None,
    font: Mapping[str, Any] | None = None,
    curve: Callable[[Curve], Mapping[str, Any]] = lambda curve: {},
    changes: tuple[str, float] = (style.INK, 0.9),
    grid: bool = True,
    settle: bool = False,
    layout: Mapping[str, Any] | None = None,
    legend: Mapping[str, Any] | None = None,
    **subplots: Any,
) -> Figure:
    """The panels in rows of so many columns, by default in one row, with one legend; None leaves a place empty.

    Axes that are shared have ``labels`` only at the left and below. ``font`` is that of the panels' titles, ``curve``
    gives options of `Curve.draw`, ``changes`` has colour and width of the lines at sudden changes, and ``legend`` the
    options of `style.legend_below`; an empty one leaves the legend to the caller. Titles over square panels find their
    place at the second layout only: ``settle``.
    """
    with style.house_style():
        figure = style.new_figure(*size)
        if layout:
            figure.set_layout_engine("constrained", **layout)
        columns = columns or len(panels)
        rows = -(-len(panels) // columns)
        subplots = {"sharey": "y" in share} | subplots
        cells = figure.subplots(rows, columns, sharex="x" in share, squeeze=False, **subplots)
        for axes, panel in zip_longest(cells.flat, panels):
            if panel is None:
                axes.remove()
                continue
            axes.set_title(panel.title, **font or {})
            axes.set(xlabel=panel.x_label, ylabel=panel.y_label, **panel.settings)
            if not grid:
                axes.grid(visible=False)
            style.mark_changes(axes, panel.changes, *changes)
            for line in panel.curves:
                line.draw(axes, **curve(line))
            for mark in panel.marks:
                mark(axes)
        if labels[0]:
            for axes in figure.axes[-columns:] if "x" in share else figure.axes:
                axes.set_xlabel(labels[0])
                axes.tick_params(labelbottom=True)
        if labels[1]:
            for axes in cells[:, 0] if "y" in share else figure.axes:
                axes.set_ylabel(labels[1])
        if title:
            figure.suptitle(title, fontweight="bold", x=0.01, ha="left", **title_font or {})
        if legend != {}:
            style.legend_below(figure, **legend or {})
        if settle:
            figure.draw_without_rendering()
    return figure


def thousands(axes: Axes) -> None:
    """Ticks such as 10,000 along the first axis."""
    axes.xaxis.set_major_formatter("{x:,.0f}")


def plain(axes: Axes) -> None:
    """Ticks such as 0.01 along the second axis, on any scale."""
    axes.yaxis.set_major_formatter("{x:g}")


def points(X: Floats, colour: str, marker: str, label: str, **options: Any) -> Mark:
    """Rows (n, 2) as hollow markers."""
    look = {"linestyle": "none", "marker": marker, "markerfacecolor": "none", "markeredgecolor": colour}
    return methodcaller("plot", *X.T, label=label, **look, **options)


def two_classes(X: Floats, positive: NDArray[np.bool_], names: tuple[str, str], **options: Any) -> list[Mark]:
    """Rows (n, 2) of two classes, named where they are negative and positive."""
    return [
        points(X[positive], style.BLUE, "o", names[1], **options),
        points(X[~positive], style.VERMILION, "x", names[0], **options),
    ]


def arrow(start: Any, tip: Any, colour: str, arrowstyle: str = "->", **look: Any) -> Mark:
    look |= {"arrowstyle": arrowstyle, "color": colour}
    return methodcaller("annotate", "", xy=tuple(tip), xytext=tuple(start), arrowprops=look)


def square_around(X: Floats, half: float) -> Floats:
    """Lowest and highest value of each axis of a square around rows (n, 2).

    Half its side is ``half`` times the largest extent of the rows.

    Examples
    --------
    >>> square_around(np.array([[0.0, 0.0], [4.0, 2.0]]), 0.5)
    array([[ 0.,  4.],
           [-1.,  3.]])
    """
    low, high = X.min(axis=0), X.max(axis=0)
    middle, reach = (low + high) / 2.0, half * float((high - low).max())
    return np.stack([middle - reach, middle + reach], axis=1)


def draw_progression(panels: Sequence[Panel]) -> Figure:
    """Errors over time, the panels one above the other, each with its own time axis and its means beside it."""
    parts = []
    for panel in panels:
        times, scale = panel.curves[0].x, partial(style.share_from_zero, top=panel.top)
        limits = {"xlim": (float(times[0]), float(times[-1]))}
        parts += [replace(panel, settings=limits, marks=[thousands, scale]), Panel("", marks=[_means(panel)])]
    models = len({curve.model for panel in panels for curve in panel.curves})
    return draw(
        parts,
        (9.0, 2.75 * len(panels) + 0.7),
        columns=2,
        sharey="row",
        width_ratios=[8, 1],
        legend={"columns": models if models <= 5 else -(-models // 2), "handlelength": 2.5},
    )


def _means(panel: Panel) -> Mark:
    """The means over the whole stream, beside the paper's."""

    def mark(axes: Axes) -> None:
        axes.set_title("mean", fontweight="normal", fontsize=9.5, loc="center")
        compared = any(curve.paper_mean is not None for curve in panel.curves)
        axes.set(xlim=(-0.6, 1.6 if compared else 0.6), xticks=[0, 1] if compared else [0])
        axes.set_xticklabels(["here", "paper"] if compared else ["here"])
        axes.spines["left"].set_visible(False)
        axes.tick_params(axis="x", labelsize=8.5, length=0)
        axes.tick_params(axis="y", length=0, labelleft=False)
        axes.grid(visible=False, axis="x")
        for curve in panel.curves:
            look = style.look_of(curve.model)
            mean = float(curve.y.mean()) if curve.mean is None else curve.mean
            if curve.paper_mean is not None:
                axes.plot([0, 1], [mean, curve.paper_mean], color=look.colour, linewidth=0.8)
                axes.plot(1, curve.paper_mean, look.marker, color=look.colour, markersize=5, markerfacecolor="white")
            axes.plot(0, mean, look.marker, color=look.colour, markersize=5)

    return mark
