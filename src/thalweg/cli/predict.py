"""``thalweg predict``: the rows of a table answered by a model that `thalweg run` saved."""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import Annotated

import typer


def predict(
    model: Annotated[Path, typer.Argument(help="A model that `thalweg run` wrote.")],
    source: Annotated[str, typer.Argument(help="A table with the columns it learned from, or - for a pipe.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="By default, standard output.")
    ] = None,
    bad_rows: Annotated[str, typer.Option(help="error, or skip.")] = "error",
) -> None:
    """Answer each row of a table; nothing is learned. Columns: row, answer, probability."""
    import io

    from thalweg.errors import InvalidParameter
    from thalweg.files import write_atomically
    from thalweg.run.answering import answer

    if bad_rows not in ("error", "skip"):
        raise InvalidParameter.of_option("bad_rows", "be error or skip", bad_rows)
    text = io.StringIO() if out is not None else sys.stdout
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("row", "answer", "probability"))
    skipped = 0
    for part in answer(model, source, bad_rows="skip" if bad_rows == "skip" else "error"):
        proba = [""] * len(part.number) if part.probability is None else part.probability.round(6).tolist()
        writer.writerows(zip(part.number.tolist(), part.answers.tolist(), proba, strict=True))
        skipped += len(part.bad)
    if out is not None:
        assert isinstance(text, io.StringIO)
        write_atomically(out, text.getvalue().encode())
    if skipped:
        typer.echo(f"{skipped:,} rows were skipped", err=True)
