"""The same model where each label comes with its row: what the lateness of labels costs."""

from __future__ import annotations

import time
from collections.abc import Mapping
from copy import deepcopy
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.evaluate.late_labels import Batch
from thalweg.store import dumps, loads
from thalweg.tables.encoder import rows_between


class PromptReference:
    """A twin of the model, which learns the label of each row right after it predicted the row.

    Examples
    --------
    >>> from thalweg import NoChange
    >>> from thalweg.evaluate.late_labels import LateLabels
    >>> labels = np.array([1, 1, 2, 2])
    >>> batch = LateLabels(delay=3).plan(np.zeros((4, 1)), labels, labels > 0, np.arange(1, 5))
    >>> PromptReference(NoChange()).follow(batch, np.array(["", "a", "b"])[labels]).tolist()
    [0, 1, -1, 2]
    """

    #: It is never fitted anew.
    fits = 0

    def __init__(self, model: Any) -> None:
        self._model = deepcopy(model)
        self._labelled = 0
        #: Seconds of processor time.
        self.seconds = 0.0

    def follow(self, batch: Batch, targets: NDArray[Any]) -> NDArray[Any]:
        """Predict the fresh rows: numbers, or labels by number, -1 for any wrong one; NaN or 0 for no prediction."""
        began = time.thread_time()
        has_target = np.zeros(len(targets), dtype=np.bool_)
        has_target[batch.learned] = has_target[batch.waiting] = True
        cuts = np.flatnonzero(np.diff(has_target[batch.carried :])) + 1 + batch.carried
        ends = [batch.carried, *cuts.tolist(), len(targets)]
        numbers = targets.dtype.kind == "f"
        found: NDArray[Any] = np.full(len(targets), np.nan) if numbers else np.zeros(len(targets), dtype=np.int64)
        for begin, end in pairwise(ends):
            if begin == end or not (has_target[begin] or self._labelled):
                continue
            X, part = rows_between(batch.X, begin, end), slice(begin, end)
            given = self._model.predict_then_learn(X, targets[part]) if has_target[begin] else self._model.predict(X)
            found[part] = given if numbers else np.where(given == targets[part], batch.labels[part], -1)
            if not self._labelled:
                found[begin] = np.nan if numbers else 0
            self._labelled += (end - begin) * int(has_target[begin])
        self.seconds += time.thread_time() - began
        return found

    def state(self) -> dict[str, Any]:
        """The rows it learned, and the model as bytes of its file."""
        return {"labelled": self._labelled, "model": dumps(self._model)}

    def restore(self, state: Mapping[str, Any]) -> None:
        self._labelled, self._model = state["labelled"], loads(state["model"])
