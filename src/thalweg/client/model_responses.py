"""Responses about models: what they are, how they compare, and the states that they can return to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from thalweg.client.protocol import Count, Name, ResponseBody, Time, json_schema


class Comparison(ResponseBody, frozen=True):
    """Champion and challenger, compared on the same labels.

    Parameters
    ----------
    champion, challenger : str
        Their names.
    labels : int
        Labels of rows that both have predicted.
    difference : float or None
        The champion's error rate less the challenger's, of regression the mean squared error: above 0 the challenger
        errs less.
    interval : pair of float, or None
        A confidence interval for the true difference that holds at all times at once, however often one looks. Of
        regression, where errors have no bound, it does so once there are many labels.
    level : float
        The confidence level of the interval.
    winner : str or None
        The one that errs less at that level; None while it is open.

    Examples
    --------
    >>> seen = Comparison("rain", "rain-auto", 900, 0.04, (0.01, 0.07), 0.95, "rain-auto")
    >>> seen.winner
    'rain-auto'
    """

    champion: Name
    challenger: Name
    labels: Count
    difference: float | None
    interval: tuple[float, float] | None
    level: float
    winner: Name | None


class Decision(ResponseBody, frozen=True):
    """A decision about a model: created, promoted, archived, restored, named or rolled back.

    Parameters
    ----------
    name : str
        The model's name.
    seq : int
        The journal's number of the decision.

    Examples
    --------
    >>> Decision("rain", 41).seq
    41
    """

    name: Name
    seq: Count


class Version(ResponseBody, frozen=True):
    """A state of a model that can be exported or returned to.

    Parameters
    ----------
    version : str or None
        Its name; None for a snapshot, which the service makes and drops by itself.
    seq : int
        The journal's number after which the model was in this state.
    time : float
        The time of that record, in seconds since 1970.

    Examples
    --------
    >>> Version("before-holidays", 41, 1.8e9).seq
    41
    """

    version: Name | None
    seq: Count
    time: Time


class Versions(ResponseBody, frozen=True):
    """Named versions and snapshots of a model, in their order."""

    versions: list[Version]


class LabelBudget(ResponseBody, frozen=True):
    """The label budget of a model, and how much of it is used.

    ``rows`` were predicted, ``asked`` of them were asked for, and ``waiting`` of the last thousand of those have no
    label yet. ``error`` is the error over all rows (of regression the mean absolute error), estimated from the asked
    ones, with an ``interval`` of 95 %; None while nothing is known of it.
    """

    budget: str
    labels_of: str
    explore: float
    rows: Count
    asked: Count
    waiting: Count
    error: float | None
    interval: tuple[float, float] | None


class RowToLabel(ResponseBody, frozen=True):
    """An asked row without a label: its id, how probable it was that it is asked for, and when it came, since 1970."""

    id: str
    probability: float
    time: Time


class RowsToLabel(ResponseBody, frozen=True):
    """Asked rows that wait for their label, those that were the most worth asking first."""

    name: Name
    waiting: Count
    rows: list[RowToLabel]


class Model(ResponseBody, frozen=True, omit_defaults=True):
    """A model of the service, or a challenger of one.

    Parameters
    ----------
    name : str
        Its name in requests.
    kind : str
        The kind of learner, as ``thalweg serve --new`` names it.
    rows, labels, waiting : int
        Rows predicted, labels learned, rows whose label may still come.
    error : float or None
        Error rate over all labels. For regression it is the mean absolute error. Where labels are asked for,
        ``label_budget.error`` of one model estimates it over all rows.
    created : float
        Time of creation, in seconds since 1970.
    archived : bool
        Whether it is archived.
    champion : bool
        Whether its predictions are returned to clients.
    challenger_of : str or None
        The model that it challenges; None for a champion.
    parameters, schema : mapping or None
        How it was made, and its columns. None in a list of models. The schema is also None before the first row.
    version : int or None
        Last record of the journal with labels that it has learned. None in a list of models.
    labels_seen : tuple of str
        The classes seen so far. Empty in a list of models and for regression.
    family_weights : mapping or None
        Weight of each family of members in a prediction: linear, products, kernel, tilings, trees and shares
        for kind "auto". None for models without families and in a list of models.
    positive : str or None
        The label of interest. None in a list of models.
    task : str
        "classification" or "regression".
    coverage : float or None
        For regression, share of rows whose interval should contain the label. None in a list of models.
    key : str or None
        Column of keys, each of which has a model of its own. None without keys and in a list of models.
    scores : mapping or None
        Of ``model`` and of each baseline: metrics by the names of `thalweg.evaluate.METRICS`, over all labels, and with
        ``recent_`` before their names over the last 1,000; those of the positive label over the last 10,000. Baselines
        are no_change of labels; last_value, running_mean and running_median of numbers, by the labels known when a row
        was predicted. None in a list of models.
    label_budget : LabelBudget or None
        How labels are asked for, and the error as those show it. None without a budget and in a list of models.

    Examples
    --------
    >>> Model("rain", "oldc", 52, 40, waiting=12, error=0.1, created=1.8e9, archived=False).waiting
    12
    """

    name: Name
    kind: str
    rows: Count
    labels: Count
    waiting: Count
    error: float | None
    created: Time
    archived: bool
    champion: Annotated[bool, json_schema(const=True)] = False
    challenger_of: Name | None = None
    parameters: dict[str, Any] | None = None
    version: Count | None = None
    labels_seen: tuple[str, ...] = ()
    schema: dict[str, Any] | None = None
    family_weights: Mapping[str, float] | None = None
    positive: str | None = None
    task: str = "classification"
    coverage: float | None = None
    key: str | None = None
    scores: Mapping[str, Mapping[str, float | None]] | None = None
    label_budget: LabelBudget | None = None


class ModelDetails(Model, frozen=True, kw_only=True):
    """One model with what a list of models leaves out, also where it is empty or null."""

    parameters: dict[str, Any]
    version: Count
    labels_seen: tuple[str, ...]
    schema: dict[str, Any] | None
    family_weights: Mapping[str, float] | None
    positive: str | None
    task: str
    coverage: float | None
    key: str | None
    scores: Mapping[str, Mapping[str, float | None]]
    label_budget: LabelBudget | None


class KeyDetails(ResponseBody, frozen=True):
    """How a key of a model does; each row counts as it was predicted just before its label was learned.

    Parameters
    ----------
    model, key : str
        The model and the key.
    rows, rows_since : int
        Labels learned of this key, and of all keys since the last of them.
    error, recent_error : float
        The share of wrong predictions, over all labels and over about the last 50.
    weight : float
        The weight of the key's own part in its next prediction; the model of all keys has the rest.

    Examples
    --------
    >>> KeyDetails("default", "pump 3", 120, 4000, 0.1, 0.05, 0.8).rows
    120
    """

    model: str
    key: str
    rows: Count
    rows_since: Count
    error: float
    recent_error: float
    weight: float


class Models(ResponseBody, frozen=True):
    """All models and challengers."""

    models: list[Model]
