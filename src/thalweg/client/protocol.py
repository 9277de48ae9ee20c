"""The JSON bodies of the service as types, described once for the service, its OpenAPI description and the client.

An unknown field in a request is refused; one in a response, as from a newer service, is ignored. The service parses
requests with orjson and checks them with msgspec, since msgspec alone is no faster for 1,000 rows and reads long whole
numbers differently. msgspec writes and reads the responses.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, TypeAlias, TypeVar

from thalweg.errors import MissingExtra

try:
    from msgspec import UNSET, Meta, Struct, UnsetType
    from msgspec.json import Decoder
except ImportError as error:
    missing = MissingExtra.of("msgspec", "client", "speaking with a service")
    missing.name = error.name  # `thalweg serve` says it in its own words
    raise missing from None

JSON, ARROW, EVENTS = "application/json", "application/vnd.apache.arrow.stream", "text/event-stream"
#: Of the file of a model.
BYTES = "application/octet-stream"
#: The model that is asked where a request names none.
DEFAULT_MODEL = "default"
NAME_PATTERN = "^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$"
#: Columns of a model, letters of a text, and rows that are explained in one request.
MOST_COLUMNS, MOST_TEXT, MOST_EXPLAINED = 2000, 1000, 100

#: As classes and numbers may be given; the service speaks of classes as text: 1 and "1" are one class.
Label: TypeAlias = str | int | float | bool

T = TypeVar("T")
_PREPARED: set[Any] = set()
_PREPARING = threading.Lock()


def prepared(kind: type[T]) -> type[T]:
    """The type itself, safe to be read into by any thread.

    msgspec looks at the fields of a type when the type is first read. Two threads that do so at the same time end the
    process, so that one thread does it for all.
    """
    if kind not in _PREPARED:
        with _PREPARING:
            Decoder(kind)
            _PREPARED.add(kind)
    return kind


def _json(**schema: Any) -> Meta:
    """More for the JSON schema of a field, for readers: whether a model or a label fits is checked by the service."""
    return Meta(extra_json_schema=schema)


def field_rule(rule: str, item: str = "", **schema: Any) -> Meta:
    """A field of a request: the sentences that refuse a value or an item of another type, and more for its schema."""
    return Meta(extra={"rule": rule, "item": item}, extra_json_schema=schema)


_TEXT = {"type": "string", "minLength": 1, "maxLength": MOST_TEXT}
_ENTRY = {"anyOf": [{"type": "number"}, {"type": "boolean"}, {"type": "null"}]}
_MAP = {
    "type": "object",
    "additionalProperties": _ENTRY,
    "description": "Of a column of maps: the values that are not zero, by name or by index.",
}
_CELL = {"anyOf": [{"type": "number"}, {"type": "string"}, {"type": "null"}, _MAP]}
_ROW = {"type": "object", "minProperties": 1, "additionalProperties": _CELL}

Name = Annotated[str, _json(pattern=NAME_PATTERN)]
RowId = Annotated[str, _json(examples=["12-0"])]
Count = Annotated[int, _json(minimum=0)]
Time = Annotated[float, _json(description="Seconds since 1970.")]
Text = Annotated[str, _json(**_TEXT)]
#: Rows are checked where they are encoded, whose refusals name row and column.
Row = Annotated[Any, _json(description="Values by column. A column that is left out, or null, is missing.", **_ROW)]
LabelValue = Annotated[Any, _json(anyOf=[_TEXT, {"type": "number"}, {"type": "boolean"}])]
ModelName = Annotated[Name, field_rule("the model must be a name")]


# ---------------------------------------------------------------------- requests


class RequestBody(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The body of a request. The ``rule`` of a field is the sentence that refuses a value of another type."""


class PredictRequest(RequestBody, frozen=True):
    """Rows to predict: either one or several."""

    model: ModelName = DEFAULT_MODEL
    row: Row | UnsetType = UNSET
    rows: Annotated[list[Row] | UnsetType, field_rule("rows must be a list", minItems=1)] = UNSET


class RowLabel(RequestBody, frozen=True):
    """The label of a row."""

    id: RowId
    label: LabelValue


class LabelRequest(RequestBody, frozen=True):
    """Labels of rows, in any order."""

    labels: Annotated[
        list[RowLabel],
        field_rule(
            "labels must be a list",
            "label {}: it must be an object with an id, which is text, and a label",
            minItems=1,
        ),
    ]
    model: ModelName = DEFAULT_MODEL
    revise: Annotated[bool, field_rule("revise must be true or false")] = False


