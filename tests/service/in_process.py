"""A service in this process, without its protocol."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from thalweg.service.journal.databases import open_journal
from thalweg.service.journal.verification import verified
from thalweg.service.learning.compaction import Compacted, compact, cut_points
from thalweg.service.learning.rebuild import rebuild
from thalweg.service.options import Amount, ServeOptions
from thalweg.service.server import make_first
from thalweg.service.service import Service

FIRST = ServeOptions(new="oldc")


def with_service(
    where: Path | str, scenario: Callable[[Service], Awaitable[None]], options: ServeOptions | None = None
) -> None:
    """Play a scenario on a service that is started and stopped, with its journal in a folder or a database."""
    journal = open_journal(where, None) if isinstance(where, Path) else open_journal(None, where)
    journal.claim()
    journal.prepare()
    make_first(journal, options if options is not None and (options.new or options.model) else FIRST)

    async def play() -> None:
        service = Service(journal, options or ServeOptions())
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


def records_in(folder: Path) -> int:
    journal = open_journal(folder, None, read_only=True)
    try:
        return verified(journal).records
    finally:
        journal.close()


def erase(folder: Path, keep: str) -> Compacted:
    """Compact the journal in a folder."""
    journal = open_journal(folder, None)
    journal.claim()
    journal.prepare()
    try:
        return compact(journal, cut_points(journal, Amount.of(keep, "keep", "seconds", "rows", "bytes")))
    finally:
        journal.close()


async def teach(service: Service, *labels: str) -> int:
    asked = await service.predict("default", [{"x": float(i)} for i in range(len(labels))])
    done = await service.label("default", [(f"{asked.seq}-{i}", label) for i, label in enumerate(labels)])
    assert done.outcome is not None
    return len(done.outcome.learned)
