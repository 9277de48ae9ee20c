"""``thalweg verify``: a check of a service's journal for damage."""

from __future__ import annotations

import typer

from thalweg.cli.journals import JournalDatabase, JournalFolder, opened


def verify(data: JournalFolder = None, database: JournalDatabase = None) -> None:
    """Check the records and snapshots of a service's journal for damage; stop with exit code 2 at the first."""
    with opened("verify", data, database) as journal:
        from thalweg.service.journal.verification import verified

        found = verified(journal)
    typer.echo(f"{found.records:,} records and {found.snapshots:,} snapshots are undamaged")
    if found.erased:
        typer.echo(f"the values and labels of {found.erased:,} rows were erased")
