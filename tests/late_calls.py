"""Numbers whose targets come late, by a call of `follow` for the rows that are asked, and one for each target."""

from __future__ import annotations

from typing import Any

import numpy as np

from thalweg.learners.base.kept_predictions import KeptPredictions
from thalweg.learners.base.rows import width_for_core


def ask(model: Any, X: Any, coverage: float | None = None, outputs: int | None = None) -> KeptPredictions:
    """What is to be kept of the predictions for these rows; several ``outputs`` have a column each."""
    rows = getattr(X, "values", X).shape[0]
    kept, targets = KeptPredictions.none(rows), np.zeros(rows if outputs is None else (rows, outputs))
    model.follow(X, targets, np.arange(rows), coverage=coverage, kept=kept)
    return kept


def tell(model: Any, X: Any, y: Any, kept: KeptPredictions | None, delay: int, coverage: float | None = None) -> None:
    """Learn rows that were predicted so many rows before; without ``kept`` nothing was predicted for them then."""
    core = model._core if model.__sklearn_is_fitted__() else model._make_core(width_for_core(getattr(X, "values", X)))
    outputs = 1 if y.ndim == 1 else y.shape[1]
    is_known, kept = kept is not None, kept or KeptPredictions.none(len(y))
    of_rows = kept.of_numbers(outputs, core.n_opinions)
    for name in () if is_known else ("prediction", "lower", "upper", "members"):
        of_rows[name] = np.nan
    of_rows["number"] = 1
    model.follow(X, y, ~np.arange(len(y)), coverage=coverage, kept=kept, predicted=1 + delay)
