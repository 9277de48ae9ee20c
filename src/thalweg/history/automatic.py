"""A small standard set of features from earlier rows, chosen from the kinds of columns: `--features auto`."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from thalweg.history.language import TARGET, Call, Feature, Operation, OwnColumn, Window
from thalweg.tables.cells import names, parsed
from thalweg.tables.clock import NEVER, Clock
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
#: Where so many steps between times are as long as the one in the middle, rows come at regular times.
_REGULAR = 0.9
#: Lengths of time, in seconds, that read well.
_SECONDS = {1: (1, 2, 5, 10, 30), 60: (1, 2, 5, 10, 30), 3600: (1, 3, 6, 12), 86_400: (1, 2, 7, 14, 30, 90, 365)}
_ROUND = [float(unit * count) for unit, counts in _SECONDS.items() for count in counts]


def automatic(
    head: Chunk,
    plan: Plan,
    *,
    target: str | None,
    classes: bool,
    label: str | None,
    time: tuple[str, Clock] | None = None,
    delay: int = 0,
) -> list[Feature]:
    """The features that such first rows suggest.

    Known targets come first: the newest one, their recent mean or share, and the same by each category that recurs; the
    newest one of a category of many, such as a machine; then the distance of numbers from their recent mean. Where rows
    come now and then, recent is a length of time, and how many came in it is a feature too. There are at most some
    fifteen, whatever the table.
    """
    keys, rare = _keys(head, plan)
    pace = _pace(head, time)
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
            of_all, of_key = (
                [Window(rows, "rows", True) for rows in (_FADES, 10.0)],
                Window(_FADES_BY_KEY, "rows", True),
            )
            for window in of_all if pace is None else [pace]:
                add(f"{what} {window}", Call(function, TARGET, window=window))
            for key in keys:
                add(f"{what} by {key}", Call(function, TARGET, by=(key,), window=pace or of_key))
        add(f"last {target}", Call("lag", TARGET, steps=1))
        if not classes:
            for steps in _seasons(delay):
                add(f"{target} {steps} before", Call("lag", TARGET, steps=steps))
        for key in [*([] if classes else keys[:1]), *rare[:1]]:
            add(f"last {target} by {key}", Call("lag", TARGET, by=(key,), steps=1))
    for key in [*keys[:_MOST_KEYS], *rare[:1]]:
        add(f"since last {key}", Call("since_last", by=(key,)))
    if pace is not None:
        for by in ((), *((key,) for key in [*keys[:1], *rare[:1]])):
            add(" ".join(("rows", *by, str(pace))), Call("count", by=by, window=pace))
    numbers = [column.name for column in plan.columns if type(column) in (NumberColumn, DurationColumn)]
    for name in _that_wander(head, plan, numbers)[:_MOST_NUMBERS]:
        mean = Call("mean", name, window=Window(_FADES, "rows", fading=True))
        add(f"{name} less its mean", Operation("-", OwnColumn(name), mean))
    return made


def _pace(head: Chunk, time: tuple[str, Clock] | None) -> Window | None:
    """Weights that halve in the time in which about a hundred rows come; None where rows come at regular times."""
    if time is None:
        return None
    name, clock = time
    times = np.unique(parsed(clock, head.column(name))[0])
    gaps = np.diff(times[times != NEVER])
    if len(gaps) < 20 or (gaps == np.median(gaps)).mean() > _REGULAR:
        return None
    length = gaps.sum() / clock.per_unit * _FADES / len(head)
    if clock.counts:
        return Window(float(f"{length:.1g}"), "numbers", fading=True)
    return Window(min(_ROUND, key=lambda seconds: abs(np.log(seconds / length))), "seconds", fading=True)


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
