"""O-LDC as one would write it down in NumPy: equation by equation, or with some care for what it costs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from benchmarks.contest import Contestant, Run
from benchmarks.operations import PREDICT_THEN_LEARN
from benchmarks.ours import RATE, Started, started
from benchmarks.rows import Rows

AS_PRINTED, IN_PLACE = "NumPy, as printed", "NumPy, in place"


class AsPrinted:
    """O-LDC with hard counts, row by row: Schnackenberg et al., eq. (1) to (5).

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
            scores = np.log(self.counts) - 0.5 * (weights * self.means).sum(axis=1) + weights @ x  # eq. (2), (5)
            answers.append(int(scores.argmax()))
            self.learn(x, k)
        return answers

    def learn(self, x: NDArray[np.float64], k: int) -> None:
        """Take in one row."""
        n, a = self.counts[k], (1 - RATE) * self.counts.sum()
        mean = ((1 - RATE) * n * self.means[k] + RATE * x) / ((1 - RATE) * n + RATE)  # eq. (1)
        v = x - ((n + 1) * mean - x) / n  # eq. (4)
        u = self.precision @ v
        change = np.outer(u, u) / (a * (n + 1) / (RATE * n) + v @ u)
        self.precision = (a + RATE) / a * (self.precision - change)  # eq. (3)
        self.means[k] = mean
        self.counts[k] += 1


class InPlace(AsPrinted):
    """The same without needless copies of the matrix."""

    def learn(self, x: NDArray[np.float64], k: int) -> None:
        """Take in one row."""
        n, a = self.counts[k], (1 - RATE) * self.counts.sum()
        e = x - self.means[k]
        beta = (n + 1) * (1 - RATE) / ((1 - RATE) * n + RATE)  # v = beta e, eq. (4)
        weight = RATE * n / (n + 1) * beta**2
        u = self.precision @ e
        self.precision -= np.outer(u, u / (a / weight + e @ u))  # eq. (3)
        self.precision *= (a + RATE) / a
        self.means[k] += RATE / ((1 - RATE) * n + RATE) * e  # eq. (1)
        self.counts[k] += 1


def contestants(rows: Rows) -> Iterator[Contestant]:
    """The faster loop, from where ours starts."""
    yield from_there(started(rows), IN_PLACE)


def from_there(start: Started, name: str) -> Contestant:
    """One of the loops on what comes after the start."""
    kind = {AS_PRINTED: AsPrinted, IN_PLACE: InPlace}[name]

    def prepare(count: int) -> Run:
        loop = kind(start.model.means_, start.model.precision_, start.model.counts_)
        return lambda: loop.run(start.X[:count], start.y[:count])

    return Contestant(PREDICT_THEN_LEARN, name, prepare, len(start.y))
