"""A regressor whose targets come late: what it predicted is kept, and judged when the target of the row comes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from thalweg.frames.frame import NamedRows
from thalweg.learners.base.rows import width_for_core

Floats = NDArray[np.float64]
Places = NDArray[np.int64]
#: By name ("predictions", and of a model with intervals "lower", "upper" and "members"), a value or some for each row;
#: NaN where the row was not predicted.
Given: TypeAlias = dict[str, Floats]


def has_intervals(model: Any) -> bool:
    return hasattr(model, "learn_late")


def is_fitted(model: Any) -> bool:
    try:
        check_is_fitted(model)
    except ValueError:  # scikit-learn's NotFittedError is one
        return False
    return True


def members_of(model: Any, features: int, outputs: int = 1) -> int:
    """How many numbers the members of a model with intervals predict for a row; none where it is no mixture."""
    return int(model._make_core(features).n_members) * outputs


def ends_with_width(lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
    """Lower and upper ends; NaN for intervals without a width, which a model gives before it has any."""
    is_wide = upper > lower
    return np.where(is_wide, lower, np.nan), np.where(is_wide, upper, np.nan)


def nothing_given(model: Any, rows: Floats, targets: Floats) -> Given:
    """Room for what `follow_numbers` predicts."""
    shapes: dict[str, tuple[int, ...]] = {"predictions": targets.shape}
    if has_intervals(model):
        members = members_of(model, width_for_core(rows), int(np.prod(targets.shape[1:])))
        shapes |= {"lower": targets.shape, "upper": targets.shape, "members": (len(targets), members)}
    return {name: np.full(shape, np.nan) for name, shape in shapes.items()}


def follow_numbers(
    model: Any,
    rows: Floats,
    targets: Floats,
    order: Places,
    number: Places,
    given: Given,
    *,
    newest: int = 0,
    coverage: float | None = None,
    names: Sequence[Any] | None = None,
) -> int:
    """What `follow` of classifiers does: predict and learn in the given order.

    A model with intervals learns by `learn_late`, which judges the intervals and the members by what they had
    predicted. Any other learns by `partial_fit`.

    Parameters
    ----------
    model : regressor
        Any with ``predict`` and ``partial_fit``.
    rows, targets : arrays
        Those that were predicted before come first.
    order : array
        i predicts row i, ~i learns it.
    number : array
        Of each row in the stream.
    given : dict of arrays
        From `nothing_given`; what is predicted is written there. Ends of NaN beside a prediction
        stand for an interval without a width.
    newest : int
        Number of the last row predicted before these, where any was.
    coverage : float, optional
        Of the intervals; by default the model's usual one.
    names : sequence, optional
        What the columns are called.

    Returns
    -------
    int
        Number of the last row predicted.

    Examples
    --------
    >>> import numpy as np
    >>> from thalweg import AutoRegressor
    >>> X, y, model = np.arange(4.0)[:, np.newaxis], np.full(4, 7.0), AutoRegressor()
    >>> given = nothing_given(model, X, y)
    >>> follow_numbers(model, X, y, np.array([0, 1, ~0, 2, ~1, 3]), np.arange(1, 5), given)
    4
    >>> given["predictions"].tolist()
    [nan, nan, 7.0, 7.0]
    """

    def named(part: slice | Places) -> Any:
        return rows[part] if names is None else NamedRows(rows[part], names)

    predictions, known = given["predictions"], is_fitted(model)
    lower, upper, members = (given.get(name, predictions) for name in ("lower", "upper", "members"))
    cuts = [0, *(np.flatnonzero(np.diff(order >= 0)) + 1).tolist(), len(order)]
    for begin, end in pairwise(cuts) if len(order) else ():
        first, last = int(order[begin]), int(order[end - 1])
        if first >= 0:
            fresh = slice(first, last + 1)  # rows are predicted in their order
            newest = int(number[last])
            if known:
                X = named(fresh)
                predictions[fresh] = model.predict(X)
                if "members" in given:
                    lower[fresh], upper[fresh] = model.predict_interval(X, coverage)
                    members[fresh] = model.member_predictions(X).reshape(end - begin, -1)
            continue
        at = slice(~first, ~first + 1) if end - begin == 1 else ~order[begin:end]
        if "members" in given:
            ends, unknown = (lower[at], upper[at]), np.isnan(lower[at])
            if unknown.any():
                ends = np.where(unknown, predictions[at], ends[0]), np.where(unknown, predictions[at], ends[1])
            delay = max(0, newest - int(number[at].mean()))
            model.learn_late(named(at), targets[at], ends, coverage, delay=delay, member_predictions=members[at])
        else:
            model.partial_fit(named(at), targets[at])
        known = True
    return newest
