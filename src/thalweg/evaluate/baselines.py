"""The two answers every model must beat: the label before, and the most frequent label before."""

from __future__ import annotations

import numpy as np

from thalweg.evaluate.record import NO_ANSWER, Codes


class RunningBaselines:
    """No-change and majority, fed with the truth run by run.

    Parameters
    ----------
    n_classes : int
        How many codes there are.

    Examples
    --------
    >>> baselines = RunningBaselines(2)
    >>> baselines.before(np.array([1, 0, 0, 0]))
    (array([-1,  1,  0,  0]), array([-1,  1,  0,  0]))
    >>> baselines.after(np.array([1, 1, 1]))
    (array([1, 1, 1]), array([0, 0, 1]))
    """

    def __init__(self, n_classes: int) -> None:
        self._counts = np.zeros(n_classes, dtype=np.int64)
        self._no_change = NO_ANSWER
        self._majority = NO_ANSWER

    def before(self, y: Codes) -> tuple[Codes, Codes]:
        """The two answers to each row before its label is known."""
        no_change, majority = self._no_change, self._majority
        after_no_change, after_majority = self.after(y)
        return (
            np.concatenate(([no_change], after_no_change))[: len(y)],
            np.concatenate(([majority], after_majority))[: len(y)],
        )

    def after(self, y: Codes) -> tuple[Codes, Codes]:
        """The two answers right after each row's label is known."""
        if len(y) == 0:
            return y, y
        counts = self._counts + np.cumsum(y[:, np.newaxis] == np.arange(len(self._counts)), axis=0)
        majority = counts.argmax(axis=1)
        self._counts, self._no_change, self._majority = counts[-1], int(y[-1]), int(majority[-1])
        return y, majority
