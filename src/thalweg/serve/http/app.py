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

from thalweg.serve import page
from thalweg.serve.feeds.feeding import feed
from thalweg.serve.feeds.source import Source
from thalweg.serve.gate import Gate
from thalweg.serve.http import health, labelling, models, openapi, predicting
from thalweg.serve.http.exchange import Endpoint, as_json
from thalweg.serve.service import Service

_SECURITY = [
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


class WithSecurityHeaders:
    """Puts the same headers on every answer, whoever gave it."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """One exchange."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def with_headers(message: Any) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *_SECURITY]
            await send(message)

        await self.app(scope, receive, with_headers)


def build(service: Service, gate: Gate, feeds: Sequence[Callable[[], Source]] = ()) -> WithSecurityHeaders:
    """The service as an application of ASGI, which also reads these streams while it runs."""
    service.gate = gate

    def route(path: str, method: str, handler: Any, kind: str, scope: Any) -> Route:
        return Route(path, Endpoint(service, handler, kind, scope), methods=[method])

    one = "/v1/models/{name}"
    routes: list[BaseRoute] = [
        route("/v1/predict", "POST", predicting.predict, "predict", "learn"),
        route("/v1/label", "POST", labelling.label, "label", "learn"),
        route("/v1/models", "GET", models.list_models, "models", "read"),
        route("/v1/models", "POST", models.create, "create", "learn"),
        route(one, "GET", models.show, "model", "read"),
        route(f"{one}/archive", "POST", models.deciding("archive"), "archive", "learn"),
        route(f"{one}/restore", "POST", models.deciding("restore"), "restore", "learn"),
        route(f"{one}/promote", "POST", models.deciding("promote"), "promote", "learn"),
        route(f"{one}/compare", "GET", models.compare, "compare", "read"),
        route(f"{one}/course", "GET", models.course, "course", "read"),
        route(f"{one}/events", "GET", models.events, "events", "read"),
        route("/openapi.json", "GET", openapi.show, "openapi", "read"),
        Route("/healthz", Endpoint(service, health.alive, "health", None), methods=["GET"]),
        Route("/readyz", Endpoint(service, health.ready, "ready", None), methods=["GET"]),
        route("/metrics", "GET", health.metrics, "metrics", "read"),
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

    application = Starlette(routes=routes, lifespan=lifespan, exception_handlers={HTTPException: _not_served})
    return WithSecurityHeaders(application)


async def _not_served(request: StarletteRequest, error: Exception) -> Response:
    """No such path, or no such method there."""
    assert isinstance(error, HTTPException)
    sentence = {
        404: f"there is nothing at {request.url.path}",
        405: f"{request.method} is not served at {request.url.path}",
    }.get(error.status_code, error.detail)
    answer = as_json({"error": sentence}, error.status_code)
    return Response(answer.body, answer.status, error.headers, answer.media)
