"""How requests reach the service: blocking or awaiting, sent again with the same key until there is a response;
and events across lost connections.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field, replace
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from thalweg.client.history_responses import Point
from thalweg.client.protocol import ErrorBody, prepared
from thalweg.errors import ServiceRefused, ServiceUnreachable

if TYPE_CHECKING:
    import httpx

#: Seconds without a word after which an open stream counts as lost; the service says something more often.
SILENCE = 60.0


@dataclass(frozen=True, slots=True)
class Request:
    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    content: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Lost:
    """Nothing came back, or not all of it: whether the service did what was asked is unknown."""

    reason: str


class Wire:
    """The network and the clock as a client needs them: an ``httpx.Client``, or an ``AsyncClient`` that is awaited.

    With a blocking client no coroutine here ever suspends.
    """

    def __init__(self, http: Any) -> None:
        self._http = http
        self._awaits = hasattr(http, "aclose")

    async def send(self, request: Request) -> Reply | Lost:
        """The whole reply."""
        import httpx

        try:
            return _as_reply(await _value(self._http.request(**_as_keywords(request))))
        except httpx.TransportError as error:
            return _lost(error)

    async def listen(self, request: Request) -> OpenReply | Reply | Lost:
        """The reply left open where it is good."""
        import httpx

        asked = self._http.build_request(**_as_keywords(request), timeout=SILENCE)
        try:
            response = await _value(self._http.send(asked, stream=True))
            if response.is_success:
                return OpenReply(response, self._awaits)
            await _value(response.aread() if self._awaits else response.read())
            return _as_reply(response)
        except httpx.TransportError as error:
            return _lost(error)

    async def pause(self, seconds: float) -> None:
        if self._awaits:
            await asyncio.sleep(seconds)
        else:
            time.sleep(seconds)

    async def close(self) -> None:
        await _value(self._http.aclose() if self._awaits else self._http.close())


class OpenReply:
    """A good reply that is still coming, line by line."""

    def __init__(self, response: Any, awaits: bool) -> None:
        self._response, self._awaits = response, awaits
        self._lines = response.aiter_lines() if awaits else response.iter_lines()

    async def line(self) -> str | None:
        """The next line; None where the reply has ended or was lost."""
        import httpx

        try:
            line: str | None = await _value((anext if self._awaits else next)(self._lines, None))
        except httpx.TransportError:
            return None
        return line

    async def close(self) -> None:
        await _value(self._response.aclose() if self._awaits else self._response.close())


async def _value(given: Any) -> Any:
    return await given if isawaitable(given) else given


def _as_keywords(request: Request) -> Mapping[str, Any]:
    return {
        "method": request.method,
        "url": request.path,
        "params": dict(request.query),
        "content": request.content,
        "headers": dict(request.headers),
    }


def _as_reply(response: httpx.Response) -> Reply:
    return Reply(response.status_code, response.headers, response.content)


def _lost(error: Exception) -> Lost:
    return Lost(str(error) or type(error).__name__)  # some have only their name to say


#: Too many requests, and what a service or the proxy before it says while it starts or stops.
FOR_THE_MOMENT = frozenset({429, 502, 503, 504})
#: Seconds before the first repetition; doubled each time, up to the longest.
FIRST_WAIT, LONGEST_WAIT = 0.1, 10.0


async def reply_to(wire: Wire, request: Request, patience: float) -> Reply:
    """A good reply; `ServiceRefused` or `ServiceUnreachable` otherwise.

    The service must do the request once, however often it comes. All waits together take at most ``patience`` seconds.
    """
    waited, attempt = 0.0, 0
    while True:
        reply = await wire.send(request)
        if isinstance(reply, Reply) and reply.status not in FOR_THE_MOMENT:
            return good(reply)
        wait = wait_before(attempt, reply)
        waited += wait
        if waited > patience:
            raise refusal(reply)
        await wire.pause(wait)
        attempt += 1


def wait_before(attempt: int, reply: Reply | Lost) -> float:
    """Seconds: as long as the service asks for; else doubling, drawn at random lest all clients return at once."""
    asked = reply.headers.get("retry-after", "") if isinstance(reply, Reply) else ""
    drawn = random.uniform(0.5, 1.0) * min(FIRST_WAIT * 2.0**attempt, LONGEST_WAIT)
    return max(drawn, float(asked)) if asked.isdigit() else drawn


def good(reply: Reply) -> Reply:
    """The reply itself, unless the service says no."""
    if reply.status >= 300:
        raise refusal(reply)
    return reply


def refusal(reply: Reply | Lost) -> ServiceRefused | ServiceUnreachable:
    """The error that a caller sees: in the service's own words where it has any."""
    if isinstance(reply, Lost):
        return ServiceUnreachable(f"the service did not answer: {reply.reason}")
    try:
        said = msgspec.json.decode(reply.body, type=prepared(ErrorBody)).error
    except ValueError:
        said = f"the service answered with status {reply.status}"
    return ServiceRefused(said, reply.status)


