"""Moving plane: a straight class boundary that turns about the origin a little with every row."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from thalweg.parameters import POSITIVE, Rules
from thalweg.streams.concept import RuleStream, Times
from thalweg.streams.stream import Floats, Labels


@dataclass(frozen=True)
class MovingPlane(RuleStream):
    """Gradual drift in the plane, as in Kuncheva & Plumpton 2008, section 4.1.

    Points are uniform in [-1, 1]². Class 1 is the side of the line through the origin to which
    (cos θ, sin θ) points, and θ = ``degrees_per_row`` · t.

    Parameters
    ----------
    seed : int >= 0
        Seed for the random number generator.
    degrees_per_row : positive float
        How fast the line turns. The paper's protocol is one turn at 1 degree a row.

    Examples
    --------
    >>> stream = MovingPlane(seed=1)
    >>> stream.concept(0).label([[0.5, 0.1], [-0.5, 0.1]])
    array([1, 0])
    >>> stream.concept(180).label([[0.5, 0.1], [-0.5, 0.1]])
    array([0, 1])
    """

    uniforms_per_row: ClassVar[int] = 2

    degrees_per_row: float = 1.0

    _rules = Rules(**RuleStream._rules, degrees_per_row=POSITIVE)

    @property
    def length(self) -> int:
        """Rows of one turn."""
        return math.ceil(360.0 / self.degrees_per_row)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The two coordinates."""
        return "x1", "x2"

    @property
    def classes(self) -> Labels:
        """0 and 1 (the side to which the line's normal points)."""
        return np.array([0, 1])

    def features_from(self, uniforms: Floats) -> Floats:
        """Points of [-1, 1]²."""
        return 2.0 * uniforms - 1.0

    def label_at(self, times: Times, X: Floats) -> Labels:
        """1 on the side to which the normal points."""
        theta = np.deg2rad(self.degrees_per_row * times % 360.0)
        y: Labels = (X[..., 0] * np.cos(theta) + X[..., 1] * np.sin(theta) > 0.0).astype(np.int64)
        return y
