"""Boundaries that move a little with every row: a line, a checkerboard, four quadrants, a disc.

Only the line can be followed by a linear learner.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from thalweg.parameters import POSITIVE, Real, Rules, at_least, whole_number
from thalweg.streams.stream import Floats, Labels, NoisyRuleStream, Rows, RuleStream, Times, standard_normals


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

    features: ClassVar[int] = 2
    uniforms_per_row: ClassVar[int] = 2

    degrees_per_row: float = 1.0

    _rules = Rules(**RuleStream._rules, degrees_per_row=POSITIVE)

    @property
    def length(self) -> int:
        """Rows of one turn."""
        return math.ceil(360.0 / self.degrees_per_row)

    def features_from(self, uniforms: Floats) -> Floats:
        """Points of [-1, 1]²."""
        return 2.0 * uniforms - 1.0

    def label_at(self, times: Times, X: Floats) -> Labels:
        """1 on the side to which the normal points."""
        theta = np.deg2rad(self.degrees_per_row * times % 360.0)
        y: Labels = (X[..., 0] * np.cos(theta) + X[..., 1] * np.sin(theta) > 0.0).astype(np.int64)
        return y


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

    def features_from(self, uniforms: Floats) -> Floats:
        """Standard normal numbers."""
        return standard_normals(uniforms)

    def label_at(self, times: Times, X: Floats) -> Labels:
        """1 outside the disc."""
        angle = 2.0 * math.pi * (times % self.rows_per_turn) / self.rows_per_turn
        x1, x2 = X[..., 0] - self.orbit * np.cos(angle), X[..., 1] - self.orbit * np.sin(angle)
        y: Labels = (np.hypot(x1, x2) > self.radius).astype(np.int64)
        return y


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


@dataclass(frozen=True)
class RotatingCheckerboard(NoisyRuleStream):
    """Gradual drift with a recurring concept, as in Karnick, Muhlbaier & Polikar 2008, section 3.

    Points are uniform in the unit square, over a board of squares of side ``side`` turned about the corner (0, 0) by
    2 π t / (length - 1): one turn in ``length`` rows, of which the second half shows each board of the first again.
    Class 1 is where the numbers of column and row differ in parity. Noise joins the features after labelling;
    `clean` is the same board without it.

    Parameters
    ----------
    seed : int >= 0
        Seed for the random number generator.
    side : positive float
        The side of a square.
    noise : float >= 0
        The standard deviation of what is added to each feature.
    length : int >= 2
        Rows of one turn. The stream itself is endless. By default 700 blocks of 100 rows. With a length of
        700 a time is a block of the paper, all of whose rows are drawn from one board.

    Examples
    --------
    >>> stream = RotatingCheckerboard(seed=1, length=5)
    >>> stream.label_at(np.array([0, 0, 1]), np.array([[0.2, 0.2], [0.7, 0.2], [0.2, 0.2]]))
    array([0, 1, 1])
    >>> stream.concept(0).label([[0.2, 0.2], [0.7, 0.2]])
    array([0, 1])
    >>> points, colours = stream.grid_at(0)
    >>> points.shape, colours.mean().round(2)
    ((2601, 2), np.float64(0.5))
    """

    features: ClassVar[int] = 2
    uniforms_per_row: ClassVar[int] = 4

    side: float = 0.5
    noise: float = 0.01
    length: int = 70_000

    _rules = Rules(
        **NoisyRuleStream._rules, side=POSITIVE, noise=Real(0, text="be a positive finite number"), length=at_least(2)
    )

    def features_from(self, uniforms: Floats) -> Floats:
        """Points of the unit square."""
        return uniforms[..., :2].copy()

    def label_at(self, times: Times, points: Floats) -> Labels:
        """The colours under points (…, 2), before noise, at ``times`` (broadcast against …)."""
        turn = 2.0 * math.pi * (times % (self.length - 1)) / (self.length - 1)
        cos, sin = np.cos(turn), np.sin(turn)
        column = np.floor((points[..., 0] * cos - points[..., 1] * sin) / self.side)
        row = np.floor((points[..., 0] * sin + points[..., 1] * cos) / self.side)
        return ((column + row) % 2).astype(np.int64)

    def blurred(self, X: Floats, y: Labels, uniforms: Floats) -> Rows:
        """Normal noise in both coordinates."""
        return X + self.noise * standard_normals(uniforms[..., 2:]), y

    def grid_at(self, time: int, points: int = 51) -> Rows:
        """A grid of ``points`` × ``points`` over the unit square, edges included, and its colours at ``time``."""
        ticks = np.linspace(0.0, 1.0, whole_number("RotatingCheckerboard", "points", points, least=2))
        grid = np.stack(np.meshgrid(ticks, ticks, indexing="ij"), axis=-1).reshape(-1, 2)
        return grid, self.concept(time).label(grid)
