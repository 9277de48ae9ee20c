"""Rotating checkerboard: four squares that turn about a corner, a boundary no line can follow."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from thalweg.parameters import POSITIVE, Real, Rules, at_least, whole_number
from thalweg.streams.concept import NoisyRuleStream, Times
from thalweg.streams.stream import Floats, Labels, Rows, standard_normals


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

    uniforms_per_row: ClassVar[int] = 4

    side: float = 0.5
    noise: float = 0.01
    length: int = 70_000

    _rules = Rules(
        **NoisyRuleStream._rules,
        side=POSITIVE,
        noise=Real(0, text="be a positive finite number"),
        length=at_least(2),
    )

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The two coordinates."""
        return "x1", "x2"

    @property
    def classes(self) -> Labels:
        """0 and 1, the two colours of the board."""
        return np.array([0, 1])

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
