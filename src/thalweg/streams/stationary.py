"""Streams that stay: every row comes from the same two classes, -1 and 1.

Breiman's generators are two overlapping Gaussians, one Gaussian around another, and mixtures of three waves. Features
are all needed; labels are those of the benchmark sets of the same names, which hold standardised rows of these
generators. Disc and bow is a disc of points, and a blurred arc along its upper edge.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import chndtr, ndtr

from thalweg.errors import InvalidParameter
from thalweg.parameters import POSITIVE, Rules, at_least
from thalweg.streams.stream import ConceptStream, Floats, Labels, Rows, Times, standard_normals


@dataclass(frozen=True)
class _StaysTheSame(ConceptStream):
    """Two classes, -1 and 1."""

    @property
    def classes(self) -> Labels:
        """-1 and 1."""
        return np.array([-1, 1])


@dataclass(frozen=True)
class _TwoGaussians(_StaysTheSame):
    """What both have in common: so many dimensions."""

    features: int = 20
    length: int = 7400

    _rules = Rules(**ConceptStream._rules, features=at_least(1), length=at_least(1))


@dataclass(frozen=True)
class TwoNorm(_TwoGaussians):
    """Two Gaussians of unit covariance, 1 at (a, …, a), -1 at (-a, …, -a), a = 2/√d: the best boundary is a plane.

    Breiman, Bias, variance, and arcing classifiers (1996), with d = 20. The Bayes error is Φ(-2) = 2.28 %, whatever d.

    Parameters
    ----------
    seed : int >= 0
        Seed for the random number generator.
    features : int >= 1
        d. More of them hide the same distance between the classes in more dimensions.
    length : int >= 1
        Rows of the protocol. The stream itself is endless.

    Examples
    --------
    >>> round(TwoNorm().concept(0).bayes_error, 5)
    0.02275
    """

    def rows_from(self, times: Times, uniforms: Floats) -> Rows:
        """Rows made of ``uniforms``, whatever the times."""
        y = _signs(uniforms[..., 0])
        return standard_normals(uniforms[..., 1:]) + (2.0 / math.sqrt(self.features)) * y[..., np.newaxis], y

    def bayes_error_at(self, time: int) -> float:
        """Φ(-2): the means are four standard deviations apart."""
        return float(ndtr(-2.0))


@dataclass(frozen=True)
class RingNorm(_TwoGaussians):
    """A Gaussian of unit covariance at (a, …, a), a = 2/√d, and one of covariance 4 about the origin, around it.

    Breiman, Bias, variance, and arcing classifiers (1996), with d = 20. The narrow class is -1, the wide one 1; the
    best boundary is a sphere.

    Parameters
    ----------
    seed : int >= 0
        Seed for the random number generator.
    features : int >= 1
        d. With more of them the wide class is a thinner shell, and the classes are easier to distinguish.
    length : int >= 1
        Rows of the protocol. The stream itself is endless.

    Examples
    --------
    >>> round(RingNorm().concept(0).bayes_error, 5)
    0.0124
    """

    def rows_from(self, times: Times, uniforms: Floats) -> Rows:
        """Rows made of ``uniforms``, whatever the times."""
        y = _signs(uniforms[..., 0])
        normals, wide = standard_normals(uniforms[..., 1:]), y[..., np.newaxis] > 0
        return np.where(wide, 2.0 * normals, normals + 2.0 / math.sqrt(self.features)), y

    def bayes_error_at(self, time: int) -> float:
        """Of the best sphere, which has its centre at 4/3 (a, …, a)."""
        # The log-densities are equal where |x - a|² - |x|²/4 = 2 d ln 2; complete the square, with |a|² = 4.
        radius_squared = (4.0 / 3.0) * (2.0 * self.features * math.log(2.0) + 4.0 / 3.0)
        # The squared distance from the centre is a noncentral chi-square for either class.
        narrow_outside = 1.0 - chndtr(radius_squared, self.features, 4.0 / 9.0)
        wide_inside = chndtr(radius_squared / 4.0, self.features, 16.0 / 9.0)
        return float((narrow_outside + wide_inside) / 2.0)


#: Triangles of height 6 and half-width 6 over the places 1 … 21, with peaks at 11, 15 and 7.
_PLACES = np.arange(1.0, 22.0)
_WAVES = np.stack([np.maximum(6.0 - np.abs(_PLACES - peak), 0.0) for peak in (11.0, 15.0, 7.0)])
#: The two waves that each of the three classes mixes.
_PAIRS = np.array([[0, 1], [0, 2], [1, 2]])
#: The class that the benchmark set calls 1; the other two together are its -1.
_POSITIVE = 1


@dataclass(frozen=True)
class Waveform(_StaysTheSame):
    """Mixtures of two of three waves, sampled at 21 places with unit noise; the class is the pair of waves.

    Breiman, Friedman, Olshen & Stone, Classification and Regression Trees (1984). Of its three equally frequent classes
    the second, which mixes the waves with peaks at 11 and 7, is 1 and the others are -1, as in the benchmark set.

    Parameters
    ----------
    seed : int >= 0
        Seed for the random number generator.
    length : int >= 1
        Rows of the protocol. The stream itself is endless.

    Examples
    --------
    >>> X, y = Waveform(seed=1).take(5)
    >>> X.shape, y.tolist()
    ((5, 21), [1, -1, 1, -1, 1])
    """

    features: ClassVar[int] = len(_PLACES)
    uniforms_per_row: ClassVar[int] = 2 + len(_PLACES)  # of which one is for the class, one for the mixture

    length: int = 5000

    _rules = Rules(**ConceptStream._rules, length=at_least(1))

    def rows_from(self, times: Times, uniforms: Floats) -> Rows:
        """Rows made of ``uniforms``, whatever the times."""
        kind = (uniforms[..., 0] * len(_PAIRS)).astype(np.int64)
        share = uniforms[..., 1, np.newaxis]
        one, other = (_WAVES[_PAIRS[kind, place]] for place in (0, 1))
        X = share * one + (1.0 - share) * other + standard_normals(uniforms[..., 2:])
        return X, np.where(kind == _POSITIVE, 1, -1)


def _signs(uniforms: Floats) -> Labels:
    return np.where(uniforms < 0.5, -1, 1)


@dataclass(frozen=True)
class DiscAndBow(_StaysTheSame):
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

    features: ClassVar[int] = 2

    radius: float = 2.0
    blur: float = 0.25
    half_angle: float = 60.0
    length: int = 60

    _rules = Rules(**ConceptStream._rules, radius=POSITIVE, blur=POSITIVE, half_angle=POSITIVE, length=at_least(1))

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.half_angle > 180.0:
            raise InvalidParameter.of("DiscAndBow", "half_angle", "be at most 180", self.half_angle)

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
