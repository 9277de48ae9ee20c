"""Routes, each declared once, by a decorator of its handler: what is served, checked and described is read here.

The parameters of a handler say what it takes, by name and type: ``service``; ``request``; a part of the path;
``query``, a structure with the query's parameters; and ``body``, a type of the protocol or several. Its return type is
what is sent back, and its docstring the summary. It has the name of the client's method, where there is one.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

from thalweg.service.auth import Scope
from thalweg.service.http.exchange import EventStream, Once

#: All that are served, in the order of their declarations.
ROUTES: list[Route] = []
_PART = re.compile(r"{(\w+)(?::path)?}")


@dataclass(frozen=True)
class Route:
    """What is served at a path for one method. A ``scope`` of None is for what everyone may ask, at any time."""

    method: str
    path: str
    scope: Scope | None
    handler: Callable[..., Awaitable[Any]]
    #: Of a success.
    status: int = 200
    #: Statuses of refusals that do not follow from the method, the path and the body.
    refused: tuple[int, ...] = ()
    #: Of a body of JSON.
    example: dict[str, Any] | None = None
    #: Of a response that is not a type of the protocol.
    media: str = ""
    #: Type of a body that the handler reads by itself.
    reads: type | None = None
    #: Whether it only predicts, which a replica and a service with a full disk do as well.
    predicts: bool = False
    #: Whether it may wait for labels to be learned, and so takes no place from predictions.
    waits: bool = False

    @property
    def name(self) -> str:
        return self.handler.__name__

    @property
    def summary(self) -> str:
        return " ".join((self.handler.__doc__ or "").split("\n\n")[0].split())

    @cached_property
    def _types(self) -> dict[str, Any]:
        return get_type_hints(self.handler, include_extras=True)

    @cached_property
    def takes(self) -> tuple[str, ...]:
        """The names of what the handler takes, in their order."""
        return tuple(name for name in self._types if name != "return")

    @cached_property
    def parts(self) -> dict[str, Any]:
        """The parts of the path that have names, and their types."""
        return {name: self._types.get(name, str) for name in _PART.findall(self.path)}

    @cached_property
    def query(self) -> Any:
        """The structure with the query's parameters, if it has some."""
        return self._types.get("query")

    @cached_property
    def bodies(self) -> tuple[Any, ...]:
        """The types that a body may have; one of None may be left out."""
        type_hint = self._types.get("body", self.reads)
        return () if type_hint is None else tuple(member for member in _each(type_hint) if member is not NoneType)

    @cached_property
    def is_optional(self) -> bool:
        """Whether the body may be left out."""
        return NoneType in _each(self._types.get("body"))

    @cached_property
    def once(self) -> bool:
        """Whether it is done once for requests of the same idempotency key."""
        return get_origin(self._types["return"]) is Once

    @cached_property
    def replies(self) -> tuple[Any, ...]:
        """The types that a success may have."""
        type_hint = self._types["return"]
        return tuple(_each(get_args(type_hint)[0] if get_origin(type_hint) in (Once, EventStream) else type_hint))

    @cached_property
    def streams(self) -> bool:
        """Whether the response is a stream of events."""
        return get_origin(self._types["return"]) is EventStream

    @property
    def refusals(self) -> tuple[int, ...]:
        """All statuses of refusals."""
        statuses = {*self.refused}
        if self.scope is not None:
            statuses |= {401, 403, 421, 429, 503}
            statuses |= {404} if self.parts or self.method != "GET" else set()
        if self.method != "GET":
            statuses |= {408, 409, 413, 422} | ({415} if "body" in self._types else set())
        if self.query is not None:
            statuses |= {422}
        return tuple(sorted(statuses))


def _each(types: Any) -> Iterator[Any]:
    """The members of a union, or a type alone."""
    yield from get_args(types) if get_origin(types) is UnionType else (types,)


def route(
    method: str, path: str, scope: Scope | None, **further: Any
) -> Callable[[Callable[..., Awaitable[Any]]], Route]:
    """Serve what the decorated handler does; ``further`` are fields of `Route`."""

    def declared(handler: Callable[..., Awaitable[Any]]) -> Route:
        ROUTES.append(Route(method, path, scope, handler, **further))
        return ROUTES[-1]

    return declared


get, post, put = (partial(route, method) for method in ("GET", "POST", "PUT"))
