"""Rows as learners take them: finite numbers within bounds, or an error that says where they are not."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array

from thalweg.errors import InvalidInput, NotNumbers
from thalweg.frames.frame import ENCODE_FIRST, row_major
from thalweg.frames.reading import as_plain, frame_of
from thalweg.kernels import compiled
from thalweg.learners.base.sparse_rows import compressed, densified, from_dense, is_sparse

if TYPE_CHECKING:
    from thalweg.kernels._base import SparseRows

Floats: TypeAlias = NDArray[np.float64]
#: How many missing features are named, and letters of a text.
_FEW, _MOST_LETTERS = 3, 40
#: Fewer stay in the cache between the check and the learning.
_MANY_BYTES = 1 << 20
#: Columns of sparse rows up to which a dense array costs little.
_NARROW = 200
Row: TypeAlias = Mapping[str, float] | Sequence[float] | Floats


def as_rows(X: ArrayLike, owner: BaseEstimator, name: str) -> Floats:
    """A two-dimensional array of finite numbers, in rows."""
    if are_rows_already(X):
        rows, frame = X, None
    else:
        frame = frame_of(X)
        rows = _converted(X if frame is None else frame.rows(name), owner, name)
    at, column = compiled.first_bad(rows)
    if at >= 0:
        missing = frame is not None and frame.is_null(at, column)
        value = "a missing value" if missing else shown(rows[at, column])
        raise no_number(name, value, at, column if frame is None else repr(frame.names[column]))
    return rows


def rows_for(X: Any, owner: Any, name: str, *, anew: bool = False) -> Any:
    """Rows as the owner's core takes them: an array, or `SparseRows` where X is sparse and the owner takes that.

    ``anew``: the owner is about to forget what it has learned, and may take the other kind.
    """
    core = None if anew else owner.__dict__.get("_core")
    X = owner._without_texts(X)
    if not is_sparse(X):
        rows = as_rows(X, owner, name)
        return from_dense(rows) if getattr(core, "is_sparse", False) else rows
    if not owner._takes_sparse:
        raise NotNumbers(f"{name} is sparse, and {owner._in_a_sentence()} takes dense rows: {owner._why_not_sparse}")
    if core is not None and not getattr(core, "is_sparse", False):
        return as_rows(densified(X, name), owner, name)
    dense = getattr(owner, "dense_features", 0)
    if X.shape[-1] < dense:
        raise InvalidInput(f"{name} must have at least the {dense} columns of dense_features, got {X.shape[-1]}")
    asked = dense or owner._has_open_names
    if core is None and owner._linear_from_sparse and not asked and X.shape[-1] <= _NARROW:
        warnings.warn(
            f"{name} is sparse, and {owner._in_a_sentence()} learns sparse rows by linear members only: give so few "
            f"columns ({X.shape[-1]}) as a dense array, as X.toarray() and OneHotEncoder(sparse_output=False) do",
            stacklevel=depth_in_thalweg(),
        )
    return as_sparse_rows(X, name)


def as_sparse_rows(X: Any, name: str) -> SparseRows:
    """Rows of finite numbers; `InvalidInput` says where they are not."""
    if X.ndim == 1:
        raise InvalidInput(
            f"{name} must be two-dimensional, got one row of {X.shape[0]}: X.reshape(1, -1) makes it one"
        )
    if X.ndim != 2 or 0 in X.shape:
        raise InvalidInput(
            f"{name} must be a two-dimensional array with at least one row and one column; found array with "
            f"{X.shape[0]} sample(s) and {X.shape[-1]} feature(s), while a minimum of 1 is required. Shape: {X.shape}"
        )
    if X.dtype.kind not in "biuf":
        raise NotNumbers(f"{name} must hold numbers, got a sparse matrix of {X.dtype}: Complex data not supported")
    try:
        rows = compressed(X.tocsr())
    except ValueError as error:
        raise InvalidInput(f"{name} is a damaged sparse matrix: {_damage(X) or error}") from error
    if not rows.in_order:  # the sum of all values of a column is what the matrix stands for
        tidy = X.tocsr(copy=True)
        tidy.sum_duplicates()
        rows = compressed(tidy)
    at, column = rows.first_bad
    if at >= 0:
        raise no_number(name, shown(X.tocsr()[at, column]), at, column)
    return rows


def _damage(X: Any) -> str:
    """What is wrong with the arrays of a compressed matrix; nothing where it is of another kind."""
    if getattr(X, "format", None) != "csr":
        return ""
    starts, columns, values = X.indptr, X.indices, X.data
    if len(columns) != len(values):
        return f"it has {len(columns)} column indices for {len(values)} values"
    if len(starts) != X.shape[0] + 1 or starts[0] != 0 or (np.diff(starts) < 0).any():
        return f"indptr must hold {X.shape[0] + 1} places that rise from 0"
    if starts[-1] > len(values):
        return f"indptr ends at {starts[-1]}, beyond the {len(values)} values"
    wrong = np.flatnonzero((columns < 0) | (columns >= X.shape[1]))
    return f"it has the column {columns[wrong[0]]}, and {X.shape[1]} columns" if len(wrong) else ""


def depth_in_thalweg() -> int:
    """How many calls lie between a warning here and the caller's own line, which is what it is about."""
    frame, depth = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("thalweg."):
        frame, depth = frame.f_back, depth + 1
    return depth


