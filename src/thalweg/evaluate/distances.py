"""How far what was learned is from the truth: weights, axes and subspaces, at every row at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from thalweg.errors import InvalidInput
from thalweg.streams.stream import Floats

#: Of components of length 1, what is left of one that depends on the others: rounding, not a direction.
_NEGLIGIBLE = 1e-10


def distance(estimates: ArrayLike, truth: ArrayLike) -> Floats:
    """Euclidean distances of estimates (…, features) to the truth (features,).

    Examples
    --------
    >>> distance([[3.0, 4.0], [1.0, 0.0]], [0.0, 0.0])
    array([5., 1.])
    """
    return np.asarray(np.linalg.norm(np.subtract(estimates, truth), axis=-1))


def axis_distance(estimates: ArrayLike, truth: ArrayLike) -> Floats:
    """Euclidean distances of axes, which have no sign: the distance to the nearer of truth and minus truth.

    Examples
    --------
    >>> axis_distance([[0.0, -1.0], [1.0, 0.0]], [0.0, 1.0]).round(4)
    array([0.    , 1.4142])
    """
    return np.minimum(distance(estimates, truth), distance(np.negative(estimates), truth))


def subspace_overlap(components: ArrayLike, truth: ArrayLike) -> float:
    """Mean squared cosine of the angles between two subspaces: 1 if they are the same, 0 at right angles.

    Neither set of components, of shape (k, features), needs to be orthonormal, or even independent. The sum of the
    squared cosines is divided by the larger of the two subspaces' dimensions, so that one which lacks a direction of
    the other is not taken for it; without any direction the overlap is 0. Either may come first.

    Examples
    --------
    >>> round(subspace_overlap([[1.0, 1.0, 0.0], [0.0, 2.0, 0.0]], [[1.0, 0.0, 0.0], [0.0, 0.6, 0.8]]), 4)
    0.68
    >>> round(subspace_overlap([[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]], [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]), 4)
    0.5
    """
    one, other = _orthonormal(components), _orthonormal(truth)
    if one.shape[1] != other.shape[1]:
        raise InvalidInput(f"Subspaces must be of as many features, got {one.shape[1]} and {other.shape[1]}.")
    dimensions = max(len(one), len(other))
    return min(1.0, float(np.square(one @ other.T).sum() / dimensions)) if dimensions else 0.0


def _orthonormal(components: ArrayLike) -> Floats:
    """Orthonormal rows that span the components, as many as are independent; how long those are does not matter."""
    rows = np.asarray(components, dtype=np.float64)
    if rows.ndim != 2 or not np.isfinite(rows).all():
        raise InvalidInput(f"Components must be finite numbers of shape (k, features), got shape {rows.shape}.")
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    _, sizes, axes = np.linalg.svd(rows / np.where(lengths > 0.0, lengths, 1.0), full_matrices=False)
    return np.asarray(axes[sizes > _NEGLIGIBLE])
