"""How the model itself went: looks at it while it learned, each with the number of rows it had learned by then.

Looks are taken at rows of a grid, just before the next row is answered, however the rows are cut into chunks. When
there are too many, every second is dropped and the grid gets coarser.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.run.class_means import MeanWatch, means_as_series
from thalweg.run.traces import as_series, trace_of

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
