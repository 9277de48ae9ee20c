"""A regressor whose targets come late: what it predicted is kept, and judged when the target of the row comes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from thalweg.frames.frame import NamedRows
from thalweg.learners.base.rows import width_for_core

Floats = NDArray[np.float64]
Places = NDArray[np.int64]
#: By name ("predictions", and of a model with intervals "lower", "upper" and "members"), a value or some for each row;
#: NaN where the row was not predicted. What members predicted is kept
#: relative to the prediction, so that float32 is enough.
Given: TypeAlias = dict[str, NDArray[Any]]


def has_intervals(model: Any) -> bool:
    return hasattr(model, "learn_late")


def is_fitted(model: Any) -> bool:
    try:
        check_is_fitted(model)
    except ValueError:  # scikit-learn's NotFittedError is one
        return False
    return True


def members_of(model: Any, features: int, outputs: int = 1) -> int:
    """How many numbers are kept of what the members of a model with intervals predict for a row."""
    return int(model._make_core(features).n_opinions) * outputs


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
    return {name: np.full(shape, np.nan, np.float32 if name == "members" else None) for name, shape in shapes.items()}


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
    for i, step in enumerate(order.tolist()):
        if known and "members" in given and hasattr(model._core, "follow"):
            everything, rest = named(slice(None)), order[i:]
            return int(model._follow(everything, targets, rest, number, given, newest=newest, coverage=coverage))
        row = ~step if step < 0 else step
        at = slice(row, row + 1)
        X = named(at)
        if step >= 0:
            newest = int(number[row])
            if known:
                predictions[at] = model.predict(X)
            if known and "members" in given:
                lower[at], upper[at] = model.predict_interval(X, coverage)
                own = model.member_predictions(X).reshape(predictions[row].size, -1)
                members[at] = (own - predictions[row].reshape(-1, 1)).reshape(1, -1)
            continue
        if "members" in given:
            ends = (predictions[at],) * 2 if np.isnan(lower[at]).any() else (lower[at], upper[at])
            own = members[row].reshape(predictions[row].size, -1) + predictions[row].reshape(-1, 1)
            delay = max(0, newest - int(number[row]))
            model.learn_late(X, targets[at], ends, coverage, delay=delay, member_predictions=own)
        else:
            model.partial_fit(X, targets[at])
        known = True
    return newest
