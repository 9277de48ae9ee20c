"""How requests reach the service: a wire that blocks and one that awaits, behind one face.

All else of the client is written once, as coroutines over a `Wire`. Those of a `BlockingWire` never suspend, so that
whoever does not run an event loop can step through them to their end.
"""

from __future__ import annotations

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import httpx

#: Seconds without a word after which an open stream counts as lost; the service says something more often.
SILENCE = 60.0


@dataclass(frozen=True, slots=True)
class Request:
    """What is sent."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    content: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Lost:
    """Nothing came back, or not all of it: whether the service did what was asked is unknown."""

    reason: str


class OpenReply(ABC):
    """A good reply that is still coming, line by line."""

    @abstractmethod
    async def line(self) -> str | None:
        """The next line; None where the reply has ended or was lost."""

    @abstractmethod
    async def close(self) -> None:
        """Hear no more of it."""


class Wire(ABC):
    """What a client needs of the network and the clock."""

    @abstractmethod
    async def send(self, request: Request) -> Reply | Lost:
        """The whole reply."""

    @abstractmethod
    async def listen(self, request: Request) -> OpenReply | Reply | Lost:
        """The reply left open where it is good."""

    @abstractmethod
    async def pause(self, seconds: float) -> None:
        """Wait."""

    @abstractmethod
    async def close(self) -> None:
        """Give up the connections."""


class BlockingWire(Wire):
    """Waits in place."""

    def __init__(self, http: httpx.Client) -> None:
        self._http = http

    async def send(self, request: Request) -> Reply | Lost:
        """The whole reply."""
        import httpx

        try:
            return _as_reply(self._http.request(**_as_keywords(request)))
        except httpx.TransportError as error:
            return _lost(error)

    async def listen(self, request: Request) -> OpenReply | Reply | Lost:
        """The reply left open where it is good."""
        import httpx

        asked = self._http.build_request(**_as_keywords(request), timeout=SILENCE)
        try:
            response = self._http.send(asked, stream=True)
            if response.is_success:
                return _BlockingReply(response)
            response.read()
            return _as_reply(response)
        except httpx.TransportError as error:
            return _lost(error)

    async def pause(self, seconds: float) -> None:
        """Wait."""
        time.sleep(seconds)

    async def close(self) -> None:
        """Give up the connections."""
        self._http.close()


class AwaitingWire(Wire):
    """Lets others run while it waits."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self._http = http

    async def send(self, request: Request) -> Reply | Lost:
        """The whole reply."""
        import httpx

        try:
            return _as_reply(await self._http.request(**_as_keywords(request)))
        except httpx.TransportError as error:
            return _lost(error)

    async def listen(self, request: Request) -> OpenReply | Reply | Lost:
        """The reply left open where it is good."""
        import httpx

        asked = self._http.build_request(**_as_keywords(request), timeout=SILENCE)
        try:
            response = await self._http.send(asked, stream=True)
            if response.is_success:
                return _AwaitingReply(response)
            await response.aread()
            return _as_reply(response)
        except httpx.TransportError as error:
            return _lost(error)

    async def pause(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)

    async def close(self) -> None:
        """Give up the connections."""
        await self._http.aclose()


class _BlockingReply(OpenReply):
    def __init__(self, response: httpx.Response) -> None:
        self._response = response
        self._lines: Iterator[str] = response.iter_lines()

    async def line(self) -> str | None:
        import httpx

        try:
            return next(self._lines, None)
        except httpx.TransportError:
            return None

    async def close(self) -> None:
        self._response.close()


class _AwaitingReply(OpenReply):
    def __init__(self, response: httpx.Response) -> None:
        self._response = response
        self._lines: AsyncIterator[str] = response.aiter_lines()

    async def line(self) -> str | None:
        import httpx

        try:
            return await anext(self._lines, None)
        except httpx.TransportError:
            return None

    async def close(self) -> None:
        await self._response.aclose()


def _as_keywords(request: Request) -> Mapping[str, Any]:
    """A request as httpx names its parts."""
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
