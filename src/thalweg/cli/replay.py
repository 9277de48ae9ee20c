"""``thalweg replay``: a served model as of any record of its journal."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from thalweg.cli.journals import JournalDatabase, JournalFolder, opened


def replay(
    data: JournalFolder = None,
    to: Annotated[
        int | None,
        typer.Option(metavar="N", help="Number of the last record to replay (default: the last of the journal)."),
    ] = None,
    model: Annotated[str, typer.Option(metavar="NAME", help="Name of the model or challenger.")] = "default",
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File for the model (default: none is written).")
    ] = None,
    database: JournalDatabase = None,
    whole: Annotated[bool, typer.Option("--whole", help="Replay from the first record and use no snapshot.")] = False,
) -> None:
    """Rebuild a served model as it was after a record of the journal, byte for byte."""
    from thalweg.errors import InvalidParameter
    from thalweg.files import write_atomically

    with opened("replay", data, database) as journal:
        from thalweg.service.learning.rebuild import champion_of, rebuild

        last, _ = journal.last()
        found = rebuild(journal, champion_of(journal, model), to, from_snapshots=not whole)
    if model not in found.model.learners:
        raise InvalidParameter(f"the journal has no model {model!r} at record {to}: choose a later record with --to")
    if to is not None and to > last:
        typer.echo(f"the journal ends at record {last:,}", err=True)
    content = found.model.file(model)
    if out is not None:
        write_atomically(out, content)
    began = f"from the snapshot at record {found.base:,}" if found.base else "from the beginning"
    typer.echo(
        f"{model} after record {found.model.seq:,}: {found.model.labels:,} labels learned, "
        f"{found.replayed:,} of them again, {began}"
    )
