"""Commands for the writer, made by the event loop, which waits for them without blocking; and refusals of a request."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from thalweg.service.journal.erasing import FIRST
from thalweg.service.journal.records import Kind, LabelOutcome, LabelValue, Part, PredictBody
from thalweg.service.responses import Response


@dataclass(slots=True)
class HttpResponse:
    status: int
    media: str
    body: bytes


@dataclass(slots=True)
class Key:
    """An idempotency key, what was asked with it, and how the response is written."""

    key: str
    request: bytes
    written: Callable[[Any], HttpResponse]


@dataclass(slots=True, eq=False)
class Command:
    model: str
    future: asyncio.Future[Any] | None
    key: Key | None = field(default=None, kw_only=True)
    #: The record that it became, and where it has a key the response that is kept.
    seq: int = field(default=0, kw_only=True)
    reply: HttpResponse | None = field(default=None, kw_only=True)
    #: Whether it is done only once the model was learned again.
    revises: bool = field(default=False, kw_only=True)


@dataclass(slots=True, eq=False)
class Predict(Command):
    """Rows, encoded and predicted."""

    body: PredictBody
    #: What is sent back of the champion's predictions.
    response: Response
    #: The number of failures before it: after one, the encoder that it went through is no longer the journal's.
    epoch: int
    #: How often the columns had changed.
    columns: int = 0
    #: Whether it is in the journal, so that the rows may get labels.
    recorded: bool = field(default=True, kw_only=True)


@dataclass(slots=True, eq=False)
class OfRows(Command):
    """About rows that were predicted, by their ids."""

    outcome: LabelOutcome | None = field(default=None, kw_only=True)
    #: Labels that are learned again.
    replayed: int = field(default=0, kw_only=True)


@dataclass(slots=True, eq=False)
class Label(OfRows):
    labels: list[tuple[str, LabelValue]]
    revise: bool


@dataclass(slots=True, eq=False)
class Withdraw(OfRows):
    """Rows to be withdrawn, with ``erase`` so that their values and labels are gone from the journal."""

    ids: list[str]
    erase: bool


@dataclass(slots=True, eq=False)
class Decide(Command):
    kind: Kind
    body: dict[str, Any]
    epoch: int | None = None
    #: Of a promotion, the record since which the two were seen in their roles; of other columns, the record up to which
    #: all labels are in it.
    since: int | None = None


@dataclass(slots=True, eq=False)
class Expire(Command):
    """Time to look for rows whose label will not come."""

    #: Rows that have waited so long, and all but the last so many.
    seconds: int | None
    most: int | None


@dataclass(slots=True, eq=False)
class KeepSnapshot(Command):
    parts: list[Part]


@dataclass(slots=True, eq=False)
class Cut(Command):
    """Let the journal of a model begin at a snapshot, and erase what it no longer needs, a page at a time."""

    seq_kept: int
    #: Snapshots of named versions from before.
    parts: list[Part]
    page: tuple[int, int] = FIRST


@dataclass(slots=True, eq=False)
class DropReplies(Command):
    """Forget the responses to requests with a key, up to a record, a page at a time."""

    through: int


class Refused(Exception):
    """A response other than success: an HTTP status, 4xx or 503, and what is wrong and what to do about it.

    After ``retry_after`` seconds the client may try again.
    """

    def __init__(self, status: int, sentence: str, *, retry_after: int | None = None) -> None:
        super().__init__(sentence)
        self.status = status
        self.sentence = sentence
        self.retry_after = retry_after


def require_active(name: str, archived: bool) -> None:
    """`Refused` of a model that is put away."""
    if archived:
        raise Refused(409, f"the model {name!r} is archived: restore it first")
