"""All routes, and what every response has in common."""

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
from thalweg.service.following import read_only
from thalweg.service.http import handlers, mlflow_scoring, open_inference, openapi
from thalweg.service.http.exchange import PREDICTING, WRITE_WHOLE, Endpoint, Handler, Request, as_json, refusal
from thalweg.service.metrics import MEDIA, text
from thalweg.service.service import Service


async def alive(service: Service, request: Request) -> HttpResponse:
    """The process answers."""
    return as_json(Status("alive"))


async def ready(service: Service, request: Request) -> HttpResponse:
    """The journal can be written; of a replica, read."""
    if not service.ready:
        return as_json(ErrorBody(f"the journal cannot be {'read' if service.read_only else 'written'}"), 503)
    if service.replica is None:
        return as_json(Status("predictions are not recorded" if service.unrecorded else "ready"))
    seq, _, age = service.replica
    return as_json(Status("ready", seq, age))


async def refuse(service: Service, request: Request) -> HttpResponse:
    raise read_only()


async def metrics(service: Service, request: Request) -> HttpResponse:
    return HttpResponse(200, MEDIA, text(service.counters()))


#: On every response that is not the protocol's own and has no other word on it.
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
    """Several endpoints at one path; the response to HEAD is that to GET without its body, as the server sees to."""

    def __init__(self, endpoints: dict[str, Endpoint]) -> None:
        self.endpoints = endpoints

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await self.endpoints["GET" if scope["method"] == "HEAD" else scope["method"]](scope, receive, send)


class Application:
    """The way in: what is asked most goes straight to its endpoint, the rest by Starlette's routes.

    Every response has headers that say what browsers must not do with it, whoever gave it.
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
        scope.pop(WRITE_WHOLE, None)

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
        if service.read_only and scope not in (None, "read"):
            return Endpoint(service, handler if kind in PREDICTING else refuse, kind, "read")
        return Endpoint(service, handler, kind, scope)

    def route(path: str, **by_method: Endpoint) -> Route:
        for each in by_method.values():
            each.route = path
        return Route(path, ByMethod(by_method), methods=list(by_method))

    predict = endpoint(handlers.predict, "predict", "learn")
    label = endpoint(handlers.label, "label", "learn")
    one, infer = "/v1/models/{name}", "/v2/models/{name}"
    routes: list[BaseRoute] = [
        route("/v1/predict", POST=predict),
        route("/v1/label", POST=label),
        route(
            "/v1/models",
            GET=endpoint(handlers.list_models, "models", "read"),
            POST=endpoint(handlers.create, "create", "admin"),
        ),
        route(one, GET=endpoint(handlers.show, "model", "read")),
        route(f"{one}/keys/{{key:path}}", GET=endpoint(handlers.show_key, "key", "read")),
        route(f"{one}/archive", POST=endpoint(handlers.deciding("archive"), "archive", "admin")),
        route(f"{one}/restore", POST=endpoint(handlers.deciding("restore"), "restore", "admin")),
        route(f"{one}/promote", POST=endpoint(handlers.promote, "promote", "admin")),
        route(f"{one}/columns", POST=endpoint(handlers.change_columns, "columns", "admin")),
        route(f"{one}/rollback", POST=endpoint(handlers.roll_back, "rollback", "admin")),
        route(
            f"{one}/versions",
            GET=endpoint(handlers.list_versions, "versions", "read"),
            POST=endpoint(handlers.name_version, "version", "admin"),
        ),
        route(
            f"{one}/file",
            GET=endpoint(handlers.download, "download", "read"),
            PUT=endpoint(handlers.upload, "upload", "admin"),
        ),
        route(f"{one}/void", POST=endpoint(handlers.void, "void", "learn")),
        route(f"{one}/erase", POST=endpoint(handlers.erase, "erase", "admin")),
        route(f"{one}/compare", GET=endpoint(handlers.compare, "compare", "read")),
        route(f"{one}/course", GET=endpoint(handlers.course, "course", "read")),
        route(f"{one}/importance", GET=endpoint(handlers.importance, "importance", "read")),
        route(f"{one}/inputs", GET=endpoint(handlers.inputs, "inputs", "read")),
        route(f"{one}/events", GET=endpoint(handlers.events, "events", "read")),
        route("/v2", GET=endpoint(open_inference.about, "v2", "read")),
        route("/v2/health/live", GET=endpoint(open_inference.live, "v2_live", None)),
        route("/v2/health/ready", GET=endpoint(open_inference.ready, "v2_ready", None)),
        route(infer, GET=endpoint(open_inference.model, "v2_model", "read")),
        route(f"{infer}/ready", GET=endpoint(open_inference.model_ready, "v2_model_ready", "read")),
        route(f"{infer}/infer", POST=endpoint(open_inference.infer, "infer", "learn")),
        route("/ping", GET=endpoint(ready, "ping", None)),
        route("/invocations", POST=endpoint(mlflow_scoring.invoke, "invocations", "learn")),
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
    response = refusal(error)
    return Response(response.body, response.status, media_type=response.media)


async def _not_served(request: StarletteRequest, error: Exception) -> Response:
    """No such path, or no such method there."""
    assert isinstance(error, HTTPException)
    sentence = {
        404: f"there is nothing at {request.url.path}",
        405: f"{request.method} is not served at {request.url.path}",
    }.get(error.status_code, error.detail)
    response = as_json(ErrorBody(sentence), error.status_code)
    return Response(response.body, response.status, error.headers, response.media)
