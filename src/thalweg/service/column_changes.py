"""Columns of a served model that change by a request: checked, learned again where rows get wider, and recorded.

Predictions wait while the record is written and learned, since rows are encoded otherwise from then on. What takes long
happens before: where columns are added, all learners learn the rows that the journal keeps again, with the defaults.
The record holds the learners, so that it can be replayed whatever becomes of those rows.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Awaitable, Callable
from typing import Any

from thalweg.client.protocol import MOST_COLUMNS, ColumnsRequest
from thalweg.errors import InvalidInput
from thalweg.service.batcher import Batcher, PublishedModel
from thalweg.service.commands import Decide, Key, Refused
from thalweg.service.journal.sql import SqlJournal
from thalweg.service.learning.rebuild import learned_rows, rebuild
from thalweg.service.learning.schema import added_column
from thalweg.tables.column_changes import ColumnChange, changed
from thalweg.tables.encoder import Encoder

#: How often learners are brought to the last label before labels are said to come too fast.
_ATTEMPTS = 5


async def change_columns(
    model: PublishedModel,
    asked: ColumnsRequest,
    key: Key | None,
    reader: Callable[[], SqlJournal],
    batcher: Batcher,
    do: Callable[[Decide], Awaitable[Any]],
) -> Decide:
    """Change the columns of a model; `Refused` where they cannot be changed so."""
    change = ColumnChange(
        [added_column(name, given) for name, given in asked.add.items()], asked.retire, dict(asked.rename)
    )
    if not (change.add or change.retire or change.rename):
        raise Refused(422, "there must be a column to add, to retire or to rename")
    async with model.vote.changing:
        for attempt in range(_ATTEMPTS):
            _changed(model, change)  # what cannot be is refused before it takes long
            learners: dict[str, str] = {}
            through: int | None = None
            if change.add:
                learners, through = await asyncio.to_thread(_learned_again, reader, model.name, change)
            body = change.to_json() | {"learners": learners}
            async with batcher.order:
                encoder = _changed(model, change)
                try:
                    done: Decide = await do(
                        Decide(model.name, None, "columns", body, model.epoch, since=through, key=key)
                    )
                except Refused as refused:
                    if refused.status == 409 and attempt < _ATTEMPTS - 1:
                        continue
                    raise
                model.encoder = encoder
                return done
    raise AssertionError("the last attempt returns or raises")


def _changed(model: PublishedModel, change: ColumnChange) -> Encoder:
    if model.encoder is None:
        raise Refused(409, f"{model.name!r} does not know its columns yet: its first rows say what they are")
    try:
        encoder = changed(model.encoder, change)
    except InvalidInput as error:
        raise Refused(422, str(error)) from error
    if len(encoder.plan.names) > MOST_COLUMNS:
        raise Refused(422, f"a model may have at most {MOST_COLUMNS} columns, with those that are retired")
    return encoder


def _learned_again(reader: Callable[[], SqlJournal], name: str, change: ColumnChange) -> tuple[dict[str, str], int]:
    """Learners of the wider rows as files, and the last record whose labels they have learned."""
    journal = reader()
    try:
        model = rebuild(journal, name).model
        through = model.seq
        model.change_columns(change, through + 1)
        files = model.learn_wider(learned_rows(journal, name, through))
    finally:
        journal.close()
    return {name: base64.b64encode(file).decode() for name, file in files.items()}, through