def width_for_core(rows: Any) -> int:
    """How many features a core is made for: 0 stands for sparse rows, whose features come on the way."""
    return 0 if isinstance(rows, compiled.SparseRows) or is_sparse(rows) else int(rows.shape[1])


def are_many_rows(X: object) -> TypeGuard[Floats]:
    """Whether rows are so many that to look at their values costs a way through memory, and are rows already."""
    return type(X) is np.ndarray and X.nbytes >= _MANY_BYTES and are_rows_already(X)


def bad_value(rows: Floats, place: int, name: str) -> InvalidInput:
    """The refusal of rows for the value at this place among all of them."""
    at, column = divmod(place, rows.shape[1])
    return no_number(name, shown(rows[at, column]), at, column)


def no_number(name: str, shown: str, row: int, column: int | str) -> InvalidInput:
    rule = f"must hold finite numbers within ±{compiled.largest_value:g}"
    hint = (
        ": impute or drop missing values first, or use TableClassifier or TableRegressor, which take them"
        if shown in ("NaN", "a missing value")
        else ""
    )
    return InvalidInput(f"{name} {rule}, got {shown} at row {row}, column {column}{hint}")


def shown(value: np.float64 | float) -> str:
    """A value that is no finite number, in words."""
    return "NaN" if np.isnan(value) else f"infinity ({value})" if np.isinf(value) else repr(float(value))


def are_rows_already(X: ArrayLike) -> TypeGuard[Floats]:
    """What scikit-learn's check, which takes longer than predicting a few rows, would return as it is."""
    return type(X) is np.ndarray and X.dtype == np.float64 and X.ndim == 2 and X.size > 0 and X.flags.c_contiguous


def _converted(X: ArrayLike, owner: BaseEstimator, name: str) -> Floats:
    if type(X) is np.ndarray and X.dtype.kind in "biuf" and X.ndim == 2 and X.size > 0:
        return row_major(X)
    try:
        rows: Floats = check_array(
            as_plain(X, name), dtype=np.float64, order="C", ensure_all_finite=False, estimator=owner, input_name=name
        )
    except InvalidInput:
        raise
    except (TypeError, ValueError) as error:
        if word := _first_word(X):
            raise InvalidInput(f"{name} must hold numbers, got {word}: {ENCODE_FIRST}") from error
        kind = NotNumbers if isinstance(error, TypeError) else InvalidInput
        raise kind(f"{name} must be a two-dimensional array of numbers: {error}") from error
    return rows


def _first_word(X: Any) -> str:
    """The first text of a table that is no number, and its place; empty where there is none."""
    for at, row in enumerate(X if isinstance(X, list | tuple | np.ndarray) else ()):
        for column, cell in enumerate(row if isinstance(row, list | tuple | np.ndarray) else ()):
            if isinstance(cell, str):
                try:
                    float(cell)
                except ValueError:
                    return f"{_shortened(cell)} at row {at}, column {column}"
    return ""


def width_of(x: Row) -> int:
    if frame_of(x) is not None:
        raise InvalidInput(_one_row(x))
    if isinstance(x, str):
        raise _text(x)
    try:
        width = len(x)
    except TypeError as error:
        raise InvalidInput(f"a row must be an array, a sequence of numbers or a dict, got {x!r}") from error
    if width == 0:
        raise InvalidInput("a row must have at least one feature, got none")
    return width


def clearer_error(error: InvalidInput, x: Row, model: BaseEstimator) -> InvalidInput:
    """The refusal of a single row, in better words where more can be said than the compiled core knows."""
    if frame_of(x) is not None:
        return InvalidInput(_one_row(x))
    if isinstance(x, str):
        return _text(x)
    known = list(getattr(model, "feature_names_in_", ()))
    if type(error) is not InvalidInput or not known or not isinstance(x, Mapping) or len(x) == len(known):
        return error  # another kind is about a feature that is unknown
    missing, strange = [name for name in known if name not in x], [name for name in x if name not in set(known)]
    reasons = [f"it lacks {_some(missing)}"] if missing else []
    reasons += [f"the model does not know {_some(strange)}"] if strange else []
    return InvalidInput(f"{error}: {'; '.join(reasons)}")


def _some(names: list[Any]) -> str:
    return ", ".join(map(repr, names[:_FEW])) + (f" and {len(names) - _FEW} more" if len(names) > _FEW else "")


def _text(x: str) -> InvalidInput:
    return InvalidInput(f"a row must hold numbers, got the text {_shortened(x)}: put a TextHasher before the model")


def _shortened(text: str) -> str:
    return repr(str(text) if len(text) <= _MOST_LETTERS else f"{text[:_MOST_LETTERS]}…")


def _one_row(x: object) -> str:
    change = "give its values or a dict, or all rows to the methods that take many"
    return f"a row must be one row, not a frame, got a {type(x).__name__}: {change}"


def names_of(x: Row) -> tuple[str, ...] | None:
    """The names of a single row's features: of a mapping, or of a pandas Series all of whose names are words."""
    if isinstance(x, Mapping):
        return tuple(x)
    if hasattr(x, "keys") and hasattr(x, "to_numpy"):
        names = tuple(x.keys())
        return names if all(isinstance(name, str) for name in names) else None
    return None
