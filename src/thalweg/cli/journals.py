"""What the commands on a service's journal share: the arguments that name it, and how it is opened."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from thalweg.service.journal.sql import SqlJournal

JournalFolder = Annotated[Path | None, typer.Argument(metavar="DIR", help="Folder of `thalweg serve`.")]
JournalDatabase = Annotated[
    str | None,
    typer.Option(metavar="URL", help="PostgreSQL database of the journal, such as postgresql://host/db."),
]


@contextmanager
def opened(command: str, data: Path | None, database: str | None, *, to_write: bool = False) -> Iterator[SqlJournal]:
    """The journal that a command names; with ``to_write`` no service may use it meanwhile."""
    from thalweg.errors import InvalidParameter, MissingExtra

    if (data is None) == (database is None):
        raise InvalidParameter("give the journal either as a folder, DIR, or as --database URL")
    try:
        from thalweg.service.journal.databases import open_journal
    except ImportError as error:
        raise MissingExtra.of(error.name or "orjson", "serve", f"thalweg {command}") from error

    journal = open_journal(data, database, read_only=True)
    if to_write:
        journal.close()  # there is one: none is made by opening it to write
        journal = open_journal(data, database)
    try:
        if to_write:
            journal.claim()
            journal.prepare()
        yield journal
    finally:
        journal.close()
