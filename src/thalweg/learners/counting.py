"""The baselines as sums: rows per class, and the class of the last one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from thalweg.learners.summing import Learned, State, Sums
from thalweg.sums.moments import Moments


class _NoColumns(Sums):
    """No column is looked at."""

    def columns(self, features: int, outputs: int) -> int:
        """None of them."""
        return 0


class CountSums(_NoColumns):
    """The sums of `MajorityClass`: rows per class."""

    def learned(self, state: State) -> Learned:
        """The counts."""
        counts = state["counts"][0]
        none = Moments.none(0, len(counts))
        return Learned(replace(none, rows=int(counts.sum()), last=int(counts.argmax()), weights=counts))

    def state(self, known: Learned, fresh: State) -> State:
        """The counts again."""
        return fresh | {"counts": known.moments.weights[np.newaxis]}


class LastSums(_NoColumns):
    """The sums of `NoChange`: which class was last."""

    ordered = True

    def why_not_begun(self) -> str | None:
        """The order of the rows is all that counts."""
        return "its answer is the label of the last row, so that their order counts"

    def learned(self, state: State) -> Learned:
        """The last class."""
        last = int(state["last_class"].item())
        none = Moments.none(0, int(state["n_classes"].item()))
        return Learned(replace(none, rows=int(last >= 0), last=last))

    def state(self, known: Learned, fresh: State) -> State:
        """The last class again."""
        return fresh | {"last_class": np.array([known.moments.last])}
