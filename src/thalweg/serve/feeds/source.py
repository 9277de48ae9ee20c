"""What a service needs of a stream of messages, whatever keeps it.

A message is a few named values. One with a ``row`` is answered, and learned too where it has a ``label``; one with a
``label`` alone belongs to a row that was answered before: ``id`` says which by the service's id, ``of`` by the place of
the message that brought the row. ``model`` may name who is asked.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

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
        """Publish answers beside the stream."""

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
