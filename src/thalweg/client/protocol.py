"""The JSON bodies of the service as types, described once for the service, its OpenAPI description and the client.

Here are requests, predictions and receipts. Responses about models, their history and their columns have files of their
own.

An unknown field in a request is refused; one in a response, as from a newer service, is ignored. The service parses
requests with orjson and checks them with msgspec, since msgspec alone is no faster for 1,000 rows and reads long whole
numbers differently. msgspec writes and reads the responses.
"""

from __future__ import annotations

import threading
from typing import Annotated, Any, ClassVar, Literal, TypeAlias, TypeVar

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


def json_schema(**schema: Any) -> Meta:
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

Name = Annotated[str, json_schema(pattern=NAME_PATTERN)]
RowId = Annotated[str, json_schema(examples=["12-0"])]
Count = Annotated[int, json_schema(minimum=0)]
Time = Annotated[float, json_schema(description="Seconds since 1970.")]
Text = Annotated[str, json_schema(**_TEXT)]
#: Rows are checked where they are encoded, whose refusals name row and column.
Row = Annotated[
    Any, json_schema(description="Values by column. A column that is left out, or null, is missing.", **_ROW)
]
LabelValue = Annotated[Any, json_schema(anyOf=[_TEXT, {"type": "number"}, {"type": "boolean"}])]
ModelName = Annotated[Name, field_rule("the model must be a name")]
#: As many as one request may have, which is an option of a service.
MOST_ROWS = "rows of a request"
RowIds = Annotated[
    list[str], field_rule("ids must be a list", "id {}: it must be text", minItems=1, maxItems=MOST_ROWS)
]


