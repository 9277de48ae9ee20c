"""The results as tables for the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from contest import Timing
from rich.table import Table


def speeds(results: Sequence[dict[str, Any]]) -> Table:
    """The contestants at one width, a section for each operation, the fastest first and ours in bold."""
    table = _empty("", "rows/s", "ns/row", "× River", "spread")
    for operation, group in groupby(results, key=lambda result: result["operation"]):
        if table.row_count:
            table.add_row()
        table.add_row(operation, style="dim italic")
        for result in sorted(group, key=lambda result: -result["rows_per_second"]):
            ratio = result["times_river"]
            table.add_row(
                f" {result['model']}",
                _rate(result["rows_per_second"]),
                _nanoseconds(result["rows_per_second"]),
                "" if ratio is None else f"{ratio:,.3g}" if ratio < 100 else f"{ratio:,.0f}",
                f"{result['spread']:.0%}",
                style="bold" if result["ours"] else None,
            )
    return table


def limits(results: Sequence[dict[str, Any]]) -> Table:
    """Our share of the limit at each width."""
    table = _empty("features", "ours\nns/row", "C\nns/row", "share of\nthe limit", "spread\nours", "spread\nC")
    for result in results:
        table.add_row(
            str(result["features"]),
            _nanoseconds(result["rows_per_second"]),
            _nanoseconds(result["limit_rows_per_second"]),
            f"{result['share']:.2f}",
            f"{result['spread']:.0%}",
            f"{result['limit_spread']:.0%}",
        )
    return table


def command_lines(timings: Mapping[str, Timing], errors: Mapping[str, float]) -> Table:
    """Whole commands, each beside the first."""
    table = _empty("", "seconds", "rows/s", "spread", "× the time\nof the first", "share wrong")
    first = next(iter(timings.values()))
    for name, timing in timings.items():
        table.add_row(
            name,
            f"{min(timing.seconds):.2f}",
            _rate(timing.best),
            f"{timing.spread:.0%}",
            f"{first.best / timing.best:.2f}",
            f"{errors[name]:.4f}",
        )
    return table


def untuned(results: Sequence[dict[str, Any]]) -> Table:
    """The untuned default at each width."""
    table = _empty(
        "features",
        "AutoClassifier\nns/row",
        "its parts\none by one",
        "River scaled\nlogistic, ns",
        "× River",
        "× River,\ndict rows",
    )
    for result in results:
        table.add_row(
            str(result["features"]),
            _nanoseconds(result["rows_per_second"]),
            f"{result['parts']:.2f} ×",
            _nanoseconds(result["river"]),
            f"{result['times_river']:.1f}",
            f"{result['dicts_times_river']:.1f}",
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


def _nanoseconds(rows_per_second: float) -> str:
    return f"{1e9 / rows_per_second:,.0f}"
