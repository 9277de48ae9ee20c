"""Drifting Gaussians: classes of one shape whose means move, together or past one another, or jump.

Means move round a circle, along straight lines, or not at all but for jumps.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import solve_triangular
from scipy.special import ndtr, owens_t

from thalweg.errors import InvalidParameter
from thalweg.parameters import Rule, Rules, at_least, real_matrix, real_number, whole_number
from thalweg.streams.stream import ConceptStream, Floats, Rows, Times, standard_normals

#: One point per class, as tuples: comparable, hashable and unchangeable like all else about a stream.
Points: TypeAlias = tuple[tuple[float, ...], ...]


class Motion(ABC):
    """Where every class mean is at any time.

    Examples
    --------
    >>> from thalweg.streams import Circling
    >>> motion = Circling()
    >>> isinstance(motion, Motion), motion.means_at([0, 1]).shape == (2, motion.n_classes, motion.n_features)
    (True, True)
    """

    @property
    @abstractmethod
    def n_classes(self) -> int:
        """How many means move."""

    @property
    @abstractmethod
    def n_features(self) -> int:
        """Coordinates of a mean."""

    @abstractmethod
    def means_at(self, times: ArrayLike) -> Floats:
        """The means at times of shape (…), as an array of shape (…, n_classes, n_features)."""


@dataclass(frozen=True)
class _OnCircle(Motion):
    """Means evenly spread over a circle about the origin, which turns as a whole."""

    radius: float = 2.0
    n_classes: int = 2

    def __post_init__(self) -> None:
        owner = type(self).__name__
        object.__setattr__(self, "radius", real_number(owner, "radius", self.radius, positive=True))
        object.__setattr__(self, "n_classes", whole_number(owner, "n_classes", self.n_classes, least=2))

    @property
    def n_features(self) -> int:
        """A circle lies in the plane."""
        return 2

    @abstractmethod
    def degrees_at(self, times: Floats) -> Floats:
        """How far the circle has turned, modulo a full turn."""

    def means_at(self, times: ArrayLike) -> Floats:
        """The means at times of shape (…), as an array of shape (…, n_classes, 2)."""
        turned = self.degrees_at(np.asarray(times, dtype=np.float64))
        angles = np.deg2rad(turned[..., np.newaxis] + 360.0 * np.arange(self.n_classes) / self.n_classes)
        return self.radius * np.stack([np.cos(angles), np.sin(angles)], axis=-1)


@dataclass(frozen=True)
class Circling(_OnCircle):
    """Means that go round a circle about the origin, evenly spread.

    Parameters
    ----------
    radius : positive float
        Of the circle.
    n_classes : int >= 2
        How many means.
    degrees_per_row : float
        Speed; negative is clockwise.

    Examples
    --------
    >>> Circling().means_at(90).round(9) + 0.0
    array([[ 0.,  2.],
           [ 0., -2.]])
    """

    degrees_per_row: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "degrees_per_row", real_number("Circling", "degrees_per_row", self.degrees_per_row))

    def degrees_at(self, times: Floats) -> Floats:
        """In proportion to time."""
        return np.asarray(self.degrees_per_row * times % 360.0)


@dataclass(frozen=True)
class Jumping(_OnCircle):
    """Means that stand still on a circle about the origin and turn in sudden jumps.

    Parameters
    ----------
    radius : positive float
        Of the circle.
    n_classes : int >= 2
        How many means.
    jumps : mapping of row to degrees, or pairs of them
        The first row after each turn, and the turn.

    Examples
    --------
    >>> Jumping(jumps={1000: 90}).means_at([999, 1000])[:, 0].round(9) + 0.0
    array([[2., 0.],
           [0., 2.]])
    """

    jumps: Mapping[int, float] | tuple[tuple[int, float], ...] = ((1000, 180.0), (2000, 90.0), (3000, 180.0))

    def __post_init__(self) -> None:
        super().__post_init__()
        try:
            given = dict(self.jumps)
        except (TypeError, ValueError):
            raise InvalidParameter.of("Jumping", "jumps", "map rows to degrees", self.jumps) from None
        checked = sorted(
            (whole_number("Jumping", "jumps", row), real_number("Jumping", "jumps", turn))
            for row, turn in given.items()
        )
        object.__setattr__(self, "jumps", tuple(checked))

    def degrees_at(self, times: Floats) -> Floats:
        """All turns so far."""
        jumps = dict(self.jumps)
        turned = np.concatenate([[0.0], np.cumsum(list(jumps.values()))])
        return np.asarray(turned[np.searchsorted(list(jumps), times, side="right")] % 360.0)


@dataclass(frozen=True)
class Gliding(Motion):
    """Means that move along straight lines at constant speed.

    Parameters
    ----------
    starts : array of shape (n_classes, n_features)
        Where each mean is at row 0.
    velocities : array of shape (n_classes, n_features)
        How far each moves with every row.

    Examples
    --------
    >>> Gliding(starts=[[0.0], [10.0]], velocities=[[0.1], [-0.1]]).means_at(50)
    array([[5.],
           [5.]])
    """

    starts: ArrayLike
    velocities: ArrayLike

    def __post_init__(self) -> None:
        starts, velocities = (real_matrix("Gliding", name, getattr(self, name)) for name in ("starts", "velocities"))
        if len(starts) < 2:
            raise InvalidParameter.of("Gliding", "starts", "have a row for each of at least 2 classes", self.starts)
        if velocities.shape != starts.shape:
            rule = f"have the shape of starts, {starts.shape}"
            raise InvalidParameter.of("Gliding", "velocities", rule, self.velocities)
        object.__setattr__(self, "starts", as_points(starts))
        object.__setattr__(self, "velocities", as_points(velocities))

    @property
    def n_classes(self) -> int:
        """One per start."""
        return len(np.asarray(self.starts))

    @property
    def n_features(self) -> int:
        """Coordinates of a start."""
        return int(np.shape(self.starts)[1])

    def means_at(self, times: ArrayLike) -> Floats:
        """The means at times of shape (…), as an array of shape (…, n_classes, n_features)."""
        moments = np.asarray(times, dtype=np.float64)[..., np.newaxis, np.newaxis]
        return np.asarray(np.asarray(self.starts) + np.asarray(self.velocities) * moments)


def as_points(matrix: Floats) -> Points:
    return tuple(tuple(row) for row in matrix.tolist())


#: Relative to the spread of the means: nearer ones are the same, flatter clouds of them are in a plane.
_NEGLIGIBLE = 1e-12


def whitening(covariance: Floats) -> Floats:
    """The matrix W that gives rows of this covariance unit covariance, as ``X @ W.T``."""
    return np.asarray(solve_triangular(np.linalg.cholesky(covariance), np.eye(len(covariance)), lower=True))


def bayes_error(means: Floats) -> float | None:
    """The Bayes error; None where the means do not lie in a plane, for which we have no formula.

    Parameters
    ----------
    means : array of shape (classes, features)
        Whitened class means; classes are equally frequent.

    Examples
    --------
    >>> round(bayes_error(np.array([[2.0, 0.0], [-2.0, 0.0]]) @ whitening(2.0 * np.eye(2)).T), 6)
    0.07865
    >>> bayes_error(np.eye(4)) is None
    True
    """
    if len(means) == 2:
        return float(ndtr(-math.dist(*means.tolist()) / 2.0))
    centred = means - means.mean(axis=0)
    least = _NEGLIGIBLE * max(1.0, float(np.abs(centred).max()))
    flat = _in_plane(centred, least)
    if flat is None:
        return None
    places = _distinct(flat, least)
    # Of classes in one place, all but one are always wrong.
    wrong = len(means) - len(places) + sum(_mass_outside_cell(places, own) for own in range(len(places)))
    return float(wrong / len(means))


def _in_plane(points: Floats, least: float) -> Floats | None:
    """Centred points in two coordinates, or None where two are not enough."""
    flat = np.zeros((len(points), 2))
    if points.shape[1] <= 2:
        flat[:, : points.shape[1]] = points
        return flat
    _, spread, axes = np.linalg.svd(points, full_matrices=False)
    if (spread[2:] > least).any():
        return None
    flat[:, : len(axes[:2])] = points @ axes[:2].T
    return flat


def _distinct(points: Floats, least: float) -> Floats:
    kept: list[Floats] = []
    for point in points:
        if all(np.hypot(*(point - other)) > least for other in kept):
            kept.append(point)
    return np.array(kept)


def _mass_outside_cell(places: Floats, own: int) -> float:
    """The share of a unit Gaussian at ``places[own]`` that is nearer to another place."""
    towards = np.delete(places, own, axis=0) - places[own]
    lengths = np.hypot(towards[:, 0], towards[:, 1])
    distances, normals = lengths / 2.0, towards / lengths[:, np.newaxis]
    mass = 0.0
    for edge, (distance, normal) in enumerate(zip(distances, normals, strict=True)):
        low, high = _visible(np.delete(distances, edge), np.delete(normals, edge, axis=0), distance, normal)
        if low < high:
            mass += float(owens_t(distance, high / distance) - owens_t(distance, low / distance))
    return mass


def _visible(distances: Floats, normals: Floats, distance: float, normal: Floats) -> tuple[float, float]:
    """The part of the edge at ``distance`` along ``normal`` that lies within all other half-planes."""
    along = normals @ np.array([-normal[1], normal[0]])
    room = distances - distance * (normals @ normal)
    if (room[along == 0.0] < 0.0).any():
        return 0.0, 0.0
    with np.errstate(over="ignore"):  # an edge that ends as far as that does not end
        return (
            float(np.max(room[along < 0.0] / along[along < 0.0], initial=-np.inf)),
            float(np.min(room[along > 0.0] / along[along > 0.0], initial=np.inf)),
        )


Scenario: TypeAlias = Literal["circular", "crossing", "passing", "sudden"]

#: The paper's four data situations. Its time i = 1, 2, … is row i - 1 here.
SCENARIOS: Mapping[str, Motion] = MappingProxyType(
    {
        "circular": Circling(),
        "crossing": Gliding(starts=[[0.0, 0.0], [20.0, 0.0]], velocities=[[0.005, 0.005], [-0.005, 0.005]]),
        "passing": Gliding(starts=[[0.0, 0.0], [22.995, 16.995]], velocities=[[0.005, 0.005], [-0.005, -0.005]]),
        "sudden": Jumping(),
    }
)


@dataclass(frozen=True)
class DriftingGaussians(ConceptStream):
    """Gaussian classes with moving means, as in Schnackenberg, Ligges & Weihs 2018, section 4.

    Every row belongs to each class with equal chance. The covariance is common to all classes and stays.

    Parameters
    ----------
    seed : int >= 0
        Seed for the random number generator.
    scenario : {"circular", "crossing", "passing", "sudden"} or a motion
        How the class means move. The names are the paper's situations: opposite each other on a circle at 1 degree a
        row; along two lines that cross, where both classes are one at row 2000; along parallel lines past each other;
        and standing still but for turns by 180, 90 and 180 degrees. For anything else give a motion: `Circling`,
        `Gliding` or `Jumping`, which also set the number of classes and features.
    covariance : float or array of shape (n_features, n_features)
        Of every class; a number is the variance of each feature, independent of the others.
    length : int >= 1
        Rows of the protocol. The stream itself is endless.

    Examples
    --------
    >>> stream = DriftingGaussians(scenario="crossing")
    >>> stream.means_at(2000)
    array([[10., 10.],
           [10., 10.]])
    >>> stream.concept(2000).bayes_error
    0.5
    >>> from thalweg.streams import Circling
    >>> three = DriftingGaussians(scenario=Circling(n_classes=3, radius=3.0, degrees_per_row=0.5), covariance=1.0)
    >>> round(three.concept(0).bayes_error, 4)
    0.0089
    """

    scenario: Scenario | Motion = "circular"
    covariance: ArrayLike = 2.0
    length: int = 4000

    _rules = Rules(
        **ConceptStream._rules,
        scenario=Rule(
            f"be {', '.join(SCENARIOS)} or a motion",
            lambda value: isinstance(value, Motion) or (isinstance(value, str) and value in SCENARIOS),
        ),
        length=at_least(1),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "covariance", as_points(self._checked_covariance()))

    @property
    def motion(self) -> Motion:
        """How the class means move."""
        return self.scenario if isinstance(self.scenario, Motion) else SCENARIOS[self.scenario]

    @property
    def features(self) -> int:
        """The coordinates of a mean."""
        return self.motion.n_features

    @property
    def n_classes(self) -> int:
        """Those of the motion, in its order."""
        return self.motion.n_classes

    def means_at(self, times: ArrayLike) -> Floats:
        """Class means at times of shape (…), as an array of shape (…, classes, features)."""
        return self.motion.means_at(times)

    def bayes_error_at(self, time: int) -> float | None:
        """The least error possible at ``time``, exactly; None where the class means do not lie in a plane."""
        # Not a library's product or solver: thousands of tiny ones would wait for its threads.
        return bayes_error(np.einsum("cp,qp->cq", self.means_at(time), self._whitening))

    def rows_from(self, times: Times, uniforms: Floats) -> Rows:
        """Rows of the concepts at ``times``, made of ``uniforms``."""
        classes, features = self.motion.n_classes, self.motion.n_features
        y = (uniforms[..., 0] * classes).astype(np.int64)
        normals = standard_normals(uniforms[..., 1:])
        # Means of all times in one list of classes × times, and every row's place in it.
        means = self.means_at(times).reshape(-1, features)
        X: Floats = means[y + classes * np.arange(times.size).reshape(times.shape)]
        # Not a matrix product: those round differently with the number of rows.
        for (row, column), share in np.ndenumerate(self._spreading):
            if share != 0.0:
                X[..., row] += share * normals[..., column]
        return X, y

    @cached_property
    def _spreading(self) -> Floats:
        """The lower triangle L with L L' the covariance, which spreads unit normals."""
        return np.linalg.cholesky(np.asarray(self.covariance))

    @cached_property
    def _whitening(self) -> Floats:
        return whitening(np.asarray(self.covariance))

    def _checked_covariance(self) -> Floats:
        features = self.motion.n_features
        if np.ndim(self.covariance) == 0:
            variance = real_number("DriftingGaussians", "covariance", self.covariance, positive=True)
            return variance * np.eye(features)
        matrix = real_matrix("DriftingGaussians", "covariance", self.covariance)
        symmetric = matrix.shape == (features, features) and np.array_equal(matrix, matrix.T)
        if not symmetric or np.linalg.eigvalsh(matrix)[0] <= 0.0:
            rule = f"be a positive number or a positive definite {features} × {features} matrix"
            raise InvalidParameter.of("DriftingGaussians", "covariance", rule, self.covariance)
        return matrix
