"""scikit-learn's support vector machine by the protocol of Table 1: the measured peer of the kernel mean machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from sklearn.svm import SVC

from thalweg.experiments.bounsiar_protocol import TUNING_SPLITS
from thalweg.experiments.workers import run_all
from thalweg.streams import BenchmarkSet, Split

#: A grid that is finer changes errors by tenths and takes hours.
COSTS = (0.1, 1.0, 10.0, 100.0, 1000.0)
GAMMAS = tuple(2.0**power for power in (-8, -6, -4, -2, 0, 2, 4))


class SupportVectors(NamedTuple):
    """Parameters of a support vector machine with the radial kernel exp(-gamma |x - y|²)."""

    cost: float
    gamma: float

    def machine(self) -> SVC:
        """The machine with these parameters, not yet fitted."""
        return SVC(C=self.cost, gamma=self.gamma)

    def error(self, split: Split) -> float:
        """On the test rows, after learning the training rows."""
        answers = self.machine().fit(split.X_train, split.y_train).predict(split.X_test)
        return float(np.mean(answers != split.y_test))


GRID = tuple(SupportVectors(cost, gamma) for cost in COSTS for gamma in GAMMAS)


def tuned_support_vectors(data: BenchmarkSet, workers: int, finished: Callable[[float], None]) -> SupportVectors:
    """Those of the grid with the least mean error on the first five test halves, the first of equally good ones."""
    splits = list(data.splits(TUNING_SPLITS))
    tasks = [lambda chosen=chosen: float(np.mean([chosen.error(split) for split in splits])) for chosen in GRID]
    return GRID[int(np.argmin(run_all(tasks, workers, finished)))]