class RequestBody(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The body of a request. The ``rule`` of a field is the sentence that refuses a value of another type."""

    #: Fields of which a body has one.
    one_of: ClassVar[tuple[str, ...]] = ()


class PredictRequest(RequestBody, frozen=True):
    """Rows to predict: either one or several."""

    one_of = ("row", "rows")
    model: ModelName = DEFAULT_MODEL
    row: Row | UnsetType = UNSET
    rows: Annotated[list[Row] | UnsetType, field_rule("rows must be a list", minItems=1, maxItems=MOST_ROWS)] = UNSET


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
            maxItems=MOST_ROWS,
        ),
    ]
    model: ModelName = DEFAULT_MODEL
    revise: Annotated[bool, field_rule("revise must be true or false")] = False


class VoidRequest(RequestBody, frozen=True):
    """Rows to be withdrawn, by their ids."""

    ids: RowIds


class EraseRequest(RequestBody, frozen=True):
    """Rows to be erased, by their ids."""

    ids: RowIds


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
    categories: Annotated[list[Text] | UnsetType, json_schema(maxItems=64, uniqueItems=True)] = UNSET
    missing: Annotated[
        bool | UnsetType, json_schema(description="Whether a missing number is marked by a feature of its own.")
    ] = UNSET
    keys: Annotated[
        Literal["name", "index"] | UnsetType,
        json_schema(
            description="Of kind map: names, which are hashed (the default), or indices, which are used as they are."
        ),
    ] = UNSET


class ModelSchema(RequestBody, frozen=True):
    """The columns of a new model, and its labels where no others may come."""

    columns: Annotated[list[ColumnSchema], json_schema(minItems=1, maxItems=MOST_COLUMNS)]
    labels: Annotated[list[Text] | UnsetType, json_schema(minItems=1)] = UNSET


class Costs(RequestBody, frozen=True):
    """What mistakes about the positive label cost: a false positive, and a false negative."""

    fp: Annotated[float, Meta(ge=0)] = 0.0
    fn: Annotated[float, Meta(ge=0)] = 0.0


class CreateRequest(RequestBody, frozen=True):
    """A new model, or a challenger of one.

    Parameters are those of `Parameters` and the schema is as `ModelSchema`; both are checked where models are made, so
    that a refusal names the parameter or the column.
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
    costs: Annotated[Costs | None, field_rule("costs must be an object with numbers fp and fn of at least 0")] = None
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
    features: Annotated[
        list[str] | None,
        field_rule(
            "features must be a list of texts, one feature each",
            description="Features from earlier rows, such as `recent = count() by card over 1h`.",
        ),
    ] = None
    time: Annotated[
        Name | None,
        field_rule(
            "time must be a text, the name of a column",
            description="The column of times that windows of features from earlier rows go by.",
        ),
    ] = None

    label_budget: Annotated[
        str | float | None,
        field_rule(
            "label_budget must be a share of the rows, or a text such as 100/day",
            description="How many rows to ask the labels of: a share, or a number per minute, hour, day or week. "
            "Labels that come unasked are learned, too.",
        ),
    ] = None
    labels_of: Annotated[
        str | None,
        field_rule(
            "labels_of must be a text",
            description="Which rows are preferred: auto (the default), uncertain, rare, flagged or random.",
        ),
    ] = None
    explore: Annotated[
        float | None,
        field_rule(
            "explore must be a number",
            description="Share of the label budget that is spent on all rows alike; by default 0.1.",
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
        list[str], field_rule("retire must be a list of columns", "column {}: its name must be text")
    ] = []
    rename: Annotated[dict[str, str], field_rule("rename must be an object of old names and new ones")] = {}


class VersionRequest(RequestBody, frozen=True):
    """A name for the state of a model."""

    version: Annotated[Name, field_rule("a version must have a name, which is text")]


class RollbackRequest(RequestBody, frozen=True):
    """The state that a model is to return to: either a named version, or the state after a record."""

    version: Annotated[Name | None, field_rule("version must be a text, the name of one")] = None
    seq: Annotated[Count | None, field_rule("seq must be a whole number, that of a record")] = None


class ResponseBody(Struct, frozen=True):
    """What the service sends."""


class ErrorBody(ResponseBody, frozen=True):
    """Why a request was refused, in one sentence."""

    error: str


class Status(ResponseBody, frozen=True, omit_defaults=True):
    """The state of the service."""

    status: str
    seq: Annotated[Count | UnsetType, json_schema(description="Of a replica, the last record that it has read.")] = (
        UNSET
    )
    seconds_behind: Annotated[
        float | UnsetType, json_schema(description="Of a replica, the time since it has read all of the journal.")
    ] = UNSET


class RowPrediction(ResponseBody, frozen=True, omit_defaults=True):
    """The prediction for one row: a class with probabilities, or for regression a number with its interval."""

    id: RowId
    prediction: Annotated[
        str | float | None, json_schema(description="A class or a number. Null before the first label.")
    ]
    probabilities: dict[str, float] | UnsetType = UNSET
    prediction_set: Annotated[
        list[str] | UnsetType,
        json_schema(description="Labels of which a known share holds the true one; of models that give sets."),
    ] = UNSET
    lower: Annotated[
        float | UnsetType | None, json_schema(description="The lower end of the interval of a regression model.")
    ] = UNSET
    upper: Annotated[float | UnsetType | None, json_schema(description="Its upper end.")] = UNSET
    ask: Annotated[
        bool | UnsetType, json_schema(description="Of a model with a label budget: whether the label is asked for.")
    ] = UNSET
    ask_probability: Annotated[
        float | UnsetType, json_schema(description="How probable it was that it is asked for.")
    ] = UNSET
    contributions: Annotated[
        dict[str, float] | UnsetType,
        json_schema(description="Where asked for: what the columns contribute to the score, the largest first."),
    ] = UNSET
    base: Annotated[
        float | UnsetType, json_schema(description="The mean score of recent rows, from which the contributions lead.")
    ] = UNSET
    score: Annotated[
        float | UnsetType,
        json_schema(description="Base and contributions together: the probability of the prediction, or the number."),
    ] = UNSET


class PredictResponse(ResponseBody, frozen=True, omit_defaults=True):
    """The predictions for the rows of a request, in their order."""

    model: Name
    version: Count
    predictions: list[RowPrediction]
    recorded: Annotated[
        bool,
        json_schema(description="False where the rows are not in the journal and can get no labels, as of a replica."),
    ] = True


class Receipt(ResponseBody, frozen=True):
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
    new_labels : tuple of str
        Labels of a classifier that it did not know before. One that was mistyped is withdrawn by `void`.

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
    new_labels: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether every label found its row."""
        return not (self.unknown or self.expired or self.conflicts)

    def __add__(self, later: Receipt) -> Receipt:
        names = [name for name in self.__struct_fields__ if name not in ("model", "seq")]
        return Receipt(self.model, later.seq, **{name: getattr(self, name) + getattr(later, name) for name in names})


class VoidReceipt(ResponseBody, frozen=True):
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


class EraseReceipt(ResponseBody, frozen=True):
    """Result of an erasure of rows.

    Parameters
    ----------
    model : str
        Their model.
    seq : int
        The journal's number after them.
    erased, repeated : int
        Rows whose values and labels are gone now, and those that had been erased before.
    replayed : int
        Labels that are learned again, now without the rows.
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
    replayed: Count = 0
    unknown: tuple[str, ...] = ()
    expired: tuple[str, ...] = ()
