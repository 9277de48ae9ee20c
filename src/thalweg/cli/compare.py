"""``thalweg compare``: runs side by side, with tests of their differences."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.console import Console

    from thalweg.run.compare import DataSet
    from thalweg.run.pairs import Pair, Ranking


def compare(
    runs: Annotated[list[Path], typer.Argument(metavar="METRICS...", help="Folder or metrics.json of each run.")],
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder for a figure: errors over time, or ranks over several data sets."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print only the comparison, as JSON; draw no figure.")] = False,
) -> None:
    """Compare runs and test their differences.

    Runs over the same data are tested in pairs, by McNemar's test over rows (from predictions.csv) and by Wilcoxon's
    test over windows. Differences of errors have intervals over blocks of rows; of runs with the same --positive label
    also those of PR AUC, ROC AUC, recall and cost. Rows count whose labels came by the end of both runs. Runs over
    several data sets are ranked, with Friedman's test and Nemenyi's critical difference.
    """
    from rich.console import Console

    from thalweg.report.comparison_figures import draw_mean_ranks
    from thalweg.run.compare import gather, read_run
    from thalweg.run.comparison import draw_errors
    from thalweg.run.pairs import pairs, ranking

    sets = gather([read_run(path) for path in runs])
    if json:
        _print_json(sets)
        return
    console = Console(markup=False, highlight=False)  # paths may hold brackets
    if len(sets) == 1:
        _side_by_side(console, sets[0], pairs(sets[0]))
        if out is not None:
            _draw(console, partial(draw_errors, sets[0]), out, "Errors over time", "errors")
        return
    ranks = ranking(sets)
    _ranked(console, sets, ranks)
    if out is not None:
        mean_ranks = dict(zip(ranks.names, ranks.test.mean_ranks.tolist(), strict=True))
        title = f"Mean ranks over {len(sets)} data sets"
        draw = partial(draw_mean_ranks, mean_ranks, ranks.difference, title=title)
        _draw(console, draw, out, "Mean ranks", "critical-difference")


def _print_json(sets: Sequence[DataSet]) -> None:
    import json

    from thalweg.run.comparison import comparison
    from thalweg.run.pairs import pairs, ranking

    content = comparison(sets, pairs=pairs(sets[0])) if len(sets) == 1 else comparison(sets, ranking=ranking(sets))
    typer.echo(json.dumps(content, ensure_ascii=False, allow_nan=False))


def _side_by_side(console: Console, data: DataSet, pairs: Sequence[Pair]) -> None:
    from thalweg.report import tables
    from thalweg.run.comparison import compared_scores, difference_table, verdict
    from thalweg.run_metrics import target_word

    first = next(iter(data.runs.values()))
    about = f"{data.source}, {target_word(first.metrics)} {data.target}, {data.rows:,} rows"
    console.print(about, style="bold", soft_wrap=True)
    delays = {name: run.metrics["run"]["options"].get("delay") or 0 for name, run in data.runs.items()}
    late = ", ".join(f"{name} {rows:,} rows late" for name, rows in delays.items())
    differ = f" Labels came at other times: {late}." if len(set(delays.values())) > 1 else ""
    console.print(f"{verdict(data, pairs)}{differ}\n")
    scores = compared_scores(data)
    cells = tables.written(scores.lines, scores.forms, digits=4)
    console.print(tables.lines(("", *scores.measures), cells), "")
    if any(pair.rare for pair in pairs):
        _label_scores(console, data, pairs)
    headers, groups = difference_table(data, pairs)
    indented = {pair: [(f"  {name}", *cells) for name, *cells in lines] for pair, lines in groups.items()}
    console.print(tables.sections(headers, indented))
    console.print(f"\n{' '.join(_notes(data, pairs))}")


def _label_scores(console: Console, data: DataSet, pairs: Sequence[Pair]) -> None:
    """Scores of the rare class that all runs are about."""
    from thalweg.evaluate.metrics import METRICS
    from thalweg.report import tables
    from thalweg.run.compare_rare import SCORES

    shown = [METRICS[name] for name in SCORES if any(name in (pair.rare or {}) for pair in pairs)]
    positive = next(iter(data.runs.values())).metrics["rare"]["positive"]
    console.print(f"Label {positive}\n", style="bold", soft_wrap=True)
    scores = {name: run.metrics["scores"]["model"] for name, run in data.runs.items()}
    values = {name: [own.get(metric.name) for metric in shown] for name, own in scores.items()}
    cells = tables.written(values, [metric.form for metric in shown], digits=4)
    console.print(tables.lines(("", *(metric.title for metric in shown)), cells), "")


def _notes(data: DataSet, pairs: Sequence[Pair]) -> Iterator[str]:
    from thalweg.report.score_table import KAPPAS
    from thalweg.run.compare import columns_left_out, has_predictions
    from thalweg.run.pairs import LEAST_WINDOWS

    runs = list(data.runs.values())
    if not runs[0].of_numbers:
        yield KAPPAS
    if any(pair.rows is not None for pair in pairs):
        yield (
            "McNemar's test counts the rows on which only one of two runs was wrong. It assumes independent rows: "
            "where mistakes cluster, its p is too small."
        )
    if any(pair.errors for pair in pairs):
        yield (
            "Differences of errors are the first's less the second's, means over the rows that both scored, with "
            "95 % intervals of Student over blocks of consecutive rows; no correction for several pairs."
        )
    else:
        yield "A difference is the error of the first run less that of the second: below 0 the first is better."
    for note in columns_left_out({name: run.metrics for name, run in data.runs.items()}):
        yield f"{note}."
    without = [str(run.path) for run in runs if not has_predictions(run, runs)]
    if without:
        yield f"No test over the rows: {without[0]} has no predictions.csv of its own beside it."
    window = runs[0].metrics["curve"]["window"]
    if counts := sorted({pair.windows.windows for pair in pairs if pair.windows is not None}):
        number = " to ".join(map(str, [*counts[:1], *counts[1:][-1:]]))
        yield f"Wilcoxon's test compares the errors in {number} windows of {window:,} rows that do not overlap."
    elif data.rows < LEAST_WINDOWS * window:
        yield f"No test over windows: there are fewer than {LEAST_WINDOWS} of {window:,} rows."
    else:
        reason = f"fewer than {LEAST_WINDOWS} end at the same row in both runs"
        yield f"No test over windows: {reason}. Do their delays differ?"
    if any(pair.rare for pair in pairs):
        yield (
            "Differences of the scores of a label have 95 % intervals of the jackknife over blocks of consecutive "
            "rows; no correction for several pairs."
        )
    scored = {name: run.metrics["rows"]["scored"] for name, run in data.runs.items()}
    if len(set(scored.values())) > 1:
        rows = ", ".join(f"{name} {count:,}" for name, count in scored.items())
        yield (
            f"Scores are not over the same rows: by run, the rows whose labels came in time are {rows}. Tests over "
            "rows count those that both runs scored."
        )
    if len(pairs) > 1:
        yield f"Each p is corrected for {len(pairs)} pairs by Holm's method."


def _ranked(console: Console, sets: Sequence[DataSet], ranks: Ranking) -> None:
    from thalweg.report import tables
    from thalweg.run.comparison import better_baseline, p_words

    lines = [
        (data.source, *(_number(error) for error in errors))
        for data, errors in zip(sets, ranks.errors.tolist(), strict=True)
    ]
    mean_ranks = ("mean rank", *(f"{rank:.2f}" for rank in ranks.test.mean_ranks))
    console.print("Errors\n", style="bold")
    console.print(
        tables.lines(
            ("", *(name.replace(" ", "\n") for name in ranks.names)), [*lines, [""] * len(mean_ranks), mean_ranks]
        ),
        "",
    )
    verdict = "differ" if ranks.test.p_value < 0.05 else "do not differ significantly"
    console.print(
        f"Over {len(sets)} data sets the models {verdict}, p = {p_words(ranks.test.p_value)} by Friedman's test. "
        f"Two of them differ where their mean ranks are at least {ranks.difference:.2f} apart (Nemenyi, 0.05)."
    )
    if beaten := [data.source for data in sets if better_baseline(data)]:
        console.print(f"A baseline has a lower error than every model on {', '.join(beaten)}.")


def _draw(console: Console, draw: Callable[[], Figure], out: Path, what: str, stem: str) -> None:
    from thalweg.cli.terminal import writable_folder
    from thalweg.errors import MissingExtra
    from thalweg.report import style

    try:
        figure = draw()
    except MissingExtra as error:
        console.print(f"No picture: {error}", soft_wrap=True)
        return
    paths = " and ".join(map(str, style.save(figure, writable_folder(out), stem)))
    console.print(f"\n{what}: {paths}", soft_wrap=True)


def _number(value: float | None) -> str:
    return "" if value is None else f"{round(value, 4) + 0.0:.4f}".replace("-", "−")  # no negative zero
