"""What can be seen of a model from outside while it learns: its rate, its memory, whose voice counts."""

from __future__ import annotations

from typing import Any

import numpy as np

#: The name of a memory that a model does not keep by class.
ALL_ROWS = "all rows"


def trace_of(model: Any) -> dict[str, Any]:
    """Rate, rows remembered, and shares of the members; what a model does not have is left out.

    Rows are by class where the model can tell, else `ALL_ROWS` of them together.

    Examples
    --------
    >>> from thalweg import OnlineLDC
    >>> rows, labels = [[0.0], [1.0], [2.0]], ["low", "high", "high"]
    >>> trace_of(OnlineLDC(0.25, counts="soft").partial_fit(rows, labels))
    {'rate': 0.25, 'effective_rows': {'high': 2.0, 'low': 1.0}}
    >>> trace_of(OnlineLDC(0.25).partial_fit(rows, labels))
    {'rate': 0.25, 'effective_rows': {'all rows': 3.0}}
    """
    found: dict[str, Any] = {}
    if (rate := rate_of(model)) is not None:
        found["rate"] = rate
    classes = [str(label) for label in getattr(model, "classes_", ())]
    by_class = getattr(model, "class_effective_rows_", None)
    if by_class is not None and np.isfinite(by_class).all():
        found["effective_rows"] = dict(zip(classes, map(float, by_class), strict=True))
    elif (rows := getattr(model, "effective_rows_", None)) is not None and np.isfinite(rows):
        found["effective_rows"] = {ALL_ROWS: float(rows)}
    members = getattr(model, "members_", None)
    weights = getattr(model, "weights_", None)
    if members is not None and weights is not None and all(isinstance(name, str) for name in members):
        found["weights"] = dict(zip(members, map(float, weights), strict=True))
    return found


def rate_of(model: Any) -> float | None:
    """The rate now in force; None of a model that has none, or has learned nothing."""
    rate = getattr(model, "rate_", None)
    return float(rate) if rate is not None and np.isfinite(rate) else None


def as_series(traces: list[dict[str, Any]]) -> dict[str, Any]:
    """Traces as columns; None where none has the thing."""
    rates = [trace.get("rate") for trace in traces]
    return {
        "rate": rates if any(rate is not None for rate in rates) else None,
        "effective_rows": _columns(traces, "effective_rows"),
        "weights": _columns(traces, "weights"),
    }


def _columns(traces: list[dict[str, Any]], name: str) -> dict[str, list[float | None]] | None:
    keys = dict.fromkeys(key for trace in traces for key in trace.get(name, {}))
    return {key: [trace.get(name, {}).get(key) for trace in traces] for key in keys} or None
