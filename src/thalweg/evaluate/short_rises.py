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
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: Rows of a block, rows of the reference, and rows between it and the block that is tested.
BLOCK, REFERENCE, LAG = 64, 1792, 256
#: The sum that gives an alarm, and rows after one in which there is none.
ALARM, APART = 12.0, 1000
#: By how much the share of mistakes grows at the least, in a rise that is looked for.
_LEAST = 0.1
_QUANTILE = 0.97


class ShortRises:
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
        found = [each for each in map(self._test, self._open[: whole * BLOCK].reshape(whole, BLOCK)) if each]
        self._open = self._open[whole * BLOCK :].copy()
        return found

    def _test(self, block: Floats) -> dict[str, Any] | None:
        reference = self._kept[: len(self._kept) - LAG]
        self._kept = np.concatenate([self._kept, block])[-REFERENCE - LAG :]
        first = self.rows + 1
        self.rows += BLOCK
        if len(reference) < REFERENCE:
            return None
        bound = 0.5 if self.whole else float(np.quantile(reference, _QUANTILE))
        usual: NDArray[np.bool_] = reference > bound
        share = min((float(usual.sum()) + 0.5) / (len(usual) + 1.0), 0.5)
        sums = usual.reshape(-1, BLOCK).sum(axis=1)
        bursts = max(1.0, float(np.square(sums - BLOCK * share).mean()) / (BLOCK * share * (1.0 - share)))
        risen = share + max(share, _LEAST) * (1.0 - share)
        wrong, right = math.log(risen / share) / bursts, math.log((1.0 - risen) / (1.0 - share)) / bursts
        path: Floats = self._sum + np.cumsum(np.where(block > bound, wrong, right))
        above = path - np.minimum(np.minimum.accumulate(path), 0.0)
        rows = first + np.arange(BLOCK)
        # The row after the one at which the sum was last 0.
        since = np.maximum.accumulate(np.where(above == 0.0, rows + 1, self._since))
        passed = (above > ALARM) & (rows > self._quiet)
        if not passed.any():
            self._sum, self._since = float(above[-1]), int(since[-1])
            return None
        at = int(passed.argmax())
        row, found = int(since[at]), first + at
        after = self._kept[len(self._kept) - BLOCK - (first - row) : len(self._kept) - BLOCK + at + 1]
        self._sum, self._since, self._quiet = 0.0, self.rows + 1, found + APART
        return {"row": row, "found": found, "before": float(reference.mean()), "after": float(after.mean())}

    def state(self) -> dict[str, Any]:
        """All that `restore` needs beside `arrays`, as JSON holds it."""
        plain = {"whole": self.whole, "rows": self.rows, "sum": self._sum}
        return plain | {"since": self._since, "quiet": self._quiet}

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {"open": self._open, "kept": self._kept}

    def restore(self, state: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        self.whole, self.rows, self._sum = bool(state["whole"]), int(state["rows"]), float(state["sum"])
        self._since, self._quiet = int(state["since"]), int(state["quiet"])
        self._open, self._kept = (arrays[name].copy() for name in self.arrays())
