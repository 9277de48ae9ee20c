"""``thalweg compact``: a service's journal without what is older than need be."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def compact(
    keep: Annotated[
        str,
        typer.Option(
            metavar="AMOUNT",
            help="What stays: at least 90d or 12h before the last record, at least 1000000rows, or at most 20GB.",
        ),
    ],
    data: Annotated[Path | None, typer.Argument(metavar="DIR", help="Folder of `thalweg serve`.")] = None,
    database: Annotated[
        str | None, typer.Option(metavar="URL", help="PostgreSQL database of the journal: postgresql://…")
    ] = None,
) -> None:
    """Erase the records before a snapshot from the journal of a stopped service; the models stay as they are."""
    from thalweg.errors import InvalidParameter, MissingExtra

    if (data is None) == (database is None):
        raise InvalidParameter("name either the folder of the journal, DIR, or its --database")
    try:
        from thalweg.service.journal.databases import open_journal
        from thalweg.service.journal.verification import verified
        from thalweg.service.learning.compaction import compact as run
        from thalweg.service.options import Retention
    except ImportError as error:
        raise MissingExtra.of(error.name or "orjson", "serve", "thalweg compact") from error

    policy = Retention.of(keep)
    open_journal(data, database, read_only=True).close()  # there must be one
    journal = open_journal(data, database)
    try:
        journal.claim()
        journal.prepare()
        verified(journal)
        found = run(journal, policy)
    finally:
        journal.close()
    if not (found.records or found.snapshots or found.replies):
        typer.echo("erased nothing: a journal is cut at a snapshot, and no snapshot is older than what is to be kept")
        return
    typer.echo(f"erased {found.records:,} records, {found.snapshots:,} snapshots and {found.replies:,} replies")
