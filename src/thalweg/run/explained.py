"""The contributions of columns to predictions, as `thalweg predict --explain` writes them."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from thalweg.errors import ModelFileError
from thalweg.explain.contributions import Contributions, contributions
from thalweg.explain.groups import Groups
from thalweg.table_model import TableModel
from thalweg.tables import Plan
from thalweg.tables.sparse_column import SparseColumn

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
    return found, [_top(found, row, plan) for row in range(X.shape[0])]


def require_background(model: TableModel) -> None:
    """Refuse a model that keeps no rows to compare with; sparse rows need none."""
    if model.background is None and not model.encoder.plan.sparse_columns:
        raise ModelFileError(
            "the model keeps no background rows, which --explain needs: `thalweg run` of this version writes them"
        )


def _top(found: Contributions, row: int, plan: Plan) -> dict[str, float]:
    if found.names is not None:
        values = dict(zip(found.names, found.values[row].tolist(), strict=True))
    else:
        begin, end = found.values.indptr[row : row + 2]
        values = {}
        for at, value in zip(found.values.indices[begin:end].tolist(), found.values.data[begin:end], strict=True):
            name = feature_name(plan, at)
            values[name] = values.get(name, 0.0) + float(value)
    ranked = sorted(values.items(), key=lambda item: -abs(item[1]))
    named = {name: value for name, value in ranked[:_MOST_NAMED] if value != 0.0}
    others = sum(value for _, value in ranked[_MOST_NAMED:])
    return named | ({_OTHERS: others} if others else {})


def feature_name(plan: Plan, at: int) -> str:
    """The column of a feature, with the word or name that it stands for where that is known."""
    if at < len(plan.feature_names):
        groups = Groups.of_plan(plan)
        return next(name for name, features in zip(groups.names, groups.features, strict=True) if at in features)
    start = len(plan.feature_names)
    for column in plan.sparse_columns:
        if at < start + column.width:
            words = column.words if isinstance(column, SparseColumn) else None
            word = None if words is None or at - start not in words else words[at - start]
            return f"{column.name}: {at - start if word is None else word}"
        start += column.width
    raise IndexError(at)


def _in_json(values: dict[str, float]) -> str:
    return json.dumps({name: float(f"{value:.{_DIGITS}g}") for name, value in values.items()}, ensure_ascii=False)
