"""What the first rows of a table settle of its features from earlier rows: what they read, and what they become."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from thalweg.errors import InvalidInput
from thalweg.history.automatic import AUTO, automatic
from thalweg.history.history import History, settled
from thalweg.history.language import Feature, parse_features
from thalweg.tables.cells import names
from thalweg.tables.clock import Clock
from thalweg.tables.plan import Plan
from thalweg.tables.rows import Chunk


def asked_features(lines: Sequence[str], file: str | None = None) -> tuple[Feature, ...] | None:
    """The features of these lines and of a file of lines; None for `AUTO`, which the first rows choose."""
    if file == AUTO:
        return None
    written: list[str] = []
    if file is not None:
        try:
            written = Path(file).read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            what = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
            raise InvalidInput(f"the features in {file} cannot be read: {what}") from error
    return parse_features([*written, *lines])


def with_history(
    head: Chunk,
    plan_of: Callable[..., Plan],
    features: Sequence[Feature] | None,
    *,
    also: Sequence[Feature] = (),
    target: str | None,
    classes: bool,
    positive: str | None = None,
    clocks: Mapping[str, Clock],
    time: str | None = None,
    label_time: str | None = None,
    delay: int = 0,
) -> tuple[Chunk, History]:
    """The first rows with the columns of the features, and a history that has seen none of them.

    ``plan_of`` plans the columns of a chunk, and takes ``target`` and ``drop``; ``features`` are None where the first
    rows are to choose them, beside those that are asked for ``also``.
    """
    everything = plan_of(head, target=None, drop=())
    at = {name: (name, clocks[name]) for name in (time, label_time) if name is not None}
    label = _label_of_interest(head, target, positive) if classes else None
    chosen = features
    if chosen is None:
        chosen = [
            *also,
            *automatic(head, plan_of(head, target=target), target=target, classes=classes, label=label, delay=delay),
        ]
    history = settled(
        chosen,
        head,
        everything,
        target=target,
        classes=classes,
        label=label,
        time=None if time is None else at[time],
        label_time=None if label_time is None else at[label_time],
        delay=delay,
    )
    with history.passing():
        return history.extended(head, learn=True), history


def with_features(plan: Plan, history: History) -> Plan:
    """The plan of the first rows with their features, which says what these are made of."""
    return replace(plan, made={feature.name: str(feature.expression) for feature in history.features})


def _label_of_interest(head: Chunk, target: str | None, positive: str | None) -> str | None:
    """The label that is asked for, else the rarer of two; None where there are more."""
    if positive is not None or target is None:
        return positive
    counts: Any = Counter(word for word in names(head.column(target)).to_pylist() if word is not None)
    if len(counts) != 2:
        return None
    one, other = counts
    label: str = one if counts[one] < counts[other] else other
    return label
