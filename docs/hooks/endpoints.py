"""The table of the service's requests, from the declarations of their handlers.

A line ``<!-- endpoints: TITLE -->`` of a page becomes those whose path begins as `PATHS` says.
"""

from __future__ import annotations

import re
from typing import Any

from thalweg.client.requests import Calls
from thalweg.service.http.arrow import ArrowTable
from thalweg.service.http.openapi import ROUTES, Route

MARK = re.compile(r"<!-- endpoints: (\w+) -->")
PATHS = {"thalweg": ("/v1",), "others": ("/v2", "/ping", "/invocations")}
NAMES = {ArrowTable: "Arrow", bytes: "file"}


def on_page_markdown(markdown: str, **_: object) -> str:
    """A mark becomes the table that it names."""
    return MARK.sub(lambda found: table(found[1]), markdown)


def table(title: str) -> str:
    """A line for each route of a group; those in no group are what runs the service."""
    named = tuple(path for paths in PATHS.values() for path in paths)
    begins = PATHS.get(title)
    chosen = [each for each in ROUTES if each.path.startswith(begins or named) == (begins is not None)]
    lines = [("request", "scope", "body", "response", "client", "purpose"), ("---",) * 6, *map(line, chosen)]
    return "\n".join(f"| {' | '.join(each)} |" for each in lines)


def line(route: Route) -> tuple[str, ...]:
    """The cells of a route."""
    client = f"`{route.name}`" if hasattr(Calls, route.name) else ""
    request = f"`{route.method} {route.path.replace(':path', '')}`"
    replies = f"`{route.media.split(';')[0]}`" if route.media else names(route.replies)
    return request, route.scope or "", names(route.bodies), replies, client, route.summary


def names(kinds: tuple[Any, ...]) -> str:
    """What a body or a response may be, in words."""
    return " or ".join(NAMES.get(kind, f"`{kind.__name__}`") for kind in kinds)
