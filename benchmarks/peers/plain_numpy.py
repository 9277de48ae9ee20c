"""O-LDC as one would write it down in NumPy."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from benchmarks.contest import Contestant, Run
from benchmarks.operations import ANSWER_THEN_LEARN
from benchmarks.ours import RATE, Started, started
from benchmarks.rows import Rows


class NumPyLoop:
    """O-LDC with hard counts: Sherman-Morrison's formula, row by row.

    Parameters
    ----------
    means, precision, counts : arrays
        What is known at the start.
    """

    def __init__(self, means: NDArray[np.float64], precision: NDArray[np.float64], counts: NDArray[np.float64]) -> None:
        self.means, self.precision, self.counts = means.copy(), precision.copy(), counts.copy()

    def run(self, X: NDArray[np.float64], y: NDArray[np.int64]) -> list[int]:
        """The answer to each row before its label is learned."""
        answers = []
        for x, k in zip(X, y.tolist(), strict=True):
            weights = self.means @ self.precision
            scores = np.log(self.counts) - 0.5 * (weights * self.means).sum(axis=1) + weights @ x
            answers.append(int(scores.argmax()))
            n, a = self.counts[k], (1 - RATE) * self.counts.sum()
            e = x - self.means[k]
            beta = (n + 1) * (1 - RATE) / ((1 - RATE) * n + RATE)
            weight = RATE * n / (n + 1) * beta**2
            u = self.precision @ e
            self.precision -= np.outer(u, u / (a / weight + e @ u))
            self.precision *= (a + RATE) / a
            self.means[k] += RATE / ((1 - RATE) * n + RATE) * e
            self.counts[k] += 1
        return answers


def contestants(rows: Rows) -> Iterator[Contestant]:
    """The loop, from where ours starts."""
    yield from_there(started(rows))


def from_there(start: Started) -> Contestant:
    """The loop on what comes after the start."""

    def prepare(count: int) -> Run:
        loop = NumPyLoop(start.model.means_, start.model.precision_, start.model.counts_)
        return lambda: loop.run(start.X[:count], start.y[:count])

    return Contestant(ANSWER_THEN_LEARN, "NumPy, the same loop", prepare, len(start.y))
