"""Every metric, declared once: what it adds up over rows, how it is read from averages of that, how it is written.

Each row gives every *term* a number: whether the prediction was wrong, the size of the residual, … Averages of the
terms, over all rows, over the last ones or fading, give every metric. `LABELS` and `NUMBERS` are the table; a further
metric is an entry there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
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
    #: The label of interest, and its probability, NaN where there is none.
    positive: float | None = None
    of_positive: Any = None

    @property
    def has(self) -> set[str]:
        """What there is for metrics to need."""
        known = {"probabilities": self.of_truth, "intervals": self.lower} | {
            "positive": self.positive,
            "areas": self.of_positive,
            "reliability": self.of_positive,
        }
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


def _is_positive(rows: Rows) -> Any:
    return rows.truth == rows.positive


def _said(rows: Rows, name: str) -> Any:
    return rows.predictions[name] == rows.positive


TERMS: Mapping[str, Term] = {
    "mistake": Term(lambda rows, name: rows.predictions[name] != rows.truth),
    "true_positive": Term(lambda rows, name: _is_positive(rows) & _said(rows, name)),
    "false_positive": Term(lambda rows, name: ~_is_positive(rows) & _said(rows, name)),
    "false_negative": Term(lambda rows, name: _is_positive(rows) & ~_said(rows, name)),
    "with_probability": Term(lambda rows, _: ~np.isnan(rows.of_truth), of_model=True),
    "surprise": Term(lambda rows, _: _given(surprise(rows.of_truth), rows.of_truth), of_model=True),
    "squared_distance": Term(lambda rows, _: _given(rows.squared, rows.of_truth), of_model=True),
    "residual": Term(_residual, of_model=True),
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

    Examples
    --------
    >>> means = Means({"residual": 0.5, "absolute": 2.0})
    >>> means["absolute"], means.per("residual", "absolute")
    (2.0, 0.25)
    """

    terms: dict[str, Any]
    beside: Mapping[str, Means] = field(default_factory=dict)
    #: The place of the label of interest, and what mistakes cost.
    positive: int | None = None
    costs: Any = None

    def __getitem__(self, term: str) -> Any:
        return self.terms[term]

    def mean(self, term: str) -> float:
        """Over several targets."""
        value = self.terms[term]
        return value if isinstance(value, float) else float(np.mean(value))

    def per(self, term: str, *of: str) -> float:
        """A term as a share of the sum of others, averaged over several targets; NaN where that is zero."""
        if isinstance(self.terms[term], float):
            total = sum(self.terms[term] for term in of)
            return self.terms[term] / total if total else math.nan
        with np.errstate(invalid="ignore", divide="ignore"):
            return float(np.mean(self.terms[term] / sum(self.terms[name] for name in of)))

    def gain_over(self, baseline: str, term: str) -> float:
        """One minus a term as a multiple of a baseline's, averaged over several targets."""
        own, other = self.terms[term], self.beside[baseline].terms[term]
        if isinstance(own, float):
            return gain_over(own, other)
        return float(np.mean([gain_over(*pair) for pair in zip(own.tolist(), other.tolist(), strict=True)]))


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
    title, in_full, about : str
        As a table heads it, as a page does where that is longer, and what it means.
    read : callable
        The score from the `Means`; NaN where it is not known.
    adds : tuple of str
        The terms that it is read from.
    needs : tuple of str
        What there must be: ``"probabilities"`` and ``"intervals"``, which only a model has, ``"areas"`` and
        ``"reliability"``, which P(positive) gives, ``"positive"``, ``"costs"``, or a baseline by its name.
    form : str
        ``"share"``, written as a percentage, ``"number"`` without a unit, or ``"amount"`` in the unit of the target or
        of the costs.
    better : str
        ``"less"`` or ``"more"``; empty where neither is.
    over_time : bool
        Whether runs and the service follow it over the last rows.
    column : bool
        Whether tables that compare models have a column for it.
    shown : str
        At the top of which pages: those about the error (``"error"``), a label of interest (``"positive"``) or rare
        classes (``"classes"``); empty for none.

    Examples
    --------
    >>> from thalweg.evaluate import METRICS
    >>> METRICS["mae"].title, METRICS["mae"].adds, METRICS["mae"].better
    ('MAE', ('absolute',), 'less')
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
    column: bool = False
    shown: Literal["error", "positive", "classes", ""] = "error"
    in_full: str = ""

    @property
    def title_in_full(self) -> str:
        """As a page heads it."""
        return self.in_full or self.title

    @property
    def of_model(self) -> bool:
        """Whether baselines do not have it."""
        return any(term != "confusion" and (term not in TERMS or TERMS[term].of_model) for term in self.adds)

    @property
    def of_rows(self) -> bool:
        """Whether all it adds up are terms, so that a rule of an alert can follow it."""
        return all(term in TERMS for term in self.adds)

    def applies(self, has: Collection[str]) -> bool:
        """Whether there is all that it needs, such as probabilities or a baseline."""
        return all(need in has for need in self.needs)


