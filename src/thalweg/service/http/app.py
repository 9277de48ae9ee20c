"""All routes, and what every answer has in common."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request as StarletteRequest
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from thalweg.client.protocol import ErrorBody, Status
from thalweg.service import page
from thalweg.service.auth import Authorizer, Scope
from thalweg.service.commands import HttpResponse, Refused
from thalweg.service.feeds.feeding import feed
from thalweg.service.feeds.source import Source
from thalweg.service.http import handlers, openapi
from thalweg.service.http.exchange import Endpoint, Handler, Request, as_json, refusal
from thalweg.service.metrics import MEDIA, text
from thalweg.service.service import Service


async def alive(service: Service, request: Request) -> HttpResponse:
    """The process answers."""
    return as_json(Status("alive"))


async def ready(service: Service, request: Request) -> HttpResponse:
    """The journal can be written."""
    return as_json(Status("ready")) if service.ready else as_json(ErrorBody("the journal cannot be written"), 503)


async def metrics(service: Service, request: Request) -> HttpResponse:
    return HttpResponse(200, MEDIA, text(service.counters()))


#: On every answer that is not the protocol's own and has no other word on it.
_HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        b"base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
]


class ByMethod:
    """Several endpoints at one path; the answer to HEAD is that to GET without its body, as the server sees to."""

    def __init__(self, endpoints: dict[str, Endpoint]) -> None:
        self.endpoints = endpoints

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await self.endpoints["GET" if scope["method"] == "HEAD" else scope["method"]](scope, receive, send)


class Application:
    """The way in: what is asked most goes straight to its endpoint, the rest by Starlette's routes.

    Every answer has headers that tell browsers what not to do with it, whoever gave it.
    """

    def __init__(self, straight: dict[tuple[str, str], Endpoint], routed: Starlette) -> None:
        self.straight = straight
        self.routed = routed

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self.routed(scope, receive, send)
            return
        endpoint = self.straight.get((scope["method"], scope["path"]))
        if endpoint is not None:
            await endpoint(scope, receive, send)
            return

        async def with_headers(message: Any) -> None:
            if message["type"] == "http.response.start":
                had = {name for name, _ in message["headers"]}
                message["headers"] += [each for each in _HEADERS if each[0] not in had]
            await send(message)

        await self.routed(scope, receive, with_headers)


def build(service: Service, authorizer: Authorizer, feeds: Sequence[Callable[[], Source]] = ()) -> Application:
    """The service as an application of ASGI, which also reads these streams while it runs."""
    service.authorizer = authorizer

    def endpoint(handler: Handler, kind: str, scope: Scope | None) -> Endpoint:
        return Endpoint(service, handler, kind, scope)

    def route(path: str, **by_method: Endpoint) -> Route:
        return Route(path, ByMethod(by_method), methods=list(by_method))

    predict = endpoint(handlers.predict, "predict", "learn")
    label = endpoint(handlers.label, "label", "learn")
    one = "/v1/models/{name}"
    routes: list[BaseRoute] = [
        route("/v1/predict", POST=predict),
        route("/v1/label", POST=label),
        route(
            "/v1/models",
            GET=endpoint(handlers.list_models, "models", "read"),
            POST=endpoint(handlers.create, "create", "learn"),
        ),
        route(one, GET=endpoint(handlers.show, "model", "read")),
        route(f"{one}/archive", POST=endpoint(handlers.deciding("archive"), "archive", "learn")),
        route(f"{one}/restore", POST=endpoint(handlers.deciding("restore"), "restore", "learn")),
        route(f"{one}/promote", POST=endpoint(handlers.promote, "promote", "learn")),
        route(f"{one}/compare", GET=endpoint(handlers.compare, "compare", "read")),
        route(f"{one}/course", GET=endpoint(handlers.course, "course", "read")),
        route(f"{one}/events", GET=endpoint(handlers.events, "events", "read")),
        route("/openapi.json", GET=endpoint(openapi.show, "openapi", "read")),
        route("/healthz", GET=endpoint(alive, "health", None)),
        route("/readyz", GET=endpoint(ready, "ready", None)),
        route("/metrics", GET=endpoint(metrics, "metrics", "read")),
        *page.routes(),
    ]

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        await service.start()
        reading = [asyncio.create_task(feed(service, opened)) for opened in feeds]
        yield
        for task in reading:
            task.cancel()
        await asyncio.gather(*reading, return_exceptions=True)
        await service.stop()

    refusals = {HTTPException: _not_served, Refused: _refused}
    routed = Starlette(routes=routes, lifespan=lifespan, exception_handlers=refusals)
    return Application({("POST", "/v1/predict"): predict, ("POST", "/v1/label"): label}, routed)


async def _refused(request: StarletteRequest, error: Exception) -> Response:
    """By a route that is not one of ours."""
    assert isinstance(error, Refused)
    answer = refusal(error)
    return Response(answer.body, answer.status, media_type=answer.media)


async def _not_served(request: StarletteRequest, error: Exception) -> Response:
    """No such path, or no such method there."""
    assert isinstance(error, HTTPException)
    sentence = {
        404: f"there is nothing at {request.url.path}",
        405: f"{request.method} is not served at {request.url.path}",
    }.get(error.status_code, error.detail)
    answer = as_json(ErrorBody(sentence), error.status_code)
    return Response(answer.body, answer.status, error.headers, answer.media)
