"""STAGGER: three attributes, three concepts that replace one another (Widmer & Kubat 1996)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from thalweg.parameters import Rules, at_least
from thalweg.streams.concept import RuleStream, Times
from thalweg.streams.stream import Floats, Labels

_FEATURES = (
    "size=small",
    "size=medium",
    "size=large",
    "colour=red",
    "colour=green",
    "colour=blue",
    "shape=square",
    "shape=circular",
    "shape=triangular",
)
_COLUMN = {name: column for column, name in enumerate(_FEATURES)}


@dataclass(frozen=True)
class Stagger(RuleStream):
    """Abrupt drift over one-hot attributes, as in Kuncheva & Plumpton 2008, section 4.1.

    A row is a size, a colour and a shape, each of three categories with equal chances, as nine binary
    features. Class 1 is

    1. size small and colour red,
    2. colour green or shape circular,
    3. size small or size large,

    each for ``rows_per_concept`` rows; then the first returns.

    Parameters
    ----------
    seed : int >= 0
        Seed for the random number generator.
    rows_per_concept : int >= 1
        How long a concept lasts. The paper's protocol is 3 × 40 rows.

    Examples
    --------
    >>> stream = Stagger(seed=1)
    >>> X, y = stream.take(2)
    >>> X.shape, stream.length
    ((2, 9), 120)
    >>> stream.concept(40).label(stream.concept(0).draw(100)[0]).mean() > 0.4
    np.True_
    """

    uniforms_per_row: ClassVar[int] = 3

    rows_per_concept: int = 40

    _rules = Rules(**RuleStream._rules, rows_per_concept=at_least(1))

    @property
    def length(self) -> int:
        """Rows in which every concept occurs once."""
        return 3 * self.rows_per_concept

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Attribute and category of each binary feature."""
        return _FEATURES

    @property
    def classes(self) -> Labels:
        """0 and 1 (the concept holds)."""
        return np.array([0, 1])

    def features_from(self, uniforms: Floats) -> Floats:
        """One-hot categories."""
        categories = (3.0 * uniforms).astype(np.int64)
        one_hot = categories[..., np.newaxis] == np.arange(3)
        X: Floats = one_hot.reshape(*uniforms.shape[:-1], 9).astype(np.float64)
        return X

    def label_at(self, times: Times, X: Floats) -> Labels:
        """1 where the concept in force holds."""
        has = {name: X[..., column] > 0.5 for name, column in _COLUMN.items()}
        concepts = (
            has["size=small"] & has["colour=red"],
            has["colour=green"] | has["shape=circular"],
            has["size=small"] | has["size=large"],
        )
        return np.choose(times // self.rows_per_concept % 3, concepts).astype(np.int64)
