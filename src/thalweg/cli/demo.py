"""``thalweg demo``: generate a drifting stream, run the default on it, write the report, and say what to try next."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Annotated

import typer

#: The stream, as `thalweg generate` names it, and the file that holds its rows.
STREAM, ROWS_FILE = "wandering-disc", "rows.csv"
#: Rows that the frozen model is fitted to: a share of the stream.
FITTED_SHARE = 1 / 10


def demo(
    rows: Annotated[int, typer.Option(min=1000, max=100_000_000, help="Rows of the stream.")] = 20_000,
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder for the rows, the report, the predictions and the model.")
    ] = Path("thalweg-demo"),
    seed: Annotated[int, typer.Option(min=0, help="Seed for the random number generator.")] = 0,
) -> None:
    """Generate a drifting stream and run the default on it, beside baselines and a model that is fitted once."""
    from thalweg.cli.terminal import load_scikit_learn, writable_folder

    load_scikit_learn()

    from thalweg.cli.generate import generate
    from thalweg.cli.run import run
    from thalweg.errors import InvalidParameter, MissingExtra
    from thalweg.report.page import require_jinja
    from thalweg.run.options import MODEL, read_options, what_is_in

    MissingExtra.import_module("pyarrow", "files", "thalweg demo")
    require_jinja()
    file = out / ROWS_FILE
    if what_is_in(out) != "no run" and read_options(out).get("source") != str(file):
        raise InvalidParameter.of_option("out", "be a new folder, or that of an earlier demo", str(out))
    writable_folder(out)
    typer.echo(
        "The stream: five columns and a label. The label says whether (x1, x2) lies in a disc.\n"
        f"The disc moves: its centre circles once in {rows:,} rows. x3, x4 and x5 are noise.\n"
    )
    generate(STREAM, file, rows, seed, settings=[f"rows_per_turn={rows}"])
    fitted = round(rows * FITTED_SHARE)
    typer.echo(f"$ thalweg run {file} --target label --against frozen --against-rows {fitted} --out {out}\n")
    run(
        source=file,
        target="label",
        against="frozen",
        against_rows=fitted,
        seed=seed,
        out=out,
        fresh=True,
    )
    command = "thalweg" if shutil.which("thalweg") else sys.argv[0]  # in an environment that is not activated
    typer.echo(
        "\nOpen the report in a browser. Then try:\n"
        f"  {command} run YOUR_FILE.csv --target YOUR_COLUMN\n"
        f"  {command} predict {out / MODEL} {file} -o predicted.csv\n"
        f"  {command} serve --model {out / MODEL}   # needs pip install '.[serve]' in the checkout"
    )
