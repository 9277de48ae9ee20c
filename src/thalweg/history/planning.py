"""What the first rows of a table settle of its features from earlier rows: what they read, and what they become."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from thalweg.errors import InvalidInput
from thalweg.history.automatic import AUTO, automatic
from thalweg.history.history import History
from thalweg.history.language import OF_WORDS, TARGET, Call, Feature, parse_features
from thalweg.tables.cells import names, parsed
from thalweg.tables.clock import Clock
from thalweg.tables.columns.number import NumberColumn
from thalweg.tables.encoder import Encoder
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
            *automatic(
                head,
                plan_of(head, target=target),
                target=target,
                classes=classes,
                label=label,
                time=None if time is None else at[time],
                delay=delay,
            ),
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


def encoder_from(kept: Mapping[str, Any], arrays: Mapping[str, Any] | None = None) -> Encoder:
    """Back from `Encoder.to_json` and the arrays of its history; without these it has seen no row."""
    encoder = Encoder.from_json(kept)
    if "history" in kept:
        encoder.history = History.from_json(kept["history"], arrays)
    return encoder


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


def settled(
    features: Sequence[Feature],
    head: Chunk | None,
    columns: Plan,
    *,
    target: str | None,
    classes: bool,
    label: str | None = None,
    time: tuple[str, Clock] | None = None,
    label_time: tuple[str, Clock] | None = None,
    delay: int = 0,
) -> History:
    """The history of a table with such first rows; an `InvalidInput` says what a feature cannot be made of.

    Without first rows, a column that is not among ``columns`` holds what the functions that read it need.
    ``columns`` are those of all columns of the table, the target among them; ``classes`` says whether it is a label,
    and ``label`` which of two is of interest.
    """
    known = {column.name: column for column in columns.columns}
    numbers: dict[str, NumberColumn] = {}
    present = columns.names if head is None else head.column_names
    for feature in features:
        where = f"feature {feature.name!r}"
        if feature.name in present:
            raise InvalidInput(f"{where} has the name of a column: choose another one")
        reads = [*feature.columns, *feature.keys]
        if target is not None and (target in reads or TARGET in reads):
            raise InvalidInput(
                f"{where} reads the target of its own row, which is not known when the row is predicted: "
                "write lag(target, 1) or mean(target), of earlier rows"
            )
        for name in feature.columns:
            numbers[name] = _numbers(name, known, head, where, "arithmetic")
        for call in feature.calls:
            there = None if head is None else present
            _check_call(call, where, target=target, classes=classes, label=label, time=time, present=there)
            read = target if call.column == TARGET else call.column
            if read is None or call.function in ("rate", "distinct"):
                continue
            if call.function in (*OF_WORDS, "count"):
                column = known.get(read)
                if isinstance(column, NumberColumn) and not (classes and read == target):
                    numbers[read] = column
            else:
                numbers[read] = _numbers(read, known, head, where, call.function)
    return History(features, numbers, target=target, label=label, time=time, label_time=label_time, delay=delay)


def _check_call(
    call: Call,
    where: str,
    *,
    target: str | None,
    classes: bool,
    label: str | None,
    time: tuple[str, Clock] | None,
    present: Sequence[str] | None,
) -> None:
    """Refuse a call that the table has nothing for."""
    for name in (call.column, *call.by):
        if name not in (None, TARGET) and present is not None and name not in present:
            raise InvalidInput.of_column(where, str(name), list(present))
    if call.column == TARGET and target is None:
        raise InvalidInput(f"{where} reads the target, and there is none here")
    if call.function == "rate":
        if not classes:
            raise InvalidInput(f"{where}: rate is of labels, and the target is a number: write mean(target)")
        if call.label is None and label is None:
            raise InvalidInput(
                f"{where}: say of which label, as in rate(target = LABEL), since there are more than two"
            )
    unit = "seconds" if call.span is not None else None if call.window is None else call.window.unit
    if unit in ("seconds", "numbers") and time is None:
        raise InvalidInput(
            f"{where} has a window of time: name the column of times, or count rows, as in over 100 rows"
        )
    if unit == "seconds" and time is not None and time[1].counts:
        raise InvalidInput(f"{where}: the times in {time[0]!r} are plain numbers: give lengths in them, as in over 500")
    if unit == "numbers" and time is not None and not time[1].counts:
        raise InvalidInput(f"{where}: say the unit of the window, as in over 2h, or over 100 rows")


def _numbers(name: str, known: Mapping[str, Any], head: Chunk | None, where: str, use: str) -> NumberColumn:
    """The column as one of numbers; true and false are 1 and 0."""
    column = known.get(name)
    if isinstance(column, NumberColumn):
        return column
    if head is not None and name not in head.column_names:
        raise InvalidInput.of_column(where, name, head.column_names)
    bits = NumberColumn(name, indicator=False, booleans=True)
    if head is None:
        is_number = column is None
    else:
        values, wrong = parsed(bits, head.column(name))
        is_number = not wrong and not np.isnan(values).all()
    if not is_number:
        kind = "nothing" if column is None else f"a {column.kind}"
        raise InvalidInput(
            f"{where}: {use} needs numbers, and column {name!r} holds {kind}; count, last and distinct take any column"
        )
    return bits
