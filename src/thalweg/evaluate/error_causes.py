"""Why the error rose: whether rows that look like those before are predicted worse, or only new kinds of rows are.

A change of the error is examined once `AFTER` rows have come after it. Where no input changed before or with it, the
relation between inputs and label did: concept drift. Where some did, the first rows after the change whose changed
columns lie within the range of the rows before are compared with those, within bins of the column that changed nearest.
If their error rose, too, the relation changed; if not, the inputs account for the rise. A column that changed after the
rise is listed, but never its cause. Cost: O(p) a row. Memory: 2,048 rows.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.saved import Saved

Floats = NDArray[np.float64]

#: Rows that are kept, and rows after a change when it is examined.
KEPT, AFTER = 2048, 1024
#: Rows between a change of the error and one of a column that belong together.
NEAR = 1000
#: Rows between them that cannot be distinguished from the same row: both moments are estimates.
SAME = 64
#: Rows after a change that are compared at least: soon a model that adapts is as good as before.
SOON = 64
#: Rows before a rise without which nothing is said about its cause: the model itself is still new.
EARLY = 256
#: Rows of each side that a comparison needs, bins, standard errors of a rise, and quantiles of the range.
_LEAST, _BINS, _ERRORS, _RANGE = 15, 8, 3.0, (0.02, 0.98)
#: Categories with a smaller share of the rows before are outside of their range.
_RARE = 0.01
MOST = 200


class ErrorCauses(Saved):
    """Examines each rise of the error, beside the columns that changed near it.

    Attributes
    ----------
    found : list of dict
        For each rise: ``row``, as the detector of the error counts; ``at``, the number of that row; ``cause``, concept,
        inputs or unclear; ``changed``: each column that changed near it, the ``row``, and ``when``: before, with or
        after the rise; ``columns``: those that changed before or with it; where rows were compared and enough are like
        those before, ``alike``: how many, and their error ``before`` and ``after``; ``early`` where fewer than `EARLY`
        rows came before it. A short rise, which a detector of changes may have missed, has its error ``before`` and
        ``after``.
    """

    _saved = ("rows", "is_category", "_has_forgotten", "found", "_open", "_numbers", "_errors", "_inputs")

    def __init__(self, is_category: Sequence[bool] = ()) -> None:
        self.is_category = list(is_category)
        self.found: list[dict[str, Any]] = []
        #: Rows so far, as the detector counts them.
        self.rows = 0
        self._has_forgotten = False
        self._keep_nothing()
        self._open: list[dict[str, Any]] = []

    @property
    def is_waiting(self) -> bool:
        """Whether a rise was found that is still to be examined."""
        return bool(self._open)

    def skip(self, rows: int) -> None:
        """Count rows that have no prediction."""
        self.rows += rows

    def forget(self, rows: int) -> None:
        """Count rows whose columns are not known; rows before and after them are not compared."""
        self.rows += rows
        self._has_forgotten = True
        self._keep_nothing()
        self._open = []

    def _keep_nothing(self) -> None:
        self._numbers = np.empty(0, dtype=np.int64)
        self._errors = np.empty(0)
        self._inputs = np.empty((0, len(self.is_category)))

    def frozen(self) -> ErrorCauses:
        """What `results` gives now, for another thread to read while rows are added here."""
        frozen = copy.copy(self)
        frozen._open = list(self._open)
        return frozen

    def add(
        self,
        numbers: NDArray[np.int64],
        errors: NDArray[Any],
        inputs: Floats,
        rises: Sequence[Mapping[str, Any]],
        changes: Sequence[Mapping[str, Any]],
        names: Sequence[str],
    ) -> None:
        """Take in scored rows.

        Parameters
        ----------
        numbers, errors, inputs : arrays
            Of each row: its number in the stream, its error, and its columns as `InputDrift.as_numbers` gives them.
        rises : sequence
            Changes of the error for the worse that were found among these rows; short ones have ``short``.
        changes : sequence
            All changes of columns so far, from `InputDrift.changes`.
        names : sequence of str
            Of the columns.
        """
        for new in rises:
            sizes = {key: new[key] for key in ("short", "before", "after")} if "short" in new else {}
            self._open.append({"row": int(new["row"]), "found": int(new["found"])} | sizes)
        begin = 0
        for rise in sorted(self._open, key=_due):
            upto = _due(rise) - self.rows
            if begin <= upto <= len(numbers):
                self._keep(numbers[begin:upto], errors[begin:upto], inputs[begin:upto])
                begin = upto
                self.found = [*self.found, self._examined(rise, self.rows + upto, changes, names)][-MOST:]
                self._open.remove(rise)
        self._keep(numbers[begin:], errors[begin:], inputs[begin:])
        self.rows += len(numbers)

    def results(self, changes: Sequence[Mapping[str, Any]], names: Sequence[str]) -> list[dict[str, Any]]:
        """All rises so far, with those that are not due yet; unclear where a column near was found to change later.

        A short rise at about the row of another is the same.
        """
        results = [*self.found, *(self._examined(rise, self.rows, changes, names) for rise in self._open)]
        others = [rise["row"] for rise in results if "short" not in rise]
        results = [
            rise for rise in results if "short" not in rise or all(abs(rise["row"] - row) > NEAR for row in others)
        ]
        return [_with_later_finds(rise, changes) for rise in results]

    def _keep(self, numbers: NDArray[np.int64], errors: NDArray[Any], inputs: Floats) -> None:
        self._numbers = np.concatenate([self._numbers, numbers])[-KEPT:]
        self._errors = np.concatenate([self._errors, errors])[-KEPT:]
        self._inputs = np.concatenate([self._inputs, inputs])[-KEPT:]

    def _examined(
        self, rise: dict[str, Any], last: int, changes: Sequence[Mapping[str, Any]], names: Sequence[str]
    ) -> dict[str, Any]:
        """The cause of a rise; the last row that is kept is that one, as the detector counts."""
        kept = len(self._numbers)
        begin, seen_at = (min(max(rise[name] - (last - kept + 1), 0), kept - 1) for name in ("row", "found"))
        at, found_at = (int(self._numbers[place]) for place in (begin, seen_at))
        known = [change for change in changes if change["found"] <= self._numbers[-1]]
        changed = _near(at, found_at, known)
        columns = _not_after(changed)
        result: dict[str, Any] = {key: value for key, value in rise.items() if key != "found"}
        result |= {"at": at, "found_at": found_at, "columns": columns, "changed": changed}
        if begin < EARLY and not self._has_forgotten:
            return result | {"cause": "unclear", "early": True}
        upto = max(seen_at + 1, begin + SOON)
        # A column that changed later still left no trace in the rows that are compared.
        last_row = int(self._numbers[begin:upto].max())
        compared = [names.index(change["column"]) for change in changed if change["row"] <= last_row]
        if not compared:
            return result | {"cause": "concept"}
        alike = self._alike(compared, begin, upto)
        if alike is None:
            return result | {"cause": "unclear"}
        rose = alike.pop("rose")
        return result | {"cause": "concept" if rose else "inputs" if columns else "unclear", "alike": alike}

    def _alike(self, columns: list[int], begin: int, upto: int) -> dict[str, Any] | None:
        """Errors of rows before and after whose columns lie in the range of those before; None where they are few."""
        before, after = self._inputs[:begin], self._inputs[begin:upto]
        # A column without any value, as times have in a service, does not say which rows are alike.
        if min(len(before), len(after)) < _LEAST or np.isnan(self._inputs[:upto, columns]).all(axis=0).any():
            return None
        inside, inside_before = np.ones(len(after), np.bool_), np.ones(len(before), np.bool_)
        for column in columns:
            inside_before &= self._within(column, before, before[:, column])
            inside &= self._within(column, before, after[:, column])
        errors, errors_before = self._errors[begin:upto][inside], self._errors[:begin][inside_before]
        bins, bins_before = self._bins(columns[0], before[inside_before], after[inside], before[inside_before])
        rows = level = level_before = variance = 0.0
        spread = np.concatenate([errors, errors_before]).var() if len(errors) else 0.0
        for bin_ in np.unique(bins).tolist():
            old, new = errors_before[bins_before == bin_], errors[bins == bin_]
            if len(old):
                rows += len(new)
                level, level_before = level + float(new.sum()), level_before + len(new) * float(old.mean())
                variance += float(spread) * (len(new) + len(new) ** 2 / len(old))
        if rows < _LEAST:
            return None
        alike = {"rows": int(rows), "before": level_before / rows, "after": level / rows}
        return alike | {"rose": level - level_before > _ERRORS * math.sqrt(variance)}

    def _within(self, column: int, before: Floats, values: Floats) -> NDArray[np.bool_]:
        own = before[:, column]
        present = own[~np.isnan(own)]
        missing = np.isnan(own).mean() >= _RARE
        if len(present) == 0:
            return np.asarray(np.isnan(values) & missing)
        if self.is_category[column]:
            codes, counts = np.unique(present, return_counts=True)
            inside = np.isin(values, codes[counts >= _RARE * len(own)])
        else:
            low, high = np.quantile(present, _RANGE)
            inside = (values >= low) & (values <= high)
        return np.asarray(inside | (np.isnan(values) & missing))

    def _bins(self, column: int, before: Floats, *rows: Floats) -> list[NDArray[np.int64]]:
        """The bin of each row by one column: quantiles of the rows before, or categories; one for missing values."""
        if self.is_category[column]:
            return [np.nan_to_num(row[:, column], nan=_BINS).astype(np.int64) % (_BINS + 1) for row in rows]
        present = before[:, column][~np.isnan(before[:, column])]
        edges = np.quantile(present, np.arange(1, _BINS) / _BINS) if len(present) else np.zeros(0)
        return [np.where(np.isnan(row[:, column]), _BINS, np.searchsorted(edges, row[:, column])) for row in rows]


def _due(rise: Mapping[str, Any]) -> int:
    """The row after which a rise is examined."""
    return max(int(rise["row"]) + AFTER, int(rise["found"]))


def is_near(change: Mapping[str, Any], at: int, seen_at: int) -> bool:
    """Whether a column changed about when the error did, which rose at one row and was found to at another."""
    return bool(at - NEAR <= change["row"] <= seen_at + NEAR)


def _near(at: int, seen_at: int, changes: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The columns that changed about when the error did: those before or with it first, and of these the nearest."""
    near = [
        {"column": change["column"], "row": change["row"], "when": _when(change["row"], at)}
        for change in changes
        if is_near(change, at, seen_at)
    ]
    return _first_of_each(near, at)


def _when(row: int, at: int) -> str:
    """Whether a column that changed at one row did so before, with or after the rise of the error at another."""
    return "before" if row < at - SAME else "with" if row <= at + SAME else "after"


def _first_of_each(near: Sequence[dict[str, Any]], at: int) -> list[dict[str, Any]]:
    ordered = sorted(near, key=lambda change: (change["when"] == "after", abs(change["row"] - at)))
    return list({change["column"]: change for change in reversed(ordered)}.values())[::-1]


def _not_after(changed: Sequence[Mapping[str, Any]]) -> list[str]:
    return [change["column"] for change in changed if change["when"] != "after"]


def _with_later_finds(result: dict[str, Any], changes: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """A result with changes of columns that were found after it was examined; unclear where one may be the cause."""
    near = _near(result["at"], result["found_at"], changes)
    changed = _first_of_each([*result["changed"], *near], result["at"])
    columns = _not_after(changed)
    updated = result | {"changed": changed, "columns": columns}
    if set(columns) - set(result["columns"]):
        updated.pop("alike", None)
        updated["cause"] = "unclear"
    return updated
