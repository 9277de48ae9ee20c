"""What a service needs of a stream of messages, whatever keeps it; messages are read as over HTTP."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import orjson

#: Messages taken together, and seconds to wait for a first one.
MOST, WAIT = 512, 1.0


class SourceLost(Exception):
    """The stream cannot be reached; what was not acknowledged will come again."""


@dataclass(frozen=True, slots=True)
class Message:
    """What came, and the place by which the stream knows it."""

    place: str
    fields: Mapping[str, Any]
    #: Why nothing of it could be read; such a message has no fields.
    fault: str = ""


class Source(ABC):
    """An open stream. Messages come again until they are acknowledged."""

    #: Of the stream, the same after every start: with a place it makes a key that is unique.
    name: str

    @abstractmethod
    async def take(self) -> Sequence[Message]:
        """What has come; empty where nothing did for a while."""

    @abstractmethod
    async def reply(self, replies: Sequence[Mapping[str, str]]) -> None:
        """Publish replies beside the stream."""

    @abstractmethod
    async def acknowledge(self, messages: Sequence[Message]) -> None:
        """Let these not come again."""

    @abstractmethod
    async def close(self) -> None:
        """Let go of the stream."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *reason: object) -> None:
        await self.close()


def of_object(place: str, value: bytes) -> Message:
    """A message that is one object of JSON.

    Examples
    --------
    >>> of_object("0:7", b'{"label": "high"}').fields, of_object("0:8", b"3").fault
    ({'label': 'high'}, 'a message must be an object of JSON')
    """
    try:
        fields = orjson.loads(value)
    except orjson.JSONDecodeError as error:
        return Message(place, {}, f"the message is not JSON: {error}")
    if not isinstance(fields, dict):
        return Message(place, {}, "a message must be an object of JSON")
    for name, cell in fields.items():
        if name != "row" and isinstance(cell, list | dict):
            return Message(place, {}, f"the field {name!r} must be a text, a number, true, false or null")
    return Message(place, fields)


def of_fields(place: str, values: Mapping[bytes, bytes]) -> Message:
    """A message of texts, whose row alone is JSON.

    Examples
    --------
    >>> of_fields("7-0", {b"row": b'{"x": 1}', b"label": b"high"}).fields
    {'label': 'high', 'row': {'x': 1}}
    """
    try:
        fields: dict[str, Any] = {name.decode(): value.decode() for name, value in values.items() if name != b"row"}
    except UnicodeDecodeError as error:
        return Message(place, {}, f"the message is not in UTF-8: {error}")
    if b"row" in values:
        try:
            fields["row"] = orjson.loads(values[b"row"])
        except orjson.JSONDecodeError as error:
            return Message(place, {}, f"the row is not JSON: {error}")
    return Message(place, fields)
