"""Tables for the terminal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Literal, NamedTuple

from thalweg.papers import records
from thalweg.papers.records import Cell, Finding

if TYPE_CHECKING:
    from rich.table import Table

MARK = "•"


class _Column(NamedTuple):
    header: str
    cell: Callable[[Finding], str]
    justify: Literal["left", "right"] = "right"


def comparison(findings: Sequence[Finding]) -> Table:
    """Paper and measured side by side, a section for each data set, its best model in bold.

    Columns that would be empty are left out.
    """
    columns = [column for column in _COMPARISON if any(map(column.cell, findings))]
    table = _empty()
    for column in columns:
        table.add_column(column.header, justify=column.justify, no_wrap=True)
    for data, group in groupby(findings, key=lambda finding: finding.data):
        if table.row_count:
            table.add_row()
        table.add_row(data, style="bold")
        members = list(group)
        best = min((finding.measured for finding in members if finding.symbol), default=None)
        for finding in members:
            style = "bold" if finding.measured == best else None if finding.symbol else "dim"
            table.add_row(*[column.cell(finding) for column in columns], style=style)
    return table


def grid(cells: Sequence[Cell]) -> Table:
    """One line of cells per rate, one column per model: mean, (SD over time) and mean SD over runs.

    Where the paper prints a cell, its number stands left of ours. Leading zeros are left out, or it would not fit.
    """
    table = _empty()
    models = list(dict.fromkeys(cell.model for cell in cells))
    with_paper = {cell.model for cell in cells if cell.printed is not None}
    table.add_column("\nλ", no_wrap=True)
    for model in models:
        header = f"{model}\n{'paper  here' if model in with_paper else ' here'}"
        table.add_column(header, no_wrap=True)
    for rate in dict.fromkeys(cell.rate for cell in cells):
        line = {cell.model: cell for cell in cells if cell.rate == rate}
        columns = [line.get(model) for model in models]
        table.add_row(f"{rate or 0:.1f}".lstrip("0"), *[_curve_part(cell, "mean") for cell in columns])
        table.add_row("", *[_curve_part(cell, "sd_curve") for cell in columns], style="dim")
        table.add_row("", *[_curve_part(cell, "mean_sd") for cell in columns], style="dim")
    return table


def facts(stated: Sequence[records.Fact]) -> Table:
    """What the paper says, if anything, beside what was measured, a section for each of its parts.

    A number in brackets is that of the remark in `fact.remarks`.
    """
    table = _empty()
    numbers = {said: number for number, said in enumerate(records.distinct_remarks(stated), start=1)}
    printed_some = any(each.printed is not None for each in stated)
    table.add_column("", no_wrap=True)
    for header in ("paper", "here") if printed_some else ("here",):
        table.add_column(header, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    for part, group in groupby(stated, key=lambda each: each.part):
        if table.row_count:
            table.add_row()
        table.add_row(part, style="bold")
        for each in group:
            printed = ["" if each.printed is None else f"{each.printed:.4f}"] if printed_some else []
            spread = "" if each.ci95 is None else f" ± {each.ci95:.4f}"
            mark = f"({numbers[each.remark]})" if each.remark else ""
            table.add_row(f" {each.quantity}", *printed, f"{each.measured:.4f}{spread}", mark)
    return table


def errors(headers: Sequence[str], groups: Sequence[Mapping[str, Sequence[float | None]]]) -> Table:
    """Models by streams, with a gap between the groups of models; the least error on each stream is bold.

    What was not measured stays empty. Leading zeros are left out, or it would not fit.
    """
    from rich.text import Text

    table = _empty(gap=1)
    table.add_column("", no_wrap=True)
    for header in headers:
        table.add_column(header, justify="right", no_wrap=True, vertical="bottom")
    lines = [line for group in groups for line in group.values()]
    least = [min((value for value in column if value is not None), default=None) for column in zip(*lines, strict=True)]
    for group in groups:
        if table.row_count:
            table.add_row()
        for name, line in group.items():
            cells = [
                Text("" if value is None else f"{value:.4f}".lstrip("0"), style="bold" if value == best else "")
                for value, best in zip(line, least, strict=True)
            ]
            table.add_row(name, *cells)
    return table


def sections(headers: Sequence[str], groups: Mapping[str, Mapping[str, Sequence[str]]]) -> Table:
    """Lines of ready text, each group under its name in bold."""
    table = _empty()
    table.add_column("", no_wrap=True)
    for header in headers:
        table.add_column(header, justify="right", no_wrap=True, vertical="bottom")
    for name, lines in groups.items():
        if table.row_count:
            table.add_row()
        table.add_row(name, style="bold")
        for line, cells in lines.items():
            table.add_row(f" {line}", *cells)
    return table


def ranks(mean_ranks: Mapping[str, float]) -> Table:
    """Models by their mean rank, the best first."""
    table = _empty()
    table.add_column("", no_wrap=True)
    table.add_column("mean rank", justify="right", no_wrap=True)
    for name, rank in sorted(mean_ranks.items(), key=lambda each: each[1]):
        table.add_row(name, f"{rank:.2f}")
    return table


def scores(measures: Sequence[str], lines: Mapping[str, Sequence[float | None]]) -> Table:
    """Several measures of several classifiers, a line each; what a classifier does not have stays empty."""
    table = _empty()
    table.add_column("", no_wrap=True)
    for measure in measures:
        table.add_column(measure, justify="right", no_wrap=True)
    for number, (name, values) in enumerate(lines.items()):
        cells = ["" if value is None else f"{value:.3f}" for value in values]
        table.add_row(name, *cells, style="bold" if number == 0 else None)
    return table


def speeds(lines: Mapping[str, Mapping[str, float]]) -> Table:
    """Measures of several models, a line each with the same ones, whole numbers from a thousand on."""
    table = _empty()
    table.add_column("", no_wrap=True)
    for measure in next(iter(lines.values())):
        table.add_column("\n".join(measure.rsplit(" ", 1)), justify="right", no_wrap=True, vertical="bottom")
    for name, values in lines.items():
        table.add_row(name, *(f"{value:,.0f}" if value >= 1000 else f"{value:.4f}" for value in values.values()))
    return table


def lines(headers: Sequence[str], rows: Sequence[Sequence[str]], *, gap: int = 2) -> Table:
    """Ready-made words and numbers: the first column names the line, the others stand right."""
    table = _empty(gap)
    for place, header in enumerate(headers):
        table.add_column(header, justify="right" if place else "left", no_wrap=True, vertical="bottom")
    for row in rows:
        table.add_row(*row)
    return table


def words(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """Words in columns that may take several lines."""
    table = _empty()
    for header in headers:
        table.add_column(header, vertical="top")
    for row in rows:
        table.add_row(*row)
    return table


def _empty(gap: int = 2) -> Table:
    from rich.table import Table

    # Seven columns fit into 80 characters only without lines.
    return Table(header_style="dim", box=None, padding=(0, gap, 0, 0), pad_edge=False)


def _curve_part(cell: Cell | None, part: Literal["mean", "sd_curve", "mean_sd"]) -> str:
    """The paper's number and ours, or ours alone."""
    if cell is None:
        return ""
    curves = [cell.measured] if cell.printed is None else [cell.printed, cell.measured]
    digits = 3 if part == "sd_curve" else 4
    numbers = [getattr(curve, part) for curve in curves]
    text = " ".join("" if number is None else f"{number:.{digits}f}".lstrip("0") for number in numbers)
    return f"({text})" if part == "sd_curve" else text


