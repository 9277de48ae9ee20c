"""Tables for the terminal."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

Cells: TypeAlias = "Sequence[str | Text]"


class Styled(NamedTuple):
    """A line in one style, such as "bold"."""

    cells: Cells
    style: str | None


Line: TypeAlias = "Cells | Styled"


def lines(headers: Sequence[str], rows: Sequence[Line], *, gap: int = 2, left: Collection[int] = (0,)) -> Table:
    """Formatted cells, aligned right except for the columns in ``left``, which wrap where the terminal is narrow."""
    table = _empty(gap)
    for place, header in enumerate(headers):
        named = place in left
        table.add_column(
            header, justify="left" if named else "right", no_wrap=not named, overflow="fold", vertical="bottom"
        )
    for row in rows:
        cells, style = row if isinstance(row, Styled) else (row, None)
        table.add_row(*cells, style=style)
    return table


def sections(
    headers: Sequence[str], groups: Mapping[str, Sequence[Line]], *, gap: int = 2, left: Collection[int] = (0,)
) -> Table:
    """Lines in groups, each group under its name in bold and after an empty line."""
    rows: list[Line] = []
    for name, group in groups.items():
        rows += [*([()] if rows else []), Styled([name], "bold"), *group]
    return lines(headers, rows, gap=gap, left=left)


def errors(headers: Sequence[str], groups: Sequence[Mapping[str, Sequence[float | None]]]) -> Table:
    """Models by streams, with a gap between the groups of models; the least error on each stream is bold.

    What was not measured stays empty. Leading zeros are left out, or it would not fit.
    """
    from rich.text import Text

    measured = [line for group in groups for line in group.values()]
    least = [
        min((value for value in column if value is not None), default=None) for column in zip(*measured, strict=True)
    ]
    rows: list[Line] = []
    for group in groups:
        if rows:
            rows.append(())
        for name, line in group.items():
            cells = [
                Text("" if value is None else f"{value:.4f}".lstrip("0"), style="bold" if value == best else "")
                for value, best in zip(line, least, strict=True)
            ]
            rows.append([name, *cells])
    return lines(("", *headers), rows, gap=1)


def scores(measures: Sequence[str], values: Mapping[str, Sequence[float | None]], forms: Sequence[str] = ()) -> Table:
    """Several measures of several models, a line each, the first in bold; a missing value stays empty."""
    rows = written(values, forms)
    return lines(("", *measures), [Styled(rows[0], "bold"), *rows[1:]] if rows else [])


def written(
    values: Mapping[str, Sequence[float | None]], forms: Sequence[str] = (), digits: int = 3
) -> list[tuple[str, ...]]:
    """The name and the cells of each line, by the forms of their metrics (`thalweg.evaluate.Metric`); else as numbers.

    What is no amount has so many decimals; up to five in a column of small values, one of which would have one digit.

    Examples
    --------
    >>> written({"model": (0.5, 1200.0), "mean": (0.0012, None)}, ("number", "amount"))
    [('model', '0.500', '1,200'), ('mean', '0.001', '')]
    """
    from thalweg.report.page.formats import plain, short

    columns = []
    for column, form in zip_longest(zip(*values.values(), strict=True), forms):
        write = short if form == "amount" else partial(plain, digits=max(digits, _digits(column)))
        columns.append(["" if value is None else write(value) for value in column])
    return list(zip(values, *columns, strict=True))


def _digits(column: Sequence[float | None]) -> int:
    sizes = [abs(value) for value in column if value]
    if max(sizes, default=1.0) >= 0.1 or min(sizes) >= 0.0095:
        return 3
    return 4 if min(sizes) >= 0.00095 else 5


def words(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
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
