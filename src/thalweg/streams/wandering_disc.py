"""Wandering disc: a circular boundary whose centre circles the origin, among features that do not matter."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from thalweg.parameters import POSITIVE, Real, Rules, at_least
from thalweg.streams.concept import RuleStream, Times
from thalweg.streams.stream import Floats, Labels, standard_normals


@dataclass(frozen=True)
class WanderingDisc(RuleStream):
    """Gradual drift of a closed boundary.

    Features are standard normal and independent. Class 0 is the disc of radius ``radius`` in the plane of the first two
    features, class 1 everything outside. The centre of the disc moves on a circle of radius ``orbit`` around the
    origin, one revolution in ``rows_per_turn`` rows. The other features carry no information.

    Parameters
    ----------
    seed : int >= 0
        Seed for the random number generator.
    features : int >= 2
        Number of features, of which two matter. More of them make the disc harder to find.
    radius : positive float
        Radius of the disc.
    orbit : float >= 0
        Distance of the centre from the origin. With 0 the disc stands still.
    rows_per_turn : int >= 1
        Rows of one revolution of the centre. Fewer rows mean faster drift.
    length : int >= 1
        Rows of the protocol, by default two revolutions. The stream itself is endless.

    Examples
    --------
    >>> stream = WanderingDisc(seed=1, features=2)
    >>> stream.concept(0).label([[1.0, 0.0], [-1.0, 0.0]])
    array([0, 1])
    >>> stream.concept(3000).label([[1.0, 0.0], [-1.0, 0.0]])
    array([1, 0])
    """

    features: int = 5
    radius: float = 1.2
    orbit: float = 1.0
    rows_per_turn: int = 6000
    length: int = 12_000

    _rules = Rules(
        **RuleStream._rules,
        features=at_least(2),
        radius=POSITIVE,
        orbit=Real(0),
        rows_per_turn=at_least(1),
        length=at_least(1),
    )

    @property
    def uniforms_per_row(self) -> int:
        """One for each feature."""
        return self.features

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The two coordinates of the plane, then the features that do not matter."""
        return tuple(f"x{number}" for number in range(1, self.features + 1))

    @property
    def classes(self) -> Labels:
        """0 (the disc) and 1 (outside)."""
        return np.array([0, 1])

    def features_from(self, uniforms: Floats) -> Floats:
        """Standard normal numbers."""
        return standard_normals(uniforms)

    def label_at(self, times: Times, X: Floats) -> Labels:
        """1 outside the disc."""
        angle = 2.0 * math.pi * (times % self.rows_per_turn) / self.rows_per_turn
        x1, x2 = X[..., 0] - self.orbit * np.cos(angle), X[..., 1] - self.orbit * np.sin(angle)
        y: Labels = (np.hypot(x1, x2) > self.radius).astype(np.int64)
        return y
