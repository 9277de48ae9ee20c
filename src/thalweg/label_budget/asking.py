"""Which rows a walk over a stream asks for, and what it may therefore learn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from thalweg.label_budget.error_estimate import ErrorEstimate, Estimate
from thalweg.label_budget.sampler import Decision, LabelSampler, RowWorth, Strategy
from thalweg.label_budget.worth import CheckedRows, Worth, dense
from thalweg.saved import Saved

Floats = NDArray[np.float64]
Places = NDArray[np.int64]
#: Rows that are predicted ahead in one call.
_LEAST_AHEAD, _MOST_AHEAD = 8, 256
#: From this share of positive rows on, a label is not rare.
_RARE = 0.1


class Asking(Saved):
    """A sampler, and the error over all rows as the asked ones show it.

    With the strategy "auto" rows are preferred by their uncertainty, as long as the label of interest is not rare.
    """

    _saved: ClassVar[tuple[str, ...]] = ("sampler", "estimate", "checked", "labels", "positives")

    def __init__(
        self,
        share: float,
        strategy: Strategy = "auto",
        explore: float = 0.1,
        seed: int = 0,
        *,
        positive: Any = None,
        numeric: bool = False,
    ) -> None:
        self.positive = positive
        self._chooses = strategy == "auto"
        self.sampler = LabelSampler(share, "uncertain" if strategy == "auto" else strategy, explore, seed)
        self.estimate = ErrorEstimate(0.0 if numeric else 1.0)
        #: Rows that were asked for, by which others are unusual.
        self.checked = CheckedRows()
        #: Rows whose label was asked for and came, and those of the label of interest, as all rows would have them.
        self.labels = self.positives = 0.0

    def error(self) -> Estimate:
        """The error over all rows; nothing where rows that are not preferred are never asked for."""
        is_blind = self.sampler.strategy == "flagged" and not self.sampler.explore
        return Estimate(None, None, None) if is_blind else self.estimate.interval()

    def decide(self, worth: Worth, at: int, share: float | None = None) -> Decision:
        """Whether to ask for the next row."""
        if self._chooses and self.positive is not None:
            rare = self.labels > 0 and self.positives < _RARE * self.labels
            self.sampler.strategy = "rare" if rare else "uncertain"
        own = self.row_worth(worth, at)
        decision = self.sampler.decide(own, share)
        self._check(decision, None if worth.X is None else worth.X[at])
        return decision

    def record(self, decision: Decision, worth: RowWorth, X: Floats | None, share: float | None = None) -> None:
        """Take over what was decided of the next row elsewhere."""
        self.sampler.record(decision, worth, share)
        self._check(decision, X)

    def row_worth(self, worth: Worth, at: int) -> RowWorth:
        """What one row is preferred by."""
        unusual = 0.0 if worth.X is None or not self._seeks else self.checked.distance(worth.X[at])
        return RowWorth(float(worth.uncertainty[at]), float(worth.positive[at]), unusual)

    @property
    def _seeks(self) -> bool:
        """Whether unusual rows may be preferred."""
        return self.positive is not None and (self._chooses or self.sampler.strategy == "rare")

    def learned_unasked(self, X: Any) -> None:
        """Labels of rows came that were not asked for: these rows are no longer unusual."""
        rows = dense(X)
        for row in () if rows is None or not self._seeks else rows:
            self.checked.add(row)

    def _check(self, decision: Decision, X: Floats | None) -> None:
        if decision.ask and X is not None and self._seeks:
            self.checked.add(X)

    def came(self, losses: Floats, probabilities: Floats, positive: NDArray[np.bool_] | None = None) -> None:
        """Labels of asked rows have come: what their predictions lost, and which have the label of interest."""
        self.estimate.add(losses, probabilities)
        if positive is not None:
            for is_positive, probability in zip(positive.tolist(), probabilities.tolist(), strict=True):
                self.labels += 1.0 / probability
                self.positives += is_positive / probability

    def parts(
        self,
        steps: Places,
        asked: NDArray[np.bool_],
        probability: Floats,
        worth: Callable[[Places], Worth],
        share: Callable[[int], float | None] = lambda row: None,
    ) -> Iterator[Places]:
        """The steps without those that learn a row which was not asked for, cut after each stretch of learning.

        Whether a row is asked is written to ``asked`` when it is predicted; ``share`` is the budget at a row, where it
        changes. Each part must be taken before the next one is demanded: the model must have learned what comes before
        a row that it is to look at.
        """
        begin, end = 0, len(steps)
        most = min(max(int(1.5 / self.sampler.share), _LEAST_AHEAD), _MOST_AHEAD)
        while begin < end:
            ahead = steps[begin : begin + 2 * most]
            known = np.flatnonzero((ahead < 0) & asked[np.maximum(~ahead, 0)])
            rows = ahead[: known[0] if len(known) else len(ahead)]
            rows = rows[rows >= 0]
            of_rows = worth(rows) if len(rows) else None
            part: list[int] = []
            looked_at, learned = 0, False
            while begin < end and not (learned and steps[begin] >= 0) and (steps[begin] < 0 or looked_at < len(rows)):
                step = int(steps[begin])
                begin += 1
                if step >= 0:
                    assert of_rows is not None
                    asked[step], probability[step] = self.decide(of_rows, looked_at, share(step))
                    looked_at += 1
                    part.append(step)
                elif asked[~step]:
                    part.append(step)
                    learned = True
            if part:
                yield np.array(part, dtype=np.int64)
