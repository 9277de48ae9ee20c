"""The history of the model itself while it learns: snapshots of its rate, memory, member weights and class means."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.evaluate.averages import HistoryPoints
from thalweg.saved import Saved

Floats = NDArray[np.float64]

#: The name of a memory that a model does not keep by class.
ALL_ROWS = "all rows"


def trace_of(model: Any) -> dict[str, Any]:
    """Rate, rows remembered, and shares of the members; what a model does not have is left out.

    Rows are by class where the model has them, else `ALL_ROWS` of them together.

    Examples
    --------
    >>> from thalweg import OnlineLDC
    >>> rows, labels = [[0.0], [1.0], [2.0]], ["low", "high", "high"]
    >>> trace_of(OnlineLDC(0.25, counts="soft").partial_fit(rows, labels))
    {'rate': 0.25, 'effective_rows': {'high': 2.0, 'low': 1.0}}
    >>> trace_of(OnlineLDC(0.25).partial_fit(rows, labels))
    {'rate': 0.25, 'effective_rows': {'all rows': 3.0}}
    """
    trace: dict[str, Any] = {}
    if (rate := rate_of(model)) is not None:
        trace["rate"] = rate
    by_class = getattr(model, "class_effective_rows_", None)
    if by_class is not None and np.isfinite(by_class).all():
        trace["effective_rows"] = dict(zip(map(str, model.classes_), map(float, by_class), strict=True))
    elif by_class is None and (rows := getattr(model, "effective_rows_", None)) is not None and np.isfinite(rows):
        trace["effective_rows"] = {ALL_ROWS: float(rows)}
    members = getattr(model, "members_", None)
    weights = None if members is None else getattr(model, "weights_", None)
    if members is not None and weights is not None and all(isinstance(name, str) for name in members):
        # A regressor of several targets has as many sets of weights.
        weights = np.atleast_2d(weights).mean(axis=0)
        trace["weights"] = dict(zip(members, map(float, weights), strict=True))
    return trace


def rate_of(model: Any) -> float | None:
    """The rate now in force; None of a model that has none, or has learned nothing."""
    rate = getattr(model, "rate_", None)
    return float(rate) if rate is not None and np.isfinite(rate) else None


def _as_series(traces: list[dict[str, Any]]) -> dict[str, Any]:
    """Traces as columns; None where none has the thing."""
    rates = [trace.get("rate") for trace in traces]
    return {
        "rate": rates if any(rate is not None for rate in rates) else None,
        "effective_rows": columns_by_label(traces, "effective_rows") or None,
        "weights": columns_by_label(traces, "weights") or None,
    }


def columns_by_label(points: list[dict[str, Any]], name: str) -> dict[str, list[float | None]]:
    """Numbers by label, a mapping for each point, as one column for each label; None where a point has no number."""
    labels = dict.fromkeys(label for point in points for label in point.get(name, {}))
    return {label: [point.get(name, {}).get(label) for point in points] for label in labels}


#: Of class means: features and classes at the most.
MOST_FEATURES, MOST_MEANS = 6, 8
#: Digits that are kept: enough for any chart, and a third of the room.
_DIGITS = 6


class MeanWatch(Saved):
    """Snapshots of the means of a model's first classes, for features chosen by the first rows and then kept.

    Examples
    --------
    >>> import numpy as np
    >>> from thalweg import OnlineLDC
    >>> X, y = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 0.0], [3.0, 0.0]]), np.array(["a", "b", "a", "b"])
    >>> watch = MeanWatch()
    >>> watch.choose(X, y)
    >>> watch.features  # the other never moves
    [0]
    >>> watch.snapshot(OnlineLDC(0.5).partial_fit(X, y))
    {'means': {'a': [0.0], 'b': [2.0]}}
    """

    _saved = ("features", "classes")

    def __init__(self) -> None:
        #: Places of the features, rising.
        self.features: list[int] = []
        #: The first classes that the model knew.
        self.classes: list[str] = []

    def choose(self, X: Floats, labels: NDArray[np.str_]) -> None:
        """Take the features whose class means lie furthest apart, relative to their spread; earlier ones where equal.

        One that has not moved yet comes last; one that was always 0, such as a category not seen, is not taken.
        """
        X, labels = X[labels != ""], labels[labels != ""]
        if len(X) == 0:
            return
        classes, places = np.unique(labels, return_inverse=True)
        between = np.zeros(X.shape[1])
        for place in range(len(classes)):
            own = X[places == place]
            between += len(own) / len(X) * (own.mean(axis=0) - X.mean(axis=0)) ** 2
        moves = (X[0] != X).any(axis=0)
        apart = np.divide(between, X.var(axis=0), out=np.zeros(len(between)), where=moves)
        best = np.argsort(-np.where(moves, apart, -1.0), kind="stable")
        self.features = sorted([int(at) for at in best if moves[at] or X[0, at] != 0][:MOST_FEATURES])

    def snapshot(self, model: Any) -> dict[str, Any]:
        """The means now, and the forecast ones, by class; nothing of a model that keeps none or knows none yet."""
        if not model.__sklearn_is_fitted__() or not self.features:
            return {}
        means = model._class_means()
        if means is None:
            return {}
        known = [str(label) for label in model.classes_]
        room = MOST_MEANS - len(self.classes)
        self.classes += [label for label in known if label not in self.classes][:room]
        snapshot = {"means": self._of(means, known)}
        if hasattr(model, "forecast_"):
            snapshot["forecast"] = self._of(model.forecast_.means, known)
        return snapshot

    def _of(self, means: Floats, known: list[str]) -> dict[str, list[float | None]]:
        return {
            label: [_short(value) for value in means[known.index(label), self.features].tolist()]
            for label in self.classes
        }


def _means_as_series(snapshots: list[dict[str, Any]], features: list[str], ahead: int | None) -> dict[str, Any] | None:
    """Snapshots of means as columns, of features with these names; None where no snapshot has means."""
    means = _mean_columns(snapshots, "means", len(features))
    if not means:
        return None
    return {
        "features": features,
        "classes": means,
        "ahead": ahead,
        "forecast": _mean_columns(snapshots, "forecast", len(features)) or None,
    }


def _mean_columns(snapshots: list[dict[str, Any]], name: str, features: int) -> dict[str, list[list[float | None]]]:
    labels = dict.fromkeys(label for snapshot in snapshots for label in snapshot.get(name, {}))
    unknown = [None] * features
    return {
        label: [[snapshot.get(name, {}).get(label, unknown)[at] for snapshot in snapshots] for at in range(features)]
        for label in labels
    }


def _short(value: float) -> float | None:
    return float(f"{value:.{_DIGITS}g}") if np.isfinite(value) else None


#: Rows between the first points, and how many are kept.
FIRST_STEP, MOST_POINTS = 32, 95
#: Classes whose memory is kept: those that came first.
MOST_CLASSES = 64


class ModelHistory(Saved):
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

    _saved = ("watch", "_grid", "_classes")

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
        """All points and a last one, of the model as it is, as columns; of several after equally many rows the last.

        ``features`` names those whose class means are kept; forecasts reach ``ahead`` rows.
        """
        points = dict([*self.points, (learned, self._snapshot(model))])
        points.pop(0, None)
        snapshots = list(points.values())
        return {"rows": list(points), **_as_series(snapshots), "means": _means_as_series(snapshots, features, ahead)}

    def _snapshot(self, model: Any) -> dict[str, Any]:
        trace = trace_of(model)
        if "effective_rows" in trace:
            for label in list(trace["effective_rows"])[: MOST_CLASSES - len(self._classes)]:
                self._classes.setdefault(label)
            trace["effective_rows"] = {
                label: rows for label, rows in trace["effective_rows"].items() if label in self._classes
            }
        return trace | self.watch.snapshot(model)
