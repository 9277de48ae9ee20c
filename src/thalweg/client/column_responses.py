"""Responses about the columns of a model: how important each is over time, and how their values change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from msgspec import field

from thalweg.client.protocol import Count, Name, ResponseBody, json_schema


class ColumnImportance(ResponseBody, frozen=True):
    """How much a model relies on one column.

    Parameters
    ----------
    name : str
        The column.
    increase, standard_error : float or None
        By how much the loss grows if the column is replaced by other recent values of it, over the last labels.
    effect : float or None
        By how much the probability of the label, or the predicted number in standard deviations, is higher with the
        larger of two values; of columns whose values have an order.
    increases, effects : list of float or None
        The same over time, at ``labels`` of `ImportanceOverTime`.

    Examples
    --------
    >>> ColumnImportance("price", 0.4, 0.03, 0.2, [0.3, 0.4], [0.1, 0.2]).increase
    0.4
    """

    name: str
    increase: float | None
    standard_error: float | None
    effect: float | None
    increases: Sequence[float | None]
    effects: Sequence[float | None]


class ImportanceChange(ResponseBody, frozen=True):
    """A column whose effect reversed, or which gained or lost importance.

    Examples
    --------
    >>> ImportanceChange(4000, "price", "reversed", 0.24, -0.26, error_changed=True).what
    'reversed'
    """

    labels: Count
    column: str
    what: Annotated[str, json_schema(enum=["reversed", "gained", "lost"])]
    before: float
    after: float
    error_changed: bool


class ImportanceOverTime(ResponseBody, frozen=True):
    """Which columns a model relies on, and how that changed.

    Parameters
    ----------
    model : str
        The model's name.
    loss : str
        The loss whose growth is measured: "log-loss", "error" or "squared error".
    label : str or None
        The label whose probability the effects are about; None of numbers.
    every : int
        Labels between two samples.
    labels : list of int
        Labels learned, at each place of the lists over time.
    columns : list of ColumnImportance
        The 20 most important columns, the most important first.
    columns_left_out : int
        Further columns that make a difference.
    changes : list of ImportanceChange
        Columns that changed significantly.

    Examples
    --------
    >>> ImportanceOverTime("rain", "log-loss", "wet", 435, [], [], 0, []).every
    435
    """

    model: Name
    loss: str
    label: str | None
    every: Count
    labels: Sequence[int]
    columns: list[ColumnImportance]
    columns_left_out: Count
    changes: list[ImportanceChange]


class InputColumn(ResponseBody, frozen=True):
    """One column then, in the first rows, and now, in the last.

    Parameters
    ----------
    name, kind : str
        The column, and whether it is a "number" or a "category".
    then, now : mapping
        Of 1,024 rows: ``mean``, ``spread``, ``missing`` and ``quantiles`` (5, 25, 50, 75 and 95 %) of numbers;
        ``missing`` and ``shares`` of categories.
    measure : str or None
        What is measured of the column where that is not its values, such as the seconds since the row before.

    Examples
    --------
    >>> InputColumn("city", "category", {"missing": 0.0, "shares": {"Oslo": 1.0}}, {"missing": 0.5, "shares": {}}).kind
    'category'
    """

    name: str
    kind: Annotated[str, json_schema(enum=["number", "category"])]
    then: Mapping[str, Any]
    now: Mapping[str, Any]
    measure: str | None = None


class InputChange(ResponseBody, frozen=True):
    """A change of a column.

    Parameters
    ----------
    column, what : str
        The column, and what changed: mean, spread, missing, or a category.
    row, found : int
        The first row after the change, and the row at which it was found.
    before, after : float or None
        The value in the reference, and in the rows since.

    Examples
    --------
    >>> InputChange("rain", 6001, 6272, "mean", 12.2, 19.7).column
    'rain'
    """

    column: str
    row: Count
    found: Count
    what: str
    before: float | None
    after: float | None


class WatchedOutcome(ResponseBody, frozen=True):
    """The predictions of a model or the labels that it learned: then, now, and where they changed.

    Parameters
    ----------
    name, kind : str
        "prediction" or "label", and whether it is a "number" or a "category".
    rows : int
        Predictions, or labels, that were looked at. Rows of changes count them.
    then, now : mapping
        Of 1,024 of them, as in `InputColumn`.
    changes : list of InputChange
        In the order in which they were found, the last 200.
    changes_left_out : int
        Older changes.

    Examples
    --------
    >>> shares = {"missing": 0.0, "shares": {"wet": 0.2, "dry": 0.8}}
    >>> WatchedOutcome("label", "category", 5000, shares, shares, [], 0).name
    'label'
    """

    name: Annotated[str, json_schema(enum=["prediction", "label"])]
    kind: Annotated[str, json_schema(enum=["number", "category"])]
    rows: Count
    then: Mapping[str, Any]
    now: Mapping[str, Any]
    changes: list[InputChange]
    changes_left_out: Count


class AlikeRows(ResponseBody, frozen=True):
    """Rows after a rise of the error that are like those before: how many, and the error of both.

    Examples
    --------
    >>> AlikeRows(57, 0.08, 0.41).rows
    57
    """

    rows: Count
    before: float
    after: float


class NearChange(ResponseBody, frozen=True):
    """A column that changed near a rise of the error, and whether before, with or after it.

    Examples
    --------
    >>> NearChange("rain", 6151, "after").when
    'after'
    """

    column: str
    row: Count
    when: Annotated[str, json_schema(enum=["before", "with", "after"])]


class ErrorCause(ResponseBody, frozen=True):
    """Why the error of a model rose.

    Parameters
    ----------
    labels, row : int
        Where it rose: labels of predicted rows until then, and the number of the row.
    cause : str
        "concept" if the relation between inputs and label changed, "inputs" if the changed inputs account for the rise,
        "unclear" if too few rows are like those before, or the model was new.
    columns : list of str
        Columns that changed before or with it, the nearest first.
    short : bool
        Whether the rise was too short for the history of the error.
    alike : AlikeRows or None
        The rows by which the cause was found, where columns changed.
    changed : list of NearChange
        Columns that changed near it, with those that changed after it, which are no cause.

    Examples
    --------
    >>> ErrorCause(6001, 6003, "concept", [], False).cause
    'concept'
    """

    labels: Count
    row: Count
    cause: Annotated[str, json_schema(enum=["concept", "inputs", "unclear"])]
    columns: list[str]
    short: bool
    alike: AlikeRows | None = None
    changed: list[NearChange] = field(default_factory=list)


class Inputs(ResponseBody, frozen=True):
    """The columns of the rows of a model, which of them changed, and why its error rose.

    Parameters
    ----------
    model : str
        The model's name.
    rows : int
        Rows that were looked at.
    columns : list of InputColumn
        Then and now.
    changes : list of InputChange
        In the order in which they were found, the last 200.
    changes_left_out : int
        Older changes.
    not_watched : list of str
        Columns that are not watched.
    causes : list of ErrorCause
        Why the error rose, the last 200 times; of a challenger none.
    outcomes : list of WatchedOutcome
        The predictions and the labels; of a challenger the labels alone.

    Examples
    --------
    >>> Inputs("rain", 0, [], [], 0, ["clock"]).not_watched
    ['clock']
    """

    model: Name
    rows: Count
    columns: list[InputColumn]
    changes: list[InputChange]
    changes_left_out: Count
    not_watched: list[str]
    causes: list[ErrorCause] = field(default_factory=list)
    outcomes: list[WatchedOutcome] = field(default_factory=list)
