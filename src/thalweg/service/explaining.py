"""Why a model predicts what it does: contributions of columns to a prediction, relative to rows of recent requests.

Cost of a row: that of `thalweg.explain.contributions` with 32 background rows.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class Explanation:
    """Of one row: with the base value, the contributions add up to the score."""

    base: float
    score: float
    #: The largest by column, and what all others contribute together.
    contributions: dict[str, float]


def require_explainable(state: ModelState, rows: int) -> None:
    """`Refused` where there is nothing to explain, or too much."""
    if rows > MOST_EXPLAINED:
        raise Refused(413, f"a request may have at most {MOST_EXPLAINED} rows to be explained, got {rows}")
    model = state.models.get(state.name)
    require_active(state.name, model is None)
    if state.columns is None or model is None or not model.__sklearn_is_fitted__():
        raise Refused(409, f"{state.name!r} has learned no label yet: there is nothing to explain")


def explain(reader: Callable[[], SqlJournal], state: ModelState, X: Any) -> list[Explanation]:
    """Explain encoded rows; ``reader`` opens a connection to the journal for this thread."""
    plan = state.columns
    assert plan is not None
    others = None if plan.sparse_columns else _recent_rows(reader, state.name, plan.width)
    found, by_column = contributions_by_column(state.models[state.name], X, others, plan)
    return [Explanation(*each) for each in zip(found.base.tolist(), found.score.tolist(), by_column, strict=True)]


def _recent_rows(reader: Callable[[], SqlJournal], model: str, width: int) -> NDArray[np.float64]:
    """Rows that were predicted last, as far as they have these columns."""
    found: list[NDArray[np.float64]] = []
    with closing(reader()) as journal:
        record = journal.last_of(model, kind="predict")
        while record is not None and sum(map(len, found)) < _BACKGROUND:
            body = body_of(record, PredictBody)
            X = body.X
            if not isinstance(X, np.ndarray) or X.shape[1] != width:
                break
            found.insert(0, np.delete(X, body.erased, axis=0))
            record = journal.last_of(model, through=record.seq - 1, kind="predict")
    if not found:
        raise Refused(409, f"{model!r} has predicted no rows yet, which an explanation compares with: predict some")
    return np.concatenate(found)[-_BACKGROUND:]
