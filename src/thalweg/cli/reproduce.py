"""``thalweg reproduce``: a paper's tables and figures, measured here and set beside the printed ones."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from thalweg.papers.registry import PAPERS, Paper

EVERYTHING = "all"


def _described(paper: Paper) -> str:
    lines = [paper.name, f"{paper.authors},", f"{paper.title}:", " ".join(paper.items), paper.runs]
    if paper.on_request:
        lines.append(f"not part of all: {' '.join(paper.on_request)}")
    if paper.fast is not None:
        lines.append(f"--fast: {paper.fast}")
    lines += [f"--{option}: {about}" for option, about in paper.slow_peers.items()]
    return "\b\n" + "\n  ".join(lines)  # \b keeps the lines of a paragraph as they are


HELP = "Run a paper's experiments and print its numbers beside the measured ones.\n\n" + "\n\n".join(
    map(_described, PAPERS.values())
)


def reproduce(
    paper: Annotated[str, typer.Argument(help="The paper.")],
    item: Annotated[str, typer.Argument(help="One of its tables or figures.")] = EVERYTHING,
    runs: Annotated[
        int | None,
        typer.Option("--runs", "--splits", min=1, help="Runs of each generated stream, splits of each data set."),
    ] = None,
    fast: Annotated[bool, typer.Option("--fast", help="The short version, where the paper has one above.")] = False,
    with_moa: Annotated[bool, typer.Option("--with-moa", help="Run MOA's models, where the paper has them.")] = False,
    with_refitted: Annotated[
        bool, typer.Option("--with-refitted", help="Run models refitted on a window, where the paper has them.")
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="Seed for the random number generator.")] = 0,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the figures.")] = Path("thalweg-out"),
    json: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write every number as JSON rows.")] = None,
    jobs: Annotated[int | None, typer.Option(min=1, metavar="N", help="Workers; by default one per processor.")] = None,
    dask: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Run on the Dask cluster with this scheduler instead.")
    ] = None,
) -> None:
    """Run a paper's experiments and print its numbers beside the measured ones."""
    chosen = PAPERS[_one_of(PAPERS, paper, "paper")]
    item = _one_of((*chosen.items, *chosen.on_request, EVERYTHING), item, "item")
    items = chosen.items if item == EVERYTHING else (item,)
    if fast and chosen.fast is None:
        raise typer.BadParameter(f"{paper} has no short version.", param_hint="--fast")
    if jobs is not None and dask is not None:
        raise typer.BadParameter("the cluster of --dask has its own workers.", param_hint="--jobs")
    options: dict[str, Any] = {} if runs is None else {"runs": runs}
    if fast:
        options["fast"] = True
    for option, given in (("with-moa", with_moa), ("with-refitted", with_refitted)):
        if given and option not in chosen.slow_peers:
            raise typer.BadParameter(f"{paper} has no such models.", param_hint=f"--{option}")
        if given:
            options[option.replace("-", "_")] = True

    from rich.console import Console

    from thalweg.cli.terminal import progress, writable_file, writable_folder
    from thalweg.papers.findings import write_json
    from thalweg.report import style

    if chosen.draws(items):
        style.require_matplotlib()
        writable_folder(out)
    if json is not None:
        writable_file(json)

    with _workers(jobs, dask) as workers, progress() as report:
        outcomes = chosen.load().reproduce(items, seed=seed, workers=workers, progress=report, **options)

    # Paths and messages may hold brackets, which the console would read as markup.
    console = Console(markup=False, highlight=False)
    for outcome in outcomes:
        if outcome.table is not None:
            console.print(f"{outcome.title}\n", style="bold")
            console.print(outcome.table(), "")
        if outcome.draw is not None:
            paths = style.save(outcome.draw(), out, f"{paper}-{outcome.item}")
            console.print(f"{outcome.title}: {' and '.join(map(str, paths))}", soft_wrap=True)
        for line in outcome.summary:
            console.print(line)
        if outcome.summary:
            console.print()
    console.print()
    for note in dict.fromkeys(note for outcome in outcomes for note in (*outcome.notes, outcome.timing) if note):
        console.print(note, style="dim")
    if json is not None:
        write_json((finding for outcome in outcomes for finding in outcome.findings), json)
        console.print(f"Numbers: {json}", soft_wrap=True)


def _workers(jobs: int | None, dask: str | None) -> AbstractContextManager[int]:
    if dask is not None:
        from thalweg.papers.workers import dask_cluster

        return dask_cluster(dask)
    from thalweg.parameters import processors

    return nullcontext(jobs or processors())


def _one_of(choices: Collection[str], given: str, name: str) -> str:
    if given not in choices:
        raise typer.BadParameter(f"{given!r} is not one of {', '.join(choices)}.", param_hint=name)
    return given
