"""A topic of Kafka, whose offsets are kept by a consumer group.

A value is an object of JSON with the fields of `thalweg.service.feeds.source`. Replies are sent to the topic of the
same name with ``-replies`` behind it. Offsets are committed only after the journal's commit.

A journal has one writer, so all partitions are ours and the group never shares them out: a service that was killed goes
on at once, without waiting until the brokers miss it. A row and its label should be in one partition, or the label may
come first.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import parse_qs, urlsplit

from thalweg.errors import InvalidParameter
from thalweg.service.feeds.source import MOST, WAIT, Message, Source, SourceLost, of_object

GROUP = "thalweg"
#: Seconds to wait for the brokers, and between looks for new partitions.
_PATIENCE, _LOOK_AGAIN = 30.0, 60.0


def split(address: str) -> tuple[str, str, str]:
    """The brokers, the topic and the group.

    Examples
    --------
    >>> split("kafka://one:9092,two:9092/rows"), split("kafka://one:9092/rows?group=trial")[2]
    (('one:9092,two:9092', 'rows', 'thalweg'), 'trial')
    """
    parts = urlsplit(address)
    topic = parts.path.strip("/")
    if not parts.netloc or not topic or "/" in topic:
        raise InvalidParameter.of_option("from", "name a topic, as in kafka://localhost:9092/rows", address)
    return parts.netloc, topic, parse_qs(parts.query).get("group", [GROUP])[-1]


class KafkaTopic(Source):
    """The messages of one topic, at an address as in ``kafka://localhost:9092/rows``."""

    def __init__(self, address: str) -> None:
        import confluent_kafka as kafka

        brokers, self._topic, group = split(address)
        self._kafka = kafka
        self._consumer = kafka.Consumer(
            {
                "bootstrap.servers": brokers,
                "group.id": group,
                "enable.auto.commit": False,
                "auto.offset.reset": "earliest",
                "log_level": 3,
            }
        )
        self._producer = kafka.Producer({"bootstrap.servers": brokers, "acks": "all", "log_level": 3})
        self._partitions: set[int] = set()
        self._looked = -_LOOK_AGAIN
        self.name = f"kafka:{self._topic}"

    async def take(self) -> Sequence[Message]:
        if time.monotonic() >= self._looked + _LOOK_AGAIN:
            await self._in_thread(self._look)
        records = await self._in_thread(self._consumer.consume, MOST, WAIT)
        messages = []
        for message in records:
            if message.error() is None:
                messages.append(of_object(f"{message.partition()}:{message.offset()}", message.value() or b""))
            elif message.error().code() != self._kafka.KafkaError._PARTITION_EOF:
                raise SourceLost(f"the topic of Kafka cannot be read: {message.error()}")
        return messages

    async def reply(self, replies: Sequence[Mapping[str, str]]) -> None:
        """To the topic of replies, and on the brokers' disks before it returns."""
        for fields in replies:
            self._producer.produce(f"{self._topic}-replies", json.dumps(dict(fields)).encode(), key=fields["of"])
        left = await self._in_thread(self._producer.flush, _PATIENCE)
        if left:
            raise SourceLost(f"{left} predictions could not be sent to Kafka")

    async def acknowledge(self, messages: Sequence[Message]) -> None:
        """By the offset after the last message of each partition."""
        after: dict[int, int] = {}
        for message in messages:
            partition, offset = map(int, message.place.split(":"))
            after[partition] = max(after.get(partition, 0), offset + 1)
        offsets = [self._kafka.TopicPartition(self._topic, *place) for place in after.items()]
        await self._in_thread(lambda: self._consumer.commit(offsets=offsets, asynchronous=False))

    async def close(self) -> None:
        await self._in_thread(self._consumer.close)

    def _look(self) -> None:
        """Take on the partitions that are new, each from where the group left it."""
        listed = set(self._consumer.list_topics(self._topic, timeout=_PATIENCE).topics[self._topic].partitions)
        if not listed:
            raise SourceLost(f"there is no topic {self._topic!r} of Kafka yet")
        begin = self._kafka.OFFSET_STORED
        new = [self._kafka.TopicPartition(self._topic, number, begin) for number in listed - self._partitions]
        if new:
            self._consumer.incremental_assign(new)
        self._partitions, self._looked = listed, time.monotonic()

    async def _in_thread(self, act: Any, *arguments: Any) -> Any:
        try:
            return await asyncio.to_thread(act, *arguments)
        except self._kafka.KafkaException as error:
            raise SourceLost(f"the topic of Kafka cannot be used: {error}") from error
