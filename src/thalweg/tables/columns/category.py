"""Columns of categories, each of which has a feature of its own."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from thalweg.errors import InvalidInput
from thalweg.tables.cells import MOST_LETTERS, brief, names, spelled_as, without
from thalweg.tables.columns.column import NOT_ONE, Column, Floats, invalid
from thalweg.tables.columns.head import ColumnHead

if TYPE_CHECKING:
    import pyarrow as pa

#: Categories of a column that get a feature of their own, at the most.
MOST_CATEGORIES = 64
#: Why a column is left out whose categories hardly ever come again: with more than this share of different cells.
NAMES_ROWS = "left out: it seems to name the rows"
_ALMOST_ALL = 0.98
_TYPES = {str, type(None)}


class NamesColumn(Column):
    """Names, each of which is the same wherever it occurs."""

    declared_as = "categories"
    watched = "cells"

    @classmethod
    def detect(cls, head: ColumnHead) -> Column | str | None:
        """Why names are no categories; None where they are."""
        if head.holds_json:
            first = head.categories[0]
            kind = "lists" if first[0] == "[" else "objects"
            path = _nested_in(first, head.name)
            where = f" where a value is no number, as that of {path}" if path else ""
            return f"left out: {kind} of JSON cannot be learned{where}: write what they hold as columns of their own"
        distinct, cells = len(head.categories), len(head.names)
        if head.mostly_differs and distinct > _ALMOST_ALL * cells:
            return f"{NAMES_ROWS} ({distinct:,} different values in the first {cells:,})"
        return None

    def parse(self, column: pa.ChunkedArray) -> tuple[NDArray[np.int64], list[str]]:
        """The place of each cell among the distinct ones, in the order in which they come; -1 where one is missing."""
        import pyarrow.compute as pc

        encoded = names(without(column, self.na)).combine_chunks().dictionary_encode()
        return pc.fill_null(encoded.indices, -1).to_numpy(zero_copy_only=False), encoded.dictionary.to_pylist()

    def parse_values(self, values: Sequence[Any]) -> tuple[NDArray[np.int64], list[str]] | None:
        if self.na or not set(map(type, values)) <= _TYPES or not all(map(_is_trimmed, values)):
            return None
        places: dict[str, int] = {}
        codes = np.array([places.setdefault(word, len(places)) if word else -1 for word in values], dtype=np.int64)
        return codes, list(places)

    def parse_one(self, value: Any) -> Any:
        if value is None or (type(value) is float and value != value):
            return ""
        return value if type(value) is str and not self.na and _is_trimmed(value) else NOT_ONE

    def missing(self, parsed: tuple[NDArray[np.int64], list[str]]) -> NDArray[np.bool_]:
        return parsed[0] < 0


class CategoryColumn(NamesColumn):
    """One feature for each category, with room for some that come late; then one for all others."""

    kind = "category"
    schema = frozenset({"categories"})
    added_with = str

    def __init__(self, name: str, *, room: int, na: Sequence[str] = ()) -> None:
        if room > MOST_CATEGORIES:
            raise invalid(name)
        self.room = room
        features = (*(f"{name} = category {i + 1}" for i in range(room)), f"{name} = any other")
        treatment = f"one feature for each of its first {room} categories, one for all others"
        super().__init__(name, features, f"{treatment}; an empty cell has none of them", na)
        self.categories = {}

    @classmethod
    def detect(cls, head: ColumnHead) -> Column | str | None:
        """With room for categories that come later, where they are not declared."""
        known = {*head.categories, *head.values}
        room = len(known) if head.values else len(known) + max(4, len(known) // 2)
        return super().detect(head) or cls(head.name, room=min(MOST_CATEGORIES, room))

    @classmethod
    def described(cls, name: str, said: Mapping[str, Any]) -> Column:
        known, default = said.get("categories", []), said.get("default")
        if isinstance(known, list) and default is not None and default not in known:
            known = [default, *known]
        if not isinstance(known, list) or len(known) > MOST_CATEGORIES or not all(map(is_category, known)):
            raise InvalidInput(f"column {name!r} must have at most {MOST_CATEGORIES} categories, each of them text")
        if len(set(known)) < len(known):
            raise InvalidInput(f"column {name!r} must name each category once")
        column = cls(name, room=min(MOST_CATEGORIES, len(known) + max(4, len(known) // 2)))
        column.restore({"categories": known})
        return column

    def options(self) -> dict[str, Any]:
        return {"room": self.room}

    def encode(self, parsed: tuple[NDArray[np.int64], list[str]], out: Floats, *, learn: bool) -> None:
        """One of the features is 1; none where the value is missing or, when only predicting, was never seen."""
        places, distinct = parsed
        slots = np.empty(len(distinct) + 1, dtype=np.int64)
        slots[-1] = -1  # missing
        for i in _in_order_of_arrival(places):
            category = distinct[i] if learn else spelled_as(distinct[i], self.categories)
            if learn and category not in self.categories and len(self.categories) < self.room:
                self.categories[category] = len(self.categories)
            full = len(self.categories) == self.room
            slots[i] = self.categories.get(category, self.room if learn or full else -1)
        slot = slots[places]
        out[:] = 0.0
        known = np.flatnonzero(slot >= 0)
        out[known, slot[known]] = 1.0

    def parse_one(self, value: Any) -> Any:
        if type(value) is bool and not self.na:
            return spelled_as("true" if value else "false", self.categories)
        return super().parse_one(value)

    def encode_one(self, cell: str, out: list[float], *, learn: bool) -> bool:
        features = [0.0] * (self.room + 1)
        if cell:
            category = cell if learn else spelled_as(cell, self.categories)
            if learn and category not in self.categories and len(self.categories) < self.room:
                self.categories[category] = len(self.categories)
            slot = self.categories.get(category)
            if slot is not None or learn or len(self.categories) == self.room:
                features[self.room if slot is None else slot] = 1.0
        out += features
        return not cell

    def done(self) -> str:
        """With the number of categories that were seen, once some were."""
        seen = len(self.categories)
        if not seen or seen == self.room:
            return super().done()
        named = "its one category" if seen == 1 else f"each of its {seen} categories"
        further = f"{self.room - seen} for further ones that may come"
        return f"one feature for {named}, {further}, one for all others{self.na_in_words()}"

    def named_features(self) -> tuple[str, ...]:
        """Each category by its name, once it was seen."""
        seen = tuple(f"{self.name} = {category}" for category in self.categories)
        return (*seen, *self.features[len(seen) :])

    def as_learned(self, cells: pa.ChunkedArray) -> pa.ChunkedArray:
        import pyarrow as pa
        import pyarrow.compute as pc

        if not pa.types.is_boolean(cells.type):
            return cells
        return pc.if_else(cells, *(spelled_as(word, self.categories) for word in ("true", "false")))

    def state(self) -> dict[str, Any]:
        """The categories, in the order in which they came."""
        return {"categories": list(self.categories)}

    def mark(self) -> Any:
        return len(self.categories)

    def undo(self, mark: int) -> None:
        while len(self.categories) > mark:
            self.categories.popitem()

    def restore(self, state: dict[str, Any]) -> None:
        if len(state["categories"]) > self.room:
            raise ValueError(f"column {self.name!r} has room for {self.room} categories only")
        self.categories = {category: i for i, category in enumerate(state["categories"])}


def is_category(word: object) -> bool:
    """Whether a value can be the name of a category: a trimmed text of some letters."""
    return isinstance(word, str) and 0 < len(word) <= MOST_LETTERS and word == word.strip()


def _is_trimmed(word: str | None) -> bool:
    """Whether there is nothing about a word that would have to be trimmed, by anybody's rules."""
    return word is None or (word.isprintable() and word == word.strip())


def _in_order_of_arrival(places: NDArray[np.int64]) -> list[int]:
    """The distinct places, less that of missing values: rows that were skipped may have brought others."""
    distinct, first = np.unique(places, return_index=True)
    return [int(place) for place in distinct[np.argsort(first)] if place >= 0]


def _nested_in(cell: str, name: str) -> str:
    """Where an object of JSON has a first value that is no number, such as user.address.city; nothing for a list."""
    try:
        value = json.loads(cell)
    except ValueError:
        return ""
    path = [name]
    while isinstance(value, dict):
        wrong = [key for key, number in value.items() if not isinstance(number, int | float | None)]
        if not wrong:
            break
        path.append(wrong[0])
        value = value[wrong[0]]
    return brief(".".join(path)) if path[1:] else ""
