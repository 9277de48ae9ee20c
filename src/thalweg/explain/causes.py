"""What changed, and where: columns whose effect or importance differs significantly before and after.

Where the error changed, the samples shortly before are compared with those after it, once the model has had some rows
to follow. A model that follows at once leaves no such mark, so every moment between two samples is tried for a reversal
of an effect, too. A difference must be beyond Student's quantile at a level of 0.001 divided by the number of
comparisons, and large enough to matter. A column that drifts without an effect has none on either side, and is not
named.

Cost: O(g b w) for g columns, b blocks and windows of w blocks, once at the end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from thalweg.explain.over_time import Estimate, Floats, ImportanceOverTime

#: The chance that any column is named that did not change.
_LEVEL = 0.001
#: The smallest effect on either side of a reversal, and the smallest difference of effects or increases.
_LEAST_EFFECT, _LEAST_CHANGE = 0.02, 0.05
#: Rows that the model has to follow a change, samples on either side at the least, and how far to look in samples.
_TO_FOLLOW, _LEAST_SAMPLES, _REACH = 400, 4, 12
#: Columns that are named for one change.
_MOST_NAMED = 3


def causes(
    over_time: ImportanceOverTime, names: Sequence[str], changes: Sequence[int], distance: int
) -> list[dict[str, Any]]:
    """The columns that changed: with the error, whose changes are at these rows, rising, or by themselves.

    Returns
    -------
    list of dict
        By row: ``row``, ``column``, ``what`` (reversed, gained, lost), ``before`` and ``after`` (effects of a reversal,
        increases of the loss else), and ``error_changed``, whether it did there.
    """
    reach = _REACH * max(distance, over_time.length)
    tried = (len(changes) + len(over_time.blocks)) * len(names)
    found: list[dict[str, Any]] = []
    for at, row in enumerate(changes):
        begin = max(row - reach, changes[at - 1] + _TO_FOLLOW if at else 0)
        end = min(row + _TO_FOLLOW + reach, changes[at + 1] if at + 1 < len(changes) else np.inf)
        pair = _compared(over_time.between(begin, row), over_time.between(row + _TO_FOLLOW, end))
        found += [] if pair is None else _at_change(*pair, names, row, _LEVEL / tried)
    told = [(each["column"], each["row"]) for each in found]
    for _, row, column, before, after in sorted(
        _reversals(over_time, reach, _LEVEL / tried), key=lambda each: -each[0]
    ):
        name = names[column]
        if all(name != other or abs(row - at) > reach for other, at in told):
            told.append((name, row))
            found.append(_as_told(row, name, "reversed", before, after, error_changed=False))
    return sorted(found, key=lambda each: each["row"])


def _reversals(
    over_time: ImportanceOverTime, reach: int, level: float
) -> Iterator[tuple[float, int, int, float, float]]:
    """Reversals at any moment: how large beside its error, the row, the column, the effects before and after."""
    blocks = list(over_time.blocks.values())
    for last, first in pairwise(blocks):
        row = (last.last + first.first) // 2
        pair = _compared(over_time.between(row - reach, row), over_time.between(row, row + reach))
        if pair is not None:
            before, after = pair
            reversed_, sizes = _reversed(before, after, level)
            for at in np.flatnonzero(reversed_).tolist():
                yield float(sizes[at]), row, at, float(before.effect[at]), float(after.effect[at])


def _compared(before: Estimate | None, after: Estimate | None) -> tuple[Estimate, Estimate] | None:
    """Both, where both are of enough samples."""
    if before is None or after is None or min(before.samples, after.samples) < _LEAST_SAMPLES:
        return None
    return before, after


def _at_change(before: Estimate, after: Estimate, names: Sequence[str], row: int, level: float) -> list[dict[str, Any]]:
    """The columns that changed with the error."""
    turned, _ = _reversed(before, after, level)
    error = np.hypot(before.increase_error, after.increase_error)
    difference = np.abs(after.increase - before.increase)
    with np.errstate(invalid="ignore"):
        other = (difference > _quantile(before, after, level) * error) & (difference >= _LEAST_CHANGE)
    # Where an effect reversed, others gain or lose because the model learns anew.
    if turned.any():
        places, was, now = np.flatnonzero(turned), before.effect, after.effect
    else:
        places, was, now = np.flatnonzero(other), before.increase, after.increase
    largest = sorted(places.tolist(), key=lambda at: -abs(now[at] - was[at]))[:_MOST_NAMED]
    return [
        _as_told(
            row,
            names[at],
            "reversed" if turned[at] else "gained" if now[at] > was[at] else "lost",
            float(was[at]),
            float(now[at]),
            error_changed=True,
        )
        for at in largest
    ]


def _reversed(before: Estimate, after: Estimate, level: float) -> tuple[NDArray[np.bool_], Floats]:
    """Whose effects changed their sign, clear on either side; and how large the difference is beside its error."""
    quantile = _quantile(before, after, level)
    with np.errstate(invalid="ignore", divide="ignore"):
        sizes = np.abs(after.effect - before.effect) / np.hypot(before.effect_error, after.effect_error)
        clear = [
            np.abs(each.effect) > np.maximum(_LEAST_EFFECT, quantile / 2.0 * each.effect_error)
            for each in (before, after)
        ]
        return (before.effect * after.effect < 0.0) & (sizes > quantile) & clear[0] & clear[1], sizes


def _quantile(before: Estimate, after: Estimate, level: float) -> float:
    return -float(stdtrit(before.samples + after.samples - 2.0, level / 2.0))


def _as_told(row: int, column: str, what: str, was: float, now: float, *, error_changed: bool) -> dict[str, Any]:
    told = {"before": float(f"{was:.5g}"), "after": float(f"{now:.5g}")}
    return {"row": row, "column": column, "what": what, **told, "error_changed": error_changed}


def sentence(cause: dict[str, Any], at: str, about: str = "the prediction") -> str:
    """One of them in words, given where it is; ``about`` is what an effect raises or lowers.

    Examples
    --------
    >>> cause = {"row": 20002, "column": "c3", "what": "reversed", "before": 0.3, "after": -0.2}
    >>> sentence(cause, "at row 20,002", "P(wet)")
    'The effect of column c3 reversed at about row 20,002: larger values raised P(wet) before, and lower it since.'
    """
    at = " about ".join(at.split(" ", 1))
    if cause["what"] == "reversed":
        how = "raised", "lower"
        if cause["after"] > 0.0:
            how = "lowered", "raise"
        words = f"larger values {how[0]} {about} before, and {how[1]} it since"
        return f"The effect of column {cause['column']} reversed {at}: {words}."
    return f"Column {cause['column']} became {'more' if cause['what'] == 'gained' else 'less'} important {at}."
