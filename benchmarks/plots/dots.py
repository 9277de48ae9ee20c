"""Dots: what something costs by whom, panel by panel, on one logarithmic scale, where a bar would begin anywhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from benchmarks.plots.scales import COLOURS, MARKERS, amounts_on, key
from benchmarks.records import Record, groups
from benchmarks.sizes import amount
from thalweg.report import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Room for the numbers, as a share of the scale.
MARGIN = 0.3
MOST_COLUMNS = 3
#: Inches, beside the title.
ROOM_FOR_THE_KEY = 2.9


def dots(stem: str, title: str, *, panel: str = "setting") -> Callable[[Sequence[Record]], dict[str, Figure]]:
    """A picture for each work with a panel for each setting, or with ``panel="work"`` the other way round."""

    def draw(records: Sequence[Record]) -> dict[str, Figure]:
        pictures: dict[tuple[str, str], dict[str, list[Record]]] = {}
        for (where, work), group in groups(records).items():
            picture, label = (work, where) if panel == "setting" else (where, work)
            # What is counted in different things has no scale in common.
            pictures.setdefault((picture, group[0].unit + group[0].per), {})[label] = group
        stems = [stem if number == 0 else f"{stem}_{number + 1}" for number in range(len(pictures))]
        return {
            name: _picture(panels, ": ".join(filter(None, (title, picture if len(pictures) > 1 else ""))))
            for name, ((picture, _), panels) in zip(stems, pictures.items(), strict=True)
        }

    return draw


def _picture(panels: dict[str, list[Record]], title: str) -> Figure:
    everything = [record for group in panels.values() for record in group]
    models = _in_order(everything)
    columns = len(panels) if len(panels) <= MOST_COLUMNS else 2
    rows = -(-len(panels) // columns)
    with style.house_style():
        width = max(0.08 * max(map(len, models)) + 2.9 * columns, 0.1 * len(title) + ROOM_FOR_THE_KEY)
        figure = style.new_figure(width, 1.2 + rows * (0.35 + 0.27 * len(models)))
        grid = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).ravel()
        for axes, (label, group) in zip(grid, panels.items(), strict=False):
            _panel(axes, label, group, models)
        low, high = min(record.best for record in everything), max(record.median for record in everything)
        span = max(high / low, 3.0)
        grid[0].set_xlim(low / span**0.06, high * span**MARGIN)
        amounts_on(grid[0].xaxis, everything[0].unit, grid[0].get_xlim())
        how = ": dot the best round, line to the median" if everything[0].rounds > 1 else ""
        counted = "time" if everything[0].unit == "seconds" else "size"
        figure.supxlabel(f"{counted} of a {everything[0].per}{how}", fontsize=9.5)
        figure.suptitle(title, fontweight="bold", x=0.01, ha="left", fontsize=11)
        key(figure, {record.side for record in everything})
    return figure


def _panel(axes: Axes, label: str, group: Sequence[Record], models: Sequence[str]) -> None:
    axes.set_title(label, fontsize=10)
    for record in group:
        height = len(models) - 1 - models.index(record.model)
        colour = COLOURS[record.side]
        axes.plot([record.best, record.median], [height, height], color=colour, linewidth=1.2)
        axes.plot(record.best, height, MARKERS[record.side], color=colour, markersize=6.5)
        axes.annotate(
            amount(record.best, record.unit),
            (record.median, height),
            xytext=(7, 0),
            textcoords="offset points",
            va="center",
            fontsize=8.5,
        )
    axes.set(xscale="log", ylim=(-0.6, len(models) - 0.4))
    axes.set_yticks(range(len(models)), list(reversed(models)))
    axes.tick_params(axis="y", length=0)


def _in_order(records: Sequence[Record]) -> list[str]:
    """Models, the cheapest first, by the first panel that they are in."""
    first: dict[str, float] = {}
    for record in records:
        first.setdefault(record.model, record.best)
    return sorted(first, key=lambda model: first[model])
