"""What pictures share: whose colour is whose, and axes of amounts as people say them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from benchmarks.contest import Side
from benchmarks.sizes import amount
from thalweg.report import style

if TYPE_CHECKING:
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

COLOURS: dict[Side, str] = {"ours": style.BLUE, "peer": style.GREY, "limit": style.VERMILION}
MARKERS: dict[Side, str] = {"ours": "o", "peer": "s", "limit": "D"}
NAMES: dict[Side, str] = {"ours": "thalweg", "peer": "others", "limit": "the limit"}
MOST_TICKS = 4


def amounts_on(axis: Axis, unit: str, ends: tuple[float, float]) -> None:
    """Few round amounts as ticks: powers of ten, and 2 and 5 times such on a short scale; its ends if it has none."""
    powers = [10.0**power for power in range(math.floor(math.log10(ends[0])), math.ceil(math.log10(ends[1])) + 1)]
    for steps in ((1.0, 2.0, 5.0), (1.0, 3.0), (1.0,)):
        ticks = [step * power for power in powers for step in steps if ends[0] <= step * power <= ends[1]]
        if len(ticks) <= MOST_TICKS:
            break
    ticks = ticks[:: -(-len(ticks) // MOST_TICKS)] if ticks else list(ends)
    axis.set_ticks(ticks, [amount(tick * (1 + 1e-9), unit) for tick in ticks])
    axis.set_ticks([], minor=True)


def key(figure: Figure, sides: set[Side]) -> None:
    """Whose marks are whose, above the picture."""
    from matplotlib.lines import Line2D

    present = [side for side in COLOURS if side in sides]
    if len(present) > 1:
        marks = [Line2D([], [], ls="", marker=MARKERS[s], color=COLOURS[s], label=NAMES[s]) for s in present]
        figure.legend(handles=marks, loc="outside upper right", ncols=len(present), handletextpad=0.2)
