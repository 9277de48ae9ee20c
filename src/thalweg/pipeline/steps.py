"""The steps of a pipeline and their names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from thalweg.errors import InvalidParameter


def named(steps: Any) -> list[tuple[str, Any]]:
    """The steps with their names, or an error that says what is wrong with them."""
    if isinstance(steps, str) or not isinstance(steps, Sequence) or len(steps) == 0:
        raise InvalidParameter.of("StreamPipeline", "steps", "be a sequence of at least one step", steps)
    pairs: list[tuple[str, Any]] = []
    taken: Counter[str] = Counter()
    for step in steps:
        if isinstance(step, list | tuple) and len(step) == 2 and isinstance(step[0], str):
            pairs.append((step[0], step[1]))
            continue
        name = type(step).__name__.lower()
        taken[name] += 1
        pairs.append((name if taken[name] == 1 else f"{name}-{taken[name]}", step))
    names = [name for name, _ in pairs]
    for name, step in pairs:
        if name == "steps" or "__" in name or names.count(name) > 1:
            rule = 'have different names, none of them "steps" or with "__" in it'
            raise InvalidParameter.of("StreamPipeline", "steps", rule, names)
        if isinstance(step, type) or not (hasattr(step, "get_params") and hasattr(step, "partial_fit")):
            raise InvalidParameter.of("StreamPipeline", "steps", "have estimators with partial_fit", step)
    return pairs
