"""What a label budget cost: the error over all rows, as the asked ones show it, and with other budgets."""

from __future__ import annotations

from collections.abc import Mapping
from math import log10
from typing import Any, NamedTuple

from thalweg.report.page.formats import count, counted, percent, short
from thalweg.run_metrics import is_regression

_WHICH = {
    "auto": "the rows that were most worth asking for",
    "random": "rows drawn at random",
    "uncertain": "uncertain rows",
    "rare": "rows with a high P(positive), and rows unlike those checked before",
    "flagged": "the rows with the highest P(positive)",
}


def label_budget_findings(metrics: Mapping[str, Any]) -> list[str]:
    """How many labels were asked for, the estimate of the error, and the true one; nothing without a budget."""
    budget = metrics.get("label_budget")
    if budget is None:
        return []
    written = short if is_regression(metrics) else percent
    loss = "a mean absolute error" if is_regression(metrics) else "an error"
    start = min(budget["start"], budget["rows"])
    asked, rows = budget["asked"] - start, budget["rows"] - start
    first = f"All labels of the first {counted(start, 'row')} were given. " if start else ""
    said = [
        f"{first}{counted(asked, 'label')} of {count(rows)} ({percent(asked / max(rows, 1))}) were asked for: "
        f"{_WHICH[budget['strategy']]}, and {percent(budget['explore'])} of the budget over all rows alike. "
        f"{count(budget['came'])} came."
    ]
    estimate = budget["estimate"]
    if estimate["value"] is not None:
        ends = f"95 % interval {written(estimate['low'])} to {written(estimate['high'])}"
        truth = "" if budget["truth"] is None else f"; all labels of the table say {written(budget['truth'])}"
        said.append(f"The asked labels say {loss} of {written(estimate['value'])} ({ends}){truth}.")
    elif budget["truth"] is not None:
        said.append(
            f"They say nothing of the rows that no one checks; all labels of the table say {loss} of "
            f"{written(budget['truth'])}."
        )
    if budget["to_label"]:
        said.append(f"{counted(budget['to_label'], 'asked row')} without a label: to_label.csv lists them.")
    known = [(share, value) for share, value in budget.get("curve", ()) if value is not None]
    if known:
        listed = ", ".join(f"{written(value)} with {percent(share)}" for share, value in known)
        said.append(f"{'Mean absolute error' if is_regression(metrics) else 'Error'} by label budget: {listed}.")
    return said


def budget_lines(metrics: Mapping[str, Any]) -> list[list[str]]:
    """A line for each budget of the curve: the share of the labels, and the error with it."""
    written = short if is_regression(metrics) else percent
    return [[percent(share), written(value)] for share, value in metrics.get("label_budget", {}).get("curve", ())]


class CurvePoint(NamedTuple):
    """A point of the drawn curve, in pixels, with what is written below the axis and beside it."""

    x: float
    y: float
    labels: str
    error: str


def budget_curve(metrics: Mapping[str, Any], width: int = 640, height: int = 220) -> list[CurvePoint]:
    """The error over the budget, which is on a logarithmic axis; the vertical axis begins with 0.

    Examples
    --------
    >>> metrics = {"task": "classification", "label_budget": {"curve": [[0.01, 0.4], [0.1, 0.2], [1.0, 0.1]]}}
    >>> [(point.x, point.y) for point in budget_curve(metrics)]
    [(0.0, 0.0), (320.0, 110.0), (640.0, 165.0)]
    """
    curve = [(share, value) for share, value in metrics.get("label_budget", {}).get("curve", ()) if value is not None]
    highest = max((value for _, value in curve), default=0.0) or 1.0
    first = -log10(curve[0][0]) if curve else 1.0
    return [
        CurvePoint(round(width * (1.0 + log10(share) / first), 1), round(height * (1.0 - value / highest), 1), *line)
        for (share, value), line in zip(curve, budget_lines({**metrics, "label_budget": {"curve": curve}}), strict=True)
    ]
