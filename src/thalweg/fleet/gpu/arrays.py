"""Rows, labels and keys that already lie in the GPU's memory: arrays of CuPy, PyTorch and others, by DLPack."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.errors import InvalidInput
from thalweg.fleet.gpu.core import cupy, module_of
from thalweg.kernels import compiled
from thalweg.learners.base.rows import no_number, shown

#: The number that DLPack has for the memory of CUDA devices.
_CUDA = 2
_THREADS = 256
#: Blocks of a kernel whose threads take many values each.
_BLOCKS = 132 * 8


def is_on_gpu(X: Any) -> bool:
    """Whether an array lies in the memory of a GPU."""
    device = getattr(X, "__dlpack_device__", None)
    return device is not None and int(device()[0]) == _CUDA


def may_be_copied(X: Any, *integers: Any) -> bool:
    """Whether these are arrays of NumPy that can be checked once they are on the GPU: rows, labels and keys."""
    return (
        type(X) is np.ndarray
        and X.dtype in (np.float64, np.float32)
        and X.ndim == 2
        and all(type(each) is np.ndarray and each.dtype.kind in "iu" for each in integers)
    )


def as_rows(X: Any, features: int | None) -> Any:
    """Rows as an array of CuPy, without a copy where they are contiguous doubles; all must be finite."""
    cp = cupy()
    rows = cp.ascontiguousarray(cp.from_dlpack(X), dtype=cp.float64)
    if rows.ndim != 2 or rows.shape[1] == 0 or features not in (None, rows.shape[1]):
        wanted = "at least one feature" if features is None else f"the fleet's {features} features"
        raise InvalidInput(f"X must have two dimensions and {wanted}, got shape {rows.shape}")
    if rows.size == 0:
        return rows
    first = cp.full(1, rows.size, dtype=cp.uint64)
    arguments = rows, np.int64(rows.size), np.float64(compiled.largest_value), first
    _kernel("find_bad")((min(_BLOCKS, -(-rows.size // _THREADS)),), (_THREADS,), arguments)
    if (bad := int(first[0])) < rows.size:
        raise no_number("X", shown(rows.reshape(-1)[bad].get()[()]), *divmod(bad, rows.shape[1]))
    return rows


def as_integers(values: Any, rows: int, name: str) -> Any:
    """Keys or labels as 64-bit integers of CuPy."""
    cp = cupy()
    found = cp.from_dlpack(values) if is_on_gpu(values) else cp.asarray(np.asarray(values))
    if found.dtype.kind not in "iu" or found.shape != (rows,):
        rule = f"{name} must be integers, one for each of the {rows} rows of X"
        raise InvalidInput(f"{rule}, got {found.dtype} of shape {found.shape}")
    if found.dtype == np.uint64 and rows and int(found.max()) > np.iinfo(np.int64).max:
        raise InvalidInput(f"{name} must be below 2**63, got {int(found.max())}")
    return cp.ascontiguousarray(found, dtype=cp.int64)


def codes_of(labels: Any, classes: NDArray[Any]) -> Any | None:
    """The place of each label among the sorted classes; None where one of them is not there."""
    cp = cupy()
    if len(classes) == 0 or classes.dtype.kind not in "iu":
        return None
    codes, unknown = cp.empty(len(labels), dtype=cp.int32), cp.zeros(1, dtype=cp.int32)
    known = cp.asarray(classes, dtype=cp.int64)
    _launch("encode", labels, np.int64(len(labels)), known, np.int32(len(known)), codes, unknown)
    return None if int(unknown[0]) else codes


def labels_of(codes: Any, classes: NDArray[Any]) -> Any:
    """The labels, on the GPU; 0 where there was no model yet."""
    cp = cupy()
    labels = cp.empty(len(codes), dtype=cp.int64)
    _launch("decode", codes, np.int64(len(codes)), cp.asarray(classes, dtype=cp.int64), labels)
    return labels


def _launch(name: str, *arguments: Any) -> None:
    if len(arguments[0]):
        _kernel(name)((-(-len(arguments[0]) // _THREADS),), (_THREADS,), arguments)


@cache
def _kernels() -> Any:
    return module_of("arrays.cu")


def _kernel(name: str) -> Any:
    return _kernels().get_function(name)
