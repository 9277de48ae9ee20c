"""Ctrl-C and a polite kill: the work in hand is finished first, so that nothing is lost that a checkpoint can keep.

Work that takes longer than `PATIENCE` is cut off instead, as by a kill, and the last checkpoint stands.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
#: Seconds from a signal until the process ends, whatever it is doing; writing a checkpoint may take longer.
PATIENCE = 0.6


class Stopped(BaseException):
    """Asked to stop, between two pieces of work; no `Exception`, so that nothing on the way takes it for an error."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number

    @property
    def exit_code(self) -> int:
        """As shells report an end by a signal."""
        return 128 + self.number


class Stopping:
    """Holds back the first SIGINT or SIGTERM while work is in hand, and raises `Stopped` when it is done.

    While nothing is in hand, as when waiting for rows from a pipe, `Stopped` comes at once. A second signal is not held
    back: it ends the work where it stands, by a `KeyboardInterrupt`. Work that does not end within `PATIENCE` is ended
    with the process, by a thread that hears of the signal while the main thread is inside a compiled call.
    """

    def __init__(self) -> None:
        self._asked: int | None = None
        self._working = False
        self._before: dict[int, Any] = {}
        self._may_end = threading.Event()

    def __enter__(self) -> Stopping:
        if threading.current_thread() is threading.main_thread():  # others cannot, and are not sent any
            self._before = {number: signal.signal(number, self._receive) for number in _SIGNALS}
            self._heard, self._wakeup = socket.socketpair()
            self._wakeup.setblocking(False)
            self._wakeup_before = signal.set_wakeup_fd(self._wakeup.fileno(), warn_on_full_buffer=False)
            self._watcher = threading.Thread(target=self._watch, daemon=True)
            self._watcher.start()
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        if self._before:
            signal.set_wakeup_fd(self._wakeup_before)
            self.take_time()
            self._wakeup.close()
            self._watcher.join()
            self._heard.close()

    def _watch(self) -> None:
        """End the process if it has not stopped in time after the first signal."""
        number = next((byte for byte in iter(lambda: self._heard.recv(1), b"") if byte[0] in _SIGNALS), None)
        if number is not None and not self._may_end.wait(PATIENCE):
            sys.stderr.write("thalweg: stopped during a long step; --resume continues from the last checkpoint\n")
            sys.stderr.flush()
            os._exit(128 + number[0])

    def take_time(self) -> None:
        """The process stops by itself now, however long that takes: to write a checkpoint."""
        self._may_end.set()

    def _receive(self, number: int, frame: FrameType | None) -> None:
        if self._asked is not None:
            raise KeyboardInterrupt
        self._asked = number
        if not self._working:
            raise Stopped(number)

    @contextmanager
    def unbroken(self) -> Iterator[None]:
        """Work that is finished before a signal is heeded."""
        self._working = True
        yield
        self._working = False
        if self._asked is not None:
            raise Stopped(self._asked)

    def finish(self) -> None:
        """What is left is finished, whatever comes: after it there is nothing to stop."""
        self._working = True
