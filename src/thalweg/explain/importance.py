"""How much a model relies on each column: by how much its loss grows when the column is replaced by other values of it.

A column is replaced, row by row, by its value in a reference row drawn at random, and all other columns are kept. The
mean increase of the loss over the rows is the column's importance, with its standard error. Beside it stands the
effect: by how much the score is higher on average with the larger of the two values. Its sign says whether the column
raises or lowers the prediction, so that a column whose effect reverses is seen.

The loss of a classifier is the log-loss, or, where it has no probabilities, 1 for a wrong prediction; that of a
regressor the squared error in units of the variance of the reference targets, 10 at the most. The score is the
probability of a label, whether it is predicted where there are no probabilities, or the number in standard deviations
of the target.

L. Breiman, "Random Forests", Machine Learning 45, 2001; A. Fisher, C. Rudin and F. Dominici, "All Models are Wrong, but
Many are Useful", JMLR 20, 2019.

Cost: n (g + 1) predictions for n rows and g columns, in one call; less where a replaced value is the same.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thalweg.errors import InvalidInput, InvalidParameter
from thalweg.explain.groups import Groups, groups_for

Floats = NDArray[np.float64]

#: What a smaller probability of the truth counts as, so that a single row does not make up a mean.
LEAST_PROBABILITY = 1e-3
#: What a larger squared error counts as, in variances of the target, for the same reason.
MOST_SQUARED = 10.0
#: Numbers of the rows that are asked at once.
_BLOCK = 1 << 21


@dataclass(frozen=True)
class Importance:
    """Result of `importance`: one number for each column.

    Attributes
    ----------
    names : tuple of str
        The columns.
    increase : ndarray
        By how much the loss grows when the column is replaced: the importance.
    standard_error : ndarray
        Of the increase; NaN from a single row.
    effect, effect_error : ndarray
        By how much the score is higher with the larger of two values, and its standard error; NaN for columns without
        an order.
    rows : int
        The rows they are means of.
    """

    names: tuple[str, ...]
    increase: Floats
    standard_error: Floats
    effect: Floats
    effect_error: Floats
    rows: int

    def ranking(self) -> dict[str, float]:
        """The columns by their importance, the largest first."""
        order = np.argsort(-self.increase, kind="stable")
        return {self.names[at]: float(self.increase[at]) for at in order}


class Replaced(NamedTuple):
    """For each row and group, the increase of the loss and the signed change of the score."""

    increase: Floats
    effect: Floats


def importance(
    model: Any, X: Any, y: ArrayLike, reference: Any = None, *, groups: Any = None, label: Any = None, seed: int = 0
) -> Importance:
    """Importance and effect of each column on these rows, which the model should not have learned yet.

    Parameters
    ----------
    model : classifier or regressor
        Any that is fitted, also of scikit-learn; or a `TableClassifier` or `TableRegressor`, whose rows are tables.
    X, y : rows and their labels or numbers
        What the loss is measured on.
    reference : rows like X, optional
        Where other values of a column come from; by default X itself.
    groups : dict of name to features, optional
        Features that are replaced together, by place or name; those in no group are one group. By default each feature
        is by itself, or the features of one column of a table together.
    label : optional
        The class whose probability the effect is about; by default the last of the model's classes.
    seed : int
        Seed for the choice of reference rows.

    Returns
    -------
    Importance
        Means and standard errors over the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from thalweg import OnlineLDC
    >>> from thalweg.explain import importance
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(1200, 3))
    >>> y = np.where(2.0 * X[:, 1] - X[:, 2] > rng.normal(size=1200), "wet", "dry")
    >>> model = OnlineLDC(0.01).partial_fit(X[:1000], y[:1000])
    >>> result = importance(model, X[1000:], y[1000:])
    >>> list(result.ranking())
    ['x1', 'x2', 'x0']
    >>> np.sign(result.effect[1:]).tolist()
    [1.0, -1.0]
    """
    targets = np.asarray(y)
    if hasattr(model, "_labels_as_learned"):
        targets = model._labels_as_learned(y)
        label = None if label is None else model._labels_as_learned([label])[0]
    if hasattr(model, "_to_explain"):
        model, X, reference, groups = model._to_explain(X, X if reference is None else reference, groups)
        targets = targets.astype(np.str_) if is_classifier(model) and model.classes_.dtype.kind == "U" else targets
    sparse = hasattr(X, "tocsr")
    rows = X.tocsr() if sparse else np.atleast_2d(np.asarray(X, dtype=np.float64))
    others = rows if reference is None else reference if sparse else np.asarray(reference, dtype=np.float64)
    if len(targets) != rows.shape[0]:
        raise InvalidInput(f"y must have one value for each of the {rows.shape[0]} rows of X, got {len(targets)}")
    if others.ndim != 2 or others.shape[1] != rows.shape[1] or not others.shape[0]:
        raise InvalidInput(f"reference must have rows of the {rows.shape[1]} features of X, got shape {others.shape}")
    groups = groups_for(groups, model, rows.shape[1])
    if label is None and is_classifier(model):
        label = np.asarray(model.classes_).tolist()[-1]
    spread = 1.0 if is_classifier(model) else float(np.std(targets.astype(np.float64))) or 1.0
    replaced = replace_groups(model, rows, targets, others, groups, label, spread, np.random.default_rng(seed))
    return summary(groups.names, replaced)


def summary(names: Sequence[str], replaced: Replaced) -> Importance:
    """Means and standard errors over rows."""
    rows = len(replaced.increase)
    with np.errstate(invalid="ignore", divide="ignore"):
        errors = [values.std(axis=0) * np.sqrt(1.0 / (rows - 1.0)) if rows > 1 else np.full(len(names), np.nan)
                  for values in replaced]  # fmt: skip
    return Importance(
        tuple(names), replaced.increase.mean(axis=0), errors[0], replaced.effect.mean(axis=0), errors[1], rows
    )


def replace_groups(
    model: Any,
    X: Any,
    y: NDArray[Any],
    reference: Any,
    groups: Groups,
    label: Any,
    spread: float,
    rng: np.random.Generator,
) -> Replaced:
    """Replace each group of each row by that of a reference row, and compare losses and scores.

    ``spread`` is the standard deviation of the targets of a regressor.
    """
    count, ordered = len(groups), np.array(groups.ordered)
    drawn = rng.integers(reference.shape[0], size=(count, X.shape[0]))
    others = _columns(reference, np.maximum(ordered, 0))[drawn, np.arange(count)[:, np.newaxis]]
    size = max(1, _BLOCK // (count * max(groups.width, 1))) if isinstance(X, np.ndarray) else X.shape[0]
    mix, parts = _mixed if isinstance(X, np.ndarray) else _mixed_sparse, []
    for some in (slice(begin, begin + size) for begin in range(0, X.shape[0], size)):
        rows = len(y[some])
        mixed, changed = mix(X[some], reference, groups, drawn[:, some])
        own = np.broadcast_to(np.arange(rows), (count, rows))[changed]
        losses, scores = _judged(model, mixed, y[some][np.concatenate([np.arange(rows), own])], label, spread)
        increase, difference = np.zeros((count, rows)), np.zeros((count, rows))
        increase[changed] = losses[rows:] - losses[own]
        difference[changed] = scores[own] - scores[rows:]
        larger = np.sign(_columns(X[some], np.maximum(ordered, 0)).T - others[:, some])
        parts.append((increase.T, np.where(ordered[:, np.newaxis] < 0, np.nan, difference * larger).T))
    return Replaced(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def _judged(model: Any, X: Any, y: NDArray[Any], label: Any, spread: float) -> tuple[Floats, Floats]:
    """The loss of each row, and its score."""
    if not is_classifier(model):
        given = scores_of(model, X)[:, 0]
        return np.minimum(((given - y.astype(np.float64)) / spread) ** 2, MOST_SQUARED), given / spread
    of_label = int(places_among(model, [label])[0])
    if not hasattr(model, "predict_proba"):
        predicted = np.asarray(model.predict(X))
        return (predicted != y).astype(np.float64), (predicted == label).astype(np.float64)
    proba = scores_of(model, X)
    places = places_among(model, y)
    of_truth = np.where(places < 0, 0.0, proba[np.arange(len(y)), places])
    score = np.zeros(len(y)) if of_label < 0 else proba[:, of_label]
    return -np.log(np.maximum(of_truth, LEAST_PROBABILITY)), score


def _mixed(X: Floats, reference: Floats, groups: Groups, drawn: NDArray[np.int64]) -> tuple[Floats, NDArray[np.bool_]]:
    """The rows, then those with a group replaced; and of which groups and rows those are: where a value changes."""
    own = groups.numbers() == np.arange(len(groups))[:, np.newaxis]
    mixed = np.where(own[:, np.newaxis], reference[drawn], X)
    changed = (mixed != X).any(axis=2)
    return np.concatenate([X, mixed[changed]]), changed


def _mixed_sparse(X: Any, reference: Any, groups: Groups, drawn: NDArray[np.int64]) -> tuple[Any, NDArray[np.bool_]]:
    """The same of compressed rows, whose groups are ranges of features."""
    from scipy.sparse import hstack, vstack

    parts = [X]
    for group, features in enumerate(groups.features):
        begin, end = int(features[0]), int(features[-1]) + 1
        pieces = [X[:, :begin], reference[drawn[group]][:, begin:end], X[:, end:]]
        parts.append(hstack([piece for piece in pieces if piece.shape[1]], format="csr"))
    return vstack(parts, format="csr"), np.ones(drawn.shape, dtype=np.bool_)


def _columns(X: Any, features: NDArray[np.int64]) -> Floats:
    if isinstance(X, np.ndarray):
        return np.asarray(X[:, features])
    # By a list of columns SciPy would take memory for all of them.
    return np.concatenate([X[:, at : at + 1].toarray() for at in features.tolist()], axis=1)


def is_classifier(model: Any) -> bool:
    return hasattr(model, "classes_")


def scores_of(model: Any, X: Any) -> Floats:
    """A column for each class or target: probabilities where the model has them, decision scores or numbers elsewhere.

    Of two classes without probabilities the first one's score is the second's with the other sign.
    """
    if not is_classifier(model):
        scores = np.asarray(_asked(model.predict, X), dtype=np.float64)
        return scores.reshape(len(scores), -1)
    if hasattr(model, "predict_proba"):
        return np.asarray(_asked(model.predict_proba, X))
    scores = np.asarray(_asked(model.decision_function, X))
    return np.stack([-scores, scores], axis=1) if scores.ndim == 1 else scores


def _asked(predict: Callable[[Any], Any], X: Any) -> Any:
    """Predictions for arrays, by a model that may have learned a frame."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        return predict(X)


