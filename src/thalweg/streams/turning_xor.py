"""Turning XOR: four quadrants that turn about the origin, opposite ones of the same class, under noisy labels."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from thalweg.parameters import Real, Rules, at_least
from thalweg.streams.concept import NoisyRuleStream, Times
from thalweg.streams.stream import Floats, Labels, Rows, standard_normals


@dataclass(frozen=True)
class TurningXOR(NoisyRuleStream):
    """Gradual drift of the exclusive or: neither of two features says anything by itself.

    Features are standard normal and independent. The first two are turned about the origin by 2 π t /
    ``rows_per_turn``; class 1 is where their product is then positive. A share ``noise`` of the labels is flipped;
    `clean` is the same stream without that. The other features carry no information. Every quarter of a turn exchanges
    the classes.

    Parameters
    ----------
    seed : int >= 0
        Seed for the random number generator.
    features : int >= 2
        Number of features, of which two matter. More of them make the two harder to find.
    noise : float in [0, 1/2]
        Probability that a label is flipped, which is also the Bayes error.
    rows_per_turn : int >= 1
        Rows of a full turn. Fewer rows mean faster drift.
    length : int >= 1
        Rows of the protocol, by default one turn. The stream itself is endless.

    Examples
    --------
    >>> stream = TurningXOR(seed=1, features=2)
    >>> stream.concept(0).label([[1.0, 1.0], [1.0, -1.0]])
    array([1, 0])
    >>> stream.concept(3000).label([[1.0, 1.0], [1.0, -1.0]])
    array([0, 1])
    >>> stream.concept(0).bayes_error
    0.05
    """

    features: int = 5
    noise: float = 0.05
    rows_per_turn: int = 12_000
    length: int = 12_000

    _rules = Rules(
        **NoisyRuleStream._rules,
        features=at_least(2),
        noise=Real(0, 0.5, "both", text="lie in [0, 1/2]"),
        rows_per_turn=at_least(1),
        length=at_least(1),
    )

    @property
    def uniforms_per_row(self) -> int:
        """One for each feature, and one that decides whether the label is flipped."""
        return self.features + 1

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The two that matter, then those that do not."""
        return tuple(f"x{number}" for number in range(1, self.features + 1))

    @property
    def classes(self) -> Labels:
        """0 and 1 (the product is positive)."""
        return np.array([0, 1])

    def bayes_error_at(self, time: int) -> float:
        """The share of flipped labels, at every time."""
        return float(self.noise)

    def features_from(self, uniforms: Floats) -> Floats:
        """Standard normal numbers."""
        return standard_normals(uniforms[..., : self.features])

    def label_at(self, times: Times, X: Floats) -> Labels:
        """1 where the first two features, turned, have the same sign."""
        angle = 2.0 * math.pi * (times % self.rows_per_turn) / self.rows_per_turn
        cos, sin = np.cos(angle), np.sin(angle)
        turned = (X[..., 0] * cos - X[..., 1] * sin) * (X[..., 0] * sin + X[..., 1] * cos)
        y: Labels = (turned > 0.0).astype(np.int64)
        return y

    def blurred(self, X: Floats, y: Labels, uniforms: Floats) -> Rows:
        """The same rows with some labels flipped."""
        return X, np.where(uniforms[..., self.features] < self.noise, 1 - y, y)
