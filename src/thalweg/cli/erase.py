"""``thalweg erase``: single rows are gone from a service's journal."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def erase(
    ids: Annotated[
        list[str],
        typer.Option("--id", metavar="ID", help="Id of a row, as its prediction had it: 12-0; again for more."),
    ],
    data: Annotated[Path | None, typer.Argument(metavar="DIR", help="Folder of `thalweg serve`.")] = None,
    database: Annotated[
        str | None, typer.Option(metavar="URL", help="PostgreSQL database of the journal: postgresql://…")
    ] = None,
    model: Annotated[str, typer.Option(metavar="NAME", help="Model that was asked.")] = "default",
) -> None:
    """Erase the values, predictions and labels of rows from the journal of a stopped service, in freed space too.

    Models and snapshots stay as they are: withdraw rows (POST /v1/models/NAME/void) first if they are to forget them.
    """
    from thalweg.errors import InvalidParameter, MissingExtra

    if (data is None) == (database is None):
        raise InvalidParameter("name either the folder of the journal, DIR, or its --database")
    try:
        from thalweg.service.journal.databases import open_journal
        from thalweg.service.journal.verification import verified
        from thalweg.service.offline import erase_rows
    except ImportError as error:
        raise MissingExtra.of(error.name or "orjson", "serve", "thalweg erase") from error

    open_journal(data, database, read_only=True).close()  # there must be one
    journal = open_journal(data, database)
    try:
        journal.claim()
        journal.prepare()
        verified(journal)
        found = erase_rows(journal, model, ids)
    finally:
        journal.close()
    typer.echo(f"erased {len(found.erased):,} rows")
    if found.repeated:
        typer.echo(f"{found.repeated:,} had been erased before")
    if found.expired:
        typer.echo(f"the journal no longer keeps {', '.join(found.expired)}")
    if found.unknown:
        raise InvalidParameter(f"{model!r} has no row {', '.join(found.unknown)}")
