"""A learner that has learned gets columns for features it has never met.

The rule: a new feature was 0 in every row so far, as River's linear models take it. So every answer to a row without it
stays what it was. The learned arrays are laid into those of a fresh core of the greater width; which axes of an array
run over features is seen by comparing fresh cores of both widths. It costs O(p^2) and happens once per new feature.

A discriminant's covariance needs a variance for a feature that never moved. It gets next to nothing, as much as one row
of a millionth among the rows so far: so a feature counts from its first rows on, in whatever unit it comes and however
long the model has learned. An identity, with which a fresh model begins, would outweigh small features for as long.

One learner is an exception: the kernel mean machine with a budget holds densities, and a density over more features is
another one. Its answers to old rows shift a little.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.learners.contract import StreamClassifier
from thalweg.learners.estimator import StreamEstimator
from thalweg.learners.regressor import StreamRegressor

Arrays = dict[str, NDArray[Any]]

#: The size of the row that stands for a feature's past.
_NEXT_TO_NOTHING = 1e-6


class CannotWiden(Exception):
    """The state of this learner is more than arrays over features: it was made with scikit-learn's classifiers."""


def widen(learner: StreamEstimator, features: int) -> None:
    """Make room for more features behind those the learner knows; `CannotWiden`, and nothing changed, where it cannot.

    Examples
    --------
    >>> from thalweg import OnlineLDC
    >>> from thalweg.interop.widening import widen
    >>> model = OnlineLDC().partial_fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> before = model.decision_function([[1.7]])
    >>> widen(model, 2)
    >>> bool(before == model.decision_function([[1.7, 0.0]]))
    True
    """
    if learner._adapters():
        raise CannotWiden
    before = learner._core.n_features
    narrow, wide = (_blank(learner, width).state() for width in (before, features))
    learned: Arrays = learner._core.state()
    if not learned.keys() <= wide.keys():
        raise CannotWiden
    grown = {name: _laid_into(wide[name], narrow[name], array, before, features) for name, array in learned.items()}
    for name, array in grown.items():
        prefix = name.removesuffix("factor_diagonal")
        if prefix != name and f"{prefix}log_prior" in grown:
            _begin_with_next_to_nothing(array, learned[name], int(learned[f"{prefix}rows"][0]))
    core = learner._make_core(features)
    core.restore(grown)
    learner._core = core
    learner.n_features_in_ = features


def _blank(learner: StreamEstimator, features: int) -> Any:
    core = learner._make_core(features)
    if isinstance(learner, StreamClassifier):
        for code in range(learner._core.n_classes):
            core.announce(code)
    elif isinstance(learner, StreamRegressor):
        core.widen(learner._core.n_outputs)
    return core


def _laid_into(
    wide: NDArray[Any], narrow: NDArray[Any], learned: NDArray[Any], before: int, features: int
) -> NDArray[Any]:
    axes = list(zip(narrow.shape, wide.shape, learned.shape, strict=True))
    shape = tuple(length if small == large else large for small, large, length in axes)
    grown = wide.copy() if wide.shape == shape else np.zeros(shape, dtype=learned.dtype)
    places = [
        np.arange(length) if small == large else _places(small, large, before, features)
        for small, large, length in axes
    ]
    grown[np.ix_(*places)] = learned
    return grown


def _places(small: int, large: int, before: int, features: int) -> NDArray[np.int64]:
    """Where the entries of an axis over features are found on the wider axis."""
    if small * features == large * before:  # feature by feature, be it with several numbers each
        return np.arange(small)
    upper = np.full((features, features), -1)  # else the rows of a triangle above the diagonal, one behind the other
    upper[np.triu_indices(features, 1)] = np.arange(features * (features - 1) // 2)
    places = upper[np.triu_indices(before, 1)]
    if len(places) != small or features * (features - 1) // 2 != large:
        raise CannotWiden
    return places


def _begin_with_next_to_nothing(diagonal: NDArray[Any], learned: NDArray[Any], rows: int) -> None:
    fresh = np.ones(diagonal.shape, dtype=bool)
    fresh[tuple(slice(length) for length in learned.shape)] = False
    diagonal[fresh] = max(1, rows) / _NEXT_TO_NOTHING**2  # of the inverse covariance, ours
