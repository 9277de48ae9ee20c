"""What ``metrics.json`` holds, written by a run and read by everything that shows or compares runs.

The file is strict JSON: what is not known (a kappa of one class, a bin without rows) is null, never NaN. Nothing in it
depends on the clock. Labels are strings, as they stand in the source. Curves, looks at the model and moments of change
share one axis: it counts the rows whose label has come, from 1, in the order in which the labels came.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NotRequired, TypedDict, cast

from thalweg.evaluate.metrics import LOSS, Metric

#: Raised when a file changes so that a page or a comparison could not read it as the one before.
SCHEMA = 1

Known = float | None
#: One value for each point of the curve.
Series = list[Known]


class Run(TypedDict):
    """What was asked for."""

    command: str  # as it was typed, quoted for a shell
    version: str  # of thalweg
    source: str
    target: str
    options: dict[str, Any]  # all, resolved: "delay" and "label_time" are read from here


class Rows(TypedDict):
    """What became of the rows."""

    read: int  # all, with the skipped
    predicted: int
    unpredicted: int  # came before the first label was known
    scored: int  # predicted, and their label came: what every score counts
    learned: int
    unlabelled: int  # predicted, without a label in the source
    pending: int  # predicted, their label still to come when the source ended
    pending_rows: list[list[int]]  # which they are, counted from 1: first and last of each range
    skipped: int
    bad: list[str]  # the first complaints, each naming file, row and column


#: Of one predictor, over all scored rows: by the names of `METRICS`, and with ``recent_`` before them those of the last
#: `curve.window` rows (of P(positive), the last `rare.curve.window`). A metric that does not apply is left out.
Score = dict[str, Known]


class Difference(TypedDict):
    """The model's error less a baseline's, row by row, with an interval from the means of consecutive blocks."""

    difference: Known
    low: Known  # null while there are too few blocks
    high: Known
    level: float  # of confidence, 0.95
    blocks: int
    block_rows: int


class Skill(Difference):
    """Skill is how much smaller the model's error is, as a share of the baseline's."""

    skill: Known
    skill_low: Known
    skill_high: Known


#: By baseline and loss: "error" of labels, "mae" and "mse" of numbers.
Verdict = dict[str, dict[str, Skill]]
#: Of one metric over time, by predictor.
Errors = dict[str, Series]


class Means(TypedDict):
    """Where the class means went, for some of the features."""

    features: list[str]
    classes: dict[str, list[Series]]  # by label: for each feature, a value for each point
    ahead: NotRequired[int | None]  # how many rows ahead each forecast looked
    forecast: NotRequired[dict[str, list[Series]] | None]  # as `classes`, what was expected at each point


class Curve(TypedDict):
    """Some hundred points over time, of the metrics that are followed: by metric and predictor."""

    rows: list[int]  # predicted rows at each point, rising
    window: int  # rows that all but the fading ones look back on
    error: NotRequired[Errors]  # of labels
    mae: NotRequired[Errors]  # of numbers
    rmse: NotRequired[Errors]
    bias: NotRequired[Errors]  # of the model alone, as the next two
    coverage: NotRequired[Errors]
    mean_width: NotRequired[Errors]
    fade: float  # by what the weight of a row shrinks with each later one
    fading: dict[str, Errors]


class History(TypedDict):
    """Looks at the model while it learned; all series have a value for each look."""

    rows: list[int]  # rows the model had learned at each look, rising
    rate: Series | None
    effective_rows: dict[str, Series] | None  # by label, or one line of all rows
    weights: dict[str, Series] | None  # by member, summing to 1
    means: NotRequired[Means | None]


class Confusion(TypedDict):
    """Counts of scored rows: a line for each truth, a column for each prediction."""

    classes: list[str]
    counts: list[list[int]]
    unpredicted: int  # rows that came before any label: they have no prediction, and are not among the counts


class Calibration(TypedDict):
    """Rows by the probability of their prediction, in bins of equal width."""

    edges: list[float]  # one more than bins
    rows: list[int]
    confidence: list[Known]  # the mean probability in each bin
    accuracy: list[Known]  # the share of right predictions in it


class ByClass(TypedDict):
    """The model's scores of each class that has scored rows."""

    labels: list[str]
    rows: list[int]
    predicted: list[int]
    precision: list[Known]  # null for a class that was never predicted
    recall: list[Known]
    f1: list[Known]


class RareCurve(TypedDict):
    """Some hundred points over time, of the last rows."""

    rows: list[int]
    window: int
    roc_auc: Series
    pr_auc: Series
    recall: Series
    precision: Series


class ReliabilityOfPositive(TypedDict):
    """Rows by P(positive), in bins that are narrow near 0."""

    edges: list[float]  # one more than bins
    rows: list[int]
    probability: list[Known]  # the mean in each bin
    observed: list[Known]  # the share of positives in it
    expected_error: Known  # the mean distance of the two, weighted by rows (ECE)


class ConstantCost(Difference):
    """Beside the same prediction for every row."""

    cost: Known  # of a row, by that prediction


