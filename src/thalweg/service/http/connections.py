"""Connections of clients: how many there may be, how large a head may be, and how long it may take to come.

All of this is before any token is looked at, so it must cost next to nothing: O(1) a read, besides parsing.
"""

from __future__ import annotations

import asyncio
import ipaddress
from collections import Counter, defaultdict
from functools import partial
from typing import Any, ClassVar

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from thalweg.client.protocol import JSON, ErrorBody
from thalweg.service.commands import Refused
from thalweg.service.http.endpoint import WHOLE_BODY, WRITE_WHOLE
from thalweg.service.http.exchange import encode
from thalweg.service.options import ServeOptions, is_among

#: Descriptors for the journal, streams and everything else that is no client.
_RESERVED_DESCRIPTORS = 128
#: Headers in a head, and requests that a client may send before the first response.
_MOST_HEADERS, _MOST_PIPELINED = 100, 16


def most_connections(wanted: int) -> int:
    """How many connections there may be: descriptors are raised as far as this process may.

    Examples
    --------
    >>> most_connections(16)
    16
    """
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return wanted
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = wanted + _RESERVED_DESCRIPTORS
    if soft != resource.RLIM_INFINITY and soft < needed:
        soft = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return wanted if soft == resource.RLIM_INFINITY else max(1, min(wanted, soft - _RESERVED_DESCRIPTORS))


class OpenConnections:
    """Counts of the connections that are open, all and by address, for the event loop.

    Where there are too many, the one that has been sending a head for the longest time makes room for a new one.
    """

    def __init__(self, options: ServeOptions) -> None:
        self.options = options
        self.most = most_connections(options.max_connections)
        self.total = 0
        self._by_client: Counter[str] = Counter()
        #: Connections whose head has not come yet, the oldest first, and the same by client.
        self._sending: dict[LimitedProtocol, None] = {}
        self._sending_by_client: defaultdict[str, dict[LimitedProtocol, None]] = defaultdict(dict)

    def enter(self, address: str) -> str:
        """Count a connection; the client it counts for, which has to `leave`. `Refused` where there are too many."""
        client = _client(address)
        if self.total >= self.most and not _made_room(self._sending):
            raise Refused(503, "too many connections are open: try again in a moment", retry_after=1)
        if (
            self._by_client[client] >= self.options.max_connections_per_address
            and not is_among(address, self.options.trusted_proxy)
            and not _made_room(self._sending_by_client[client])
        ):
            raise Refused(
                429,
                f"an address may have at most {self.options.max_connections_per_address} connections",
                retry_after=1,
            )
        self.total += 1
        self._by_client[client] += 1
        return client

    def leave(self, client: str) -> None:
        self.total -= 1
        self._by_client[client] -= 1
        if not self._by_client[client]:
            del self._by_client[client]
            self._sending_by_client.pop(client, None)

    def begin_head(self, connection: LimitedProtocol, client: str) -> None:
        self._sending[connection] = self._sending_by_client[client][connection] = None

    def end_head(self, connection: LimitedProtocol, client: str) -> None:
        self._sending.pop(connection, None)
        self._sending_by_client[client].pop(connection, None)


def _made_room(sending: dict[LimitedProtocol, None]) -> bool:
    """Whether a connection that has sent no head was closed."""
    oldest = next(iter(sending), None)
    if oldest is not None:
        oldest.give_way()
    return oldest is not None


def _client(address: str) -> str:
    """Whom an address counts for: with IPv6 a client has a network of its own to choose addresses from."""
    return str(ipaddress.ip_network((address, 64), strict=False)) if ":" in address else address