def _model(finding: Finding) -> str:
    return f" {finding.model} {finding.symbol}".rstrip()


def _printed_rate(finding: Finding) -> str:
    printed = finding.printed
    return "" if printed is None or printed.rate is None else f"{printed.rate:.2f}"


def _printed_error(finding: Finding) -> str:
    return "" if finding.printed is None else _interval(finding.printed.error, finding.printed.ci95)


def _rate(finding: Finding) -> str:
    return "" if finding.rate is None else f"{finding.rate:.2f}"


def _measured(finding: Finding) -> str:
    return _interval(finding.measured, finding.ci95) + (f" {MARK}" if finding.differs else "")


def _at_printed_rate(finding: Finding) -> str:
    return "" if finding.at_printed_rate is None else f"{finding.at_printed_rate[0]:.3f}"


def _kappa_temporal(finding: Finding) -> str:
    return "" if finding.kappa_temporal is None else f"{finding.kappa_temporal:+.3f}"


def _interval(error: float, ci95: float | None) -> str:
    return f"{error:.3f}" if ci95 is None else f"{error:.3f} ± {ci95:.3f}"


_COMPARISON = (
    _Column("", _model, "left"),
    _Column("rate\npaper", _printed_rate),
    _Column("rate\nhere", _rate),
    _Column("error\npaper", _printed_error, "left"),
    _Column("error\nhere", _measured, "left"),
    _Column("at paper\nrate", _at_printed_rate),
    _Column("κ tem-\nporal", _kappa_temporal),
)
