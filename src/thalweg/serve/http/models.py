"""``/v1/models``: making, listing, comparing, promoting, putting away."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import orjson

from thalweg.serve.http.exchange import EVENTS, Flow, Handler, Request, as_json, done_once
from thalweg.serve.journal.record import Kind
from thalweg.serve.refusal import Refused
from thalweg.serve.service import Service
from thalweg.serve.work import Answer, Decide, Key

#: Seconds between points of a live view at the least, and between signs of life.
_LEAST_SECONDS, _HEARTBEAT_SECONDS = 0.25, 15.0


async def list_models(service: Service, request: Request) -> Answer:
    """All models and challengers."""
    return as_json({"models": [each.summary(name) for each in service.published() for name in each.seen]})


async def create(service: Service, request: Request) -> Answer:
    """A model, or a challenger of one."""
    given = request.fields("name", "kind", "parameters", "schema", "challenger_of")
    for field, kind, what in (
        ("name", str, "a text"),
        ("kind", str, "a text"),
        ("parameters", dict, "an object"),
        ("schema", dict, "an object"),
        ("challenger_of", str, "a text"),
    ):
        if given.get(field) is not None and not isinstance(given[field], kind):
            raise Refused(422, f"{field} must be {what}")
    if given.get("name") is None or given.get("kind") is None:
        raise Refused(422, "a model must have a name and a kind")

    async def act(key: Key | None) -> Decide:
        return await service.create(
            given["name"], given["kind"], given.get("parameters"), given.get("schema"), given.get("challenger_of"), key
        )

    def written(work: Decide) -> Answer:
        return as_json({"name": given["name"], "seq": work.seq}, 201)

    return await done_once(service, request, act, written)


async def show(service: Service, request: Request) -> Answer:
    """One model."""
    name = request.path["name"]
    return as_json(service.seen(name).details(name))


async def compare(service: Service, request: Request) -> Answer:
    """A challenger beside its champion; the champion's name stands for its only challenger."""
    name = request.path["name"]
    published = service.seen(name)
    if name == published.name:
        challengers = [each for each in published.seen if each != name]
        if len(challengers) != 1:
            raise Refused(409, f"{name!r} has {len(challengers)} challengers: ask for the comparison of one of them")
        name = challengers[0]
    return as_json(published.comparison(name))


async def _decide(kind: Kind, service: Service, request: Request) -> Answer:
    name = request.path["name"]

    async def act(key: Key | None) -> Decide:
        return await service.decide(name, kind, key)

    def written(work: Decide) -> Answer:
        return as_json({"name": name, "seq": work.seq})

    return await done_once(service, request, act, written)


def deciding(kind: Kind) -> Handler:
    """The handler that archives or restores."""
    return partial(_decide, kind)


async def promote(service: Service, request: Request) -> Answer:
    """A challenger takes the champion's place; a body is optional."""
    name = request.path["name"]
    given = request.fields("expected", "force") if request.body else {}
    expected, force = given.get("expected"), given.get("force", False)
    if not isinstance(expected, str | None):
        raise Refused(422, "expected must be a text, the kind of the challenger")
    if not isinstance(force, bool):
        raise Refused(422, "force must be true or false")

    async def act(key: Key | None) -> Decide:
        return await service.promote(name, expected, force, key)

    def written(work: Decide) -> Answer:
        return as_json({"name": name, "seq": work.seq})

    return await done_once(service, request, act, written)


async def course(service: Service, request: Request) -> Answer:
    """How a model went."""
    name = request.path["name"]
    return as_json(service.seen(name).course(name) | {"throughput": service.counts.throughput()})


async def events(service: Service, request: Request) -> Flow:
    """How a model goes, as it goes."""
    name = request.path["name"]
    service.seen(name)
    given = request.headers.get(b"last-event-id", b"")
    last = int(given) if given.isdigit() and len(given) < 18 else -1
    return Flow(EVENTS, _points(service, name, last))


async def _points(service: Service, name: str, last: int) -> AsyncIterator[bytes]:
    """Points that were missed, then new ones."""
    champion = service.champion_of(name)
    assert champion is not None
    yield b": thalweg\n\n"
    if last >= 0:
        for point in service.seen(name).missed(name, last):
            yield _event(point)
            last = point["labels"]
    sent: tuple[int, int] | None = None
    while not service.listeners.closed:
        published = service.seen(name)
        if sent != (now := (published.version, published.rows)):
            sent = now
            point = published.point(name)
            yield _event(point | {"rows": published.rows, "throughput": service.counts.throughput()})
        began = time.monotonic()
        if not await service.listeners.wait(champion, _HEARTBEAT_SECONDS):
            yield b": still here\n\n"
        await service.listeners.pause(_LEAST_SECONDS - (time.monotonic() - began))


def _event(point: dict[str, Any]) -> bytes:
    return b"event: point\nid: %d\ndata: %s\n\n" % (point["labels"], orjson.dumps(point))
