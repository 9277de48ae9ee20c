"""Every metric, declared once: what it adds up over rows, how it is read from averages of that, how it is written.

Each row gives every *term* a number: whether the prediction was wrong, the size of the residual, … Averages of the
terms, over all rows, over the last ones or fading, give every metric. `LABELS` and `NUMBERS` are the table; a further
metric is an entry there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from thalweg.evaluate import confusion as by_class
from thalweg.evaluate.averages import Floats

#: What a probability of zero for the truth counts as: one infinite log-loss would end every average.
_LEAST_PROBABILITY = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Rows:
    """Rows whose label or target has come, with what the model and its baselines had predicted, by their names.

    Labels are places among the classes, -1 for no prediction. Numbers may have several outputs. ``of_truth`` is
    P(truth), ``squared`` the squared distance between probabilities and the one-hot truth, NaN where there are none.
    ``lower`` and ``upper`` are the ends of intervals, NaN for none.
    """

    truth: Any
    predictions: Mapping[str, Any]
    of_truth: Any = None
    squared: Any = None
    lower: Any = None
    upper: Any = None
    #: What the intervals were asked for.
    coverage: float | None = None

    @property
    def has(self) -> set[str]:
        """What there is for metrics to need."""
        known = {"probabilities": self.of_truth, "intervals": self.lower}
        return {*self.predictions, *(name for name, given in known.items() if given is not None)}


@dataclass(frozen=True)
class Term:
    """One number of each row, for one predictor; one of the model alone needs what baselines do not have."""

    of: Callable[[Rows, str], Any]
    of_model: bool = False


def surprise(of_truth: Floats) -> Floats:
    """-log p(truth) of each row, in nats."""
    return np.asarray(-np.log(np.maximum(of_truth, _LEAST_PROBABILITY)))


def pinball_loss(above: Floats, quantile: float) -> Floats:
    """The loss of a predicted quantile of which the targets lie ``above`` by so much.

    Examples
    --------
    >>> pinball_loss(np.array([1.0, -1.0]), 0.9).tolist()
    [0.9, 0.09999999999999998]
    """
    return np.asarray(np.maximum(quantile * above, (quantile - 1.0) * above))


def _given(values: Any, beside: Any) -> Floats:
    """0 where there was no probability, or no interval."""
    return np.where(np.isnan(beside), 0.0, values)


def _tail(rows: Rows) -> float:
    assert rows.coverage is not None
    return (1.0 - rows.coverage) / 2.0


def _residual(rows: Rows, name: str) -> Any:
    return rows.truth - rows.predictions[name]


TERMS: Mapping[str, Term] = {
    "mistake": Term(lambda rows, name: rows.predictions[name] != rows.truth),
    "with_probability": Term(lambda rows, _: ~np.isnan(rows.of_truth), of_model=True),
    "surprise": Term(lambda rows, _: _given(surprise(rows.of_truth), rows.of_truth), of_model=True),
    "squared_distance": Term(lambda rows, _: _given(rows.squared, rows.of_truth), of_model=True),
    "residual": Term(_residual),
    "absolute": Term(lambda rows, name: np.abs(_residual(rows, name))),
    "squared": Term(lambda rows, name: np.square(_residual(rows, name))),
    "with_interval": Term(lambda rows, _: ~np.isnan(rows.lower), of_model=True),
    "below": Term(lambda rows, _: rows.truth < rows.lower, of_model=True),
    "above": Term(lambda rows, _: rows.truth > rows.upper, of_model=True),
    "width": Term(lambda rows, _: _given(rows.upper - rows.lower, rows.lower), of_model=True),
    "pinball_lower": Term(
        lambda rows, _: _given(pinball_loss(rows.truth - rows.lower, _tail(rows)), rows.lower), of_model=True
    ),
    "pinball_upper": Term(
        lambda rows, _: _given(pinball_loss(rows.truth - rows.upper, 1.0 - _tail(rows)), rows.lower), of_model=True
    ),
}


@dataclass(frozen=True)
class Means:
    """Averages of the terms of one predictor, beside those of the others.

    Beside terms, there may be ``"confusion"``, shares of the rows by truth and prediction, the last column holding
    predictions that are no class; ``"areas"``, under the ROC and the precision-recall curve of P(positive); and its
    ``"reliability"``.
    """

    terms: dict[str, Any]
    beside: Mapping[str, Means] = field(default_factory=dict)
    #: The place of the label of interest, and what mistakes cost.
    positive: int | None = None
    costs: Any = None

    def __getitem__(self, term: str) -> Any:
        return self.terms[term]

    def per(self, term: str, of: str) -> float:
        """A term over the rows that have it; NaN where none has."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return float(np.mean(np.divide(self[term], self[of])))

    def gain_over(self, baseline: str, term: str) -> float:
        """One minus a term as a multiple of a baseline's, averaged over several targets."""
        pairs = zip(np.ravel(self[term]).tolist(), np.ravel(self.beside[baseline][term]).tolist(), strict=True)
        return float(np.mean([gain_over(*pair) for pair in pairs]))


