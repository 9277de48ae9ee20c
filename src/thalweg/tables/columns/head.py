"""The first cells of a column, as each kind of column looks at them for its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from thalweg.tables.cells import BadCell, is_text, names, numbers, trimmed
from thalweg.tables.number_forms import Decimal, unit_of
from thalweg.tables.rows import as_text

if TYPE_CHECKING:
    import pyarrow as pa

    from thalweg.tables.timestamps import FoundForm

#: What a user may say that a column holds.
Declared = Literal["categories", "numbers", "text"]
#: Words among so many numbers, or times, are slips: their rows are bad. With more, all cells are categories.
FEW_WORDS = 0.05
#: With more different values than this, for more than half of the cells, categories hardly ever come again.
_MANY = 50
#: Rates by category where the number of labels is not known.
USUAL_RATES = 3
HASH_BITS, MOST_HASH_BITS = 20, 30


@dataclass(frozen=True)
class ColumnHead:
    """Of one column, with what is known of it beforehand."""

    name: str
    #: Less those that stand for a missing one.
    cells: pa.ChunkedArray
    given: Declared | None = None
    #: Categories that a file declares.
    values: Sequence[str] = ()
    #: The decimal separator of all columns, and that of a cell such as 1,250, which shows none.
    decimal: Decimal | None = None
    decimal_of_unclear: Callable[[str], Decimal] = lambda cell: "."
    #: How its times are written, where that is known.
    form: FoundForm | None = None
    rates: int = USUAL_RATES
    #: Whether strings that mostly differ are text where they hold words, and which runs of words are features then.
    detect_text: bool = False
    ngrams: tuple[int, int] = (1, 1)
    hash_bits: int = HASH_BITS

    @cached_property
    def is_text(self) -> bool:
        return is_text(self.cells)

    @property
    def declared(self) -> Declared | None:
        """What the user or the type says that the column holds; only text can be numbers in spite of how it looks."""
        import pyarrow as pa

        if pa.types.is_boolean(self.cells.type):
            return self.given or "categories"
        return None if self.given == "numbers" and not self.is_text else self.given

    @property
    def is_empty(self) -> bool:
        cells = trimmed(self.cells) if self.is_text else self.cells
        return bool(cells.null_count == len(cells))

    @cached_property
    def words(self) -> pa.ChunkedArray:
        """The cells as trimmed text, null where a number or time would be missing."""
        return trimmed(as_text(self.cells))

    @cached_property
    def different(self) -> list[str]:
        words: list[str] = self.words.drop_null().unique().to_pylist()
        return words

    @cached_property
    def counts(self) -> Counter[str]:
        """The different words, and how often each stands there."""
        return _counts(self.words)

    @cached_property
    def code(self) -> str | None:
        return code_among(self.cells)

    @cached_property
    def numbers(self) -> NDArray[np.float64] | None:
        """The cells as plain numbers; None where one is none."""
        try:
            return numbers(self.cells, self.decimal or ".")
        except BadCell:
            return None

    @cached_property
    def is_of_words(self) -> bool:
        """Whether the words alone decide: there is no type, form, code or plain number that does."""
        return not (self.is_text and self.form is not None) and self.code is None and self.numbers is None

    @cached_property
    def names(self) -> list[str]:
        """The cells as names of categories, less those that are empty."""
        words: list[str] = names(self.cells).drop_null().to_pylist()
        return words

    @cached_property
    def categories(self) -> list[str]:
        return list(dict.fromkeys(self.names))

    @property
    def mostly_differs(self) -> bool:
        """Whether categories hardly ever come again, although nobody said that they are categories."""
        distinct = len(self.categories)
        return self.declared is None and distinct > _MANY and distinct > len(self.names) / 2

    @property
    def holds_json(self) -> bool:
        """Whether every cell is a list or an object of JSON, in text."""
        cells = self.categories
        return bool(cells) and self.declared is None and all(cell[0] + cell[-1] in ("{}", "[]") for cell in cells)


def _counts(words: pa.ChunkedArray) -> Counter[str]:
    counted = words.drop_null().value_counts()
    return Counter(dict(zip(*(counted.field(at).to_pylist() for at in (0, 1)), strict=True)))


def code_among(column: pa.ChunkedArray) -> str | None:
    """A cell such as 01001, where cells are whole numbers of one width of which some begin with zeros; else None.

    Postal codes, FIPS and the like: their zeros say that they count nothing. A few cells may be words.

    Examples
    --------
    >>> import pyarrow as pa
    >>> code_among(pa.chunked_array([["10001", "02138", ""]])), code_among(pa.chunked_array([["100", "0", "02"]]))
    ('02138', None)
    """
    if not is_text(column):
        return None
    counts = _counts(trimmed(column))
    codes = [cell for cell in counts if cell.isascii() and cell.isdigit()]
    code = next((cell for cell in codes if cell[0] == "0"), None)
    if code is None or len(code) == 1 or any(len(cell) != len(code) for cell in codes):
        return None
    words = [cell for cell in counts if not (cell.isascii() and cell.isdigit())]
    few = sum(map(counts.__getitem__, words)) <= FEW_WORDS * counts.total()
    return code if few and all(unit_of(cell) is None for cell in words) else None
