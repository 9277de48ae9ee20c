"""How the means of several classes move: round a circle, along straight lines, or not at all but for jumps."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from thalweg.errors import InvalidParameter
from thalweg.parameters import real_matrix, real_number, whole_number
from thalweg.streams.stream import Floats

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
    """A matrix as tuples."""
    return tuple(tuple(row) for row in matrix.tolist())