class VoidRequest(RequestBody, frozen=True):
    """Rows to be withdrawn, by their ids."""

    ids: Annotated[list[str], field_rule("ids must be a list", "id {}: it must be text", minItems=1)]


class EraseRequest(RequestBody, frozen=True):
    """Rows to be erased, by their ids."""

    ids: Annotated[list[str], field_rule("ids must be a list", "id {}: it must be text", minItems=1)]


class Parameters(RequestBody, frozen=True):
    """Parameters of a new model, as the options of ``thalweg run``."""

    rate: float | UnsetType = UNSET
    adaptive: bool | UnsetType = UNSET
    window: str | int | UnsetType = UNSET
    seed: Count | UnsetType = UNSET


class ColumnSchema(RequestBody, frozen=True):
    """A column of a new model."""

    name: Text
    kind: Literal["number", "category", "wide category", "time", "map", "text"]
    categories: Annotated[list[Text] | UnsetType, _json(maxItems=64, uniqueItems=True)] = UNSET
    missing: Annotated[
        bool | UnsetType, _json(description="Whether a missing number is marked by a feature of its own.")
    ] = UNSET
    keys: Annotated[
        Literal["name", "index"] | UnsetType,
        _json(
            description="Of kind map: names, which are hashed (the default), or indices, which are used as they are."
        ),
    ] = UNSET


class ModelSchema(RequestBody, frozen=True):
    """The columns of a new model, and its labels where no others may come."""

    columns: Annotated[list[ColumnSchema], _json(minItems=1, maxItems=MOST_COLUMNS)]
    labels: Annotated[list[Text] | UnsetType, _json(minItems=1)] = UNSET


class Costs(RequestBody, frozen=True):
    """What mistakes about the positive label cost: a false positive, and a false negative."""

    fp: Annotated[float, Meta(ge=0)] = 0.0
    fn: Annotated[float, Meta(ge=0)] = 0.0


class CreateRequest(RequestBody, frozen=True):
    """A new model, or a challenger of one.

    Parameters and schema are described by `Parameters` and `ModelSchema`, and checked where models are made, so that a
    refusal names the parameter or the column.
    """

    name: Annotated[Name, field_rule("a model must have a name and a kind, both of them text")]
    kind: Annotated[str, field_rule("a model must have a name and a kind, both of them text")]
    parameters: Annotated[dict[str, Any] | None, field_rule("parameters must be an object")] = None
    schema: Annotated[dict[str, Any] | None, field_rule("schema must be an object")] = None
    challenger_of: Annotated[Name | None, field_rule("challenger_of must be a text")] = None
    positive: Annotated[
        str | None,
        field_rule("positive must be a text, a label", description="The label of interest, against all others."),
    ] = None
    costs: Annotated[
        Costs | None,
        field_rule("costs must be an object with numbers fp and fn of at least 0"),
    ] = None
    task: Annotated[
        str | None,
        field_rule(
            "the task must be a text",
            description="What labels are: classes (classification, by default) or numbers (regression).",
        ),
    ] = None
    coverage: Annotated[
        float | None,
        field_rule(
            "coverage must be a number",
            description="Of regression: the share of rows whose interval is to hold the label; by default 0.9.",
        ),
    ] = None
    key: Annotated[
        Name | None,
        field_rule(
            "key must be a text, the name of a column",
            description="The column that says which key a row belongs to: each key then has a small model of its own "
            "beside that of all keys.",
        ),
    ] = None
    key_memory: Annotated[
        int | None,
        field_rule(
            "key_memory must be a whole number of bytes",
            description="Bytes of memory for the models of keys, at least 65,536; cold ones go to a temporary file.",
        ),
    ] = None


class PromoteRequest(RequestBody, frozen=True):
    """The conditions of a promotion."""

    expected: Annotated[
        str | None,
        field_rule(
            "expected must be a text, the kind of the challenger",
            description="The kind of the challenger; refused if it is another.",
        ),
    ] = None
    force: Annotated[bool, field_rule("force must be true or false")] = False


