"""``thalweg verify``: a check of a service's journal for damage."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def verify(
    data: Annotated[Path | None, typer.Argument(metavar="DIR", help="Folder of `thalweg serve`.")] = None,
    database: Annotated[
        str | None,
        typer.Option(metavar="URL", help="PostgreSQL database of the journal, such as postgresql://host/db."),
    ] = None,
) -> None:
    """Check the records and snapshots of a service's journal for damage; stop with exit code 2 at the first."""
    from thalweg.errors import InvalidParameter, MissingExtra

    if (data is None) == (database is None):
        raise InvalidParameter("give the journal either as a folder, DIR, or as --database URL")
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
    typer.echo(f"{found.records:,} records and {found.snapshots:,} snapshots are undamaged")
    if found.unchecked:
        typer.echo(
            f"the first {found.unchecked:,} records were written by a version without checksums and cannot be checked"
        )
    if found.erased:
        typer.echo(f"the values and labels of {found.erased:,} rows were erased")
