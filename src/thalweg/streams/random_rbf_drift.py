"""Random RBF drift: clouds around centroids that move through the unit cube and rebound from its walls."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from thalweg.errors import InvalidParameter
from thalweg.parameters import POSITIVE, Real, Rules, at_least
from thalweg.streams.stream import LEAST_UNIFORM, ConceptStream, Floats, Labels, Rows, Times, standard_normals


class _Centroids(NamedTuple):
    starts: Floats
    directions: Floats
    spreads: Floats
    #: Cumulative share of the rows.
    shares: Floats


@dataclass(frozen=True)
class RandomRBFDrift(ConceptStream):
    """Many small clouds, several to a class, which move independently; the generator known from MOA and River.

    Each centroid has a random start in the unit cube, a random direction, a share of the rows drawn from U(0, 1) and
    a spread drawn from U(0, 1). A row chooses a centroid by its share, and lies in a uniformly random direction from
    it, at a distance of ``scale`` times the spread times the absolute value of a standard normal number. Centroids
    move by ``speed`` with every row and rebound from the walls of the cube. Centroid i belongs to class i modulo
    ``n_classes``, so that every class occurs.

    Parameters
    ----------
    seed : int >= 0
        Seed for the random number generator, of the centroids as well as of the rows.
    features : int >= 1
        Number of features, all of which matter.
    n_classes : int >= 2
        Number of classes.
    centroids : int >= n_classes
        Number of centroids. More of them make the boundary more complicated.
    speed : float >= 0
        How far a centroid moves with every row. With 0 nothing drifts.
    scale : positive float
        Size of the clouds; more of it makes the classes overlap more.
    length : int >= 1
        Rows of the protocol. The stream itself is endless.

    Examples
    --------
    >>> stream = RandomRBFDrift(seed=1)
    >>> X, y = stream.take(500)
    >>> X.shape, np.unique(y).tolist()
    ((500, 10), [0, 1, 2, 3])
    >>> moved = stream.centroids_at(100) - stream.centroids_at(0)
    >>> round(float(np.linalg.norm(moved, axis=1).max()), 6)
    0.1
    """

    features: int = 10
    n_classes: int = 4
    centroids: int = 30
    speed: float = 0.001
    scale: float = 1.0
    length: int = 12_000

    _rules = Rules(
        **ConceptStream._rules,
        features=at_least(1),
        n_classes=at_least(2),
        centroids=at_least(2),
        speed=Real(0),
        scale=POSITIVE,
        length=at_least(1),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.centroids < self.n_classes:
            rule = f"be at least the number of classes, {self.n_classes}"
            raise InvalidParameter.of("RandomRBFDrift", "centroids", rule, self.centroids)

    @property
    def uniforms_per_row(self) -> int:
        """One for the centroid, one for the distance from it, one for each feature."""
        return 2 + self.features

    @cached_property
    def _centroids(self) -> _Centroids:
        # Random numbers independent of the rows', which have the same seed.
        key = int.from_bytes(b"centroids", "big")
        generator = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(key,)))
        starts = generator.random((self.centroids, self.features))
        directions = generator.normal(size=(self.centroids, self.features))
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        spreads, weights = generator.random((2, self.centroids))
        return _Centroids(starts, directions, spreads, np.cumsum(weights) / weights.sum())

    def centroids_at(self, time: int) -> Floats:
        """The centroids at ``time``, of shape (centroids, features); centroid i is of class i modulo ``n_classes``."""
        return self._places(np.asarray(time), np.arange(self.centroids))

    def rows_from(self, times: Times, uniforms: Floats) -> Rows:
        """Rows of the concepts at ``times``, made of ``uniforms``."""
        model = self._centroids
        chosen = np.minimum(np.searchsorted(model.shares, uniforms[..., 0], side="right"), self.centroids - 1)
        normals = standard_normals(uniforms[..., 1:])
        # A uniform 1/2 is a normal 0: where all are, there is no direction, and the row is its centroid.
        lengths = np.maximum(np.linalg.norm(normals[..., 1:], axis=-1), LEAST_UNIFORM)
        distance = self.scale * model.spreads[chosen] * np.abs(normals[..., 0]) / lengths
        X = self._places(times, chosen) + distance[..., np.newaxis] * normals[..., 1:]
        return X, chosen % self.n_classes

    def _places(self, times: Times, chosen: Labels) -> Floats:
        model = self._centroids
        unbounded = model.starts[chosen] + self.speed * times[..., np.newaxis] * model.directions[chosen]
        # A straight path folded at the walls: a triangle wave of period 2.
        folded: Floats = 1.0 - np.abs(1.0 - unbounded % 2.0)
        return folded
