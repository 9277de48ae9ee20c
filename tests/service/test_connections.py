"""What one client can do to others by connections, headers and large bodies: next to nothing."""

from __future__ import annotations

import asyncio
import gc
import resource
import socket
import threading
from collections import Counter
from contextlib import ExitStack
from typing import NamedTuple

import pytest
import uvicorn

from tests.service.server import Server
from tests.waiting import PATIENCE, wait_until
from thalweg.service.auth import Authorizer
from thalweg.service.http.app import build
from thalweg.service.http.connections import protocol
from thalweg.service.http.exchange import Request
from thalweg.service.intake import Intake
from thalweg.service.journal.databases import open_journal
from thalweg.service.options import Address, ServeOptions
from thalweg.service.server import listening, make_first
from thalweg.service.service import Service

ROW = {"x": 1.0}
EVENTS = b"GET /v1/models/default/events HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n"
HEAD = b"POST /v1/predict HTTP/1.1\r\nhost: 127.0.0.1\r\n"


def connection(server: Server, address: str = "127.0.0.1") -> socket.socket:
    return socket.create_connection(("127.0.0.1", server.port), PATIENCE, source_address=(address, 0))


def answer(plain: socket.socket) -> bytes:
    """All that comes until the service closes the connection."""
    found = b""
    try:
        while piece := plain.recv(65536):
            found += piece
    except ConnectionResetError:  # the service did not wait for what was still being sent
        pass
    return found


