"""From a stream into the service: each message is done once, and acknowledged only after it is in the journal.

The messages that come together are asked together, so one commit carries many: first all rows, then all labels, in
their order. A message's key is its place in the stream. What is delivered again, because a service died between the
journal's commit and its word to the stream, is known by that key and not done twice.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Callable, Sequence
from typing import Any

import orjson

from thalweg.serve.feeds.source import Message, Source, SourceLost
from thalweg.serve.http.exchange import JSON
from thalweg.serve.http.labelling import label_text
from thalweg.serve.journal.bodies import NO_ANSWER
from thalweg.serve.journal.record import Kept
from thalweg.serve.ledger import row_id
from thalweg.serve.refusal import Refused
from thalweg.serve.service import DEFAULT, Service
from thalweg.serve.work import Answer, Key, Label, Predict

_LOG = logging.getLogger("thalweg.serve")
#: Seconds before a lost stream is opened again, doubled up to the longest.
_FIRST_WAIT, _LONGEST_WAIT = 0.5, 30.0
#: Seconds before what was refused for the moment is tried again.
_AGAIN = 1.0


async def feed(service: Service, opened: Callable[[], Source]) -> None:
    """Read a stream until cancelled; a lost one is opened again.

    Parameters
    ----------
    service : Service
        Answers and learns.
    opened : callable
        Opens the stream.
    """
    wait = _FIRST_WAIT
    while True:
        try:
            async with opened() as source:
                handling = Handling(service, source)
                while True:
                    await handling.handle(await source.take())
                    wait = _FIRST_WAIT
        except SourceLost as lost:
            _LOG.warning("%s; trying again in %g s", lost, wait)
        except Exception:
            _LOG.exception("a stream could not be read, which is a bug; trying again in %g s", wait)
        await asyncio.sleep(wait)
        wait = min(2 * wait, _LONGEST_WAIT)


class Handling:
    """What is done with the messages of a stream."""

    def __init__(self, service: Service, source: Source) -> None:
        self._service = service
        self._source = source

    async def handle(self, messages: Sequence[Message]) -> None:
        """Answer, learn, publish what was said, and only then acknowledge."""
        if not messages:
            return
        rows = [message for message in messages if "row" in message.fields]
        answers = await asyncio.gather(*(self._patiently(self._answer, message) for message in rows))
        without = {told["of"] for told in answers if "error" in told}
        labels = [message for message in messages if "label" in message.fields and message.place not in without]
        learned = await asyncio.gather(*(self._patiently(self._learn, message) for message in labels))
        strange = [
            {"of": message.place, "error": "a message must have a row, or a label with an id or the place of its row"}
            for message in messages
            if not message.fields.keys() & {"row", "label"}
        ]
        refused = [told for told in learned if "error" in told]
        await self._source.reply([*answers, *refused, *strange])
        await self._source.acknowledge(messages)

    def _key(self, *place: str) -> str:
        """No request can have such a key: those of requests hold no tabulator."""
        return "\t".join([self._source.name, *place])

    async def _patiently(self, act: Callable[[Message], Any], message: Message) -> dict[str, str]:
        """What is said of a message; a refusal for the moment is waited out."""
        while True:
            try:
                told: dict[str, Any] = await act(message)
            except Refused as refused:
                if refused.status not in (429, 503):
                    return {"of": message.place, "error": refused.sentence}
                await asyncio.sleep(refused.retry_after or _AGAIN)
            else:
                return {"of": message.place} | {key: str(value) for key, value in told.items() if value is not None}

    async def _answer(self, message: Message) -> dict[str, Any]:
        row, model = message.fields["row"], _model_of(message)
        if not isinstance(row, dict):
            raise Refused(422, "a row must be an object of columns and values")

        async def act(key: Key) -> Predict:
            return await self._service.predict(model, [row], key)

        return await self._once(self._key(message.place), [model, row], act, _answered)

    async def _learn(self, message: Message) -> dict[str, Any]:
        fields, model = message.fields, _model_of(message)
        label = label_text(fields["label"], 0)
        identity = fields.get("id") or await self._id_of(
            message.place if "row" in fields else str(fields.get("of", ""))
        )
        revise = str(fields.get("revise", "")).lower() == "true"

        async def act(key: Key) -> Label:
            return await self._service.label(model, [(str(identity), label)], revise, key)

        told = await self._once(self._key(message.place, "label"), [model, identity, label, revise], act, _labelled)
        for what in ("unknown", "expired", "conflict"):
            if told.get(what):
                raise Refused(409, f"the label of {identity} was not learned: {_WHY[what]}")
        return told

    async def _id_of(self, place: str) -> str:
        """The id under which the row of an earlier message was answered."""
        kept = await self._service.kept(self._key(place)) if place else None
        if kept is None:
            raise Refused(404, f"no row came at {place or 'the place that was not told'}")
        identity: str = orjson.loads(kept.body)["id"]
        return identity

    async def _once(
        self, key: str, content: Any, act: Callable[[Key], Any], written: Callable[[Any], Answer]
    ) -> dict[str, Any]:
        fingerprint = hashlib.sha256(orjson.dumps(content, option=orjson.OPT_SORT_KEYS)).digest()

        async def first_time() -> Kept:
            answer = written(await act(Key(key, fingerprint, written)))
            return Kept(key, fingerprint, answer.status, answer.media, answer.body)

        kept = await self._service.once(key, fingerprint, first_time)
        told: dict[str, Any] = orjson.loads(kept.body)
        return told


_WHY = {
    "unknown": "no row has this id",
    "expired": "its row is no longer kept",
    "conflict": "it has another label already; 'revise' allows to change it",
}


def _model_of(message: Message) -> str:
    return str(message.fields.get("model") or DEFAULT)


def _answered(work: Predict) -> Answer:
    own = work.asked.answers[work.model]
    code = int(own.codes[0])
    known = code != NO_ANSWER
    found = {
        "id": row_id(work.seq, 0),
        "answer": own.labels[code] if known else None,
        "probability": float(work.proba[0][code]) if known and work.proba is not None else None,
    }
    return Answer(200, JSON, orjson.dumps(found))


def _labelled(work: Label) -> Answer:
    found = work.outcome
    assert found is not None
    told = {"unknown": bool(found.unknown), "expired": bool(found.expired), "conflict": bool(found.conflicts)}
    return Answer(200, JSON, orjson.dumps(told))
