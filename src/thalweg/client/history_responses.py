"""Responses about the history of a model: its points over time, and its last predictions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from thalweg.client.model_responses import LabelBudget
from thalweg.client.protocol import Count, Name, ResponseBody, Time


class RecentPredictions(ResponseBody, frozen=True):
    """The last labelled predictions of a regression model, in the order in which the labels came, as columns.

    Parameters
    ----------
    number : list of int
        The number of each row among all labelled ones that had a prediction.
    target, prediction, lower, upper : list of float
        The label, what was predicted, and the ends of the interval, to six digits.

    Examples
    --------
    >>> last = RecentPredictions([7, 8], [1.5, 2.0], [1.0, 2.5], [0.0, 1.5], [2.0, 3.5])
    >>> [low <= target <= high for low, target, high in zip(last.lower, last.target, last.upper)]
    [True, True]
    """

    number: Sequence[int]
    target: Sequence[float]
    prediction: Sequence[float]
    lower: Sequence[float]
    upper: Sequence[float]


class Point(ResponseBody, frozen=True):
    """The state of a model at one time.

    Parameters
    ----------
    time : float
        Seconds since 1970.
    labels : int
        Labels learned by then.
    scores : mapping
        Of ``model`` and of each baseline: metrics over the last labels, as in `Model`. Baselines have those that runs
        follow over time: the error; of regression MAE and RMSE.
    rate : float or None
        The learning rate, where the model has one.
    memory, half_life : mapping
        By class: the rows it remembers, and after how many rows half of one is forgotten.
    waiting : int
        Rows whose label had not come.
    delay : float or None
        Recent mean number of seconds from a row to its label.
    means : mapping or None
        By class, then by column: the mean of the class.
    family_weights : mapping or None
        The weight of each family of members in a prediction, where the model has several: what kind of boundary the
        stream has.

    Examples
    --------
    >>> Point(1.8e9, 20, {"model": {"error": 0.1}, "no_change": {"error": 0.4}}).scores["model"]["error"]
    0.1
    """

    time: float
    labels: int
    scores: Mapping[str, Mapping[str, float | None]]
    rate: float | None = None
    memory: Mapping[str, float | None] | None = None
    half_life: Mapping[str, float | None] | None = None
    waiting: int | None = None
    delay: float | None = None
    means: Mapping[str, Mapping[str, float | None]] | None = None
    family_weights: Mapping[str, float] | None = None


class LivePoint(Point, frozen=True, kw_only=True):
    """The state of a model now, with the traffic of the service."""

    rows: int
    throughput: float
    predictions: RecentPredictions | None
    label_budget: LabelBudget | None = None


class Points(ResponseBody, frozen=True):
    """Some hundred points as columns: each field of `Point` as a list.

    Examples
    --------
    >>> Points([1.8e9, 1.8e9 + 60], [20, 40], {"model": {"error": [0.1, 0.2]}}).scores["model"]["error"][-1]
    0.2
    """

    time: Sequence[float]
    labels: Sequence[int]
    scores: Mapping[str, Mapping[str, Sequence[float | None]]]
    rate: Sequence[float | None] | None = None
    memory: Mapping[str, Sequence[float | None]] | None = None
    half_life: Mapping[str, Sequence[float | None]] | None = None
    waiting: Sequence[int] | None = None
    delay: Sequence[float | None] | None = None
    means: Mapping[str, Mapping[str, Sequence[float | None]]] | None = None
    family_weights: Mapping[str, Sequence[float | None]] | None = None


class Change(ResponseBody, frozen=True):
    """A time at which the error or the model changed.

    Examples
    --------
    >>> Change(time=1.8e9, labels=400).labels
    400
    """

    time: Time
    labels: Count


class Course(ResponseBody, frozen=True):
    """The history of a model since it was made.

    Parameters
    ----------
    name : str
        The model's name.
    rows, labels, waiting : int
        Rows predicted, labels learned, rows whose label has not come.
    version : int
        Version of the model.
    throughput : float or None
        Recent rows per second, of the whole service.
    points : Points
        Some hundred points, as columns.
    changes : tuple of Change
        When the error changed.
    task : str
        "classification" or "regression".
    predictions : RecentPredictions or None
        Of regression, the last predictions beside their labels.
    coverage : float or None
        Of regression, the share of rows whose interval is to hold the label.
    promotions : tuple of Change
        When another model took the name: a promotion, or a rollback.
    label_budget : LabelBudget or None
        How labels are asked for, and the error as those show it; None without a budget.

    Examples
    --------
    >>> points = Points(time=[1.8e9], labels=[20], scores={"model": {"error": [0.1]}})
    >>> Course("rain", 30, 20, waiting=10, version=20, throughput=2.5, points=points, changes=()).points.labels
    [20]
    """

    name: Name
    rows: Count
    labels: Count
    waiting: Count
    version: Count
    throughput: float | None
    points: Points
    changes: tuple[Change, ...]
    task: str = "classification"
    predictions: RecentPredictions | None = None
    coverage: float | None = None
    promotions: tuple[Change, ...] = ()
    label_budget: LabelBudget | None = None
