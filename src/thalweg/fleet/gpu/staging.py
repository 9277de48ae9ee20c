"""Copies between arrays of NumPy and the memory of a GPU at the speed of the link.

A GPU copies by itself only from page-locked memory. Other arrays pass through buffers of it: some threads each fill one
buffer while the other is on its way, as one thread copies more slowly than the link.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

_BUFFER_BYTES = 1 << 22
_THREADS = min(8, os.cpu_count() or 1)
#: Below this the start of the threads takes longer than the copy.
_FEW_BYTES = 1 << 22
#: The number that CUDA has for page-locked memory of the host.
_PAGE_LOCKED = 1


class Staging:
    """Copies arrays by one GPU.

    Parameters
    ----------
    cp : module
        CuPy.
    """

    def __init__(self, cp: Any) -> None:
        self._cp = cp
        self._lanes: list[_Lane] = []

    def to_device(self, array: NDArray[Any]) -> Any:
        """A copy in the GPU's memory."""
        cp, array = self._cp, np.ascontiguousarray(array)
        found = cp.empty(array.shape, dtype=array.dtype)
        if array.nbytes <= _FEW_BYTES or self._is_page_locked(array):
            found.set(array)
            return found
        source = array.reshape(-1).view(np.uint8)
        self._share_out(array.nbytes, lambda lane, part: lane.send(source[part], found.data.ptr + part.start))
        return found

    def to_host(self, array: Any) -> NDArray[Any]:
        """A copy in the host's memory."""
        array = self._cp.ascontiguousarray(array)
        if array.nbytes <= _FEW_BYTES:
            return np.asarray(array.get())
        found = np.empty(array.shape, dtype=array.dtype)
        into = found.reshape(-1).view(np.uint8)
        self._share_out(array.nbytes, lambda lane, part: lane.receive(array.data.ptr + part.start, into[part]))
        return found

    def _share_out(self, size: int, copy: Callable[[_Lane, slice], None]) -> None:
        """Copy all parts, each by the next of the threads; returns when all are there."""
        if not self._lanes:
            self._lanes = [_Lane(self._cp) for _ in range(_THREADS)]
        ready = self._cp.cuda.get_current_stream().record()  # memory may still be in use by kernels before
        device = self._cp.cuda.Device()
        parts = [slice(begin, min(begin + _BUFFER_BYTES, size)) for begin in range(0, size, _BUFFER_BYTES)]

        def run(at: int) -> None:
            lane = self._lanes[at]
            with device:
                lane.stream.wait_event(ready)
                for part in parts[at::_THREADS]:
                    copy(lane, part)
                lane.stream.synchronize()

        with ThreadPoolExecutor(_THREADS) as threads:
            for done in [threads.submit(run, at) for at in range(_THREADS)]:
                done.result()

    def _is_page_locked(self, array: NDArray[Any]) -> bool:
        return bool(self._cp.cuda.runtime.pointerGetAttributes(array.ctypes.data).type == _PAGE_LOCKED)


class _Lane:
    """Two buffers of page-locked memory and the order in which the GPU copies them."""

    def __init__(self, cp: Any) -> None:
        self._runtime = cp.cuda.runtime
        self.stream = cp.cuda.Stream(non_blocking=True)
        self._memory = [cp.cuda.alloc_pinned_memory(_BUFFER_BYTES) for _ in range(2)]
        self._buffers = [np.frombuffer(memory, np.uint8, _BUFFER_BYTES) for memory in self._memory]
        self._copied = [self.stream.record() for _ in range(2)]
        self._next = 0

    def send(self, source: NDArray[np.uint8], to: int) -> None:
        at, self._next = self._next, 1 - self._next
        self._copied[at].synchronize()
        np.copyto(self._buffers[at][: len(source)], source)
        kind = self._runtime.memcpyHostToDevice
        self._runtime.memcpyAsync(to, self._memory[at].ptr, len(source), kind, self.stream.ptr)
        self._copied[at] = self.stream.record()

    def receive(self, source: int, into: NDArray[np.uint8]) -> None:
        kind = self._runtime.memcpyDeviceToHost
        self._runtime.memcpyAsync(self._memory[0].ptr, source, len(into), kind, self.stream.ptr)
        self.stream.synchronize()
        np.copyto(into, self._buffers[0][: len(into)])
