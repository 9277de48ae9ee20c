"""From a stream into the service: each message is done once, and acknowledged only after it is in the journal.

The messages that come together are asked together, so one commit carries many: first all rows, then all labels, in
their order. A message's key is its place in the stream. What is delivered again, because a service died between the
journal's commit and its word to the stream, is known by that key and not done twice.
"""

from __future__ import annotations

import asyncio
import hashlib
import importlib.util
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any

import orjson

from thalweg.client.protocol import DEFAULT_MODEL, JSON
from thalweg.errors import InvalidParameter, MissingExtra
from thalweg.service.commands import HttpResponse, Key, Label, Predict, Refused
from thalweg.service.feeds.source import Message, Source, SourceLost
from thalweg.service.journal.records import row_id
from thalweg.service.service import Service

_LOG = logging.getLogger("thalweg.service")
#: Seconds before a lost stream is opened again, doubled up to the longest.
_FIRST_WAIT, _LONGEST_WAIT = 0.5, 30.0
#: Seconds before what was refused for the moment is tried again.
_AGAIN = 1.0
_NEITHER = "a message must have a row, or a label with an id or the place of its row"


async def feed(service: Service, opened: Callable[[], Source]) -> None:
    """Read a stream until cancelled; a lost one is opened again."""
    wait = _FIRST_WAIT
    while True:
        try:
            async with opened() as source:
                handling = MessageHandler(service, source)
                with service.counts.feed(source.name) as counted:
                    while True:
                        messages = await source.take()
                        counted.up = True
                        counted.refused += await handling.handle(messages)
                        counted.read += len(messages)
                        wait = _FIRST_WAIT
        except SourceLost as lost:
            _LOG.warning("%s; trying again in %g s", lost, wait)
        except Exception:
            _LOG.exception("a stream could not be read, which is a bug; trying again in %g s", wait)
        await asyncio.sleep(wait)
        wait = min(2 * wait, _LONGEST_WAIT)


class MessageHandler:
    """What is done with the messages of a stream."""

    def __init__(self, service: Service, source: Source) -> None:
        self._service = service
        self._source = source

    async def handle(self, messages: Sequence[Message]) -> int:
        """Predict, learn, publish the replies, and only then acknowledge; how many were refused."""
        if not messages:
            return 0
        rows = [message for message in messages if "row" in message.fields]
        replies = await asyncio.gather(*(self._with_retries(self._predict, message) for message in rows))
        wrong = {reply["of"] for reply in replies if "error" in reply}
        ids = {self._key(reply["of"]): reply["id"] for reply in replies if "id" in reply}
        labels = [message for message in messages if "label" in message.fields and message.place not in wrong]
        learn = partial(self._learn, ids)
        learned = await asyncio.gather(*(self._with_retries(learn, message) for message in labels))
        strange = [
            {"of": message.place, "error": message.fault or _NEITHER}
            for message in messages
            if not message.fields.keys() & {"row", "label"}
        ]
        refused = [reply for reply in learned if "error" in reply]
        await self._source.reply([*replies, *refused, *strange])
        await self._source.acknowledge(messages)
        return len(wrong) + len(refused) + len(strange)

    def _key(self, *place: str) -> str:
        """No request can have such a key: those of requests hold no tabulator."""
        return "\t".join([self._source.name, *place])

    async def _with_retries(
        self, act: Callable[[Message], Awaitable[dict[str, Any]]], message: Message
    ) -> dict[str, str]:
        """What is said of a message; a refusal that is not its fault is waited out, and may have been none."""
        while True:
            try:
                reply = await act(message)
            except Refused as refused:
                if refused.status != 429 and refused.status < 500:
                    return {"of": message.place, "error": refused.sentence}
                await asyncio.sleep(refused.retry_after or _AGAIN)
            else:
                return {"of": message.place} | {key: str(value) for key, value in reply.items() if value is not None}

    async def _predict(self, message: Message) -> dict[str, Any]:
        row, model = message.fields["row"], _model_of(message)
        if not isinstance(row, dict):
            raise Refused(422, "a row must be an object of columns and values")
        act = partial(self._service.predict, model, [row])
        return await self._once(self._key(message.place), [model, row], act, _predicted)

    async def _learn(self, ids: Mapping[str, str], message: Message) -> dict[str, Any]:
        fields, model = message.fields, _model_of(message)
        label = self._service.read_label(model, fields["label"])
        identity = str(fields.get("id") or await self._id_of(_place_of_row(message), ids))
        revise = str(fields.get("revise", "")).lower() == "true"
        act = partial(self._service.label, model, [(identity, label)], revise)
        outcome = await self._once(self._key(message.place, "label"), [model, identity, label, revise], act, _labelled)
        for what, why in _WHY.items():
            if outcome.get(what):
                raise Refused(409, f"the label of {identity} was not learned: {why}")
        return outcome

    async def _id_of(self, place: str, ids: Mapping[str, str]) -> str:
        """The id under which a row was predicted, in this batch of messages or before."""
        key = self._key(place)
        if key in ids:
            return ids[key]
        known = await self._service.keys.recalled([key])
        reply = orjson.loads(known[key].body) if key in known else {}
        if "id" not in reply:  # or it was erased
            raise Refused(404, f"no row came at {place or 'an unnamed place'}")
        return str(reply["id"])

    async def _once(
        self, key: str, content: Any, act: Callable[[Key], Awaitable[Any]], written: Callable[[Any], HttpResponse]
    ) -> dict[str, Any]:
        """The reply to a message, or the one it had when it came before."""
        try:
            fingerprint = hashlib.sha256(orjson.dumps(content, option=orjson.OPT_SORT_KEYS)).digest()
        except orjson.JSONEncodeError as error:  # lists may be read deeper than they are written
            raise Refused(422, f"the message cannot be kept: {error}") from error

        async def first_time() -> HttpResponse:
            return written(await act(Key(key, fingerprint, written)))

        other = "another message came from this place before: was the stream made anew?"
        response = await self._service.keys.once(key, fingerprint, first_time, other)
        reply: dict[str, Any] = orjson.loads(response.body)
        return reply


_WHY = {
    "unknown": "no row has this id",
    "expired": "its row is no longer kept",
    "conflict": "it has another label already; 'revise' allows to change it",
}


def _place_of_row(message: Message) -> str:
    """No key of anything else can be meant by it, since those hold a tabulator; and no journal stumbles over it."""
    place = message.place if "row" in message.fields else str(message.fields.get("of", ""))
    return place if place.isprintable() else ""


def _model_of(message: Message) -> str:
    return str(message.fields.get("model") or DEFAULT_MODEL)


def _predicted(command: Predict) -> HttpResponse:
    return HttpResponse(200, JSON, orjson.dumps({"id": row_id(command.seq, 0)} | command.response.message()))


def _labelled(command: Label) -> HttpResponse:
    outcome = command.outcome
    assert outcome is not None
    reply = {"unknown": bool(outcome.unknown), "expired": bool(outcome.expired), "conflict": bool(outcome.conflicts)}
    return HttpResponse(200, JSON, orjson.dumps(reply))


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
