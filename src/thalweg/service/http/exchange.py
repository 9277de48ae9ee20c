"""What a request asks, read within limits and checked against the types of the protocol; and forms of a response."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, get_type_hints
from urllib.parse import parse_qs

import msgspec
import orjson

from thalweg.client.protocol import JSON, ErrorBody, prepared
from thalweg.service.commands import HttpResponse, Key, Refused
from thalweg.service.intake import LARGE
from thalweg.service.options import ServeOptions

B = TypeVar("B", bound=msgspec.Struct)
R = TypeVar("R")
V = TypeVar("V")
#: Objects and lists that a large body of JSON may have, however few rows are allowed.
_LEAST_OBJECTS = 100_000
#: JSON of a type of the protocol.
encode = msgspec.json.Encoder().encode


@dataclass(slots=True)
class Request:
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

    def decoded(self, kind: type[B], options: ServeOptions) -> B:
        """The body as a type of the protocol; `Refused` says what does not fit."""
        if self.media != JSON:
            raise Refused(415, f"the body must be {JSON}")
        return parsed(self.body, kind, options)

    def count(self, number: int, things: str, options: ServeOptions) -> None:
        """So many rows, labels or ids are asked for; `Refused` where there are none, or too many."""
        if not 0 < number <= options.max_rows:
            raise Refused(413 if number else 422, f"a request must have 1 to {options.max_rows} {things}, got {number}")
        self.rows = number


def parsed(body: bytes, kind: type[B], options: ServeOptions) -> B:
    """JSON as a type of the protocol; `Refused` says what does not fit."""
    # Objects take a hundred times the memory of their two brackets: they are counted before they are made.
    most = max(4 * options.max_rows, _LEAST_OBJECTS)  # those of the rows, and of maps in them
    if len(body) > LARGE and body.count(b"{") + body.count(b"[") > most:
        raise Refused(413, f"a body may have at most {most} objects and lists: send fewer rows at a time")
    try:
        given = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise Refused(422, f"the body is not JSON: {error}") from error
    try:
        content = msgspec.convert(given, prepared(kind))
    except msgspec.ValidationError as error:
        raise Refused(422, _misfit(given, kind, error)) from error
    one_of: tuple[str, ...] = getattr(kind, "one_of", ())
    if one_of and len([name for name in one_of if name in given]) != 1:
        raise Refused(422, f"there must be one of {', '.join(one_of)}")
    return content


def read_query(text: bytes, kind: type[B]) -> B:
    """The parameters of a query as a structure with their types; others are ignored."""
    given = parse_qs(text.decode("latin-1"), keep_blank_values=True)
    for name in kind.__struct_fields__:
        if len(given.get(name, ())) > 1:
            raise Refused(422, f"{name} may be given once")
    try:
        return msgspec.convert({name: values[0] for name, values in given.items()}, prepared(kind), strict=False)
    except msgspec.ValidationError as error:
        raise Refused(422, _misfit(given, kind, error)) from error


#: Where msgspec finds fault: a field that is missing, or the path of a value.
_FAULT = re.compile(r"missing required field `(\w++)`$| - at `\$\.(\w++)(?:\[(\d++)\])?+[^`]*+`$")


def _misfit(given: Any, kind: type[msgspec.Struct], error: msgspec.ValidationError) -> str:
    """A sentence for a body that is not of a kind: that of the field's rule, where it has one."""
    if not isinstance(given, dict):
        return "the body must be an object of JSON"
    strange = given.keys() - set(kind.__struct_fields__)
    if strange and kind.__struct_config__.forbid_unknown_fields:
        return f"there is no field {min(strange)!r} here; there are {', '.join(kind.__struct_fields__)}"
    fault = _FAULT.search(str(error))
    if fault is None:
        return f"the body does not fit: {error}"
    missing, field, item = fault.groups()
    rules = get_type_hints(kind, include_extras=True)[missing or field].__metadata__[-1].extra
    return str(rules["rule"] if item is None else rules["item"].format(item))


@dataclass(frozen=True, slots=True)
class EventStream(Generic[R]):
    """A response without an end: pieces as they come, of events whose data are of a type of the protocol."""

    media: str
    pieces: AsyncIterator[bytes]


@dataclass(slots=True)  # frozen, it would take a microsecond for each field
class Once(Generic[R]):
    """What is to be done once for all requests with the same idempotency key, and how the response is written.

    A response that is written ``at_length`` is so in a thread, and does not keep others waiting.
    """

    act: Callable[[Key | None], Awaitable[Any]]
    written: Callable[[Any], R | HttpResponse]
    at_length: bool = False


def as_json(body: msgspec.Struct, status: int = 200) -> HttpResponse:
    return HttpResponse(status, JSON, encode(body))


def refusal(refused: Refused) -> HttpResponse:
    return as_json(ErrorBody(refused.sentence), refused.status)
