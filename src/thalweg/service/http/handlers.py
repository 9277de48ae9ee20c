"""The requests that do the work: ``/v1/predict``, ``/v1/label`` and ``/v1/models``."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from thalweg.client import history_responses, model_responses, protocol
from thalweg.client.protocol import ARROW, BYTES, DEFAULT_MODEL, EVENTS, JSON
from thalweg.service.commands import Decide, Erase, HttpResponse, Key, Label, Predict, Refused, Void
from thalweg.service.explaining import Explanation
from thalweg.service.http import arrow
from thalweg.service.http.exchange import EventStream, Handler, Request, as_json, done_once, encode
from thalweg.service.http.unnamed_rows import require_row_count
from thalweg.service.journal.records import Kind, LabelValue
from thalweg.service.service import Service

#: Rows beyond which a response takes its time.
_MANY = 1000


async def predict(service: Service, request: Request) -> HttpResponse:
    """Rows of JSON, or a stream of Arrow."""
    asked = request.asked_once("explain", "false")
    if asked not in ("true", "false", "1", "0"):
        raise Refused(422, "explain must be true or false")
    explains = asked in ("true", "1")
    written: Callable[[Predict], HttpResponse]
    if request.media == ARROW:
        if explains:
            raise Refused(415, f"rows to be explained must be {JSON}")
        name = request.asked_once("model", DEFAULT_MODEL)
        rows = await asyncio.to_thread(arrow.read, request.body, service.limits)
        written = arrow.predicted
    else:
        name, rows = await request.apart(_rows, request, service)
        written = _predicted
    require_row_count(service, len(rows))
    request.rows, state = len(rows), None
    if explains:
        state, explained = await service.explain(name, rows)
        written = partial(_explained, explained)

    async def act(key: Key | None) -> Predict:
        return await service.predict(name, rows, key, state, must_record=False)

    return await done_once(service, request, act, written, at_length=len(rows) > _MANY)


def _rows(request: Request, service: Service) -> tuple[str, list[dict[str, Any]]]:
    """The model that is asked, and the rows."""
    given = request.decoded(protocol.PredictRequest, service.limits)
    if (given.row is UNSET) == (given.rows is UNSET):
        raise Refused(422, "there must be either a row or rows")
    rows: list[Any] = [given.row] if given.rows is UNSET else given.rows
    for at, row in enumerate(rows):
        if not isinstance(row, dict):
            raise Refused(422, f"row {at}: it must be an object of columns and values")
    return given.model, rows


def _predicted(command: Predict) -> HttpResponse:
    predictions = command.response.predictions(command.seq)
    return as_json(protocol.PredictResponse(command.model, command.body.version, predictions, command.recorded))


def _explained(explained: Sequence[Explanation], command: Predict) -> HttpResponse:
    predictions = [
        replace(row, contributions=each.contributions, base=each.base, score=each.score)
        for row, each in zip(command.response.predictions(command.seq), explained, strict=True)
    ]
    return as_json(protocol.PredictResponse(command.model, command.body.version, predictions, command.recorded))


async def label(service: Service, request: Request) -> HttpResponse:
    """Labels of JSON, or a stream of Arrow."""
    name, revise, labels = await request.apart(_labels, request, service)
    request.rows = len(labels)

    async def act(key: Key | None) -> Label:
        return await service.label(name, labels, revise, key)

    return await done_once(service, request, act, _labelled)


def _labels(request: Request, service: Service) -> tuple[str, bool, list[tuple[str, LabelValue]]]:
    """The model, whether labels may replace others, and the labels by row."""
    if request.media == ARROW:
        name = request.asked_once("model", DEFAULT_MODEL)
        asked = request.asked_once("revise", "false")
        if asked not in ("true", "false"):
            raise Refused(422, "revise must be true or false")
        revise = asked == "true"
        given = arrow.read_labels(request.body, service.limits)
    else:
        body = request.decoded(protocol.LabelRequest, service.limits)
        name, revise = body.model, body.revise
        given = [(each.id, each.label) for each in body.labels]
    if not 0 < len(given) <= service.limits.rows:
        raise Refused(413 if given else 422, f"a request must have 1 to {service.limits.rows} labels, got {len(given)}")
    return name, revise, [(row, service.read_label(name, value, at)) for at, (row, value) in enumerate(given)]


def _labelled(command: Label) -> HttpResponse:
    found = command.outcome
    assert found is not None
    return as_json(
        protocol.Receipt(
            command.model,
            command.seq,
            len(found.learned),
            len(found.revised),
            found.repeated,
            command.replayed,
            tuple(found.unknown),
            tuple(found.expired),
            tuple(found.conflicts),
            tuple(found.new_labels),
        )
    )


async def _ids(
    service: Service, request: Request, kind: type[protocol.VoidRequest | protocol.EraseRequest]
) -> list[str]:
    ids = (await request.apart(lambda: request.decoded(kind, service.limits))).ids
    if not 0 < len(ids) <= service.limits.rows:
        raise Refused(413 if ids else 422, f"a request must have 1 to {service.limits.rows} ids, got {len(ids)}")
    request.rows = len(ids)
    return ids


async def void(service: Service, request: Request) -> HttpResponse:
    """Rows by their ids."""
    name, ids = request.path["name"], await _ids(service, request, protocol.VoidRequest)

    async def act(key: Key | None) -> Void:
        return await service.void(name, ids, key)

    return await done_once(service, request, act, _voided)


def _voided(command: Void) -> HttpResponse:
    found = command.outcome
    assert found is not None
    counts = len(found.voided), found.repeated, command.replayed
    ids = tuple(found.unknown), tuple(found.expired)
    return as_json(protocol.VoidReceipt(command.model, command.seq, *counts, *ids))


async def erase(service: Service, request: Request) -> HttpResponse:
    """Rows by their ids."""
    name, ids = request.path["name"], await _ids(service, request, protocol.EraseRequest)

    async def act(key: Key | None) -> Erase:
        return await service.erase(name, ids, key)

    return await done_once(service, request, act, _erased)


def _erased(command: Erase) -> HttpResponse:
    found = command.outcome
    assert found is not None
    ids = tuple(found.unknown), tuple(found.expired)
    return as_json(protocol.EraseReceipt(command.model, command.seq, len(found.erased), found.repeated, *ids))


#: Seconds between points of a live view at the least, and between signs of life.
_LEAST_SECONDS, _HEARTBEAT_SECONDS = 0.25, 15.0


async def list_models(service: Service, request: Request) -> HttpResponse:
    return as_json(model_responses.Models([each.summary(name) for each in service.states() for name in each.learners]))


async def create(service: Service, request: Request) -> HttpResponse:
    given = await request.apart(request.decoded, protocol.CreateRequest, service.limits)

    async def act(key: Key | None) -> Decide:
        return await service.create(given, key)

    return await done_once(service, request, act, _decided(given.name, 201))


async def show(service: Service, request: Request) -> HttpResponse:
    name = request.path["name"]
    return as_json(service.state(name).details(name))


async def show_key(service: Service, request: Request) -> HttpResponse:
    name = request.path["name"]
    return as_json(service.state(name).key(name, request.path["key"]))


async def compare(service: Service, request: Request) -> HttpResponse:
    """A challenger beside its champion; the champion's name stands for its only challenger."""
    name = request.path["name"]
    state = service.state(name)
    if name == state.name:
        challengers = [each for each in state.learners if each != name]
        if len(challengers) != 1:
            raise Refused(409, f"{name!r} has {len(challengers)} challengers: ask for the comparison of one of them")
        name = challengers[0]
    return as_json(state.comparison(name))


