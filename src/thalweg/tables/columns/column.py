"""What every kind of column does: find itself in the first rows, read cells, encode them, and say what it is.

A column is parsed first, which changes nothing and may fail, and encoded then. Encoding is causal: what a row becomes
depends on the rows before it and on nothing in how the rows were cut into chunks.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from thalweg.tables.cells import BadCell

if TYPE_CHECKING:
    import pyarrow as pa

    from thalweg.tables.columns.head import ColumnHead, Declared
    from thalweg.text import FeatureNames

Floats = NDArray[np.float64]
#: Stands for a value that `Column.parse_one` leaves to others.
NOT_ONE = object()


class Column(ABC):
    """One column and its features. A kind is a subclass, which `thalweg.tables.columns` lists."""

    kind: ClassVar[str]
    #: As what a user names a column of this kind, where there is an option for it.
    declared_as: ClassVar[Declared | None] = None
    #: What is watched of it for changes: its cells, the steps from one to the next, or how many entries they have.
    watched: ClassVar[Literal["cells", "steps", "entries"] | None] = None
    #: The same in words, where it is not the values of the cells.
    measure: ClassVar[str | None] = None
    #: Whether it gives compressed rows and no features with names.
    sparse: ClassVar[bool] = False
    #: Whether its cells are maps, which no single value of text or number is.
    nested: ClassVar[bool] = False
    #: Whether its cells are numbers, so that the size of its first feature has a meaning.
    is_number: ClassVar[bool] = False
    #: Whether a row that lacks it cannot be used, whatever is done about other missing values.
    required: ClassVar[bool] = False
    #: Options that a schema may have beside name and kind; None where no schema can have the kind.
    schema: ClassVar[frozenset[str] | None] = None
    #: Of a kind that can be added to a model later, of which type its default must be.
    added_with: ClassVar[type | None] = None
    #: Of a column that was added later, the value in rows that do not have it.
    default: Any = None
    #: How many of its features are rates by category, for a learner to put in place of the first of them.
    rates: int = 0
    #: Of a sparse column, the names of its features, where any are known.
    words: FeatureNames | None = None
    #: By category with a feature of its own, the place of that feature; kinds without any have none.
    categories: dict[str, int] = {}  # noqa: RUF012 - never changed here
    #: Whether its days could be read as months.
    is_exchangeable: bool = False

    def __init__(self, name: str, features: tuple[str, ...], treatment: str, na: Sequence[str] = ()) -> None:
        self.name = name
        #: Further values that stand for a missing one.
        self.na = tuple(na)
        self.features = features
        #: What is done to it, in words.
        self.treatment = treatment

    @classmethod
    def detect(cls, head: ColumnHead) -> Column | str | None:
        """The column whose first cells these are, or why it is left out; None where it is of another kind."""
        return None

    @classmethod
    def described(cls, name: str, said: Mapping[str, Any]) -> Column:
        """The column of a schema; `InvalidInput` says what is wrong with it. Of a kind that a schema can have."""
        raise NotImplementedError

    def options(self) -> dict[str, Any]:
        """What it was made with beside its name, less what is not said of most."""
        return {}

    def to_json(self) -> dict[str, Any]:
        """What it is, without what it has seen."""
        default = {} if self.default is None else {"default": self.default}
        return {"kind": self.kind, "name": self.name, **self.options(), **default} | (
            {"na": list(self.na)} if self.na else {}
        )

    def remade(self, **changed: Any) -> Self:
        """The same with other options, which has seen nothing."""
        given = {option: value for option, value in self.to_json().items() if option not in ("kind", "default")}
        column = type(self)(**given | changed)
        column.default = self.default
        return column

    def with_na(self, cells: pa.ChunkedArray, na: Sequence[str], *, detect_sentinels: bool) -> Self:
        """The same with the values that stand for a missing one: these, and those found among its first cells."""
        return self.remade(na=na)

    def among_sparse(self, hash_bits: int) -> Column:
        """What it is in a plan with sparse columns, over whose rows rates by category are not learned."""
        return self

    def for_numbers(self) -> Column:
        """What it is where the target is a number."""
        return self

    @property
    def is_kept(self) -> bool:
        """Whether cells that are watched cannot be read back from the features."""
        return self.watched in ("cells", "steps") and not self.is_number

    @property
    def optional(self) -> bool:
        """Whether rows need not have it: one with a default, or one that is ignored."""
        return self.default is not None

    def absent(self, rows: int) -> pa.ChunkedArray:
        """Its cells in rows that do not have it."""
        import pyarrow as pa

        return pa.chunked_array([pa.nulls(rows) if self.default is None else pa.array([self.default] * rows)])

    @property
    def width(self) -> int:
        return len(self.features)

    @abstractmethod
    def parse(self, column: pa.ChunkedArray) -> Any:
        """The cells as values; `BadCell` where one is not what the column is."""

    def parse_values(self, values: Sequence[Any]) -> Any:
        """The same of Python's values, without Arrow, which takes long for few rows; None where `parse` must decide."""
        return None

    def parse_one(self, value: Any) -> Any:
        """One value of Python's, of a row that comes alone; `NOT_ONE` where `parse` must decide."""
        try:
            cells = self.parse_values([value])
        except BadCell:
            return NOT_ONE
        return NOT_ONE if cells is None else cells

    def encode_one(self, cell: Any, out: list[float], *, learn: bool) -> bool:
        """Append the features of what `parse_one` gave, and say whether it is missing."""
        features = np.empty((1, len(self.features)))
        self.encode(cell, features, learn=learn)
        out += features[0].tolist()
        return bool(self.missing(cell)[0])

    def as_arrow(self, values: Sequence[Any]) -> pa.Array | None:
        """Python's values as Arrow holds cells of a type of its own, else None; `BadCell` names one that is none."""
        return None

    def as_learned(self, cells: pa.ChunkedArray) -> pa.ChunkedArray:
        """Cells that are about to be learned, written as those that were learned before."""
        return cells

    @abstractmethod
    def missing(self, parsed: Any) -> NDArray[np.bool_]:
        """Which cells are missing."""

    def clock(self, parsed: Any) -> NDArray[np.datetime64] | None:
        """The cells as moments, by which rows may be ordered; None where they are none."""
        return None

    @abstractmethod
    def encode(self, parsed: Any, out: Floats, *, learn: bool) -> None:
        """Write the features of each row; with ``learn`` remember what was seen."""

    def compressed(self, parsed: Any) -> tuple[NDArray[np.int64], NDArray[np.int32], Floats]:
        """Of a sparse column: where each row begins, the sorted indices of its entries, and their values."""
        raise NotImplementedError

    def compressed_one(self, cell: Any) -> tuple[NDArray[np.int32], Floats]:
        """The same of what `parse_one` gave: the sorted indices, and their values."""
        raise NotImplementedError

    def done(self) -> str:
        """What is done to it, by what is known of it by now."""
        return self.treatment + self.na_in_words()

    def na_in_words(self) -> str:
        """Which values count as missing."""
        return counted_as_missing(self.na)

    def named_features(self) -> tuple[str, ...]:
        """The features, by what is known of them by now."""
        return self.features

    def state(self) -> dict[str, Any]:
        """What was remembered, as JSON holds it."""
        return {}

    def restore(self, state: dict[str, Any]) -> None:  # noqa: B027 - nothing to take back where nothing is kept
        """Take back what `state` gave."""

    def mark(self) -> Any:
        """A point that `undo` returns to, for rows whose learning may be refused."""
        return self.state()

    def undo(self, mark: Any) -> None:
        """Forget all that was encoded since `mark`, one call of `encode` at the most."""
        self.restore(mark)


