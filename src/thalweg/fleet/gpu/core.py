"""The core of a fleet on a GPU: the records of all keys in its memory, rows of a batch grouped there by key.

A batch finds the slot of each key in a hash table, sorts its rows by slot (a stable radix sort) and its keys by how
many rows they have, and takes the rows of each key in order. It reads and writes the record of each of its keys once:
with few rows a key that is the limit. Rows from NumPy are copied first (staging.py).

With a capacity, models beyond it are in the host's memory (cold_models.py). Before its rows are taken, a batch brings
back those of its keys, and those used longest ago leave to make room, at least an eighth of the capacity at a time.
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
from thalweg.fleet.gpu.layouts import Layout
from thalweg.fleet.gpu.records import ColdModels, Records, longest_unused
from thalweg.fleet.gpu.staging import Staging
from thalweg.kernels import compiled

if TYPE_CHECKING:
    from thalweg.kernels._base import Core

#: Rows of a batch, and bytes of rows that are copied to the GPU at a time.
_MOST_ROWS, _COPIED_BYTES = 1 << 25, 1 << 31
_THREADS = 256
#: Buckets of keys with about as many rows, as in step.cu.
_BUCKETS = 128
#: More would take minutes to compile.
_MOST_FEATURES = 64
#: What step.cu includes, in the order in which one needs another.
_HEADERS = "both.cuh", "factor_step.cuh", "discriminant_step.cuh", "least_squares_step.cuh", "linear_step.cuh"


def cupy() -> Any:
    """CuPy, where it is and finds a GPU."""
    module = MissingExtra.import_module("cupy", "gpu", "a fleet on a GPU", "CuPy")
    try:
        module.cuda.runtime.getDeviceCount()
    except module.cuda.runtime.CUDARuntimeError as error:
        raise InvalidInput(f"a fleet on a GPU needs one that CUDA finds, got: {error}") from error
    return module


def module_of(name: str, headers: tuple[str, ...] = (), expressions: tuple[str, ...] = ()) -> Any:
    """The kernels of a file beside this one, compiled; CuPy keeps them on disk."""
    texts = [files("thalweg.fleet.gpu").joinpath(file).read_text("utf-8") for file in (*headers, name)]
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
    capacity : int, optional
        Models that stay in the GPU's memory (default: all).
    """

    def __init__(self, model: Core, layout: Layout, capacity: int | None = None) -> None:
        if layout.features > _MOST_FEATURES:
            raise InvalidInput(f"a fleet on a GPU takes at most {_MOST_FEATURES} features, got {layout.features}")
        self._cp = cupy()
        self._staging = Staging(self._cp)
        self._model = model
        self._layout = layout
        self._capacity = capacity
        self._records = Records(self._cp)
        self._cold = ColdModels(layout.words)
        #: A key and, in the lower half of the second number, its slot; -1 where there is none.
        self._table = self._empty_table(1024)
        #: Keys on the GPU, and batches so far.
        self._count = 0
        self._batch = 0

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
        return int(self._table.nbytes) + self._records.n_bytes

    @property
    def kind(self) -> str:
        """The kind of keys, empty before the first."""
        return "i" if len(self) else ""

    def __len__(self) -> int:
        return self._count + len(self._cold)

    def name_features(self, names: Any) -> None:
        """Rows come as arrays, whose columns need no names here."""

    def require_room(self, classes: int) -> None:
        """Raise where records of so many classes are too large, each or all together."""
        wider = replace(self._layout, classes=classes)
        _ = wider.lanes
        grown = len(self._records) * (wider.stored - self._layout.stored)
        more = 8 * (grown + self._records.largest_part * self._layout.stored)
        if more > self._free_bytes():
            raise MemoryError(f"the GPU has no memory for {classes} classes: {more / 1e9:.1f} GB more are needed")

    def _free_bytes(self) -> int:
        return int(self._cp.cuda.runtime.memGetInfo()[0] + self._cp.get_default_memory_pool().free_bytes())

    def announce(self, at: int) -> None:
        """Make room for a label at this place among the others, in every record."""
        narrow, wider = self._layout, replace(self._layout, classes=self.n_classes + 1)
        columns = narrow.columns_with_class(at, wider)
        self._records.widen(columns, narrow, wider)
        self._cold.widen(columns, wider.words)
        self._layout = wider

    def run(self, X: Any, y: Any, numbers: Any, words: Any = None, answers: NDArray[np.int64] | None = None) -> None:
        """Predict each row by the model of its key, then learn it; arrays are NumPy's."""
        self._require_numbers(words)
        for part in self._pieces(len(X)):
            rows, keys, codes = self.to_device(X[part], numbers[part], self._layout.targets(y[part]))
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

        ``names`` is what stands for no model yet, and for each class. Codes and predictions of regressors are numbers,
        predictions as their bits.
        """
        predicted = self._cp.empty(len(X), dtype=self._cp.int64)
        if codes is None:
            predicted.fill(names[0])
        labels = self._cp.asarray(names)
        for begin in range(0, len(X), _MOST_ROWS):
            part = slice(begin, begin + _MOST_ROWS)
            self._take(X[part], keys[part], None if codes is None else codes[part], labels, predicted[part])
        return predicted

    def _take(self, X: Any, keys: Any, codes: Any, names: Any, predicted: Any) -> None:
        """Take a batch in parts whose keys fit into the capacity; each key has all its rows in one of them."""
        self._batch += 1
        if self._capacity is None:
            self._take_resident(X, keys, codes, names, predicted)
            return
        distinct = self._cp.unique(keys)
        if len(distinct) <= self._capacity:
            self._make_resident(distinct, learn=codes is not None)
            self._take_resident(X, keys, codes, names, predicted)
            return
        part_of = self._cp.searchsorted(distinct, keys) // self._capacity
        for part, begin in enumerate(range(0, len(distinct), self._capacity)):
            self._batch += part > 0
            self._make_resident(distinct[begin : begin + self._capacity], learn=codes is not None)
            own = self._cp.flatnonzero(part_of == part)
            answers = predicted[own]
            self._take_resident(X[own], keys[own], None if codes is None else codes[own], names, answers)
            predicted[own] = answers

    def _take_resident(self, X: Any, keys: Any, codes: Any, names: Any, predicted: Any) -> None:
        slots = self._slots(keys, learn=codes is not None)
        order, groups = self._grouped(slots)
        if len(groups) == 0:
            return
        lanes = self._layout.lanes
        kernel, room = self._kernel(self._take_rows), self._layout.bytes_of_warp(lanes)
        kernel.max_dynamic_shared_size_bytes = room
        options = self._layout.options()
        labels = codes if codes is not None else np.uintp(0)
        arguments = X, labels, order, groups, np.int32(len(groups)), options, names, predicted
        kernel((-(-len(groups) * lanes // 32),), (32,), arguments, shared_mem=room)

    def _grouped(self, slots: Any) -> tuple[Any, Any]:
        """Rows sorted by slot, and for each slot where its rows are, those with most rows first."""
        cp = self._cp
        order = cp.argsort(slots, kind="stable")
        places = cp.zeros(_BUCKETS, dtype=cp.int32)
        sorted_rows = slots[order], order, np.int32(len(slots)), self._records.pages, np.int32(self._layout.stored)
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
            more = keys - self._count
            hint = "give a capacity, beyond which models go to the host's memory"
            raise MemoryError(f"the GPU has no memory for {more} more models; {hint}: {error}") from error
        self._records.used[self._count : keys] = self._batch
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
        size, most = len(self._table), self._count + more
        most = most if self._capacity is None else min(most, self._capacity)
        while 4 * most > 3 * size:
            size *= 2
        if size > len(self._table):
            table = self._empty_table(size)
            old = len(self._table)
            self._launch("move_slots", old, self._table, np.int32(old), table, np.uint32(size - 1))
            self._table = table

    def _grow(self, keys: int) -> None:
        """Records for so many keys, with room for an eighth more."""
        if keys > len(self._records):
            self._records.grow(min(keys + keys // 8, self._capacity or keys + keys // 8), self._layout)

    def _records_at(self, slots: Any) -> NDArray[np.float64]:
        if len(slots) == 0:
            return np.empty((0, self._layout.words))
        return self.to_host(self._records.read(slots)[:, : self._layout.words])

    def _make_resident(self, keys: Any, *, learn: bool) -> None:
        """Bring the models of different keys to the GPU, and make room for new ones where they are to be learned."""
        slots = self._slots(keys, learn=False)
        self._records.used[slots[slots >= 0]] = self._batch
        absent = keys[slots < 0].get()
        back = absent[self._cold.has(absent)]
        self._make_way(len(absent) if learn else len(back))
        if len(back):
            self._admit(back, self._cold.read(back))
            self._cold.remove(back)

    def _make_way(self, wanted: int) -> None:
        """Let models that the batch does not use leave until there is room for so many."""
        capacity = self._capacity or 0
        more = self._count + wanted - capacity
        if more <= 0:
            return
        used = self._records.used[: self._count]
        others = self._count - int((used == self._batch).sum())
        leaving = longest_unused(self._cp, used, min(others, max(more, capacity // 8)))
        key_of = self._cp.empty(self._count, dtype=self._cp.int64)
        own, slots = self._entries()
        key_of[slots] = own
        self._cold.put(key_of[leaving].get(), self._records_at(leaving))
        self._drop(leaving)

    def _admit(self, keys: NDArray[np.int64], records: NDArray[np.float64]) -> None:
        """Models of keys that the GPU does not have."""
        slots = self._slots(self._cp.asarray(keys), learn=True)
        self._records.write(slots, *self.to_device(records))

    def _drop(self, slots: Any) -> None:
        """Give up the models at these slots; the last ones take their places."""
        moved = self._records.drop(slots, self._count)
        size = len(self._table)
        places = self._table[:, 1].astype(self._cp.int32)
        held = self._cp.flatnonzero(places >= 0)
        self._table[held, 1] = moved[places[held]]
        table = self._empty_table(size)  # anew: a place that became empty would hide keys behind it
        self._launch("move_slots", size, self._table, np.int32(size), table, np.uint32(size - 1))
        self._table, self._count = table, self._count - len(slots)

    @staticmethod
    def _require_numbers(words: Any) -> None:
        if words is not None:
            raise InvalidInput("keys must be integers for a fleet on a GPU, got strings")

    def learn_one(self, x: Any, k: int, key: Any) -> None:
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
        return self._slot_of(key) >= 0 or self._is_cold(key)

    def _is_cold(self, key: Any) -> bool:
        return len(self._cold) > 0 and bool(self._cold.has(self._key(key))[0])

    def _slot_of(self, key: Any) -> int:
        if not self._count or not self.n_classes:
            return -1
        return int(self._slots(self._cp.asarray(self._key(key)), learn=False)[0])

    def forget(self, key: Any) -> bool:
        """Give up a key's model; whether there was one."""
        slot = self._slot_of(key)
        if slot >= 0:
            self._drop(self._cp.asarray([slot]))
        elif self._is_cold(key):
            self._cold.remove(self._key(key))
        else:
            return False
        return True

    def keys(self) -> list[int]:
        return sorted([*self._entries()[0].tolist(), *self._cold.keys.tolist()])

    def _entries(self) -> tuple[Any, Any]:
        slots = self._table[:, 1].astype(self._cp.int32)
        used = slots >= 0
        return self._table[used, 0], slots[used]

    def state_of(self, key: Any) -> dict[str, Any] | None:
        """The state of a key's model, as a core of its own has it."""
        slot = self._slot_of(key)
        if slot < 0 and not self._is_cold(key):
            return None
        own = self._key(key)
        records = self._records_at(self._cp.asarray([slot])) if slot >= 0 else self._cold.read(own)
        alone = compiled.FleetCore(self._model)
        alone.restore(self._host_state(own, records))
        return alone.state_of(key)

    def state(self) -> dict[str, NDArray[Any]]:
        """All records, as `compiled.FleetCore` writes them."""
        own, slots = self._entries()
        keys = np.concatenate([own.get(), self._cold.keys])
        records = np.concatenate([self._records_at(slots), self._cold.read(self._cold.keys)])
        order = np.argsort(keys)
        return self._host_state(keys[order], records[order])

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
        keys = state["keys"]
        if len(keys):
            records = self._layout.from_host(state["records"], state["record_lengths"])
            first = len(keys) if self._capacity is None else self._capacity
            self._admit(keys[:first], records[:first])
            self._cold.put(keys[first:], records[first:])
