"""What is known of earlier rows and labels before each row, as further columns of its table.

Every feature is read from what came before its row: rows that stand before it, and labels that are known by then.
Labels come with their row, some rows later, or at times of their own, in the order of `thalweg.tables.late_labels`: a
run, a model of a table and a resumed run see the same values to the last bit, however the rows are cut into chunks. A
row costs O(features), and memory is bounded: `thalweg.kernels` keeps a table of keys for each list of columns behind
``by``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from threading import RLock
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thalweg.history.inputs import Inputs
from thalweg.history.language import OF_WORDS, TARGET, Call, Feature, OwnColumn, evaluate, parse_features
from thalweg.kernels import compiled
from thalweg.tables.cells import Words, names, parsed
from thalweg.tables.clock import NEVER, Clock
from thalweg.tables.columns import column_from_json
from thalweg.tables.columns.number import NumberColumn
from thalweg.tables.late_labels import LateLabels, Waiting
from thalweg.tables.ndjson_rows import column_of

if TYPE_CHECKING:
    from thalweg.tables.rows import Chunk

Floats = NDArray[np.float64]
Places = NDArray[np.int64]
#: Bytes of a table of keys: those that were not seen for longest are forgotten beyond it.
TABLE_BYTES = 1 << 26
#: Buckets of a window: of each key, and where there is one for all rows. A bucket spans at most an eighth of the window
#: by key, and at most a 250th without.
_BUCKETS_BY_KEY, _BUCKETS = 17, 501
#: Different words that `last` and `lag` can give back.
_MOST_WORDS = 65_536
#: The bits of a hash that a number holds exactly.
_MANTISSA = np.uint64((1 << 52) - 1)
#: The clock before any row has a time.
_REMEMBERED = ("rows", "clock", "late_clock", "known", "words")
_BEFORE = int(np.iinfo(np.int64).min)


class _Input(NamedTuple):
    """What a table of keys is given of each row: a column as numbers, words or hashes, or whether it is a label."""

    column: str
    kind: str
    label: str | None = None


class History:
    """The features of a table from its earlier rows, and all that is remembered for them.

    Parameters
    ----------
    features : sequence of Feature
        What `thalweg.history.language` reads.
    numbers : mapping of str to NumberColumn
        The columns that are read as numbers.
    target : str or None
        The column of labels, which later rows may know.
    label : str or None
        The label that ``rate(target)`` is about, where it names none.
    time, label_time : (str, Clock) or None
        The columns that say when a row and its label come, and how they are read.
    delay : int, default 0
        How many rows late a label comes.
    """

    def __init__(
        self,
        features: Sequence[Feature],
        numbers: Mapping[str, NumberColumn],
        *,
        target: str | None = None,
        label: str | None = None,
        time: tuple[str, Clock] | None = None,
        label_time: tuple[str, Clock] | None = None,
        delay: int = 0,
    ) -> None:
        self.features = tuple(features)
        self.numbers = dict(numbers)
        self.target, self.label, self.time, self.label_time, self.delay = target, label, time, label_time, delay
        self._inputs: list[_Input] = []
        #: By columns of the key the calls, and their table.
        self._calls: dict[tuple[str, ...], list[Call]] = {}
        for call in (call for feature in features for call in feature.calls):
            calls = self._calls.setdefault(call.by, [])
            if call not in calls:
                calls.append(call)
        self._tables = [
            compiled.PastTable(list(map(self._as_compiled, calls)), TABLE_BYTES) for calls in self._calls.values()
        ]
        self._late = LateLabels(delay=delay, timed=label_time is not None)
        own = [name for feature in features for name in feature.columns]
        self._reads = [
            *own,
            *(name for feature in features for call in feature.calls for name in (call.column, *call.by)),
        ]
        #: Of inputs that are words, the numbers of these, and these by their numbers.
        self._words = {at: dict[str, int]() for at, wanted in enumerate(self._inputs) if wanted.kind == "word"}
        self._spelling = {at: list[str]() for at in self._words}
        #: Rows so far, and the latest time of any.
        self._rows, self._clock = 0, _BEFORE if time is not None else 0
        #: Of a service, the last record whose labels it knows.
        self.known = 0
        self._passing = False
        #: Held by `passing`, and by a service where others look at rows meanwhile.
        self.lock = RLock()

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that it adds."""
        return tuple(feature.name for feature in self.features)

    @property
    def sources(self) -> tuple[str, ...]:
        """The columns that it reads, but for the target."""
        times = [column[0] for column in (self.time, self.label_time) if column is not None]
        read = dict.fromkeys((*times, *self._reads))
        return tuple(name for name in read if name is not None and name not in (TARGET, self.target))

    def _column(self, call: Call) -> str | None:
        return self.target if call.column == TARGET else call.column

    def _is_of_target(self, call: Call) -> bool:
        return call.column is not None and self._column(call) == self.target

    def is_of_words(self, name: str) -> bool:
        """Whether the column of a feature holds words, and no numbers."""
        [made] = [feature.expression for feature in self.features if feature.name == name]
        return isinstance(made, Call) and self._is_of_words(made)

    def _is_of_words(self, call: Call) -> bool:
        return call.function in OF_WORDS and self._column(call) not in self.numbers

    def _as_compiled(self, call: Call) -> tuple[str, str, int, bool, float, int, int]:
        """A call as the compiled table takes it."""
        column, at = self._column(call), -1
        if column is not None:
            kind = "hash" if call.function == "distinct" else "word" if self._is_of_words(call) else "number"
            wanted = _Input(column, kind)
            if call.function == "rate" or (call.function == "count" and column not in self.numbers):
                label = (call.label or self.label) if call.function == "rate" else None
                wanted = _Input(column, "is" if call.function == "rate" else "hash", label)
            if wanted not in self._inputs:
                self._inputs.append(wanted)
            at = self._inputs.index(wanted)
        span, length = "ever", 0.0
        if call.window is not None:
            unit = "rows" if call.window.unit == "rows" else "clock"
            span, length = f"fading {unit}" if call.window.fading else unit, self._in_clock(call.window.length, unit)
        if call.span is not None:
            length = self._in_clock(call.span, "clock")
        function = "mean" if call.function == "rate" else call.function
        buckets = _BUCKETS_BY_KEY if call.by else _BUCKETS
        return function, span, at, self._is_of_target(call), length, call.steps or 0, buckets

    def _in_clock(self, length: float, unit: str) -> float:
        return length * self.time[1].per_unit if unit == "clock" and self.time is not None else length

    def extended(self, chunk: Chunk, *, learn: bool, order: Places | None = None) -> Chunk:
        """The rows with the columns of the features.

        Parameters
        ----------
        chunk : Chunk
            Rows, with the target where it is known.
        learn : bool
            Whether to remember them; without, their targets are not looked at, and inside of `passing` later rows see
            them.
        order : array, optional
            The steps of `follow`, where targets come as these say: ``i`` is row i, ``~i`` its target.
        """
        if learn or self._passing:
            return self._extended(chunk, learn, order)
        with self.passing():
            return self._extended(chunk, False, None)

    @contextmanager
    def passing(self) -> Iterator[None]:
        """Rows inside that are not learned are seen by later ones, and forgotten at the end."""
        with self.lock:
            marked = self.mark()
            self._passing = True
            try:
                yield
            finally:
                self._passing = False
                self.undo(marked)

    def _extended(self, chunk: Chunk, learn: bool, order: Places | None) -> Chunk:
        rows = len(chunk)
        cells = {name: chunk.column(name) for name in chunk.column_names}
        X = self._coded(self.inputs(cells, rows))
        clock, carried = self._clocks(X), 0
        if order is None:
            known, due = self._known(cells, X, learn)
            number = np.arange(self._rows + 1, self._rows + rows + 1)
            batch = self._late.plan(X, np.zeros(rows), known, number, clock, due)
            X, order, carried = batch.X, batch.order, batch.carried
            self._late.keep(batch, {})
        given = self._follow(X, np.concatenate([np.zeros(carried, dtype=np.int64), clock]), order)
        self._count(clock)
        columns = self.columns({call: values[carried:] for call, values in given.items()}, cells, rows)
        return replace(chunk, added={**chunk.added, **columns})

    def inputs(self, cells: Mapping[str, Any], rows: int) -> Inputs:
        """What it takes of rows with these columns; nothing is remembered."""
        places = cache(lambda name: self._places(cells, name, rows))
        hashes = cache(lambda name: _hashes(places(name)))
        columns = [_keys([(places(name)[0], hashes(name)) for name in by], rows) for by in self._calls]
        words: dict[int, Words] = {}
        for at, (column, kind, label) in enumerate(self._inputs):
            values = np.zeros(rows)
            if kind == "word":
                words[at] = places(column)
            elif kind == "number":
                values = self._numbers(column, cells, rows)
            elif kind == "is":
                values = np.array([*(float(word == label) for word in places(column)[1]), np.nan])[places(column)[0]]
            else:
                values = np.where(places(column)[0] < 0, np.nan, (hashes(column) & _MANTISSA).astype(np.float64))
            columns.append(values.view(np.int64))
        return Inputs(np.stack([*columns, self._times(cells, rows)], axis=1), words)

    def remember(self, inputs: Inputs) -> dict[Call, Floats]:
        """Take in rows whose targets come later, if ever; what every call says of each."""
        X = self._coded(inputs)
        clock = self._clocks(X)
        given = self._follow(X, clock, np.arange(len(X)))
        self._count(clock)
        return given

    def know(self, inputs: Inputs) -> None:
        """Take in the targets of rows that came before."""
        self._follow(self._coded(inputs), np.zeros(len(inputs), np.int64), ~np.arange(len(inputs)))

    def with_targets(self, rows: Sequence[tuple[Inputs, int]], targets: Sequence[Any]) -> Inputs:
        """What `know` takes: of these rows, each by its place among others, these targets."""
        numbers = np.stack([inputs.numbers[at] for inputs, at in rows])
        import pyarrow as pa

        own = self.inputs({str(self.target): pa.chunked_array([column_of(list(targets))])}, len(rows))
        for at, wanted in enumerate(self._inputs):
            if wanted.column == self.target:
                numbers[:, len(self._calls) + at] = own.numbers[:, len(self._calls) + at]
        return Inputs(numbers, own.words)

    def _follow(self, X: Places, clock: Places, order: Places) -> dict[Call, Floats]:
        values = np.ascontiguousarray(X[:, len(self._calls) :]).view(np.float64)
        given: dict[Call, Floats] = {}
        for at, (table, calls) in enumerate(zip(self._tables, self._calls.values(), strict=True)):
            out = np.full((len(X), len(calls)), np.nan)
            table.follow(np.ascontiguousarray(X[:, at]), values, clock, order, self._clock, out)
            given |= dict(zip(calls, out.T, strict=True))
        return given

    def _count(self, clock: Places) -> None:
        self._rows += len(clock)
        self._clock = int(clock[-1]) if len(clock) else self._clock

    def columns(self, given: Mapping[Call, Floats], cells: Mapping[str, Any], rows: int) -> dict[str, Any]:
        """The columns of the features, from what the calls say of rows and their own cells."""
        import pyarrow as pa

        per_second = 1 if self.time is None else self.time[1].per_unit

        def value(leaf: Call | OwnColumn) -> Floats:
            if isinstance(leaf, OwnColumn):
                return self._numbers(leaf.name, cells, rows)
            if leaf.function != "since_last":
                return given[leaf]
            return np.where(given[leaf] < -_BEFORE / 2, given[leaf] / per_second, np.nan)

        columns = {}
        for feature in self.features:
            call = feature.expression
            if isinstance(call, Call) and self._is_of_words(call):
                columns[feature.name] = pa.chunked_array([self._spelled(call, given[call])])
            else:
                columns[feature.name] = pa.chunked_array([pa.array(evaluate(call, value), from_pandas=True)])
        return columns

    def _times(self, cells: Mapping[str, Any], rows: int) -> Places:
        if self.time is None or self.time[0] not in cells:
            return np.full(rows, NEVER)
        return np.asarray(parsed(self.time[1], cells[self.time[0]])[0], dtype=np.int64)

    def _clocks(self, X: Places) -> Places:
        """The clock at each row: the latest time so far, which does not go back, nor stop where one is missing."""
        if self.time is None:
            return np.arange(self._rows + 1, self._rows + len(X) + 1)
        times = np.concatenate([[self._clock], np.where(X[:, -1] == NEVER, self._clock, X[:, -1])])
        return np.asarray(np.maximum.accumulate(times)[1:], dtype=np.int64)

    def _known(self, cells: Mapping[str, Any], X: Places, learn: bool) -> tuple[NDArray[np.bool_], Places | None]:
        """Which rows have a target that is ever known, and when it is."""
        of_target = [len(self._calls) + at for at, wanted in enumerate(self._inputs) if wanted.column == self.target]
        if not learn or not of_target or self.target not in cells:
            known = np.zeros(len(X), dtype=np.bool_)
        else:
            known = np.asarray(~np.isnan(np.ascontiguousarray(X[:, of_target]).view(np.float64)).all(axis=1))
        if self.label_time is None:
            return known, None
        name, clock = self.label_time
        due = parsed(clock, cells[name])[0] if name in cells else np.full(len(X), NEVER)
        return known & (due != NEVER), due

    def _numbers(self, column: str, cells: Mapping[str, Any], rows: int) -> Floats:
        """A column as numbers, NaN where a cell is missing."""
        if column not in cells:
            return np.full(rows, np.nan)
        return np.asarray(parsed(self.numbers[column], cells[column])[0], dtype=np.float64)

    def _places(self, cells: Mapping[str, Any], column: str, rows: int) -> Words:
        """Cells as places among the different words of the column, -1 for a missing one."""
        if column not in cells:
            return np.full(rows, -1), []
        coded = names(cells[column]).combine_chunks().dictionary_encode()
        return coded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64), coded.dictionary.to_pylist()

    def _coded(self, inputs: Inputs) -> Places:
        """Rows as the compiled tables take them: words have numbers from their first time on."""
        X = inputs.numbers
        if inputs.words:
            X = X.copy()
        for at, (places, words) in inputs.words.items():
            codes = np.array([*(self._code(at, word) for word in words), np.nan])
            X[:, len(self._calls) + at] = codes[places].view(np.int64)
        return X

    def _code(self, at: int, word: str) -> float:
        known, spelling = self._words[at], self._spelling[at]
        if word not in known:
            if len(known) == _MOST_WORDS:
                return np.nan
            known[word] = len(known)
            spelling.append(word)
        return float(known[word])

    def _spelled(self, call: Call, codes: Floats) -> Any:
        import pyarrow as pa

        known = self._spelling[self._inputs.index(_Input(str(self._column(call)), "word"))]
        return pa.array([known[int(code)] if 0 <= code < len(known) else None for code in codes.tolist()], pa.string())

    def come_late(self, delay: int) -> None:
        """From here on targets come so many rows late."""
        self.delay = self._late.delay = delay

    def come_by_themselves(self) -> None:
        """From here on targets come by `know`; those that were still to come are known now."""
        self.delay, self.label_time, self.known, waiting = 0, None, 0, self._late.waiting
        self._late = LateLabels()
        if waiting is not None and len(waiting):
            self._follow(waiting.X, np.zeros(len(waiting), np.int64), ~np.arange(len(waiting)))

    @property
    def reads_target(self) -> bool:
        return any(map(self._is_of_target, (call for calls in self._calls.values() for call in calls)))

    def mark(self) -> Any:
        """A point that `undo` returns to, once."""
        for table in self._tables:
            table.mark()
        words = [len(each) for each in self._words.values()]
        return self._rows, self._clock, self.known, words, self._late.waiting, self._late.clock

    def undo(self, marked: Any) -> None:
        """Forget all rows since `mark`."""
        for table in self._tables:
            table.undo()
        self._rows, self._clock, self.known, words, self._late.waiting, self._late.clock = marked
        for at, count in zip(self._words, words, strict=True):
            for word in self._spelling[at][count:]:
                del self._words[at][word]
            del self._spelling[at][count:]

    @staticmethod
    def described(kept: Mapping[str, Any]) -> dict[str, Any]:
        """What `to_json` says of what it is, without what it remembers."""
        return {name: value for name, value in kept.items() if name not in _REMEMBERED}

    def to_json(self) -> dict[str, Any]:
        """What it is, and the small part of what it remembers."""
        return {
            "features": list(map(str, self.features)),
            "numbers": [column.to_json() for column in self.numbers.values()],
            "target": self.target,
            "label": self.label,
            "time": _clock_to_json(self.time),
            "label_time": _clock_to_json(self.label_time),
            "delay": self.delay,
            "rows": self._rows,
            "clock": self._clock,
            "late_clock": self._late.clock,
            "known": self.known,
            "words": list(map(list, self._spelling.values())),
        }

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The rest of what it remembers."""
        kept = {f"keys {at}": table.state() for at, table in enumerate(self._tables)}
        waiting = self._late.waiting
        if waiting is not None and len(waiting):
            kept |= {"waiting": waiting.X, "due": waiting.due, "number": waiting.number}
        return kept

    @classmethod
    def from_json(cls, kept: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]] | None) -> History:
        """Back from `to_json` and `arrays`; without these it has seen no row. A `ValueError` where they cannot be."""
        columns = [column_from_json(**column) for column in kept["numbers"]]
        made = cls(
            parse_features(kept["features"]),
            {column.name: column for column in columns if isinstance(column, NumberColumn)},
            target=kept["target"],
            label=kept["label"],
            time=_clock_from_json(kept["time"]),
            label_time=_clock_from_json(kept["label_time"]),
            delay=int(kept["delay"]),
        )
        if arrays is None:
            return made
        for at, table in enumerate(made._tables):
            table.restore(_whole(arrays[f"keys {at}"], 1))
        made._rows, made._clock, made._late.clock = int(kept["rows"]), int(kept["clock"]), int(kept["late_clock"])
        made.known = int(kept["known"])
        for at, known in zip(made._words, kept["words"], strict=True):
            for word in known:
                made._code(at, str(word))
        if "waiting" in arrays:
            X, due, number = _whole(arrays["waiting"], 2), _whole(arrays["due"], 1), _whole(arrays["number"], 1)
            if not len(X) == len(due) == len(number) or X.shape[1] != len(made._tables) + len(made._inputs) + 1:
                raise ValueError("rows that wait cannot be as they are described")
            made._late.waiting = Waiting(X, np.zeros(len(X)), due, number)
        return made

    def state(self) -> dict[str, Any]:
        """All of it, for a checkpoint."""
        return {"json": self.to_json(), "arrays": self.arrays()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from what `state` gave."""
        self.__dict__ = self.from_json(state["json"], state["arrays"]).__dict__

    def __getstate__(self) -> dict[str, Any]:
        return self.state()

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.restore(state)


