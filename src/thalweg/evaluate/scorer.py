"""Scores of a stream of records, of labels or of numbers, kept up to date in constant memory, by any average."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, Protocol, TypeAlias

import numpy as np

from thalweg.errors import InvalidInput, InvalidParameter
from thalweg.evaluate.alerts import AlertMeter, Alerts, AlertScores
from thalweg.evaluate.averages import Average, Cumulative, Windowed, piece_ends
from thalweg.evaluate.confusion import Costs, RunningConfusion, cost_matrix, f1, precision, recall
from thalweg.evaluate.layout import OF_CONFUSION, Layout, confusion_terms
from thalweg.evaluate.metrics import LABELS, METRICS, NUMBERS
from thalweg.evaluate.probability_scores import BINS, Reliability, bin_statistics, reliability_of, running_auc
from thalweg.evaluate.record import Codes, Floats, Labels, Record, RegressionRecord
from thalweg.parameters import whole_number

#: Of labels, or of numbers.
AnyRecord: TypeAlias = Record | RegressionRecord


class Scores(dict[str, Any]):
    """The metrics of one predictor by name, which are attributes as well; None for one that it does not have.

    Numbers in a summary, arrays over time in a curve. NaN is what no ratio defines. `METRICS` says what each means.

    Examples
    --------
    >>> scores = Scores(error=0.25)
    >>> scores.error, scores["error"], scores.log_loss
    (0.25, 0.25, None)
    """

    def __getattr__(self, name: str) -> Any:
        if name in self or name in METRICS:
            return self.get(name)
        raise AttributeError(name)


class _OfPredictors:
    """The model and the baselines are attributes."""

    scores: Mapping[str, Scores]

    def __getattr__(self, name: str) -> Scores:
        if not name.startswith("_") and name in self.scores:
            return self.scores[name]
        raise AttributeError(name)


@dataclass(frozen=True)
class Summary(_OfPredictors):
    """Scores at the end of a stream, of the model and of the baselines, which are attributes, too.

    Attributes
    ----------
    rows, unpredicted : int
        All rows, and those at the start that came before any label or target: they are not scored.
    scores : dict of Scores
        Of ``model`` and of the baselines: ``no_change`` and ``majority`` of labels; ``last_value``, ``running_mean``
        and ``running_median`` of numbers.
    rate : float or None
        The learning rate in force at the end.
    classes, positive : array, label or None
        The labels, in the order of the scores by class; the one that recall and the like are about.
    share : float or None
        The share of positives, which is also the PR AUC of scores that say nothing.
    by_class : dict
        ``precision``, ``recall`` and ``f1`` of each class, by predictor.
    reliability : Reliability or None
        How well P(positive) is calibrated.
    alerts : AlertScores or None
        Precision and recall of the rows with the highest P(positive) of each period, over all rows.

    Examples
    --------
    >>> from thalweg import OnlineLDC
    >>> from thalweg.evaluate import prequential, summarise
    >>> from thalweg.streams import Stagger
    >>> summary = summarise(prequential(OnlineLDC(0.9), Stagger(seed=1)))
    >>> summary.rows, summary.unpredicted, summary.rate, summary.model.error < summary.majority.error
    (120, 1, 0.9, True)
    """

    rows: int
    unpredicted: int
    scores: Mapping[str, Scores]
    rate: float | None = None
    classes: Labels | None = None
    positive: Any = None
    share: float | None = None
    by_class: Mapping[str, Mapping[str, Floats]] | None = None
    reliability: Reliability | None = None
    alerts: AlertScores | None = None


@dataclass(frozen=True)
class Curve(_OfPredictors):
    """Scores over time; ``rows`` is how many rows had been seen at each point, the rest is as in `Summary`.

    Scores are arrays with a value for each point; those by class have shape (points, classes).

    Examples
    --------
    >>> from thalweg import OnlineLDC
    >>> from thalweg.evaluate import curve, prequential
    >>> from thalweg.streams import Stagger
    >>> over_time = curve(prequential(OnlineLDC(0.9), Stagger(seed=1)), every=40)
    >>> over_time.rows.tolist(), over_time.model.error.shape
    ([40, 80, 120], (3,))
    """

    rows: Codes
    scores: Mapping[str, Scores]
    rate: Floats | None
    classes: Labels | None
    positive: Any
    share: Floats | None
    by_class: Mapping[str, Mapping[str, Floats]] | None


class _Scorer(Protocol):
    def push(self, record: Any, rows: slice) -> None: ...
    def scores(self) -> dict[str, Any]: ...


class Meter:
    """Keeps the scores of a stream of records up to date, in constant memory.

    Parameters
    ----------
    average : Cumulative, Windowed or Fading, optional
        Over which rows, and with which weights; by default all rows. ROC AUC and PR AUC of all rows take probabilities
        within 1/64 of log-odds for equal; those of a window are exact. Alerts always count all rows.
    positive : label, optional
        The class of interest, against all others. By default the second of two classes, as in scikit-learn, and none
        of more.
    costs : matrix or mapping, optional
        ``costs[truth, prediction]``, in the order of the classes; or ``{"fp": 1, "fn": 50}``.
    alerts : Alerts, optional
        So many rows with the highest P(positive) of every so many rows.

    Examples
    --------
    >>> from thalweg import NoChange
    >>> from thalweg.evaluate import prequential
    >>> from thalweg.streams import Table
    >>> meter = Meter(costs={"fp": 1, "fn": 50})
    >>> for record in prequential(NoChange(), Table([[0.0]] * 5, ["a", "a", "b", "b", "a"]), chunk=2):
    ...     meter.update(record)
    >>> scores = meter.summary().model  # of four rows: nothing was known before the first
    >>> scores.error, scores.recall, scores.cost
    (0.5, 0.5, 12.75)
    """

    def __init__(
        self,
        average: Average | None = None,
        *,
        positive: Any = None,
        costs: Costs | None = None,
        alerts: Alerts | None = None,
    ) -> None:
        self._average = Cumulative() if average is None else average
        self._asked = {"positive": positive, "costs": costs, "alerts": alerts}
        self._scorer: _Scorer | None = None
        self._rate: float | None = None
        self._rows = self._unpredicted = 0

    def update(self, record: AnyRecord) -> None:
        """Take in a record."""
        for _ in self._update_in_pieces(record, max(1, len(record))):
            pass

    def summary(self) -> Summary:
        """The scores now."""
        if self._rows == 0:
            raise InvalidInput(
                "A summary must be of at least one row, got none: records can be read once, list(records) as often as "
                "you like."
            )
        if self._rows == self._unpredicted or self._scorer is None:
            raise InvalidInput(
                f"All {self._rows:,} rows came before the first label was known: there is nothing to score."
            )
        return Summary(self._rows, self._unpredicted, rate=self._rate, **self._scorer.scores())

    def update_every(self, record: AnyRecord, every: int) -> Iterator[Summary]:
        """Take in a record, with a summary whenever the rows seen reach a multiple of ``every``."""
        for seen in self._update_in_pieces(record, every):
            if seen % every == 0:
                yield self.summary()

    def _update_in_pieces(self, record: AnyRecord, every: int) -> Iterator[int]:
        if self._scorer is None:
            kind: type[Any] = _Labels if isinstance(record, Record) else _Numbers
            self._scorer = kind(record, self._average, **self._asked)
        scorer: _Scorer = self._scorer
        self._unpredicted += record.unpredicted
        self._rows += record.unpredicted  # they come first
        record, before = record.predicted(), self._rows
        done = 0
        for upto in piece_ends(len(record), before, every):
            scorer.push(record, slice(done, upto))
            self._rows, done = before + upto, upto
            if isinstance(record, Record) and record.rate is not None:
                self._rate = float(record.rate[done - 1])
            yield self._rows


class _Numbers:
    def __init__(self, record: RegressionRecord, average: Average, **asked: Any) -> None:
        for name, given in asked.items():
            if given is not None:
                raise InvalidParameter.of("Meter", name, "be left out for numbers: it is for labels", given)
        rows = record.as_rows()
        self._has = rows.has
        self._layout = Layout((metric for metric in NUMBERS if metric.applies(rows.has)), tuple(rows.predictions))
        self._running = average.begin()

    def push(self, record: RegressionRecord, rows: slice) -> None:
        self._running.push(self._layout.block(record.as_rows(rows)))

    def scores(self) -> dict[str, Any]:
        return {"scores": _scores(self._layout.scores(self._layout.means(self._running.mean()), self._has))}


class _Labels:
    """The scores of a stream whose classes are known."""

    def __init__(
        self, record: Record, average: Average, positive: Any, costs: Costs | None, alerts: Alerts | None
    ) -> None:
        rows = record.as_rows()
        self._classes = record.classes
        self._positive = at = _place_of(positive, record.classes)
        self._costs = None if costs is None else cost_matrix(costs, len(record.classes), at, "Meter")
        asked = {"positive": at, "costs": self._costs}
        self._has = rows.has | {name for name, given in asked.items() if given is not None}
        self._ranks = at is not None and "probabilities" in self._has
        self._has |= {"areas", "reliability"} if self._ranks else set()
        applied = (metric for metric in LABELS if metric.applies(self._has))
        self._layout = Layout(applied, tuple(rows.predictions), besides=OF_CONFUSION)
        self._running = average.begin()
        self._confusions = {name: RunningConfusion(average, len(record.classes)) for name in rows.predictions}
        self._auc, self._bins = running_auc(average), average.begin()
        self._every = None if alerts is None else alerts.rows
        self._alerts = None if alerts is None else AlertMeter(alerts.count)
        if alerts is not None and at is None:
            rule = "be left out where there are more than two classes and no positive one is named"
            raise InvalidParameter.of("Meter", "alerts", rule, alerts)

    def push(self, record: Record, rows: slice) -> None:
        given = record.as_rows(rows)
        self._running.push(self._layout.block(given))
        for name, confusion in self._confusions.items():
            confusion.push(given.truth, given.predictions[name])
        if not self._ranks or record.proba is None:
            return
        scores, positive = np.ascontiguousarray(record.proba[rows, self._positive]), given.truth == self._positive
        self._auc.push(scores, positive)
        self._bins.push(bin_statistics(scores, positive))
        if self._alerts is not None and self._every is not None:
            numbers = np.arange(record.start + rows.start, record.start + rows.stop, dtype=np.int64)
            self._alerts.update(numbers // self._every, numbers, scores, positive)

    def scores(self) -> dict[str, Any]:
        means = self._layout.means(self._running.mean(), positive=self._positive, costs=self._costs)
        shares = {name: confusion.shares() for name, confusion in self._confusions.items()}
        for name, scores in means.items():
            scores.terms.update(confusion_terms(shares[name], self._positive))
        reliability = None
        if self._ranks:
            reliability = reliability_of(self._bins.mean().reshape(3, BINS))
            means["model"].terms["areas"] = self._auc.roc_auc(), self._auc.average_precision()
            means["model"].terms["reliability"] = reliability
        by_class = {
            name: {"precision": precision(share), "recall": recall(share), "f1": f1(share)}
            for name, share in shares.items()
        }
        at = self._positive
        return {
            "scores": _scores(self._layout.scores(means, self._has)),
            "classes": self._classes,
            "positive": None if at is None else self._classes[at],
            "share": None if at is None else float(shares["model"][at].sum()),
            "by_class": by_class,
            "reliability": reliability,
            "alerts": self._alerts.scores() if self._alerts is not None and self._ranks else None,
        }


def _scores(columns: Mapping[str, Mapping[str, float]]) -> dict[str, Scores]:
    return {name: Scores(scores) for name, scores in columns.items()}


def _place_of(positive: Any, classes: Labels) -> int | None:
    if positive is None:
        return 1 if len(classes) == 2 else None
    places = np.flatnonzero(classes == positive)
    if len(places) == 0:
        raise InvalidParameter.of("Meter", "positive", f"be one of the classes {classes.tolist()}", positive)
    return int(places[0])


def summarise(
    records: Iterable[AnyRecord],
    average: Average | None = None,
    *,
    positive: Any = None,
    costs: Costs | None = None,
    alerts: Alerts | None = None,
) -> Summary:
    """Final scores of the model and of the baselines, of labels or of numbers; the parameters are those of `Meter`.

    Examples
    --------
    >>> from thalweg import OnlineLogistic
    >>> from thalweg.evaluate import Alerts, prequential, summarise
    >>> from thalweg.streams import Fraud
    >>> records = prequential(OnlineLogistic(), Fraud(seed=1), rows=20_000)
    >>> summary = summarise(records, positive=1, costs={"fp": 1, "fn": 50}, alerts=Alerts(20, rows=2000))
    >>> summary.share < 0.02, summary.model.roc_auc > 0.5
    (True, True)
    >>> summary.alerts.periods, summary.alerts.alerts  # the tenth period may not be over
    (9, 180)
    >>> from thalweg import OnlineLinearRegression
    >>> from thalweg.evaluate import prequential
    >>> from thalweg.streams import LinearResponse
    >>> records = prequential(OnlineLinearRegression(solver="rls"), LinearResponse(seed=1))
    >>> summarise(records).model.r2 > 0.95
    True
    """
    meter = Meter(average, positive=positive, costs=costs, alerts=alerts)
    for record in records:
        meter.update(record)
    return meter.summary()


def curve(
    records: Iterable[AnyRecord],
    *,
    every: int = 100,
    average: Average | None = None,
    positive: Any = None,
    costs: Costs | None = None,
) -> Curve:
    """Scores after every ``every`` rows and at the end, by default of the last 1,000 rows each.

    Where labels of interest are rare, ask for more: ``average=Windowed(10_000)``.

    Examples
    --------
    >>> from thalweg import NoChange
    >>> from thalweg.evaluate import prequential
    >>> from thalweg.streams import Table
    >>> stream = Table([[0.0]] * 5, ["a", "a", "b", "b", "b"])
    >>> over_time = curve(prequential(NoChange(), stream), every=2)
    >>> over_time.rows.tolist(), over_time.model.error.tolist()
    ([2, 4, 5], [0.0, 0.3333333333333333, 0.25])
    """
    every = whole_number("curve", "every", every, least=1)
    meter = Meter(Windowed(1000) if average is None else average, positive=positive, costs=costs)
    points = [point for record in records for point in meter.update_every(record, every)]
    last = meter.summary()
    if last.rows % every:
        points.append(last)
    series = {field.name: _over_time([getattr(point, field.name) for point in points]) for field in fields(Curve)}
    return Curve(**series | {"classes": last.classes, "positive": last.positive})


def _over_time(values: list[Any]) -> Any:
    """One value for each point, of a mapping by its keys; None where a point has none."""
    first = values[0]
    if isinstance(first, Mapping):
        columns = {key: _over_time([value[key] for value in values]) for key in first}
        return Scores(columns) if isinstance(first, Scores) else columns
    return None if any(value is None for value in values) else np.array(values)


def cumulative_accuracy(records: Iterable[Record]) -> Floats:
    """The share of rows predicted correctly so far, after each row.

    Examples
    --------
    >>> from thalweg import NoChange
    >>> from thalweg.evaluate import prequential
    >>> from thalweg.streams import Table
    >>> cumulative_accuracy(prequential(NoChange(), Table([[0.0]] * 4, ["a", "a", "b", "b"]))).tolist()
    [0.0, 0.5, 0.3333333333333333, 0.5]
    """
    mistakes = np.concatenate([np.zeros(0, dtype=bool), *(record.mistakes for record in records)])
    return np.asarray(np.cumsum(~mistakes) / np.arange(1, len(mistakes) + 1))
