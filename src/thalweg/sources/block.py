"""What a reader gives: some rows of one file, as columns, and the rows it could not read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class BadRow:
    """A row that cannot be used: where it stands, and what is wrong with it.

    Examples
    --------
    >>> print(BadRow("prices.csv", 7, "demand", "'high' is not a number"))
    prices.csv, row 7, column 'demand': 'high' is not a number
    """

    file: str
    #: Counted from 1, without the header.
    row: int
    column: str | None
    what: str

    def __str__(self) -> str:
        column = "" if self.column is None else f", column {self.column!r}"
        return f"{self.file}, row {self.row:,}{column}: {self.what}"


@dataclass(frozen=True)
class Block:
    """Rows of one file that stand together, less the bad ones among them."""

    table: pa.Table
    file: str
    #: The number of each row in its file, from 1.
    first_row: int
    bad: list[BadRow] = field(default_factory=list)
    #: Whether its columns have types of their own, as those of CSV and JSON have not.
    typed: bool = False

    def number_of(self, at: int) -> int:
        """The number in its file of the row at this place of the table."""
        number = self.first_row + at
        for bad in sorted(self.bad, key=lambda bad: bad.row):
            number += bad.row <= number
        return number