class ComparedCosts(TypedDict):
    """What mistakes cost, and the model's cost of a row less a baseline's."""

    fp: float
    fn: float
    no_change: Difference
    majority: Difference
    always: ConstantCost  # the positive label for every row
    never: ConstantCost  # the positive label for no row


class AlertsOfPeriods(TypedDict):
    """The rows with the highest P(positive) of each period; the last period, which may not be over, is left out."""

    count: int  # of a period
    per: str
    precision: Known
    recall: Known
    periods: int
    alerts: int
    positives: int
    found: int


class Rare(TypedDict):
    """What was found of a rare class beside the scores."""

    positive: str | None  # --positive, or the rarer of two labels in the first rows; null for more
    named: bool  # whether by --positive
    share: Known  # of positives
    classes: ByClass
    curve: RareCurve | None  # null without a positive label that came
    reliability: ReliabilityOfPositive | None  # null without probabilities
    costs: ComparedCosts | None
    alerts: AlertsOfPeriods | None


class LowestCoverage(TypedDict):
    coverage: float
    row: int  # the first of the block, of those that were scored


class Sets(TypedDict):
    """How often prediction sets held the true label, and how large they were."""

    asked: float  # the coverage
    rows: int
    coverage: Known
    mean_size: Known
    empty: Known  # share of sets without a label
    lowest: LowestCoverage | None  # of a block
    block_rows: int


class Reference(TypedDict):
    """A reference on the rows of the run; a loss is the share of mistakes, or the mean absolute error."""

    fits: int
    rows: int  # that the model and the reference both predicted
    first: int | None  # the first of them, of those that were scored
    loss: Known
    model: Known  # the model's loss over the same rows
    difference: Difference  # the model's less the reference's


class References(TypedDict):
    """What one would run otherwise (``--against``)."""

    every: int  # labelled rows of a first fit, and between fits
    window: int  # last labelled rows that a later fit sees
    references: dict[str, Reference]  # of "frozen", "retrained" and "prompt"
    curve: dict[str, Series]  # windowed losses at the points of the run's curve; null before the first fit


class Interval(TypedDict):
    """An estimate with its interval of 95 %."""

    value: Known
    low: Known
    high: Known


class LabelBudget(TypedDict):
    """What was asked for with ``--label-budget``."""

    budget: str
    strategy: str
    explore: float  # share of the budget spent on all rows alike
    start: int  # rows at the start whose labels were all asked for
    rows: int
    asked: int
    came: int  # asked rows whose label came
    to_label: int  # asked rows that have no label
    loss: str  # "error" of labels, "mae" of numbers
    estimate: Interval  # of the loss over all rows, by the asked ones
    truth: Known  # the same by all labels of the table
    curve: NotRequired[list[Series]]  # with --label-curve: budgets, and the loss with each


class Change(TypedDict):
    """A moment at which the error changed."""

    row: int  # the first after it
    found: int  # the row at which it was seen
    before: Known  # the error since the change before, or the beginning
    seen: Known  # from the change to the row at which it was seen
    after: Known  # until the next change, or the end


class ClassChange(TypedDict):
    """Where the features of a rare class changed."""

    label: str
    row: int  # the first after the change
    found: int  # the row at which it was seen
    features: list[str]  # those that changed


class LabelShares(TypedDict):
    """The share of each label among those known at the time, as probabilities."""

    rows: int  # scored, whose label was not new then
    log_loss: float
    model: float  # the model's over the same rows
    difference: Difference  # the model's log-loss less theirs


class LabelDelays(TypedDict):
    """How long labels took to come, of a run with ``--label-time``: a value of each for every label."""

    kind: str  # "time", or "counter" of whole numbers that seem not to count since 1970
    labels: list[str]
    rows: list[int]
    medians: list[float]  # seconds, or the counter's own; to 1.1 %
    differ: list[str] | None  # the first and the last label, where the medians of those with 50 rows differ by 1.25


class LabelWords(TypedDict):
    label: str
    words: list[tuple[str, float]]  # with their weights, the largest first; empty where no weight is positive


class Words(TypedDict):
    """The words with the largest weights of each label, at the end."""

    share: float  # in the predictions, of the linear member whose weights these are
    labels: list[LabelWords]


class ImportanceEstimate(TypedDict):
    """Means over samples of rows, with their standard errors."""

    increase: Known  # of the loss when the column is replaced
    increase_error: Known
    effect: Known  # on the score, of the larger of two values; null for columns without an order
    effect_error: Known


class ImportanceOfColumn(TypedDict):
    name: str
    columns: NotRequired[list[str]]  # that stand for each other and were replaced together
    overall: ImportanceEstimate
    recent: ImportanceEstimate  # fading
    increase: Series  # one value for each of `rows`
    error: Series
    effect: Series


class Cause(TypedDict):
    """A column whose effect or importance changed."""

    row: int
    column: str
    what: str  # reversed, gained or lost
    before: float  # effects of a reversal, increases of the loss else
    after: float
    error_changed: bool


