"""Streams of five kinds whose rule or whose inputs change at one row: what changed is known."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from thalweg.streams import SEA, Stagger, WanderingDisc

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]
#: A rule, that after the change, and the inputs of rows that may have changed.
Made = tuple[Callable[[Floats], Labels], Callable[[Floats], Labels], Callable[[np.random.Generator, int, bool], Floats]]

ROWS, AT = 9000, 6000


def _sea(seed: int) -> Made:
    """The threshold of a sum moves from 7 to 9.5; a tenth of the labels are noise. Inputs: x1 is small more often."""
    concepts = SEA(seed=seed, thresholds=(7.0, 9.5), rows_per_concept=1)

    def inputs(rng: np.random.Generator, rows: int, moved: bool) -> Floats:
        X = rng.uniform(0.0, 10.0, (rows, 3))
        X[:, 0] = 10.0 * (X[:, 0] / 10.0) ** (2.0 if moved else 1.0)
        return X

    return concepts.concept(0).label, concepts.concept(1).label, inputs


def _stagger(seed: int) -> Made:
    """From "small and red" to "green or circular". Inputs: most are red."""
    concepts = Stagger(seed=seed, rows_per_concept=1)

    def inputs(rng: np.random.Generator, rows: int, moved: bool) -> Floats:
        colours = (0.2, 0.6, 0.2) if moved else (1 / 3, 1 / 3, 1 / 3)
        places = [rng.choice(3, rows, p=chances) for chances in ((1 / 3,) * 3, colours, (1 / 3,) * 3)]
        return np.concatenate([np.eye(3)[each] for each in places], axis=1)

    return concepts.concept(0).label, concepts.concept(1).label, inputs


def _hyperplane(seed: int, turned: int = 3) -> Made:
    """A linear rule over six columns, of which the largest weights are turned round. Inputs: the first moves."""
    weights = np.random.default_rng([seed, 1]).normal(size=6)
    after = weights.copy()
    after[np.argsort(-np.abs(weights))[:turned]] *= -1.0

    def inputs(rng: np.random.Generator, rows: int, moved: bool) -> Floats:
        X = rng.normal(size=(rows, 6))
        X[:, 0] += 1.5 * moved
        return X

    return lambda X: (X @ weights > 0).astype(np.int64), lambda X: (X @ after > 0).astype(np.int64), inputs


def _one_weight(seed: int) -> Made:
    """The same with one weight turned round: the third of six by size."""
    weights = np.random.default_rng([seed, 1]).normal(size=6)
    after = weights.copy()
    after[np.argsort(-np.abs(weights))[2]] *= -1.0
    _, _, inputs = _hyperplane(seed)
    return lambda X: (X @ weights > 0).astype(np.int64), lambda X: (X @ after > 0).astype(np.int64), inputs


def _disc(seed: int) -> Made:
    """A disc jumps to the other side of the origin. Inputs: the points move across its boundary."""
    concepts = WanderingDisc(seed=seed, features=4, rows_per_turn=2)

    def inputs(rng: np.random.Generator, rows: int, moved: bool) -> Floats:
        X = rng.normal(size=(rows, 4))
        X[:, 1] += 1.5 * moved
        return X

    return concepts.concept(0).label, concepts.concept(1).label, inputs


def _quadrants(seed: int) -> Made:
    """The product of two columns has to be positive, then the sum. Inputs: the third column, without effect, moves."""

    def inputs(rng: np.random.Generator, rows: int, moved: bool) -> Floats:
        X = rng.normal(size=(rows, 4))
        X[:, 2] += 1.5 * moved
        return X

    def product(X: Floats) -> Labels:
        return (X[:, 0] * X[:, 1] > 0).astype(np.int64)

    return product, lambda X: (X[:, 0] + X[:, 1] > 0).astype(np.int64), inputs


GENERATORS: dict[str, Callable[[int], Made]] = {
    "SEA": _sea,
    "STAGGER": _stagger,
    "hyperplane": _hyperplane,
    "one weight": _one_weight,
    "disc": _disc,
    "quadrants": _quadrants,
}


def drifting(generator: str, kind: str, seed: int) -> tuple[Floats, Labels]:
    """Rows and labels; ``kind`` says what changes: concept, inputs, both or neither."""
    rng = np.random.default_rng([seed, 0])
    before, after, inputs = GENERATORS[generator](seed)
    X = np.concatenate([inputs(rng, AT, False), inputs(rng, ROWS - AT, kind in ("inputs", "both"))])
    y = np.concatenate([before(X[:AT]), (after if kind in ("concept", "both") else before)(X[AT:])])
    noise = 0.1 if generator == "SEA" else 0.03
    return X, np.where(rng.random(ROWS) < noise, 1 - y, y)
