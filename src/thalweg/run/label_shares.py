"""The share of each label known at the time as a prediction: the log-loss of a model without any column."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.evaluate.late_labels import Batch
from thalweg.evaluate.metrics import surprise
from thalweg.run.scoreboard import BlockMeans, add_in_order
from thalweg.saved import Saved

Floats = NDArray[np.float64]


class LabelShares(Saved):
    """Running shares of labels, learned when the model learns them, and their log-loss beside the model's.

    Examples
    --------
    >>> from thalweg.evaluate.late_labels import LateLabels
    >>> labels = np.array([1, 2, 1, 1])
    >>> batch = LateLabels(delay=1).plan(np.zeros((4, 1)), labels, labels > 0, np.arange(1, 5))
    >>> LabelShares().of_truth(batch).tolist()
    [nan, nan, 1.0, 0.5]
    """

    _saved = ("_counts", "_surprise", "_blocks")

    def __init__(self) -> None:
        #: How often each label was learned, by number; the first stands for none.
        self._counts = np.zeros(1, dtype=np.int64)
        self._surprise = 0.0
        self._blocks = BlockMeans()

    def of_truth(self, batch: Batch) -> Floats:
        """For each row predicted now, the share of its own label just before; NaN before any label, and for others."""
        learned, fresh = batch.labels[batch.learned], np.arange(batch.carried, len(batch.labels))
        own = batch.labels[fresh]
        before = np.cumsum(batch.order < 0)[batch.order >= 0]  # labels learned before each of the predictions
        self._counts = np.pad(self._counts, (0, max(0, int(batch.labels.max(initial=0)) + 1 - len(self._counts))))
        # Sorted by label, then by place: a label came before a place as often as it lies behind the label's first one.
        span = len(learned) + 1
        places = np.sort(learned * span + np.arange(len(learned)))
        earlier = np.searchsorted(places, own * span + before) - np.searchsorted(places, own * span)
        total = self._counts.sum() + before
        found = np.full(len(batch.labels), np.nan)
        found[fresh] = np.where(total > 0, (self._counts[own] + earlier) / np.maximum(total, 1), np.nan)
        self._counts += np.bincount(learned, minlength=len(self._counts))
        return found

    def add(self, share: Floats, model: Floats) -> None:
        """Take in rows whose label has come: the share of it and the model's probability, NaN without one.

        Rows with a label that was new then are left out: both give it no probability.
        """
        known = ~np.isnan(model) & (share > 0)
        own, others = surprise(share[known]), surprise(model[known])
        self._surprise = add_in_order(self._surprise, own)
        self._blocks.add(others - own)

    def metrics(self) -> dict[str, Any] | None:
        """Log-losses of the shares and of the model, and their difference with an interval; None without one."""
        rows = self._blocks.rows
        if not rows:
            return None
        log_loss = self._surprise / rows
        difference = self._blocks.interval(least=-log_loss)
        return {
            "rows": rows,
            "log_loss": log_loss,
            "model": log_loss + difference["difference"],
            "difference": difference,
        }
