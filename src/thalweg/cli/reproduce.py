"""``thalweg reproduce``: a paper's tables and figures, measured here and set beside the printed ones."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Paper(StrEnum):
    """Papers that can be reproduced."""

    kuncheva2008 = "kuncheva2008"


class Item(StrEnum):
    """Tables and figures of a paper."""

    table1 = "table1"
    table2 = "table2"
    fig1 = "fig1"
    fig2 = "fig2"
    fig3 = "fig3"
    all = "all"


def reproduce(
    paper: Annotated[Paper, typer.Argument(help="The paper.")],
    item: Annotated[Item, typer.Argument(help="One of its tables or figures.")] = Item.all,
    runs: Annotated[int, typer.Option(min=1, help="Runs of each generated stream.")] = 100,
    seed: Annotated[int, typer.Option(min=0, help="Everything random.")] = 0,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the figures.")] = Path("thalweg-out"),
    json: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write every number as JSON rows.")] = None,
    jobs: Annotated[int | None, typer.Option(min=1, metavar="N", help="Threads; by default one per processor.")] = None,
) -> None:
    """Run a paper's experiments and print its numbers beside the measured ones."""
    from rich.console import Console

    from thalweg.cli.folders import writable_file, writable_folder
    from thalweg.cli.progress import progress
    from thalweg.experiments import kuncheva2008
    from thalweg.experiments.workers import available_workers
    from thalweg.report import style, tables
    from thalweg.report.finding import write_json

    items = kuncheva2008.ITEMS if item is Item.all else (item.value,)
    if any(name.startswith("fig") for name in items):
        style.require_matplotlib()
        writable_folder(out)
    if json is not None:
        writable_file(json)

    with progress() as tell:
        outcomes = kuncheva2008.reproduce(
            items, runs=runs, seed=seed, workers=jobs or available_workers(), progress=tell
        )

    # Paths and messages may hold brackets, which are markup to the console unless told otherwise.
    console = Console(markup=False, highlight=False)
    for outcome in outcomes:
        if outcome.draw is None:
            console.print(f"{outcome.title}\n", style="bold")
            console.print(tables.comparison(outcome.findings), "")
        else:
            paths = style.save(outcome.draw(), out, f"{paper}-{outcome.item}")
            console.print(f"{outcome.title}: {' and '.join(map(str, paths))}", soft_wrap=True)
    console.print()
    for note in dict.fromkeys(note for outcome in outcomes for note in outcome.notes):
        console.print(note, style="dim")
    if json is not None:
        write_json([finding for outcome in outcomes for finding in outcome.findings], json)
        console.print(f"Numbers: {json}", soft_wrap=True)
