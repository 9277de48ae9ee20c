"""What is in work at the same time: so many requests, so many bytes, and no body that never ends."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from thalweg.service.commands import Refused
from thalweg.service.options import ServeOptions

#: Seconds in which a body must have come as a whole; and once the service is stopping.
_BODY_SECONDS, _LAST_SECONDS = 30.0, 1.0
#: Bytes of all requests in work, and of large bodies that are unpacked at the same time, which takes many times as much
#: memory.
MOST_BYTES, MOST_UNPACKED = 256 << 20, 8 << 20
#: Bytes beyond which a body is unpacked in a thread; and seconds that it may wait until there is room for that.
LARGE, _TURN_SECONDS = 64 << 10, 30.0

Receive = Callable[[], Awaitable[dict[str, Any]]]


@dataclass(slots=True)
class RequestSlot:
    """Of one request: how much of its body has come."""

    bytes: int = 0
    #: Of them, those that count as unpacked.
    unpacked: int = 0


class Intake:
    """For the event loop."""

    def __init__(self, options: ServeOptions) -> None:
        self._options = options
        #: In work now: bytes are counted as they come, since what is announced may never do so.
        self.requests = self.bytes = self.unpacked = 0
        self._left = asyncio.Event()
        self._closing = False
        self._reading: set[asyncio.Timeout] = set()

    def close(self) -> None:
        """Wait no longer for bodies that have not come."""
        self._closing = True
        now = asyncio.get_running_loop().time()
        for deadline in self._reading:
            if not deadline.expired():
                deadline.reschedule(now)

    def enter(self, announced: int) -> RequestSlot:
        """A place among the requests in work; `Refused` where there is none, or none for so many bytes."""
        if announced > self._options.max_body:
            raise self._too_large()
        if self.requests >= self._options.max_waiting or self.bytes + announced > MOST_BYTES:
            raise _too_much()
        self.requests += 1
        return RequestSlot()

    def leave(self, place: RequestSlot) -> None:
        self.requests -= 1
        self.bytes -= place.bytes
        self.unpacked -= place.unpacked
        self._left.set()

    async def wait_for_turn(self, place: RequestSlot) -> None:
        """Wait until a body may be unpacked: small ones at once, large ones a few at a time."""
        if place.bytes <= LARGE:
            return
        try:
            async with asyncio.timeout(_TURN_SECONDS):
                while self.unpacked and self.unpacked + place.bytes > MOST_UNPACKED:
                    self._left.clear()
                    await self._left.wait()
        except TimeoutError as error:
            raise _too_much() from error
        place.unpacked = place.bytes
        self.unpacked += place.bytes

    def take(self, place: RequestSlot, piece: bytes) -> bytes:
        """A piece of a body that has come, or all of it."""
        place.bytes += len(piece)
        self.bytes += len(piece)
        if place.bytes > self._options.max_body:
            raise self._too_large()
        if self.bytes > MOST_BYTES:
            raise _too_much()
        return piece

    async def read(self, place: RequestSlot, receive: Receive) -> bytes:
        """A whole body, in time."""
        try:
            async with asyncio.timeout(_LAST_SECONDS if self._closing else _BODY_SECONDS) as deadline:
                self._reading.add(deadline)
                try:
                    return await self._pieces(place, receive)
                finally:
                    self._reading.discard(deadline)
        except TimeoutError as error:
            if self._closing:
                raise Refused(503, "the service is stopping", retry_after=5) from error
            raise Refused(408, f"the body did not arrive within {_BODY_SECONDS:g} seconds") from error

    async def _pieces(self, place: RequestSlot, receive: Receive) -> bytes:
        pieces: list[bytes] = []
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise Refused(400, "the client went away")
            pieces.append(self.take(place, message.get("body", b"")))
            if not message.get("more_body"):
                return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def _too_large(self) -> Refused:
        return Refused(413, f"a body may have at most {self._options.max_body} bytes")


def _too_much() -> Refused:
    return Refused(429, "the service is overloaded: try again in a moment", retry_after=1)
