"""Wide rows: the discriminant beside the fastest arithmetic the processor has, and beside a plain NumPy loop.

Run: python benchmarks/wide_rows.py

The ceiling is a matrix product (dgemm, one thread) of as many multiply-adds as the discriminant's update needs,
1.5 p^2 a row. A second table has other settings, and least squares, in chunks beside single rows. Figures of different
runs do not compare; the ratios within one run do.
"""

from __future__ import annotations

import argparse
import copy
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from contest import Contestant, Effort, Run, contest
from numpy.typing import NDArray
from operations import ANSWER_THEN_LEARN
from ours import RATE, online_ldc
from rich.console import Console
from rich.table import Table
from rows import Rows
from scipy.linalg import blas
from threadpoolctl import threadpool_limits

from thalweg import OnlineLDC, OnlineLinearRegression
from thalweg.rates import ErrorDriven

WIDTHS, ROWS, WIDE = (256, 500, 1000, 2000), 512, 1000
FULL, QUICK = Effort(rounds=5, seconds=0.5), Effort(rounds=2, seconds=0.2)


class NumPyLoop:
    """O-LDC with hard counts as one would write it down: Sherman-Morrison's formula, row by row.

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


def contestants(features: int, count: int) -> Iterator[Contestant]:
    """In chunks, row by row, by NumPy, and the ceiling."""
    start = features + features // 2
    Rows.NUMBERS = (start + count) * features
    rows = Rows(features)
    fitted = online_ldc().fit(rows.X[:start], rows.y[:start])
    X, y = rows.X[start:], rows.y[start:]

    def in_chunks(count: int) -> Run:
        model = copy.deepcopy(fitted)
        return lambda: model.predict_then_learn(X[:count], y[:count])

    def row_by_row(count: int) -> Run:
        model, ordinary = copy.deepcopy(fitted), y[:count].tolist()

        def run() -> None:
            for x, label in zip(X[:count], ordinary, strict=True):
                model.predict_one(x)
                model.learn_one(x, label)

        return run

    def by_numpy(count: int) -> Run:
        loop = NumPyLoop(fitted.means_, fitted.precision_, fitted.counts_)
        return lambda: loop.run(X[:count], y[:count])

    square = np.asfortranarray(fitted.precision_)

    def product(count: int) -> Run:
        right = np.ones((features, math.ceil(1.5 * count)), order="F")
        out = np.zeros_like(right)
        return lambda: blas.dgemm(1.0, square, right, c=out, overwrite_c=1)

    yield Contestant(ANSWER_THEN_LEARN, "in chunks", in_chunks, count)
    yield Contestant(ANSWER_THEN_LEARN, "row by row", row_by_row, count)
    yield Contestant(ANSWER_THEN_LEARN, "NumPy", by_numpy, count)
    yield Contestant(ANSWER_THEN_LEARN, "dgemm", product, count)


def settings() -> Iterator[tuple[str, Any, bool]]:
    """Other settings: their name, a model, and whether its rows have weights."""
    yield "error-driven rate, window 50", OnlineLDC(ErrorDriven(0.5, window=50)), False
    yield "weights", OnlineLDC(RATE), True
    yield "a ridge", OnlineLDC(RATE, ridge=1e-3), False
    yield "a ridge, soft counts, rate 0.002", OnlineLDC(0.002, counts="soft", ridge=1e-3), False
    yield "least squares", OnlineLinearRegression(solver="rls"), False


def in_chunks_and_single(model: Any, *, weighted: bool) -> Iterator[Contestant]:
    """The same rows in chunks and one by one, behind a fit."""
    start = WIDE + WIDE // 2
    Rows.NUMBERS = (start + ROWS) * WIDE
    rows = Rows(WIDE)
    y = rows.y.astype(float) if isinstance(model, OnlineLinearRegression) else rows.y
    fitted = model.fit(rows.X[:start], y[:start])
    weights = np.random.default_rng(0).uniform(0.5, 2, len(rows)) if weighted else None

    def prepared(step: int) -> Callable[[int], Run]:
        def prepare(count: int) -> Run:
            learner = copy.deepcopy(fitted)
            parts = [slice(start + i, start + min(i + step, count)) for i in range(0, count, step)]

            def run() -> None:
                for part in parts:
                    learner.partial_fit(rows.X[part], y[part], sample_weight=None if weights is None else weights[part])

            return run

        return prepare

    for name, step in (("in chunks", ROWS), ("row by row", 1)):
        yield Contestant("learn", name, prepared(step), ROWS)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="The discriminant on wide rows, beside dgemm and NumPy.")
    parser.add_argument("--quick", action="store_true", help="rougher figures, sooner")
    effort = QUICK if parser.parse_args().quick else FULL
    table = Table(box=None, header_style="dim")
    for title in ("features", "in chunks", "row by row", "NumPy", "share of\ndgemm", "× row\nby row", "× NumPy"):
        table.add_column(title, justify="right")
    with threadpool_limits(1):
        for features in WIDTHS:
            everybody = list(contestants(features, ROWS))
            chunks, single, plain, ceiling = (timing.best for timing in contest(everybody, effort, lambda: None))
            times = [f"{1e6 / speed:,.1f} µs" for speed in (chunks, single, plain)]
            ratios = (chunks / ceiling, chunks / single, chunks / plain)
            table.add_row(str(features), *times, *(f"{ratio:.2f}" for ratio in ratios))
        others = Table(box=None, header_style="dim")
        for title in (f"learning {WIDE} features", "in chunks", "row by row", "× row\nby row"):
            others.add_column(title, justify="right")
        for name, model, weighted in settings():
            both = list(in_chunks_and_single(model, weighted=weighted))
            chunks, single = (timing.best for timing in contest(both, effort, lambda: None))
            others.add_row(name, f"{1e6 / chunks:,.1f} µs", f"{1e6 / single:,.1f} µs", f"{chunks / single:.2f}")
    Console(highlight=False).print(table, others, sep="\n")


if __name__ == "__main__":
    main()
