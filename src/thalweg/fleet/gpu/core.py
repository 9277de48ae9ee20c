"""The core of a fleet on a GPU: the records of all keys in its memory, rows of a batch grouped there by key.

A batch finds the slot of each key in a hash table, sorts its rows by slot (a stable radix sort) and its keys by how
many rows they have, and takes the rows of each key in order. It reads and writes the record of each of its keys once:
with few rows a key that is the limit. Rows from NumPy are copied first (staging.py).
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from thalweg.errors import InvalidInput, MissingExtra
from thalweg.fleet.gpu.layout import Layout
from thalweg.fleet.gpu.staging import Staging
from thalweg.kernels import compiled

if TYPE_CHECKING:
    from thalweg.kernels._base import Core

#: Rows of a batch, and bytes of rows that are copied to the GPU at a time.
_MOST_ROWS, _COPIED_BYTES = 1 << 25, 1 << 31
_THREADS = 256
#: Keys to a page of records, as in step.cu.
_PAGE = 1 << 12
#: Buckets of keys with about as many rows, as in step.cu.
_BUCKETS = 128
#: More would take minutes to compile.
_MOST_FEATURES = 64
#: What step.cu includes, in the order in which one needs another.
_HEADERS = "both.cuh", "discriminant_step.cuh", "linear_step.cuh"


def cupy() -> Any:
    """CuPy, where it is and finds a GPU."""
    found = MissingExtra.import_module("cupy", "gpu", "a fleet on a GPU", "CuPy")
    try:
        found.cuda.runtime.getDeviceCount()
    except found.cuda.runtime.CUDARuntimeError as error:
        raise InvalidInput(f"a fleet on a GPU needs one that CUDA finds, got: {error}") from error
    return found


def module_of(name: str, headers: tuple[str, ...] = (), expressions: tuple[str, ...] = ()) -> Any:
    """The kernels of a file beside this one, compiled; CuPy keeps them on disk."""
    texts = [files("thalweg.fleet.gpu").joinpath(each).read_text("utf-8") for each in (*headers, name)]
    code = re.sub(r'#pragma once|#include "\w+\.cuh"', "", "\n".join(texts))
    return cupy().RawModule(code=code, options=("-std=c++17",), name_expressions=list(expressions))


@cache
def _module(take_rows: str) -> Any:
    """The kernels with that for records of one shape, compiled once for each process."""
    return module_of("step.cu", _HEADERS, (take_rows,))


class GpuFleetCore:
    """What `compiled.FleetCore` is to a fleet in the host's memory; keys are integers.

    Parameters
    ----------
    model : compiled.Core
        A fresh model, for files and models of single keys.
    layout : Layout
        Its records, without classes yet.
    """

    def __init__(self, model: Core, layout: Layout) -> None:
        if layout.features > _MOST_FEATURES:
            raise InvalidInput(f"a fleet on a GPU takes at most {_MOST_FEATURES} features, got {layout.features}")
        self._cp = cupy()
        self._staging = Staging(self._cp)
        self._model = model
        self._layout = layout
        #: Records of some pages each, and where every page begins.
        self._records: list[Any] = []
        self._pages = self._cp.zeros(0, dtype=self._cp.uint64)
        #: A key and, in the lower half of the second number, its slot; -1 where there is none.
        self._table = self._empty_table(1024)
        self._count = 0

    @property
    def n_features(self) -> int:
        """The width of a row."""
        return self._layout.features

    @property
    def n_classes(self) -> int:
        """Labels announced so far."""
        return self._layout.classes

    @property
    def n_bytes(self) -> int:
        """Memory of the GPU that is held for models and keys."""
        held = [self._pages, self._table, *self._records]
        return int(sum(array.nbytes for array in held))

    @property
    def kind(self) -> str:
        """The kind of keys, empty before the first."""
        return "i" if self._count else ""

    def __len__(self) -> int:
        return self._count

    def name_features(self, names: Any) -> None:
        """Rows come as arrays, whose columns need no names here."""

    def require_room(self, classes: int) -> None:
        """Raise where records of so many classes are too large, each or all together."""
        wider = replace(self._layout, classes=classes)
        _ = wider.lanes
        rows = [len(records) for records in self._records]
        more = 8 * (sum(rows) * (wider.stored - self._layout.stored) + max(rows, default=0) * self._layout.stored)
        if more > self._free_bytes():
            raise MemoryError(f"the GPU has no memory for {classes} classes: {more / 1e9:.1f} GB more are needed")

    def _free_bytes(self) -> int:
        return int(self._cp.cuda.runtime.memGetInfo()[0] + self._cp.get_default_memory_pool().free_bytes())

    def announce(self, at: int) -> None:
        """Make room for a label at this place among the others, in every record."""
        narrow, wider = self._layout, replace(self._layout, classes=self.n_classes + 1)
        columns = self._cp.asarray(narrow.columns_with_class(at, wider))
        for place, records in enumerate(self._records):
            self._records[place] = self._cp.zeros((len(records), wider.stored))
            self._records[place][:, columns] = records[:, : narrow.words]
        self._layout = wider
        self._find_pages()

    # ------------------------------------------------------------------ rows

    def run(self, X: Any, y: Any, numbers: Any, words: Any = None, answers: NDArray[np.int64] | None = None) -> None:
        """Predict each row by the model of its key, then learn it; arrays are NumPy's."""
        self._require_numbers(words)
        for part in self._pieces(len(X)):
            rows, keys, codes = self.to_device(X[part], numbers[part], np.asarray(y[part], dtype=np.int32))
            given = self.take(rows, keys, codes, self._places())
            if answers is not None:
                answers[part] = self.to_host(given)

    def answers(self, X: Any, numbers: Any, words: Any, out: NDArray[np.int64]) -> None:
        """Predict without learning."""
        self._require_numbers(words)
        for part in self._pieces(len(X)):
            rows, keys = self.to_device(X[part], numbers[part])
            out[part] = self.to_host(self.take(rows, keys, None, self._places()))

    def _places(self) -> NDArray[np.int64]:
        return np.arange(-1, self.n_classes)

    def _pieces(self, rows: int) -> list[slice]:
        size = max(1, min(_MOST_ROWS, _COPIED_BYTES // (8 * self.n_features)))
        return [slice(begin, begin + size) for begin in range(0, rows, size)]

    def takes_whole(self, X: NDArray[Any]) -> bool:
        """Whether all rows of NumPy have room on the GPU at once, and so may be checked there before one is learned."""
        return 0 < 4 * 8 * X.size <= self._free_bytes()

    def to_device(self, *arrays: NDArray[Any]) -> list[Any]:
        """Copies of arrays of NumPy in the GPU's memory."""
        return self._staging.to_device(arrays)

    def to_host(self, array: Any) -> NDArray[Any]:
        """A copy of an array of CuPy in the host's memory."""
        return self._staging.to_host(array)

    def take(self, X: Any, keys: Any, codes: Any, names: NDArray[np.int64]) -> Any:
        """Predict rows of CuPy, and learn them where codes are given.

        ``names`` is what stands for no model yet, and for each class.
        """
        found = self._cp.empty(len(X), dtype=self._cp.int64)
        if codes is None:
            found.fill(names[0])
        told = self._cp.asarray(names)
        for begin in range(0, len(X), _MOST_ROWS):
            part = slice(begin, begin + _MOST_ROWS)
            self._take(X[part], keys[part], None if codes is None else codes[part], told, found[part])
        return found

    def _take(self, X: Any, keys: Any, codes: Any, names: Any, found: Any) -> None:
        slots = self._slots(keys, learn=codes is not None)
        order, groups = self._grouped(slots)
        if len(groups) == 0:
            return
        lanes = self._layout.lanes
        kernel, room = self._kernel(self._take_rows), self._layout.bytes_of_warp(lanes)
        kernel.max_dynamic_shared_size_bytes = room
        options = self._layout.options()
        labels = codes if codes is not None else np.uintp(0)
        arguments = X, labels, order, groups, np.int32(len(groups)), options, names, found
        kernel((-(-len(groups) * lanes // 32),), (32,), arguments, shared_mem=room)

    def _grouped(self, slots: Any) -> tuple[Any, Any]:
        """Rows sorted by slot, and for each slot where its rows are, those with most rows first."""
        cp = self._cp
        order = cp.argsort(slots, kind="stable")
        places = cp.zeros(_BUCKETS, dtype=cp.int32)
        sorted_rows = slots[order], order, np.int32(len(slots)), self._pages, np.int32(self._layout.stored)
        self._launch("list_groups", len(slots), *sorted_rows, places, np.uintp(0))
        ends = np.cumsum(places.get(), dtype=np.int32)
        groups = cp.empty((int(ends[-1]), 3), dtype=cp.uint64)
        places[1:] = cp.asarray(ends[:-1])
        places[0] = 0
        self._launch("list_groups", len(slots), *sorted_rows, places, groups)
        return order, groups

    def _slots(self, keys: Any, *, learn: bool) -> Any:
        cp = self._cp
        slots = cp.empty(len(keys), dtype=cp.int32)
        count: Any = np.uintp(0)
        if learn:
            self._make_room(len(keys))
            count = cp.full(1, self._count, dtype=cp.int32)
        mask = np.uint32(len(self._table) - 1)
        self._launch("find_slots", len(keys), keys, np.int32(len(keys)), self._table, mask, count, slots)
        if learn:
            self._grow_to(int(count[0]))
        return slots

    def _grow_to(self, keys: int) -> None:
        """Take up the new keys of the table; without memory for their models they are no keys, and nothing changed."""
        try:
            self._grow(keys)
        except self._cp.cuda.memory.OutOfMemoryError as error:
            size = len(self._table)
            self._launch("drop_slots", size, self._table, np.int32(size), np.int32(self._count))
            raise MemoryError(f"the GPU has no memory for {keys - self._count} more models: {error}") from error
        self._count = keys

    def _launch(self, name: str, threads: int, *arguments: Any) -> None:
        self._kernel(name)((-(-threads // _THREADS),), (_THREADS,), arguments)

    def _kernel(self, name: str) -> Any:
        return _module(self._take_rows).get_function(name)

    @property
    def _take_rows(self) -> str:
        layout = self._layout
        return f"take_rows<{layout.step}<{layout.features}, {layout.classes}, {layout.lanes}>>"

    def _empty_table(self, size: int) -> Any:
        table = self._cp.zeros((size, 2), dtype=self._cp.int64)
        table[:, 1] = -1
        return table

    def _make_room(self, more: int) -> None:
        """Make the table large enough to be at most three quarters full, should all of so many keys be new."""
        size = len(self._table)
        while 4 * (self._count + more) > 3 * size:
            size *= 2
        if size > len(self._table):
            table = self._empty_table(size)
            old = len(self._table)
            self._launch("move_slots", old, self._table, np.int32(old), table, np.uint32(size - 1))
            self._table = table

    def _grow(self, keys: int) -> None:
        """Records for so many keys, with room for an eighth more."""
        have = len(self._pages) * _PAGE
        if keys > have:
            pages = -(-(keys + keys // 8 - have) // _PAGE)
            self._records.append(self._cp.zeros((pages * _PAGE, self._layout.stored)))
            self._find_pages()

    def _find_pages(self) -> None:
        size = 8 * _PAGE * self._layout.stored
        begins = [np.arange(each.data.ptr, each.data.ptr + each.nbytes, size) for each in self._records]
        self._pages = self._cp.asarray(np.concatenate([np.empty(0, dtype=np.int64), *begins]).astype(np.uint64))

    def _records_at(self, slots: NDArray[np.int64]) -> NDArray[np.float64]:
        """The records of these slots, in the host's memory."""
        found, begin = np.empty((len(slots), self._layout.words)), 0
        for records in self._records:
            own = np.flatnonzero((slots >= begin) & (slots < begin + len(records)))
            found[own] = records[self._cp.asarray(slots[own] - begin), : self._layout.words].get()
            begin += len(records)
        return found

    @staticmethod
    def _require_numbers(words: Any) -> None:
        if words is not None:
            raise InvalidInput("keys must be integers for a fleet on a GPU, got strings")

    # ------------------------------------------------------------------ single keys and rows

    def learn_one(self, x: Any, k: int, key: Any) -> None:
        """Learn one row."""
        self.run(self._row(x), np.array([k]), self._key(key))

    def answer_one(self, x: Any, key: Any) -> int:
        """Predict one row; -1 for an unknown key."""
        out = np.empty(1, dtype=np.int64)
        self.answers(self._row(x), self._key(key), None, out)
        return int(out[0])

    def check_one(self, x: Any) -> None:
        """Raise where a row cannot be learned."""
        self._row(x)

    def _row(self, x: Any) -> NDArray[np.float64]:
        row = np.asarray(x, dtype=np.float64).reshape(1, -1)
        if row.shape[1] != self.n_features or not np.isfinite(row).all():
            raise InvalidInput(f"a row of a fleet on a GPU must be {self.n_features} numbers, got {x!r}")
        return row

    @staticmethod
    def _key(key: Any) -> NDArray[np.int64]:
        if isinstance(key, bool) or not isinstance(key, int | np.integer):
            raise InvalidInput(f"keys must be integers for a fleet on a GPU, got {key!r}")
        return np.array([key], dtype=np.int64)

    def __contains__(self, key: Any) -> bool:
        return self._slot_of(key) >= 0

    def _slot_of(self, key: Any) -> int:
        if not self._count or not self.n_classes:
            return -1
        return int(self._slots(self._cp.asarray(self._key(key)), learn=False)[0])

    def forget(self, key: Any) -> bool:
        """Give up a key's model; the last model takes its place. Whether there was one."""
        slot = self._slot_of(key)
        if slot < 0:
            return False
        last = self._count - 1
        self._record(slot)[:] = self._record(last)
        self._record(last)[:] = 0  # where the next new key starts
        slots, size = self._table[:, 1].astype(self._cp.int32), len(self._table)
        self._table[slots == slot, 1] = -1
        if slot != last:
            self._table[slots == last, 1] = slot
        table = self._empty_table(size)  # anew: a place that became empty would hide keys behind it
        self._launch("move_slots", size, self._table, np.int32(size), table, np.uint32(size - 1))
        self._table, self._count = table, last
        return True

    def _record(self, slot: int) -> Any:
        for records in self._records:
            if slot < len(records):
                return records[slot]
            slot -= len(records)
        raise IndexError(slot)

    def keys(self) -> list[int]:
        """All keys, in order."""
        return sorted(self._keys_and_slots()[0].tolist())

    def _keys_and_slots(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        slots = self._table[:, 1].astype(self._cp.int32)
        used = slots >= 0
        return self._table[used, 0].get(), slots[used].get()

    def state_of(self, key: Any) -> dict[str, Any] | None:
        """The state of a key's model, as a core of its own has it."""
        slot = self._slot_of(key)
        if slot < 0:
            return None
        records = self._records_at(np.array([slot]))
        alone = compiled.FleetCore(self._model)
        alone.restore(self._host_state(np.array([int(key)]), records))
        return alone.state_of(key)

    # ------------------------------------------------------------------ files, and fleets in the host's memory

    def state(self) -> dict[str, NDArray[Any]]:
        """All records, as `compiled.FleetCore` writes them."""
        keys, slots = self._keys_and_slots()
        order = np.argsort(keys)
        return self._host_state(keys[order], self._records_at(slots[order].astype(np.int64)))

    def _host_state(self, keys: NDArray[np.int64], records: NDArray[np.float64]) -> dict[str, NDArray[Any]]:
        empty = compiled.FleetCore(self._model)
        for at in range(self.n_classes):
            empty.announce(at)
        words, lengths = self._layout.to_host(records)
        return {**empty.state(), "keys": keys, "records": words, "record_lengths": lengths}

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Take back what `state` gave, here or in the host's memory."""
        checked = compiled.FleetCore(self._model)
        checked.restore(state)  # refuses what no learner can have written
        if len(state["key_ends"]):
            raise InvalidInput("keys must be integers for a fleet on a GPU, got strings")
        while self.n_classes < int(state["n_classes"][0]):
            self.announce(self.n_classes)
        if len(state["keys"]):
            records = self._layout.from_host(state["records"], state["record_lengths"])
            slots = self._slots(self._cp.asarray(state["keys"]), learn=True)
            begin = 0
            for own in self._records:
                here = self._cp.flatnonzero((slots >= begin) & (slots < begin + len(own)))
                own[slots[here] - begin, : self._layout.words] = self._cp.asarray(records[here.get()])
                begin += len(own)
