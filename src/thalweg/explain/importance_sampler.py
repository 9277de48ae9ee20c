"""Importance of the columns along a stream: samples of rows that are about to be learned, with labels known.

A sample is due after so many learned rows: the next rows to learn, whenever their own predictions were made, are judged
by the model as it is. Their number depends on the number of columns, so that all samples together take less than a
tenth of the run's time, and not on the clock. Where a chunk ends within a sample, a copy of the model waits for the
rest of its rows: what is found does not depend on the chunks.

Values are replaced by those of the last rows. A model that forgets is right near them only: where rows come by hour,
what it would say at another hour, or on another day, shows no reliance on either.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy, deepcopy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.explain.groups import Groups, stand_ins
from thalweg.explain.importance import is_classifier, replace_groups
from thalweg.explain.over_time import Estimate, ImportanceOverTime, causes
from thalweg.saved import Saved
from thalweg.tables import Plan
from thalweg.tables.encoder import stack_rows

#: Rows of a sample; fewer where columns are many, for which so many predictions are made at a time.
_LEAST_ROWS, _MOST_ROWS, _AT_A_TIME = 2, 8, 400
#: Predictions for each learned row: few of them, and more where columns are many, since learning then takes longer than
#: predicting; but not where they are so many that the default learns by other members.
_PREDICTIONS, _MORE_EACH_COLUMN, _WIDE = 0.08, 0.003, 200
#: Numbers in the replaced rows of a sample: of wider tables nothing is sampled.
_MOST_NUMBERS = 1 << 20
#: Sparse rows are put together in Python, which takes longer.
_SPARSE_DISTANCE = 2000
#: The first samples, before they come at equal distances.
_FIRST = 64
#: Reference rows: how many, fewer where columns are many, and from how many rows back.
_LEAST_REFERENCE, _MOST_REFERENCE, _REACH = 16, 64, 512
#: Columns that metrics have over time: the most important.
MOST_COLUMNS = 20
_DIGITS = 5


class ImportanceSampler(Saved):
    """Takes the samples of a stream and keeps what they say; a sample that waits is no part of its state."""

    _saved = ("due", "label", "_begun_at", "seen", "_over_time", "reference", "_targets", "_recent")

    def __init__(self, plan: Plan, seed: int, joined: Sequence[Sequence[int]] = ()) -> None:
        #: Columns that stand for each other, which are replaced together.
        self.joined = [list(features) for features in joined]
        self.groups = Groups.of_plan(plan).joined(joined)
        self._seed = seed
        self._sparse = bool(plan.sparse_columns)
        count, width = len(self.groups), len(plan.feature_names)
        numbers = (count + 1) * max(width, 1)
        self._rows = int(np.clip(_AT_A_TIME // (count + 1), _LEAST_ROWS, _MOST_ROWS))
        budget = _PREDICTIONS + (_MORE_EACH_COLUMN * count if count <= _WIDE else 0.0)
        self.distance = max(round(self._rows * (count + 1) / budget), _SPARSE_DISTANCE if self._sparse else 1)
        self._keep = int(np.clip(_MOST_REFERENCE * _MOST_ROWS // (count + 1), _LEAST_REFERENCE, _MOST_REFERENCE))
        is_useless = numbers > _MOST_NUMBERS or (self._sparse and count == 1)  # the words of one column are all
        #: After how many learned rows the next sample is due.
        self.due: float = np.inf if is_useless else _FIRST
        self._begun_at = 0
        self._over_time = ImportanceOverTime(count, self.distance)
        #: The label whose probability effects are about; settled with the second class.
        self.label: str | None = None
        #: Recent rows before the last sample: where replaced values come from, and background for explanations.
        self.reference: Any = None
        self._targets: NDArray[Any] | None = None
        #: Those of now, and how many rows were learned with them.
        self._recent: tuple[Any, NDArray[Any]] | None = None
        self.seen = 0
        #: A sample that lacks rows: the model that judges it, and the rows so far.
        self.waiting: tuple[Any, Any, NDArray[Any]] | None = None

    def remember(self, first: int, X: Any, y: NDArray[Any]) -> None:
        """Rows that are learned, after so many others, in their order."""
        self.seen = first + len(y)
        apart = _REACH // self._keep
        places = np.arange(-first % apart, len(y), apart)
        if len(places):
            rows, targets = X[places], y[places]
            if self._recent is not None:
                rows, targets = stack_rows([self._recent[0], rows]), np.concatenate([self._recent[1], targets])
            self._recent = rows[-self._keep :], targets[-self._keep :]

    @property
    def lacking(self) -> int:
        """Rows that the sample in hand, or the next one, still needs."""
        return self._rows - (0 if self.waiting is None else self.waiting[1].shape[0])

    @classmethod
    def of_first_rows(cls, plan: Plan, seed: int, X: Any) -> ImportanceSampler:
        """Which columns stand for each other, these rows say; sparse ones stand for themselves."""
        dense = isinstance(X, np.ndarray)
        return cls(plan, seed, stand_ins(X, Groups.of_plan(plan)) if dense else ())

    def begin(self, learned: int, model: Any, X: Any, y: NDArray[Any], label: str | None) -> None:
        """Take the sample that is due, of the rows that are learned next; the rest of them may come later."""
        self._begun_at = learned
        early = learned * 2 if learned < self.distance else np.inf
        self.due = min(early, (learned // self.distance + 1) * self.distance)
        if is_classifier(model) and self.label is None:
            self.label = label if len(model.classes_) > 1 else None
        if self._recent is not None:
            self.reference, self._targets = self._recent
        if len(y) == self._rows:
            self._judge(model, X, y)
        else:
            self.waiting = (deepcopy(model), X, y)

    def go_on(self, X: Any, y: NDArray[Any]) -> None:
        """Further rows of the sample that waits for them."""
        assert self.waiting is not None
        model, before, targets = self.waiting
        X, y = stack_rows([before, X]), np.concatenate([targets, y])
        self.waiting = (model, X, y)
        if len(y) == self._rows:
            self.waiting = None
            self._judge(model, X, y)

    def _judge(self, model: Any, X: Any, y: NDArray[Any]) -> None:
        if self.reference is None or self._targets is None:
            self.reference, self._targets = X, y
        elif self._recent is None:  # a service does not remember the rows between samples
            self.reference = stack_rows([self.reference, X])[-self._keep :]
            self._targets = np.concatenate([self._targets, y])[-self._keep :]
        spread = 1.0
        if is_classifier(model):
            if self.label is None:
                return
        else:
            assert self._targets is not None
            spread = float(self._targets.std()) or 1.0
        rng = np.random.default_rng([self._seed, self._begun_at])
        replaced = replace_groups(model, X, y, self.reference, self.groups, self.label, spread, rng)
        self._over_time.add(self._begun_at, replaced)

    @property
    def sampled_at(self) -> int:
        """How many rows were learned when the last sample began."""
        return self._begun_at

    def frozen(self) -> ImportanceSampler:
        """As it is now, for another thread to read while this one takes samples."""
        frozen = copy(self)
        frozen._over_time = self._over_time.copy()
        return frozen

    def ranking(self) -> list[tuple[str, float]]:
        """The most important columns over the last rows, with the growth of the loss, the largest first."""
        recent = self._over_time.recent()
        if recent is None:
            return []
        order = np.argsort(-recent.increase, kind="stable")[:MOST_COLUMNS].tolist()
        return [(self.groups.names[at], float(recent.increase[at])) for at in order if recent.varied[at]]

    def metrics(self, changes: list[dict[str, Any]], loss: str) -> dict[str, Any] | None:
        """For ``metrics.json``; None without a sample."""
        overall, recent = self._over_time.overall(), self._over_time.recent()
        if overall is None or recent is None:
            return None
        names = self.groups.names
        joined = dict(zip(names, self.groups.joined_names, strict=True)) if self.joined else {}
        joined = {name: columns for name, columns in joined.items() if len(columns) > 1}
        largest = np.fmax(overall.increase, recent.increase)
        varied = [at for at in np.argsort(-largest, kind="stable").tolist() if overall.varied[at]]
        order = varied[:MOST_COLUMNS]
        blocks = [(block.last, block.estimate()) for block in self._over_time.blocks.values()]
        rows = [row for row, _ in blocks]
        return {
            "loss": loss,
            "label": self.label,
            "sample_rows": self._rows,
            "every": self.distance,
            "rows": rows,
            "columns": [
                {
                    "name": names[at],
                    **({"columns": joined[names[at]]} if names[at] in joined else {}),
                    "overall": _of_column(overall, at),
                    "recent": _of_column(recent, at),
                    "increase": [_short(sums.increase[at]) for _, sums in blocks],
                    "error": [_short(sums.increase_error[at]) for _, sums in blocks],
                    "effect": [_short(sums.effect[at]) for _, sums in blocks],
                }
                for at in order
            ],
            "columns_left_out": len(varied) - len(order),
            "causes": causes(self._over_time, names, [change["row"] for change in changes], self.distance),
        }


def loss_name(model: Any) -> str:
    """The loss whose growth is the importance of a column to this model."""
    if not is_classifier(model):
        return "squared error"
    return "log-loss" if hasattr(model, "predict_proba") else "error"


def _of_column(estimate: Estimate, at: int) -> dict[str, float | None]:
    return {
        name: _short(getattr(estimate, name)[at]) for name in ("increase", "increase_error", "effect", "effect_error")
    }


def _short(value: float) -> float | None:
    return float(f"{value:.{_DIGITS}g}") if np.isfinite(value) else None
