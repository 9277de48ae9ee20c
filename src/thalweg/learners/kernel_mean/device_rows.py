"""Rows that come as arrays of another library than NumPy, where scikit-learn is set to leave them there.

That is inside ``sklearn.config_context(array_api_dispatch=True)``. Elsewhere such arrays are taken as NumPy takes them.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator

from thalweg.errors import NotNumbers
from thalweg.kernels import compiled
from thalweg.learners.base.rows import Floats, as_rows
from thalweg.learners.kernel_mean.backend import HOST, Backend, Device


class DeviceRows:
    """Finite numbers in rows, in double precision where they came from.

    Parameters
    ----------
    array : array of the array API standard, of shape (rows, features)
        As given.
    owner : estimator
        Whom an error is to name.
    """

    def __init__(self, array: Any, owner: BaseEstimator) -> None:
        self.backend = _backend_of(array)
        xp = self.backend.xp
        if not xp.isdtype(array.dtype, ("bool", "integral", "real floating")):
            raise NotNumbers(f"X must be a two-dimensional array of numbers: got {array.dtype}")
        self.array = xp.asarray(_detached(array), dtype=xp.float64)
        if 0 in self.shape or not bool(xp.all(xp.abs(self.array) <= compiled.largest_value)):
            as_rows(self.on_host, owner, "X")  # raises, and says where

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and features."""
        return self.array.shape[0], self.array.shape[1]

    def __len__(self) -> int:
        return self.shape[0]

    @cached_property
    def on_host(self) -> Floats:
        """The rows as NumPy has them."""
        return np.ascontiguousarray(self.backend.host(self.array))

    def like(self, predictions: NDArray[Any]) -> Any:
        """Predictions as an array of the library of these rows; strings, which only NumPy can hold, as they are."""
        return predictions if predictions.dtype.kind == "U" else self.backend.array(predictions)


def device_rows(X: Any, owner: BaseEstimator) -> DeviceRows | None:
    """X where it is a table of another library than NumPy and is to stay there; else None."""
    return DeviceRows(X, owner) if _is_dispatched(X) and getattr(X, "ndim", 0) == 2 else None


def on_host(values: Any) -> Any:
    """Labels of another library as NumPy has them; anything else as it is."""
    return _backend_of(values).host(_detached(values)) if _is_dispatched(values) else values


def rows_and_backend(X: Floats | DeviceRows) -> tuple[Any, Backend]:
    """The rows as an array, and the library whose functions take it."""
    return (X.array, X.backend) if isinstance(X, DeviceRows) else (X, HOST)


def _is_dispatched(X: Any) -> bool:
    foreign = not isinstance(X, np.ndarray) and hasattr(X, "__dlpack__") and hasattr(X, "device")
    return foreign and bool(get_config()["array_api_dispatch"])


def _backend_of(array: Any) -> Device:
    from sklearn.utils._array_api import get_namespace

    xp, _ = get_namespace(array)
    return Device(xp, array.device)


def _detached(array: Any) -> Any:
    """A tensor of PyTorch without its gradient, which would keep every block in memory."""
    return array.detach() if hasattr(array, "detach") else array
