"""A bar on the terminal for work that turns out to take long."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

#: Work done within this many seconds shows nothing.
PATIENCE = 2.0


@contextmanager
def bar(label: str, wanted: bool) -> Iterator[Callable[[float], None]]:
    """A function to tell the share done, from 0 to 1; draws on standard error if that is a terminal."""
    if not (wanted and sys.stderr.isatty()):
        yield lambda share: None
        return
    from rich.console import Console
    from rich.progress import Progress

    begun, drawn = time.monotonic(), Progress(console=Console(stderr=True), transient=True)
    task = drawn.add_task(label, total=1.0)

    def tell(share: float) -> None:
        if not drawn.live.is_started and time.monotonic() - begun > PATIENCE:
            drawn.start()
        drawn.update(task, completed=share)

    try:
        yield tell
    finally:
        drawn.stop()
