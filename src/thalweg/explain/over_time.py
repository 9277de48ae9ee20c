"""Importance over time: samples of a few rows each, in blocks of equal length, their fading mean, and what changed.

When there are too many blocks, neighbours are joined, so that memory is constant and no sample is lost. Rows of one
sample are predicted by one model, whose own error they share. So the standard error of a mean is the larger of two: by
the spread of rows, and by the spread of samples.

Columns changed whose effect or importance differs significantly before and after. Where the error changed, the samples
shortly before are compared with those after it, once the model has had some rows to follow. A model that follows at
once leaves no such mark, so every moment between two samples is tried for a reversal of an effect, too. A difference
must be beyond Student's quantile at a level of 0.001 divided by the number of comparisons, and large enough to matter.
A column that drifts without an effect has none on either side, and is not named.

Cost: O(g) for a sample of g columns, beside that of `replace_groups`; O(g b w) for b blocks and windows of w blocks,
once at the end; memory O(96 g).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import exp
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from thalweg.explain.importance import Replaced
from thalweg.saved import Saved

Floats = NDArray[np.float64]

#: Blocks that are kept at the most, and rows of the first ones.
MOST_BLOCKS, FIRST_LENGTH = 96, 64
#: Rows over which the fading mean remembers, and so many distances between samples at the least.
MEMORY, _LEAST_DISTANCES = 1000, 3


class Estimate(NamedTuple):
    """Means and standard errors by column; a standard error is NaN where it is not known."""

    increase: Floats
    increase_error: Floats
    effect: Floats
    effect_error: Floats
    #: How many samples they are means of.
    samples: float

    @property
    def varied(self) -> NDArray[np.bool_]:
        """Columns that made any difference."""
        return np.asarray((self.increase != 0.0) | (self.increase_error != 0.0))


@dataclass
class Sums(Saved):
    """Weighted sums of some samples: of rows and of samples their weights, and those squared."""

    _saved = ("weights", "values", "first", "last")

    weights: Floats
    values: Floats
    first: int = 0
    last: int = 0

    @classmethod
    def none(cls) -> Sums:
        return cls(np.zeros(4), np.zeros((0, 0)))

    @classmethod
    def of(cls, row: int, replaced: Replaced) -> Sums:
        count = float(len(replaced.increase))
        parts: list[Floats] = []
        for values in replaced:
            total = values.sum(axis=0)
            mean = total / count
            parts += [total, (values**2).sum(axis=0), mean, mean**2]
        return cls(np.array([count, count, 1.0, 1.0]), np.array(parts), row, row)

    @classmethod
    def together(cls, parts: Iterable[Sums]) -> Sums:
        first, *others = parts
        total = cls(first.weights.copy(), first.values.copy(), first.first, first.last)
        for other in others:
            total.weights += other.weights
            total.values += other.values
            total.last = max(total.last, other.last)
        return total

    def fade(self, factor: float) -> None:
        self.weights *= [factor, factor**2, factor, factor**2]
        self.values *= factor

    def estimate(self) -> Estimate:
        (increase, increase_error), (effect, effect_error) = (self._mean(at) for at in (0, 4))
        return Estimate(increase, increase_error, effect, effect_error, float(self.weights[2]))

    def _mean(self, at: int) -> tuple[Floats, Floats]:
        means: list[Floats] = []
        errors: list[Floats] = []
        for kind in (0, 1):
            weight, squared = self.weights[2 * kind : 2 * kind + 2]
            total, squares = self.values[at + 2 * kind : at + 2 * kind + 2]
            mean = total / weight
            many = weight**2 / squared
            variance = np.maximum(squares / weight - mean**2, 0.0)
            means.append(mean)
            errors.append(np.sqrt(variance / (many - 1.0)) if many > 1.5 else np.full(len(mean), np.nan))
        return means[0], np.fmax(*errors)


class ImportanceOverTime(Saved):
    """Samples of importance by the row at which they were taken.

    Examples
    --------
    >>> over_time = ImportanceOverTime(columns=1, distance=100)
    >>> for row in range(0, 12800, 100):
    ...     over_time.add(row, Replaced(np.full((2, 1), row / 12800), np.zeros((2, 1))))
    >>> over_time.length, len(over_time.blocks)
    (256, 50)
    >>> over_time.recent().increase.round(1)
    array([0.9])
    """

    _saved = ("length", "blocks", "_fading")
    _made = (("blocks", Sums.none), ("_fading", Sums.none))

    def __init__(self, columns: int, distance: int) -> None:
        self._columns = columns
        self._memory = max(MEMORY, _LEAST_DISTANCES * distance)
        self.length = FIRST_LENGTH
        #: By their number, those that have samples.
        self.blocks: dict[int, Sums] = {}
        self._fading: Sums | None = None

    def add(self, row: int, replaced: Replaced) -> None:
        """Take a sample of rows that come after so many."""
        sums = Sums.of(row, replaced)
        if self._fading is None:
            self._fading = Sums.together([sums])
        else:
            self._fading.fade(exp((self._fading.last - row) / self._memory))
            self._fading = Sums.together([self._fading, sums])
        while row // self.length >= MOST_BLOCKS:
            self.length *= 2
            joined: dict[int, list[Sums]] = {}
            for number, block in self.blocks.items():
                joined.setdefault(number // 2, []).append(block)
            self.blocks = {number: Sums.together(blocks) for number, blocks in joined.items()}
        number = row // self.length
        held = [self.blocks[number]] if number in self.blocks else []
        self.blocks[number] = Sums.together([*held, sums])

    def copy(self) -> ImportanceOverTime:
        """As it is now, for another thread to read while samples are added here."""
        copied = ImportanceOverTime.__new__(ImportanceOverTime)
        copied._columns, copied._memory, copied.length = self._columns, self._memory, self.length
        copied.blocks = dict(self.blocks)  # blocks are replaced and never changed
        copied._fading = None if self._fading is None else Sums.together([self._fading])
        return copied

    def recent(self) -> Estimate | None:
        """The fading mean."""
        return None if self._fading is None else self._fading.estimate()

    def overall(self) -> Estimate | None:
        """The mean of all samples."""
        return Sums.together(self.blocks.values()).estimate() if self.blocks else None

    def between(self, begin: float, end: float) -> Estimate | None:
        """The mean of the blocks with samples from one row to another; None where there is none."""
        within = [block for block in self.blocks.values() if begin <= block.first and block.last <= end]
        return Sums.together(within).estimate() if within else None


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
    effects: list[dict[str, Any]] = []
    for at, row in enumerate(changes):
        begin = max(row - reach, changes[at - 1] + _TO_FOLLOW if at else 0)
        end = min(row + _TO_FOLLOW + reach, changes[at + 1] if at + 1 < len(changes) else np.inf)
        pair = _compared(over_time.between(begin, row), over_time.between(row + _TO_FOLLOW, end))
        effects += [] if pair is None else _at_change(*pair, names, row, _LEVEL / tried)
    named = [(effect["column"], effect["row"]) for effect in effects]
    for _, row, column, before, after in sorted(
        _reversals(over_time, reach, _LEVEL / tried), key=lambda reversal: -reversal[0]
    ):
        name = names[column]
        if all(name != other or abs(row - at) > reach for other, at in named):
            named.append((name, row))
            effects.append(_as_cause(row, name, "reversed", before, after, error_changed=False))
    return sorted(effects, key=lambda effect: effect["row"])


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
        _as_cause(
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
            np.abs(sums.effect) > np.maximum(_LEAST_EFFECT, quantile / 2.0 * sums.effect_error)
            for sums in (before, after)
        ]
        return (before.effect * after.effect < 0.0) & (sizes > quantile) & clear[0] & clear[1], sizes


def _quantile(before: Estimate, after: Estimate, level: float) -> float:
    return -float(stdtrit(before.samples + after.samples - 2.0, level / 2.0))


def _as_cause(row: int, column: str, what: str, was: float, now: float, *, error_changed: bool) -> dict[str, Any]:
    effects = {"before": float(f"{was:.5g}"), "after": float(f"{now:.5g}")}
    return {"row": row, "column": column, "what": what, **effects, "error_changed": error_changed}


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
