"""Live views of a model, which wait for news of it."""

from __future__ import annotations

import asyncio


class Listeners:
    """Those who wait for news of a model, on the event loop."""

    def __init__(self) -> None:
        self._waiting: dict[str, asyncio.Event] = {}
        self.closed = False

    def tell(self, name: str) -> None:
        """There is something new to see of a model."""
        event = self._waiting.pop(name, None)
        if event is not None:
            event.set()

    async def wait(self, name: str, seconds: float) -> bool:
        """Whether there was news within so many seconds."""
        if self.closed:
            return False
        event = self._waiting.setdefault(name, asyncio.Event())
        try:
            await asyncio.wait_for(event.wait(), seconds)
        except TimeoutError:
            return False
        return True

    async def pause(self, seconds: float) -> None:
        """Wait, but not longer than until `close`."""
        if seconds > 0 and not self.closed:
            await asyncio.sleep(seconds)

    def close(self) -> None:
        self.closed = True
        for name in list(self._waiting):
            self.tell(name)
