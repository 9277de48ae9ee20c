"""The requests of our own protocol: ``/v1/predict``, ``/v1/label``, ``/v1/models``, and what operators ask."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial
from typing import Annotated, Any, TypeVar

from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import replace

from thalweg.client import column_responses, history_responses, model_responses, protocol
from thalweg.client.protocol import BYTES, DEFAULT_MODEL, EVENTS, JSON, Status, field_rule
from thalweg.service.commands import Decide, HttpResponse, OfRows, Predict, Refused
from thalweg.service.http import arrow
from thalweg.service.http.arrow import ArrowTable
from thalweg.service.http.exchange import EventStream, Once, Request, encode
from thalweg.service.http.routes import get, post, put
from thalweg.service.journal.records import LabelValue
from thalweg.service.learning.label_budget import MOST_OPEN
from thalweg.service.service import Service

R = TypeVar("R", bound=Struct)
#: Rows beyond which a response takes its time.
_MANY = 1000
_PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"
_IDS = {"ids": ["12-0"]}


class ModelQuery(Struct, frozen=True):
    model: Annotated[str, Meta(description="Of a body of Arrow, which model is asked.")] = DEFAULT_MODEL


class PredictQuery(ModelQuery, frozen=True):
    explain: Annotated[
        bool,
        field_rule(
            "explain must be true or false", description="Of a body of JSON: whether to explain each prediction."
        ),
    ] = False


@post(
    "/v1/predict", "learn", example={"rows": [{"load": 1.5, "day": "mon"}, {"load": 2.5, "day": None}]}, predicts=True
)
async def predict(
    service: Service, request: Request, query: PredictQuery, body: protocol.PredictRequest | ArrowTable
) -> Once[protocol.PredictResponse | ArrowTable]:
    """Predict rows. Each gets an id, by which its label can be sent later."""
    written: Callable[[Predict], protocol.PredictResponse | HttpResponse]
    rows: Any
    if isinstance(body, ArrowTable):
        if query.explain:
            raise Refused(415, f"rows to be explained must be {JSON}")
        name, rows, written = query.model, body.table, arrow.predicted
    else:
        name, rows, written = body.model, await request.apart(_rows, body), _predicted
    request.count(len(rows), "rows", service.options)
    state = None
    if query.explain:
        state, explained = await service.explain(name, rows)
        written = partial(_explained, explained)
    act = partial(service.predict, name, rows, state=state, must_record=False)
    return Once(act, written, at_length=len(rows) > _MANY)


def _rows(body: protocol.PredictRequest) -> list[dict[str, Any]]:
    rows: list[Any] = [body.row] if body.rows is UNSET else body.rows
    for at, row in enumerate(rows):
        if not isinstance(row, dict):
            raise Refused(422, f"row {at}: it must be an object of columns and values")
    return rows


def _predicted(command: Predict) -> protocol.PredictResponse:
    predictions = command.response.predictions(command.seq)
    return protocol.PredictResponse(command.model, command.body.version, predictions, command.recorded)


def _explained(explained: Sequence[dict[str, Any]], command: Predict) -> protocol.PredictResponse:
    result = _predicted(command)
    predictions = [replace(row, **parts) for row, parts in zip(result.predictions, explained, strict=True)]
    return replace(result, predictions=predictions)


class LabelQuery(ModelQuery, frozen=True):
    revise: Annotated[bool, field_rule("revise must be true or false", description="Of a body of Arrow.")] = False


@post("/v1/label", "learn", example={"labels": [{"id": "12-0", "label": "up"}]}, waits=True)
async def label(
    service: Service, request: Request, query: LabelQuery, body: protocol.LabelRequest | ArrowTable
) -> Once[protocol.Receipt]:
    """Send the labels of rows, by their ids, in any order and at any time."""
    asked = query if isinstance(body, ArrowTable) else body
    labels = await request.apart(_labels, service, request, asked.model, body)
    return Once(partial(service.label, asked.model, labels, asked.revise), _receipt(protocol.Receipt))


def _labels(
    service: Service, request: Request, name: str, body: protocol.LabelRequest | ArrowTable
) -> list[tuple[str, LabelValue]]:
    """The labels by row, as the model takes them."""
    given = body.labels() if isinstance(body, ArrowTable) else [(label.id, label.label) for label in body.labels]
    request.count(len(given), "labels", service.options)
    return [(row, service.read_label(name, value, at)) for at, (row, value) in enumerate(given)]


#: Sent to clients one by one; of other lists their length.
_LISTED = ("unknown", "expired", "conflicts", "new_labels")


def _receipt(kind: type[R]) -> Callable[[Any], R]:
    """How the response to labels, or to rows that are withdrawn or erased, is written: by the names of its fields."""

    def written(command: OfRows) -> R:
        more = {"model": command.model, "seq": command.seq, "replayed": command.replayed}
        outcome = vars(command.outcome) | more
        given = {name: outcome[name] for name in kind.__struct_fields__}
        return kind(
            **{
                name: value if not isinstance(value, list) else tuple(value) if name in _LISTED else len(value)
                for name, value in given.items()
            }
        )

    return written


@post("/v1/models/{name}/void", "learn", example=_IDS, waits=True)
async def void(service: Service, request: Request, name: str, body: protocol.VoidRequest) -> Once[protocol.VoidReceipt]:
    """Withdraw rows: the model ends as if their labels had never come, and later ones are refused."""
    request.count(len(body.ids), "ids", service.options)
    return Once(partial(service.withdraw, name, body.ids), _receipt(protocol.VoidReceipt))


@post("/v1/models/{name}/erase", "admin", example=_IDS, waits=True)
async def erase(
    service: Service, request: Request, name: str, body: protocol.EraseRequest
) -> Once[protocol.EraseReceipt]:
    """Erase the values and labels of rows from the journal. The model ends as if the rows had never had a label, and
    later ones are refused.
    """
    request.count(len(body.ids), "ids", service.options)
    return Once(partial(service.withdraw, name, body.ids, erase=True), _receipt(protocol.EraseReceipt))


@get("/v1/models", "read")
async def models(service: Service) -> model_responses.Models:
    """All models and challengers."""
    return model_responses.Models([state.summary(name) for state in service.models.states() for name in state.learners])


@post(
    "/v1/models",
    "admin",
    status=201,
    example={"name": "load", "kind": "oldc", "schema": {"columns": [{"name": "load", "kind": "number"}]}},
)
async def create(service: Service, body: protocol.CreateRequest) -> Once[model_responses.Decision]:
    """Make a model, or a challenger of one."""
    return Once(partial(service.decisions.create, body), _decided(body.name))


@get("/v1/models/{name}", "read")
async def model(service: Service, name: str) -> model_responses.ModelDetails:
    """One model."""
    return service.models.state(name).details(name)


@get("/v1/models/{name}/keys/{key:path}", "read", refused=(409,))
async def key(
    service: Service,
    name: str,
    key: Annotated[str, Meta(description="A key as text: a whole number by its digits.", examples=["pump 3"])],
) -> model_responses.KeyDetails:
    """How a key of a model with keys does."""
    return service.models.state(name).key(name, key)


@get("/v1/models/{name}/compare", "read", refused=(409,))
async def compare(service: Service, name: str) -> model_responses.Comparison:
    """The champion beside a challenger: an interval for the difference of their errors, valid at any time."""
    state = service.models.state(name)
    if name == state.name:  # which stands for its only challenger
        challengers = [learner for learner in state.learners if learner != name]
        if len(challengers) != 1:
            raise Refused(409, f"{name!r} has {len(challengers)} challengers: ask for the comparison of one of them")
        name = challengers[0]
    return state.comparison(name)


def _decided(name: str) -> Callable[[Decide], model_responses.Decision]:
    """How the response to a decision about a model is written."""
    return lambda command: model_responses.Decision(name, command.seq)


@post("/v1/models/{name}/archive", "admin")
async def archive(service: Service, name: str) -> Once[model_responses.Decision]:
    """Put a model away: it neither predicts nor learns, and nothing is erased."""
    return Once(partial(service.decisions.set_archived, name, True), _decided(name))


@post("/v1/models/{name}/restore", "admin")
async def restore(service: Service, name: str) -> Once[model_responses.Decision]:
    """Bring a model back."""
    return Once(partial(service.decisions.set_archived, name, False), _decided(name))


@post("/v1/models/{name}/promote", "admin", example={"expected": "oldc"})
async def promote(service: Service, name: str, body: protocol.PromoteRequest | None) -> Once[model_responses.Decision]:
    """Let a challenger and its champion change places; refused, unless forced, before a label has compared the two in
    their present places, or when the challenger is significantly worse.
    """
    asked = body or protocol.PromoteRequest()
    return Once(partial(service.decisions.promote, name, asked.expected, asked.force), _decided(name))


@post(
    "/v1/models/{name}/columns",
    "admin",
    example={"add": {"wind": 0.0}, "retire": ["day"], "rename": {"load": "demand"}},
)
async def change_columns(service: Service, name: str, body: protocol.ColumnsRequest) -> Once[model_responses.Decision]:
    """Add, retire or rename columns. Rows without an added column have its default. Where columns are added, the model
    learns the rows that the journal keeps again.
    """
    return Once(partial(service.decisions.change_columns, name, body), _decided(name))


@post("/v1/models/{name}/rollback", "admin", example={"version": "before-holidays"})
async def rollback(service: Service, name: str, body: protocol.RollbackRequest) -> Once[model_responses.Decision]:
    """Return a model to an older state, a named version or that after a record. It predicts and learns from that state
    on; the history of its scores stays.
    """
    return Once(partial(service.decisions.roll_back, name, body.version, body.seq), _decided(name))


@get("/v1/models/{name}/versions", "read")
async def versions(service: Service, name: str) -> model_responses.Versions:
    """States to return to."""
    return model_responses.Versions(await service.decisions.versions(name))


@post("/v1/models/{name}/versions", "admin", status=201, example={"version": "before-holidays"})
async def name_version(service: Service, name: str, body: protocol.VersionRequest) -> Once[model_responses.Decision]:
    """Name the state of a model and its challengers after this record."""
    return Once(partial(service.decisions.name_version, name, body.version), _decided(name))


class FileQuery(Struct, frozen=True):
    version: Annotated[str, Meta(description="The name of an older state.")] = ""
    seq: Annotated[
        Annotated[int, Meta(ge=0, lt=10**17)] | UnsetType,
        field_rule("seq must be the number of a record", description="The record of one."),
    ] = UNSET


@get("/v1/models/{name}/file", "read", refused=(409,), media=BYTES)
async def download(service: Service, name: str, query: FileQuery) -> HttpResponse:
    """The file of a model, which `thalweg.load` reads: as it is, or as it was."""
    return HttpResponse(
        200, BYTES, await service.decisions.file(name, query.version or None, None if query.seq is UNSET else query.seq)
    )


@put("/v1/models/{name}/file", "admin", status=201)
async def upload(service: Service, name: str, body: bytes) -> Once[model_responses.Decision]:
    """Make a model from the file of one."""
    return Once(partial(service.decisions.create_from_file, name, body), _decided(name))


class ToLabelQuery(Struct, frozen=True):
    limit: Annotated[
        Annotated[int, Meta(ge=1, le=MOST_OPEN)],
        field_rule(f"limit must be a whole number from 1 to {MOST_OPEN}", description="Rows at the most."),
    ] = 100


@get("/v1/models/{name}/to-label", "read", refused=(409,))
async def to_label(service: Service, name: str, query: ToLabelQuery) -> model_responses.RowsToLabel:
    """The rows whose label is asked for and has not come, those that were the most worth asking first."""
    return service.models.state(name).to_label(name, query.limit)


@get("/v1/models/{name}/course", "read")
async def course(service: Service, name: str) -> history_responses.Course:
    """How a model went."""
    return service.models.state(name).course(name, service.counts.throughput())


@get("/v1/models/{name}/importance", "read", refused=(409,))
async def importance(service: Service, name: str) -> column_responses.ImportanceOverTime:
    """Which columns a model relies on, and how that changed."""
    return await asyncio.to_thread(service.models.state(name).importance, name)


@get("/v1/models/{name}/inputs", "read")
async def inputs(service: Service, name: str) -> column_responses.Inputs:
    """The columns of a model's rows then and now, which of them changed, and why the error rose."""
    return await asyncio.to_thread(service.models.state(name).inputs, name)


