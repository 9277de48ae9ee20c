"""How long a block takes Learn++.NSE as members gather, beside a plain loop over scikit-learn's classifiers."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.naive_bayes import GaussianNB

from thalweg.experiments.karnick2008_data import Blocks
from thalweg.learners.learn_nse import LearnNSE

#: The loop is timed at so many of the blocks: at each it takes up to a second.
LOOP_POINTS = 15


@dataclass(frozen=True)
class Timing:
    """Seconds for a block: learned, and the test points answered."""

    #: Ours, after each block.
    seconds: NDArray[np.float64]
    #: Members at the blocks where the loop was timed, and its seconds there.
    loop_members: NDArray[np.int64]
    loop_seconds: NDArray[np.float64]

    @property
    def total(self) -> float:
        """Seconds for the whole run."""
        return float(self.seconds.sum())

    @property
    def loop_total(self) -> float:
        """Seconds the loop would take for the whole run, by a straight line through its points."""
        line = np.polyfit(self.loop_members, self.loop_seconds, 1)
        return float(np.polyval(line, np.arange(1, len(self.seconds) + 1)).sum())


def timed(data: Blocks, finished: Callable[[float], None]) -> Timing:
    """Run naive Bayes members over the blocks, both ways in turn."""
    blocks = len(data.X)
    loop_at = np.unique(np.linspace(1, blocks, min(LOOP_POINTS, blocks)).round().astype(np.int64))
    model, members = LearnNSE(GaussianNB()), []
    seconds, loop_seconds = np.empty(blocks), []
    for block, (X, y) in enumerate(zip(data.X, data.y, strict=True)):
        began = time.perf_counter()
        model.partial_fit(X, y)
        model.predict(data.points)
        seconds[block] = time.perf_counter() - began
        began = time.perf_counter()
        members.append(GaussianNB().fit(X, y))
        if block + 1 in loop_at:
            for rows in (X, data.points):
                for member in members:
                    member.predict(rows)
            loop_seconds.append(time.perf_counter() - began)
            finished((block + 1) / blocks)
    return Timing(seconds, loop_at, np.array(loop_seconds))
