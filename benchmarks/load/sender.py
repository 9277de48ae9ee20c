"""A sender of HTTP requests for machines without wrk: they are built before, and responses are hardly looked at.

Run as ``python -m benchmarks.load.sender PORT FILE CONNECTIONS SECONDS KEYS``; it prints a `Load` as JSON. Each
connection has one request under way. The result says how much of a core the sender took.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path
from typing import Any

import uvloop

_LENGTH = b"content-length:"


def built(lines: list[str], keys: str) -> list[bytes]:
    """Requests by their paths and bodies, each with a key of its own unless ``keys``, their beginning, is empty."""
    found = []
    for at, line in enumerate(lines):
        path, _, body = line.partition(" ")
        content = body.encode()
        head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        head += f"Idempotency-Key: {keys}{at}\r\n" if keys else ""
        found.append(f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content)
    return found


class Sending:
    """What all connections share: the requests in turn, and how those went that were answered."""

    def __init__(self, requests: list[bytes], seconds: float) -> None:
        self.requests, self.at, self.bad = requests, 0, 0
        self.waits: list[float] = []
        self.ends = time.perf_counter() + seconds
        self.open = 0
        self.over = asyncio.get_running_loop().create_future()

    def next(self) -> bytes:
        self.at += 1
        return self.requests[(self.at - 1) % len(self.requests)]


class Connection(asyncio.Protocol):
    """One request after the other."""

    def __init__(self, sending: Sending) -> None:
        self.sending, self.received, self.began = sending, b"", 0.0

    def connection_made(self, transport: Any) -> None:
        self.transport = transport
        self.sending.open += 1
        self._send()

    def _send(self) -> None:
        self.received, self.began = b"", time.perf_counter()
        self.transport.write(self.sending.next())

    def data_received(self, data: bytes) -> None:
        self.received = received = self.received + data if self.received else data
        head = received.find(b"\r\n\r\n")
        if head < 0:
            return
        place = received.lower().find(_LENGTH, 0, head) + len(_LENGTH)
        if len(received) < head + 4 + int(received[place : received.find(b"\r\n", place)]):
            return
        now, sending = time.perf_counter(), self.sending
        sending.waits.append(now - self.began)
        sending.bad += received[9:10] != b"2"
        if now < sending.ends:
            self._send()
        else:
            self.transport.close()

    def connection_lost(self, error: Exception | None) -> None:
        self.sending.bad += error is not None
        self.sending.open -= 1
        if not self.sending.open and not self.sending.over.done():
            self.sending.over.set_result(None)


async def send(port: int, requests: list[bytes], connections: int, seconds: float) -> dict[str, float]:
    """Send for some seconds, and wait for the last answers."""
    loop, sending = asyncio.get_running_loop(), Sending(requests, seconds)
    began, busy = time.perf_counter(), time.process_time()
    for _ in range(connections):
        await loop.create_connection(lambda: Connection(sending), "127.0.0.1", port)
    await sending.over
    taken, waits = time.perf_counter() - began, sorted(sending.waits)
    return {
        "requests": len(waits),
        "seconds": taken,
        "bad": sending.bad,
        "p50": waits[len(waits) // 2],
        "p99": waits[len(waits) * 99 // 100],
        "sender": (time.process_time() - busy) / taken,
    }


def main() -> None:
    port, file, connections, seconds, keys = sys.argv[1:]
    requests = built(Path(file).read_text().splitlines(), keys)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        print(json.dumps(runner.run(send(int(port), requests, int(connections), float(seconds)))))


if __name__ == "__main__":
    main()
