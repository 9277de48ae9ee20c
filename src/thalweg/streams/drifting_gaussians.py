"""Drifting Gaussians: classes of one shape whose means move, together or past one another, or jump."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from thalweg.errors import InvalidParameter
from thalweg.streams.concept import ConceptStream, Times
from thalweg.streams.gaussian_bayes_error import bayes_error, whitening
from thalweg.streams.motions import Circling, Gliding, Jumping, Motion, as_points
from thalweg.streams.real_number import real_matrix, real_number
from thalweg.streams.stream import Floats, Labels, Rows
from thalweg.streams.whole_number import whole_number

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

#: Below the smallest positive uniform number; a uniform 0 would be a normal minus infinity.
_LEAST_UNIFORM = 2.0**-54


@dataclass(frozen=True)
class DriftingGaussians(ConceptStream):
    """Gaussian classes with moving means, as in Schnackenberg, Ligges & Weihs 2018, section 4.

    Every row belongs to each class with equal chance. The covariance is common to all classes and stays.

    Parameters
    ----------
    seed : int >= 0
        Everything random about the stream.
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

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.scenario, Motion) and self.scenario not in tuple(SCENARIOS):
            rule = f"be {', '.join(SCENARIOS)} or a motion"
            raise InvalidParameter.of("DriftingGaussians", "scenario", rule, self.scenario)
        whole_number("DriftingGaussians", "length", self.length, least=1)
        object.__setattr__(self, "covariance", as_points(self._checked_covariance()))

    @property
    def motion(self) -> Motion:
        """How the class means move."""
        return self.scenario if isinstance(self.scenario, Motion) else SCENARIOS[self.scenario]

    @property
    def uniforms_per_row(self) -> int:
        """One for the class, one for each feature."""
        return 1 + self.motion.n_features

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The coordinates."""
        return tuple(f"x{number}" for number in range(1, self.motion.n_features + 1))

    @property
    def classes(self) -> Labels:
        """0, 1, … in the motion's order."""
        return np.arange(self.motion.n_classes)

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
        normals = ndtri(np.maximum(uniforms[..., 1:], _LEAST_UNIFORM))
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
