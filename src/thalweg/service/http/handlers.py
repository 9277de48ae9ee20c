"""The requests that do the work: ``/v1/predict``, ``/v1/label`` and ``/v1/models``."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Any

from msgspec import UNSET

from thalweg.client import protocol
from thalweg.client.protocol import ARROW, DEFAULT_MODEL, EVENTS
from thalweg.service.commands import Decide, HttpResponse, Key, Label, Predict, Refused
from thalweg.service.http import arrow
from thalweg.service.http.exchange import EventStream, Handler, Request, as_json, done_once, encode
from thalweg.service.journal.records import Kind
from thalweg.service.service import Service

#: Rows beyond which an answer takes its time.
_MANY = 1000


async def predict(service: Service, request: Request) -> HttpResponse:
    """Rows of JSON, or a stream of Arrow."""
    if request.media == ARROW:
        name = request.asked_once("model", DEFAULT_MODEL)
        rows = await asyncio.to_thread(arrow.read, request.body, service.limits)
        written = arrow.predicted
    else:
        given = request.decoded(protocol.PredictRequest)
        name, rows, written = given.model, _rows(given), _predicted
    if not 0 < len(rows) <= service.limits.rows:
        raise Refused(
            413 if len(rows) else 422, f"a request must have 1 to {service.limits.rows} rows, got {len(rows)}"
        )

    async def act(key: Key | None) -> Predict:
        return await service.predict(name, rows, key)

    return await done_once(service, request, act, written, at_length=len(rows) > _MANY)


def _rows(given: protocol.PredictRequest) -> list[dict[str, Any]]:
    if (given.row is UNSET) == (given.rows is UNSET):
        raise Refused(422, "there must be either a row or rows")
    rows: list[Any] = [given.row] if given.rows is UNSET else given.rows
    for at, row in enumerate(rows):
        if not isinstance(row, dict):
            raise Refused(422, f"row {at}: it must be an object of columns and values")
    return rows


def _predicted(command: Predict) -> HttpResponse:
    answers = command.response.predictions(command.seq)
    return as_json(protocol.Predictions(command.model, command.body.version, answers))


async def label(service: Service, request: Request) -> HttpResponse:
    """Labels of JSON, or a stream of Arrow."""
    if request.media == ARROW:
        name = request.asked_once("model", DEFAULT_MODEL)
        asked = request.asked_once("revise", "false")
        if asked not in ("true", "false"):
            raise Refused(422, "revise must be true or false")
        revise = asked == "true"
        given = arrow.read_labels(request.body, service.limits)
    else:
        body = request.decoded(protocol.LabelRequest)
        name, revise = body.model, body.revise
        given = [(each.id, each.label) for each in body.labels]
    if not 0 < len(given) <= service.limits.rows:
        raise Refused(413 if given else 422, f"a request must have 1 to {service.limits.rows} labels, got {len(given)}")
    labels = [(row, service.read_label(name, value, at)) for at, (row, value) in enumerate(given)]

    async def act(key: Key | None) -> Label:
        return await service.label(name, labels, revise, key)

    return await done_once(service, request, act, _labelled)


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
        )
    )


#: Seconds between points of a live view at the least, and between signs of life.
_LEAST_SECONDS, _HEARTBEAT_SECONDS = 0.25, 15.0


async def list_models(service: Service, request: Request) -> HttpResponse:
    return as_json(protocol.Models([each.summary(name) for each in service.states() for name in each.learners]))


async def create(service: Service, request: Request) -> HttpResponse:
    given = request.decoded(protocol.CreateRequest)

    async def act(key: Key | None) -> Decide:
        return await service.create(given, key)

    return await done_once(service, request, act, _decided(given.name, 201))


async def show(service: Service, request: Request) -> HttpResponse:
    name = request.path["name"]
    return as_json(service.state(name).details(name))


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
    """How the answer to a decision about a model is written."""
    return lambda command: as_json(protocol.Decision(name, command.seq), status)


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
    given = request.decoded(protocol.PromoteRequest) if request.body else protocol.PromoteRequest()

    async def act(key: Key | None) -> Decide:
        return await service.promote(name, given.expected, given.force, key)

    return await done_once(service, request, act, _decided(name))


async def course(service: Service, request: Request) -> HttpResponse:
    """How a model went."""
    name = request.path["name"]
    return as_json(service.state(name).course(name, service.counts.throughput()))


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


def _event(point: protocol.Point) -> bytes:
    return b"event: point\nid: %d\ndata: %s\n\n" % (point.labels, encode(point))
