"""Idempotency keys: a request that is sent again is answered as the first time, and not done again.

What was answered is in the journal, written together with what was done. Only what is under way is kept in memory.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from thalweg.errors import JournalError
from thalweg.service.commands import Refused
from thalweg.service.journal.records import StoredResponse
from thalweg.service.journal.sql import SqlJournal


class IdempotencyKeys:
    """For the event loop."""

    def __init__(self, reader: SqlJournal) -> None:
        self._reader = reader
        self._one_at_a_time = asyncio.Lock()
        self._under_way: dict[str, asyncio.Future[StoredResponse]] = {}

    async def once(self, key: str, request: bytes, act: Callable[[], Awaitable[StoredResponse]]) -> StoredResponse:
        """Do something once for all requests with this key.

        ``request`` is a fingerprint of what is asked: the same key with another request is `Refused`. ``act`` does it,
        and sees to it that the answer is in the journal.
        """
        while (found := await self._known(key)) is None:
            if key in self._under_way:
                continue
            mine = self._under_way[key] = asyncio.get_running_loop().create_future()
            try:
                found = await act()
                mine.set_result(found)
                break
            except BaseException as error:
                mine.set_exception(error if isinstance(error, Refused) else Refused(503, "the request was not done"))
                mine.exception()  # nobody else may have waited for it
                raise
            finally:
                del self._under_way[key]
        if found.request != request:
            raise Refused(409, "the Idempotency-Key was used before, with another request")
        return found

    async def recalled(self, keys: Sequence[str]) -> dict[str, StoredResponse]:
        """What was answered under these keys before, where anything was."""
        async with self._one_at_a_time:
            found = await asyncio.to_thread(lambda: [self._recall(key) for key in keys])
        return {kept.key: kept for kept in found if kept is not None}

    async def _known(self, key: str) -> StoredResponse | None:
        if (under_way := self._under_way.get(key)) is not None:
            return await asyncio.shield(under_way)
        async with self._one_at_a_time:
            return await asyncio.to_thread(self._recall, key)

    def _recall(self, key: str) -> StoredResponse | None:
        try:
            return self._reader.recall(key)
        except JournalError:
            self._reader.connect()
            return self._reader.recall(key)

    def close(self) -> None:
        self._reader.close()
