"""A stream by its address."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable

from thalweg.errors import InvalidParameter, MissingExtra
from thalweg.service.feeds.source import Source


def opener(address: str) -> Callable[[], Source]:
    """What opens the stream of an address; an error at once where it names none, or what reads it is not installed.

    Examples
    --------
    >>> callable(opener("redis://localhost:6379/0/rows"))
    True
    >>> opener("rows.csv")
    Traceback (most recent call last):
        ...
    thalweg.errors.InvalidParameter: --from must begin with redis://, rediss:// or kafka://, got 'rows.csv'
    """
    if address.startswith(("redis://", "rediss://")):
        from thalweg.service.feeds import redis_stream

        redis_stream.split(address)
        _require("redis", "redis", "reading a Redis stream")
        return lambda: redis_stream.RedisStream(address)
    if address.startswith("kafka://"):
        from thalweg.service.feeds import kafka_topic

        kafka_topic.split(address)
        _require("confluent_kafka", "kafka", "reading a topic of Kafka")
        return lambda: kafka_topic.KafkaTopic(address)
    raise InvalidParameter.of_option("from", "begin with redis://, rediss:// or kafka://", address)


def _require(library: str, extra: str, purpose: str) -> None:
    if importlib.util.find_spec(library) is None:
        raise MissingExtra.of(library.replace("_", "-"), extra, purpose)
