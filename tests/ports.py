"""Ports for servers that cannot choose one themselves, or that must come back at the same one."""

from __future__ import annotations

import socket
import sys


class ReservedPort:
    """A free port of 127.0.0.1 that no other process is given until it is released.

    The reservation is a bound socket that does not listen, with SO_REUSEADDR: Linux skips its port when it chooses one
    for somebody else, but a server that sets SO_REUSEADDR too, as servers do, can listen on it. Other systems would
    refuse the server, so there the port is only known to have been free.
    """

    def __init__(self) -> None:
        self._held = socket.socket()
        self._held.bind(("127.0.0.1", 0))
        self._held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.number: int = self._held.getsockname()[1]
        if sys.platform != "linux":
            self._held.close()

    def release(self) -> None:
        """Give the port back."""
        self._held.close()

    def __enter__(self) -> ReservedPort:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()