def _hash(word: str) -> int:
    """The same on every machine and in every version, which Python's own hash is not."""
    return int.from_bytes(hashlib.blake2b(word.encode(errors="surrogatepass"), digest_size=8).digest(), "little")


def _hashes(words: Words) -> NDArray[np.uint64]:
    """Of each cell; what a missing one has says nothing."""
    return np.array([*map(_hash, words[1]), 0], dtype=np.uint64)[words[0]]


def _keys(columns: Sequence[tuple[Places, NDArray[np.uint64]]], rows: int) -> Places:
    """A number for each key, of the places and hashes of its cells: 0 where one of them is missing."""
    keys = np.ones(rows, dtype=np.uint64)
    for places, hashes in columns:
        missing = (places < 0) | (keys == 0)
        mixed = np.maximum((keys * np.uint64(0x9E3779B97F4A7C15)) ^ hashes, np.uint64(1))
        keys = np.where(missing, np.uint64(0), mixed)
    return keys.view(np.int64)


def _whole(array: NDArray[Any], dimensions: int) -> Places:
    if array.dtype != np.int64 or array.ndim != dimensions:
        raise ValueError("an array cannot be as it is described")
    return np.ascontiguousarray(array)


def _clock_to_json(clock: tuple[str, Clock] | None) -> list[Any] | None:
    return None if clock is None else [clock[0], clock[1].form, list(clock[1].na)]


def _clock_from_json(kept: Sequence[Any] | None) -> tuple[str, Clock] | None:
    return None if kept is None else (str(kept[0]), Clock(kept[1], kept[2]))
