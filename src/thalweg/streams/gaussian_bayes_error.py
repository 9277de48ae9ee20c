"""The least error possible between Gaussian classes that are equally frequent and share their covariance.

Seen with unit covariance (whitened), the best answer is the nearest mean, so class k is right within its Voronoi
cell. From its own mean, the mass beyond one edge of that cell, at distance d and seen from s = a to s = b along the
edge, is T(d, b/d) - T(d, a/d) with Owen's function T. The error is the sum over all edges of all cells: exact, for any
number of classes whose means lie in a plane. For two classes the sum is the familiar Φ(-Δ/2).
"""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import ndtr, owens_t

from thalweg.streams.stream import Floats

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