def _decided(name: str, status: int = 200) -> Callable[[Decide], HttpResponse]:
    """How the response to a decision about a model is written."""
    return lambda command: as_json(model_responses.Decision(name, command.seq), status)


async def _decide(kind: Kind, service: Service, request: Request) -> HttpResponse:
    name = request.path["name"]

    async def act(key: Key | None) -> Decide:
        return await service.decide(name, kind, key)

    return await done_once(service, request, act, _decided(name))


def deciding(kind: Kind) -> Handler:
    """The handler that archives or restores."""
    return partial(_decide, kind)


async def promote(service: Service, request: Request) -> HttpResponse:
    """A challenger takes the champion's place; a body is optional."""
    name = request.path["name"]
    given = request.decoded(protocol.PromoteRequest, service.limits) if request.body else protocol.PromoteRequest()

    async def act(key: Key | None) -> Decide:
        return await service.promote(name, given.expected, given.force, key)

    return await done_once(service, request, act, _decided(name))


async def download(service: Service, request: Request) -> HttpResponse:
    """The file of a model, as it is or as it was."""
    version = request.asked_once("version", "") if "version" in request.query else None
    seq = request.asked_once("seq", "") if "seq" in request.query else None
    if seq is not None and not (seq.isascii() and seq.isdigit() and len(seq) < 18):
        raise Refused(422, "seq must be the number of a record")
    file = await service.file(request.path["name"], version, None if seq is None else int(seq))
    return HttpResponse(200, BYTES, file)


