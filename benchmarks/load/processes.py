"""Servers of this machine, started for a benchmark and stopped after it."""

from __future__ import annotations

import http.client
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

#: Seconds that a server may take to start.
PATIENCE = 120.0


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 0.1).close()
    except OSError:
        return False
    return True


@contextmanager
def started(arguments: Sequence[str], port: int) -> Iterator[subprocess.Popen[bytes]]:
    """A Python process that listens, until the block ends."""
    process = subprocess.Popen([sys.executable, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        latest = time.monotonic() + PATIENCE
        while not _listens(port):
            if process.poll() is not None or time.monotonic() > latest:
                raise RuntimeError(f"{' '.join(arguments)} does not listen")
            time.sleep(0.1)
        yield process
    finally:
        process.terminate()
        process.wait(60)


def processor_seconds(process: subprocess.Popen[bytes]) -> float:
    """Processor time that a process has taken, which does not depend on what else the machine does."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def post(connection: http.client.HTTPConnection, path: str, body: bytes, kind: str = "application/json") -> bytes:
    """One request over a connection that stays open; anything but success is an error."""
    connection.request("POST", path, body, {"Content-Type": kind})
    answer = connection.getresponse()
    content = answer.read()
    if answer.status >= 300:
        raise RuntimeError(f"{path} answered {answer.status}: {content[:200].decode(errors='replace')}")
    return content
