"""Which columns of a stream changed, when, and from what to what.

Each column has a few bounded scores (`block_scores`): location, spread and missing share of numbers, shares of frequent
categories. Their means over recent blocks of 64 rows are compared with those of all blocks since the last change of the
column (`reference_test`), at a level that allows `FALSE_ALARMS` a row over all columns together. Columns that move
slowly all the time, such as a clock or a random walk, give no alarm: their blocks are too few independent ones.

After a change the column gets a new reference: the first 16 blocks after it. Nothing depends on how rows are cut into
chunks. Cost: O(p) a row. Memory: the last 1,024 rows.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from thalweg.errors import InvalidInput, InvalidParameter
from thalweg.evaluate.block_scores import BLOCK, FREQUENT, MOST_CATEGORIES, BlockScores
from thalweg.evaluate.reference_test import REFERENCE, WINDOWS, Difference, ReferenceTest
from thalweg.frames.reading import frame_of
from thalweg.saved import Saved
from thalweg.tables.columns.wide_category import HashedColumn

Floats = NDArray[np.float64]
#: A column: numbers, or the place of each cell among distinct names, -1 for a missing one.
Cells: TypeAlias = "Floats | tuple[NDArray[np.int64], Sequence[str]]"

#: Expected false alarms a row, over all columns together.
FALSE_ALARMS = 1e-6
#: Rows of a reference, and of the window that it is compared with in `summary`.
KEPT = BLOCK * REFERENCE
#: Columns that are watched, changes that are kept, and new categories of a column that are listed, at the most.
WIDEST, MOST, LISTED = 256, 200, 20
#: What changed, where none of the frequent categories did.
OTHERS = "other categories"
#: Blocks that are tested in one go, at the least; more of few columns, while their scores are so many numbers.
_AT_ONCE, _NUMBERS_AT_ONCE = 64, 1 << 13
_NEVER = 2**62


class InputDrift(Saved):
    """Watches the columns of a stream, and marks where each of them changes.

    Parameters
    ----------
    columns : sequence of str, optional
        Names of the columns; by default those of the first table, or x0, x1 and so on.
    categorical : sequence of str
        Columns of numbers that are categories; columns of text always are.

    Attributes
    ----------
    rows : int
        Rows so far.
    changes : list of dict
        In the order in which they were found: ``column``; ``row``, the first row after the change, from 1; ``found``,
        the row at which it was found; ``what`` changed: mean, spread, missing, or a category; ``before``, its value in
        the reference; ``after``, that in the rows since, up to 1,024. Of more than 200 changes the oldest are dropped,
        and counted in ``left_out``.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> X = rng.normal(size=(20_000, 3))
    >>> X[12_000:, 1] += 1.0
    >>> drift = InputDrift(["price", "demand", "load"])
    >>> for start in range(0, 20_000, 500):
    ...     _ = drift.add(X[start : start + 500])
    >>> [change] = drift.changes
    >>> change["column"], change["what"], round(change["before"], 1), round(change["after"], 1)
    ('demand', 'mean', 0.0, 1.0)
    >>> abs(change["row"] - 12_001) < 20, change["found"] < 12_600
    (True, True)
    """

    _saved = (
        "is_category",
        "rows",
        "left_out",
        "_taken",
        "changes",
        "names",
        "_begun",
        "_codes",
        "_new",
        "_new_count",
        "_due",
        "_then",
        "_reference",
        "_kept",
        "_open",
        "_scores",
        "_test",
    )

    def __init__(self, columns: Sequence[str] | None = None, *, categorical: Sequence[str] = ()) -> None:
        if columns is not None and (unknown := [name for name in categorical if name not in columns]):
            raise InvalidParameter.of("InputDrift", "categorical", "name some of the columns", unknown[0])
        self.rows = self.left_out = self._taken = 0  # taken: whole blocks
        self.changes: list[dict[str, Any]] = []
        #: Rows that are tested together, at the least: many small tests cost more. The results are the same.
        self.at_least = BLOCK
        self.names: list[str] = [] if columns is None else [str(name) for name in columns]
        self._declared = tuple(categorical)
        self._begun = False
        self._begin([], [])

    def _begin(self, names: Sequence[str], categorical: Sequence[bool]) -> None:
        wide = min(len(names), WIDEST)
        self.is_category = list(categorical[:wide])
        self._scores = BlockScores(self.is_category)
        self._test = ReferenceTest(self._scores.range, self._scores.least, BLOCK, FALSE_ALARMS)
        #: Of each column of categories: their numbers, and those that came after the first reference, with their rows.
        self._codes: list[dict[str, int]] = [{} for _ in range(wide)]
        self._new: list[list[tuple[str, int]]] = [[] for _ in range(wide)]
        self._new_count = [0] * wide
        #: Of the last rows: columns, new categories that are listed, and their first rows.
        self.newest: list[tuple[str, str, int]] = []
        #: The newest blocks that were tested, and the rows after them.
        self._kept, self._open = np.empty((0, wide)), np.empty((0, wide))
        #: The block after which each column gets a reference; summaries of the first one and of the newest.
        self._due = np.full(wide, REFERENCE)
        self._then: list[dict[str, Any] | None] = [None] * wide
        self._reference: list[dict[str, Any] | None] = [None] * wide

    def add(self, X: Any) -> list[dict[str, Any]]:
        """Take in rows, in order; the changes that were found now.

        ``X`` is an array of numbers or a table of pandas, polars or Arrow. NaN and null are missing values.
        """
        frame = frame_of(X)
        if frame is None:
            values = np.asarray(X, dtype=np.float64)
            if values.ndim != 2:
                raise InvalidInput(f"X must have rows and columns, got an array of {values.ndim} dimensions")
            names = self.names or [f"x{at}" for at in range(values.shape[1])]
            cells: list[Cells] = list(values.T)
        else:
            names = [str(name) for name in frame.names]
            cells = [_cells(frame.arrow_column(name)) for name in frame.names]
            if self.names and (lacks := [name for name in self.names if name not in names]):
                raise InvalidInput(f"X lacks the column {lacks[0]!r}")
            cells = [cells[names.index(name)] for name in self.names or names]
            names = self.names or names
        if len(cells) != len(names):
            raise InvalidInput(f"X must have {len(names)} columns, got {len(cells)}")
        for name, column in zip(names, cells, strict=True):
            if not isinstance(column, tuple) and np.isinf(column).any():
                raise InvalidInput(f"X must hold finite numbers or NaN, got an infinite one in column {name!r}")
        if unknown := [name for name in self._declared if name not in names]:
            raise InvalidParameter.of("InputDrift", "categorical", "name some of the columns", unknown[0])
        cells = [
            _as_names(column) if name in self._declared else column for name, column in zip(names, cells, strict=True)
        ]
        return self.add_rows(self.as_numbers(names, cells))

    def as_numbers(self, names: Sequence[str], cells: Sequence[Cells]) -> Floats:
        """Rows of parsed columns as `add_rows` takes them: categories as numbers, in the order in which they came."""
        kinds = [isinstance(cell, tuple) for cell in cells]
        if not self._begun:
            self._begun, self.names = True, list(names)
            self._begin(names, kinds)
        wide = len(self.is_category)
        for at in range(wide):
            if kinds[at] != self.is_category[at]:
                held, got = ("categories", "numbers")[:: 1 if self.is_category[at] else -1]
                raise InvalidInput(f"column {self.names[at]!r} held {held} so far, got {got}")
        rows = len(cells[0][0] if isinstance(cells[0], tuple) else cells[0]) if cells else 0
        fresh, self.newest = np.empty((rows, wide)), []
        for at in range(wide):
            column = cells[at]
            fresh[:, at] = self._numbered(at, *column) if isinstance(column, tuple) else column
        return fresh

    def add_rows(self, fresh: Floats) -> list[dict[str, Any]]:
        """As `add`, of rows from `as_numbers`."""
        self.rows += len(fresh)
        self._open = np.concatenate([self._open, fresh])
        return self.flush() if len(self._open) >= self.at_least else []

    def flush(self) -> list[dict[str, Any]]:
        """Test the whole blocks that wait for it; the changes that were found now."""
        self._new_changes: list[dict[str, Any]] = []
        whole, wide = len(self._open) // BLOCK, self._open.shape[1]
        if whole and wide:
            blocks = self._open[: whole * BLOCK].reshape(whole, BLOCK, wide)
            self._open = self._open[whole * BLOCK :].copy()
            self._take(blocks)
        return self._new_changes

    def _numbered(self, at: int, places: NDArray[np.int64], distinct: Sequence[str]) -> Floats:
        """The numbers of categories, in the order in which they first came."""
        codes = self._codes[at]
        present, first = np.unique(places, return_index=True)
        numbers = np.full(len(distinct) + 1, np.nan)
        for place, row in sorted(zip(present.tolist(), first.tolist(), strict=True), key=lambda pair: pair[1]):
            if place < 0:
                continue
            name = distinct[place]
            if name not in codes and len(codes) < MOST_CATEGORIES:
                codes[name] = len(codes)
                if self.rows + row >= KEPT:
                    self._new_count[at] += 1
                    if len(self._new[at]) < LISTED:
                        self._new[at].append((name, self.rows + row + 1))
                        self.newest.append((self.names[at], name, self.rows + row + 1))
            numbers[place] = codes.get(name, MOST_CATEGORIES)
        return numbers[places]

    def _take(self, blocks: Floats) -> None:
        done = 0
        while done < len(blocks):
            at_once = max(_AT_ONCE, _NUMBERS_AT_ONCE // len(self._scores.column))
            until = int(min(at_once, self._due.min() - self._taken))
            piece = blocks[done : done + until]
            change = self._test.add(*self._scores.of_blocks(piece))
            taken = len(piece) if change is None else change.block + 1
            self._kept = np.concatenate([self._kept, piece[:taken].reshape(-1, piece.shape[2])])[-KEPT:]
            self._taken += taken
            done += taken
            if change is not None:
                self._mark(change)
            if (self._due <= self._taken).any():
                self._settle(np.flatnonzero(self._due <= self._taken))

    def _settle(self, columns: NDArray[np.int64]) -> None:
        """Take the newest rows for the reference of these columns."""
        self._scores.settle(columns, self._kept)
        means, squares = self._scores.of_blocks(self._kept.reshape(REFERENCE, BLOCK, -1))
        series = np.isin(self._scores.column, columns)
        self._test.settle(series, means[:, series], squares[:, series])
        self._due[columns] = _NEVER
        for at in columns.tolist():
            self._reference[at] = self._summary(at, self._kept)
            self._then[at] = self._then[at] or self._reference[at]
            last = next((change for change in reversed(self.changes) if change["column"] == self.names[at]), None)
            if last is not None and last["what"] != OTHERS:
                last["after"] = self._value(at, last["what"], self._kept)

    def _mark(self, difference: Difference) -> None:
        """Keep the largest difference of each column as its change."""
        columns, reference_means = self._scores.column[difference.series], self._test.reference()
        for column in np.unique(columns).tolist():
            among = np.flatnonzero(columns == column)
            largest = among[difference.size[among].argmax()]
            score = int(difference.series[largest])
            values = self._scores.of_rows(self._kept[:, column], score)
            begin = _begin_of_change(values, reference_means[score])
            if self._scores.what[score] == "spread":
                score = self._mean_or_spread(score, self._kept[begin:, column], reference_means)
            row = self._taken * BLOCK - len(self._kept) + begin + 1
            what = self._in_words(score, self._kept[begin:, column])
            change = {"column": self.names[column], "row": row, "found": self._taken * BLOCK, "what": what}
            reference, after = self._reference[column] or {}, self._value(column, what, self._kept[begin:])
            before = reference[what] if what in reference else shortened(float(reference_means[score]))
            if what.startswith("category"):
                before = reference["shares"].get(what.removeprefix("category "), 0.0)
            self.changes.append(change | {"before": before, "after": after})
            # A copy as it is now: `_settle` may come in the same call, or later.
            self._new_changes.append(dict(self.changes[-1]))
            self._due[column] = max(self._taken, -(-(row - 1) // BLOCK) + REFERENCE)
        self._test.forget(np.isin(self._scores.column, columns))
        if len(self.changes) > MOST:
            self.left_out += len(self.changes) - MOST
            del self.changes[:-MOST]

    def _value(self, column: int, what: str, rows: Floats) -> float | None:
        """The mean, the spread or the share of what changed, in these rows."""
        if what in ("mean", "spread", "missing"):
            value: float | None = self._summary(column, rows)[what]
            return value
        values = rows[:, column]
        if what == OTHERS:
            known = values[~np.isnan(values)].astype(np.int64)
            return shortened(float((self._scores.slots[column, known] == FREQUENT).sum() / len(values)))
        return shortened(float((values == self._codes[column][what.removeprefix("category ")]).mean()))

    def _mean_or_spread(self, score: int, values: Floats, reference_means: Floats) -> int:
        """The score that shows more: a column that moves lies farther from its old median, too."""
        mean = score - len(self._scores.numbers)
        moved, spread = (
            abs(_mean(self._scores.of_rows(values, measure)) - reference_means[measure]) for measure in (mean, score)
        )
        return mean if moved >= spread else score

    def _in_words(self, score: int, values: Floats) -> str:
        """What a score measures; of categories that were not frequent the one that most of them are now."""
        column, what = int(self._scores.column[score]), self._scores.what[score]
        if what in ("mean", "spread", "missing"):
            return what
        if int(what) == FREQUENT:
            codes, counts = np.unique(values[self._scores.of_rows(values, score) == 1.0], return_counts=True)
            if not len(codes) or 2 * counts.max() < counts.sum() or codes[counts.argmax()] >= MOST_CATEGORIES:
                return OTHERS
            return f"category {list(self._codes[column])[int(codes[counts.argmax()])]}"
        return f"category {list(self._codes[column])[np.flatnonzero(self._scores.slots[column] == int(what))[0]]}"

    def _summary(self, column: int, rows: Floats) -> dict[str, Any]:
        values = rows[:, column]
        if self.is_category[column]:
            return category_summary(values, list(self._codes[column]))
        return number_summary(values)

    def summary(self) -> list[dict[str, Any]]:
        """What is known of each column, as JSON holds it.

        ``then`` is the first reference and ``now`` the last 1,024 rows: mean, spread, missing share and quantiles
        (5, 25, 50, 75 and 95 %) of numbers; missing share and shares of categories. ``changes`` are those of the
        column. Categories that came after the first reference are counted and listed with their first row in ``new``.
        """
        self.flush()
        newest = np.concatenate([self._kept, self._open])[-KEPT:]
        summary = []
        for at, is_category in enumerate(self.is_category):
            now = self._summary(at, newest)
            line = {
                "name": self.names[at],
                "kind": "category" if is_category else "number",
                "then": self._then[at] or now,
                "now": now,
                "changes": [
                    {key: value for key, value in change.items() if key != "column"}
                    for change in self.changes
                    if change["column"] == self.names[at]
                ],
            }
            if self._new_count[at]:
                listed = [{"name": name, "row": row} for name, row in self._new[at]]
                line["new"] = {"count": self._new_count[at], "listed": listed}
            summary.append(line)
        return summary

    def new_categories(self) -> list[tuple[str, str, int]]:
        """Columns, categories that first came after the first reference, and their first rows, in that order.

        Of each column the first 20.
        """
        new = [(self.names[at], *change) for at, listed in enumerate(self._new) for change in listed]
        return sorted(new, key=lambda change: change[2])

    def missing_share(self, column: str, rows: int) -> float | None:
        """The share of missing values among the last so many rows, at most 1,024; None while there are fewer."""
        at = self.names.index(column) if column in self.names else len(self.is_category)
        if at >= len(self.is_category):
            return None
        newest = np.concatenate([self._kept[:, at], self._open[:, at]])[-rows:]
        return float(np.isnan(newest).mean()) if len(newest) == rows else None

    def frozen(self) -> InputDrift:
        """What `summary` and ``changes`` give now, for another thread to read while rows are added here."""
        frozen = copy.copy(self)
        frozen.changes = [dict(change) for change in self.changes]
        frozen._then, frozen._new_count = list(self._then), list(self._new_count)
        frozen._new = [list(changes) for changes in self._new]
        frozen._codes = [dict(codes) for codes in self._codes]
        return frozen

    def restore(self, state: Mapping[str, Any]) -> None:
        self._begin(state["names"] if state["_begun"] else [], state["is_category"])
        super().restore(state)


#: The quantiles of a summary.
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
#: Categories of a summary, at the most.
SHOWN = 8


def number_summary(values: Floats) -> dict[str, Any]:
    """Mean, standard deviation, missing share and quantiles of numbers, NaN for a missing one; None for unknown.

    Examples
    --------
    >>> number_summary(np.array([1.0, 2.0, 3.0, np.nan]))
    {'mean': 2.0, 'spread': 0.816497, 'missing': 0.25, 'quantiles': [1.1, 1.5, 2.0, 2.5, 2.9]}
    """
    present = values[~np.isnan(values)]
    missing = shortened(1.0 - len(present) / len(values)) if len(values) else None
    if not len(present):
        return {"mean": None, "spread": None, "missing": missing, "quantiles": None}
    quantiles = np.quantile(present, QUANTILES).tolist()
    return {
        "mean": shortened(float(present.mean())),
        "spread": shortened(float((present - present[0]).std())),  # exactly 0 where all are equal
        "missing": missing,
        "quantiles": [shortened(quantile) for quantile in quantiles],
    }


def category_summary(codes: Floats, names: Sequence[str]) -> dict[str, Any]:
    """Missing share, and the shares of the most frequent categories, NaN for a missing one.

    Examples
    --------
    >>> category_summary(np.array([0.0, 1.0, 1.0, np.nan]), ["Oslo", "Bergen"])
    {'missing': 0.25, 'shares': {'Bergen': 0.5, 'Oslo': 0.25}}
    """
    present = codes[~np.isnan(codes)].astype(np.int64)
    counts = np.bincount(present, minlength=len(names))[: len(names)]
    most = np.argsort(-counts, kind="stable")[:SHOWN]
    return {
        "missing": shortened(1.0 - len(present) / len(codes)) if len(codes) else None,
        "shares": {names[at]: shortened(int(counts[at]) / len(codes)) for at in most.tolist() if counts[at]},
    }


def shortened(value: float) -> float:
    """Six digits: enough for any reader.

    Examples
    --------
    >>> shortened(0.123456789)
    0.123457
    """
    return float(f"{value:.6g}") if math.isfinite(value) else value


def _begin_of_change(values: Floats, reference: np.float64) -> int:
    """The place from which on values lie nearer to the newest ones than to the mean of the reference."""
    newest = _mean(values[-BLOCK * WINDOWS[0] :])
    nearer = np.nan_to_num((values - (reference + newest) / 2.0) * np.sign(newest - reference))
    return int(np.cumsum(nearer[::-1])[::-1].argmax())


def _mean(values: Floats) -> float:
    """The mean of those that are not missing; 0 where all are."""
    present = values[~np.isnan(values)]
    return float(present.mean()) if len(present) else 0.0


def _cells(column: Any) -> Cells:
    import pyarrow as pa

    kind = column.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind) or pa.types.is_null(kind):
        return np.asarray(column.cast(pa.float64()).to_numpy(zero_copy_only=False), dtype=np.float64)
    return HashedColumn("", rates=1).parse(pa.chunked_array([column]))


def joined_cells(parts: Sequence[Any]) -> Any:
    """Cells of one column that came apart; the names of the parts may be others."""
    if len(parts) == 1:
        return parts[0]
    if not isinstance(parts[0], tuple):
        return np.concatenate(parts)
    if all(names is parts[0][1] for _, names in parts):  # as those are that were predicted one after the other
        return np.concatenate([places for places, _ in parts]), parts[0][1]
    codes: dict[str, int] = {}
    joined = [np.array([*(codes.setdefault(name, len(codes)) for name in names), -1])[own] for own, names in parts]
    return np.concatenate(joined), list(codes)


def _as_names(column: Cells) -> Cells:
    if isinstance(column, tuple):
        return column
    distinct, places = np.unique(column, return_inverse=True)
    names = [format(value, "g") for value in distinct.tolist()]
    return np.where(np.isnan(column), -1, places), names
