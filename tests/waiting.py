"""How tests wait for other processes: for an event, never for a length of time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

Value = TypeVar("Value")

#: Seconds after which a test gives up. Only a failure takes that long, on any machine and beside any load.
PATIENCE = 600.0

#: Script for a page: resolves when all that was asked for before has been laid out and drawn.
NEXT_FRAMES = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())))"


def wait_until(condition: Callable[[], Value], pause: float = 0.02) -> Value:
    """Call the condition until it is true, and return its value; an `AssertionError` after `PATIENCE` seconds.

    Parameters
    ----------
    condition : callable
        Called without arguments.
    pause : float
        Seconds between two calls.
    """
    until = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < until, f"the condition was not met within {PATIENCE:.0f} s"
        time.sleep(pause)
    return found
