"""Which rows a live model asks the labels of: decided when they are predicted, and written down with the predictions.

What is decided depends on which labels were learned by then, so that replays, restarts and replicas take it from the
journal.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from thalweg.errors import InvalidParameter
from thalweg.label_budget.asking import Asking
from thalweg.label_budget.period import RULE, parse_budget
from thalweg.label_budget.sampler import RULES, Decision, RowWorth
from thalweg.label_budget.worth import Worth, dense
from thalweg.saved import Saved
from thalweg.service.commands import Refused
from thalweg.service.journal.records import LabelledRow, Predicted, PredictedRows, row_id

#: What a predict record keeps of each row, beside the predictions of the model that is asked.
_ASK, _PROBABILITY, *_ = COLUMNS = (
    "ask",
    "ask_probability",
    "ask_share",
    "ask_uncertainty",
    "ask_positive",
    "ask_unusual",
)
#: Asked rows that wait for their label and are listed: the last ones.
MOST_OPEN = 1000


def settings_of(budget: str | float | None, labels_of: str | None, explore: float | None) -> dict[str, Any]:
    """What the record that makes a model keeps of its label budget; nothing where it has none."""
    if budget is None:
        if labels_of is not None or explore is not None:
            raise Refused(422, "labels_of and explore need a label_budget")
        return {}
    settings: dict[str, Any] = {
        "budget": str(budget),
        "labels_of": labels_of or "auto",
        "explore": 0.1 if explore is None else explore,
    }
    try:
        parse_budget(settings["budget"])
    except ValueError as error:
        raise Refused(422, f"label_budget must {RULE}") from error
    try:
        RULES["strategy"].check("model", "labels_of", settings["labels_of"])
        RULES["explore"].check("model", "explore", settings["explore"])
    except InvalidParameter as error:
        raise Refused(422, str(error)) from error
    return {"label_budget": settings}


class LiveBudget(Saved):
    """Of a live model it is a function of the journal; a copy of it decides for the rows that come."""

    _saved: ClassVar[tuple[str, ...]] = ("asking", "period", "waiting")

    def __init__(self, settings: dict[str, Any], positive: str | None, *, numeric: bool) -> None:
        self.settings = settings
        asked = parse_budget(settings["budget"])
        self.period = None if isinstance(asked, float) else asked
        share = asked if isinstance(asked, float) else 0.1
        self.asking = Asking(share, settings["labels_of"], settings["explore"], positive=positive, numeric=numeric)
        #: By id, the asked rows without a label: how probable it was that they are asked for, and when they came.
        self.waiting: dict[str, list[float]] = {}

    def decide(self, own: Predicted, worth: Worth, now: int) -> None:
        """Decide for rows that were just predicted; what is decided goes beside the predictions."""
        rows = len(worth.uncertainty)
        asks, numbers = np.zeros(rows, dtype=np.bool_), np.zeros((len(COLUMNS) - 1, rows))
        for row in range(rows):
            usual = self.asking.sampler.share
            share = usual if self.period is None else self.period.share(now, self.asking.sampler.asked)
            own_worth = self.asking.row_worth(worth, row)
            asks[row], probability = self.asking.decide(worth, row, share)
            numbers[:, row] = probability, share, *own_worth
        own.columns |= dict(zip(COLUMNS, (asks, *numbers), strict=True))

    def follow(self, rows: PredictedRows, own: Predicted | None) -> None:
        """Rows that were predicted, with what was decided then."""
        if own is None or _ASK not in own.columns:
            return
        columns = zip(*(own.columns[name].tolist() for name in COLUMNS), strict=True)
        X = dense(rows.body.X)
        for row, (ask, probability, share, *worth) in enumerate(columns):
            if self.period is not None:
                self.period.share(rows.time, self.asking.sampler.asked)
            values = None if X is None or row in rows.body.erased else X[row]
            self.asking.record(Decision(ask, probability), RowWorth(*worth), values, share)
            if ask and row not in rows.labels:
                self.waiting[row_id(rows.seq, row)] = [probability, rows.time / 1e6]
        while len(self.waiting) > MOST_OPEN:
            del self.waiting[next(iter(self.waiting))]

    def came(self, rows: Sequence[LabelledRow], name: str, losses: NDArray[np.float64], positive: str | None) -> None:
        """Labels have come, and what the predictions of their rows lost, NaN where there was none."""
        for row, loss in zip(rows, losses.tolist(), strict=True):
            self.waiting.pop(row_id(row.rows.seq, row.row), None)
            own = row.rows.body.predictions.get(name)
            if own is None or _ASK not in own.columns or not own.columns[_ASK][row.row] or np.isnan(loss):
                continue
            is_positive = None if positive is None else np.array([row.label == positive])
            self.asking.came(np.array([loss]), own.columns[_PROBABILITY][row.row : row.row + 1], is_positive)

    def withdraw(self, rows: Iterable[tuple[int, int]]) -> None:
        """Rows, each by its predict record and place, can get no label."""
        for asked, row in rows:
            self.waiting.pop(row_id(asked, row), None)

    def drop(self, through: int) -> None:
        """Rows of records up to this one have expired."""
        expired = [row for row in self.waiting if int(row.partition("-")[0]) <= through]
        for row in expired:
            del self.waiting[row]

    def know(self, later: LiveBudget) -> None:
        """Take over what labels say by now."""
        own, other = self.asking, later.asking
        own.estimate, own.labels, own.positives = other.estimate, other.labels, other.positives
        self.waiting = later.waiting

    def counters(self) -> dict[str, Any]:
        """By the names of metrics."""
        estimate, sampler = self.asking.error(), self.asking.sampler
        interval = {"value": estimate.value, "low": estimate.lower, "high": estimate.upper}
        return {"model_asked_rows_total": sampler.asked, "model_to_label_rows": len(self.waiting)} | {
            "model_estimated_error": {name: value for name, value in interval.items() if value is not None}
        }

    def described(self) -> dict[str, Any]:
        """What the details of a model say of it."""
        estimate, sampler = self.asking.error(), self.asking.sampler
        return {
            **self.settings,
            "rows": sampler.rows,
            "asked": sampler.asked,
            "waiting": len(self.waiting),
            "error": estimate.value,
            "interval": None if estimate.lower is None else [estimate.lower, estimate.upper],
        }
