"""Which columns carry the predictions, and how that changed: a heat map of columns over time, and a ranking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from thalweg.explain.over_time import sentence
from thalweg.report.page.formats import count, plain
from thalweg.report.page.row_axis import RowAxis
from thalweg.run_metrics import ImportanceOfColumn, Known

#: Cells of the heat map over time, and neighbours on either side that a cell is averaged with.
_CELLS, _NEIGHBOURS = 48, 2
#: Causes that are named.
_MOST_CAUSES = 8
#: Standard errors in an interval of 95 %.
_HALF_INTERVAL = 1.96
_LOSSES = {
    "log-loss": "log-loss",
    "error": "share of mistakes",
    "squared error": "squared error (target’s variance = 1)",
}


class Cell(NamedTuple):
    share: float  # of the largest, in percent
    tone: str  # whether larger values raise the prediction, lower it, or have no order
    words: str


class Line(NamedTuple):
    name: str
    cells: list[Cell]
    importance: str
    interval: str
    effect: str
    rank_before: str


def importance_part(metrics: Mapping[str, Any]) -> dict[str, Any] | None:
    """What the template shows; None of runs without."""
    importance = metrics.get("importance")
    if not importance or not importance["columns"] or not importance["rows"]:
        return None
    axis = RowAxis(metrics)
    last = max(metrics["rows"]["learned"], importance["rows"][-1], 1)
    strips = [_strip(importance["rows"], column, last) for column in importance["columns"]]
    largest = max((value for strip in strips for value, _ in strip), default=0.0) or 1.0
    order = sorted(range(len(strips)), key=lambda at: -(importance["columns"][at]["recent"]["increase"] or 0.0))
    before = sorted(order, key=lambda at: -sum(value for value, _ in strips[at][: _CELLS // 2]))
    about = f"P({importance['label']})" if importance["label"] is not None else "the prediction"
    return {
        "sentences": [sentence(cause, axis.at(cause["row"]), about) for cause in importance["causes"][:_MOST_CAUSES]],
        "loss": _LOSSES[importance["loss"]],
        "about": about,
        "every": count(importance["every"]),
        "sample_rows": count(importance["sample_rows"]),
        "last": axis.when(last) if axis else f"row {count(last)}",
        "joined": [", ".join(column["columns"]) for column in importance["columns"] if "columns" in column],
        "left_out": importance["columns_left_out"],
        "features": features_to_keep(metrics),
        "lines": [
            _line(importance["columns"][at], strips[at], largest, last, before.index(at) + 1, axis) for at in order
        ],
    }


def features_to_keep(metrics: Mapping[str, Any]) -> list[str]:
    """The lines of chosen features from earlier rows that are important beyond their intervals, over all rows."""
    lines, importance = metrics.get("features", {}), metrics.get("importance")
    columns: Sequence[ImportanceOfColumn] = importance["columns"] if importance else ()
    clear = {
        name
        for column in columns
        if (column["overall"]["increase"] or 0.0) > _HALF_INTERVAL * (column["overall"]["increase_error"] or 0.0)
        for name in column.get("columns", [column["name"]])
    }
    return [line for name, line in lines.items() if name in clear]


def top_columns(metrics: Mapping[str, Any], most: int = 4) -> list[str]:
    """The columns that are most important over the last rows, beyond their intervals."""
    importance = metrics.get("importance")
    columns: Sequence[ImportanceOfColumn] = importance["columns"] if importance else ()
    clear = [
        (column["recent"]["increase"] or 0.0, column["name"])
        for column in columns
        if (column["recent"]["increase"] or 0.0) > _HALF_INTERVAL * (column["recent"]["increase_error"] or 0.0)
    ]
    return [name for _, name in sorted(clear, key=lambda entry: -entry[0])[:most]]


def _strip(rows: Sequence[int], column: ImportanceOfColumn, last: int) -> list[tuple[float, Known]]:
    """Importance, at least 0, and effect over time in cells of equal length; an empty one is as the one before."""
    sums: list[list[float]] = [[0.0, 0.0, 0.0] for _ in range(_CELLS)]
    for row, increase, effect in zip(rows, column["increase"], column["effect"], strict=True):
        cell = sums[min(_CELLS * row // (last + 1), _CELLS - 1)]
        cell[0] += increase or 0.0
        cell[1] += effect or 0.0
        cell[2] += 1.0
    filled = [at for at, cell in enumerate(sums) if cell[2]]
    held = [sums[max((at for at in filled if at <= place), default=filled[0])] for place in range(_CELLS)]
    ordered = any(value is not None for value in column["effect"])
    cells: list[tuple[float, Known]] = []
    for place in range(_CELLS):
        near = held[max(place - _NEIGHBOURS, 0) : place + _NEIGHBOURS + 1]
        rows_near = sum(cell[2] for cell in near)
        own = held[place]
        cells.append((max(sum(cell[0] for cell in near) / rows_near, 0.0), own[1] / own[2] if ordered else None))
    return cells


def _line(
    column: ImportanceOfColumn,
    strip: list[tuple[float, Known]],
    largest: float,
    last: int,
    rank_before: int,
    axis: RowAxis,
) -> Line:
    recent = column["recent"]
    increase, error, effect = recent["increase"], recent["increase_error"], recent["effect"]
    ends = ""
    if increase is not None and error is not None:
        ends = f"{plain(increase - _HALF_INTERVAL * error)} to {plain(increase + _HALF_INTERVAL * error)}"
    cells = [
        Cell(
            round(100.0 * value / largest, 1),
            "neither" if sign is None else "raises" if sign >= 0.0 else "lowers",
            f"{column['name']}, about {_middle(at, last, axis)}: importance {plain(value)}"
            + ("" if sign is None else f", effect {plain(sign)}"),
        )
        for at, (value, sign) in enumerate(strip)
    ]
    return Line(
        column["name"], cells, plain(increase), ends, "–" if effect is None else plain(effect), str(rank_before)
    )


def _middle(cell: int, last: int, axis: RowAxis) -> str:
    row = (2 * cell + 1) * last // (2 * _CELLS)
    return axis.when(row) if axis else f"row {count(row)}"
