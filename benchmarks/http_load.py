"""A small generator of load: connections that ask again as soon as they are answered."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import uvloop

_LENGTH = re.compile(rb"content-length: (\d+)\r\n")

#: What to ask next, given the answer before; None to ask no more.
Next = Callable[[bytes], bytes | None]


@dataclass
class Load:
    """What was measured."""

    seconds: list[float] = field(default_factory=list)
    lasted: float = 0.0

    @property
    def rate(self) -> float:
        """Requests a second."""
        return len(self.seconds) / self.lasted

    def percentile(self, share: float) -> float:
        """In milliseconds."""
        return float(np.percentile(self.seconds, share)) * 1000


def request(path: str, body: bytes, media: str = "application/json") -> bytes:
    """A request as it goes over the wire."""
    head = f"POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: {media}\r\ncontent-length: {len(body)}\r\n\r\n"
    return head.encode() + body


class _Connection(asyncio.Protocol):
    def __init__(self, ask: Next, load: Load, done: asyncio.Future[None]) -> None:
        self.ask, self.load, self.done = ask, load, done
        self.received = b""

    def connection_made(self, transport: Any) -> None:
        self.transport = transport
        self._go_on(b"")

    def data_received(self, data: bytes) -> None:
        self.received += data
        head, separator, body = self.received.partition(b"\r\n\r\n")
        length = _LENGTH.search(head + b"\r\n")
        if not separator or length is None or len(body) < int(length[1]):
            return
        if not head.startswith(b"HTTP/1.1 2"):
            self.done.set_exception(RuntimeError(self.received[:500].decode()))
            return
        self.load.seconds.append(time.perf_counter() - self.began)
        self.received = b""
        self._go_on(body)

    def _go_on(self, body: bytes) -> None:
        asked = self.ask(body)
        if asked is None:
            self.transport.close()
            self.done.set_result(None)
            return
        self.began = time.perf_counter()
        self.transport.write(asked)


def put_load(port: int, makers: list[Next]) -> Load:
    """Load by as many connections as there are makers of requests, until they end."""
    load = Load()

    async def go() -> None:
        loop = asyncio.get_running_loop()
        ends = [loop.create_future() for _ in makers]
        began = time.perf_counter()
        for maker, end in zip(makers, ends, strict=True):
            await loop.create_connection(lambda maker=maker, end=end: _Connection(maker, load, end), "127.0.0.1", port)  # type: ignore[misc]
        await asyncio.gather(*ends)
        load.lasted = time.perf_counter() - began

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(go())
    return load
