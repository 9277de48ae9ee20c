"""The page and what it is made of, as routes. Nothing here needs a token: what it reads about models does.

There is no script and no style in the page itself, so that the service's content security policy can forbid both.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable
from string import Template
from typing import TYPE_CHECKING

from thalweg import __version__

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route

_LIVE, _REPORT = "thalweg.service.page", "thalweg.report.page"
#: Of the report, by the names under which they may be asked for.
_SHARED = {
    "page.css": "page.css",
    "uPlot.css": "uplot/uPlot.min.css",
    "uPlot.js": "uplot/uPlot.iife.min.js",
    "uPlot-licence.txt": "uplot/LICENSE",
}
#: From the live page to that for tables, where there is one, and back.
_TO_TABLES = '<a class="to-tables" href="tables">Run a table</a>'
_TO_LIVE = '<a class="to-tables" href=".">Live models</a>'
#: By page, what it has in the frame that both share, beside its content.
_IN_FRAME = {
    "live": {
        "script": "main.js",
        "noscript": "This page draws what the service sends it, and needs JavaScript for that. The same numbers stand "
        "at /v1/models and /metrics.",
        "note": "This page loads nothing from elsewhere.",
    },
    "tables": {
        "script": "tables.js",
        "noscript": "This page sends a table in pieces, and needs JavaScript for that. On a command line, thalweg run "
        "does the same.",
        "note": "Tables stay on this service, and are deleted seven days after their last use.",
    },
}
_MEDIA = {"js": "text/javascript", "css": "text/css", "svg": "image/svg+xml", "txt": "text/plain"}


@dataclass(frozen=True, slots=True)
class Asset:
    content: bytes
    media: str
    tag: str


def routes(tables: bool = False) -> list[Route]:
    """The page at ``/``, the one at ``/tables`` where tables may be uploaded, and their assets; all they show they ask
    for through the service's own addresses.

    Examples
    --------
    >>> [route.path for route in routes()], len(routes(tables=True))
    (['/', '/assets/{name}'], 3)
    """
    from starlette.routing import Route

    async def live(request: Request) -> Response:
        return _sent(request, page("live", _TO_TABLES if tables else ""))

    async def uploads(request: Request) -> Response:
        return _sent(request, page("tables", _TO_LIVE))

    further = [Route("/tables", uploads)] if tables else []
    return [Route("/", live), *further, Route("/assets/{name}", _asset)]


async def _asset(request: Request) -> Response:
    from starlette.responses import JSONResponse

    name = request.path_params["name"]
    if name not in assets():
        return JSONResponse({"error": "there is no such asset"}, 404)
    return _sent(request, asset(name))


def _sent(request: Request, wanted: Asset) -> Response:
    from starlette.responses import Response

    headers = {"Cache-Control": "no-cache", "ETag": wanted.tag}  # asked for each time, sent only when it has changed
    if request.headers.get("If-None-Match") == wanted.tag:
        return Response(status_code=304, headers=headers)
    return Response(wanted.content, media_type=wanted.media, headers=headers)


@cache
def page(name: str = "live", link: str = "") -> Asset:
    frame, content = (files(_LIVE).joinpath("assets", f"{part}.html").read_text("utf-8") for part in ("frame", name))
    filled = {"title": name, "version": __version__, "link": link, "content": content, **_IN_FRAME[name]}
    return _made(Template(frame).substitute(filled).encode(), "text/html")


@cache
def assets() -> dict[str, Traversable]:
    """What may be asked for by name; charts and colours are those of the report."""
    own, report = (files(package).joinpath("assets") for package in (_LIVE, _REPORT))
    own_files = {file.name: file for file in own.iterdir() if not file.name.endswith(".html")}
    return own_files | {name: report.joinpath(*path.split("/")) for name, path in _SHARED.items()}


@cache
def asset(name: str) -> Asset:
    return _made(assets()[name].read_bytes(), _MEDIA[name.rpartition(".")[2]])


def _made(content: bytes, media: str) -> Asset:
    return Asset(content, media, f'"{sha256(content).hexdigest()[:24]}"')
