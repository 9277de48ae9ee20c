"""One request and its response: let in, read within limits, handled or refused in one sentence, counted."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar, get_type_hints
from urllib.parse import parse_qs

import msgspec
import orjson

from thalweg.client.protocol import JSON, ErrorBody, RequestBody, prepared
from thalweg.errors import JournalError
from thalweg.service.auth import Scope
from thalweg.service.commands import HttpResponse, Key, Refused
from thalweg.service.intake import LARGE, RequestSlot
from thalweg.service.options import Limits, is_among
from thalweg.service.service import Service

#: On every response of the protocol, which no browser is to take for a page.
_HEADERS = [
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
]
#: The same as text, behind the media type.
_HEAD = b"content-type: %s\r\n" + b"".join(b"%s: %s\r\n" % each for each in _HEADERS) + b"content-length: %d\r\n"
_LOG = logging.getLogger("thalweg.service")
_MOST_KEY = 200

#: In the scope of a request whose whole body has come before anybody reads it, as most do: gives the body.
WHOLE_BODY = "thalweg.whole_body"
#: In the scope of a request, unless somebody between wants to see the response: writes all of it in one call.
WRITE_WHOLE = "thalweg.write_whole"
#: Kinds of requests that only predict.
PREDICTING = ("predict", "infer", "invocations")

Send = Callable[[dict[str, Any]], Awaitable[None]]
B = TypeVar("B", bound=RequestBody)
V = TypeVar("V")
#: JSON of a type of the protocol.
encode = msgspec.json.Encoder().encode


@dataclass(slots=True)
class Request:
    path: dict[str, str]
    query: dict[str, list[str]]
    headers: dict[bytes, bytes]
    media: str
    body: bytes
    #: Where the request was sent, for its fingerprint.
    target: bytes
    #: Rows, labels or ids in it, once they are counted.
    rows: int | None = None

    @property
    def is_large(self) -> bool:
        return len(self.body) > LARGE

    async def apart(self, call: Callable[..., V], *arguments: Any) -> V:
        """Call something that reads all of the body; a large one in a thread, so that others need not wait."""
        return await asyncio.to_thread(call, *arguments) if self.is_large else call(*arguments)

    def decoded(self, kind: type[B], limits: Limits) -> B:
        """The body as a type of the protocol; `Refused` says what does not fit."""
        if self.media != JSON:
            raise Refused(415, f"the body must be {JSON}")
        return parsed(self.body, kind, limits)

    def asked_once(self, name: str, otherwise: str) -> str:
        """A value of the query that may be given once."""
        values = self.query.get(name, [otherwise])
        if len(values) > 1:
            raise Refused(422, f"{name} may be given once")
        return values[0]


def parsed(body: bytes, kind: type[B], limits: Limits) -> B:
    """JSON as a type of the protocol; `Refused` says what does not fit."""
    # Objects take a hundred times the memory of their two brackets: they are counted before they are made.
    if len(body) > LARGE and body.count(b"{") + body.count(b"[") > limits.objects:
        raise Refused(413, f"a body may have at most {limits.objects} objects and lists: send fewer rows at a time")
    try:
        given = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise Refused(422, f"the body is not JSON: {error}") from error
    try:
        return msgspec.convert(given, prepared(kind))
    except msgspec.ValidationError as error:
        raise Refused(422, _misfit(given, kind, error)) from error


#: Where msgspec finds fault: a field that is missing, or the path of a value.
_FAULT = re.compile(r"missing required field `(\w++)`$| - at `\$\.(\w++)(?:\[(\d++)\])?+[^`]*+`$")


def _misfit(given: Any, kind: type[RequestBody], error: msgspec.ValidationError) -> str:
    """A sentence for a body that is not of a kind: that of the field's rule, where it has one."""
    if not isinstance(given, dict):
        return "the body must be an object of JSON"
    strange = given.keys() - set(kind.__struct_fields__)
    if strange and kind.__struct_config__.forbid_unknown_fields:
        return f"there is no field {min(strange)!r} here; there are {', '.join(kind.__struct_fields__)}"
    found = _FAULT.search(str(error))
    if found is None:
        return f"the body does not fit: {error}"
    missing, field, item = found.groups()
    rules = get_type_hints(kind, include_extras=True)[missing or field].__metadata__[-1].extra
    return str(rules["rule"] if item is None else rules["item"].format(item))


@dataclass(frozen=True, slots=True)
class EventStream:
    """A response without an end: pieces as they come."""

    media: str
    pieces: AsyncIterator[bytes]


def as_json(found: msgspec.Struct, status: int = 200) -> HttpResponse:
    return HttpResponse(status, JSON, encode(found))


def refusal(refused: Refused) -> HttpResponse:
    return as_json(ErrorBody(refused.sentence), refused.status)


Handler = Callable[[Service, Request], Awaitable[HttpResponse | EventStream]]


