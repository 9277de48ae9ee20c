"""Disc and bow: a disc of points, and a blurred arc along its upper edge."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from thalweg.errors import InvalidParameter
from thalweg.parameters import POSITIVE, Rules, at_least
from thalweg.streams.concept import ConceptStream, Times
from thalweg.streams.stream import Floats, Labels, Rows, standard_normals


@dataclass(frozen=True)
class DiscAndBow(ConceptStream):
    """The example of Bounsiar, Beauseroy & Grall, Figure 1, which gives the shapes but not the sizes.

    Class 1 is uniform in a disc about the origin. Class -1 lies along the top of the disc's edge, at an angle uniform
    within ``half_angle`` of the vertical and at a distance from the origin that is normal about the radius.

    Parameters
    ----------
    seed : int >= 0
        Seed for the random number generator.
    radius : positive float
        Of the disc.
    blur : positive float
        The standard deviation of the bow's distance from the origin. More of it lets the classes overlap more. It
        should be well below the radius: a distance below zero ends up across the origin.
    half_angle : float in (0, 180]
        Half of the angle that the bow takes, in degrees.
    length : int >= 1
        Rows of the protocol, 30 of each class on average. The stream itself is endless.

    Examples
    --------
    >>> toy = DiscAndBow(seed=2)
    >>> round(toy.concept(0).bayes_error, 4), round(toy.best_radius(), 3)
    (0.0841, 1.52)
    """

    uniforms_per_row: ClassVar[int] = 3

    radius: float = 2.0
    blur: float = 0.25
    half_angle: float = 60.0
    length: int = 60

    _rules = Rules(**ConceptStream._rules, radius=POSITIVE, blur=POSITIVE, half_angle=POSITIVE, length=at_least(1))

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.half_angle > 180.0:
            raise InvalidParameter.of("DiscAndBow", "half_angle", "be at most 180", self.half_angle)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The two coordinates."""
        return "x1", "x2"

    @property
    def classes(self) -> Labels:
        """-1 (the bow) and 1 (the disc)."""
        return np.array([-1, 1])

    def rows_from(self, times: Times, uniforms: Floats) -> Rows:
        """Rows made of ``uniforms``, whatever the times."""
        disc = uniforms[..., 0] >= 0.5
        normals = standard_normals(uniforms[..., 2])
        distance = np.where(disc, self.radius * np.sqrt(uniforms[..., 2]), self.radius + self.blur * normals)
        turns = 2.0 * uniforms[..., 1] - 1.0
        angle = np.pi / 2.0 + turns * np.where(disc, np.pi, math.radians(self.half_angle))
        X = distance[..., np.newaxis] * np.stack([np.cos(angle), np.sin(angle)], axis=-1)
        return X, np.where(disc, 1, -1)

    def best_radius(self) -> float:
        """Within the bow's angle, the best prediction is the disc up to this distance from the origin."""
        from scipy.optimize import brentq  # a third of a second, which every command that names a stream would pay

        if self._excess(self.radius) <= 0.0:
            return self.radius
        return float(brentq(self._excess, 0.0, self.radius))

    def bayes_error_at(self, time: int) -> float:
        """Half of what the classes share, which lies in the disc and within the bow's angle."""
        from scipy.integrate import quad

        kink = [self.best_radius()]
        both, _ = quad(lambda r: min(self._disc_mass(r), self._bow_mass(r)), 0.0, self.radius, points=kink)
        return float(both) / 2.0

    def _disc_mass(self, r: float) -> float:
        """Of the disc, per unit of distance r from the origin, within the bow's angle."""
        return 2.0 * r / self.radius**2 * self.half_angle / 180.0

    def _bow_mass(self, r: float) -> float:
        away = (r - self.radius) / self.blur
        return math.exp(-away * away / 2.0) / (self.blur * math.sqrt(2.0 * math.pi))

    def _excess(self, r: float) -> float:
        """How much more of the bow than of the disc there is at distance r; at 0 the disc has none."""
        return self._bow_mass(r) - self._disc_mass(r) if r else -1.0