def counted_as_missing(values: Sequence[str]) -> str:
    """That values count as missing, behind what is done to a column; nothing for none."""
    if not values:
        return ""
    *first, last = values
    return f"; {', '.join(first)} and {last} count as missing" if first else f"; {last} counts as missing"


def invalid(name: str) -> ValueError:
    """That a column cannot be as a file describes it, which may be forged to take all memory."""
    return ValueError(f"column {name!r} has an invalid description")


class RetiredColumn(Column):
    """A column that is no longer used: its cells are ignored, and its features are those of a missing one.

    A learner that knows the features needs no other.
    """

    kind = "retired"

    def __init__(self, name: str, *, features: Sequence[str], values: Sequence[float], na: Sequence[str] = ()) -> None:
        if len(features) != len(values):
            raise ValueError(f"column {name!r} cannot be as it is described")
        self.values = tuple(float(value) for value in values)
        super().__init__(name, tuple(features), "retired: its cells are ignored", na)

    def options(self) -> dict[str, Any]:
        return {"features": self.features, "values": self.values}

    @property
    def optional(self) -> bool:
        return True

    @classmethod
    def of(cls, column: Column) -> RetiredColumn:
        """The column as if all later cells were missing."""
        import pyarrow as pa

        features = np.empty((1, len(column.features)))
        column.encode(column.parse(pa.chunked_array([pa.nulls(1)])), features, learn=False)
        return cls(column.name, features=column.features, values=features[0].tolist())

    def parse(self, column: pa.ChunkedArray) -> NDArray[np.bool_]:
        return np.zeros(len(column), dtype=np.bool_)

    def parse_values(self, values: Sequence[Any]) -> NDArray[np.bool_]:
        return np.zeros(len(values), dtype=np.bool_)

    def missing(self, parsed: NDArray[np.bool_]) -> NDArray[np.bool_]:
        return parsed

    def encode(self, parsed: NDArray[np.bool_], out: Floats, *, learn: bool) -> None:
        out[:] = self.values