T = TypeVar("T")


def decoded(reply: Reply, kind: type[T]) -> T:
    """The body as a type of the protocol; fields that are unknown here are ignored.

    Examples
    --------
    >>> from thalweg.client import Decision
    >>> decoded(Reply(200, {}, b'{"name": "rain", "seq": 7, "later": "more"}'), Decision)
    Decision(name='rain', seq=7)
    >>> decoded(Reply(200, {}, b'{"name": "rain"}'), Decision)
    Traceback (most recent call last):
    thalweg.errors.ServiceRefused: the reply is not from a thalweg service: Object missing required field `seq`
    """
    try:
        return msgspec.json.decode(reply.body, type=prepared(kind))
    except msgspec.ValidationError as error:
        raise ServiceRefused(f"the reply is not from a thalweg service: {error}", reply.status) from None
    except ValueError:
        raise ServiceRefused("the reply is not from a thalweg service: it is not JSON", reply.status) from None


class EventReader:
    """Lines in, an event whenever one is complete.

    Examples
    --------
    >>> reader = EventReader()
    >>> [reader.take(line) for line in (": still here", "id: 7", "event: point", 'data: {"labels": 7}', "")]
    [None, None, None, None, '{"labels": 7}']
    >>> reader.last_id
    '7'
    """

    def __init__(self) -> None:
        #: Of the last event, for the service to continue from.
        self.last_id = ""
        self._data: list[str] = []
        self._kind = "message"

    def take(self, line: str, wanted: str = "point") -> str | None:
        """The data of an event of the wanted kind, where this line ends one; else None."""
        if not line:
            data, kind = "\n".join(self._data), self._kind
            self._data, self._kind = [], "message"
            return data if data and kind == wanted else None
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
        elif name == "event":
            self._kind = value
        elif name == "id":
            self.last_id = value
        return None


async def followed(wire: Wire, request: Request, patience: float) -> AsyncGenerator[Point, None]:
    """The points of all events, without end; a lost connection is taken up where it broke.

    Raises as `thalweg.client.transport.reply_to` does, when there was no event for as long as patience reaches.
    """
    reader, waited, attempt = EventReader(), 0.0, 0
    while True:
        resumed = replace(request, headers={**request.headers, "Last-Event-ID": reader.last_id})
        opened = await wire.listen(resumed if reader.last_id else request)
        if isinstance(opened, OpenReply):
            try:
                while (line := await opened.line()) is not None:
                    data = reader.take(line)
                    if data is not None:
                        waited, attempt = 0.0, 0
                        yield decoded(Reply(200, {}, data.encode()), Point)
            finally:
                await opened.close()
            opened = Lost("the stream of events ended")
        elif isinstance(opened, Reply) and opened.status not in FOR_THE_MOMENT:
            good(opened)
        wait = wait_before(attempt, opened)
        waited += wait
        if waited > patience:
            raise refusal(opened)
        await wire.pause(wait)
        attempt += 1