class ColumnsRequest(RequestBody, frozen=True):
    """How the columns of a model change."""

    add: Annotated[
        dict[str, Any],
        field_rule(
            "add must be an object of columns and their defaults",
            description="By name, the value of all rows that do not have the column: a number, a text, or an object "
            "with a kind as in a schema and a default.",
        ),
    ] = {}
    retire: Annotated[
        list[str],
        field_rule("retire must be a list of columns", "column {}: its name must be text"),
    ] = []
    rename: Annotated[
        dict[str, str],
        field_rule("rename must be an object of old names and new ones"),
    ] = {}


class VersionRequest(RequestBody, frozen=True):
    """A name for the state of a model."""

    version: Annotated[Name, field_rule("a version must have a name, which is text")]


class RollbackRequest(RequestBody, frozen=True):
    """The state that a model is to return to: either a named version, or the state after a record."""

    version: Annotated[Name | None, field_rule("version must be a text, the name of one")] = None
    seq: Annotated[Count | None, field_rule("seq must be a whole number, that of a record")] = None


# ---------------------------------------------------------------------- responses


class ErrorBody(Struct, frozen=True):
    """Why a request was refused, in one sentence."""

    error: str


class Status(Struct, frozen=True, omit_defaults=True):
    """The state of the service."""

    status: str
    seq: Annotated[Count | UnsetType, _json(description="Of a replica, the last record that it has read.")] = UNSET
    seconds_behind: Annotated[
        float | UnsetType, _json(description="Of a replica, the time since it has read all of the journal.")
    ] = UNSET


class Prediction(Struct, frozen=True, omit_defaults=True):
    """The prediction for one row: a class with probabilities, or for regression a number with its interval."""

    id: RowId
    answer: Annotated[str | UnsetType | None, _json(description="Null before the first label.")] = UNSET
    probabilities: dict[str, float] | UnsetType = UNSET
    prediction_set: Annotated[
        list[str] | UnsetType,
        _json(description="Labels of which a known share holds the true one; of models that give sets."),
    ] = UNSET
    prediction: Annotated[
        float | UnsetType | None, _json(description="Of a regression model. Null before the first label.")
    ] = UNSET
    lower: Annotated[float | UnsetType | None, _json(description="The lower end of its interval.")] = UNSET
    upper: Annotated[float | UnsetType | None, _json(description="The upper end of its interval.")] = UNSET
    contributions: Annotated[
        dict[str, float] | UnsetType,
        _json(description="Where asked for: what the columns contribute to the score, the largest first."),
    ] = UNSET
    base: Annotated[
        float | UnsetType, _json(description="The mean score of recent rows, from which the contributions lead.")
    ] = UNSET
    score: Annotated[
        float | UnsetType,
        _json(description="Base and contributions together: the probability of the answer, or the number."),
    ] = UNSET


class Predictions(Struct, frozen=True, omit_defaults=True):
    """The predictions for the rows of a request, in their order."""

    model: Name
    version: Count
    answers: list[Prediction]
    recorded: Annotated[
        bool, _json(description="False where the rows are not in the journal and can get no labels, as of a replica.")
    ] = True


