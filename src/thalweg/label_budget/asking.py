"""Which rows a walk over a stream asks for, and what it may therefore learn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thalweg.label_budget.error_estimate import ErrorEstimate, Estimate
from thalweg.label_budget.sampler import Decision, LabelSampler, Strategy
from thalweg.saved import Saved

Floats = NDArray[np.float64]
Places = NDArray[np.int64]
#: Rows that are looked at in one call.
_LEAST_AHEAD, _MOST_AHEAD = 8, 256
#: From this share of positive rows on, a label is not rare.
_RARE = 0.1


class Worth(NamedTuple):
    """Of each row how uncertain its prediction is, and the probability of the label of interest."""

    uncertainty: Floats
    positive: Floats

    @classmethod
    def of(cls, model: Any, X: Any, positive: Any = None) -> Worth:
        """By the margin between the two likeliest labels, or the width of an interval; alike where nothing is known."""
        nothing = np.zeros(X.shape[0])
        if not model.__sklearn_is_fitted__():
            return cls.unknown(X.shape[0])
        if hasattr(model, "predict_interval"):
            lower, upper = model.predict_interval(X)
            width = np.nan_to_num(upper - lower, nan=0.0)
            return cls(width if width.ndim == 1 else width.sum(axis=1), nothing)
        if hasattr(model, "predict_proba"):
            scores = model.predict_proba(X)
        elif hasattr(model, "decision_function"):
            scores = model.decision_function(X)
            scores = np.stack([nothing, scores], axis=1) if scores.ndim == 1 else scores
        else:
            return cls.unknown(X.shape[0])
        return cls.of_scores(scores, [str(label) for label in getattr(model, "classes_", ())], positive)

    @classmethod
    def of_scores(cls, scores: Floats, labels: list[str], positive: Any = None) -> Worth:
        """By the probabilities of these labels, or other scores."""
        if scores.shape[1] < 2:
            return cls.unknown(len(scores))
        best = np.partition(scores, -2, axis=1)[:, -2:]
        at = labels.index(str(positive)) if str(positive) in labels else None
        return cls(best[:, 0] - best[:, 1], np.zeros(len(scores)) if at is None else scores[:, at].copy())

    @classmethod
    def unknown(cls, rows: int) -> Worth:
        """Of rows of which nothing is known."""
        return cls(np.zeros(rows), np.zeros(rows))


class Asking(Saved):
    """A sampler, and the error over all rows as the asked ones show it.

    With the strategy "auto" rows are preferred by their uncertainty, as long as the label of interest is not rare.
    """

    _saved: ClassVar[tuple[str, ...]] = ("sampler", "estimate", "labels", "positives")

    def __init__(
        self,
        share: float,
        strategy: Strategy = "auto",
        explore: float = 0.2,
        seed: int = 0,
        *,
        positive: Any = None,
        numeric: bool = False,
    ) -> None:
        self.positive = positive
        self._chooses = strategy == "auto"
        self.sampler = LabelSampler(share, "uncertain" if strategy == "auto" else strategy, explore, seed)
        self.estimate = ErrorEstimate(0.0 if numeric else 1.0)
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
        return self.sampler.decide(float(worth.uncertainty[at]), float(worth.positive[at]), share)

    def came(self, losses: Floats, probabilities: Floats, positive: NDArray[np.bool_] | None = None) -> None:
        """Labels of asked rows have come: what their predictions lost, and which have the label of interest."""
        self.estimate.add(losses, probabilities)
        for loss, probability in zip(losses.tolist(), probabilities.tolist(), strict=True):
            self.sampler.judge(loss, probability)
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
