"""The moments at which the error changed: ADWIN over the mistakes, and of its alarms only what a reader wants marked.

A change of the error is followed by several alarms and by a recovery, a young model gets better with every row,
and over millions of rows the smallest difference is significant. So

1. nothing for the better is marked before row `GRACE`: the model is still learning what there is;
2. an alarm less than `APART` rows after a change may belong to it: in the same direction it corrects the error after
   the change, and what is for the better after one for the worse is the recovery;
3. a change is marked from `LEAST` on, or from a tenth of the error before it where that is more; smaller ones are added
   up, so that an error that creeps is marked, too, once it has come that far;
4. of more than `MOST` changes the newest and the largest others are kept, and the rest is counted.

ADWIN's window after a change is as short as it can be: the error in it is what gave the alarm, not what followed. So
the errors of whole stretches are reported, too: from the change before to this one, and from this one to the next. They
come from counts of mistakes at the changes, and are exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thalweg.errors import InvalidParameter
from thalweg.kernels import compiled
from thalweg.saved import Saved

GRACE, APART, MOST = 2000, 1000, 200
LEAST, LEAST_SHARE = 0.02, 0.1


class ChangeDetector(Saved):
    """Marks where a stream of mistakes changes its mean.

    Parameters
    ----------
    delta : float in (0, 1)
        The chance of a false alarm at any check; smaller is more cautious, and later.
    whole : bool
        Whether rows are right or wrong, so that sums are whole numbers; else errors are any numbers from 0 to 1.

    Examples
    --------
    >>> import numpy as np
    >>> detector = ChangeDetector()
    >>> rng = np.random.default_rng(1)
    >>> detector.add(rng.random(5000) < 0.1)
    []
    >>> [change["found"] for change in detector.add(rng.random(5000) < 0.4)]
    [5088]
    >>> [change] = detector.changes()
    >>> change["row"], round(change["before"], 2), round(change["seen"], 2), round(change["after"], 2)
    (4993, 0.1, 0.3, 0.38)
    """

    _saved = ("rows", "mistakes", "left_out", "_changes", "_crept_from", "_adwin")

    def __init__(self, delta: float = 0.002, *, whole: bool = True) -> None:
        if not 0.0 < delta < 1.0:
            raise InvalidParameter.of("ChangeDetector", "delta", "lie in (0, 1)", delta)
        self._whole = whole
        self.rows = 0
        #: How many, or the sum of errors that are not whole.
        self.mistakes: float = 0
        #: How many changes were found but not kept.
        self.left_out = 0
        self._adwin = compiled.Adwin(delta)
        self._changes: list[dict[str, Any]] = []
        self._crept_from: float | None = None  # the error before the small alarms since the last change

    def skip(self, rows: int) -> None:
        """Count rows that were neither right nor wrong, before any that were."""
        self.rows += rows

    def add(self, mistakes: ArrayLike) -> list[dict[str, Any]]:
        """Take in whether each row was a mistake, in order; the changes first seen now.

        Their ``after`` is the error that gave the alarm, ``seen`` of `changes`.
        """
        values = np.ascontiguousarray(mistakes, dtype=np.float64)
        so_far = np.cumsum(np.concatenate([[self.mistakes], values]))[1:]
        begun = []
        for at, since, before, after in zip(*(part.tolist() for part in self._adwin.update(values)), strict=True):
            row = self.rows + at + 1
            change = {"row": row - since + 1, "found": row, "before": before, "after": after, "seen": after}
            if self._is_new(change):
                before_it = float(so_far[at]) - after * since
                self._keep(change, round(before_it) if self._whole else before_it)
                begun.append({name: change[name] for name in ("row", "found", "before", "after")})
        self.rows += len(values)
        if len(values):
            self.mistakes = int(so_far[-1]) if self._whole else float(so_far[-1])
        return begun

    def changes(self) -> list[dict[str, Any]]:
        """The changes so far: the first row after it, the row at which it was found, and three errors.

        ``before`` is since the change before this one, or the beginning; ``after`` until the next one, or now; ``seen``
        from the change to where it was found. Changes that were not kept count as changes here. Rows count from 1.
        """
        now = [self.rows + 1, self.mistakes]
        return [
            {
                "row": change["row"],
                "found": change["found"],
                "before": _error(change["marks"][0], change["marks"][1]),
                "seen": change["seen"],
                "after": _error(change["marks"][1], (*change["marks"], now)[2]),
            }
            for change in self._changes
        ]

    def _is_new(self, change: dict[str, Any]) -> bool:
        """Whether an alarm begins a change; then, the error from which it crept is the one before it."""
        before, after = change["before"], change["after"]
        if self._changes and change["row"] < self._changes[-1]["row"] + APART:
            last = self._changes[-1]
            if (after > before) == (last["after"] > last["before"]):
                last["after"] = after
                return False
            if after < before:
                return False
        if change["row"] < GRACE and after < before:
            return False
        if self._crept_from is not None:
            change["before"] = self._crept_from
        self._crept_from = change["before"]
        return bool(abs(after - change["before"]) >= max(LEAST, LEAST_SHARE * change["before"]))

    def _keep(self, change: dict[str, Any], mistakes: float) -> None:
        """Mark a change before whose row there were so many mistakes; it ends the stretch after the last one."""
        mark = [change["row"], mistakes]
        begin = [1, 0]
        if self._changes:
            begin = self._changes[-1]["marks"][1]
            self._changes[-1]["marks"].append(mark)
        change["marks"] = [begin, mark]
        if len(self._changes) == MOST:
            sizes = [abs(change["after"] - change["before"]) for change in self._changes]
            del self._changes[sizes.index(min(sizes))]
            self.left_out += 1
        self._changes.append(change)
        self._crept_from = None


def _error(begin: Sequence[float], end: Sequence[float]) -> float:
    """The share of mistakes between two marks, each a row and the mistakes before it."""
    return (end[1] - begin[1]) / (end[0] - begin[0])


#: Rows that settle the scale; they are looked at together once they are there.
FIRST, _TIMES = 1000, 10.0


class ResidualChanges(Saved):
    """Marks where a stream of absolute residuals changes its mean: `ChangeDetector` over residuals scaled to [0, 1].

    The scale is ten times the mean absolute residual of the first rows, beyond which residuals are cut: a single wild
    row says nothing of a change. So the smallest change that is marked is a fifth of that mean.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> changes = ResidualChanges()
    >>> changes.add(np.abs(rng.normal(size=5000)))
    []
    >>> len(changes.add(2.0 * np.abs(rng.normal(size=5000))))
    1
    >>> [change] = changes.changes()
    >>> 4900 < change["row"] < 5100, round(change["before"], 1), round(change["after"], 1)
    (True, 0.8, 1.6)
    """

    _saved = ("_detector", "_scale", "_first")

    def __init__(self) -> None:
        self._detector = ChangeDetector(whole=False)
        self._scale: float | None = None
        self._first: list[float] = []

    @property
    def left_out(self) -> int:
        """How many changes were found but not kept."""
        return self._detector.left_out

    def skip(self, rows: int) -> None:
        """Count rows that have no prediction, before any that have one."""
        self._detector.skip(rows)

    def add(self, residuals: NDArray[np.float64]) -> list[dict[str, Any]]:
        """Take in absolute residuals, in order; as `ChangeDetector.add`, the changes first seen now."""
        least = 0
        if self._scale is None:
            missing = FIRST - len(self._first)
            self._first += residuals[:missing].tolist()
            residuals = residuals[missing:]
            if len(self._first) < FIRST:
                return []
            self._scale = _TIMES * float(np.mean(self._first)) or 1.0
            residuals = np.concatenate([self._first, residuals])
            self._first = []
            least = self._detector.rows + FIRST
        begun = self._detector.add(np.minimum(residuals / self._scale, 1.0))
        return [
            change
            | {when: self._scale * change[when] for when in ("before", "after")}
            | {"found": max(change["found"], least)}
            for change in begun
        ]

    def changes(self) -> list[dict[str, Any]]:
        """As `ChangeDetector.changes`, with mean absolute residuals for errors."""
        scale = self._scale or 1.0
        return [
            change | {when: scale * change[when] for when in ("before", "seen", "after")}
            for change in self._detector.changes()
        ]
