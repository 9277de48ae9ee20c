"""Lines: how the cost grows, with the exponent of each where it has one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.growth_law import GrowthLaw, law_of
from benchmarks.plots.scales import amounts_on
from benchmarks.records import Record
from benchmarks.sizes import SCALES
from thalweg.report import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LOOKS = (
    style.Look(style.BLUE, "-", "o"),
    style.Look(style.VERMILION, (0, (5, 1.6)), "s"),
    style.Look(style.GREEN, (0, (4, 1.4, 1, 1.4)), "^"),
    style.Look(style.PURPLE, (0, (1.4, 1.1)), "D"),
    style.Look(style.GREY, (0, (2, 1)), "v"),
    style.Look(style.INK, (0, (1, 2)), "x"),
    style.Look(style.ORANGE, "-", "*"),
)


@dataclass(frozen=True)
class Axis:
    """One panel: records over this part of their setting.

    Parameters
    ----------
    over : str
        The part of the setting that grows.
    law_from : int, optional
        From where on a power of it is fitted.
    logarithmic : bool
        Both scales; else both begin at zero.
    """

    over: str
    law_from: int | None = None
    logarithmic: bool = True


def lines(stem: str, title: str, axes: Mapping[str, Axis]) -> Callable[[Sequence[Record]], dict[str, Figure]]:
    """A panel for each work."""

    def draw(records: Sequence[Record]) -> dict[str, Figure]:
        present = {work: axis for work, axis in axes.items() if any(record.work == work for record in records)}
        with style.house_style():
            figure = style.new_figure(5.2 * len(present), 4.4)
            row = figure.subplots(1, len(present), squeeze=False)[0]
            for panel, (work, axis) in zip(row, present.items(), strict=True):
                _panel(panel, work, axis, [record for record in records if record.work == work])
            figure.suptitle(title, fontweight="bold", x=0.01, ha="left", fontsize=11)
        return {stem: figure}

    return draw


def _panel(panel: Axes, work: str, axis: Axis, records: Sequence[Record]) -> None:
    panel.set_title(work, fontsize=10)
    size, unit = _unit(records) if not axis.logarithmic else (1.0, "")
    for look, model in zip(LOOKS, dict.fromkeys(record.model for record in records), strict=False):
        own = [record for record in records if record.model == model]
        at, costs = [record.setting[axis.over] for record in own], [record.best / size for record in own]
        law = law_of(own, axis.over, axis.law_from) if axis.law_from is not None else None
        name = model if law is None else f"{model} ~ {law.exponent:.2f}"
        panel.plot(at, costs, color=look.colour, linestyle=look.dashes, marker=look.marker, markersize=4.5, label=name)
        if law is not None:
            _draw_law(panel, law, look.colour)
    panel.set_xlabel(axis.over)
    places = sorted({record.setting[axis.over] for record in records})
    if axis.logarithmic:
        panel.set(xscale="log", yscale="log")
        amounts_on(panel.yaxis, records[0].unit, panel.get_ylim())
        panel.set_xticks(places[:: max(1, len(places) // 6)])
        panel.set_xticks([], minor=True)
        panel.set_ylabel(f"cost of a {records[0].per}, best round")
    else:
        panel.set(xlim=(0, None), ylim=(0, 1.08 * panel.get_ylim()[1]), ylabel=unit)
        panel.set_xticks(places)
    panel.xaxis.set_major_formatter("{x:,.0f}")
    if len(panel.get_legend_handles_labels()[0]) > 1:
        where = (0.5, -0.16)
        panel.legend(loc="upper center", bbox_to_anchor=where, ncols=2, handlelength=2.8, fontsize=8.5)


def _draw_law(panel: Axes, law: GrowthLaw, colour: str) -> None:
    ends = (law.first, law.last)
    panel.plot(ends, [law.at(end) for end in ends], color=colour, linewidth=5, alpha=0.18, solid_capstyle="butt")


def _unit(records: Sequence[Record]) -> tuple[float, str]:
    top = max(record.best for record in records)
    return next((scale for scale in SCALES[records[0].unit] if top >= scale[0]), SCALES[records[0].unit][-1])
