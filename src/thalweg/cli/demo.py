"""``thalweg demo``: the main job on a stream of our own, from the first row to a picture."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from thalweg.evaluate import Curve, Record, Summary

#: Points of the drawn curves.
POINTS = 400
#: Rows over which the drawn errors are averaged: a share of the stream.
DRAWN_SHARE = 1 / 40


def demo(
    rows: Annotated[int, typer.Option(min=1000, max=100_000_000, help="Rows of the stream.")] = 20_000,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the picture.")] = Path("thalweg-out"),
    seed: Annotated[int, typer.Option(min=0, help="Seed for the random number generator.")] = 0,
) -> None:
    """Learn a drifting stream, each row predicted before its label is learned, and draw how it went."""
    from thalweg.cli.terminal import load_scikit_learn, writable_folder

    load_scikit_learn()

    from rich.console import Console

    from thalweg.errors import MissingExtra
    from thalweg.report import curves, style, tables

    writable_folder(out)
    window = round(rows * DRAWN_SHARE)
    summary, curve, kinds = _learn(rows, seed, window)

    console = Console(markup=False, highlight=False)  # paths may hold brackets
    title = f"Wandering disc: the centre of a round class circles once in {rows:,} rows"
    names = {"AutoClassifier": "model", "No change": "no_change", "Majority class": "majority"}
    scores = {name: getattr(summary, field) for name, field in names.items()}
    console.print(f"{title}\n", style="bold")
    console.print(
        tables.scores(
            ("error", "κ", "κ temporal"),
            {name: (score.error, score.kappa, score.kappa_temporal) for name, score in scores.items()},
        )
    )
    console.print(
        f"\n{kinds}"
        "\nEvery row was predicted before its label was learned."
        "\nκ above 0 beats guessing by class frequency; κ temporal above 0 beats repeating the last label.\n"
    )
    errors = {name: getattr(curve, field).error for name, field in names.items()}
    try:
        figure = curves.draw_over_time(curve.rows, errors, None, title=title, window=window)
    except MissingExtra as error:
        console.print(f"No picture: {error}", soft_wrap=True)
        return
    paths = " and ".join(map(str, style.save(figure, out, "demo")))
    console.print(f"Error over time: {paths}", soft_wrap=True)


def _learn(rows: int, seed: int, window: int) -> tuple[Summary, Curve, str]:
    """Walk the stream past the default once, with progress; scores, the same over time, what carries the weight."""
    from thalweg.cli.terminal import progress
    from thalweg.evaluate import Meter, Windowed, curve, prequential
    from thalweg.learners.auto import AutoClassifier
    from thalweg.streams import WanderingDisc

    stream = WanderingDisc(seed=seed, rows_per_turn=rows)
    model = AutoClassifier()
    overall = Meter()

    with progress() as tell:

        def watched() -> Iterator[Record]:
            for record in prequential(model, stream, rows=rows, chunk=max(1, rows // 100)):
                overall.update(record)
                tell((record.start + len(record)) / rows, "predicting and learning")
                yield record

        curves = curve(watched(), every=max(1, rows // POINTS), average=Windowed(window))
    return overall.summary(), curves, model.explain().splitlines()[1]