@get("/v1/models/{name}/events", "read")
async def events(service: Service, request: Request, name: str) -> EventStream[history_responses.LivePoint]:
    """How a model goes: an event `point` whenever it has learned, whose id is the number of labels."""
    service.models.state(name)
    given = request.headers.get(b"last-event-id", b"")
    last = int(given) if given.isdigit() and len(given) < 18 else -1
    return EventStream(EVENTS, _points(service, name, last))


#: Seconds between points of a live view at the least, and between signs of life.
_LEAST_SECONDS, _HEARTBEAT_SECONDS = 0.25, 15.0


async def _points(service: Service, name: str, last: int) -> AsyncIterator[bytes]:
    """Points that were missed, then new ones."""
    champion = service.models.champion_of(name)
    assert champion is not None
    yield b": thalweg\n\n"
    if last >= 0:
        for point in service.models.state(name).missed(name, last):
            yield _event(point)
            last = point.labels
    sent: tuple[int, int] | None = None
    while not service.listeners.closed:
        state = service.models.state(name)
        if sent != (now := (state.version, state.rows)):
            sent = now
            yield _event(state.point(name, service.counts.throughput()))
        began = time.monotonic()
        if not await service.listeners.wait(champion, _HEARTBEAT_SECONDS):
            yield b": still here\n\n"
        if not service.listeners.closed:
            await asyncio.sleep(max(0.0, _LEAST_SECONDS - (time.monotonic() - began)))


def _event(point: history_responses.Point) -> bytes:
    return b"event: point\nid: %d\ndata: %s\n\n" % (point.labels, encode(point))


@get("/healthz", None)
async def healthz(service: Service) -> Status:
    """Whether the process answers."""
    return Status("alive")


@get("/readyz", None, refused=(503,))
async def readyz(service: Service) -> Status:
    """Whether the journal can be written; of a replica, read."""
    return readiness(service)


def readiness(service: Service) -> Status:
    """`Refused` where the journal cannot be written, or of a replica read."""
    if not service.ready:
        raise Refused(503, f"the journal cannot be {'read' if service.read_only else 'written'}")
    if service.replica is None:
        return Status("predictions are not recorded" if service.unrecorded else "ready")
    seq, _, age = service.replica
    return Status("ready", seq, age)


@get("/metrics", "read", media=_PROMETHEUS)
async def metrics(service: Service) -> HttpResponse:
    """What is counted, for Prometheus."""
    from thalweg.service.metrics import text  # prometheus_client: a start need not wait for it

    return HttpResponse(200, _PROMETHEUS, text(service.counters()))
