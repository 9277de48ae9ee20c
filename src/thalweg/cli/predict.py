"""``thalweg predict``: the rows of a table answered by a model that `thalweg run` saved."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from thalweg.run.predict import Answered
    from thalweg.tables import BadRow

#: Skipped rows that are listed one by one.
_MOST_LISTED = 5


def predict(
    model: Annotated[Path, typer.Argument(help="Model file written by `thalweg run`.")],
    source: Annotated[
        str,
        typer.Argument(
            help="Table with the columns the model was trained on, or - for standard input; the values of columns that "
            "it lacks count as missing."
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="File for the predictions (default: standard output)."),
    ] = None,
    bad_rows: Annotated[
        str, typer.Option(help="What to do with rows that cannot be read: error (stop) or skip.")
    ] = "error",
    delimiter: Annotated[
        str | None, typer.Option(help="Delimiter of CSV (default: as in the run, or detected).")
    ] = None,
    encoding: Annotated[
        str | None, typer.Option(help="Encoding of CSV, NDJSON and ARFF (default: as in the run).")
    ] = None,
) -> None:
    """Answer each row of a table; nothing is learned. Columns: row, answer, probability."""
    from thalweg.cli.terminal import load_scikit_learn

    load_scikit_learn()
    from thalweg.cli.terminal import writable_file
    from thalweg.errors import InvalidParameter
    from thalweg.files import replacement
    from thalweg.run.predict import answer

    if bad_rows not in ("error", "skip"):
        raise InvalidParameter.of_option("bad_rows", "be error or skip", bad_rows)
    how: Literal["error", "skip"] = "skip" if bad_rows == "skip" else "error"
    answers = answer(model, source, bad_rows=how, delimiter=delimiter, encoding=encoding, tell=_warn)
    first = next(answers, None)  # nothing is written before something could be answered
    parts = iter(()) if first is None else chain([first], answers)
    if out is None:
        bad = _write(parts, sys.stdout.buffer)
        sys.stdout.buffer.flush()
    else:
        with replacement(writable_file(out)) as file:
            bad = _write(parts, file)
    if bad:
        for row in bad[:_MOST_LISTED]:
            typer.echo(str(row), err=True)
        typer.echo("1 row was skipped" if len(bad) == 1 else f"{len(bad):,} rows were skipped", err=True)


def _warn(warning: str) -> None:
    typer.echo(f"thalweg: {warning}", err=True)


def _write(parts: Iterator[Answered], file: IO[bytes]) -> list[BadRow]:
    """Write all answers by the rule of a run's own file; the rows that were skipped."""
    import pyarrow as pa

    from thalweg.run.predictions import append_rows, as_decimals
    from thalweg.tables.rows import as_text

    file.write(b"row,answer,probability\n")
    bad: list[BadRow] = []
    for part in parts:
        answers = as_text(pa.array(part.answers))
        probability = as_decimals(part.probability, len(answers))
        append_rows(pa.table({"row": part.number, "answer": answers, "probability": probability}), file)
        bad += part.bad
    return bad
