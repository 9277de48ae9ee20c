"""The target column: labels as text, or numbers to predict.

Of labels only an empty cell is none: ``none`` and ``NA`` are labels. Whole numbers are written without a point, so that
1 and 1.0 are one class. Of numbers ``NA`` and the like are missing, as in other columns.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from thalweg.errors import InvalidInput
from thalweg.option_names import option
from thalweg.tables.cells import BadCell, brief, is_text, names, numbers, parsed, trimmed
from thalweg.tables.columns.number import NumberColumn
from thalweg.tables.number_forms import Decimal, NumberForm, number_form
from thalweg.tables.plan import decimal_of_table, decimal_of_unclear

if TYPE_CHECKING:
    from thalweg.tables.rows import Chunk

#: What labels in memory were before they became text.
LabelType: TypeAlias = Literal["integer", "number", "boolean"]
#: Beyond this many different whole numbers a target is taken for a quantity.
_MOST_WHOLE = 50
#: Fewer are one, too, where at least half of them, and at least so many, occur once, and they span so much: amounts.
_LEAST_SINGLE, _LEAST_SPAN, _SPAN_EACH = 2, 100.0, 10
#: Texts need more than this many, and more than one for every two rows, to be taken for names or times.
_MOST_TEXTS = 100
_WHOLE = re.compile(r"([+-]?[0-9]+)\.0*")


@dataclass(frozen=True)
class Target:
    """The labels of a table."""

    name: str
    #: Whether the user says that its numbers are classes, whatever they are.
    declared: bool = False

    def quantity(self, head: Chunk, decimal: Decimal | None = None) -> str | None:
        """What numbers the first rows hold, where these are a quantity and not classes; None for classes."""
        if self.declared or self.name in head.nominal:
            return None
        column = head.column(self.name)
        numbers = self._as_numbers(head, decimal)
        if numbers is None:
            return None
        values, wrong = parsed(numbers, column)
        if wrong and not self._unrepeated(head):
            return None
        quantity = quantity_among(values)
        return None if quantity is None else f"{quantity} in the first {len(values):,} rows"

    def require_classes(self, head: Chunk) -> None:
        """Refuse texts most of which occur once, such as dates, names or keys: each would become a class."""
        if self.declared or self.name in head.nominal or self._holds_numbers(head):
            return
        if fault := self._unrepeated(head):
            raise InvalidInput(
                f"{head.pieces[0].block.file}: the target {self.name!r} must hold classes, but it has {fault}; "
                f"if they are classes nevertheless, say so with {option('categorical', self.name)}"
            )

    def _holds_numbers(self, head: Chunk) -> bool:
        return self.different_numbers(head) is not None

    def different_numbers(self, head: Chunk) -> int | None:
        """How many different numbers the first rows hold; None where they are texts."""
        try:
            values = numbers(head.column(self.name))
        except BadCell:
            return None
        return len(np.unique(values[~np.isnan(values)]))

    def _unrepeated(self, head: Chunk) -> str | None:
        """How many different texts there are, where most of them occur once."""
        known, places = self.labels(head)
        if len(known) <= max(_MOST_TEXTS, int((places >= 0).sum()) // 2):
            return None
        return f"{len(known):,} different values in the first {len(places):,} rows, such as {brief(known[0])!r}"

    def number_column(self, head: Chunk, decimal: Decimal | None = None) -> NumberColumn:
        """How the cells are read as numbers; an `InvalidInput` where most of the first ones are none."""
        numbers = self._as_numbers(head, decimal)
        if numbers is None:
            column = head.column(self.name)
            cell = next(cell for cell in column.to_pylist() if cell is not None and str(cell).strip())
            raise InvalidInput(
                f"{head.pieces[0].block.file}: the target {self.name!r} must hold numbers for regression, but it holds "
                f"{brief(str(cell))!r}; {option('task', 'classification')} takes its values for classes"
            )
        return numbers

    def _as_numbers(self, head: Chunk, decimal: Decimal | None) -> NumberColumn | None:
        """The column, with the form in which most cells are numbers; None where they are none."""
        cells = head.column(self.name)
        form = None
        if is_text(cells):
            shown = partial(decimal_of_table, head)
            different = trimmed(cells).drop_null().unique().to_pylist()
            form = number_form(different, decimal, lambda cell: decimal_of_unclear(cell, head, shown))
        form = form or NumberForm(decimal or ".")
        column = NumberColumn(self.name, indicator=False, decimal=form.decimal, unit=form.unit)
        values, wrong = parsed(column, cells)
        return column if not wrong or int((~np.isnan(values)).sum()) > len(wrong) else None

    def labels(self, chunk: Chunk) -> tuple[list[str], NDArray[np.int32]]:
        """The different labels in the order of their arrival, and which of them each row has; -1 for none."""
        import pyarrow as pa
        import pyarrow.compute as pc

        cells = chunk.column(self.name)
        # Texts are trimmed once each, not row by row.
        encoded = (cells if is_text(cells) else names(cells)).combine_chunks().dictionary_encode()
        places: NDArray[np.int32] = pc.fill_null(encoded.indices, -1).to_numpy(zero_copy_only=False)
        texts = names(pa.chunked_array([encoded.dictionary])).to_pylist()
        written = [None if text is None else plain_label(text) or None for text in texts]
        different = [label for label in dict.fromkeys(written) if label is not None]
        if len(different) < len(written):
            at = {label: place for place, label in enumerate(different)}
            places = np.array([*(-1 if label is None else at[label] for label in written), -1], dtype=np.int32)[places]
        return different, places


def quantity_among(values: NDArray[np.float64], times: NDArray[np.int64] | None = None) -> str | None:
    """What the numbers of a target are, where they are a quantity and not classes; NaN is none.

    Numbers with decimals are, more than 50 different whole numbers, and whole numbers that are far apart and mostly
    occur once, such as amounts among zeros. ``times`` says how often each value occurs; by default once.

    Examples
    --------
    >>> quantity_among(np.array([0.5, 1.0, np.nan])), quantity_among(np.array([0.0, 1.0]))
    ('2 different numbers', None)
    >>> quantity_among(np.array([0.0, 0.0, 0.0, 5178.0, 7688.0])), quantity_among(np.array([1.0, 2.0, 3.0, 10.0]))
    ('3 different whole numbers from 0 to 7688, 2 of them only once', None)
    """
    present = ~np.isnan(values)
    known, places = np.unique(values[present], return_inverse=True)
    if len(known) > _MOST_WHOLE or not (known == np.floor(known)).all():
        return f"{len(known):,} different number{'s' * (len(known) > 1)}"
    counts = np.bincount(places, None if times is None else times[present], len(known))
    once = int((counts == 1).sum())
    if once < max(_LEAST_SINGLE, len(known) / 2) or known[-1] - known[0] < max(_LEAST_SPAN, _SPAN_EACH * len(known)):
        return None
    return f"{len(known)} different whole numbers from {known[0]:.15g} to {known[-1]:.15g}, {once} of them only once"


def plain_label(label: str) -> str:
    r"""A whole number without a point; anything else as it is, less zero bytes at its end, which NumPy does not keep.

    Examples
    --------
    >>> plain_label("1.0"), plain_label("1.5"), plain_label("v1.0"), plain_label("v1\0")
    ('1', '1.5', 'v1.0', 'v1')
    """
    label = label.rstrip("\0")
    whole = _WHOLE.fullmatch(label)
    return label if whole is None else whole[1]


def label_type(values: Any) -> LabelType | None:
    """What an array of Arrow holds that text can be turned back into; None for text and anything else.

    Examples
    --------
    >>> import pyarrow as pa
    >>> label_type(pa.array([0, 1])), label_type(pa.array([True])), label_type(pa.array(["0"]))
    ('integer', 'boolean', None)
    """
    import pyarrow as pa

    kind = values.type.value_type if pa.types.is_dictionary(values.type) else values.type
    if pa.types.is_boolean(kind):
        return "boolean"
    if pa.types.is_integer(kind) and not pa.types.is_uint64(kind):
        return "integer"
    return "number" if pa.types.is_floating(kind) else None


def typed_labels(labels: NDArray[Any], kind: LabelType) -> NDArray[Any]:
    """Labels as they were before they became text; a ValueError where one is none of its kind.

    Examples
    --------
    >>> typed_labels(np.array(["10", "2"]), "integer").tolist(), typed_labels(np.array(["true"]), "boolean").tolist()
    ([10, 2], [True])
    """
    if kind != "boolean":
        return labels.astype(np.int64 if kind == "integer" else np.float64)
    words = np.char.lower(labels.astype(np.str_))
    if not np.isin(words, ("true", "false")).all():
        raise ValueError("a label is not boolean")
    is_true: NDArray[Any] = words == "true"
    return is_true
