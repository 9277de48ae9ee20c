"""Ctrl-C and a polite kill: the work in hand is finished first, so that nothing is lost that a checkpoint can keep.

Every command ends within two seconds of a signal, whatever it is doing. Work that takes longer than `PATIENCE` is cut
off, as by a kill, by a compiled thread: it needs no lock of the interpreter, which may be held for long.
"""

from __future__ import annotations

import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from thalweg._stopping import allow, leave, watch

#: Windows sends SIGBREAK where others send SIGTERM.
_SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGBREAK") if hasattr(signal, name))
#: Seconds from a signal until the process ends: while it is at work, and while it writes a last checkpoint.
PATIENCE, LAST_PATIENCE = 0.6, 1.7
_CUT_OFF = "thalweg: stopped during a long step"


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
    back: it ends the work where it stands, by a `KeyboardInterrupt`. Until it is entered it hears nothing.
    """

    def __init__(self) -> None:
        self._asked: int | None = None
        self._working = False
        self._before: dict[int, Any] = {}
        self._patience, self._message = PATIENCE, f"{_CUT_OFF}\n"

    def __enter__(self) -> Stopping:
        global _active
        if threading.current_thread() is threading.main_thread():  # others cannot, and are not sent any
            self._before = {number: signal.signal(number, self._receive) for number in _SIGNALS}
            self._heard, self._wakeup = socket.socketpair()
            self._wakeup.setblocking(False)
            self._wakeup_before = signal.set_wakeup_fd(self._wakeup.fileno(), warn_on_full_buffer=False)
            watch(self._heard.fileno(), self._patience, self._message)
            _active = self
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None or self._asked is None:
            self.release()
        elif self._before:  # the process ends: other threads must not hold it up
            allow(LAST_PATIENCE, "")

    def release(self) -> None:
        """Leave signals to what handled them before, or to what handles them next."""
        global _active
        if self._before:
            for number, handler in self._before.items():
                signal.signal(number, handler)
            signal.set_wakeup_fd(self._wakeup_before)
            self._wakeup.close()
            leave()
            self._heard.close()
            self._before = {}
            _active = None

    def can_resume(self) -> None:
        """From now on the work can be resumed, which is said where it is cut off."""
        self._message = f"{_CUT_OFF}; --resume continues from the last checkpoint\n"
        allow(self._patience, self._message)

    def take_time(self) -> None:
        """A last checkpoint is written: that may take longer than other work."""
        self._patience = LAST_PATIENCE
        allow(self._patience, self._message)

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


_active: Stopping | None = None


def stopping() -> Stopping:
    """What handles the signals of this process; one that hears nothing where it is not a command's."""
    return _active or Stopping()
