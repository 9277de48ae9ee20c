"""What a label budget cost: the error over all rows, as the asked ones show it, and with other budgets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from thalweg.report.page.formats import count, counted, percent, short
from thalweg.run_metrics import is_regression

_WHICH = {
    "auto": "the rows that were most worth asking for",
    "random": "rows drawn at random",
    "uncertain": "uncertain rows",
    "rare": "uncertain rows and those with a high P(positive)",
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
