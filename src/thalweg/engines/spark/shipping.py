"""A model on its way to the workers: broadcast once as the bytes of a model file, built once in each process."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sklearn.base import is_classifier, is_regressor

from thalweg.errors import InvalidParameter
from thalweg.store import dumps, loads

if TYPE_CHECKING:
    from pyspark import Broadcast
    from pyspark.sql import DataFrame


def broadcast(df: DataFrame, model: Any) -> Broadcast[bytes]:
    """The model's bytes, sent to each executor once."""
    return df.sparkSession.sparkContext.broadcast(dumps(model))


@lru_cache(maxsize=8)
def built(content: bytes) -> Any:
    """The model of these bytes, to answer by and not to learn with."""
    return loads(content)


def require_learner(model: Any, owner: str) -> None:
    """A classifier or a regressor that can be saved."""
    if not hasattr(model, "predict_then_learn") or not (is_classifier(model) or is_regressor(model)):
        raise InvalidParameter.of(owner, "model", "be a classifier or a regressor of thalweg", model)