def is_additive(model: Any) -> bool:
    """Whether the scores are known to be sums over the features."""
    if is_classifier(model):
        return not hasattr(model, "predict_proba") and bool(getattr(model, "_scores_linearly", False))
    return bool(getattr(model, "_has_coefficients", False)) and not hasattr(model, "steps")


def places_among(model: Any, labels: Any) -> NDArray[np.int64]:
    """The place of each label among the classes of the model; -1 for one that it does not know."""
    known = {label: at for at, label in enumerate(np.asarray(model.classes_).tolist())}
    return np.array([known.get(label, -1) for label in np.asarray(labels).tolist()], dtype=np.int64)


def outputs_for(model: Any, X: Any, label: Any, rows: int) -> NDArray[np.int64]:
    """Which score of each row is explained: that of the given label or target, or of the prediction."""
    if not is_classifier(model):
        outputs = scores_of(model, X[:1]).shape[1]
        at = 0 if label is None and outputs == 1 else label
        if isinstance(at, bool) or not isinstance(at, int) or not 0 <= at < outputs:
            rule = "be left out for a model of one target" if outputs == 1 else f"be a target from 0 to {outputs - 1}"
            raise InvalidParameter.of("contributions", "label", rule, label)
        return np.full(rows, at, dtype=np.int64)
    if label is None:
        return places_among(model, _asked(model.predict, X))
    places = places_among(model, [label])
    if places[0] < 0:
        raise InvalidParameter.of("contributions", "label", "be one of the classes of the model", label)
    return np.full(rows, places[0], dtype=np.int64)
