"""Copies between arrays of NumPy and the memory of a GPU at the speed of the link.

A GPU copies by itself only from page-locked memory. Other arrays pass through buffers of it: some threads each fill one
buffer while the other is on its way, as one thread copies more slowly than the link.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]

_BUFFER_BYTES = 1 << 22
_THREADS = min(8, os.cpu_count() or 1)
#: Below this the start of the threads takes longer than the copy.
_FEW_BYTES = 1 << 22
#: The number that CUDA has for page-locked memory of the host.
_PAGE_LOCKED = 1


class Staging:
    """Copies arrays by one GPU."""

    def __init__(self, cp: Any) -> None:
        self._cp = cp
        self._lanes: list[_Lane] = []

    def to_device(self, arrays: Iterable[NDArray[Any]]) -> list[Any]:
        """Copies in the GPU's memory."""
        copies, parts = [], []
        for array in map(np.ascontiguousarray, arrays):
            copy = self._cp.empty(array.shape, dtype=array.dtype)
            copies.append(copy)
            if array.nbytes <= _FEW_BYTES or self._is_page_locked(array):
                copy.set(array)
            else:
                parts += _parts(array.reshape(-1).view(np.uint8), copy.data.ptr)
        self._share_out(_Lane.send, parts)
        return copies

    def to_host(self, array: Any) -> NDArray[Any]:
        """A copy in the host's memory."""
        array = self._cp.ascontiguousarray(array)
        if array.nbytes <= _FEW_BYTES:
            return np.asarray(array.get())
        copied = np.empty(array.shape, dtype=array.dtype)
        self._share_out(_Lane.receive, _parts(copied.reshape(-1).view(np.uint8), array.data.ptr))
        return copied

    def _share_out(self, copy: Callable[[_Lane, Bytes, int], None], parts: list[tuple[Bytes, int]]) -> None:
        """Copy all parts, each by the next of the threads; returns when all are there."""
        if not parts:
            return
        if not self._lanes:
            self._lanes = [_Lane(self._cp) for _ in range(_THREADS)]
        ready = self._cp.cuda.get_current_stream().record()  # kernels before may still use the memory
        device = self._cp.cuda.Device()

        def run(at: int) -> None:
            lane = self._lanes[at]
            with device:
                lane.stream.wait_event(ready)
                for here, there in parts[at::_THREADS]:
                    copy(lane, here, there)
                lane.stream.synchronize()

        with ThreadPoolExecutor(_THREADS) as threads:
            for done in [threads.submit(run, at) for at in range(_THREADS)]:
                done.result()

    def _is_page_locked(self, array: NDArray[Any]) -> bool:
        return bool(self._cp.cuda.runtime.pointerGetAttributes(array.ctypes.data).type == _PAGE_LOCKED)


def _parts(here: Bytes, there: int) -> list[tuple[Bytes, int]]:
    """Memory of the host and the place of its twin in the GPU's, a buffer at a time."""
    return [(here[at : at + _BUFFER_BYTES], there + at) for at in range(0, len(here), _BUFFER_BYTES)]


class _Lane:
    """Two buffers of page-locked memory and the order in which the GPU copies them."""

    def __init__(self, cp: Any) -> None:
        self._runtime = cp.cuda.runtime
        self.stream = cp.cuda.Stream(non_blocking=True)
        self._memory = [cp.cuda.alloc_pinned_memory(_BUFFER_BYTES) for _ in range(2)]
        self._buffers = [np.frombuffer(memory, np.uint8, _BUFFER_BYTES) for memory in self._memory]
        self._copied = [self.stream.record() for _ in range(2)]
        self._next = 0

    def send(self, here: Bytes, there: int) -> None:
        at, self._next = self._next, 1 - self._next
        self._copied[at].synchronize()
        np.copyto(self._buffers[at][: len(here)], here)
        kind = self._runtime.memcpyHostToDevice
        self._runtime.memcpyAsync(there, self._memory[at].ptr, len(here), kind, self.stream.ptr)
        self._copied[at] = self.stream.record()

    def receive(self, here: Bytes, there: int) -> None:
        kind = self._runtime.memcpyDeviceToHost
        self._runtime.memcpyAsync(self._memory[0].ptr, there, len(here), kind, self.stream.ptr)
        self.stream.synchronize()
        np.copyto(here, self._buffers[0][: len(here)])
