"""``thalweg erase``: a service's journal without given rows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def erase(
    ids: Annotated[
        list[str],
        typer.Option(
            "--id", metavar="ID", help="Id of a row, as its prediction had it, such as 12-0; may be repeated."
        ),
    ],
    data: Annotated[Path | None, typer.Argument(metavar="DIR", help="Folder of `thalweg serve`.")] = None,
    database: Annotated[
        str | None,
        typer.Option(metavar="URL", help="PostgreSQL database of the journal, such as postgresql://host/db."),
    ] = None,
    model: Annotated[str, typer.Option(metavar="NAME", help="Name of the model that predicted the rows.")] = "default",
) -> None:
    """Erase the values, predictions and labels of rows from the journal of a stopped service, free disk space included.

    Models and snapshots do not change. To make models forget the rows, withdraw them first (POST
    /v1/models/NAME/void).
    """
    from thalweg.errors import InvalidParameter, MissingExtra

    if (data is None) == (database is None):
        raise InvalidParameter("give the journal either as a folder, DIR, or as --database URL")
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
