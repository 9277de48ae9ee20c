"""A service in this process, without its protocol."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from thalweg.service.journal.databases import open_journal
from thalweg.service.learning.compaction import Compacted, compact
from thalweg.service.learning.rebuild import rebuild
from thalweg.service.options import Expiry, ServeOptions
from thalweg.service.server import make_first
from thalweg.service.service import Service

FIRST = ServeOptions(new="oldc")


def with_service(folder: Path, scenario: Callable[[Service], Awaitable[None]], first: ServeOptions = FIRST) -> None:
    """Play a scenario on a service that is started and stopped; its first model is made by these options."""
    journal = open_journal(folder, None)
    journal.claim()
    journal.prepare()
    make_first(journal, first)

    async def play() -> None:
        service = Service(journal, ServeOptions())
        await service.start()
        await scenario(service)
        await service.stop()

    asyncio.run(play())


def state_of(folder: Path, **more: Any) -> Any:
    """A snapshot of the model as the journal in a folder says it is; see `rebuild`."""
    journal = open_journal(folder, None, read_only=True)
    try:
        return rebuild(journal, "default", **more).model.snapshot()
    finally:
        journal.close()


def erase(folder: Path, keep: str) -> Compacted:
    """Compact the journal in a folder."""
    journal = open_journal(folder, None)
    journal.claim()
    journal.prepare()
    try:
        return compact(journal, Expiry.of(keep))
    finally:
        journal.close()


async def teach(service: Service, *labels: str) -> int:
    asked = await service.predict("default", [{"x": float(i)} for i in range(len(labels))])
    done = await service.label("default", [(f"{asked.seq}-{i}", label) for i, label in enumerate(labels)])
    assert done.outcome is not None
    return len(done.outcome.learned)
