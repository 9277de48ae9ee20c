"""``thalweg generate``: rows of a generated stream, in a file."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from thalweg.run.generate import GENERATORS

if TYPE_CHECKING:
    from thalweg.cli.terminal import Report
    from thalweg.streams import ConceptStream
    from thalweg.streams.stream import Rows

STANDARD_OUTPUT = Path("-")

_WIDEST = max(map(len, GENERATORS))
#: The help of the command; \b keeps the lines of a paragraph as they are.
HELP = (
    "Write rows of a generated stream to a file; the same seed gives the same bytes.\n\n\b\n"
    + "\n".join(f"{name:{_WIDEST}}  {generator.about}" for name, generator in GENERATORS.items())
    + "\n\nThe ending of the file sets the format: .csv, .parquet, .arrow or .ndjson, and .gz or .zst compress it. The "
    "column of labels is called label."
)


def generate(
    stream: Annotated[str, typer.Argument(metavar="STREAM", help="Name of the stream, from the list above.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="File to write, or - for standard output.")],
    rows: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Number of rows (default: as in its paper).")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="Seed for the random number generator.")] = 0,
    format_: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="Format: csv, parquet, arrow or ndjson (default: by the ending of the file).",
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=NUMBER",
            help="Parameter of the stream, such as rows_per_concept=500; may be repeated.",
        ),
    ] = None,
) -> None:
    """Write rows of a generated stream to a file."""
    from thalweg.cli.terminal import progress, writable_file
    from thalweg.files import replacement
    from thalweg.run.generate import format_for, make_stream, packed, packing_for, write_rows

    spelled = GENERATORS[stream].spelled if stream in GENERATORS else None

    chosen = make_stream(stream, seed, dict(_setting(text) for text in settings or ()))
    count = chosen.length if rows is None else rows
    if out == STANDARD_OUTPUT:
        kind = format_for(out, format_ or "csv")
        write_rows(sys.stdout.buffer, kind, chosen.feature_names, _blocks(chosen, count), spelled)
        sys.stdout.buffer.flush()
        return
    kind = format_for(out, format_)
    writable_file(out)
    with progress() as report, replacement(out) as whole, packed(whole, packing_for(out)) as file:
        write_rows(file, kind, chosen.feature_names, _blocks(chosen, count, report), spelled)
    typer.echo(f"{count:,} rows of {stream}, {chosen.n_features} features and the label: {out}")


def _blocks(stream: ConceptStream, count: int, report: Report = lambda share, label: None) -> Iterator[Rows]:
    from thalweg.run.generate import BLOCK_ROWS

    done = 0
    for rows in stream.batches(BLOCK_ROWS, count):
        yield rows
        done += len(rows[1])
        report(done / count, "writing rows")


def _setting(text: str) -> tuple[str, float]:
    """A parameter and its number; a whole number stays one."""
    from thalweg.errors import InvalidParameter

    name, _, value = text.partition("=")
    for number in (int, float):
        try:
            return name, number(value)
        except ValueError:
            continue
    raise InvalidParameter.of_option("set", "have the form NAME=NUMBER", text)
