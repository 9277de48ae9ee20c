"""What the columns of a model are, as one reads it."""

from __future__ import annotations

from html import escape

from thalweg.tables.plan import grouped

_TITLES = ("column", "kind", "what is done")


class Columns(list[tuple[str, str, str]]):
    """Name, kind and treatment of each column; printed as a table, in which alike neighbours share a line.

    Examples
    --------
    >>> Columns([("load", "number", "as it is"), ("wet", "–", "the label")])
    column  kind    what is done
    load    number  as it is
    wet     –       the label
    """

    def __repr__(self) -> str:
        lines = [_TITLES, *grouped(self)]
        widths = [max(len(line[at]) for line in lines) for at in (0, 1)]
        return "\n".join(f"{name:{widths[0]}}  {kind:{widths[1]}}  {done}" for name, kind, done in lines)

    def _repr_html_(self) -> str:
        head, *rows = ("".join(f"<td>{escape(cell)}</td>" for cell in line) for line in (_TITLES, *grouped(self)))
        return f"<table><thead><tr>{head}</tr></thead>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"