def gain_over(mistake: float, reference: float) -> float:
    """One minus an error as a multiple of a reference's; NaN if neither errs, -inf if only the reference is perfect."""
    if reference > 0.0:
        return 1.0 - mistake / reference
    return math.nan if mistake <= 0.0 else -math.inf


@dataclass(frozen=True)
class Metric:
    """One score of a predictor.

    Attributes
    ----------
    name : str
        Its key in ``metrics.json``, in the service, in rules of alerts, and its name in `Scores`.
    title, about : str
        As a page heads it, and what it means.
    read : callable
        The score from the `Means`; NaN where it is not known.
    adds : tuple of str
        The terms that it is read from.
    needs : tuple of str
        What there must be: ``"probabilities"`` and ``"intervals"``, which only a model has, ``"positive"``,
        ``"costs"``, or a baseline by its name.
    form : str
        ``"share"``, written as a percentage, ``"number"`` without a unit, or ``"amount"`` in the unit of the target or
        of the costs.
    better : str
        ``"less"`` or ``"more"``; empty where neither is.
    over_time : bool
        Whether runs and the service follow it over the last rows.

    Examples
    --------
    >>> from thalweg.evaluate import METRICS
    >>> METRICS["mae"].title, METRICS["mae"].adds, METRICS["mae"].better
    ('Absolute error', ('absolute',), 'less')
    """

    name: str
    title: str
    about: str
    read: Callable[[Means], float]
    adds: tuple[str, ...]
    needs: tuple[str, ...] = ()
    form: Literal["share", "number", "amount"] = "number"
    better: Literal["less", "more", ""] = "less"
    over_time: bool = False

    def applies(self, has: Collection[str]) -> bool:
        return all(need in has for need in self.needs)


def _of_positive(
    name: str, title: str, about: str, score: Callable[[Any], Floats], form: Literal["share", "number"]
) -> Metric:
    def read(means: Means) -> float:
        return float(score(means["confusion"])[means.positive])

    return Metric(name, title, about, read, ("confusion",), ("positive",), form, "more")


#: Of predictions that are classes, in the order in which they are shown.
LABELS: tuple[Metric, ...] = (
    Metric(
        "error",
        "Error",
        "share of wrong predictions",
        lambda means: float(np.mean(means["mistake"])),
        ("mistake",),
        form="share",
        over_time=True,
    ),
    Metric(
        "kappa",
        "Cohen’s κ",
        "share of the mistakes avoided that guessing by class frequency makes; 1 is no mistake",
        lambda means: by_class.kappa(means["confusion"]),
        ("confusion",),
        better="more",
    ),
    Metric(
        "kappa_temporal",
        "κ temporal",
        "the same beside repeating the last label",
        lambda means: means.gain_over("no_change", "mistake"),
        ("mistake",),
        ("no_change",),
        better="more",
    ),
    Metric(
        "log_loss",
        "Log-loss",
        "nats a row; less is better",
        lambda means: means.per("surprise", "with_probability"),
        ("surprise", "with_probability"),
        ("probabilities",),
    ),
    Metric(
        "brier",
        "Brier score",
        "from 0, the best, to 2",
        lambda means: means.per("squared_distance", "with_probability"),
        ("squared_distance", "with_probability"),
        ("probabilities",),
    ),
    Metric(
        "cost",
        "Cost of a row",
        "less is better",
        lambda means: by_class.cost(means["confusion"], means.costs),
        ("confusion",),
        ("costs",),
        "amount",
    ),
    Metric(
        "pr_auc",
        "PR AUC",
        "area under precision and recall",
        lambda means: float(means["areas"][1]),
        ("areas",),
        ("probabilities", "positive"),
        better="more",
    ),
    _of_positive("recall", "Recall", "share of the positives that is found", by_class.recall, "share"),
    _of_positive("precision", "Precision", "of what is predicted as positive", by_class.precision, "share"),
    _of_positive("f1", "F1", "harmonic mean of precision and recall", by_class.f1, "number"),
    Metric(
        "roc_auc",
        "ROC AUC",
        "pairs in the right order",
        lambda means: float(means["areas"][0]),
        ("areas",),
        ("probabilities", "positive"),
        better="more",
    ),
    Metric(
        "calibration_error",
        "Calibration error",
        "of P(positive), on average",
        lambda means: means["reliability"].expected_error,
        ("reliability",),
        ("probabilities", "positive"),
        "share",
    ),
    Metric(
        "balanced_accuracy",
        "Balanced accuracy",
        "mean recall over the classes",
        lambda means: by_class.balanced_accuracy(means["confusion"]),
        ("confusion",),
        form="share",
        better="more",
    ),
    Metric(
        "macro_f1",
        "Macro F1",
        "mean over the classes",
        lambda means: by_class.macro(by_class.f1, means["confusion"]),
        ("confusion",),
        better="more",
    ),
    Metric(
        "macro_precision",
        "Macro precision",
        "mean over the classes",
        lambda means: by_class.macro(by_class.precision, means["confusion"]),
        ("confusion",),
        form="share",
        better="more",
    ),
    Metric(
        "g_mean",
        "G-mean",
        "0 where a class is never found",
        lambda means: by_class.g_mean(means["confusion"]),
        ("confusion",),
        better="more",
    ),
    Metric(
        "matthews",
        "Matthews",
        "correlation with the truth, from −1 to 1",
        lambda means: by_class.matthews(means["confusion"]),
        ("confusion",),
        better="more",
    ),
)

