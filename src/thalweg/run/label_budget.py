"""A run that learns only the labels it asks for: which rows these are, and the error over all rows by them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from thalweg.files import write_atomically
from thalweg.label_budget.asking import Asking
from thalweg.label_budget.period import parse_budget
from thalweg.label_budget.worth import Worth
from thalweg.run.options import RunOptions
from thalweg.run.predictions import header
from thalweg.saved import Saved
from thalweg.tables.clock import NEVER
from thalweg.tables.late_labels import Batch

Places = NDArray[np.int64]
#: Budgets of the curve.
CURVE = (0.01, 0.03, 0.1, 0.3, 1.0)
#: Per row, kept while it waits for its label: whether it was asked for, how probable that was, and what it lost.
_ASKED, _PROBABILITY, _LOSS = _COLUMNS = ("asked", "ask_probability", "ask_loss")
#: Share of the budget spent on all rows alike, unless it is given; a shop that checks what it flags explores nothing.
_EXPLORE = 0.1


class RunBudget(Saved):
    """What a run's task asks for, and what of it came back."""

    _saved: ClassVar[tuple[str, ...]] = ("asking", "period", "came", "to_label")

    def __init__(self, options: RunOptions, *, numeric: bool) -> None:
        assert options.label_budget is not None
        asked = parse_budget(options.label_budget)
        strategy = options.labels_of
        explore = options.explore
        if explore is None:
            explore = 0.0 if strategy == "flagged" else _EXPLORE
        share = asked if isinstance(asked, float) else 0.1
        self.text, self.strategy, self.explore = options.label_budget, strategy, explore
        self._usual = share
        self.asking = Asking(share, strategy, explore, options.seed, numeric=numeric)
        #: Of a budget for periods of time.
        self.period = None if isinstance(asked, float) else asked
        #: Asked rows whose label has come.
        self.came = 0
        #: Asked rows that have no label: the number of each, and how probable it was that it is asked for.
        self.to_label: list[list[float]] = []
        self._numeric, self._start = numeric, options.label_start
        self._now: Places | None = None
        self._columns: dict[str, NDArray[Any]] = {}

    def columns(self, batch: Batch) -> dict[str, NDArray[Any]]:
        """What is kept of each row in hand."""
        rows = len(batch.number)
        nothing = np.full(rows, np.nan)
        self._columns = dict(zip(_COLUMNS, (np.zeros(rows, dtype=np.bool_), nothing, nothing.copy()), strict=True))
        return self._columns

    def at(self, now: Places | None) -> None:
        """The times of the rows that come next, for a budget of each period."""
        self._now = now

    def parts(self, batch: Batch, steps: Places, worth: Callable[[Any], Worth]) -> Iterator[Places]:
        """The steps that are taken, as `Asking.parts` has them."""
        asked, probability, _ = self._columns.values()
        return self.asking.parts(
            steps, asked, probability, lambda rows: worth(batch.X[rows]), lambda row: self._share(batch, row)
        )

    def _share(self, batch: Batch, row: int) -> float:
        if batch.number[row] <= self._start:
            return 1.0
        if self.period is None:
            return self._usual
        now = NEVER if self._now is None else int(self._now[row - batch.carried])
        return 0.0 if now == NEVER else self.period.share(now, self.asking.sampler.asked)

    def predicted(self, rows: Places, predictions: NDArray[Any], targets: NDArray[Any]) -> None:
        """What the predictions of some rows lose, which had a model to predict them."""
        wrong = np.abs(predictions - targets) if self._numeric else predictions != targets
        self._columns[_LOSS][rows] = wrong

    def learned(self, rows: Places, targets: NDArray[Any]) -> None:
        """Rows that were asked for are learned."""
        self.came += len(rows)
        loss, probability = self._columns[_LOSS][rows], self._columns[_PROBABILITY][rows]
        known = ~np.isnan(loss)
        positive = None if self.asking.positive is None else (targets == self.asking.positive)[known]
        self.asking.came(loss[known], probability[known], positive)

    def order(self, batch: Batch) -> Places:
        """The order of the batch without what is not learned, for baselines."""
        asked = self._columns[_ASKED]
        return np.asarray(batch.order[(batch.order >= 0) | asked[np.maximum(~batch.order, 0)]])

    def never_labelled(self, batch: Batch) -> None:
        """Note the fresh rows that were asked for and have no label."""
        asked, probability = self._columns[_ASKED].copy(), self._columns[_PROBABILITY]
        asked[: batch.carried] = False
        asked[batch.learned] = asked[batch.waiting] = False
        rows = np.flatnonzero(asked)
        self.to_label += np.stack([batch.number[rows], probability[rows]], axis=1).tolist()

    def write(self, path: Path) -> None:
        """The rows to label, those that were the most worth asking first."""
        lines = sorted(self.to_label, key=lambda line: (-line[1], line[0]))
        text = "".join(f"{int(number)},{round(probability, 6)}\n" for number, probability in lines)
        write_atomically(path, header(("row", "probability")) + text.encode())

    def metrics(self, scores: dict[str, float | None], curve: list[list[float | None]] | None) -> dict[str, Any]:
        """What ``metrics.json`` has of it, ``scores`` being those over all rows whose label is in the table."""
        estimate, sampler = self.asking.error(), self.asking.sampler
        loss = "mae" if self._numeric else "error"
        return {
            "budget": self.text,
            "strategy": self.strategy,
            "explore": self.explore,
            "start": self._start,
            "rows": sampler.rows,
            "asked": sampler.asked,
            "came": self.came,
            "to_label": len(self.to_label),
            "loss": loss,
            "estimate": dict(zip(("value", "low", "high"), estimate, strict=True)),
            "truth": scores[loss],
            **({} if curve is None else {"curve": curve}),
        }


def curve(options: RunOptions, score: Callable[[RunOptions], float | None]) -> list[list[float | None]]:
    """The error with each of the budgets, a run each.

    Examples
    --------
    >>> options = RunOptions("rows.csv", "label", label_budget="0.1", label_curve=True)
    >>> curve(options, lambda asked: float(asked.label_budget))[1:3]
    [[0.03, 0.03], [0.1, 0.1]]
    """
    return [[share, score(replace(options, label_budget=str(share), against=None, alert=()))] for share in CURVE]
