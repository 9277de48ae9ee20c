"""The numbers of a model that are explained: probabilities, else decision scores, or the predicted number."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.errors import InvalidParameter

Floats = NDArray[np.float64]


def is_classifier(model: Any) -> bool:
    return hasattr(model, "classes_")


def scores_of(model: Any, X: Any) -> Floats:
    """A column for each class or target: probabilities where the model has them, decision scores or numbers elsewhere.

    Of two classes without probabilities the first one's score is the second's with the other sign.
    """
    if not is_classifier(model):
        found = np.asarray(_asked(model.predict, X), dtype=np.float64)
        return found.reshape(len(found), -1)
    if hasattr(model, "predict_proba"):
        return np.asarray(_asked(model.predict_proba, X))
    found = np.asarray(_asked(model.decision_function, X))
    return np.stack([-found, found], axis=1) if found.ndim == 1 else found


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
    found = places_among(model, [label])
    if found[0] < 0:
        raise InvalidParameter.of("contributions", "label", "be one of the classes of the model", label)
    return np.full(rows, found[0], dtype=np.int64)