#: Of predictions that are numbers; several targets are averaged.
NUMBERS: tuple[Metric, ...] = (
    Metric(
        "mae",
        "Absolute error",
        "mean size of the residuals",
        lambda means: float(np.mean(means["absolute"])),
        ("absolute",),
        form="amount",
        over_time=True,
    ),
    Metric(
        "rmse",
        "RMSE",
        "root mean squared error",
        lambda means: math.sqrt(np.mean(means["squared"])),
        ("squared",),
        form="amount",
        over_time=True,
    ),
    Metric(
        "r2",
        "R²",
        "against the running mean; 1 is perfect",
        lambda means: means.gain_over("running_mean", "squared"),
        ("squared",),
        ("running_mean",),
        better="more",
    ),
    Metric(
        "skill",
        "Skill",
        "squared error against that of the last value; 1 is perfect",
        lambda means: means.gain_over("last_value", "squared"),
        ("squared",),
        ("last_value",),
        better="more",
    ),
    Metric(
        "bias",
        "Bias",
        "mean of target less prediction",
        lambda means: float(np.mean(means["residual"])),
        ("residual",),
        form="amount",
        better="",
        over_time=True,
    ),
    Metric(
        "coverage",
        "Coverage",
        "share of targets inside their interval",
        lambda means: 1.0 - means.per("below", "with_interval") - means.per("above", "with_interval"),
        ("with_interval", "below", "above"),
        ("intervals",),
        "share",
        better="",
        over_time=True,
    ),
    Metric(
        "mean_width",
        "Width",
        "mean width of the intervals",
        lambda means: means.per("width", "with_interval"),
        ("width", "with_interval"),
        ("intervals",),
        "amount",
        over_time=True,
    ),
    Metric(
        "pinball_lower",
        "Pinball loss below",
        "of the lower end of the intervals",
        lambda means: means.per("pinball_lower", "with_interval"),
        ("pinball_lower", "with_interval"),
        ("intervals",),
        "amount",
    ),
    Metric(
        "pinball_upper",
        "Pinball loss above",
        "of the upper end of the intervals",
        lambda means: means.per("pinball_upper", "with_interval"),
        ("pinball_upper", "with_interval"),
        ("intervals",),
        "amount",
    ),
)

#: All of them by name.
METRICS: Mapping[str, Metric] = {metric.name: metric for metric in (*LABELS, *NUMBERS)}


class Layout:
    """The terms of some metrics as columns: first those of the model, then those of each baseline.

    Examples
    --------
    >>> layout = Layout(NUMBERS, ("model", "last_value"), has=("last_value",))
    >>> rows = Rows(np.array([1.0, 3.0]), {"model": np.array([1.5, 2.0]), "last_value": np.array([0.0, 1.0])})
    >>> layout.scores(layout.means(layout.block(rows).mean(axis=0)))["model"]["mae"]
    0.75
    """

    def __init__(self, metrics: Sequence[Metric], predictors: Sequence[str], has: Collection[str]) -> None:
        self.predictors, self._has = tuple(predictors), frozenset(has)
        self.metrics = tuple(metric for metric in metrics if metric.applies(self._has))
        terms = dict.fromkeys(term for metric in self.metrics for term in metric.adds if term in TERMS)
        #: Predictor and term of each column.
        self.columns = [
            (name, term) for name in self.predictors for term in terms if name == "model" or not TERMS[term].of_model
        ]

    def block(self, rows: Rows) -> Floats:
        """One line a row; of several targets, each column is one for each."""
        count = len(rows.truth)
        return np.concatenate([_wide(TERMS[term].of(rows, name), count) for name, term in self.columns], axis=1)

    def means(self, averages: Floats, **known: Any) -> dict[str, Means]:
        """By predictor, from averages of the columns; ``known`` are further fields of `Means`."""
        columns = averages.reshape(len(self.columns), -1)
        found: dict[str, Means] = {}
        for name in self.predictors:
            terms = {term: each for (of, term), each in zip(self.columns, columns, strict=True) if of == name}
            found[name] = Means(terms, found, **known)
        return found

    def scores(self, means: Mapping[str, Means]) -> dict[str, dict[str, float]]:
        """By predictor and metric; NaN where a score is not known."""
        return {name: {each.name: each.read(means[name]) for each in self.of(name)} for name in self.predictors}

    def of(self, predictor: str) -> list[Metric]:
        """The metrics of a predictor: those of probabilities and intervals are the model's alone."""
        return [each for each in self.metrics if predictor == "model" or each.applies(self._has - _OF_MODEL)]


_OF_MODEL = frozenset({"probabilities", "intervals"})


def _wide(column: Any, rows: int) -> Any:
    return np.asarray(column).reshape(rows, -1)
