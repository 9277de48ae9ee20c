"""Targets as regressors take them: finite numbers within bounds, one column or several."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_array

from thalweg.errors import InvalidInput
from thalweg.frames.reading import as_array, as_plain, frame_of
from thalweg.kernels import compiled
from thalweg.learners.rows import Floats


def as_targets(y: ArrayLike | None, rows: int, owner: str) -> tuple[Floats, int | None]:
    """The targets in rows, and how many columns they came in; None for a one-dimensional y.

    Examples
    --------
    >>> as_targets([1, 2], 2, "OnlineLinearRegression")
    (array([[1.],
           [2.]]), None)
    """
    if y is None:
        raise InvalidInput(f"{owner} requires y to be passed, but the target y is None")
    targets = _as_numbers(y)
    columns = None if targets.ndim == 1 else targets.shape[1]
    targets = targets.reshape(len(targets), 1 if columns is None else columns)
    if columns == 0:
        raise InvalidInput("y must have at least one column, got none")
    if len(targets) != rows:
        raise InvalidInput(f"y must have a target for each of the {rows} rows of X, got {len(targets)}")
    at, _ = compiled.first_bad(targets)
    if at >= 0:
        bad = next(value for value in targets[at].tolist() if not abs(value) <= compiled.largest_value)
        shown = "NaN" if np.isnan(bad) else f"infinity ({bad})" if np.isinf(bad) else repr(bad)
        raise InvalidInput(f"y must hold finite numbers within ±{compiled.largest_value:g}, got {shown} at row {at}")
    return targets, columns


def _as_numbers(y: ArrayLike) -> Floats:
    if type(y) is np.ndarray and y.dtype.kind in "iuf" and y.ndim in (1, 2) and y.size > 0:
        return np.ascontiguousarray(y, dtype=np.float64)  # scikit-learn's check takes longer than learning many rows
    frame = None if isinstance(y, np.ndarray) else frame_of(y)
    values = as_array(y) if frame is None else frame.rows("y")
    try:
        numbers: Floats = check_array(
            as_plain(values, "y"),
            dtype=np.float64,
            order="C",
            ensure_2d=False,
            ensure_all_finite=False,
            input_name="y",
        )
    except InvalidInput:
        raise
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"y must be a one- or two-dimensional array of numbers: {error}") from error
    return numbers


def as_target(y: Any) -> tuple[Floats, int | None]:
    """The same for a single row: a number, or a sequence of them."""
    target = np.asarray(y)
    if target.dtype.kind not in "biuf" or target.ndim > 1 or target.size == 0:
        raise InvalidInput(f"y must be a number or a sequence of numbers, got {y!r}")
    values = np.ascontiguousarray(target, dtype=np.float64).reshape(-1)
    if compiled.first_bad(values[np.newaxis])[0] >= 0:
        raise InvalidInput(f"y must be finite and within ±{compiled.largest_value:g}, got {y!r}")
    return values, None if target.ndim == 0 else len(values)
