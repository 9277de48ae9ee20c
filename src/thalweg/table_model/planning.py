"""What the first rows settle of a model of a table, by its parameters: what `thalweg run` settles by its options."""

from __future__ import annotations

from typing import Any

from thalweg.errors import InvalidInput, InvalidParameter
from thalweg.tables.clock import Clock
from thalweg.tables.plan import Plan, plan_columns, without_text
from thalweg.tables.rows import Chunk


def plan_for(model: Any, head: Chunk, target: str, learner: Any) -> Plan:
    """What the columns are to a model with these parameters, whose learner may take no columns of text."""
    forms = {}
    if model.time is not None:
        if model.time not in head.column_names:
            raise InvalidInput.of_column("X", model.time, head.column_names)
        found = Clock.settle(model.time, head.column(model.time), model.na).found
        forms = {} if found is None else {model.time: found}
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
        "forms": forms,
    }
    plan = plan_columns(head, detect_text=True, **asked)
    if not plan.sparse_columns or (model.key is None and getattr(learner, "_takes_sparse", False)):
        return plan
    owner = f"{type(learner).__name__}{'' if model.key is None else ' with keys'}"
    if model.text:
        rule = f"be left out: {owner} takes no sparse rows"
        raise InvalidParameter.of(type(model).__name__, "text", rule, model.text)
    return without_text(plan, plan_columns(head, detect_text=False, **asked), owner)[0]
