"""The core of a fleet on a GPU: the records of all keys in its memory, rows of a batch grouped there by key.

A batch finds the slot of each key in a hash table, sorts its rows by slot (a stable radix sort) and takes the rows of
each key in order. State is 8 (p^2 / 2 + (c + 2.5) p) bytes a key, which a batch reads and writes once for each key in
it: with few rows a key that is the limit. Rows from NumPy are copied through page-locked memory, in pieces, while the
piece before is learned.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.errors import InvalidInput, MissingExtra
from thalweg.fleet.gpu.records import Shape, from_host, to_host
from thalweg.kernels import compiled
from thalweg.kernels._base import Core

#: Rows of a batch: of those in the GPU's memory, and of those that are copied there.
_MOST_ROWS, _COPIED_ROWS = 1 << 25, 1 << 20
_THREADS = 256
#: Keys to a page of records, as in step.cu.
_PAGE = 1 << 12
#: The options of a step, as C++ lays them out.
_OPTIONS = [("rate", "f8"), ("warmup", "i4"), ("padding", "i4")]
#: What copies one piece to page-locked memory, which one thread alone does more slowly than the link.
_COPIERS = 8


def cupy() -> Any:
    """CuPy, where it is and finds a GPU."""
    found = MissingExtra.import_module("cupy", "gpu", "a fleet on a GPU", "CuPy")
    try:
        found.cuda.runtime.getDeviceCount()
    except found.cuda.runtime.CUDARuntimeError as error:
        raise InvalidInput(f"a fleet on a GPU needs one that CUDA finds, got: {error}") from error
    return found


@cache
def _module(features: int, classes: int) -> Any:
    """The kernels for this width, compiled once for each process; CuPy keeps them on disk."""
    code = files("thalweg.fleet.gpu").joinpath("step.cu").read_text("utf-8")
    header = files("thalweg.fleet.gpu").joinpath("record_step.cuh").read_text("utf-8")
    code = code.replace('#include "record_step.cuh"', header.replace("#pragma once", ""))
    return cupy().RawModule(code=code, options=("-std=c++17",), name_expressions=[_take_rows(features, classes)])


def _take_rows(features: int, classes: int) -> str:
    return f"take_rows<{features}, {classes}>"


class GpuFleetCore:
    """What `compiled.FleetCore` is to a fleet in the host's memory; keys are integers.

    Parameters
    ----------
    model : compiled.Core
        A fresh discriminant, for files and models of single keys.
    shape : Shape
        Its features, no classes yet, its rate and warm-up.
    """

    def __init__(self, model: Core, shape: Shape) -> None:
        self._cp = cupy()
        self._model = model
        self._shape = shape
        #: Records of some pages each, and where every page begins.
        self._records: list[Any] = []
        self._pages = self._cp.zeros(0, dtype=self._cp.uint64)
        self._table_keys = self._cp.zeros(1024, dtype=self._cp.int64)
        self._table_slots = self._cp.full(1024, -1, dtype=self._cp.int32)
        self._count = 0

    @property
    def n_features(self) -> int:
        """The width of a row."""
        return self._shape.features

    @property
    def n_classes(self) -> int:
        """Labels announced so far."""
        return self._shape.classes

    @property
    def n_bytes(self) -> int:
        """Memory of the GPU that is held for models and keys."""
        held = [self._pages, self._table_keys, self._table_slots, *self._records]
        return int(sum(array.nbytes for array in held))

    @property
    def kind(self) -> str:
        """The kind of keys, empty before the first."""
        return "i" if self._count else ""

    def __len__(self) -> int:
        return self._count

    def name_features(self, names: Any) -> None:
        """Rows come as arrays, whose columns need no names here."""

    def announce(self, at: int) -> None:
        """Make room for a label at this place among the others, in every record."""
        wider = self._shape._replace(classes=self._shape.classes + 1)
        p, before, after = self._shape.features, self._shape.parts(), wider.parts()
        columns = np.arange(self._shape.words)
        means, counts = columns[before["means"]], columns[before["counts"]]
        columns[means] = after["means"].start + means - means[:1] + np.where(np.arange(len(means)) >= at * p, p, 0)
        for name in ("variance", "total", "rows"):
            columns[before[name]] += after[name].start - before[name].start
        columns[counts] = after["counts"].start + np.arange(len(counts)) + (np.arange(len(counts)) >= at)
        for at_records, narrow in enumerate(self._records):
            records = self._cp.zeros((len(narrow), wider.words))
            records[:, self._cp.asarray(columns)] = narrow
            self._records[at_records] = records
        self._shape = wider
        self._find_pages()

    # ------------------------------------------------------------------ rows

    def run(self, X: Any, y: Any, numbers: Any, words: Any = None, answers: NDArray[np.int64] | None = None) -> None:
        """Predict each row by the model of its key, then learn it; arrays are NumPy's."""
        self._require_numbers(words)
        for part, (rows, keys, codes) in self._on_device(X, numbers, y):
            given = self.take(rows, keys, codes)
            if answers is not None:
                answers[part] = given.get()

    def answers(self, X: Any, numbers: Any, words: Any, out: NDArray[np.int64]) -> None:
        """Predict without learning."""
        self._require_numbers(words)
        for part, (rows, keys, _) in self._on_device(X, numbers, None):
            out[part] = self.take(rows, keys, None).get()

    def take(self, X: Any, keys: Any, codes: Any) -> Any:
        """Predict rows of CuPy, -1 where there is no model yet, and learn them where codes are given."""
        cp = self._cp
        found = cp.empty(len(X), dtype=cp.int32)
        for begin in range(0, len(X), _MOST_ROWS):
            part = slice(begin, begin + _MOST_ROWS)
            self._take(X[part], keys[part], None if codes is None else codes[part], found[part])
        return found

    def _take(self, X: Any, keys: Any, codes: Any, found: Any) -> None:
        cp, rows = self._cp, len(X)
        slots = self._slots(keys, learn=codes is not None)
        order = cp.argsort(slots, kind="stable").astype(cp.uint32)
        slots = slots[order]
        first = cp.flatnonzero(cp.concatenate([cp.ones(1, dtype=bool), slots[1:] != slots[:-1]])).astype(cp.uint32)
        owners = slots[first]
        if codes is None:
            found.fill(-1)
            known = owners >= 0
            if not bool(known[:1].all()):  # unknown keys come first: their rows are left out
                skipped = int(first[1]) if len(first) > 1 else rows
                order, first, owners, rows = order[skipped:], first[1:] - cp.uint32(skipped), owners[1:], rows - skipped
        if rows == 0:
            return
        kernel = _module(self.n_features, self.n_classes).get_function(_take_rows(self.n_features, self.n_classes))
        room = 32 * 8 * (self._shape.words | 1)
        kernel.max_dynamic_shared_size_bytes = room
        options = np.array([(self._shape.rate, self._shape.warmup, 0)], dtype=_OPTIONS)
        labels = codes if codes is not None else np.uintp(0)
        sizes = np.int32(len(owners)), np.int32(rows)
        arguments = self._pages, X, labels, order, first, owners, *sizes, options, found
        kernel((-(-len(owners) // 32),), (32,), arguments, shared_mem=room)

    def _slots(self, keys: Any, *, learn: bool) -> Any:
        cp = self._cp
        slots = cp.empty(len(keys), dtype=cp.int32)
        count: Any = np.uintp(0)
        if learn:
            self._make_room(len(keys))
            count = cp.full(1, self._count, dtype=cp.int32)
        find = _module(self.n_features, self.n_classes).get_function("find_slots")
        mask = np.uint32(len(self._table_keys) - 1)
        arguments = keys, np.int32(len(keys)), self._table_keys, self._table_slots, mask, count, slots
        find((-(-len(keys) // _THREADS),), (_THREADS,), arguments)
        if learn:
            self._count = int(count[0])
            self._grow(self._count)
        return slots

    def _make_room(self, more: int) -> None:
        """Make the table large enough to be at most half full, should all of so many keys be new."""
        cp, size = self._cp, len(self._table_keys)
        while 2 * (self._count + more) > size:
            size *= 2
        if size == len(self._table_keys):
            return
        keys, slots = cp.zeros(size, dtype=cp.int64), cp.full(size, -1, dtype=cp.int32)
        move = _module(self.n_features, self.n_classes).get_function("move_slots")
        old = len(self._table_keys)
        arguments = self._table_keys, self._table_slots, np.int32(old), keys, slots, np.uint32(size - 1)
        move((-(-old // _THREADS),), (_THREADS,), arguments)
        self._table_keys, self._table_slots = keys, slots

    def _grow(self, keys: int) -> None:
        """Records for so many keys, with room for an eighth more."""
        have = len(self._pages) * _PAGE
        if keys > have:
            pages = -(-(keys + keys // 8 - have) // _PAGE)
            self._records.append(self._cp.zeros((pages * _PAGE, self._shape.words)))
            self._find_pages()

    def _find_pages(self) -> None:
        size = 8 * _PAGE * self._shape.words
        begins = [np.arange(each.data.ptr, each.data.ptr + each.nbytes, size) for each in self._records]
        self._pages = self._cp.asarray(np.concatenate([np.empty(0, dtype=np.int64), *begins]).astype(np.uint64))

    def _records_at(self, slots: NDArray[np.int64]) -> NDArray[np.float64]:
        """The records of these slots, in the host's memory."""
        found, begin = np.empty((len(slots), self._shape.words)), 0
        for records in self._records:
            own = np.flatnonzero((slots >= begin) & (slots < begin + len(records)))
            found[own] = records[self._cp.asarray(slots[own] - begin)].get()
            begin += len(records)
        return found

    def _on_device(self, X: Any, keys: Any, y: Any) -> Iterator[tuple[slice, tuple[Any, ...]]]:
        """Pieces of rows, each copied while the one before is worked on."""
        arrays = [X, keys, *([] if y is None else [np.asarray(y, dtype=np.int32)])]
        pieces = [slice(begin, begin + _COPIED_ROWS) for begin in range(0, max(1, len(X)), _COPIED_ROWS)]
        locked = [self._page_locked(array[pieces[0]]) for array in arrays]
        stream = self._cp.cuda.Stream(non_blocking=True)
        with ThreadPoolExecutor(_COPIERS) as copiers, ThreadPoolExecutor(1) as ahead:
            coming = ahead.submit(self._copied, arrays, locked, pieces[0], stream, copiers)
            for at, part in enumerate(pieces):
                copied = coming.result()
                if at + 1 < len(pieces):
                    coming = ahead.submit(self._copied, arrays, locked, pieces[at + 1], stream, copiers)
                yield part, (*copied, *([None] if y is None else []))

    def _page_locked(self, like: Any) -> Any:
        """Memory of the host for a piece, from which the GPU copies at the speed of the link."""
        memory = self._cp.cuda.alloc_pinned_memory(like.nbytes)
        return np.frombuffer(memory, like.dtype, like.size).reshape(like.shape)

    def _copied(
        self, arrays: list[Any], locked: list[Any], part: slice, stream: Any, copiers: ThreadPoolExecutor
    ) -> tuple[Any, ...]:
        own = [array[part] for array in arrays]
        cuts = list(pairwise(np.linspace(0, len(own[0]), _COPIERS + 1).astype(int).tolist()))
        copies = [
            copiers.submit(np.copyto, to[begin:end], of[begin:end])
            for to, of in zip(locked, own, strict=True)
            for begin, end in cuts
        ]
        for copy in copies:
            copy.result()
        with stream:
            found = tuple(self._cp.empty(each.shape, dtype=each.dtype) for each in own)
            for array, to in zip(found, locked, strict=True):
                array.set(to[: len(array)], stream=stream)
        stream.synchronize()  # the next piece takes the same page-locked memory
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

    def keys(self) -> list[int]:
        """All keys, in order."""
        return sorted(self._keys_and_slots()[0].tolist())

    def _keys_and_slots(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        used = self._table_slots >= 0
        return self._table_keys[used].get(), self._table_slots[used].get()

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
        words, lengths = to_host(records, self._shape)
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
            records = from_host(state["records"], state["record_lengths"], self._shape)
            slots = self._slots(self._cp.asarray(state["keys"]), learn=True)
            begin = 0
            for own in self._records:
                here = self._cp.flatnonzero((slots >= begin) & (slots < begin + len(own)))
                own[slots[here] - begin] = self._cp.asarray(records[here.get()])
                begin += len(own)
