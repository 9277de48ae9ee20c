"""Breiman's generators: two overlapping Gaussians, one Gaussian around another, and mixtures of three waves.

Nothing drifts: every row comes from the same two classes, -1 and 1, with features that are all needed. Labels are
those of the benchmark sets of the same names, which hold standardised rows of these generators.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import chndtr, ndtr

from thalweg.parameters import Rules, at_least, whole_number
from thalweg.streams.concept import ConceptStream, Times
from thalweg.streams.stream import Floats, Labels, Rows, standard_normals


@dataclass(frozen=True)
class _TwoGaussians(ConceptStream):
    """What both have in common: two classes, -1 and 1, in so many dimensions."""

    features: int = 20
    length: int = 7400

    _rules = Rules(**ConceptStream._rules, features=at_least(1), length=at_least(1))

    @property
    def uniforms_per_row(self) -> int:
        """One for the class, one for each feature."""
        return 1 + self.features

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The coordinates."""
        return _coordinates(self.features)

    @property
    def classes(self) -> Labels:
        """-1 and 1."""
        return np.array([-1, 1])


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
class Waveform(ConceptStream):
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

    length: int = 5000

    _rules = Rules(**ConceptStream._rules, length=at_least(1))

    def __post_init__(self) -> None:
        super().__post_init__()
        whole_number(type(self).__name__, "features", self.n_features, least=1)

    @property
    def uniforms_per_row(self) -> int:
        """One for the class, one for the mixture, one for each feature."""
        return 2 + len(_PLACES)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The places."""
        return _coordinates(len(_PLACES))

    @property
    def classes(self) -> Labels:
        """-1 and 1."""
        return np.array([-1, 1])

    def rows_from(self, times: Times, uniforms: Floats) -> Rows:
        """Rows made of ``uniforms``, whatever the times."""
        kind = (uniforms[..., 0] * len(_PAIRS)).astype(np.int64)
        share = uniforms[..., 1, np.newaxis]
        one, other = (_WAVES[_PAIRS[kind, place]] for place in (0, 1))
        X = share * one + (1.0 - share) * other + standard_normals(uniforms[..., 2:])
        return X, np.where(kind == _POSITIVE, 1, -1)


def _signs(uniforms: Floats) -> Labels:
    return np.where(uniforms < 0.5, -1, 1)


def _coordinates(count: int) -> tuple[str, ...]:
    return tuple(f"x{number}" for number in range(1, count + 1))
