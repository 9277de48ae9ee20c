"""The requests that do the work: ``/v1/predict``, ``/v1/label`` and ``/v1/models``."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import orjson

from thalweg.service.commands import Answer, Decide, Key, Label, Predict, Refused
from thalweg.service.http import arrow
from thalweg.service.http.exchange import ARROW, EVENTS, Flow, Handler, Request, as_json, done_once
from thalweg.service.journal.records import NO_ANSWER, Kind
from thalweg.service.learning.ledger import row_id
from thalweg.service.learning.schema import MOST_TEXT
from thalweg.service.service import DEFAULT, Service
from thalweg.tables.rows import text_of
from thalweg.tables.target import plain_label

#: Rows beyond which an answer takes its time.
_MANY = 1000


async def predict(service: Service, request: Request) -> Answer:
    """Rows of JSON, or a stream of Arrow."""
    name: Any
    if request.media == ARROW:
        name = request.asked_once("model", DEFAULT)
        rows = await asyncio.to_thread(arrow.read, request.body, service.limits)
        written = arrow.predicted
    else:
        given = request.fields("model", "row", "rows")
        name = given.get("model", DEFAULT)
        rows = _rows(given)
        written = _predicted
    if not isinstance(name, str):
        raise Refused(422, "the model must be a name")
    if not 0 < len(rows) <= service.limits.rows:
        raise Refused(
            413 if len(rows) else 422, f"a request must have 1 to {service.limits.rows} rows, got {len(rows)}"
        )

    async def act(key: Key | None) -> Predict:
        return await service.predict(name, rows, key)

    return await done_once(service, request, act, written, at_length=len(rows) > _MANY)


def _rows(given: dict[str, Any]) -> list[dict[str, Any]]:
    if ("row" in given) == ("rows" in given):
        raise Refused(422, "there must be either a row or rows")
    rows = [given["row"]] if "row" in given else given["rows"]
    if not isinstance(rows, list):
        raise Refused(422, "rows must be a list")
    for at, row in enumerate(rows):
        if not isinstance(row, dict):
            raise Refused(422, f"row {at}: it must be an object of columns and values")
    return rows


def _predicted(work: Predict) -> Answer:
    asked = work.asked
    own = asked.answers[work.model]
    likely = [None] * len(asked.X) if work.proba is None else work.proba.tolist()
    return as_json(
        {
            "model": work.model,
            "version": asked.version,
            "answers": [
                {
                    "id": row_id(work.seq, row),
                    "answer": None if code == NO_ANSWER else own.labels[code],
                    "probabilities": {} if shares is None else dict(zip(own.labels, shares, strict=True)),
                }
                for row, (code, shares) in enumerate(zip(own.codes.tolist(), likely, strict=True))
            ],
        }
    )


async def label(service: Service, request: Request) -> Answer:
    """Labels of JSON, or a stream of Arrow."""
    name: Any
    if request.media == ARROW:
        name = request.asked_once("model", DEFAULT)
        revise: Any = {"true": True, "false": False}.get(request.asked_once("revise", "false"))
        given = arrow.read_labels(request.body, service.limits)
    else:
        fields = request.fields("model", "labels", "revise")
        name, revise = fields.get("model", DEFAULT), fields.get("revise", False)
        given = _labels(fields.get("labels"))
    if not isinstance(name, str):
        raise Refused(422, "the model must be a name")
    if not isinstance(revise, bool):
        raise Refused(422, "revise must be true or false")
    if not 0 < len(given) <= service.limits.rows:
        raise Refused(413 if given else 422, f"a request must have 1 to {service.limits.rows} labels, got {len(given)}")
    labels = [(row, label_text(value, at)) for at, (row, value) in enumerate(given)]

    async def act(key: Key | None) -> Label:
        return await service.label(name, labels, revise, key)

    return await done_once(service, request, act, _labelled)


def _labels(given: Any) -> list[tuple[str, Any]]:
    if not isinstance(given, list):
        raise Refused(422, "labels must be a list")
    found = []
    for at, each in enumerate(given):
        if not isinstance(each, dict) or each.keys() != {"id", "label"} or not isinstance(each["id"], str):
            raise Refused(422, f"label {at}: it must be an object with an id, which is text, and a label")
        found.append((each["id"], each["label"]))
    return found


def label_text(value: Any, at: int) -> str:
    """A label as text, by the rules of a column of labels: 1 and 1.0 are one class.

    Examples
    --------
    >>> label_text(" up ", 0), label_text(1.0, 0), label_text(True, 0)
    ('up', '1', 'true')
    """
    if value is None or isinstance(value, list | dict) or value != value:
        raise Refused(422, f"label {at}: it must be a text, a number, true or false")
    text = plain_label(text_of(value).strip())
    if not 0 < len(text) <= MOST_TEXT:
        raise Refused(422, f"label {at}: it must have 1 to {MOST_TEXT} letters")
    return text


def _labelled(work: Label) -> Answer:
    found = work.outcome
    assert found is not None
    return as_json(
        {
            "model": work.model,
            "seq": work.seq,
            "learned": len(found.learned),
            "revised": len(found.revised),
            "repeated": found.repeated,
            "replayed": work.replayed,
            "unknown": found.unknown,
            "expired": found.expired,
            "conflicts": found.conflicts,
        }
    )


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
