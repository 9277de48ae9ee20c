"""The history of the model itself while it learns: snapshots of its rate, its memory and the weights of its members."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

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


#: Rows between the first looks, and how many are kept.
FIRST_STEP, MOST_LOOKS = 32, 96
#: Classes whose memory is kept: those that came first.
MOST_CLASSES = 64


class Course:
    """Looks at a model that learns.

    Examples
    --------
    >>> import numpy as np
    >>> from thalweg import OnlineLDC
    >>> course = Course()
    >>> course.due(answered=0, coming=100).tolist()  # before these of the coming rows a look is due
    [32, 64, 96]
    >>> model = OnlineLDC(0.25).partial_fit([[0.0], [1.0]], ["low", "high"])
    >>> course.look(model, answered=32, learned=2)
    >>> course.rows, course.looks
    ([2], [{'rate': 0.25, 'effective_rows': {'all rows': 2.0}}])
    """

    def __init__(self) -> None:
        self.watch = MeanWatch()
        #: Answered rows between looks.
        self.every = FIRST_STEP
        #: How many rows the model had learned at each look, and what it looked like.
        self.rows: list[int] = []
        self.looks: list[dict[str, Any]] = []
        self._classes: dict[str, None] = {}

    def due(self, answered: int, coming: int) -> NDArray[np.int64]:
        """Before which of the coming rows, from 0, a look is due."""
        first = max(-(-answered // self.every), 1) * self.every
        return np.arange(first - answered, coming, self.every)

    def look(self, model: Any, answered: int, learned: int) -> None:
        """Look at the model, if this row is still one of the grid."""
        if answered % self.every:
            return
        self.rows.append(learned)
        self.looks.append(self._seen(model))
        if len(self.rows) == MOST_LOOKS:
            self.rows, self.looks = self.rows[1::2], self.looks[1::2]
            self.every *= 2

    def series(self, model: Any, learned: int, features: list[str], ahead: int | None) -> dict[str, Any]:
        """All looks and a last one, as columns; of several after equally many rows the last.

        Parameters
        ----------
        model, learned
            The model as it is, and how many rows it has learned.
        features : list of str
            Names of the features whose class means are watched.
        ahead : int or None
            How many rows ahead forecasts look.
        """
        looks = dict(zip([*self.rows, learned], [*self.looks, self._seen(model)], strict=True))
        looks.pop(0, None)
        seen = list(looks.values())
        return {"rows": list(looks), **as_series(seen), "means": means_as_series(seen, features, ahead)}

    def _seen(self, model: Any) -> dict[str, Any]:
        trace = trace_of(model)
        if "effective_rows" in trace:
            for label in list(trace["effective_rows"])[: MOST_CLASSES - len(self._classes)]:
                self._classes.setdefault(label)
            trace["effective_rows"] = {
                label: rows for label, rows in trace["effective_rows"].items() if label in self._classes
            }
        return trace | self.watch.look(model)

    def state(self) -> dict[str, Any]:
        """All of it, as JSON holds it."""
        return {
            "watch": self.watch.state(),
            "every": self.every,
            "rows": self.rows,
            "looks": self.looks,
            "classes": list(self._classes),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Take back what `state` gave."""
        self.watch.restore(state["watch"])
        self.every, self.rows, self.looks = int(state["every"]), list(state["rows"]), list(state["looks"])
        self._classes = dict.fromkeys(state["classes"])
