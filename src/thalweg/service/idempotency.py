"""Idempotency keys: a request that is sent again gets the first response again, and is not done again.

The response is in the journal, written together with what was done. Only what is under way is kept in memory.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterable, Sequence

from thalweg.errors import JournalError
from thalweg.service.commands import HttpResponse, Refused
from thalweg.service.journal.records import StoredResponse
from thalweg.service.journal.sql import SqlJournal


class IdempotencyKeys:
    """For the event loop."""

    def __init__(self, reader: SqlJournal) -> None:
        self._reader = reader
        #: Called with each key before it is committed.
        self.filter = KeyFilter()
        #: Keys to be looked up together, once the look-up before them is done.
        self._asked: dict[str, asyncio.Future[StoredResponse | None]] = {}
        self._looking: asyncio.Task[None] | None = None
        self._under_way: dict[str, tuple[bytes, asyncio.Future[HttpResponse]]] = {}

    async def once(
        self,
        key: str,
        request: bytes,
        act: Callable[[], Awaitable[HttpResponse]],
        other: str = "the Idempotency-Key was used before, with another request",
    ) -> HttpResponse:
        """Do something once for all requests with this key.

        ``request`` is a fingerprint of what is asked: the same key with an ``other`` request is `Refused`. ``act`` does
        it, and sees to it that the response is in the journal.
        """
        while True:
            if key in self._under_way or self.filter.may_have(key):  # most keys are new
                if (known := await self._known(key)) is not None:
                    asked, response = known
                    if asked not in (request, b""):  # none is known of a request whose rows were erased
                        raise Refused(409, other)
                    return response
                if key in self._under_way:
                    continue
            mine = asyncio.get_running_loop().create_future()
            self._under_way[key] = request, mine
            try:
                response = await act()
                mine.set_result(response)
                return response
            except BaseException as error:
                mine.set_exception(
                    error
                    if isinstance(error, Refused)
                    else Refused(503, "the request was not processed: send it again")
                )
                mine.exception()  # nobody else may have waited for it
                raise
            finally:
                del self._under_way[key]

    async def recalled(self, keys: Sequence[str]) -> dict[str, StoredResponse]:
        """Responses that were given under these keys before."""
        replies = await asyncio.gather(*(self._looked_up(key) for key in keys))
        return {kept.key: kept for kept in replies if kept is not None}

    async def _known(self, key: str) -> tuple[bytes, HttpResponse] | None:
        """What was asked with a key, and the response."""
        if (under_way := self._under_way.get(key)) is not None:
            asked, response = under_way
            return asked, await asyncio.shield(response)
        kept = await self._looked_up(key)
        return None if kept is None else (kept.request, HttpResponse(kept.status, kept.media, kept.body))

    async def _looked_up(self, key: str) -> StoredResponse | None:
        if not self.filter.may_have(key):
            return None
        if key not in self._asked:
            self._asked[key] = asyncio.get_running_loop().create_future()
        if self._looking is None:
            self._looking = asyncio.create_task(self._look_up())
        return await asyncio.shield(self._asked[key])

    async def _look_up(self) -> None:
        """Keys that come together are looked up together, in a thread; meanwhile the next ones gather."""
        while self._asked:
            await asyncio.sleep(0)  # what has arrived meanwhile is read
            asked, self._asked = self._asked, {}
            try:
                replies = await asyncio.to_thread(self._recall, list(asked))
            except Exception as error:
                for future in asked.values():
                    future.set_exception(error)
                    future.exception()  # whoever asked may be gone
            else:
                for key, future in asked.items():
                    future.set_result(replies.get(key))
        self._looking = None

    def _recall(self, keys: Sequence[str]) -> dict[str, StoredResponse]:
        try:
            return self._reader.recall(keys)
        except JournalError:
            self._reader.connect()
            return self._reader.recall(keys)

    def load(self, reader: SqlJournal) -> None:
        """Read which keys the journal has, in a thread; until then each is looked up."""
        try:
            self.filter.complete(reader.keys())
        except JournalError:
            pass  # they are looked up
        finally:
            reader.close()

    def close(self) -> None:
        self._reader.close()


_BITS = 25
_MASK = (1 << _BITS) - 1


class KeyFilter:
    """Keys are added by the thread that writes them, and asked for by others.

    Examples
    --------
    >>> keys = KeyFilter()
    >>> keys.may_have("a")  # until it is complete, anything may be there
    True
    >>> keys.complete(["a"])
    >>> keys.may_have("a"), keys.may_have("b")
    (True, False)
    """

    def __init__(self) -> None:
        self._bits = bytearray(1 << _BITS - 3)
        self._is_complete = False
        self._adding = threading.Lock()

    def add(self, key: str) -> None:
        """Before the key is committed, so that none is ever unknown."""
        hashed = hash(key)
        with self._adding:  # two threads that change one byte would lose a bit
            for at in (hashed & _MASK, hashed >> _BITS & _MASK):
                self._bits[at >> 3] |= 1 << (at & 7)

    def complete(self, earlier: Iterable[str]) -> None:
        """Add the keys that were in the journal before the first one was added here."""
        for key in earlier:
            self.add(key)
        self._is_complete = True

    def may_have(self, key: str) -> bool:
        if not self._is_complete:
            return True
        hashed = hash(key)
        first, second = hashed & _MASK, hashed >> _BITS & _MASK
        return bool(self._bits[first >> 3] >> (first & 7) & self._bits[second >> 3] >> (second & 7) & 1)
