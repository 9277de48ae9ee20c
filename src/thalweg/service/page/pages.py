"""The page and what it is made of, as routes. Nothing here needs a token: what it reads about models does.

There is no script and no style in the page itself, so that the service's content security policy can forbid both.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING

from thalweg import __version__

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route

_LIVE, _REPORT = "thalweg.service.page", "thalweg.report.page"
_SCRIPTS = (
    "challenge.js",
    "chart.js",
    "charts.js",
    "class_specs.js",
    "columns.js",
    "course.js",
    "line.js",
    "look.js",
    "made.js",
    "main.js",
    "marks.js",
    "number_specs.js",
    "numbers.js",
    "service.js",
    "specs.js",
    "verdict.js",
)
#: What may be asked for by name, and where it lies; charts and colours are those of the report.
_LIES_IN = {
    **{name: (_LIVE, name, "text/javascript") for name in _SCRIPTS},
    "live.css": (_LIVE, "live.css", "text/css"),
    "mark.svg": (_LIVE, "mark.svg", "image/svg+xml"),
    "page.css": (_REPORT, "page.css", "text/css"),
    "uPlot.css": (_REPORT, "uplot/uPlot.min.css", "text/css"),
    "uPlot.js": (_REPORT, "uplot/uPlot.iife.min.js", "text/javascript"),
    "uPlot-licence.txt": (_REPORT, "uplot/LICENSE", "text/plain"),
}


@dataclass(frozen=True, slots=True)
class Asset:
    content: bytes
    media: str
    tag: str


def routes() -> list[Route]:
    """The page at ``/`` and its assets; all it shows it asks for through the service's own addresses.

    Examples
    --------
    >>> [route.path for route in routes()]
    ['/', '/assets/{name}']
    """
    from starlette.routing import Route

    return [Route("/", _page), Route("/assets/{name}", _asset)]


async def _page(request: Request) -> Response:
    return _sent(request, page())


async def _asset(request: Request) -> Response:
    from starlette.responses import JSONResponse

    name = request.path_params["name"]
    if name not in _LIES_IN:
        return JSONResponse({"error": "there is no such asset"}, 404)
    return _sent(request, asset(name))


def _sent(request: Request, wanted: Asset) -> Response:
    from starlette.responses import Response

    headers = {"Cache-Control": "no-cache", "ETag": wanted.tag}  # asked for each time, sent only when it has changed
    if request.headers.get("If-None-Match") == wanted.tag:
        return Response(status_code=304, headers=headers)
    return Response(wanted.content, media_type=wanted.media, headers=headers)


@cache
def page() -> Asset:
    template = files(_LIVE).joinpath("assets", "live.html").read_text("utf-8")
    return _made(Template(template).substitute(version=__version__).encode(), "text/html")


@cache
def asset(name: str) -> Asset:
    package, path, media = _LIES_IN[name]
    return _made(files(package).joinpath("assets", *path.split("/")).read_bytes(), media)


def _made(content: bytes, media: str) -> Asset:
    return Asset(content, media, f'"{sha256(content).hexdigest()[:24]}"')