#: Of predictions that are classes, in the order in which they are shown.
LABELS: tuple[Metric, ...] = (
    Metric(
        "error",
        "error",
        "share of wrong predictions",
        lambda means: means.mean("mistake"),
        ("mistake",),
        form="share",
        over_time=True,
        column=True,
    ),
    Metric(
        "kappa",
        "κ",
        "share of the mistakes avoided that guessing by class frequency makes; 1 is no mistake",
        lambda means: by_class.kappa(means["confusion"]),
        ("confusion",),
        better="more",
        column=True,
        in_full="Cohen’s κ",
    ),
    Metric(
        "kappa_temporal",
        "κ temporal",
        "the same beside repeating the last label",
        lambda means: means.gain_over("no_change", "mistake"),
        ("mistake",),
        ("no_change",),
        better="more",
        column=True,
    ),
    Metric(
        "log_loss",
        "log-loss",
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
        "cost",
        "less is better",
        lambda means: by_class.cost(means["confusion"], means.costs),
        ("confusion",),
        ("costs",),
        "amount",
        over_time=True,
        column=True,
        shown="positive",
        in_full="cost of a row",
    ),
    Metric(
        "pr_auc",
        "PR AUC",
        "area under precision and recall",
        lambda means: float(means["areas"][1]),
        ("areas",),
        ("areas",),
        better="more",
        over_time=True,
        column=True,
        shown="positive",
    ),
    Metric(
        "recall",
        "recall",
        "share of the positives that is found",
        lambda means: means.per("true_positive", "true_positive", "false_negative"),
        ("true_positive", "false_negative"),
        ("positive",),
        "share",
        "more",
        over_time=True,
        column=True,
        shown="positive",
    ),
    Metric(
        "precision",
        "precision",
        "share of the predicted positives that are positives",
        lambda means: means.per("true_positive", "true_positive", "false_positive"),
        ("true_positive", "false_positive"),
        ("positive",),
        "share",
        "more",
        over_time=True,
        column=True,
        shown="positive",
    ),
    Metric(
        "f1",
        "F1",
        "harmonic mean of precision and recall",
        lambda means: 2.0 * means.per("true_positive", *2 * ("true_positive",), "false_positive", "false_negative"),
        ("true_positive", "false_positive", "false_negative"),
        ("positive",),
        better="more",
        shown="",
    ),
    Metric(
        "roc_auc",
        "ROC AUC",
        "chance that a positive ranks above a negative",
        lambda means: float(means["areas"][0]),
        ("areas",),
        ("areas",),
        better="more",
        over_time=True,
        column=True,
        shown="positive",
    ),
    Metric(
        "calibration_error",
        "calibration error",
        "of P(positive), on average",
        lambda means: means["reliability"].expected_error,
        ("reliability",),
        ("reliability",),
        "share",
        shown="positive",
    ),
    Metric(
        "balanced_accuracy",
        "balanced accuracy",
        "mean recall over the classes",
        lambda means: by_class.balanced_accuracy(means["confusion"]),
        ("confusion",),
        form="share",
        better="more",
        column=True,
        shown="classes",
    ),
    Metric(
        "macro_f1",
        "macro F1",
        "mean over the classes",
        lambda means: by_class.macro(by_class.f1, means["confusion"]),
        ("confusion",),
        better="more",
        column=True,
        shown="classes",
    ),
    Metric(
        "macro_precision",
        "macro precision",
        "mean over the classes",
        lambda means: by_class.macro(by_class.precision, means["confusion"]),
        ("confusion",),
        form="share",
        better="more",
        shown="",
    ),
    Metric(
        "g_mean",
        "G-mean",
        "0 where a class is never found",
        lambda means: by_class.g_mean(means["confusion"]),
        ("confusion",),
        better="more",
        column=True,
        shown="classes",
    ),
    Metric(
        "matthews",
        "Matthews",
        "correlation with the truth, from −1 to 1",
        lambda means: by_class.matthews(means["confusion"]),
        ("confusion",),
        better="more",
        shown="classes",
    ),
)

#: Of predictions that are numbers; several targets are averaged.
NUMBERS: tuple[Metric, ...] = (
    Metric(
        "mae",
        "MAE",
        "mean size of the residuals",
        lambda means: means.mean("absolute"),
        ("absolute",),
        form="amount",
        over_time=True,
        column=True,
        in_full="absolute error",
    ),
    Metric(
        "rmse",
        "RMSE",
        "root mean squared error",
        lambda means: math.sqrt(means.mean("squared")),
        ("squared",),
        form="amount",
        over_time=True,
        column=True,
    ),
    Metric(
        "r2",
        "R²",
        "against the running mean; 1 is perfect",
        lambda means: means.gain_over("running_mean", "squared"),
        ("squared",),
        ("running_mean",),
        better="more",
        over_time=True,
        column=True,
    ),
    Metric(
        "skill",
        "skill",
        "squared error against that of the last value; 1 is perfect",
        lambda means: means.gain_over("last_value", "squared"),
        ("squared",),
        ("last_value",),
        better="more",
        over_time=True,
        shown="",
    ),
    Metric(
        "bias",
        "bias",
        "mean of target less prediction",
        lambda means: means.mean("residual"),
        ("residual",),
        form="amount",
        better="",
        over_time=True,
        shown="",
    ),
    Metric(
        "coverage",
        "coverage",
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
        "width",
        "mean width of the intervals",
        lambda means: means.per("width", "with_interval"),
        ("width", "with_interval"),
        ("intervals",),
        "amount",
        over_time=True,
        shown="",
    ),
    Metric(
        "pinball_lower",
        "pinball loss below",
        "of the lower end of the intervals",
        lambda means: means.per("pinball_lower", "with_interval"),
        ("pinball_lower", "with_interval"),
        ("intervals",),
        "amount",
        shown="",
    ),
    Metric(
        "pinball_upper",
        "pinball loss above",
        "of the upper end of the intervals",
        lambda means: means.per("pinball_upper", "with_interval"),
        ("pinball_upper", "with_interval"),
        ("intervals",),
        "amount",
        shown="",
    ),
)

#: All of them by name.
METRICS: Mapping[str, Metric] = {metric.name: metric for metric in (*LABELS, *NUMBERS)}
#: By task, the metric by which models are compared.
LOSS: Mapping[str, Metric] = {"classification": METRICS["error"], "regression": METRICS["mae"]}
