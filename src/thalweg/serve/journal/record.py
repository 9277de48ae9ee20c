"""What the journal holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

#: What may happen to a model. A "revise" is a label request that also changes labels given before.
Kind = Literal["create", "challenge", "schema", "predict", "label", "revise", "expire", "promote", "archive", "restore"]


@dataclass(slots=True)
class Record:
    """One accepted request, or one decision of the service itself."""

    #: From 1, without gaps, in the order in which things happened.
    seq: int
    #: The name that clients ask; of a challenger, that of the model it challenges.
    model: str
    kind: Kind
    #: In microseconds since 1970; never before that of the record before.
    time: int
    #: How many rows were answered, or labels learned for the first time.
    rows: int
    body: bytes


@dataclass(frozen=True, slots=True)
class Told:
    """A label record speaks of rows of a predict record: the way from a row to its labels."""

    #: The predict record.
    asked: int
    #: The label record.
    seq: int
    #: How many of its rows got their first label there.
    rows: int


@dataclass(frozen=True, slots=True)
class Kept:
    """The answer to a request that came with an idempotency key."""

    key: str
    #: SHA-256 over what was asked.
    request: bytes
    status: int
    media: str
    body: bytes


@dataclass(frozen=True, slots=True)
class Part:
    """One file of a snapshot: a model by its name, or under the empty name what the service remembers beside it."""

    model: str
    seq: int
    name: str
    sha256: bytes
    body: bytes
