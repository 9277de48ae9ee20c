"""Linear response: a number that is the weighted sum of uniform features and some noise, for regression."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from thalweg.errors import InvalidParameter
from thalweg.parameters import Real, Rules, at_least, real_matrix
from thalweg.streams.concept import ResponseStream, Times
from thalweg.streams.stream import Floats, Rows, standard_normals


@dataclass(frozen=True)
class LinearResponse(ResponseStream):
    """The simulated losses of Wu & Snell 2016: y = w'x + noise, with x uniform in [0, 1] and weights that may drift.

    Parameters
    ----------
    seed : int >= 0
        Seed for the random number generator.
    weights : array of shape (features,)
        Of the features at row 0. By default the paper's.
    noise : float >= 0
        The standard deviation of what is added to the weighted sum.
    drift : array of shape (features,), optional
        What is added to the weights with every row. By default they stay.
    length : int >= 1
        Rows of the protocol. The stream itself is endless.

    Examples
    --------
    >>> stream = LinearResponse(seed=1, noise=0.0)
    >>> X, y = stream.take(3)
    >>> bool(np.allclose(X @ [1, -1, 0.5, -0.5, 2], y))
    True
    >>> LinearResponse(weights=[1.0, 0.0], drift=[-0.01, 0.01]).weights_at(100)
    array([0., 1.])
    """

    # The paper's formula has 1 for the fifth, its vector of weights 2.
    weights: ArrayLike = (1.0, -1.0, 0.5, -0.5, 2.0)
    noise: float = 0.1
    drift: ArrayLike | None = None
    length: int = 1000

    _rules = Rules(**ResponseStream._rules, noise=Real(0, text="be a positive finite number"), length=at_least(1))

    def __post_init__(self) -> None:
        super().__post_init__()
        weights = _as_vector("weights", self.weights)
        object.__setattr__(self, "weights", weights)
        if self.drift is not None:
            drift = _as_vector("drift", self.drift)
            if len(drift) != len(weights):
                raise InvalidParameter.of("LinearResponse", "drift", f"have {len(weights)} numbers", self.drift)
            object.__setattr__(self, "drift", drift)

    @property
    def uniforms_per_row(self) -> int:
        """One for each feature, one for the noise."""
        return self.n_features + 1

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The risk factors."""
        return tuple(f"x{number}" for number in range(1, np.size(self.weights) + 1))

    def weights_at(self, times: ArrayLike) -> Floats:
        """The weights at times of shape (…), as an array of shape (…, features)."""
        start = np.asarray(self.weights)
        slope = np.zeros(len(start)) if self.drift is None else np.asarray(self.drift)
        return np.asarray(start + slope * np.asarray(times, dtype=np.float64)[..., np.newaxis])

    def rows_from(self, times: Times, uniforms: Floats) -> Rows:
        """Rows of the concepts at ``times``, made of ``uniforms``."""
        X = uniforms[..., :-1].copy()
        noise = self.noise * standard_normals(uniforms[..., -1])
        # Not a matrix product: those round differently with the number of rows.
        return X, (self.weights_at(times) * X).sum(axis=-1) + noise


def _as_vector(name: str, value: object) -> tuple[float, ...]:
    """The value as a tuple of finite numbers: comparable, hashable and unchangeable like all else about a stream."""
    try:
        (vector,) = real_matrix("LinearResponse", name, [value])
    except InvalidParameter:
        raise InvalidParameter.of("LinearResponse", name, "be a sequence of finite numbers", value) from None
    return tuple(vector.tolist())
