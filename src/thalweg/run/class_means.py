"""Class means of a model, present and forecast, for the few features that separate the classes best."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

MOST_FEATURES, MOST_CLASSES = 6, 8
#: Digits that are kept: enough for any chart, and a third of the room.
_DIGITS = 6


class MeanWatch:
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

    def __init__(self) -> None:
        #: Places of the features, rising.
        self.features: list[int] = []
        #: The first classes that the model knew.
        self.classes: list[str] = []

    def choose(self, X: Floats, labels: NDArray[np.str_]) -> None:
        """Take the features whose class means lie furthest apart, relative to their spread; earlier ones where equal.

        One that has not moved yet comes last; one that was always 0, such as a category not seen, is not taken.

        Parameters
        ----------
        X, labels
            The first rows and their labels, an empty one where there is none.
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
        room = MOST_CLASSES - len(self.classes)
        self.classes += [label for label in known if label not in self.classes][:room]
        found = {"means": self._of(means, known)}
        if hasattr(model, "forecast_"):
            found["forecast"] = self._of(model.forecast_.means, known)
        return found

    def _of(self, means: Floats, known: list[str]) -> dict[str, list[float | None]]:
        return {
            label: [_short(value) for value in means[known.index(label), self.features].tolist()]
            for label in self.classes
        }

    def state(self) -> dict[str, Any]:
        """All of it, as JSON holds it."""
        return {"features": self.features, "classes": self.classes}

    def restore(self, state: dict[str, Any]) -> None:
        """Take back what `state` gave."""
        self.features, self.classes = list(state["features"]), list(state["classes"])


def means_as_series(
    snapshots: Sequence[dict[str, Any]], features: Sequence[str], ahead: int | None
) -> dict[str, Any] | None:
    """Snapshots as columns; None where there is nothing in them.

    Parameters
    ----------
    snapshots : sequence of dict
        What `MeanWatch.snapshot` gave each time.
    features : sequence of str
        Their names.
    ahead : int or None
        How many rows ahead the forecasts look.
    """
    means = _columns(snapshots, "means", len(features))
    if not means:
        return None
    return {
        "features": list(features),
        "classes": means,
        "ahead": ahead,
        "forecast": _columns(snapshots, "forecast", len(features)) or None,
    }


def _columns(traces: Sequence[dict[str, Any]], name: str, features: int) -> dict[str, list[list[float | None]]]:
    labels = dict.fromkeys(label for trace in traces for label in trace.get(name, {}))
    unknown = [None] * features
    return {
        label: [[trace.get(name, {}).get(label, unknown)[at] for trace in traces] for at in range(features)]
        for label in labels
    }


def _short(value: float) -> float | None:
    return float(f"{value:.{_DIGITS}g}") if np.isfinite(value) else None
