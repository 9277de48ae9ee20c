"""What a user should know of the first rows of a table, in sentences: they warn and change nothing."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from thalweg.option_names import option
from thalweg.tables.cells import brief, is_text, parsed, trimmed, without
from thalweg.tables.columns.category import NAMES_ROWS, NamesColumn
from thalweg.tables.columns.column import Floats
from thalweg.tables.columns.head import code_among
from thalweg.tables.columns.number import NumberColumn
from thalweg.tables.number_forms import Decimal, number_form, unit_of
from thalweg.tables.plan import decimal_of_table
from thalweg.tables.rows import as_text
from thalweg.tables.timestamps import form_of, times_in

if TYPE_CHECKING:
    from thalweg.tables.plan import Plan
    from thalweg.tables.rows import Chunk

#: Columns that are named one by one.
_MOST_NAMED = 5
#: A column gives the label away if it alone errs on at most this share of the rows, and so many times less often than
#: the most frequent label and than the label before, which err on so many rows at least.
_MOST_ERRORS, _TIMES_BETTER, _LEAST_ERRORS = 0.005, 20, 10
#: Fewer rows, or fewer rows with the same value, say nothing.
_LEAST_ROWS, _LEAST_ALIKE = 100, 5
#: So many different numbers or times with words among them may have been meant as such.
_MANY_NUMBERS = 20
#: Different words that may each stand for a missing value.
_FEW_WORDS = 3
#: Identifiers grow by no more than this, on average.
_MEAN_STEP = 10.0
_NAME_OF_A_TIME = re.compile(r"(?i)time|date|when|epoch|year|month|week|day|hour|minute|second|^ts?$")
#: Seconds, milliseconds, microseconds or nanoseconds since 1970, from 2001 to 2096; and days as 20240131.
_EPOCHS = tuple((1e9 * unit, 4e9 * unit) for unit in (1.0, 1e3, 1e6, 1e9))
_DAYS = (19000101.0, 21001231.0)


def oddities(
    head: Chunk,
    plan: Plan,
    targets: NDArray[Any],
    *,
    na: Collection[str],
    time: str | None,
    categorical: Collection[str] = (),
    decimal: Decimal | None = None,
) -> list[str]:
    """Sentinels, categories that are nearly all numbers or codes, columns that give the target away, and row numbers.

    ``targets`` are the labels of the rows by number, -1 for none, or else their numbers as floats, NaN for none.
    ``time`` names the column with the time of a row, which may count the rows. ``na`` and ``categorical`` were given by
    the user, and so may ``decimal`` be.
    """
    sentinels, words, leaks, counters, unclear = [], [], [], [], []
    codes = [
        said
        for name in plan.names
        if name not in (*categorical, *head.nominal) and (said := _codes_in_words(head, plan, name))
    ]
    for column in plan.columns:
        if not isinstance(column, NumberColumn | NamesColumn):
            continue
        values, _ = parsed(column, head.column(column.name))
        drop = f"{option('drop', column.name)} leaves it out"
        if isinstance(column, NumberColumn):
            if guessed := [value for value in column.na if value not in na]:
                sentinels.append(_sentinels_in_words(head, column, guessed))
            if decimal is None and (either := _with_either_separator(head, column)):
                unclear.append(either)
            holds_times = column.kind == "duration" or column.name == time or _NAME_OF_A_TIME.search(column.name)
            if not holds_times and (how := _counts_rows(values)):
                what = f"column {column.name!r} looks like a row number ({how})"
                counters.append(f"{what}, which says nothing about the label of a later row: {drop}")
        elif column.name not in (*categorical, *head.nominal) and (few := _words_among_numbers(head, column)):
            words.append(few)
        if targets.dtype.kind == "f":
            if isinstance(column, NumberColumn) and (near := _near_alone(values, targets)):
                leaks.append(f"{near.format(repr(column.name))}: if it is known only once the target is, {drop}")
        elif right := _right_alone(values, targets):
            leaks.append(
                f"column {column.name!r} alone gives the right label in {right}: if it is known only once the label "
                f"is, {drop}"
            )
    return [
        *_briefly(sentinels, "values that count as missing"),
        *_briefly(words, "words among numbers"),
        *_briefly(codes, "codes of digits"),
        *(
            _briefly(unclear, "commas or points that may part thousands")
            if unclear and decimal_of_table(head) is None
            else []
        ),
        *_briefly(leaks, "a value that gives the target away"),
        *_briefly(counters, "values that look like row numbers"),
    ]


def _briefly(sentences: list[str], what: str) -> list[str]:
    further = len(sentences) - _MOST_NAMED
    more = [f"there are {further:,} more columns with {what}"] if further > 0 else []
    return sentences[:_MOST_NAMED] + more


def _sentinels_in_words(head: Chunk, column: NumberColumn, sentinels: list[str]) -> str:
    as_they_are = NumberColumn(column.name, indicator=False, decimal=column.decimal, unit=column.unit)
    values, _ = parsed(as_they_are, head.column(column.name))
    counts = [int((values == float(value.replace(",", "."))).sum()) for value in sentinels]
    counted = " and ".join(f"{value} ({count:,} times)" for value, count in zip(sentinels, counts, strict=True))
    others = column.without_na(values)
    one = len(sentinels) == 1
    return (
        f"column {column.name!r} has {counted} in the first {len(values):,} rows, far from its other values "
        f"({np.nanmin(others):g} to {np.nanmax(others):g}): {'it counts' if one else 'they count'} as missing; "
        f"{option('keep_sentinels', True)} keeps {'it as a number' if one else 'them as numbers'}"
    )


def _with_either_separator(head: Chunk, column: NumberColumn) -> str | None:
    """How numbers were read that would be others with the other decimal separator."""
    cells = head.column(column.name)
    form = number_form(trimmed(cells).drop_null().unique().to_pylist()) if is_text(cells) else None
    if form is None or form.unclear is None:
        return None
    values, _ = parsed(column, head.column(column.name))
    first = next((at for at, cell in enumerate(cells.to_pylist()) if cell and cell.strip() == form.unclear), None)
    if first is None or (form.unit == column.unit == "" and "," not in form.unclear):
        return None
    other: Decimal = "." if column.decimal == "," else ","
    return (
        f"column {column.name!r} could have a decimal comma or commas between thousands: {form.unclear} is read as "
        f"{values[first]:g}; {option('decimal', other)} reads it otherwise"
    )


def _codes_in_words(head: Chunk, plan: Plan, name: str) -> str | None:
    """Why digits with zeros before them are no numbers; None for columns that are something else."""
    is_category = any(column.name == name and isinstance(column, NamesColumn) for column in plan.columns)
    is_left_out = plan.left_out.get(name, "").startswith(NAMES_ROWS)
    code = code_among(head.column(name)) if is_category or is_left_out else None
    if code is None:
        return None
    done = "read as categories" if is_category else "left out as a name of the row"
    which = f"its whole numbers all have {len(code)} digits, some with zeros before them, such as {code}"
    return f"column {name!r} is {done}, because {which}: {option('numeric', name)} reads it as numbers"


def _words_among_numbers(head: Chunk, column: NamesColumn) -> str | None:
    """What keeps a column from being one of numbers, or of times, where most of its first values are."""
    cells = trimmed(without(as_text(head.column(column.name)), column.na)).drop_null()
    known = cells.to_pylist()
    if len(set(known)) < _MANY_NUMBERS:
        return None
    words = [cell for cell in known if unit_of(cell) is None]
    what = "number"
    if len(words) > len(known) / 2 and (form := form_of(cells)) is not None:
        words, what = cells.filter(times_in(cells, form.form)[1]).to_pylist(), "time"
    if not 0 < len(words) <= len(known) / 2 or code_among(cells):
        return None
    which = f"one of its first {len(known):,} values, {brief(words[0])!r}, is no {what}"
    if len(words) > 1:
        which = f"{len(words):,} of its first {len(known):,} values are no {what}s, such as {brief(words[0])!r}"
    said = f"column {column.name!r} is read as categories, because {which}"
    return f"{said}: {option('na', words[0])} counts it as missing" if len(set(words)) <= _FEW_WORDS else said


def _right_alone(values: Any, labels: NDArray[np.int32]) -> str | None:
    """In how many of the first rows a column alone gives the label, where that is suspiciously many.

    Examples
    --------
    >>> labels = np.random.default_rng(0).integers(0, 2, 400, dtype=np.int32)
    >>> _right_alone(labels * 0.5, labels)
    '400 of the first 400 rows, the most frequent label in 221'
    >>> _right_alone(np.arange(400.0), labels) is None
    True
    """
    known = labels >= 0
    labels = labels[known]
    rows = len(labels)
    if rows < _LEAST_ROWS:
        return None
    counts = np.bincount(labels)
    least = min(rows - int(counts.max()), int((labels[1:] != labels[:-1]).sum()))
    if least < _LEAST_ERRORS:
        return None
    if isinstance(values, tuple):
        errors = _errors_by_value(values[0][known], labels)
    else:
        order = np.argsort(values[known], kind="stable")
        values, labels = values[known][order], labels[order]
        differ = (values[1:] != values[:-1]) & ~np.isnan(values[:-1])  # missing values are one
        errors = rows
        if differ.sum() <= rows / _LEAST_ALIKE:
            errors = _errors_by_value(np.append(0, np.cumsum(differ)), labels)
        if len(counts) == 2:
            errors = min(errors, _errors_by_threshold(values, labels))
    if errors > min(_MOST_ERRORS * rows, least / _TIMES_BETTER):
        return None
    return f"{rows - errors:,} of the first {rows:,} rows, the most frequent label in {counts.max():,}"


def _near_alone(values: Floats, targets: Floats) -> str | None:
    """How near a line through a column alone comes to the target, where that is suspiciously near.

    Examples
    --------
    >>> y = np.random.default_rng(0).normal(size=400)
    >>> _near_alone(2.0 * y + 1.0, y)
    'column {} alone gives the target to 0.00 % of its spread in the first 400 rows'
    >>> _near_alone(np.arange(400.0), y) is None
    True
    """
    known = ~np.isnan(values) & ~np.isnan(targets)
    x, y = values[known] - values[known].mean(), targets[known] - targets[known].mean()
    rows, spread = len(y), float(np.sqrt(np.mean(y * y))) if len(y) else 0.0
    if rows < _LEAST_ROWS or spread == 0.0 or not (square := float(x @ x)) > 0.0:
        return None
    left = float(np.sqrt(np.mean((y - x * (float(x @ y) / square)) ** 2)))
    if left > min(_MOST_ERRORS * spread, float(np.sqrt(np.mean(np.diff(y) ** 2))) / _TIMES_BETTER):
        return None
    return f"column {{}} alone gives the target to {100 * left / spread:.2f} % of its spread in the first {rows:,} rows"


def _errors_by_value(places: NDArray[Any], labels: NDArray[np.int32]) -> int:
    """Mistakes of the most frequent label of each value; all rows with a rare value count, as it proves nothing."""
    width = int(labels.max()) + 1
    pairs, counts = np.unique((places.astype(np.int64) + 1) * width + labels, return_counts=True)
    most = np.zeros(int(pairs[-1]) // width + 1, dtype=np.int64)
    np.maximum.at(most, pairs // width, counts)
    return len(labels) - int(most[most >= _LEAST_ALIKE].sum())


def _errors_by_threshold(values: Floats, labels: NDArray[np.int32]) -> int:
    """Mistakes of the best threshold between two labels, by sorted values; missing ones have a label of their own."""
    missing = np.isnan(values)
    ones = int(labels[missing].sum())
    lost = min(ones, int(missing.sum()) - ones)
    values, labels = values[~missing], labels[~missing]
    if not len(values):
        return lost
    ends = np.append(values[1:] > values[:-1], True)
    ones_left = np.cumsum(labels)[ends]
    rows_left = np.flatnonzero(ends) + 1
    # ones on the left and zeros on the right are mistakes, or all others
    mistakes = ones_left + (len(labels) - rows_left) - (int(labels.sum()) - ones_left)
    return lost + int(np.minimum(mistakes, len(labels) - mistakes).min())


def _counts_rows(values: Floats) -> str | None:
    """How a column numbers the rows; None for one that does not, or that holds times.

    Examples
    --------
    >>> _counts_rows(np.arange(100.0)), _counts_rows(np.arange(1.7e9, 1.7e9 + 100))
    ('it grows by one with every row', None)
    """
    if len(values) < _LEAST_ROWS or (values != np.floor(values)).any():
        return None
    low, high = float(values.min()), float(values.max())
    if any(start <= low and high <= end for start, end in (*_EPOCHS, _DAYS)):
        return None
    steps = np.diff(values)
    if (steps == 1).all():
        return "it grows by one with every row"
    if (steps > 0).all() and steps.mean() <= _MEAN_STEP:
        return "whole numbers that grow with every row"
    if high - low == len(values) - 1 and len(np.unique(values)) == len(values):
        return f"each whole number from {low:.0f} to {high:.0f} once"
    return None
