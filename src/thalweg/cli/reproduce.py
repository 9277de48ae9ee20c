"""``thalweg reproduce``: a paper's tables and figures, measured again beside the printed ones."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from textwrap import wrap
from typing import Annotated, Any

import typer

from thalweg.papers.registry import PAPERS, Paper

EVERYTHING = "all"


def _described(paper: Paper) -> str:
    lines = [f"{paper.name}: {paper.authors}", paper.title, " ".join(paper.items)]
    if paper.on_request:
        lines += wrap(f"only by name: {' '.join(paper.on_request)}", 78)
    return "\n  ".join(lines)


#: The help of the command; \b keeps the lines of a paragraph as they are.
HELP = "Run a paper's experiments and print its numbers beside the measured ones.\n\n\b\n" + "\n".join(
    map(_described, PAPERS.values())
)


def _of_papers(papers: Iterator[tuple[str, str]]) -> str:
    """What an option does, for each paper that has it."""
    return "; ".join(f"{name}: {about}" for name, about in papers)


_RUNS = _of_papers((paper.name, paper.runs) for paper in PAPERS.values() if paper.runs != Paper.runs)
_FAST = _of_papers((paper.name, paper.fast) for paper in PAPERS.values() if paper.fast is not None)
_SLOW = {
    option: _of_papers(
        (paper.name, paper.slow_peers[option]) for paper in PAPERS.values() if option in paper.slow_peers
    )
    for option in ("with-moa", "with-refitted")
}


def reproduce(
    paper: Annotated[str, typer.Argument(help="Name of the paper, from the list above.")],
    item: Annotated[str, typer.Argument(help="Table or figure of the paper.")] = EVERYTHING,
    runs: Annotated[
        int | None,
        typer.Option(
            "--runs",
            "--splits",
            min=1,
            metavar="N",
            help=f"Runs of each generated stream, or splits of each data set (default: {Paper.runs}; {_RUNS}).",
        ),
    ] = None,
    fast: Annotated[bool, typer.Option("--fast", help=f"Short version ({_FAST}).")] = False,
    with_moa: Annotated[
        bool, typer.Option("--with-moa", help=f"Measure slow peers again ({_SLOW['with-moa']}).")
    ] = False,
    with_refitted: Annotated[
        bool,
        typer.Option("--with-refitted", help=f"Measure slow peers again ({_SLOW['with-refitted']})."),
    ] = False,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="Seed for the random number generator.")] = 0,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the figures.")] = Path("thalweg-out"),
    json: Annotated[Path | None, typer.Option(metavar="FILE", help="File for all numbers, as rows of JSON.")] = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Number of workers (default: one per processor).")
    ] = None,
    dask: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Address of the scheduler of a Dask cluster to run on.")
    ] = None,
) -> None:
    """Run a paper's experiments and print its numbers beside the measured ones."""
    chosen = PAPERS[_one_of(PAPERS, paper, "paper")]
    item = _one_of((*chosen.items, *chosen.on_request, EVERYTHING), item, "item")
    items = chosen.items if item == EVERYTHING else (item,)
    if fast and chosen.fast is None:
        raise typer.BadParameter(f"{paper} has no short version: leave out --fast.", param_hint="--fast")
    if jobs is not None and dask is not None:
        raise typer.BadParameter("a Dask cluster has its own workers: leave out --jobs or --dask.", param_hint="--jobs")
    options: dict[str, Any] = {} if runs is None else {"runs": runs}
    if fast:
        options["fast"] = True
    for option, given in (("with-moa", with_moa), ("with-refitted", with_refitted)):
        if given and option not in chosen.slow_peers:
            raise typer.BadParameter(f"{paper} has no such models: leave out the option.", param_hint=f"--{option}")
        if given:
            options[option.replace("-", "_")] = True

    from rich.console import Console

    from thalweg.cli.terminal import progress, writable_file, writable_folder
    from thalweg.papers.registry import write_json
    from thalweg.report import style

    if chosen.draws(items):
        style.require_matplotlib()
        writable_folder(out)
    if json is not None:
        writable_file(json)

    with _workers(jobs, dask) as workers, progress() as report:
        outcomes = chosen.reproduce(items, seed=seed, workers=workers, progress=report, **options)

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
        from thalweg.papers.study import dask_cluster

        return dask_cluster(dask)
    from thalweg.parameters import processors

    return nullcontext(jobs or processors())


def _one_of(choices: Collection[str], given: str, name: str) -> str:
    if given not in choices:
        raise typer.BadParameter(f"{given!r} is not one of {', '.join(choices)}.", param_hint=name)
    return given
