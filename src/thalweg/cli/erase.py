"""``thalweg erase``: a service's journal without given rows."""

from __future__ import annotations

from typing import Annotated

import typer

from thalweg.cli.journals import JournalDatabase, JournalFolder, opened


def erase(
    ids: Annotated[
        list[str],
        typer.Option(
            "--id", metavar="ID", help="Id of a row, as its prediction had it, such as 12-0; may be repeated."
        ),
    ],
    data: JournalFolder = None,
    database: JournalDatabase = None,
    model: Annotated[str, typer.Option(metavar="NAME", help="Name of the model that predicted the rows.")] = "default",
) -> None:
    """Erase the values, predictions and labels of rows from the journal of a stopped service, free disk space included.

    Models and snapshots do not change. To make models forget the rows, withdraw them first (POST
    /v1/models/NAME/void).
    """
    from thalweg.errors import InvalidParameter

    with opened("erase", data, database, to_write=True) as journal:
        from thalweg.report.page.formats import counted
        from thalweg.service.journal.verification import verified
        from thalweg.service.offline import erase_rows

        verified(journal)
        found = erase_rows(journal, model, ids)
    typer.echo(f"erased {counted(len(found.erased), 'row')}")
    if found.repeated:
        typer.echo(f"{found.repeated:,} had been erased before")
    if found.expired:
        typer.echo(f"the journal no longer keeps {', '.join(found.expired)}")
    if found.unknown:
        raise InvalidParameter(f"{model!r} has no row {', '.join(found.unknown)}")
