"""A Redis stream, read by a consumer group.

Entries have the fields of `thalweg.service.feeds.source`; ``row`` is an object of JSON. Replies are added to the stream
of the same name with ``:replies`` behind it. What a service took and did not acknowledge before it died comes first
when it is back, since it returns under the same name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from thalweg.errors import InvalidParameter
from thalweg.service.feeds.source import MOST, WAIT, Message, Source, SourceLost, of_fields

#: The group, and its one consumer: a journal has one writer.
GROUP = CONSUMER = "thalweg"
#: Replies kept, about: readers are expected to take them.
MOST_REPLIES = 1_000_000


def split(address: str) -> tuple[str, str]:
    """The address of the database, and the name of the stream in it.

    Examples
    --------
    >>> split("redis://localhost:6379/rows"), split("redis://localhost/2/rows")
    (('redis://localhost:6379/0', 'rows'), ('redis://localhost/2', 'rows'))
    """
    parts = urlsplit(address)
    database, _, stream = parts.path.strip("/").rpartition("/")
    if not stream or not parts.hostname or (database and not database.isdigit()):
        raise InvalidParameter.of_option("from", "name a stream, as in redis://localhost:6379/0/rows", address)
    return parts._replace(path=f"/{database or 0}").geturl(), stream


class RedisStream(Source):
    """The entries of one stream, at an address as in ``redis://localhost:6379/0/rows``: database 0, stream ``rows``."""

    def __init__(self, address: str) -> None:
        from redis import asyncio as redis

        database, self._stream = split(address)
        self._redis: Any = redis.from_url(database)
        self.name = f"redis:{self._stream}"
        #: Where to read on among those taken and not acknowledged; None once there are no more of them.
        self._left: str | None = "0"
        self._joined = False

    async def take(self) -> Sequence[Message]:
        """First what was left by an earlier run, then what is new."""
        with _lost():
            if not self._joined:
                await self._join()
            if self._left is not None:
                entries = await self._read(self._left, block=None)
                self._left = entries[-1].place if entries else None
                if entries:
                    return entries
            return await self._read(">", block=int(1000 * WAIT))

    async def reply(self, replies: Sequence[Mapping[str, str]]) -> None:
        """As entries of the stream of replies."""
        with _lost():
            pipeline = self._redis.pipeline(transaction=False)
            for fields in replies:
                pipeline.xadd(f"{self._stream}:replies", dict(fields), maxlen=MOST_REPLIES, approximate=True)
            await pipeline.execute()

    async def acknowledge(self, messages: Sequence[Message]) -> None:
        with _lost():
            await self._redis.xack(self._stream, GROUP, *(message.place for message in messages))

    async def close(self) -> None:
        with _lost():
            await self._redis.aclose()

    async def _join(self) -> None:
        from redis.exceptions import ResponseError

        try:
            await self._redis.xgroup_create(self._stream, GROUP, id="0", mkstream=True)
        except ResponseError as error:
            if not str(error).startswith("BUSYGROUP"):  # it is there already
                raise
        self._joined = True

    async def _read(self, begin: str, block: int | None) -> list[Message]:
        reply = await self._redis.xreadgroup(GROUP, CONSUMER, {self._stream: begin}, count=MOST, block=block)
        entries = [entry for _, entries in reply or () for entry in entries]
        return [of_fields(place.decode(), values or {}) for place, values in entries]


@contextmanager
def _lost() -> Iterator[None]:
    from redis.exceptions import RedisError

    try:
        yield
    except (RedisError, OSError) as error:
        raise SourceLost(f"the Redis stream cannot be used: {error}") from error
