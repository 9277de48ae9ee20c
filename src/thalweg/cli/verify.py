"""``thalweg verify``: whether a service's journal is as it was written."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def verify(
    data: Annotated[Path | None, typer.Argument(metavar="DIR", help="Folder of `thalweg serve`.")] = None,
    database: Annotated[
        str | None, typer.Option(metavar="URL", help="PostgreSQL database of the journal: postgresql://…")
    ] = None,
) -> None:
    """Check every record of a service's journal, its links and its snapshots; the first damage is an error."""
    from thalweg.errors import InvalidParameter, MissingExtra

    if (data is None) == (database is None):
        raise InvalidParameter("name either the folder of the journal, DIR, or its --database")
    try:
        from thalweg.service.journal.databases import open_journal
        from thalweg.service.journal.verification import verified
    except ImportError as error:
        raise MissingExtra.of(error.name or "orjson", "serve", "thalweg verify") from error

    journal = open_journal(data, database, read_only=True)
    try:
        found = verified(journal)
    finally:
        journal.close()
    typer.echo(f"{found.records:,} records and {found.snapshots:,} snapshots are as they were written")
    if found.unchecked:
        typer.echo(
            f"the first {found.unchecked:,} records are of a version without checksums, and could not be checked"
        )
    if found.erased:
        typer.echo(f"the values and labels of {found.erased:,} rows were erased")
