"""What a run reports about its table: at once where it can, and in the report.

Kept word by word: rows that cannot be read, what the first rows show, keys and labels that come too late for a column,
columns that begin and codes of missing values that come after the first rows, and times that go back.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.option_names import option, options
from thalweg.run.options import RunOptions
from thalweg.saved import Saved
from thalweg.tables import Chunk
from thalweg.tables.cells import is_text, trimmed, without
from thalweg.tables.clock import NEVER
from thalweg.tables.encoder import Encoded

#: Complaints about rows that are kept.
_MOST_COMPLAINTS = 100
#: Notices of one kind that are reported one by one.
_MOST_LISTED = 5


class Notices(Saved):
    """Of a run whose columns are settled by ``head`` rows."""

    _saved = ("complaints", "_oddities", "_late_sentinels", "_late_columns", "_late_labels", "_times")

    def __init__(self, options: RunOptions, head: int, said: set[str] | None = None) -> None:
        self._options = options
        self._head = head
        #: Sentences that were reported as soon as they arose.
        self.said = set() if said is None else said
        self.begin()

    def begin(self) -> None:
        """Forget all about the rows, which are read from the first on."""
        #: About rows that were skipped.
        self.complaints: list[str] = []
        self._oddities: list[str] = []
        #: By key of JSON that is no column, and by label without a column of probabilities.
        self._ignored: dict[str, str] = {}
        self._late_labels: dict[str, str] = {}
        self._late_sentinels: list[str] = []
        #: By column that was empty in the first rows: what was said of its first value, rows from there on, and values.
        self._late_columns: dict[str, tuple[str, int, int]] = {}
        #: For the column of times, or for every one that was found: the last time, and how often one was before it.
        self._times: dict[str, list[int]] = {}

    def warn(self, sentence: str) -> None:
        """Warn at once, and once."""
        if sentence not in self.said:
            self.said.add(sentence)
            warnings.warn(sentence, stacklevel=3)

    def complain(self, bad: Sequence[Any]) -> None:
        """Of rows that were skipped."""
        self.complaints += [str(row) for row in bad[: _MOST_COMPLAINTS - len(self.complaints)]]

    def odd(self, sentences: Iterable[str]) -> None:
        """What the first rows show that a user should know."""
        for sentence in sentences:
            self._oddities.append(sentence)
            self.warn(sentence)

    def about_files(self, chunk: Chunk) -> None:
        """What was decided of the files of a chunk; once where it is the same for several."""
        for file, note in chunk.notes():
            if not any(said.endswith(f" {note}") for said in self._oddities):
                self.odd([f"{file} {note}"])

    def positive_is_missing(self, positive: str, rows: int, known: list[str]) -> None:
        """No row among the first has the label of interest."""
        named = ", ".join(map(repr, known[:_MOST_LISTED])) or "none"
        self.odd(
            [
                f"none of the first {rows:,} rows has the label {positive!r} of {option('positive')}: "
                f"their labels are {named}{' …' if len(known) > _MOST_LISTED else ''}"
            ]
        )

    def ignored_keys(self, chunk: Chunk, files: Sequence[Any]) -> None:
        """Keys that come too late to be columns, in a chunk of one of these files."""
        for key, file, row in chunk.ignored():
            if key in self._ignored:
                continue
            advice = f"{option('head', row + self._head)} makes it a column"
            if files and file != str(files[0]):
                advice = "write it, with null for a value, into the first file"
            first = f"in none of the first {self._head:,} rows"
            self._ignored[key] = f"{file}, row {row:,}: the key {key!r} is {first} and is ignored: {advice}"
            self._warn_if_few(self._ignored[key], len(self._ignored))

    def late_labels(self, known: Sequence[str], columns: Sequence[str], labels: NDArray[np.int64], before: int) -> None:
        """Labels without a column of probabilities; ``labels`` are those of rows after ``before`` others, by number."""
        for label in known:
            if label in columns or label in self._late_labels:
                continue
            row = before + 1 + int(np.argmax(labels == known.index(label) + 1))
            self._late_labels[label] = (
                f"row {row:,}: the label {label!r} is in none of the first {self._head:,} rows and has no column of "
                f"probabilities in predictions.csv: {option('head', row)} makes one"
            )
            self._warn_if_few(self._late_labels[label], len(self._late_labels))

    def late_sentinels(self, chunk: Chunk, encoded: Encoded) -> None:
        """Codes of missing values that the first rows did not have."""
        for at, column, sentinel in encoded.sentinels:
            code = column.as_written(sentinel.value)
            said = (
                f"{code} for the third time, far from the other values ({sentinel.low:g} to {sentinel.high:g}): it "
                f"counts as missing from here on; {option('na', code)} makes it so from the first row, "
                f"{option('keep_sentinels', True)} keeps it as a number"
            )
            self._late_sentinels.append(str(chunk.complaint(at, column.name, said)))
            self._warn_if_few(self._late_sentinels[-1], len(self._late_sentinels))

    def late_columns(self, chunk: Chunk, names: Sequence[str], before: int) -> None:
        """Count the values of columns that have none in the first rows, in a chunk after ``before`` others."""
        for name in names:
            cells = chunk.column(name)
            known = np.asarray(without(trimmed(cells) if is_text(cells) else cells, self._options.na).is_valid())
            places = np.flatnonzero(known)
            if name in self._late_columns:
                said, rows, values = self._late_columns[name]
                self._late_columns[name] = said, rows + len(known), values + len(places)
            elif len(places):
                at = int(places[0])
                begins = f"its first value: it has none in the first {self._head:,} rows, and is left out"
                advice = f"{option('head', before + at + self._head)} takes it in"
                said = str(chunk.complaint(at, name, f"{begins}; {advice}"))
                self._late_columns[name] = said, len(known) - at, len(places)
                self._warn_if_few(said, len(self._late_columns))

    def _warn_if_few(self, sentence: str, so_far: int) -> None:
        if so_far <= _MOST_LISTED:
            self.warn(sentence)

    def times_of(self, name: str, now: NDArray[np.int64]) -> None:
        """Count rows that come before the one before them."""
        last, steps = self._times.get(name, [int(np.iinfo(np.int64).min), 0])
        known = np.concatenate([[last], now[now != NEVER]])
        self._times[name] = [int(known[-1]), steps + int((known[1:] < known[:-1]).sum())]

    def sentences(self, left_out: Mapping[str, str]) -> list[str]:
        """What the user should know of the table, columns that are left out and why among it."""
        said = list(self._oddities)
        for name, (_, rows, values) in list(self._late_columns.items())[:_MOST_LISTED]:
            share = f"{100 * values / rows:.3g} % of the rows from its first one on"
            said.append(f"column {name!r}, which is left out, has a value in {share}")
        begun = [first for first, _, _ in self._late_columns.values()]
        for counts, of_the_rest in (
            (begun, "columns begin too late to be learned from"),
            (list(self._ignored.values()), "keys come too late to be columns and are ignored"),
            (self._late_sentinels, "values count as missing from some row on"),
            (list(self._late_labels.values()), "labels come too late to have a column of probabilities"),
        ):
            said += counts[:_MOST_LISTED]
            if len(counts) > _MOST_LISTED:
                said.append(f"{len(counts) - _MOST_LISTED:,} further {of_the_rest}")
        said += [f"column {name!r} is {why}" for name, why in left_out.items() if "cannot be learned" in why]
        steps = {name: back for name, (_, back) in self._times.items()}
        if steps and all(steps.values()):  # else the rows are in the order of one of the columns
            name, back = next(iter(steps.items()))
            times = "once" if back == 1 else f"{back:,} times"
            sort = options(sort=True) if self._options.time is not None else options(time=name, sort=True)
            said.append(f"column {name!r} goes back {times}: if the rows are not in time order, {sort} sorts them")
        return said
