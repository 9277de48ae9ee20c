"""Models in Spark's workers: broadcast once as the bytes of a model file, kept alive between batches, checked on
resume.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sklearn.base import is_classifier, is_regressor

from thalweg.errors import InvalidParameter
from thalweg.store import dumps, loads, plain_parameters

if TYPE_CHECKING:
    from pyspark import Broadcast
    from pyspark.sql import DataFrame

#: Models that a worker keeps alive, some ten kilobytes each.
_MOST = 4096
_alive: dict[bytes, Any] = {}


def model_to_learn(content: bytes) -> Any:
    """The model of these bytes, to learn with."""
    model = _alive.pop(content, None)
    if model is None:
        model = loads(content)
    return model


def model_bytes(model: Any) -> bytes:
    content = dumps(model)
    if len(_alive) >= _MOST:
        del _alive[next(iter(_alive))]  # the oldest
    _alive[content] = model
    return content


def broadcast(df: DataFrame, model: Any) -> Broadcast[bytes]:
    """The model's bytes, sent to each executor once."""
    return df.sparkSession.sparkContext.broadcast(dumps(model))


@lru_cache(maxsize=8)
def model_to_predict(content: bytes) -> Any:
    """The model of these bytes, to predict by and not to learn with."""
    return loads(content)


def require_learner(model: Any, owner: str) -> None:
    """A classifier or a regressor that can be saved."""
    if not hasattr(model, "predict_then_learn") or not (is_classifier(model) or is_regressor(model)):
        raise InvalidParameter.of(owner, "model", "be a classifier or a regressor of thalweg", model)


def require_same_model(given: Any, begun: Any, owner: str, where: str) -> None:
    """Refuse a model of another class or with other parameters than the one that is kept.

    Examples
    --------
    >>> from thalweg import OnlineLDC
    >>> require_same_model(OnlineLDC(0.5), OnlineLDC(0.1), "learn_global", "the folder")
    Traceback (most recent call last):
        ...
    thalweg.errors.InvalidParameter: learn_global: the folder holds an OnlineLDC started with rate = 0.1, not 0.5: ...
    """
    name = type(begun).__name__
    if type(given) is not type(begun):
        difference = f"{_a(name)} and not {_a(type(given).__name__)}"
    else:
        now, was = plain_parameters(given), plain_parameters(begun)
        other = next((setting for setting in was if json.dumps(was[setting]) != json.dumps(now[setting])), None)
        if other is None:
            return
        difference = f"{_a(name)} started with {other} = {was[other]!r}, not {now[other]!r}"
    raise InvalidParameter(f"{owner}: {where} holds {difference}: resume with the same model, or choose another folder")


def _a(name: str) -> str:
    return f"{'an' if name[0] in 'AEIOU' else 'a'} {name}"