def memory(server: Server) -> int:
    """Resident bytes of the service."""
    with open(f"/proc/{server.process.pid}/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


@pytest.fixture
def strict(start):
    return start("--new", "oldc", "--max-connections-per-address", "20", "--header-timeout", "1")


def test_half_sent_heads_take_no_place_from_others(strict):
    with ExitStack() as stack:
        heads = [stack.enter_context(connection(strict, "127.0.0.2")) for _ in range(60)]
        for plain in heads:
            plain.sendall(HEAD)
        assert _is_served(strict, "127.0.0.1")
        assert _is_served(strict, "127.0.0.2")
        assert answer(heads[0]).startswith(b"HTTP/1.1 408")  # it made room
        silent = stack.enter_context(connection(strict, "127.0.0.3"))
        half = stack.enter_context(connection(strict, "127.0.0.3"))
        half.sendall(HEAD)
        assert answer(half).startswith(b"HTTP/1.1 408")
        assert answer(silent).startswith(b"HTTP/1.1 408")


def test_an_address_has_so_many_connections_and_a_proxy_more(strict, start, tmp_path):
    options = ("--max-connections-per-address", "20", "--trusted-proxy", "127.0.0.0/29")
    proxied = start("--new", "oldc", *options, data=tmp_path / "other")
    for server, status in ((strict, b"429"), (proxied, b"200")):
        with ExitStack() as stack:
            for _ in range(20):
                live = stack.enter_context(connection(server, "127.0.0.2"))
                live.sendall(EVENTS)
                assert live.recv(15) == b"HTTP/1.1 200 OK"
            plain = stack.enter_context(connection(server, "127.0.0.2"))
            plain.sendall(b"GET /healthz HTTP/1.1\r\nconnection: close\r\n\r\n")
            assert answer(plain).startswith(b"HTTP/1.1 " + status)


def _is_served(server: Server, address: str) -> bool:
    with connection(server, address) as plain:
        plain.sendall(b"GET /healthz HTTP/1.1\r\nconnection: close\r\n\r\n")
        return answer(plain).startswith(b"HTTP/1.1 200")


def test_connections_are_limited_and_descriptors_are_there_for_them(start):
    server = start("--new", "oldc", "--max-connections", "30")
    with ExitStack() as stack:
        for number in range(30):
            live = stack.enter_context(connection(server, f"127.0.0.{number % 2 + 2}"))
            live.sendall(EVENTS)
            assert live.recv(15) == b"HTTP/1.1 200 OK"
        assert answer(stack.enter_context(connection(server))).startswith(b"HTTP/1.1 503")
    wait_until(lambda: _is_served(server, "127.0.0.1"))
    soft, hard = resource.prlimit(start("--new", "oldc", data=server.data / "more").process.pid, resource.RLIMIT_NOFILE)
    assert soft >= 4096 or soft == hard


MANY = b"".join(b"h%d: 1\r\n" % number for number in range(101))
TOO_LARGE = {
    "one header": HEAD + b"x: " + b"a" * 40_000 + b"\r\n\r\n",
    "many headers": HEAD + MANY + b"\r\n",
    "an address": b"GET /" + b"a" * 40_000 + b" HTTP/1.1\r\n\r\n",
}


@pytest.mark.parametrize("case", TOO_LARGE)
def test_heads_are_limited(case, common):
    with connection(common) as plain:
        plain.sendall(TOO_LARGE[case])
        assert answer(plain).startswith(b"HTTP/1.1 431")
    assert common.client().predict([ROW])


def test_a_head_without_end_takes_no_memory(common):
    common.client().predict([ROW])
    before = memory(common)
    chunked = b"POST /healthz HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n0\r\nx: "
    for begin in (HEAD + b"x: ", b"GET /", chunked):
        with connection(common) as plain:
            plain.sendall(begin)
            with pytest.raises((BrokenPipeError, ConnectionResetError)):
                plain.sendall(b"a" * (64 << 20))
    assert memory(common) - before < 16 << 20


def test_idle_connections_and_bodies_that_nobody_reads_end(start):
    server = start("--new", "oldc", "--keep-alive", "0.5", "--header-timeout", "0.5")
    with connection(server) as idle, connection(server) as blank, connection(server) as refused:
        idle.sendall(b"GET /healthz HTTP/1.1\r\n\r\n")
        blank.sendall(b"\r\n")
        refused.sendall(b"GET /healthz HTTP/1.1\r\ncontent-length: 1000000\r\n\r\n ")
        assert answer(idle).startswith(b"HTTP/1.1 200")
        assert answer(blank).startswith(b"HTTP/1.1 408")
        assert answer(refused).count(b"HTTP/1.1") == 1


def test_requests_sent_ahead_are_limited(common):
    with connection(common) as plain:
        plain.sendall(EVENTS)
        plain.sendall(b"GET /healthz HTTP/1.1\r\n\r\n" * 5000)
        assert answer(plain).count(b"HTTP/1.1") <= 17


FULL = b'{"rows":[' + b"{}," * 5_000_000 + b"{}]}", b'{"labels":[' + b"[]," * 5_000_000 + b"[]]}"


@pytest.mark.parametrize("body", FULL, ids=["rows", "labels"])
def test_objects_are_counted_before_they_are_made(body, common):
    client = common.client()
    client.predict([ROW])
    before = memory(common)
    status, found, _ = client.call("POST", "/v1/predict" if b"rows" in body[:10] else "/v1/label", body)
    assert (status, found) == (
        413,
        {"error": "a body may have at most 400000 objects and lists: send fewer rows at a time"},
    )
    assert memory(common) - before < 128 << 20  # 500 MB when they were made


def test_large_bodies_are_unpacked_in_a_thread_and_a_few_at_a_time(monkeypatch):
    def request(size: int) -> Request:
        return Request({}, "", b" " * size, b"")

    async def unpack() -> None:
        assert await request(1000).apart(threading.get_ident) == threading.get_ident()
        assert await request(100_000).apart(threading.get_ident) != threading.get_ident()
        monkeypatch.setattr("thalweg.service.intake.MOST_UNPACKED", 1_000_000)
        intake = Intake(ServeOptions())
        places = [intake.enter(0) for _ in range(3)]
        for place, size in zip(places, (600_000, 600_000, 1000), strict=True):
            place.bytes = size
        await intake.wait_for_turn(places[0])
        second = asyncio.create_task(intake.wait_for_turn(places[1]))
        await intake.wait_for_turn(places[2])  # a small one passes
        assert (second.done(), intake.unpacked) == (False, 600_000)
        intake.leave(places[0])
        await second
        intake.leave(places[1])
        assert intake.unpacked == 0

    asyncio.run(unpack())


def test_responses_that_are_written_whole_are_like_others(common):
    """Those to predictions and labels are, unless they are refused: then they go through the messages of ASGI."""

    def request(body: bytes, more: bytes = b"") -> bytes:
        return HEAD + b"content-type: application/json\r\n%scontent-length: %d\r\n\r\n%s" % (more, len(body), body)

    row = b'{"row": {"x": 1.0}}'
    with connection(common) as plain:  # sent ahead, and answered in their order
        plain.sendall(request(row) + request(b"{") + request(row, b"connection: close\r\n"))
        first, refused, last = _responses(answer(plain))
    assert [each.status[:12] for each in (first, refused, last)] == [b"HTTP/1.1 200", b"HTTP/1.1 422", b"HTTP/1.1 200"]
    assert first.headers.keys() == refused.headers.keys() == last.headers.keys() - {b"connection"}
    without = {b"content-length": b"", b"date": b""}
    assert first.headers | without == refused.headers | without
    assert last.headers[b"connection"] == b"close"
    assert b'"predictions"' in first.body
    assert b'"predictions"' in last.body
    with connection(common) as plain:
        plain.sendall(request(row).replace(b"HTTP/1.1", b"HTTP/1.0"))
        (only,) = _responses(answer(plain))
    assert only.headers[b"connection"] == b"close"


def test_a_request_leaves_no_reference_cycle(tmp_path):
    """The garbage collector took a tenth of a request's time to find two of them."""
    journal = open_journal(tmp_path, None)
    journal.claim()
    journal.prepare()
    make_first(journal, ServeOptions(new="oldc"))
    config = uvicorn.Config(
        build(Service(journal, ServeOptions()), Authorizer([])),
        http=protocol(ServeOptions()),
        lifespan="on",
        log_level="error",
    )
    server = uvicorn.Server(config)

    async def send(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, path: bytes, key: bytes) -> None:
        body = b'{"row": {"x": 1.0}}' if path == b"predict" else b'{"labels": [{"id": "3-0", "label": "a"}]}'
        head = b"POST /v1/%s HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\nidempotency-key: %s\r\n"
        writer.write(head % (path, key) + b"content-length: %d\r\n\r\n%s" % (len(body), body))
        received = await reader.readuntil(b"\r\n\r\n")
        assert received.startswith(b"HTTP/1.1 200")
        await reader.readexactly(int(received.split(b"content-length: ")[1].split()[0]))

    async def play() -> Counter[str]:
        with listening(Address("127.0.0.1", 0)) as listener:
            serving = asyncio.create_task(server.serve([listener]))
            while not server.started:
                await asyncio.sleep(0.005)
            reader, writer = await asyncio.open_connection(*listener.getsockname())
            await send(reader, writer, b"predict", b"first")
            gc.collect()
            gc.freeze()  # what others made before, such as figures, is not the request's
            gc.disable()
            gc.set_debug(gc.DEBUG_SAVEALL)
            try:
                for each in range(5):
                    await send(reader, writer, b"predict", b"predict-%d" % each)
                    await send(reader, writer, b"label", b"label-%d" % each)
                gc.collect()
                left = Counter(type(each).__qualname__ for each in gc.garbage)
            finally:
                gc.set_debug(0)
                gc.garbage.clear()
                gc.unfreeze()
                gc.enable()
            writer.close()
            server.should_exit = True
            await serving
        return left

    left = asyncio.run(play())
    assert not {name: count for name, count in left.items() if count >= 5}


class _Response(NamedTuple):
    status: bytes
    headers: dict[bytes, bytes]
    body: bytes


def _responses(text: bytes) -> list[_Response]:
    found = []
    while text:
        head, _, rest = text.partition(b"\r\n\r\n")
        status, *lines = head.split(b"\r\n")
        headers = dict(line.split(b": ", 1) for line in lines)
        length = int(headers[b"content-length"])
        found.append(_Response(status, headers, rest[:length]))
        text = rest[length:]
    return found
