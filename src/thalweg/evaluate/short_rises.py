"""Short rises of the error, as a model leaves them that follows a change at once: Page's test on the mistakes.

ADWIN compares means of windows, and a rise that is over after some dozen rows is lost in them. Page's test adds up
log-likelihood ratios between about twice the usual share of mistakes and the usual one, and restarts at 0 whenever the
sum is negative; it gives an alarm when the sum passes `ALARM`, about once in a million rows without a change. The usual
share is that of the `REFERENCE` rows that end `LAG` rows ago. Mistakes that come in bursts count less: the ratios are
divided by how much the sums of blocks vary beyond those of independent rows. Errors that are numbers count as mistakes
above their 97 % quantile.

E. S. Page, "Continuous inspection schemes", Biometrika 41, 1954.

Cost: O(1) a row, in blocks of 64. Memory: 2,048 rows.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from thalweg.saved import Saved

Floats = NDArray[np.float64]

#: Rows of a block, rows of the reference, and rows between it and the block that is tested.
BLOCK, REFERENCE, LAG = 64, 1792, 256
#: The sum that gives an alarm, and rows after one in which there is none.
ALARM, APART = 12.0, 1000
#: By how much the share of mistakes grows at the least, in a rise that is looked for.
_LEAST = 0.1
_QUANTILE = 0.97
#: Blocks that are tested in one go.
_AT_ONCE = 256


class ShortRises(Saved):
    """Finds short rises in a stream of errors.

    Parameters
    ----------
    whole : bool
        Whether rows are right or wrong; else errors are any numbers of at least 0.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> mistakes = rng.random(8000) < 0.05
    >>> mistakes[6000:6040] = True
    >>> [rise] = ShortRises().add(mistakes)
    >>> abs(rise["row"] - 6001) < 5, rise["found"] < 6040, round(rise["before"], 2)
    (True, True, 0.04)
    """

    _saved = ("whole", "rows", "_sum", "_since", "_quiet", "_open", "_kept")

    def __init__(self, *, whole: bool = True) -> None:
        self.whole = whole
        #: Rows in whole blocks, and those before them that have no prediction, as a change detector counts.
        self.rows = 0
        self._open, self._kept = np.empty(0), np.empty(0)
        self._sum = 0.0
        #: The row at which the sum left 0, and the row up to which there is no alarm.
        self._since, self._quiet = 1, 0

    def skip(self, rows: int) -> None:
        """Count rows that have no prediction, before any that have one."""
        self.rows += rows

    def add(self, errors: NDArray[Any]) -> list[dict[str, Any]]:
        """Take in errors, in order; the rises found now.

        Each has the first ``row``, the row at which it was ``found``, and the mean error ``before`` and ``after``,
        from the first row to where it was found. Rows count from 1.
        """
        self._open = np.concatenate([self._open, np.asarray(errors, dtype=np.float64)])
        whole = len(self._open) // BLOCK
        blocks = self._open[: whole * BLOCK].reshape(whole, BLOCK)
        self._open = self._open[whole * BLOCK :].copy()
        return [rise for at in range(0, whole, _AT_ONCE) for rise in self._test(blocks[at : at + _AT_ONCE])]

    def _test(self, blocks: Floats) -> list[dict[str, Any]]:
        """The rises in some blocks; what needs no sum is computed for all of them together."""
        together = np.concatenate([self._kept, blocks.ravel()])
        early = min((REFERENCE + LAG - len(self._kept)) // BLOCK, len(blocks))  # they have no whole reference
        begin = len(self._kept) + early * BLOCK
        self._kept = together[-REFERENCE - LAG :]
        self.rows += early * BLOCK
        blocks = blocks[early:]
        if len(blocks) == 0:
            return []
        references = sliding_window_view(together, REFERENCE)[begin - REFERENCE - LAG :: BLOCK][: len(blocks)]
        paths = np.cumsum(self._ratios(blocks, references), axis=1)
        ends, lows, highs = (values.tolist() for values in (paths[:, -1], paths.min(axis=1), paths.max(axis=1)))
        rises = []
        zero: tuple[int, Floats] | None = None  # first row and path of the last block in which the sum was 0
        for at, (end, low, high) in enumerate(zip(ends, lows, highs, strict=True)):
            first, before, lowest = self.rows + 1, self._sum, min(self._sum + low, 0.0)
            self.rows += BLOCK
            if before + high - lowest > ALARM:  # else no sum within the block passes it
                self._since = _since(zero, self._since)
                zero = None
                upto = begin + (at + 1) * BLOCK
                kept = together[max(upto - REFERENCE - LAG, 0) : upto]
                rises += self._alarm(first, before + paths[at], kept, references[at])
            else:
                if before + low <= 0.0:
                    zero = first, before + paths[at]
                self._sum = before + end - lowest
        self._since = _since(zero, self._since)
        return rises

    def _ratios(self, blocks: Floats, references: Floats) -> Floats:
        """The log-likelihood ratio of each row, by the reference of its block."""
        bounds = np.full(len(blocks), 0.5) if self.whole else np.quantile(references, _QUANTILE, axis=1)
        sums = (references > bounds[:, None]).reshape(len(blocks), -1, BLOCK).sum(axis=2)
        shares = np.minimum((sums.sum(axis=1) + 0.5) / (REFERENCE + 1.0), 0.5)
        expected = BLOCK * shares
        bursts = np.maximum(1.0, np.square(sums - expected[:, None]).mean(axis=1) / (expected * (1.0 - shares)))
        risen = shares + np.maximum(shares, _LEAST) * (1.0 - shares)
        wrong, right = (
            np.array([math.log(ratio) for ratio in ratios.tolist()]) / bursts
            for ratios in (risen / shares, (1.0 - risen) / (1.0 - shares))
        )
        return np.asarray(np.where(blocks > bounds[:, None], wrong[:, None], right[:, None]))

    def _alarm(self, first: int, path: Floats, kept: Floats, reference: Floats) -> list[dict[str, Any]]:
        """The rise that is found in a block, if any, given its first row, its path, and the last rows up to its end."""
        above = _above(path)
        passed = (above > ALARM) & (first + np.arange(BLOCK) > self._quiet)
        if not passed.any():
            self._sum, self._since = float(above[-1]), _since((first, path), self._since)
            return []
        at = int(passed.argmax())
        row, seen_at = _since((first, path[: at + 1]), self._since), first + at
        after = kept[len(kept) - BLOCK - (first - row) : len(kept) - BLOCK + at + 1]
        self._sum, self._since, self._quiet = 0.0, self.rows + 1, seen_at + APART
        return [{"row": row, "found": seen_at, "before": float(reference.mean()), "after": float(after.mean())}]


def _above(path: Floats) -> Floats:
    """The sums of a path, which restart at 0 wherever they would be negative."""
    return np.asarray(path - np.minimum(np.minimum.accumulate(path), 0.0))


def _since(block: tuple[int, Floats] | None, before: int) -> int:
    """The row after the one at which the sum was last 0, in a block given by its first row and its path, or before."""
    if block is None:
        return before
    zeros = np.flatnonzero(_above(block[1]) == 0.0)
    return block[0] + int(zeros[-1]) + 1 if len(zeros) else before
