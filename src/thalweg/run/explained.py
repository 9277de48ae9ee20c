"""The contributions of columns to predictions, as `thalweg predict --explain` writes them."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from thalweg.errors import ModelFileError
from thalweg.explain.contributions import Contributions, contributions
from thalweg.explain.groups import Groups
from thalweg.table_model import TableModel
from thalweg.tables import Plan

#: Columns of which all sets are enumerated, and those that are named.
_ENUMERATED, _MOST_NAMED = 4, 10
#: What all columns that are not named contribute together.
_OTHERS = "other columns"
_DIGITS = 6


class Explained(NamedTuple):
    """For each row, the base value and a JSON object of contributions by column, the largest first."""

    base: list[float]
    contributions: list[str]


def explained_rows(model: TableModel, X: Any) -> Explained:
    """Explain encoded rows; base value and contributions of a row add up to its score, but for rounding."""
    require_background(model)
    found, by_column = contributions_by_column(model.learner, X, model.background, model.encoder.plan)
    words = [_in_json(each) for each in by_column]
    return Explained([float(f"{each:.{_DIGITS}g}") for each in found.base.tolist()], words)


def contributions_by_column(
    learner: Any, X: Any, background: Any, plan: Plan
) -> tuple[Contributions, list[dict[str, float]]]:
    """Explain encoded rows: beside all that is known, for each row the largest contributions by column."""
    groups = Groups.of_plan(plan)
    paths = None if len(groups) <= _ENUMERATED else 2
    found = contributions(learner, X, background, groups=groups, paths=paths)
    return found, [_top(found, row) for row in range(X.shape[0])]


def require_background(model: TableModel) -> None:
    """Refuse a model that keeps no rows to compare with; sparse rows need none."""
    if model.background is None and not model.encoder.plan.sparse_columns:
        raise ModelFileError(
            "the model keeps no background rows, which --explain needs: `thalweg run` of this version writes them"
        )


def _top(found: Contributions, row: int) -> dict[str, float]:
    ranked = found.ranked(row)
    others = sum(list(ranked.values())[_MOST_NAMED:])
    return found.top(row, _MOST_NAMED) | ({_OTHERS: others} if others else {})


def _in_json(values: dict[str, float]) -> str:
    return json.dumps({name: float(f"{value:.{_DIGITS}g}") for name, value in values.items()}, ensure_ascii=False)
