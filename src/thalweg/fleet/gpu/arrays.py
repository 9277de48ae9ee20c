"""Rows, labels and keys that already lie in the GPU's memory: arrays of CuPy, PyTorch and others, by DLPack."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.errors import InvalidInput
from thalweg.fleet.gpu.core import cupy

#: The number that DLPack has for the memory of CUDA devices.
_CUDA = 2


def is_on_gpu(X: Any) -> bool:
    """Whether an array lies in the memory of a GPU."""
    device = getattr(X, "__dlpack_device__", None)
    return device is not None and int(device()[0]) == _CUDA


def as_rows(X: Any, features: int | None) -> Any:
    """Rows as an array of CuPy, without a copy where they are contiguous doubles; all must be finite."""
    cp = cupy()
    rows = cp.ascontiguousarray(cp.from_dlpack(X), dtype=cp.float64)
    if rows.ndim != 2 or rows.shape[1] == 0 or features not in (None, rows.shape[1]):
        wanted = "at least one feature" if features is None else f"the fleet's {features} features"
        raise InvalidInput(f"X must have two dimensions and {wanted}, got shape {rows.shape}")
    if not bool(cp.isfinite(rows).all()):
        row = int(cp.argmin(cp.isfinite(rows).all(axis=1)))
        raise InvalidInput(f"X must hold finite numbers, which row {row} does not")
    return rows


def as_integers(values: Any, rows: int, name: str) -> Any:
    """Keys or labels as 64-bit integers of CuPy."""
    cp = cupy()
    found = cp.from_dlpack(values) if is_on_gpu(values) else cp.asarray(np.asarray(values))
    if found.dtype.kind not in "iu" or found.shape != (rows,):
        rule = f"{name} must be integers, one for each of the {rows} rows of X"
        raise InvalidInput(f"{rule}, got {found.dtype} of shape {found.shape}")
    return cp.ascontiguousarray(found, dtype=cp.int64)


def codes_of(labels: Any, classes: NDArray[Any]) -> Any | None:
    """The place of each label among the sorted classes; None where one of them is not there."""
    cp = cupy()
    if len(classes) == 0 or classes.dtype.kind not in "iu":
        return None
    known = cp.asarray(classes, dtype=cp.int64)
    codes = cp.minimum(cp.searchsorted(known, labels), len(known) - 1)
    return codes.astype(cp.int32) if bool((known[codes] == labels).all()) else None


def labels_of(codes: Any, classes: NDArray[Any]) -> Any:
    """The labels, on the GPU; 0 where there was no model yet."""
    cp = cupy()
    return cp.where(codes < 0, 0, cp.asarray(classes, dtype=cp.int64)[codes])
