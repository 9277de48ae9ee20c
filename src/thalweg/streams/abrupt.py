"""Concepts that replace one another at once: STAGGER (Widmer & Kubat 1996) and SEA (Street & Kim 2001)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from thalweg.errors import InvalidParameter
from thalweg.parameters import Real, Rule, Rules, at_least, real_number
from thalweg.streams.stream import Floats, Labels, NoisyRuleStream, Rows, RuleStream, Times

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


@dataclass(frozen=True)
class SEA(NoisyRuleStream):
    """Abrupt drift under noise, as in Karnick, Muhlbaier & Polikar 2008, section 3.

    Rows are uniform in [0, 10]³. Class 1 is where x1 + x2 >= θ; the third feature says nothing. θ takes the values of
    ``thresholds`` in turn, each for ``rows_per_concept`` rows; then the first returns. A share ``noise`` of the labels
    is turned round. `clean` is the same stream without that, for test sets. `load_sea_concepts` reads the rows that
    the authors published, with the two classes' names exchanged.

    Parameters
    ----------
    seed : int >= 0
        Seed for the random number generator.
    thresholds : tuple of float
        The θ of each concept. The paper's are 8, 9, 7 and 9.5.
    noise : float in [0, 1/2]
        The chance of a label to be turned round, which is also the Bayes error.
    rows_per_concept : int >= 1
        How long a concept lasts. The paper's protocol is 4 × 12,500 rows, in blocks of 250.

    Examples
    --------
    >>> stream = SEA(seed=1)
    >>> stream.concept(0).label([[4.0, 4.5, 0.0]]), stream.concept(12_500).label([[4.0, 4.5, 0.0]])
    (array([1]), array([0]))
    >>> stream.length, stream.concept(0).bayes_error, stream.clean.concept(0).bayes_error
    (50000, 0.1, 0.0)
    """

    features: ClassVar[int] = 3

    thresholds: tuple[float, ...] = (8.0, 9.0, 7.0, 9.5)
    noise: float = 0.1
    rows_per_concept: int = 12_500

    _rules = Rules(
        **NoisyRuleStream._rules,
        thresholds=Rule("be a tuple of at least one number", lambda value: isinstance(value, tuple) and len(value) > 0),
        noise=Real(),
        rows_per_concept=at_least(1),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for threshold in self.thresholds:
            real_number("SEA", "thresholds", threshold)
        if not 0.0 <= self.noise <= 0.5:
            raise InvalidParameter.of("SEA", "noise", "lie in [0, 1/2]", self.noise)

    @property
    def length(self) -> int:
        """Rows in which every concept occurs once."""
        return len(self.thresholds) * self.rows_per_concept

    def bayes_error_at(self, time: int) -> float:
        """The share of labels turned round, at every time."""
        return float(self.noise)

    def features_from(self, uniforms: Floats) -> Floats:
        """Points of [0, 10]³."""
        return 10.0 * uniforms[..., :3]

    def label_at(self, times: Times, X: Floats) -> Labels:
        """1 where the sum reaches the threshold in force."""
        threshold = np.asarray(self.thresholds)[times // self.rows_per_concept % len(self.thresholds)]
        y: Labels = (X[..., 0] + X[..., 1] >= threshold).astype(np.int64)
        return y

    def blurred(self, X: Floats, y: Labels, uniforms: Floats) -> Rows:
        """Some labels turned round."""
        return X, np.where(uniforms[..., 3] < self.noise, 1 - y, y)