class Endpoint:
    """A handler as an application of ASGI. A ``scope`` of None is for what everyone may ask, at any time."""

    def __init__(self, service: Service, handler: Handler, kind: str, scope: Scope | None) -> None:
        self.service, self.handler, self.kind, self.scope = service, handler, kind, scope
        #: The path that it is served at, with the names of its parts.
        self.route = ""
        self.intake = service.label_intake if kind in ("label", "void") else service.intake

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Send) -> None:
        began = time.perf_counter()
        response: HttpResponse | EventStream
        retry_after: int | None = None
        place: RequestSlot | None = None
        request: Request | None = None
        body = b""
        scope["thalweg.route"] = self.route
        service = self.service
        try:
            headers = dict(scope["headers"])
            if self.scope is not None:
                service.authorizer.admit(headers, self.scope, self._scheme(scope, headers))
                place = self._enter(headers)
                if scope["method"] in ("POST", "PUT"):
                    if not self._can_be_done():  # now rather than after waiting for it
                        raise Refused(503, "the journal cannot be written at the moment", retry_after=1)
                    whole = scope.get(WHOLE_BODY)
                    body = await self.intake.read(place, receive) if whole is None else self.intake.take(place, whole())
                    await self.intake.wait_for_turn(place)
            request = Request(
                scope.get("path_params", {}),
                _query(scope["query_string"]),
                headers,
                headers.get(b"content-type", b"").decode("latin-1").split(";")[0].strip().lower(),
                body,
                scope["path"].encode() + b"?" + scope["query_string"],
            )
            response = await self.handler(service, request)
        except Refused as refused:
            response, retry_after = refusal(refused), refused.retry_after
        except JournalError as error:
            response, retry_after = refusal(Refused(503, str(error))), 1
        except Exception:
            _LOG.exception("a request failed")
            response = refusal(Refused(500, "internal error: the service failed on this request"))
        finally:
            if place is not None:
                self.intake.leave(place)
            if request is not None and request.rows is not None:
                scope["thalweg.rows"] = request.rows
        if not _written_whole(scope, response):
            await _send(send, response, retry_after)
        service.counts.request(
            self.kind, response.status if isinstance(response, HttpResponse) else 200, time.perf_counter() - began
        )

    def _can_be_done(self) -> bool:
        """Whether a request that is recorded can be, or need not be."""
        service = self.service
        return service.writable or service.read_only or (service.unrecorded and self.kind in PREDICTING)

    def _scheme(self, scope: dict[str, Any], headers: dict[bytes, bytes]) -> str:
        """As the client sees it: a proxy that is trusted may say that it speaks HTTPS."""
        told = headers.get(b"x-forwarded-proto", b"").lower()
        client = scope.get("client")
        if told in (b"http", b"https") and client and is_among(client[0], self.service.options.proxies):
            return told.decode()
        return str(scope["scheme"])

    def _enter(self, headers: dict[bytes, bytes]) -> RequestSlot:
        """A place among the requests in work."""
        if self.service.stopping:
            raise Refused(503, "the service is stopping", retry_after=5)
        length = headers.get(b"content-length", b"")
        return self.intake.enter(int(length) if length.isdigit() else 0)


def _query(text: bytes) -> dict[str, list[str]]:
    return parse_qs(text.decode("latin-1"), keep_blank_values=True) if text else {}


def _written_whole(scope: dict[str, Any], response: HttpResponse | EventStream) -> bool:
    """Write a response of the usual kind, where that is possible; as two messages of ASGI it takes longer."""
    write = scope.pop(WRITE_WHOLE, None)  # it holds the scope: a reference cycle
    if write is None or not isinstance(response, HttpResponse) or response.status >= 400 or scope["method"] == "HEAD":
        return False
    head = _HEAD % (response.media.encode(), len(response.body))
    return bool(write(response.status, head, response.body))


async def _send(send: Send, response: HttpResponse | EventStream, retry_after: int | None) -> None:
    headers = [(b"content-type", response.media.encode()), *_HEADERS]
    if retry_after is not None:
        headers.append((b"retry-after", str(retry_after).encode()))
    if isinstance(response, HttpResponse):
        if response.status == 401:
            headers.append((b"www-authenticate", b"Bearer"))
        if response.status == 408:  # the rest of the body may come yet, and is no request
            headers.append((b"connection", b"close"))
        headers.append((b"content-length", str(len(response.body)).encode()))
        await send({"type": "http.response.start", "status": response.status, "headers": headers})
        await send({"type": "http.response.body", "body": response.body})
        return
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    async for piece in response.pieces:
        await send({"type": "http.response.body", "body": piece, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


async def done_once(
    service: Service,
    request: Request,
    act: Callable[[Key | None], Awaitable[Any]],
    written: Callable[[Any], HttpResponse],
    *,
    at_length: bool = False,
) -> HttpResponse:
    """Do something, or give the response of the first time where the request has an idempotency key that was used.

    A response that is written ``at_length`` is so in a thread, and does not keep others waiting.
    """
    given = request.headers.get(b"idempotency-key")
    if given is None or service.read_only or service.unrecorded:
        done = await act(None)
        return await asyncio.to_thread(written, done) if at_length else written(done)
    key = given.decode("latin-1")
    if not 0 < len(key) <= _MOST_KEY or not key.isascii() or not key.isprintable():
        raise Refused(422, f"an Idempotency-Key must have 1 to {_MOST_KEY} printable letters of ASCII")
    asked = [request.target, request.media.encode(), request.body]
    fingerprint = await request.apart(lambda: hashlib.sha256(b"\0".join(asked)).digest())

    async def first_time() -> HttpResponse:
        done = await act(Key(key, fingerprint, written))
        return done.reply or written(done)  # of what is not recorded, no reply is kept

    return await service.keys.once(key, fingerprint, first_time)
