"""Rows, targets and keys that already lie in the GPU's memory: arrays of CuPy, PyTorch and others, by DLPack."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.errors import InvalidInput
from thalweg.fleet.gpu.core import cupy, module_of
from thalweg.kernels import compiled
from thalweg.learners.base.regressor import no_target
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


def may_be_copied(X: Any, keys: Any, y: Any, kinds: str) -> bool:
    """Whether these are arrays of NumPy that can be checked once they are on the GPU; targets may be None."""
    return (
        type(X) is np.ndarray
        and X.dtype in (np.float64, np.float32)
        and X.ndim == 2
        and (type(keys) is np.ndarray and keys.dtype.kind in "iu")
        and (y is None or (type(y) is np.ndarray and y.dtype.kind in kinds))
    )


def as_rows(X: Any, features: int | None) -> Any:
    """Rows as an array of CuPy, without a copy where they are contiguous doubles; all must be finite."""
    rows = _shaped(X, features)
    first = cupy().full(1, rows.size, dtype=np.uint64)
    _find_bad(rows, first)
    _require_none_bad(rows, int(first[0]))
    return rows


def as_labelled_rows(X: Any, y: Any, features: int | None, classes: NDArray[Any]) -> tuple[Any, Any, Any | None]:
    """Rows, their labels, and the places of these among the sorted classes; no places where a label is not there."""
    cp, rows = cupy(), _shaped(X, features)
    labels = as_integers(y, len(rows), "y")
    summary = cp.asarray(np.array([rows.size, 0], dtype=np.uint64))  # read once: to wait for the GPU takes time
    _find_bad(rows, summary[:1])
    known = cp.asarray(classes if classes.dtype.kind in "iu" else [], dtype=cp.int64)
    codes = cp.empty(len(labels), dtype=cp.int32)
    arguments = labels, np.int64(len(labels)), known, np.int32(len(known)), codes, summary[1:]
    _launch("encode", -(-len(labels) // _THREADS), *arguments)
    bad, unknown = summary.get().tolist()
    _require_none_bad(rows, bad)
    return rows, labels, None if unknown or len(known) == 0 else codes


def as_rows_with_targets(X: Any, y: Any, features: int | None) -> tuple[Any, Any]:
    """Rows and one number for each, as arrays of CuPy; all must be finite."""
    cp, rows = cupy(), _shaped(X, features)
    given = _on_gpu(y)
    if given.dtype.kind not in "biuf" or given.shape != (len(rows),):
        rule = f"y must be one-dimensional, one number for each of the {len(rows)} rows of X"
        raise InvalidInput(f"{rule}, got {given.dtype} of shape {given.shape}")
    targets = cp.ascontiguousarray(given, dtype=cp.float64)
    first = cp.asarray(np.array([rows.size, targets.size], dtype=np.uint64))
    _find_bad(rows, first[:1])
    _find_bad(targets, first[1:])
    bad, bad_target = first.get().tolist()
    _require_none_bad(rows, bad)
    if bad_target < targets.size:
        raise no_target(targets[bad_target].get()[()], bad_target)
    return rows, targets


def _shaped(X: Any, features: int | None) -> Any:
    cp = cupy()
    rows = cp.ascontiguousarray(cp.from_dlpack(X), dtype=cp.float64)
    if rows.ndim != 2 or rows.shape[1] == 0 or features not in (None, rows.shape[1]):
        wanted = "at least one feature" if features is None else f"the fleet's {features} features"
        raise InvalidInput(f"X must have two dimensions and {wanted}, got shape {rows.shape}")
    return rows


def _find_bad(rows: Any, first: Any) -> None:
    blocks = min(_BLOCKS, -(-rows.size // _THREADS))
    _launch("find_bad", blocks, rows, np.int64(rows.size), np.float64(compiled.largest_value), first)


def _require_none_bad(rows: Any, first: int) -> None:
    if first < rows.size:
        raise no_number("X", shown(rows.reshape(-1)[first].get()[()]), *divmod(first, rows.shape[1]))


def as_integers(values: Any, rows: int, name: str) -> Any:
    """Keys or labels as 64-bit integers of CuPy."""
    cp = cupy()
    integers = _on_gpu(values)
    if integers.dtype.kind not in "iu" or integers.shape != (rows,):
        rule = f"{name} must be integers, one for each of the {rows} rows of X"
        raise InvalidInput(f"{rule}, got {integers.dtype} of shape {integers.shape}")
    if integers.dtype == np.uint64 and rows and int(integers.max()) > np.iinfo(np.int64).max:
        raise InvalidInput(f"{name} must be below 2**63, got {int(integers.max())}")
    return cp.ascontiguousarray(integers, dtype=cp.int64)


def _on_gpu(values: Any) -> Any:
    cp = cupy()
    return cp.from_dlpack(values) if is_on_gpu(values) else cp.asarray(np.asarray(values))


def as_host(values: Any) -> Any:
    """Values in the memory of a GPU as NumPy has them; others as they are."""
    return cupy().from_dlpack(values).get() if is_on_gpu(values) else values


def names_of(classes: NDArray[Any]) -> NDArray[np.int64]:
    """The labels as `GpuFleetCore.take` names them, 0 where there was no model yet."""
    return np.concatenate([[0], classes]).astype(np.int64)


def _launch(name: str, blocks: int, *arguments: Any) -> None:
    if blocks:
        _kernels().get_function(name)((blocks,), (_THREADS,), arguments)


@cache
def _kernels() -> Any:
    return module_of("arrays.cu")