class Receipt(Struct, frozen=True):
    """Result of sending labels.

    Parameters
    ----------
    model : str
        The model that learned them.
    seq : int
        The journal's number after them.
    learned, revised, repeated : int
        Labels that were new, that replaced an earlier one, that were known already.
    replayed : int
        Labels learned again because of a revision.
    unknown, expired, conflicts : tuple of str
        Ids that were never given out, whose row is no longer kept, that have another label already (see `revise`).

    Examples
    --------
    >>> receipt = Receipt("rain", 40, learned=2, unknown=("a9",))
    >>> receipt.learned, receipt.complete
    (2, False)
    """

    model: Name
    seq: Count
    learned: Count = 0
    revised: Count = 0
    repeated: Count = 0
    replayed: Count = 0
    unknown: tuple[str, ...] = ()
    expired: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether every label found its row."""
        return not (self.unknown or self.expired or self.conflicts)

    def __add__(self, later: Receipt) -> Receipt:
        return Receipt(
            self.model,
            later.seq,
            self.learned + later.learned,
            self.revised + later.revised,
            self.repeated + later.repeated,
            self.replayed + later.replayed,
            self.unknown + later.unknown,
            self.expired + later.expired,
            self.conflicts + later.conflicts,
        )


class VoidReceipt(Struct, frozen=True):
    """Result of a withdrawal of rows.

    Parameters
    ----------
    model : str
        Their model.
    seq : int
        The journal's number after them.
    voided, repeated : int
        Rows that were withdrawn, and those that had been before.
    replayed : int
        Labels learned again because a label was withdrawn.
    unknown, expired : tuple of str
        Ids that were never given out, and those of rows that the journal no longer keeps.

    Examples
    --------
    >>> VoidReceipt("rain", 41, voided=1, unknown=("a9",)).voided
    1
    """

    model: Name
    seq: Count
    voided: Count = 0
    repeated: Count = 0
    replayed: Count = 0
    unknown: tuple[str, ...] = ()
    expired: tuple[str, ...] = ()


class EraseReceipt(Struct, frozen=True):
    """Result of an erasure of rows.

    Parameters
    ----------
    model : str
        Their model.
    seq : int
        The journal's number after them.
    erased, repeated : int
        Rows whose values and labels are gone now, and those that had been erased before.
    unknown, expired : tuple of str
        Ids that were never given out, and those of rows that the journal no longer keeps.

    Examples
    --------
    >>> EraseReceipt("rain", 41, erased=1, unknown=("a9",)).erased
    1
    """

    model: Name
    seq: Count
    erased: Count = 0
    repeated: Count = 0
    unknown: tuple[str, ...] = ()
    expired: tuple[str, ...] = ()


class Comparison(Struct, frozen=True):
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


class Decision(Struct, frozen=True):
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


class Version(Struct, frozen=True):
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


class Versions(Struct, frozen=True):
    """Named versions and snapshots of a model, in their order."""

    versions: list[Version]


class Model(Struct, frozen=True, omit_defaults=True):
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
        Error rate over all labels. For regression it is the mean absolute error.
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
        Weight of each family of members in a prediction: linear, kernel and tilings for kind "auto". None for models
        without families and in a list of models.
    positive : str or None
        The label of interest. None in a list of models.
    rare : mapping or None
        Scores of that label over the last 10,000 labels: roc_auc, pr_auc, recall, precision, and cost where costs were
        given. None without such a label and in a list of models.
    task : str
        "classification" or "regression".
    coverage : float or None
        For regression, share of rows whose interval should contain the label. None in a list of models.
    key : str or None
        Column of keys, each of which has a model of its own. None without keys and in a list of models.
    scores, all_scores : mapping or None
        For regression, scores over the last 1,000 labels and over all labels: mae, rmse, r2, skill, coverage and mean
        width of the intervals, last_value_mae and running_mean_mae. r2 compares with the mean of the labels known when
        the row was predicted, and skill with the last of them. None in a list of models.

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
    champion: Annotated[bool, _json(const=True)] = False
    challenger_of: Name | None = None
    parameters: dict[str, Any] | None = None
    version: Count | None = None
    labels_seen: tuple[str, ...] = ()
    schema: dict[str, Any] | None = None
    family_weights: Mapping[str, float] | None = None
    positive: str | None = None
    rare: Mapping[str, float | None] | None = None
    task: str = "classification"
    coverage: float | None = None
    key: str | None = None
    scores: Mapping[str, float | None] | None = None
    all_scores: Mapping[str, float | None] | None = None


class ModelDetails(Model, frozen=True, kw_only=True):
    """One model with what a list of models leaves out, also where it is empty or null."""

    parameters: dict[str, Any]
    version: Count
    labels_seen: tuple[str, ...]
    schema: dict[str, Any] | None
    family_weights: Mapping[str, float] | None
    positive: str | None
    rare: Mapping[str, float | None] | None
    task: str
    coverage: float | None
    key: str | None
    scores: Mapping[str, float | None] | None
    all_scores: Mapping[str, float | None] | None


class KeyDetails(Struct, frozen=True):
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


class RecentPredictions(Struct, frozen=True):
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


class Models(Struct, frozen=True):
    """All models and challengers."""

    models: list[Model]


class Point(Struct, frozen=True):
    """The state of a model at one time.

    Parameters
    ----------
    time : float
        Seconds since 1970.
    labels : int
        Labels learned by then.
    error, no_change : float or None
        The recent error rate of the model, and of repeating the last label; of regression the mean absolute error.
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
    rare : mapping or None
        How the label of interest is found, over the last 10,000 labels, where the model has one.
    scores : mapping or None
        Of regression: all scores over the last 1,000 labels, as in `Model`.

    Examples
    --------
    >>> Point(1.8e9, 20, 0.1, 0.4).error
    0.1
    """

    time: float
    labels: int
    error: float | None
    no_change: float | None
    rate: float | None = None
    memory: Mapping[str, float | None] | None = None
    half_life: Mapping[str, float | None] | None = None
    waiting: int | None = None
    delay: float | None = None
    means: Mapping[str, Mapping[str, float | None]] | None = None
    family_weights: Mapping[str, float] | None = None
    rare: Mapping[str, float | None] | None = None
    scores: Mapping[str, float | None] | None = None


class LivePoint(Point, frozen=True, kw_only=True):
    """The state of a model now, with the traffic of the service."""

    rows: int
    throughput: float
    predictions: RecentPredictions | None


class Points(Struct, frozen=True):
    """Some hundred points as columns: each field of `Point` as a list.

    Examples
    --------
    >>> Points(time=[1.8e9, 1.8e9 + 60], labels=[20, 40], error=[0.1, 0.2], no_change=[0.4, 0.4]).error[-1]
    0.2
    """

    time: Sequence[float]
    labels: Sequence[int]
    error: Sequence[float | None]
    no_change: Sequence[float | None]
    rate: Sequence[float | None] | None = None
    memory: Mapping[str, Sequence[float | None]] | None = None
    half_life: Mapping[str, Sequence[float | None]] | None = None
    waiting: Sequence[int] | None = None
    delay: Sequence[float | None] | None = None
    means: Mapping[str, Mapping[str, Sequence[float | None]]] | None = None
    family_weights: Mapping[str, Sequence[float | None]] | None = None
    rare: Mapping[str, Sequence[float | None]] | None = None
    scores: Mapping[str, Sequence[float | None]] | None = None


class Change(Struct, frozen=True):
    """A time at which the error or the model changed.

    Examples
    --------
    >>> Change(time=1.8e9, labels=400).labels
    400
    """

    time: Time
    labels: Count


class Course(Struct, frozen=True):
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

    Examples
    --------
    >>> points = Points(time=[1.8e9], labels=[20], error=[0.1], no_change=[0.4])
    >>> Course("rain", 30, 20, waiting=10, version=20, throughput=2.5, points=points, changes=()).points.error
    [0.1]
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


class ColumnImportance(Struct, frozen=True):
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


class ImportanceChange(Struct, frozen=True):
    """A column whose effect reversed, or which gained or lost importance.

    Examples
    --------
    >>> ImportanceChange(4000, "price", "reversed", 0.24, -0.26, error_changed=True).what
    'reversed'
    """

    labels: Count
    column: str
    what: Annotated[str, _json(enum=["reversed", "gained", "lost"])]
    before: float
    after: float
    error_changed: bool


class ImportanceOverTime(Struct, frozen=True):
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


class InputColumn(Struct, frozen=True):
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
    kind: Annotated[str, _json(enum=["number", "category"])]
    then: Mapping[str, Any]
    now: Mapping[str, Any]
    measure: str | None = None


class InputChange(Struct, frozen=True):
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


class AlikeRows(Struct, frozen=True):
    """Rows after a rise of the error that are like those before: how many, and the error of both.

    Examples
    --------
    >>> AlikeRows(57, 0.08, 0.41).rows
    57
    """

    rows: Count
    before: float
    after: float


class ErrorCause(Struct, frozen=True):
    """Why the error of a model rose.

    Parameters
    ----------
    labels, row : int
        Where it rose: labels of predicted rows until then, and the number of the row.
    cause : str
        "concept" if the relation between inputs and label changed, "inputs" if the changed inputs account for the rise,
        "unclear" if too few rows are like those before.
    columns : list of str
        Columns that changed near it, the nearest first.
    short : bool
        Whether the rise was too short for the history of the error.
    alike : AlikeRows or None
        The rows by which the cause was found, where columns changed.

    Examples
    --------
    >>> ErrorCause(6001, 6003, "concept", [], False).cause
    'concept'
    """

    labels: Count
    row: Count
    cause: Annotated[str, _json(enum=["concept", "inputs", "unclear"])]
    columns: list[str]
    short: bool
    alike: AlikeRows | None = None


class Inputs(Struct, frozen=True):
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
    causes: list[ErrorCause] = []
