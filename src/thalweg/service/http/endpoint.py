"""A route as an application of ASGI: a request is let in, read within limits, handled or refused, and counted."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from thalweg.client.protocol import ARROW, BYTES, prepared
from thalweg.errors import JournalError
from thalweg.service.commands import HttpResponse, Key, Refused
from thalweg.service.following import read_only
from thalweg.service.http.arrow import ArrowTable
from thalweg.service.http.exchange import EventStream, Once, Request, as_json, read_query, refusal
from thalweg.service.http.routes import Route
from thalweg.service.intake import RequestSlot
from thalweg.service.options import is_among
from thalweg.service.service import Service

#: On every response of the protocol, which no browser is to take for a page.
_HEADERS = [
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
]
#: The same as text, behind the media type.
_HEAD = b"content-type: %s\r\n" + b"".join(b"%s: %s\r\n" % header for header in _HEADERS) + b"content-length: %d\r\n"
_LOG = logging.getLogger("thalweg.service")
_MOST_KEY = 200

#: In the scope of a request whose whole body has come before anybody reads it, as most do: gives the body.
WHOLE_BODY = "thalweg.whole_body"
#: In the scope of a request, unless somebody between wants to see the response: writes all of it in one call.
WRITE_WHOLE = "thalweg.write_whole"

Send = Callable[[dict[str, Any]], Awaitable[None]]


class Endpoint:
    """A route of a service."""

    def __init__(self, service: Service, route: Route) -> None:
        self.service, self.route = service, route
        #: Whether it is refused, as what changes something is by a replica.
        self._refused = service.read_only and route.scope not in (None, "read") and not route.predicts
        self.scope = "read" if service.read_only and route.scope is not None else route.scope
        self.intake = service.label_intake if route.waits else service.intake
        self._no_query = None if route.query is None else route.query()
        for kind in (*route.bodies, *([route.query] if route.query else [])):
            prepared(kind)  # now rather than in the first request

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Send) -> None:
        began = time.perf_counter()
        response: HttpResponse | EventStream[Any]
        retry_after: int | None = None
        place: RequestSlot | None = None
        request: Request | None = None
        body = b""
        scope["thalweg.route"] = self.route.path
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
                if self._refused:
                    raise read_only()
            media = headers.get(b"content-type", b"").decode("latin-1").split(";")[0].strip().lower()
            request = Request(headers, media, body, scope["path"].encode() + b"?" + scope["query_string"])
            response = await self._handled(request, scope)
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
            self.route.name, response.status if isinstance(response, HttpResponse) else 200, time.perf_counter() - began
        )

    async def _handled(self, request: Request, scope: dict[str, Any]) -> HttpResponse | EventStream[Any]:
        """What the handler responds, given what it takes."""
        route = self.route
        given = {"service": self.service, "request": request, **scope.get("path_params", {})}
        if route.query is not None:
            text = scope["query_string"]
            given["query"] = read_query(text, route.query) if text else self._no_query
        if "body" in route.takes:
            given["body"] = await self._body(request)
        result = await route.handler(*[given[name] for name in route.takes])
        if isinstance(result, Once):
            return await self._done_once(request, result)
        return result if isinstance(result, EventStream) else self._response(result)

    async def _body(self, request: Request) -> Any:
        """The body of a request, as one of the types that its route declares."""
        kinds, options = self.route.bodies, self.service.options
        if self.route.is_optional and not request.body:
            return None
        if kinds[0] is bytes:
            if request.media != BYTES:
                raise Refused(415, f"the body must be {BYTES}, the bytes of a file")
            return request.body
        if request.media == ARROW and ArrowTable in kinds:
            return await asyncio.to_thread(ArrowTable.read, request.body, options)
        return await request.apart(request.decoded, kinds[0], options)

    def _response(self, result: msgspec.Struct | HttpResponse) -> HttpResponse:
        return result if isinstance(result, HttpResponse) else as_json(result, self.route.status)

    async def _done_once(self, request: Request, once: Once[Any]) -> HttpResponse:
        """Do something, or give the response of the first time where the request's idempotency key was used before."""

        def written(done: Any) -> HttpResponse:
            return self._response(once.written(done))

        given, service = request.headers.get(b"idempotency-key"), self.service
        if given is None or service.read_only or service.unrecorded:
            done = await once.act(None)
            return await asyncio.to_thread(written, done) if once.at_length else written(done)
        key = given.decode("latin-1")
        if not 0 < len(key) <= _MOST_KEY or not key.isascii() or not key.isprintable():
            raise Refused(422, f"an Idempotency-Key must have 1 to {_MOST_KEY} printable letters of ASCII")
        asked = [request.target, request.media.encode(), request.body]
        fingerprint = await request.apart(lambda: hashlib.sha256(b"\0".join(asked)).digest())

        async def first_time() -> HttpResponse:
            done = await once.act(Key(key, fingerprint, written))
            return done.reply or written(done)  # of what is not recorded, no reply is kept

        return await service.keys.once(key, fingerprint, first_time)

    def _can_be_done(self) -> bool:
        """Whether a request that is recorded can be, or need not be."""
        service = self.service
        return service.writable or service.read_only or (service.unrecorded and self.route.predicts)

    def _scheme(self, scope: dict[str, Any], headers: dict[bytes, bytes]) -> str:
        """As the client sees it: a proxy that is trusted may say that it speaks HTTPS."""
        scheme = headers.get(b"x-forwarded-proto", b"").lower()
        client = scope.get("client")
        if scheme in (b"http", b"https") and client and is_among(client[0], self.service.options.trusted_proxy):
            return scheme.decode()
        return str(scope["scheme"])

    def _enter(self, headers: dict[bytes, bytes]) -> RequestSlot:
        """A place among the requests in work."""
        if self.service.stopping:
            raise Refused(503, "the service is stopping", retry_after=5)
        length = headers.get(b"content-length", b"")
        return self.intake.enter(int(length) if length.isdigit() else 0)


def _written_whole(scope: dict[str, Any], response: HttpResponse | EventStream[Any]) -> bool:
    """Write a response of the usual kind, where that is possible; as two messages of ASGI it takes longer."""
    write = scope.pop(WRITE_WHOLE, None)  # it holds the scope: a reference cycle
    if write is None or not isinstance(response, HttpResponse) or response.status >= 400 or scope["method"] == "HEAD":
        return False
    head = _HEAD % (response.media.encode(), len(response.body))
    return bool(write(response.status, head, response.body))


async def _send(send: Send, response: HttpResponse | EventStream[Any], retry_after: int | None) -> None:
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