async def upload(service: Service, request: Request) -> HttpResponse:
    """A new model from the file of one."""
    name = request.path["name"]
    if request.media != BYTES:
        raise Refused(415, f"the body must be {BYTES}, the file of a model")

    async def act(key: Key | None) -> Decide:
        return await service.create_from_file(name, request.body, key)

    return await done_once(service, request, act, _decided(name, 201))


async def list_versions(service: Service, request: Request) -> HttpResponse:
    return as_json(model_responses.Versions(await service.versions(request.path["name"])))


async def name_version(service: Service, request: Request) -> HttpResponse:
    name, given = request.path["name"], request.decoded(protocol.VersionRequest, service.limits)

    async def act(key: Key | None) -> Decide:
        return await service.name_version(name, given.version, key)

    return await done_once(service, request, act, _decided(name, 201))


async def change_columns(service: Service, request: Request) -> HttpResponse:
    name, given = request.path["name"], request.decoded(protocol.ColumnsRequest, service.limits)

    async def act(key: Key | None) -> Decide:
        return await service.change_columns(name, given, key)

    return await done_once(service, request, act, _decided(name))


async def roll_back(service: Service, request: Request) -> HttpResponse:
    name, given = request.path["name"], request.decoded(protocol.RollbackRequest, service.limits)

    async def act(key: Key | None) -> Decide:
        return await service.roll_back(name, given.version, given.seq, key)

    return await done_once(service, request, act, _decided(name))


async def course(service: Service, request: Request) -> HttpResponse:
    """How a model went."""
    name = request.path["name"]
    return as_json(service.state(name).course(name, service.counts.throughput()))


async def importance(service: Service, request: Request) -> HttpResponse:
    """Which columns a model relies on, and how that changed."""
    name = request.path["name"]
    return as_json(await asyncio.to_thread(service.state(name).importance, name))


async def inputs(service: Service, request: Request) -> HttpResponse:
    """The columns then and now, and which of them changed."""
    name = request.path["name"]
    return as_json(await asyncio.to_thread(service.state(name).inputs, name))


async def events(service: Service, request: Request) -> EventStream:
    """How a model goes, as it goes."""
    name = request.path["name"]
    service.state(name)
    given = request.headers.get(b"last-event-id", b"")
    last = int(given) if given.isdigit() and len(given) < 18 else -1
    return EventStream(EVENTS, _points(service, name, last))


async def _points(service: Service, name: str, last: int) -> AsyncIterator[bytes]:
    """Points that were missed, then new ones."""
    champion = service.champion_of(name)
    assert champion is not None
    yield b": thalweg\n\n"
    if last >= 0:
        for point in service.state(name).missed(name, last):
            yield _event(point)
            last = point.labels
    sent: tuple[int, int] | None = None
    while not service.listeners.closed:
        state = service.state(name)
        if sent != (now := (state.version, state.rows)):
            sent = now
            yield _event(state.point(name, service.counts.throughput()))
        began = time.monotonic()
        if not await service.listeners.wait(champion, _HEARTBEAT_SECONDS):
            yield b": still here\n\n"
        await service.listeners.pause(_LEAST_SECONDS - (time.monotonic() - began))


def _event(point: history_responses.Point) -> bytes:
    return b"event: point\nid: %d\ndata: %s\n\n" % (point.labels, encode(point))
