"""Scores for streams with rare classes: what the error hides where one row in a hundred is positive.

Precision, recall and their relatives come from the averaged confusion matrix; ROC AUC, PR AUC and the reliability of
P(positive) from the probabilities; alerts from the highest of them. All are kept up to date in constant memory, over
all rows, over the last ones, or fading.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from thalweg.errors import InvalidInput, InvalidParameter
from thalweg.evaluate.alerts import AlertMeter, Alerts, AlertScores
from thalweg.evaluate.averages import RunningMean
from thalweg.evaluate.confusion import ClassScores, Costs, RunningConfusion, class_scores, cost_matrix
from thalweg.evaluate.history import Average, Cumulative, Windowed, no_rows
from thalweg.evaluate.record import Codes, Floats, Labels, Record
from thalweg.evaluate.reliability import BINS, Reliability, bin_statistics, reliability_of
from thalweg.evaluate.running_auc import RunningAuc, running_auc
from thalweg.parameters import whole_number

_PREDICTORS = ("predictions", "no_change", "majority")


class RareSummary(NamedTuple):
    """Scores of a stream with rare classes, the baselines alongside.

    Attributes
    ----------
    rows, unpredicted : int
        All rows, and those at the start that came before any label: they are not scored.
    classes : array
        The labels, in the order of the scores by class.
    positive : label or None
        The class that the scores below are about.
    model, no_change, majority : ClassScores
        Precision, recall and F1 by class, balanced accuracy, G-mean, Matthews' correlation and cost.
    share : float or None
        The share of positives, which is also the PR AUC of scores that say nothing.
    roc_auc, pr_auc : float or None
        The areas under the ROC and the precision-recall curve (average precision); None without probabilities or
        without a positive class, NaN where the rows are all of one kind.
    reliability : Reliability or None
        How well P(positive) is calibrated.
    alerts : AlertScores or None
        Precision and recall of the rows with the highest P(positive) of each period, over all rows.

    Examples
    --------
    >>> from thalweg import OnlineLogistic
    >>> from thalweg.evaluate import prequential, summarise_rare
    >>> from thalweg.streams import Fraud
    >>> summary = summarise_rare(prequential(OnlineLogistic(), Fraud(seed=1), rows=20_000), positive=1)
    >>> summary.share < 0.02, summary.roc_auc > 0.5
    (True, True)
    """

    rows: int
    unpredicted: int
    classes: Labels
    positive: Any
    model: ClassScores[float]
    no_change: ClassScores[float]
    majority: ClassScores[float]
    share: float | None
    roc_auc: float | None
    pr_auc: float | None
    reliability: Reliability | None
    alerts: AlertScores | None


class RareCurve(NamedTuple):
    """Scores over time; ``rows`` is how many rows had been seen at each point, the rest is as in `RareSummary`.

    Scores by class have shape (points, classes). ``calibration_error`` is the expected error of the reliability curve.

    Examples
    --------
    >>> from thalweg import OnlineLogistic
    >>> from thalweg.evaluate import curve_rare, prequential
    >>> from thalweg.streams import Fraud
    >>> over_time = curve_rare(prequential(OnlineLogistic(), Fraud(seed=1), rows=3000), positive=1, every=1000)
    >>> over_time.rows.tolist(), over_time.model.recall.shape, over_time.roc_auc.shape
    ([1000, 2000, 3000], (3, 2), (3,))
    """

    rows: Codes
    classes: Labels
    positive: Any
    model: ClassScores[Floats]
    no_change: ClassScores[Floats]
    majority: ClassScores[Floats]
    share: Floats | None
    roc_auc: Floats | None
    pr_auc: Floats | None
    calibration_error: Floats | None


class RareMeter:
    """Keeps the scores of a stream with rare classes up to date, in constant memory.

    Parameters
    ----------
    positive : label, optional
        The class of interest, against all others. By default the second of two classes, as in scikit-learn, and none
        of more.
    costs : matrix or mapping, optional
        ``costs[truth, prediction]``, in the order of the classes; or ``{"fp": 1, "fn": 50}``.
    alerts : Alerts, optional
        So many rows with the highest P(positive) of every so many rows.
    average : Cumulative, Windowed or Fading, optional
        Over which rows, and with which weights; by default all rows. ROC AUC and PR AUC of all rows take probabilities
        within 1/64 of log-odds for equal; those of a window are exact. Alerts always count all rows.

    Examples
    --------
    >>> from thalweg import NoChange
    >>> from thalweg.evaluate import prequential
    >>> from thalweg.streams import Table
    >>> meter = RareMeter(costs={"fp": 1, "fn": 50})
    >>> for record in prequential(NoChange(), Table([[0.0]] * 5, ["a", "a", "b", "b", "a"]), chunk=2):
    ...     meter.update(record)
    >>> meter.summary().model.recall.tolist(), meter.summary().model.cost
    ([0.5, 0.5], 12.75)
    """

    def __init__(
        self,
        *,
        positive: Any = None,
        costs: Costs | None = None,
        alerts: Alerts | None = None,
        average: Average | None = None,
    ) -> None:
        self._asked, self._costs, self._alerts = positive, costs, alerts
        self._average = Cumulative() if average is None else average
        self._rows = self._unpredicted = 0
        self._scorer: _Scorer | None = None

    def update(self, record: Record) -> None:
        """Take in a record."""
        for _ in self._points(record, max(1, len(record))):
            pass

    def summary(self) -> RareSummary:
        """The scores now."""
        if self._rows == 0:
            raise no_rows("summary")
        if self._rows == self._unpredicted or self._scorer is None:
            raise InvalidInput(
                f"All {self._rows:,} rows came before the first label was known: there is nothing to score."
            )
        return self._scorer.summary(self._rows, self._unpredicted)

    def update_every(self, record: Record, every: int) -> Iterator[RareSummary]:
        """Take in a record, with a summary whenever the rows seen reach a multiple of ``every``."""
        for seen in self._points(record, every):
            if seen % every == 0:
                yield self.summary()

    def _points(self, record: Record, every: int) -> Iterator[int]:
        if self._scorer is None:
            self._scorer = _Scorer(record.classes, self._asked, self._costs, self._alerts, self._average)
        self._unpredicted += record.unpredicted
        self._rows += record.unpredicted  # they come first
        record = record.predicted()
        done = 0
        while done < len(record):
            upto = min(len(record), done + every - self._rows % every)
            self._scorer.push(record, slice(done, upto))
            self._rows += upto - done
            done = upto
            yield self._rows


class _Scorer:
    """The scores of a stream whose classes are known."""

    def __init__(
        self, classes: Labels, positive: Any, costs: Costs | None, alerts: Alerts | None, average: Average
    ) -> None:
        self.classes = classes
        self.positive = _place_of(positive, classes)
        self.costs = None if costs is None else cost_matrix(costs, len(classes), self.positive, "RareMeter")
        self.confusions = {name: RunningConfusion(average, len(classes)) for name in _PREDICTORS}
        self.auc: RunningAuc = running_auc(average)
        self.bins: RunningMean = average.begin()
        self.with_proba = False
        self.every = None if alerts is None else alerts.rows
        self.alerts = None if alerts is None else AlertMeter(alerts.count)
        if alerts is not None and self.positive is None:
            rule = "be left out where there are more than two classes and no positive one is named"
            raise InvalidParameter.of("RareMeter", "alerts", rule, alerts)

    def push(self, record: Record, rows: slice) -> None:
        truth = record.y[rows]
        for name, confusion in self.confusions.items():
            confusion.push(truth, getattr(record, name)[rows])
        self.with_proba = record.proba is not None and self.positive is not None
        if record.proba is None or self.positive is None:
            return
        scores, positive = np.ascontiguousarray(record.proba[rows, self.positive]), truth == self.positive
        self.auc.push(scores, positive)
        self.bins.push(bin_statistics(scores, positive))
        if self.alerts is not None and self.every is not None:
            numbers = np.arange(record.start + rows.start, record.start + rows.stop, dtype=np.int64)
            self.alerts.update(numbers // self.every, numbers, scores, positive)

    def summary(self, rows: int, unpredicted: int) -> RareSummary:
        shares = {name: confusion.shares() for name, confusion in self.confusions.items()}
        model, no_change, majority = (class_scores(shares[name], self.costs) for name in _PREDICTORS)
        at = self.positive
        return RareSummary(
            rows,
            unpredicted,
            self.classes,
            None if at is None else self.classes[at],
            model,
            no_change,
            majority,
            None if at is None else float(shares["predictions"][at].sum()),
            self.auc.roc_auc() if self.with_proba else None,
            self.auc.average_precision() if self.with_proba else None,
            reliability_of(self.bins.mean().reshape(3, BINS)) if self.with_proba else None,
            self.alerts.scores() if self.alerts is not None and self.with_proba else None,
        )


def _place_of(positive: Any, classes: Labels) -> int | None:
    if positive is None:
        return 1 if len(classes) == 2 else None
    places = np.flatnonzero(classes == positive)
    if len(places) == 0:
        raise InvalidParameter.of("RareMeter", "positive", f"be one of the classes {classes.tolist()}", positive)
    return int(places[0])


def summarise_rare(
    records: Iterable[Record],
    *,
    positive: Any = None,
    costs: Costs | None = None,
    alerts: Alerts | None = None,
    average: Average | None = None,
) -> RareSummary:
    """Final scores of a stream with rare classes; the parameters are those of `RareMeter`.

    Examples
    --------
    >>> from thalweg import OnlineLogistic
    >>> from thalweg.evaluate import Alerts, prequential, summarise_rare
    >>> from thalweg.streams import Fraud
    >>> records = prequential(OnlineLogistic(), Fraud(seed=1), rows=20_000)
    >>> summary = summarise_rare(records, positive=1, costs={"fp": 1, "fn": 50}, alerts=Alerts(20, rows=2000))
    >>> summary.alerts.periods, summary.alerts.alerts  # the tenth period may not be over
    (9, 180)
    """
    meter = RareMeter(positive=positive, costs=costs, alerts=alerts, average=average)
    for record in records:
        meter.update(record)
    return meter.summary()


def curve_rare(
    records: Iterable[Record],
    *,
    positive: Any = None,
    costs: Costs | None = None,
    every: int = 1000,
    average: Average | None = None,
) -> RareCurve:
    """Scores after every ``every`` rows and at the end, by default of the last 10,000 rows each.

    Examples
    --------
    >>> from thalweg import OnlineLogistic
    >>> from thalweg.evaluate import curve_rare, prequential
    >>> from thalweg.streams import Fraud
    >>> over_time = curve_rare(prequential(OnlineLogistic(), Fraud(seed=1), rows=3000), positive=1)
    >>> bool(over_time.pr_auc[-1] > over_time.share[-1])
    True
    """
    every = whole_number("curve_rare", "every", every, least=1)
    meter = RareMeter(positive=positive, costs=costs, average=Windowed(10_000) if average is None else average)
    points = [point for record in records for point in meter.update_every(record, every)]
    last = meter.summary()
    if last.rows % every:
        points.append(last)
    errors = [None if point.reliability is None else point.reliability.expected_error for point in points]
    model, no_change, majority = (
        ClassScores(*map(_column, zip(*(getattr(point, name) for point in points), strict=True)))
        for name in ("model", "no_change", "majority")
    )
    share, roc_auc, pr_auc = (
        _column(getattr(point, name) for point in points) for name in ("share", "roc_auc", "pr_auc")
    )
    return RareCurve(
        np.array([point.rows for point in points]),
        last.classes,
        last.positive,
        model,
        no_change,
        majority,
        share,
        roc_auc,
        pr_auc,
        _column(errors),
    )


def _column(values: Iterable[Any]) -> Any:
    """One value for each point; None where a point has none."""
    found = list(values)
    return None if any(value is None for value in found) else np.array(found)
