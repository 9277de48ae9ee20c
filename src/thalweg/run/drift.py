"""The moments at which the error changed: ADWIN over the mistakes, and of its alarms only what a reader wants marked.

A change of the error is followed by several alarms and by a recovery, a young model gets better with every row,
and over millions of rows the smallest difference is significant. So

1. nothing for the better is marked before row `GRACE`: the model is still learning what there is;
2. an alarm less than `APART` rows after a change may belong to it: in the same direction it corrects the error after
   the change, and what is for the better after one for the worse is the recovery;
3. a change is marked from `LEAST` on, or from a tenth of the error before it where that is more; smaller ones are added
   up, so that an error that creeps is marked, too, once it has come that far;
4. of more than `MOST` changes the newest and the largest others are kept, and the rest is counted.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from thalweg.errors import InvalidParameter
from thalweg.kernels import compiled

GRACE, APART, MOST = 2000, 1000, 200
LEAST, LEAST_SHARE = 0.02, 0.1


class ChangeDetector:
    """Marks where a stream of mistakes changes its mean.

    Parameters
    ----------
    delta : float in (0, 1)
        The chance of a false alarm at any check; smaller is more cautious, and later.

    Examples
    --------
    >>> import numpy as np
    >>> detector = ChangeDetector()
    >>> rng = np.random.default_rng(1)
    >>> detector.add(rng.random(5000) < 0.1)
    []
    >>> [change["found"] for change in detector.add(rng.random(5000) < 0.4)]
    [5088]
    >>> [(change["row"], round(change["after"], 2)) for change in detector.changes()]
    [(4993, 0.38)]
    """

    def __init__(self, delta: float = 0.002) -> None:
        if not 0.0 < delta < 1.0:
            raise InvalidParameter.of("ChangeDetector", "delta", "lie in (0, 1)", delta)
        self.rows = 0
        #: How many changes were found but not kept.
        self.left_out = 0
        self._adwin = compiled.Adwin(delta)
        self._changes: list[dict[str, Any]] = []
        self._crept_from: float | None = None  # the error before the small alarms since the last change

    def add(self, mistakes: ArrayLike) -> list[dict[str, Any]]:
        """Take in whether each row was a mistake, in order; the changes first seen now."""
        values = np.ascontiguousarray(mistakes, dtype=np.float64)
        begun = []
        for at, since, before, after in zip(*(part.tolist() for part in self._adwin.update(values)), strict=True):
            found = self.rows + at + 1
            change = {"row": found - since + 1, "found": found, "before": before, "after": after}
            if self._is_new(change):
                self._keep(change)
                begun.append(dict(change))
        self.rows += len(values)
        return begun

    def changes(self) -> list[dict[str, Any]]:
        """The changes so far: the first row after it, the row at which it was found, the errors before and after.

        Rows count from 1.
        """
        return [dict(change) for change in self._changes]

    def state(self) -> dict[str, Any]:
        """All of it, as JSON holds it."""
        return {
            "rows": self.rows,
            "left_out": self.left_out,
            "changes": self.changes(),
            "crept_from": self._crept_from,
            "adwin": {name: array.tolist() for name, array in self._adwin.state().items()},
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Take back what `state` gave."""
        window = state["adwin"]
        self._adwin.restore(
            {
                "seen": np.array(window["seen"], dtype=np.int64),
                "rows": np.array(window["rows"], dtype=np.int64),
                "sums": np.array(window["sums"], dtype=np.float64).reshape(-1, 2),
            }
        )
        self.rows, self.left_out = int(state["rows"]), int(state["left_out"])
        self._changes = [dict(change) for change in state["changes"]]
        self._crept_from = state["crept_from"]

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

    def _keep(self, change: dict[str, Any]) -> None:
        if len(self._changes) == MOST:
            sizes = [abs(each["after"] - each["before"]) for each in self._changes]
            del self._changes[sizes.index(min(sizes))]
            self.left_out += 1
        self._changes.append(change)
        self._crept_from = None
