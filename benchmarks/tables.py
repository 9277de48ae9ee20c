"""The results as tables for the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.table import Table

from benchmarks.records import Finding, Record, groups
from benchmarks.sizes import amount


def tables(records: Sequence[Record]) -> Iterator[tuple[str, Table]]:
    """A heading and a table for each setting and work, the cheapest first and ours in bold."""
    for (where, work), group in groups(records).items():
        yield ": ".join(part for part in (where, work) if part), _compared(group)


def findings_table(findings: Sequence[Finding]) -> Table:
    """What follows from the records, each with its target."""
    table = _empty("", "found", "target", " ")
    for finding in findings:
        least = finding.at_least is not None
        bound = finding.at_least if least else finding.at_most
        table.add_row(
            finding.what,
            number(finding.value, finding.unit),
            "" if bound is None else f"{'at least' if least else 'at most'} {number(bound, finding.unit)}",
            {True: "met", False: "missed", None: ""}[finding.met],
            style="yellow" if finding.met is False else None,
        )
    return table


def number(value: float, unit: str) -> str:
    """A number to three places, with its unit."""
    return f"{value:,.3g} {unit}".rstrip() if value < 1000 else f"{value:,.0f} {unit}".rstrip()


def _compared(group: Sequence[Record]) -> Table:
    ratios = list(dict.fromkeys(name for record in group for name in record.ratios))
    also = list(dict.fromkeys(name for record in group for name in record.also))
    rate = ["rows/s"] if group[0].per == "row" and group[0].unit == "seconds" else []
    table = _empty("", f"a {group[0].per}", *rate, *ratios, *also, "median", "spread")
    for record in sorted(group, key=lambda record: record.best):
        table.add_row(
            record.model,
            amount(record.best, record.unit),
            *(_rate(1 / record.best) for _ in rate),
            *(_ratio(record.ratios.get(name)) for name in ratios),
            *(_plain(record.also.get(name)) for name in also),
            amount(record.median, record.unit),
            f"{record.spread:.0%}",
            style="bold" if record.side == "ours" else "italic" if record.side == "limit" else None,
        )
    return table


def _empty(*headers: str) -> Table:
    table = Table(header_style="dim", box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for header in headers:
        table.add_column(header, justify="right" if header else "left", no_wrap=True)
    return table


def _rate(rows_per_second: float) -> str:
    size, unit = (1e6, " M") if rows_per_second >= 1e6 else (1e3, " k")
    return f"{rows_per_second / size:.3g}{unit}"


def _ratio(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:,.3g}" if ratio < 100 else f"{ratio:,.0f}"


def _plain(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"