class Importance(TypedDict):
    """By how much the loss on rows about to be learned grows when a column is replaced by other values of it."""

    loss: str  # log-loss, error, or squared error in units of the target's variance
    label: str | None  # whose probability the effects are about; null for numbers
    sample_rows: int
    every: int  # learned rows between samples
    rows: list[int]  # learned rows at the last sample of each block
    columns: list[ImportanceOfColumn]  # the most important, the largest first
    columns_left_out: int
    causes: list[Cause]


class Model(TypedDict):
    """What learned."""

    name: str  # as given to --model
    title: str  # its class
    about: str  # one line
    parameters: dict[str, Any]
    features: int
    explain: str | None


class Inputs(TypedDict):
    """Columns, predictions and targets then and now, as `InputDrift.summary` gives them, and why the error rose."""

    columns: list[dict[str, Any]]
    changes: list[dict[str, Any]]  # of columns, in the order in which they were found; rows count from 1
    changes_left_out: int
    not_watched: list[str]  # columns beyond the most that are watched
    predictions: list[dict[str, Any]]  # one, or none before the first row
    targets: list[dict[str, Any]]
    causes: list[dict[str, Any]]  # of rises of the error, as in `ErrorCauses.found`


class AlertsFired(TypedDict):
    """The rules of alerts, and when they fired."""

    rules: list[str]
    fired: list[dict[str, Any]]  # by row: the rule, and its value or what happened
    left_out: int


class Times(TypedDict):
    """When rows and labels came, of a run with ``--time`` over rows in time order: one value of each at every point."""

    column: str
    kind: str  # "time", or "counter" of whole numbers that seem not to count since 1970
    labels: list[int]  # that had come, the axis of the curves; rising
    rows: list[int]  # that had been read; rising
    times: list[float]  # of the latest row: seconds since 1970, UTC, or the counter's own; never falling


class Intervals(TypedDict):
    """How often intervals held the target."""

    asked: float  # the coverage
    rows: int
    coverage: Known
    below: Known  # share of targets below their interval
    above: Known
    mean_width: Known
    pinball_lower: Known  # mean pinball loss of the ends, as quantiles
    pinball_upper: Known
    lowest: LowestCoverage | None  # of a block
    block_rows: int


class Stretch(TypedDict):
    """Rows by their number among those scored, each with its target, prediction and interval."""

    rows: list[int]
    target: Series
    prediction: Series
    lower: Series
    upper: Series


class Predictions(TypedDict):
    every: int  # `course` has every so many-th row
    course: Stretch
    last: Stretch  # the last rows, one by one


#: Keys that are no names of Python, so that it is written as a call.
BySize = TypedDict(
    "BySize",
    {
        "from": list[float],
        "to": list[float],
        "rows": list[int],
        "mae": dict[str, list[float]],
        "bias": list[float],
        "coverage": Series,
    },
)


class Metrics(TypedDict):
    """All that a run found; what is said to be of labels or of numbers is in runs that predict those."""

    schema: int
    task: str  # "classification" or "regression"
    run: Run
    rows: Rows
    verdict: Verdict
    scores: dict[str, Score]  # of "model" and the baselines
    curve: Curve
    times: NotRequired[Times]
    course: History
    confusion: NotRequired[Confusion]  # of labels
    calibration: NotRequired[Calibration | None]  # of labels; null without probabilities
    rare: NotRequired[Rare]  # of labels
    label_shares: NotRequired[LabelShares]  # of a model with probabilities
    label_delays: NotRequired[LabelDelays]  # with --label-time
    sets: NotRequired[Sets]  # of a model of prediction sets
    class_changes: NotRequired[list[ClassChange]]  # of labels
    words: NotRequired[Words]  # of columns of text or with names, where the model is linear in them
    intervals: NotRequired[Intervals]  # of numbers
    predictions: NotRequired[Predictions]  # of numbers
    by_size: NotRequired[BySize]  # of numbers: of the target, in groups of about as many rows
    against: NotRequired[References]  # with --against
    label_budget: NotRequired[LabelBudget]  # with --label-budget
    changes: list[Change]  # of the error, or of the mean absolute residual
    changes_left_out: NotRequired[int]  # further ones, too small to be among the most that are kept
    importance: NotRequired[Importance]  # not of very wide tables
    inputs: Inputs
    alerts_fired: NotRequired[AlertsFired]  # where rules were given
    warnings: NotRequired[list[str]]  # what the reader should know of the table
    columns: list[tuple[str, str, str]]  # name, kind, treatment
    model: Model


def as_metrics(given: Mapping[str, Any]) -> Metrics:
    """A mapping read from ``metrics.json``, by its types."""
    return cast(Metrics, given)


def is_regression(metrics: Mapping[str, Any]) -> bool:
    return bool(metrics["task"] == "regression")


def target_word(metrics: Mapping[str, Any]) -> str:
    """What the run predicts, in a sentence."""
    return "target" if is_regression(metrics) else "label"


def loss_of(metrics: Mapping[str, Any]) -> Metric:
    """The metric by which models are compared."""
    return LOSS[metrics["task"]]
