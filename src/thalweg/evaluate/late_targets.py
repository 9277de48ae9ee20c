"""A regressor whose targets come late: what it predicted is kept, and judged when the target of the row comes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from thalweg.frames.frame import NamedRows

Floats = NDArray[np.float64]
Places = NDArray[np.int64]
#: By name ("answers", and of a model with intervals "lower", "upper" and "members"), a value or some for each row; NaN
#: where the row was not predicted.
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
    shapes: dict[str, tuple[int, ...]] = {"answers": targets.shape}
    if has_intervals(model):
        members = members_of(model, rows.shape[1], int(np.prod(targets.shape[1:])))
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
) -> None:
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
        From `nothing_given`; what is predicted is written there.
    newest : int
        Number of the last row predicted before these, where any was.
    coverage : float, optional
        Of the intervals; by default the model's usual one.
    names : sequence, optional
        What the columns are called.

    Examples
    --------
    >>> import numpy as np
    >>> from thalweg import AutoRegressor
    >>> X, y, model = np.arange(4.0)[:, np.newaxis], np.full(4, 7.0), AutoRegressor()
    >>> given = nothing_given(model, X, y)
    >>> follow_numbers(model, X, y, np.array([0, 1, ~0, 2, ~1, 3]), np.arange(1, 5), given)
    >>> given["answers"].tolist()
    [nan, nan, 7.0, 7.0]
    """

    def named(part: Places) -> Any:
        return rows[part] if names is None else NamedRows(rows[part], names)

    judged = has_intervals(model)
    for part in np.split(order, np.flatnonzero(np.diff(order >= 0)) + 1):
        if len(part) and part[0] >= 0:
            newest = int(number[part[-1]])
            if is_fitted(model):
                X = named(part)
                given["answers"][part] = model.predict(X)
                if judged:
                    given["lower"][part], given["upper"][part] = model.predict_interval(X, coverage)
                    given["members"][part] = model.member_answers(X).reshape(len(part), -1)
        elif judged and len(part):
            at = ~part
            delay = max(0, newest - int(number[at].mean()))
            ends = given["lower"][at], given["upper"][at]
            members = given["members"][at]
            model.learn_late(named(at), targets[at], ends, coverage, delay=delay, member_answers=members)
        elif len(part):
            model.partial_fit(named(~part), targets[~part])
