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

from thalweg.client.protocol import ErrorBody
from thalweg.service import page
from thalweg.service.auth import Authorizer
from thalweg.service.feeds.feeding import feed
from thalweg.service.feeds.source import Source
from thalweg.service.http.endpoint import WRITE_WHOLE, Endpoint
from thalweg.service.http.exchange import as_json
from thalweg.service.http.openapi import ROUTES
from thalweg.service.http.uploads import report_routes
from thalweg.service.service import Service

#: Asked most, so that their endpoints are found without looking at all routes.
_STRAIGHT = ("/v1/predict", "/v1/label")
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
                message["headers"] += [header for header in _HEADERS if header[0] not in had]
            await send(message)

        await self.routed(scope, receive, with_headers)


def build(service: Service, authorizer: Authorizer, feeds: Sequence[Callable[[], Source]] = ()) -> Application:
    """The service as an application of ASGI, which also reads these streams while it runs."""
    service.authorizer = authorizer

    by_path: dict[str, dict[str, Endpoint]] = {}
    for route in ROUTES:
        by_path.setdefault(route.path, {})[route.method] = Endpoint(service, route)
    served: list[BaseRoute] = [Route(path, ByMethod(routes), methods=list(routes)) for path, routes in by_path.items()]

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        await service.start()
        reading = [asyncio.create_task(feed(service, opened)) for opened in feeds]
        yield
        for task in reading:
            task.cancel()
        await asyncio.gather(*reading, return_exceptions=True)
        await service.stop()

    pages = [*report_routes(service), *page.routes(service.tables is not None)]
    routed = Starlette(routes=[*served, *pages], lifespan=lifespan, exception_handlers={HTTPException: _not_served})
    return Application({("POST", path): by_path[path]["POST"] for path in _STRAIGHT}, routed)


async def _not_served(request: StarletteRequest, error: Exception) -> Response:
    """No such path, or no such method there."""
    assert isinstance(error, HTTPException)
    sentence = {
        404: f"there is nothing at {request.url.path}",
        405: f"{request.method} is not served at {request.url.path}",
    }.get(error.status_code, error.detail)
    response = as_json(ErrorBody(sentence), error.status_code)
    return Response(response.body, response.status, error.headers, response.media)
