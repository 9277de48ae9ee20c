"""Streams of numbers, for regression: a weighted sum of uniform features, and Friedman's curved response under drift.

Friedman's is a sum of a sine, a square and two lines whose features change roles.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thalweg.errors import InvalidParameter
from thalweg.parameters import OneOf, Real, Rules, at_least, real_matrix
from thalweg.streams.stream import Floats, ResponseStream, Rows, Times, standard_normals


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
    def features(self) -> int:
        """The risk factors."""
        return int(np.size(self.weights))

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


FriedmanChange: TypeAlias = Literal["local", "recurring", "gradual"]

#: The features that have the five roles of the response, before the first change and after each.
_ROLES: dict[str, tuple[tuple[int, ...], ...]] = {
    "recurring": ((0, 1, 2, 3, 4), (3, 5, 1, 0, 2), (0, 1, 2, 3, 4)),
    "gradual": ((0, 1, 2, 3, 4), (3, 4, 1, 0, 2), (1, 4, 3, 2, 0)),
}
_CHANGES = {"local": (3000, 6000, 9000), "recurring": (4000, 8000), "gradual": (4000, 8000)}


@dataclass(frozen=True)
class FriedmanDrift(ResponseStream):
    """Three kinds of drift of a curved response (Ikonomovska, Gama & Džeroski 2011, on model trees for streams).

    y = 10 sin(π a b) + 20 (c - 1/2)² + 10 d + 5 e + noise, where a, …, e are five of ten features, uniform in [0, 1].
    The concepts are those of River's ``synth.FriedmanDrift`` ("lea", "gra" and "gsg").

    Parameters
    ----------
    seed : int >= 0
        Seed for the random number generator.
    drift : {"local", "recurring", "gradual"}
        "local": two corners of the space have another response, and grow with each of three abrupt changes.
        "recurring": the features change roles abruptly, and change back. "gradual": they change roles twice, and for
        ``transition`` rows after a change half of the rows still have the old roles.
    changes : tuple of int, optional
        The rows at which the response changes: three, or two unless the drift is local. By default every 3,000 rows,
        or 4,000.
    transition : int >= 0
        How long a gradual change takes.
    noise : float >= 0
        The standard deviation of the noise.
    length : int >= 1
        Rows of the protocol. The stream itself is endless.

    Examples
    --------
    >>> stream = FriedmanDrift(seed=1, drift="recurring", noise=0.0)
    >>> X, y = stream.take(1)
    >>> bool(np.isclose(y[0], stream.response_at(0, X)[0])), bool(np.isclose(y[0], stream.response_at(5000, X)[0]))
    (True, False)
    """

    features: ClassVar[int] = 10
    uniforms_per_row: ClassVar[int] = 12

    drift: FriedmanChange = "local"
    changes: tuple[int, ...] | None = None
    transition: int = 1000
    noise: float = 1.0
    length: int = 12_000

    _rules = Rules(
        **ResponseStream._rules,
        drift=OneOf(*get_args(FriedmanChange)),
        transition=at_least(0),
        noise=Real(0),
        length=at_least(1),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        usual = _CHANGES[self.drift]
        if self.changes is None:
            object.__setattr__(self, "changes", usual)
        given = np.asarray(self.changes)
        if given.shape != (len(usual),) or given.dtype.kind not in "iu" or given[0] < 0 or (np.diff(given) <= 0).any():
            rule = f"be {len(usual)} growing row numbers"
            raise InvalidParameter.of("FriedmanDrift", "changes", rule, self.changes)

    def response_at(self, times: Times | int, X: Floats) -> Floats:
        """The response of rows X (…, 10) without noise, at ``times`` after any transition (broadcast against …)."""
        return self._response(np.broadcast_to(self._stage(times), X.shape[:-1]), X)

    def rows_from(self, times: Times, uniforms: Floats) -> Rows:
        """Rows of the concepts at ``times``, made of ``uniforms``."""
        X = uniforms[..., :10].copy()
        stage = np.broadcast_to(self._stage(times), X.shape[:-1])
        if self.drift == "gradual":
            since = times - np.append(-self.transition, np.asarray(self.changes))[stage]
            stage = stage - ((since < self.transition) & (uniforms[..., 11] < 0.5))
        return X, self._response(stage, X) + self.noise * standard_normals(uniforms[..., 10])

    def _stage(self, times: Times | int) -> NDArray[np.intp]:
        """How many changes there have been."""
        return np.asarray(np.searchsorted(np.asarray(self.changes), times, side="right"))

    def _response(self, stage: NDArray[np.intp], X: Floats) -> Floats:
        if self.drift != "local":
            return _friedman(np.take_along_axis(X, np.array(_ROLES[self.drift])[stage], axis=-1))
        a, b, c, d, e = np.moveaxis(X[..., :5], -1, 0)
        low = (stage >= 1) & (b < 0.3) & (c < 0.3) & ((stage >= 3) | (d > 0.7)) & ((stage >= 2) | (e < 0.3))
        high = (stage >= 1) & (b > 0.7) & (c > 0.7) & ((stage >= 3) | (d < 0.3)) & ((stage >= 2) | (e > 0.7))
        in_low = 10 * a * b + 20 * (c - 0.5) + 10 * d + 5 * e
        in_high = 10 * np.cos(a * b) + 20 * (c - 0.5) + np.exp(d) + 5 * e**2
        return np.where(low, in_low, np.where(high, in_high, _friedman(X[..., :5])))


def _friedman(roles: Floats) -> Floats:
    a, b, c, d, e = np.moveaxis(roles, -1, 0)
    return np.asarray(10 * np.sin(np.pi * a * b) + 20 * (c - 0.5) ** 2 + 10 * d + 5 * e)
