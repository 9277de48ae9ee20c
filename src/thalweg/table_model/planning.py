"""What the first rows settle of a model of a table, by its parameters: what `thalweg run` settles by its options."""

from __future__ import annotations

import warnings
from typing import Any

from thalweg.errors import InvalidInput, InvalidParameter
from thalweg.history.history import History
from thalweg.history.planning import asked_features, with_features, with_history
from thalweg.learners.base.classifier import StreamClassifier
from thalweg.tables.clock import Clock
from thalweg.tables.plan import Plan, plan_columns, without_text
from thalweg.tables.rows import Chunk


def plan_for(model: Any, head: Chunk, target: str, learner: Any) -> tuple[Plan, History | None]:
    """What the columns are to a model with these parameters and this learner; and its features from earlier rows."""
    clocks = {}
    if model.time is not None:
        if model.time not in head.column_names:
            raise InvalidInput.of_column("X", model.time, head.column_names)
        clocks[model.time] = Clock.settle(model.time, head.column(model.time), model.na)
    asked: dict[str, Any] = {
        "target": target,
        "drop": model.drop,
        "categorical": model.categorical,
        "numeric": model.numeric,
        "decimal": model.decimal,
        "na": model.na,
        "detect_sentinels": not model.keep_sentinels,
        "text": model.text,
        "ngrams": tuple(model.ngrams),
        "hash_bits": model.hash_bits,
        "key": model.key,
        "forms": {name: clock.detected for name, clock in clocks.items() if clock.detected is not None},
    }
    history = None
    if len(model.features):
        features = None if isinstance(model.features, str) else asked_features(model.features)
        head, history = with_history(
            head,
            lambda rows, **other: plan_columns(rows, detect_text=False, **asked | other),
            features,
            target=target,
            classes=model._kind_of_learner is StreamClassifier,
            clocks=clocks,
            time=model.time,
        )
    plan = plan_columns(head, detect_text=True, **asked)
    if plan.sparse_columns and (model.key is not None or not getattr(learner, "_takes_sparse", False)):
        owner = f"{type(learner).__name__}{'' if model.key is None else ' with keys'}"
        if model.text:
            rule = f"be left out: {owner} takes no sparse rows"
            raise InvalidParameter.of(type(model).__name__, "text", rule, model.text)
        plan, left_out = without_text(plan, plan_columns(head, detect_text=False, **asked), owner)
        for name in left_out:
            warnings.warn(f"column {name!r} is {plan.left_out[name]}", stacklevel=2)
    return plan if history is None else with_features(plan, history), history
