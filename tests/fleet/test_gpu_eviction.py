"""Models that leave the GPU and come back: the bookkeeping, with NumPy in the place of CuPy and its kernels."""

from types import SimpleNamespace

import numpy as np
import pytest

from thalweg.fleet.gpu.core import GpuFleetCore
from thalweg.fleet.gpu.records import ColdModels, Records


class Array(np.ndarray):
    def get(self):
        return np.array(self)


class Library:
    """NumPy, whose arrays can be fetched as those of CuPy."""

    def __getattr__(self, name):
        made = getattr(np, name)
        if isinstance(made, type):
            return made

        def wrapped(*arguments, **options):
            found = made(*arguments, **options)
            return found.view(Array) if isinstance(found, np.ndarray) else found

        return wrapped


class HostRecords(Records):
    def _find_pages(self, layout):
        pass


class CountingCore(GpuFleetCore):
    """Its model counts the rows of a key and predicts the count; the kernels are loops."""

    def __init__(self, capacity):
        self._cp = Library()
        self._layout = SimpleNamespace(words=3, stored=4, classes=1, features=1)
        self._capacity = capacity
        self._records = HostRecords(self._cp)
        self._cold = ColdModels(3)
        self._table = self._empty_table(8)
        self._count = self._batch = 0

    def to_host(self, array):
        return np.array(array)

    def to_device(self, *arrays):
        return [np.array(each).view(Array) for each in arrays]

    def _launch(self, name, threads, *arguments):
        if name == "move_slots":
            old, _, table, _ = arguments
            held = old[old[:, 1] >= 0]
            table[: len(held)] = held
            return
        keys, _, table, _, count, slots = arguments
        for row, key in enumerate(keys):
            at = np.flatnonzero((table[:, 1] >= 0) & (table[:, 0] == key))
            if len(at) == 0 and isinstance(count, np.ndarray):
                at = np.flatnonzero(table[:, 1] < 0)[:1]
                table[at] = key, count[0]
                count[0] += 1
            slots[row] = table[at[0], 1] if len(at) else -1

    def _take_resident(self, X, keys, codes, names, found):
        slots = self._slots(keys, learn=codes is not None)
        for row, slot in enumerate(slots):
            if slot >= 0:
                record = self._records.read(slots[row : row + 1])
                assert record[0, 1] in (0, keys[row])
                found[row] = record[0, 0]
                if codes is not None:
                    self._records.write(slots[row : row + 1], record + np.array([1, keys[row] - record[0, 1], 0, 0]))


@pytest.mark.quick(2)
@pytest.mark.parametrize("capacity", [None, 1, 7, 16, 100])
def test_every_model_is_where_its_rows_are(capacity):
    rng, core, truth = np.random.default_rng(0), CountingCore(capacity), {}
    for size in rng.integers(1, 40, 60).tolist():
        keys = rng.integers(1, 60, size).view(Array)
        learned = core.take(np.zeros((size, 1)), keys, np.zeros(size), np.arange(-1, 1))
        expected = []
        for key in keys.tolist():
            expected.append(truth.get(key, 0))
            truth[key] = truth.get(key, 0) + 1
        assert learned.tolist() == expected
        assert core._count <= (capacity or 60)
        asked = rng.integers(1, 80, size).view(Array)
        found = core.take(np.zeros((size, 1)), asked, None, np.arange(-1, 1))
        assert found.tolist() == [truth.get(key, -1) for key in asked.tolist()]
        gone = int(rng.integers(1, 80))
        assert core.forget(gone) == (truth.pop(gone, None) is not None)
        assert gone not in core
        assert core.keys() == sorted(truth)
        assert len(core) == len(truth)
    assert (len(core._cold) > 0) == (capacity is not None and capacity < len(truth))


def test_those_used_longest_ago_leave_and_several_at_a_time():
    core = CountingCore(16)
    for first in (0, 4, 8, 12, 0):  # the first four are used again
        keys = np.arange(first, first + 4).view(Array)
        core.take(np.zeros((4, 1)), keys, np.zeros(4), np.arange(-1, 1))
    core.take(np.zeros((1, 1)), np.array([99]).view(Array), np.zeros(1), np.arange(-1, 1))
    assert len(core._cold) == 2  # an eighth of the capacity, though one would do
    assert set(core._cold.keys.tolist()) <= {4, 5, 6, 7}


def test_cold_models_are_those_that_were_put_there():
    rng, cold, truth = np.random.default_rng(0), ColdModels(2), {}
    for _ in range(40):
        new = np.setdiff1d(rng.integers(-500, 500, 90), list(truth))
        rng.shuffle(new)
        records = rng.normal(size=(len(new), 2))
        cold.put(new, records)
        truth.update(zip(new.tolist(), records.tolist(), strict=True))
        asked = rng.integers(-600, 600, 50)
        assert cold.has(asked).tolist() == [key in truth for key in asked.tolist()]
        gone = rng.permutation(np.array(list(truth)))[: rng.integers(0, len(truth) + 1)]
        assert cold.read(gone).tolist() == [truth.pop(key) for key in gone.tolist()]
        cold.remove(gone)
        assert cold.keys.tolist() == sorted(truth)
    cold.put(np.array([1000]), np.array([[1.0, 2.0]]))
    cold.widen(np.array([2, 0]), 3)
    assert cold.read(np.array([1000])).tolist() == [[2.0, 0.0, 1.0]]
    assert cold.read(cold.keys).shape == (len(truth) + 1, 3)
    cold.remove(cold.keys)
    assert cold.n_bytes == 0
