"""``thalweg compact``: a service's journal without its old records."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def compact(
    keep: Annotated[
        str,
        typer.Option(
            metavar="AMOUNT",
            help="Records to keep: at least 90d or 12h before the last one, at least 1000000rows, or at most 20GB.",
        ),
    ],
    data: Annotated[Path | None, typer.Argument(metavar="DIR", help="Folder of `thalweg serve`.")] = None,
    database: Annotated[
        str | None,
        typer.Option(metavar="URL", help="PostgreSQL database of the journal, such as postgresql://host/db."),
    ] = None,
) -> None:
    """Erase old records from the journal of a stopped service; its models do not change."""
    from thalweg.errors import InvalidParameter, MissingExtra

    if (data is None) == (database is None):
        raise InvalidParameter("give the journal either as a folder, DIR, or as --database URL")
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
        typer.echo("erased nothing: records are erased up to a snapshot, and no snapshot is older than --keep")
        return
    typer.echo(f"erased {found.records:,} records, {found.snapshots:,} snapshots and {found.replies:,} replies")
