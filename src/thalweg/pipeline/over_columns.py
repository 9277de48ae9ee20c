"""A learner as it learns the columns of a table: for each key, and behind categories of which there are very many."""

from __future__ import annotations

from typing import Any

from thalweg.errors import InvalidParameter
from thalweg.fleet.keyed_classifier import KeyedClassifier
from thalweg.learners.base.regressor import StreamRegressor
from thalweg.pipeline.target_encoding import TargetEncodedClassifier, behind_rates
from thalweg.pipeline.target_means import TargetEncodedRegressor
from thalweg.tables.plan import Plan


def over_columns(learner: Any, plan: Plan, *, key_bytes: int | None = None) -> Any:
    """A learner that has learned nothing, for rows of these columns; ``key_bytes`` is the memory for keys.

    Examples
    --------
    >>> from thalweg import OnlineLDC
    >>> from thalweg.tables.columns.key import KeyColumn
    >>> from thalweg.tables.columns.wide_category import HashedColumn
    >>> from thalweg.tables.columns.number import NumberColumn
    >>> columns = NumberColumn("load", indicator=False), KeyColumn("pump"), HashedColumn("part", rates=1)
    >>> model = over_columns(OnlineLDC(), Plan(columns, {}, ("load", "pump", "part")))
    >>> model.key, model.learner.columns, learner_of(model)
    (1, [(1, 1)], OnlineLDC())
    """
    key, wide = plan.key_place, plan.wide_categories
    if plan.key is None or key is None:
        return behind_rates(learner, wide)
    require_keys_taken(learner, plan.key.name)
    without_key = [(at - (at > key), rates) for at, rates in wide]
    return KeyedClassifier(behind_rates(learner, without_key), key, max_bytes=key_bytes)


def require_keys_taken(learner: Any, column: str) -> None:
    """An `InvalidParameter` where this learner cannot be that of all keys; ``column`` holds the keys."""
    if isinstance(learner, StreamRegressor):
        raise InvalidParameter.of_option("key", "be left out: models that predict numbers have no keys", column)
    if hasattr(learner, "predict_set") or learner._make_core(2).decides:
        rule = f"be left out: {type(learner).__name__}, which decides by costs, a threshold or sets, has no keys"
        raise InvalidParameter.of_option("key", rule, column)


def split_columns(model: Any, plan: Plan) -> None:
    """Let the default learn numbers and categories beside text as it learns them without."""
    while hasattr(model, "learner"):
        model = model.learner
    if plan.dense_beside_sparse and hasattr(model, "dense_features"):
        model.set_params(dense_features=plan.dense_beside_sparse)


def learner_of(model: Any) -> Any:
    """The learner inside a model over columns, or the model itself where there is none."""
    while isinstance(model, KeyedClassifier | TargetEncodedClassifier | TargetEncodedRegressor):
        model = model.learner
    return model
