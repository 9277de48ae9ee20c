"""How far what was learned is from the truth: weights, axes and subspaces, at every row at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from thalweg.streams.stream import Floats


def distance(estimates: ArrayLike, truth: ArrayLike) -> Floats:
    """Euclidean distances of estimates (…, features) to the truth (features,).

    >>> distance([[3.0, 4.0], [1.0, 0.0]], [0.0, 0.0])
    array([5., 1.])
    """
    return np.asarray(np.linalg.norm(np.subtract(estimates, truth), axis=-1))


def axis_distance(estimates: ArrayLike, truth: ArrayLike) -> Floats:
    """The same for axes, which have no sign: the distance to the nearer of truth and minus truth.

    >>> axis_distance([[0.0, -1.0], [1.0, 0.0]], [0.0, 1.0]).round(4)
    array([0.    , 1.4142])
    """
    return np.minimum(distance(estimates, truth), distance(np.negative(estimates), truth))


def subspace_overlap(components: ArrayLike, truth: ArrayLike) -> float:
    """Mean squared cosine of the angles between two subspaces: 1 if they are the same, 0 at right angles.

    Neither set of components, of shape (k, features), needs to be orthonormal.

    >>> round(subspace_overlap([[1.0, 1.0, 0.0], [0.0, 2.0, 0.0]], [[1.0, 0.0, 0.0], [0.0, 0.6, 0.8]]), 4)
    0.68
    """
    one, other = (np.linalg.qr(np.asarray(rows, dtype=np.float64).T)[0] for rows in (components, truth))
    return float(np.square(one.T @ other).sum() / one.shape[1])
