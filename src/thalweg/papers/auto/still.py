"""The item ``still``: tables that hardly drift, where the default stands beside batch trees refitted on all rows."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.stats import gmean

from thalweg.learners.auto import AutoClassifier
from thalweg.learners.baselines import MajorityClass
from thalweg.papers.auto import peers
from thalweg.papers.auto.comparison import Comparison, SlowPeers, learner
from thalweg.papers.auto.still_tables import STILL_TABLES, UNTOUCHED_TABLES
from thalweg.papers.auto.study import AUTO, MAJORITY
from thalweg.papers.registry import Outcome
from thalweg.papers.study import Request
from thalweg.report import style, tables

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.table import Table

ITEM = "still"
OURS: Mapping[str, peers.Predict] = {AUTO: learner(AutoClassifier), MAJORITY: learner(MajorityClass)}
_HEADERS = {AUTO: "Auto", peers.BOOSTING: "boosted\ntrees", peers.FOREST: "random\nforest", MAJORITY: "majority\nclass"}
#: Of the figure.
_TICKS = (0.3, 0.5, 0.7, 1.0, 1.4, 2.0, 3.0)
_NOTES = (
    "Error: share of all rows predicted wrongly, each before its label was learned. All tables are shuffled. Least "
    "error of a table in bold. scikit-learn's gradient-boosted trees and random forest are refitted on all rows so "
    "far: after 50, 100, 200 and 400 rows, then every 500. Ratio: the error of the default divided by that of the "
    "better of the two.",
)


def outcome(request: Request) -> Outcome:
    """The table, and the geometric mean of the default's error relative to that of the better batch model: of tables
    that constants of the default were chosen on, and of tables that they were not.
    """
    slow = (SlowPeers("scikit-learn's", "with_refitted", peers.GROWING_PEERS),)
    comparison = Comparison(ITEM, (*STILL_TABLES, *UNTOUCHED_TABLES), OURS, slow, request)
    title = f"Tables that hardly drift: prequential error on {len(comparison.scores)}"
    if not comparison.scores:
        return Outcome(title, summary=("No table is at hand.",), notes=(*comparison.study.notes,))
    errors = comparison.errors((AUTO, *peers.GROWING_PEERS))
    ratios = errors[:, 0] / errors[:, 1:].min(axis=1)
    untouched = np.isin(list(comparison.scores), [table.name for table in UNTOUCHED_TABLES])
    return Outcome(
        title,
        comparison.findings(),
        summary=(
            *_summary(ratios[~untouched], "on tables of which some were looked at when its constants were chosen"),
            *_summary(ratios[untouched], "on tables that were not"),
        ),
        notes=(*_NOTES, *comparison.notes()),
        table=partial(_table, comparison, ratios),
        draw=partial(_draw, dict(zip(comparison.scores, ratios.tolist(), strict=True))),
        timing=comparison.study.timing(),
    )


def _summary(ratios: NDArray[np.float64], where: str) -> list[str]:
    if not len(ratios):
        return []
    ahead = int((ratios < 1.0).sum())
    return [
        f"{AUTO} has {gmean(ratios):.3f} of the error of the better batch model {where} (geometric mean), and the "
        f"lower error on {ahead} of {len(ratios)}."
    ]


def _table(comparison: Comparison, ratios: NDArray[np.float64]) -> Table:
    lines = [
        [*line, f"{ratio:.2f}"] for line, ratio in zip(comparison.error_lines(list(_HEADERS)), ratios, strict=True)
    ]
    mean = ["geometric mean", *[""] * len(_HEADERS), f"{gmean(ratios):.2f}"]
    return tables.lines(("", *_HEADERS.values(), "ratio"), [*lines, mean])


def _draw(ratios: Mapping[str, float]) -> Figure:
    """A line from 1 to the ratio of each table, the best for the default on top."""
    names = sorted(ratios, key=lambda name: ratios[name], reverse=True)
    with style.house_style():
        figure = style.new_figure(7.2, 0.9 + 0.24 * len(names))
        axes = figure.subplots()
        for place, name in enumerate(names):
            colour = style.BLUE if ratios[name] < 1.0 else style.VERMILION
            axes.plot([1.0, ratios[name]], [place, place], color=colour, linewidth=1.2)
            axes.plot(ratios[name], place, "o", color=colour, markersize=6)
        axes.axvline(1.0, color=style.INK, linewidth=1.0)
        axes.axvline(gmean(list(ratios.values())), color=style.GREY, linestyle=(0, (2, 2)), label="geometric mean")
        axes.set_xscale("log")
        axes.set_xticks(_TICKS, [f"{tick:g}" for tick in _TICKS])
        axes.set_xlim(0.95 * min(*ratios.values(), 0.7), 1.05 * max(*ratios.values(), 1.4))
        axes.minorticks_off()
        axes.set_yticks(range(len(names)), names)
        axes.grid(visible=False, axis="y")
        axes.set(title="Tables that hardly drift", xlabel=f"error of {AUTO} / of the better batch model (log scale)")
        axes.legend(loc="upper right")
    return figure
