"""A small standard set of features from earlier rows, chosen from the kinds of columns: `--features auto`."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from thalweg.history.language import TARGET, Call, Feature, Operation, OwnColumn, Window
from thalweg.tables.cells import names
from thalweg.tables.columns.number import DurationColumn, NumberColumn
from thalweg.tables.plan import Plan
from thalweg.tables.rows import Chunk

AUTO = "auto"
#: Categories that recur so often, of which there are so many, may say what their rows have in common.
_LEAST_ROWS_EACH, _MOST_NUMBERS, _MOST_KEYS = 5, 4, 3
#: Of other categories, such as machines, so many different ones among as many rows leave some that recur.
_MOST_DIFFERENT = 0.9
#: Rows after which a weight has halved: of all rows, and of those of one category.
_FADES, _FADES_BY_KEY = 100.0, 30.0


def automatic(
    head: Chunk, plan: Plan, *, target: str | None, classes: bool, label: str | None, delay: int = 0
) -> list[Feature]:
    """The features that such first rows suggest.

    Known targets come first: the newest one, their recent mean or share, and the same by each category that recurs; the
    newest one of a category of many, such as a machine; then the distance of numbers from their recent mean. There are
    at most some fifteen, whatever the table.
    """
    keys, rare = _keys(head, plan)
    made: list[Feature] = []

    def add(words: str, expression: Call | Operation) -> None:
        name = re.sub(r"\W+", "_", words).strip("_")
        taken = {*head.column_names, *(feature.name for feature in made)}
        while name in taken:
            name += "_"
        made.append(Feature(name, expression))

    if target is not None:
        function = "rate" if classes else "mean"
        what = f"share {label}" if classes else f"mean {target}"
        if not classes or label is not None:
            for rows in (_FADES, 10.0):
                add(f"{what} {rows:g} rows", Call(function, TARGET, window=Window(rows, "rows", fading=True)))
            for key in keys:
                window = Window(_FADES_BY_KEY, "rows", fading=True)
                add(f"{what} by {key}", Call(function, TARGET, by=(key,), window=window))
        add(f"last {target}", Call("lag", TARGET, steps=1))
        if not classes:
            for steps in _seasons(delay):
                add(f"{target} {steps} before", Call("lag", TARGET, steps=steps))
        for key in [*([] if classes else keys[:1]), *rare[:1]]:
            add(f"last {target} by {key}", Call("lag", TARGET, by=(key,), steps=1))
    for key in keys[:_MOST_KEYS]:
        add(f"since last {key}", Call("since_last", by=(key,)))
    numbers = [column.name for column in plan.columns if type(column) in (NumberColumn, DurationColumn)]
    for name in _that_wander(head, plan, numbers)[:_MOST_NUMBERS]:
        mean = Call("mean", name, window=Window(_FADES, "rows", fading=True))
        add(f"{name} less its mean", Operation("-", OwnColumn(name), mean))
    return made


def _keys(head: Chunk, plan: Plan) -> tuple[list[str], list[str]]:
    """Categories of which each stands in several of the first rows, those with most first; and others that recur."""
    often, rarely = [], []
    for column in plan.columns:
        if column.kind not in ("category", "wide category"):
            continue
        words = names(head.column(column.name))
        known = len(words) - words.null_count
        different = len(words.drop_null().unique())
        if 2 < different <= known / _LEAST_ROWS_EACH:
            often.append((-different, column.name))
        elif 2 < different <= known * _MOST_DIFFERENT:
            rarely.append((different, column.name))
    return [name for _, name in sorted(often)], [name for _, name in sorted(rarely)]


def _seasons(delay: int) -> list[int]:
    """How many known targets before the newest one the same hour of the day, or of the week, was, of hourly rows."""
    return [season * (delay // season + 1) - delay for season in (24, 168)]


def _that_wander(head: Chunk, plan: Plan, columns: Sequence[str]) -> list[str]:
    """Numbers whose rows follow one another: neighbours are nearer to each other than rows are apart."""
    wandering = []
    for column in plan.columns:
        if column.name not in columns:
            continue
        values = np.asarray(column.parse(head.column(column.name)), dtype=np.float64)
        values = values[~np.isnan(values)]
        spread = values.var() if len(values) > 20 else 0.0
        if spread > 0:
            wandering.append((float(np.square(np.diff(values)).mean() / (2 * spread)), column.name))
    return [name for ratio, name in sorted(wandering) if ratio < 0.5]
