"""What stands beside the default on curved boundaries: MOA's forests, and scikit-learn's models refitted on a window.

A peer predicts every row of a table before its label is learned. Predictions are positions in the table's classes; -1
where there is none, which counts as a mistake.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from thalweg.errors import MissingExtra
from thalweg.streams import Table

Codes: TypeAlias = NDArray[np.intp]
#: Rows and label codes to the code predicted for each row, test-then-train.
Predict: TypeAlias = Callable[[NDArray[np.float64], Codes], NDArray[Any]]


class Score(NamedTuple):
    """How a model did on a stream."""

    #: Share of rows predicted wrongly; the first row, before any label, counts as a mistake.
    error: float
    #: Processor time of all threads for a row, predicted and learned.
    microseconds: float


def score(predict: Predict, table: Table) -> Score:
    """Error and cost of a model over a table."""
    X, y = table.take()
    codes = np.searchsorted(table.classes, y)
    before = time.process_time()
    predicted = predict(X, codes)
    seconds = time.process_time() - before
    mistakes = predicted != codes
    mistakes[0] = True
    return Score(float(mistakes.mean()), 1e6 * seconds / len(codes))


@dataclass(frozen=True)
class Moa:
    """An ensemble of MOA's through CapyMOA, row by row, with its default settings and one thread."""

    #: Of a class in ``capymoa.classifier``.
    kind: str
    trees: int
    #: A row is learned right after the row so many rows later is predicted.
    delay: int = 0

    def __call__(self, X: NDArray[np.float64], codes: Codes) -> NDArray[Any]:
        stream = import_module("capymoa.stream").NumpyStream(X, codes)
        make = getattr(import_module("capymoa.classifier"), self.kind)
        model = make(schema=stream.get_schema(), ensemble_size=self.trees)
        predicted, waiting = np.full(len(codes), -1), deque[Any]()
        for row in range(len(codes)):
            instance = stream.next_instance()
            given = model.predict(instance)
            if given is not None:
                predicted[row] = given
            waiting.append(instance)
            if len(waiting) > self.delay:
                model.train(waiting.popleft())
        return predicted


def require_moa() -> None:
    """Raise `MissingExtra` where CapyMOA, or Java under it, is missing."""
    try:
        import_module("capymoa.classifier")
    except Exception as error:  # without Java it raises an error of its own
        raise MissingExtra.of("CapyMOA and Java 17", "bench-moa", "running MOA's models") from error


#: Rows of the first fit; fits follow at twice as many rows each, until the interval is reached.
FIRST_FIT = 50


@dataclass(frozen=True)
class Refitted:
    """A batch model of scikit-learn's, refitted every ``every`` rows on the last ``window``, with one thread.

    At the start it is refitted more often, after 50, 100, 200, … rows. Before that it predicts the first class.
    """

    module: str
    kind: str
    every: int
    #: None for all rows so far.
    window: int | None

    def __call__(self, X: NDArray[np.float64], codes: Codes) -> NDArray[Any]:
        from threadpoolctl import threadpool_limits

        make = getattr(import_module(self.module), self.kind)
        predicted = np.zeros(len(codes), dtype=np.intp)
        moments = self.moments(len(codes))
        with threadpool_limits(1):
            for fitted_at, until in zip(moments, [*moments[1:], len(codes)], strict=True):
                past = slice(max(0, fitted_at - (self.window or fitted_at)), fitted_at)
                here = slice(fitted_at, until)
                if len(np.unique(codes[past])) == 1:
                    predicted[here] = codes[past][0]
                else:
                    predicted[here] = make(random_state=0).fit(X[past], codes[past]).predict(X[here])
        return predicted

    def moments(self, rows: int) -> list[int]:
        """Rows seen at each fit.

        Examples
        --------
        >>> Refitted("sklearn.ensemble", "RandomForestClassifier", every=250, window=2000).moments(800)
        [50, 100, 200, 250, 500, 750]
        """
        early = [FIRST_FIT * 2**power for power in range(32) if FIRST_FIT * 2**power < self.every]
        return [moment for moment in (*early, *range(self.every, rows, self.every)) if moment < rows]


ARF, SRP, BAGGING = "ARF, 30 trees", "SRP, 30 trees", "Leveraging bagging, 10 trees"
BOOSTING, FOREST = "Gradient boosting, refitted", "Random forest, refitted"

MOA_PEERS: Mapping[str, Predict] = {
    ARF: Moa("AdaptiveRandomForestClassifier", 30),
    SRP: Moa("StreamingRandomPatches", 30),
    BAGGING: Moa("LeveragingBagging", 10),
}
REFITTED_PEERS: Mapping[str, Predict] = {
    BOOSTING: Refitted("sklearn.ensemble", "HistGradientBoostingClassifier", every=500, window=5000),
    FOREST: Refitted("sklearn.ensemble", "RandomForestClassifier", every=250, window=2000),
}
#: Beside rows that do not drift: on all rows so far.
GROWING_PEERS: Mapping[str, Predict] = {
    BOOSTING: Refitted("sklearn.ensemble", "HistGradientBoostingClassifier", every=500, window=None),
    FOREST: Refitted("sklearn.ensemble", "RandomForestClassifier", every=500, window=None),
}
