"""Why a model predicts what it does: contributions of columns to a prediction, relative to rows of recent requests.

Cost of a row: that of `thalweg.explain.contributions` with 32 background rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.client.protocol import MOST_EXPLAINED
from thalweg.explain.contributions import contributions_by_column
from thalweg.service.commands import Refused, require_active
from thalweg.service.journal.records import PredictBody, body_of
from thalweg.service.journal.sql import SqlJournal
from thalweg.service.learning.model_state import ModelState

#: Rows that a row is compared with.
_BACKGROUND = 32


def require_explainable(state: ModelState, rows: int) -> None:
    """`Refused` where there is nothing to explain, or too much."""
    if rows > MOST_EXPLAINED:
        raise Refused(413, f"a request may have at most {MOST_EXPLAINED} rows to be explained, got {rows}")
    model = state.models.get(state.name)
    require_active(state.name, model is None)
    if state.columns is None or model is None or not model.__sklearn_is_fitted__():
        raise Refused(409, f"{state.name!r} has learned no label yet: there is nothing to explain")


def explain(journal: SqlJournal, state: ModelState, X: Any) -> list[dict[str, Any]]:
    """Explain encoded rows: by each, the largest contributions by column, and what all others contribute together.

    With the base value, they add up to the score.
    """
    plan = state.columns
    assert plan is not None
    others = None if plan.sparse_columns else _recent_rows(journal, state.name, plan.width)
    result, by_column = contributions_by_column(state.models[state.name], X, others, plan)
    by_row = zip(by_column, result.base.tolist(), result.score.tolist(), strict=True)
    return [dict(zip(("contributions", "base", "score"), row, strict=True)) for row in by_row]


def _recent_rows(journal: SqlJournal, model: str, width: int) -> NDArray[np.float64]:
    """Rows that were predicted last, as far as they have these columns."""
    recent: list[NDArray[np.float64]] = []
    record = journal.last_of(model, kind="predict")
    while record is not None and sum(map(len, recent)) < _BACKGROUND:
        body = body_of(record, PredictBody)
        X = body.X
        if not isinstance(X, np.ndarray) or X.shape[1] != width:
            break
        recent.insert(0, np.delete(X, body.erased, axis=0))
        record = journal.last_of(model, through=record.seq - 1, kind="predict")
    if not recent:
        raise Refused(409, f"{model!r} has predicted no rows yet, which an explanation compares with: predict some")
    return np.concatenate(recent)[-_BACKGROUND:]
