"""Ctrl-C and a polite kill: the work in hand is finished first, so that nothing is lost that a checkpoint can keep."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


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
    back: it ends the work where it stands, by a `KeyboardInterrupt`.
    """

    def __init__(self) -> None:
        self._asked: int | None = None
        self._working = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Stopping:
        if threading.current_thread() is threading.main_thread():  # others cannot, and are not sent any
            self._before = {number: signal.signal(number, self._receive) for number in _SIGNALS}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

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
