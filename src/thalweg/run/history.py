"""The history of the model itself while it learns: snapshots of its rate, its memory and the weights of its members."""

from __future__ import annotations

from typing import Any

import numpy as np

from thalweg.evaluate.averages import HistoryPoints
from thalweg.run.class_means import MeanWatch, means_as_series

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


#: Rows between the first points, and how many are kept.
FIRST_STEP, MOST_POINTS = 32, 95
#: Classes whose memory is kept: those that came first.
MOST_CLASSES = 64


class ModelHistory:
    """Snapshots of a model that learns, on a grid of predicted rows.

    Examples
    --------
    >>> import numpy as np
    >>> from thalweg import OnlineLDC
    >>> history = ModelHistory()
    >>> history.next_due(predicted=0), history.next_due(predicted=40)
    (32, 24)
    >>> model = OnlineLDC(0.25).partial_fit([[0.0], [1.0]], ["low", "high"])
    >>> history.add(model, learned=2)
    >>> history.points
    [(2, {'rate': 0.25, 'effective_rows': {'all rows': 2.0}})]
    """

    def __init__(self) -> None:
        self.watch = MeanWatch()
        self._grid = HistoryPoints[tuple[int, dict[str, Any]]](MOST_POINTS, FIRST_STEP)
        self._classes: dict[str, None] = {}

    @property
    def every(self) -> int:
        """Predicted rows between points."""
        return self._grid.every

    @property
    def points(self) -> list[tuple[int, dict[str, Any]]]:
        """How many rows the model had learned at each point, and its snapshot."""
        return self._grid.points

    def next_due(self, predicted: int) -> int:
        """Before which of the coming rows, from 0, the next point is due, so many having been predicted."""
        return -predicted % self.every if predicted else self.every

    def add(self, model: Any, learned: int) -> None:
        """Keep a point that is due, of a model that has learned so many rows."""
        self._grid.add((learned, self._snapshot(model)))

    def series(self, model: Any, learned: int, features: list[str], ahead: int | None) -> dict[str, Any]:
        """All points and a last one, as columns; of several after equally many rows the last.

        Parameters
        ----------
        model, learned
            The model as it is, and how many rows it has learned.
        features : list of str
            Names of the features whose class means are kept.
        ahead : int or None
            How many rows ahead forecasts reach.
        """
        points = dict([*self.points, (learned, self._snapshot(model))])
        points.pop(0, None)
        snapshots = list(points.values())
        return {"rows": list(points), **as_series(snapshots), "means": means_as_series(snapshots, features, ahead)}

    def _snapshot(self, model: Any) -> dict[str, Any]:
        trace = trace_of(model)
        if "effective_rows" in trace:
            for label in list(trace["effective_rows"])[: MOST_CLASSES - len(self._classes)]:
                self._classes.setdefault(label)
            trace["effective_rows"] = {
                label: rows for label, rows in trace["effective_rows"].items() if label in self._classes
            }
        return trace | self.watch.snapshot(model)

    def state(self) -> dict[str, Any]:
        """All of it, as JSON holds it."""
        return {
            "watch": self.watch.state(),
            "every": self.every,
            "rows": [learned for learned, _ in self.points],
            "looks": [snapshot for _, snapshot in self.points],
            "classes": list(self._classes),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Take back what `state` gave."""
        self.watch.restore(state["watch"])
        self._grid.restore(state["every"], list(zip(state["rows"], state["looks"], strict=True)))
        self._classes = dict.fromkeys(state["classes"])
