"""Whether the predictions of a model or its labels change, as a service watches its columns: from the records alone.

Cost: O(1) a row and a label, in blocks of 64. Memory: the last 1,024 of both.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.evaluate.block_scores import BLOCK
from thalweg.evaluate.input_drift import Cells, InputDrift
from thalweg.service.journal.records import Predicted, PredictedLabels

#: How often something happened, and the last times of it.
Happened = tuple[int, list[dict[str, Any]]]


class OutcomeWatch:
    """One column of predictions, or of labels.

    Examples
    --------
    >>> watch = OutcomeWatch("label")
    >>> for day in range(40):
    ...     watch.add((np.full(100, int(day >= 25)), ["dry", "wet"]))
    >>> watch.test_blocks()
    >>> [(change["row"], change["what"]) for change in watch.drift.changes]
    [(2501, 'category dry')]
    """

    def __init__(self, name: str) -> None:
        self.drift = InputDrift([name])
        self._waiting: list[Cells] = []
        self._count = 0

    def add(self, cells: Cells) -> None:
        """Take in rows, in order; `test_blocks` is due after the last of those that come together."""
        self._waiting.append(cells)
        self._count += len(cells[0] if isinstance(cells, tuple) else cells)

    def test_blocks(self) -> None:
        """Look for changes in whole blocks."""
        if self._count >= BLOCK:
            self.settle()

    def settle(self) -> None:
        """Test what waits for it."""
        waiting, self._waiting, self._count = self._waiting, [], 0
        if waiting:
            self.drift.add_rows(self.drift.as_numbers(self.drift.names, [_joined(waiting)]))

    def state(self) -> dict[str, Any]:
        return self.drift.state()

    def arrays(self) -> dict[str, NDArray[Any]]:
        return self.drift.arrays()

    def restore(self, state: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        self.drift.restore(state, arrays)


def _joined(parts: Sequence[Cells]) -> Cells:
    """Cells of several records, whose names may be others."""
    if len(parts) == 1:
        return parts[0]
    numbers = [each for each in parts if not isinstance(each, tuple)]
    if numbers:
        return np.concatenate(numbers)
    named = [each for each in parts if isinstance(each, tuple)]
    first = named[0][1]
    if all(names is first for _, names in named):  # as those are that were predicted one after the other
        return np.concatenate([own for own, _ in named]), first
    codes: dict[str, int] = {}
    places = []
    for own, names in named:
        places.append(np.array([*(codes.setdefault(name, len(codes)) for name in names), -1])[own])
    return np.concatenate(places), list(codes)


def cells_of_predictions(given: Predicted, without: Sequence[int]) -> Cells:
    """What a model predicted, but for rows that were erased."""
    if isinstance(given, PredictedLabels):
        codes = np.delete(given.codes, list(without)) if without else given.codes
        return codes.astype(np.int64), given.labels
    return np.delete(given.values, list(without)) if without else given.values


def cells_of_labels(labels: NDArray[Any]) -> Cells:
    """Labels as a model learns them."""
    if labels.dtype.kind == "f":
        return labels
    names, places = np.unique(labels, return_inverse=True)
    return places, [str(name) for name in names]


def changes_of(drift: InputDrift) -> Happened:
    """How many changes were found, and the last of them, with the value up to where each was found as ``seen``."""
    told = [{("seen" if key == "after" else key): value for key, value in each.items()} for each in drift.changes]
    return len(told) + drift.left_out, told