class LimitedProtocol(HttpToolsProtocol):
    """One connection. A message is between two, has a head that is coming, or a body."""

    open_connections: ClassVar[OpenConnections]

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._options = self.open_connections.options
        self._entered: str | None = None
        self._refused = False
        self._deadline: asyncio.TimerHandle | None = None
        self._in_message = self._has_head = False
        self._head_bytes = self._headers = 0
        self._head_too_large = False
        #: Bytes that have come since a head, a piece of a body or a message was complete.
        self._incomplete = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        try:
            self._entered = self.open_connections.enter(self.client[0] if self.client else "")
        except Refused as refused:
            self._refuse(refused)
        else:
            self._start_deadline()

    def connection_lost(self, exc: Exception | None) -> None:
        self._leave()
        self._unset_keepalive_if_required()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._refused:
            return
        self._incomplete += len(data)
        super().data_received(data)
        if self._refused:
            return
        if self._incomplete > len(data) + self._options.max_header:
            self._refuse(self._too_large())
        elif not self._has_head if self._in_message else self._incomplete:
            self._start_deadline()  # most heads come as a whole, and need none

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._in_message, self._has_head = True, False
        self._head_bytes = self._headers = 0

    def on_url(self, url: bytes) -> None:
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Also of the headers that may come after a body."""
        self._headers += 1
        self._count(len(name) + len(value))
        super().on_header(name, value)

    def _count(self, size: int) -> None:
        self._head_bytes += size
        if self._head_bytes > self._options.max_header or self._headers > _MOST_HEADERS:
            self._head_too_large = True
            raise ValueError("the head is too large")  # the parser stops

    def on_headers_complete(self) -> None:
        self._has_head = True
        self._incomplete = 0
        self._end_deadline()
        if len(self.pipeline) >= _MOST_PIPELINED:
            raise ValueError("too many requests were sent before the first got its reply")
        before = self.cycle
        super().on_headers_complete()
        if self.cycle is not before:
            self.scope[WRITE_WHOLE] = partial(self._write_whole, self.cycle)  # type: ignore[literal-required]

    def on_body(self, body: bytes) -> None:
        self._incomplete = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._incomplete = 0
        self._in_message = False
        self._end_deadline()
        self.scope[WHOLE_BODY] = partial(bytes, self.cycle.body)  # type: ignore[literal-required]
        super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self._in_message and self._has_head:  # the rest of a body that nobody reads
            self._start_deadline()

    def _write_whole(self, cycle: RequestResponseCycle, status: int, head: bytes, body: bytes) -> bool:
        """Write a response as `cycle.send` would in two messages; False where the client must read others first."""
        if cycle.disconnected:
            return True
        if self.flow.write_paused:
            return False
        cycle.response_started = True
        usual = b"".join(b"%s: %s\r\n" % header for header in cycle.default_headers)
        close = b"" if cycle.keep_alive else b"connection: close\r\n"
        self.transport.write(b"".join((STATUS_LINE[status], usual, head, close, b"\r\n", body)))
        cycle.response_complete = True
        cycle.message_event.set()
        if not cycle.keep_alive:
            self.transport.close()
        cycle.on_response()
        return True

    def give_way(self) -> None:
        """Close, and count no longer."""
        self._refuse(Refused(408, "the request came too slowly while others waited for a connection: send it at once"))
        self._leave()

    def _leave(self) -> None:
        self._end_deadline()
        if self._entered is not None:
            self.open_connections.leave(self._entered)
            self._entered = None

    def _start_deadline(self) -> None:
        if self._deadline is None and self._entered is not None:
            self._deadline = self.loop.call_later(self._options.header_timeout, self._late)
            self.open_connections.begin_head(self, self._entered)

    def _end_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
            if self._entered is not None:
                self.open_connections.end_head(self, self._entered)

    def _late(self) -> None:
        self._refuse(Refused(408, f"the headers did not arrive within {self._options.header_timeout:g} seconds"))

    def _too_large(self) -> Refused:
        return Refused(
            431, f"a request may have at most {_MOST_HEADERS} headers of {self._options.max_header} bytes together"
        )

    def send_400_response(self, msg: str) -> None:
        self._refuse(self._too_large() if self._head_too_large else Refused(400, "the request is not HTTP"))

    def _refuse(self, refused: Refused) -> None:
        """Say why, unless something else is being said, and close."""
        self._refused = True
        self._end_deadline()
        if self.transport.is_closing():
            return
        if self.cycle is None or (self.cycle.response_complete and not self._has_head):
            body = encode(ErrorBody(refused.sentence))
            retry = b"" if refused.retry_after is None else b"retry-after: %d\r\n" % refused.retry_after
            head = b"content-type: %s\r\ncontent-length: %d\r\n%sconnection: close\r\n\r\n"
            self.transport.write(STATUS_LINE[refused.status] + head % (JSON.encode(), len(body), retry) + body)
        self.transport.close()


def protocol(options: ServeOptions) -> type[LimitedProtocol]:
    """The protocol of one server, whose connections are counted together."""
    return type("Protocol", (LimitedProtocol,), {"open_connections": OpenConnections(options)})
