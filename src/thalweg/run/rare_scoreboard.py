"""Scores of a run that see a rare class: areas under the curves, reliability of P(positive), costs, and alerts.

They count the rows that the `Scoreboard` counts, in constant memory; neither chunks nor interruptions change a digit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.errors import InvalidParameter
from thalweg.evaluate.alerts import AlertMeter
from thalweg.evaluate.averages import HistoryPoints, WindowedMean
from thalweg.evaluate.confusion import f1, precision, recall
from thalweg.evaluate.layout import finite
from thalweg.evaluate.probability_scores import BINS, EDGES, BinnedAuc, bins_of, reliability_of
from thalweg.kernels import compiled
from thalweg.option_fields import parse_costs
from thalweg.run.label_scoreboard import PREDICTORS
from thalweg.run.options import RunOptions
from thalweg.run.questions import AlertsAsked
from thalweg.run.scoreboard import BlockMeans, student_interval
from thalweg.saved import Saved
from thalweg.tables.clock import NEVER
from thalweg.tables.target import plain_label

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]

#: Rows of the areas over time: with one positive in a hundred rows, a hundred of them.
WINDOW = 10_000
#: Points over time, at the most: each walks through the window for the average precision.
MOST_POINTS = 150
_MISTAKES = ("fp", "fn")
#: Baselines of the cost alone: the label of interest for every row, or for none.
_CONSTANT = {"always": True, "never": False}


class RareScoreboard(Saved):
    _saved = (
        "positive",
        "_second",
        "rows",
        "with_proba",
        "_history",
        "_bins",
        "_blocks",
        "_alerts",
        "_outcomes",
        "_all",
    )

    def __init__(self, options: RunOptions) -> None:
        #: The label of interest; None until the first rows have settled it, and where there is none.
        self.positive = None if options.positive is None else plain_label(options.positive)
        self.named = options.positive is not None
        self._asks_for_it = options.labels_of in ("rare", "flagged")
        #: Whether the first rows had one label: the next one to come is the rarer.
        self._second = False
        self.costs = None if options.costs is None else parse_costs(options.costs)
        self.alerts_asked = None if options.alerts is None else AlertsAsked.parse(options.alerts)
        self._alerts = None if self.alerts_asked is None else AlertMeter(self.alerts_asked.count)
        self.rows = self.with_proba = 0
        #: After so many rows, the areas, and the shares of true positives, false positives and false negatives.
        self._history = HistoryPoints[list[float | None]](MOST_POINTS)
        #: P(positive) and which rows are positives: of the last rows, and of all of them, binned.
        self._recent, self._all = compiled.RecentAuc(rows=WINDOW), BinnedAuc()
        self._outcomes = WindowedMean(WINDOW, 3)
        self._bins = np.zeros((3, BINS))  # rows, sum of P(positive), positives
        #: By baseline and mistake, how many more the model makes; only costs ask for it.
        compared = () if self.costs is None else (*PREDICTORS[1:], *_CONSTANT)
        self._blocks = {name: {mistake: BlockMeans() for mistake in _MISTAKES} for name in compared}

    def settle(self, labels: Codes, known: list[str]) -> None:
        """Choose the rarer of two labels by the first rows, the later one at a tie, where none is named."""
        if self.named:
            return
        if len(known) == 2:
            first, second = (int((labels == number).sum()) for number in (1, 2))
            self.positive = known[0] if first < second else known[1]
        self._second = len(known) < 2
        if len(known) > 2 and (self.costs or self.alerts_asked or self._asks_for_it):
            rule = f"name the label of interest, one of {', '.join(known[:5])}{' …' if len(known) > 5 else ''}"
            raise InvalidParameter.of_option("positive", rule, None)

    def number(self, known: list[str]) -> int:
        """The number of the label of interest, from 1; 0 while it has not come."""
        if self.positive is None and self._second and len(known) > 1:
            self.positive = known[1]
        return known.index(self.positive) + 1 if self.positive in known else 0

    def period(self, number: Codes, now: Codes | None) -> Codes | None:
        """The period of each row, in which alerts are counted; `NEVER` for a row without a time."""
        if self.alerts_asked is None:
            return None
        if self.alerts_asked.rows is not None:
            return (number - 1) // self.alerts_asked.rows
        assert now is not None
        assert self.alerts_asked.microseconds is not None
        return np.where(now == NEVER, NEVER, now // self.alerts_asked.microseconds)

    def add(
        self,
        truth: Codes,
        predictions: dict[str, Codes],
        of_positive: Floats | None,
        period: Codes | None,
        number: Codes,
        *,
        positive: int,
        unpredicted: int,
    ) -> None:
        """Take in rows that were predicted and whose labels have come, ``positive`` being the number of the label."""
        if len(truth) == 0:
            return
        if self.positive is None and not self._second:  # there is no label of interest, nor will there be
            self.rows += len(truth)
            return
        is_positive = truth == positive
        at = self._history.due_among(self.rows, len(truth))
        said = predictions["model"] == positive
        outcomes = np.stack([is_positive & said, ~is_positive & said, is_positive & ~said], axis=1)
        shares = self._outcomes.push_and_average(outcomes, at)
        areas = np.full((len(at), 2), np.nan)
        if of_positive is not None:
            known = ~np.isnan(of_positive)
            scores, flags = np.ascontiguousarray(of_positive[known]), np.ascontiguousarray(is_positive[known])
            due = np.cumsum(known)[at] - 1
            due = due[due >= 0]
            roc, precision = self._recent.push_and_score(scores, flags, due)
            areas[len(at) - len(due) :] = np.stack([roc[due], precision], axis=1)
            self._add_scores(scores, flags)
            if self._alerts is not None and period is not None:
                timed = known & (period != NEVER)
                self._alerts.update(period[timed], number[timed], of_positive[timed], is_positive[timed])
        for row, area, share in zip(at.tolist(), areas.tolist(), shares.tolist(), strict=True):
            self._history.add([row + unpredicted + self.rows + 1, *map(finite, area), *share])
        for name, blocks in self._blocks.items():
            flagged = np.full(len(truth), _CONSTANT[name]) if name in _CONSTANT else predictions[name] == positive
            for mistake, kind in (("fp", ~is_positive), ("fn", is_positive)):
                more = (kind & (said != is_positive)).astype(np.int64)
                blocks[mistake].add(more - (kind & (flagged != is_positive)))
        self.rows += len(truth)

    def _add_scores(self, scores: Floats, flags: NDArray[np.bool_]) -> None:
        self.with_proba += len(scores)
        self._all.push(scores, flags)
        where = bins_of(scores)
        self._bins[0] += np.bincount(where, minlength=BINS)
        np.add.at(self._bins[1], where, scores)  # one after the other: sums must not depend on how rows are cut
        self._bins[2] += np.bincount(where[flags], minlength=BINS)

    def terms(self) -> dict[str, Any]:
        """What metrics of P(positive) are read from."""
        areas = self._all.roc_auc(), self._all.average_precision()
        return {"areas": areas, "reliability": reliability_of(self._bins)}

    def recent_areas(self) -> dict[str, float | None]:
        """Over the last rows, exact."""
        areas = {"roc_auc": self._recent.roc_auc(), "pr_auc": self._recent.average_precision()}
        return {f"recent_{name}": finite(area) for name, area in areas.items()}

    def metrics(
        self, confusion: NDArray[np.int64], labels: list[str], order: list[int], cost: float | None
    ) -> dict[str, Any]:
        """What `metrics.json` holds beside the scores.

        ``confusion`` is the model's, ``order`` the places of the labels that have rows, as they are to be listed,
        ``cost`` that of a row.
        """
        at = labels.index(self.positive) if self.positive in labels else None
        with_areas = bool(self.with_proba) and at is not None
        positives = 0 if at is None else int(confusion[at].sum())
        by_class = {"precision": precision, "recall": recall, "f1": f1}
        return {
            "positive": self.positive,
            "named": self.named,
            "share": positives / self.rows if self.rows and at is not None else None,
            "classes": {
                "labels": [labels[place] for place in order],
                "rows": [int(confusion[place].sum()) for place in order],
                "predicted": [int(confusion[:, place].sum()) for place in order],
                **{
                    name: [finite(value) for value in score(confusion)[order].tolist()]
                    for name, score in by_class.items()
                },
            },
            "curve": None if at is None else self._curve(),
            "reliability": self._reliability() if with_areas else None,
            "costs": None if self.costs is None or at is None else self._compared_costs(cost, positives),
            "alerts": None if not with_areas else self._alert_scores(),
        }

    def _curve(self) -> dict[str, Any]:
        points = self._history.points
        rows, roc, pr, hits, false, missed = zip(*points, strict=True) if points else ((),) * 6
        return {
            "rows": [int(row or 0) for row in rows],
            "window": WINDOW,
            "roc_auc": list(roc),
            "pr_auc": list(pr),
            "recall": [_ratio(tp, fn) for tp, fn in zip(hits, missed, strict=True)],
            "precision": [_ratio(tp, fp) for tp, fp in zip(hits, false, strict=True)],
        }

    def _reliability(self) -> dict[str, Any]:
        curve = reliability_of(self._bins)
        return {
            "edges": EDGES.tolist(),
            "rows": [int(rows) for rows in self._bins[0]],
            "probability": [finite(value) for value in curve.probability.tolist()],
            "observed": [finite(value) for value in curve.observed.tolist()],
            "expected_error": finite(curve.expected_error),
        }

    def _compared_costs(self, cost: float | None, positives: int) -> dict[str, Any]:
        assert self.costs is not None
        costs: dict[str, Any] = dict(self.costs)
        sums = {"always": self.costs["fp"] * (self.rows - positives), "never": self.costs["fn"] * positives}
        for name, blocks in self._blocks.items():
            means = sum(self.costs[kind] * np.array(blocks[kind].sums) for kind in _MISTAKES) / blocks["fp"].length
            parts = [(self.costs[kind], blocks[kind].mean) for kind in _MISTAKES]
            difference = None if self.rows == 0 else sum(price * (mean or 0.0) for price, mean in parts)
            constant = sums[name] / self.rows if self.rows and name in sums else None
            if constant is not None and cost is not None:
                difference = cost - constant
            least = -math.inf if difference is None or cost is None else difference - cost
            costs[name] = student_interval(difference, np.asarray(means), blocks["fp"].length, least)
            if name in sums:
                costs[name]["cost"] = constant
        return costs

    def _alert_scores(self) -> dict[str, Any] | None:
        if self._alerts is None or self.alerts_asked is None:
            return None
        scores = self._alerts.scores()._asdict()
        per = self.alerts_asked.unit or f"{self.alerts_asked.rows:,} rows"
        known = {key: finite(value) if isinstance(value, float) else value for key, value in scores.items()}
        return {"count": self.alerts_asked.count, "per": per, **known}

    def state(self) -> dict[str, Any]:
        scores, flags = self._recent.rows()
        return super().state() | {"scores": scores, "flags": flags.astype(np.bool_)}

    def restore(self, state: Mapping[str, Any]) -> None:
        super().restore(state)
        self._recent.push(state["scores"], state["flags"])


def _ratio(part: float | None, other: float | None) -> float | None:
    assert part is not None
    assert other is not None
    return part / (part + other) if part + other else None
