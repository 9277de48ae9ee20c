"""How the parameters of Table 1 are found: on the first five splits of a set, one choice for all splits.

The paper takes the sigma, rho and b with the fewest errors on the first five *test* halves, so its test errors are a
little too good. The same search over the leave-one-out errors of the first five *training* halves, in closed form,
needs no test half.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from thalweg.experiments.workers import run_all
from thalweg.learners.kernel_mean import KernelMeanClassifier
from thalweg.learners.kernel_mean_densities import leave_one_out_log_means, log_class_means, squared_distances
from thalweg.learners.kernel_mean_search import (
    RHOS,
    SIGMAS,
    best_bias,
    errors_at,
    fewest_errors,
    middle_of_minima,
)
from thalweg.streams import BenchmarkSet, Split

#: Splits on which the paper chooses its parameters.
TUNING_SPLITS = 5


class Parameters(NamedTuple):
    """Of one machine, eq. (5)."""

    sigma: float
    rho: float
    bias: float

    def machine(self) -> KernelMeanClassifier:
        """The machine with these parameters, not yet fitted."""
        return KernelMeanClassifier(sigma=self.sigma, rho=self.rho, bias=self.bias)


class Densities(NamedTuple):
    """Estimated log densities of both classes, at rows of which the class is known, for every width."""

    #: Of shape (sigmas, rows, 2): of class -1 and of class 1.
    log_p: NDArray[np.float64]
    #: Whether each row is of class 1.
    positive: NDArray[np.bool_]

    @classmethod
    def at_test_rows(cls, split: Split) -> Densities:
        """At the test rows, estimated from the training rows."""
        distances = squared_distances(split.X_test, split.X_train)
        log_p = log_class_means(distances, (split.y_train > 0).astype(np.int64), 2, SIGMAS)
        return cls(log_p, split.y_test > 0)

    @classmethod
    def at_left_out_rows(cls, split: Split) -> Densities:
        """At each training row, estimated from all the others."""
        positive = split.y_train > 0
        return cls(leave_one_out_log_means(split.X_train, positive.astype(np.int64), 2, SIGMAS), positive)

    @classmethod
    def of_all(cls, parts: Sequence[Densities]) -> Densities:
        """Those of several splits together: one bias is then shared by all."""
        log_p = np.concatenate([part.log_p for part in parts], axis=1)
        return cls(log_p, np.concatenate([part.positive for part in parts]))


def of_tuning_splits(data: BenchmarkSet, kind: Callable[[Split], Densities]) -> Densities:
    """The densities of one kind, of the first five splits together."""
    return Densities.of_all([kind(split) for split in data.splits(TUNING_SPLITS)])


def tune(
    densities: Densities,
    rhos: NDArray[np.float64] = RHOS,
    bias: float | None = None,
    workers: int = 1,
    finished: Callable[[float], None] = lambda share: None,
) -> Parameters:
    """The parameters with the fewest errors: over all widths, the given rhos and, unless one is given, every bias.

    Of equally good ones the middle one in the order of the grid. ``finished`` is told the share of the widths tried.
    """

    def errors(log_p: NDArray[np.float64]) -> NDArray[np.int64]:
        if bias is None:
            return fewest_errors(log_p, densities.positive, rhos)
        return errors_at(log_p, densities.positive, rhos, bias)

    table = np.stack(run_all([partial(errors, log_p) for log_p in densities.log_p], workers, finished))
    width, weight = divmod(middle_of_minima(table), len(rhos))
    rho = float(rhos[weight])
    found = best_bias(densities.log_p[width], densities.positive, rho).bias if bias is None else bias
    return Parameters(float(SIGMAS[width]), rho, found)
