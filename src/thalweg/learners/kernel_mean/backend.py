"""Where blocks of array work are done: on all cores of the host, or by another library on its device.

The mathematics (densities.py, parzen.py) is written once, in functions of the array API standard. What the standard has
no word for, or what NumPy does in less memory, is a method here.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from thalweg.parameters import processors

Block = TypeVar("Block")

_lock = threading.Lock()
_inside = 0
_threads_before: list[int] = []


def side_by_side(
    work: Callable[[Block], object],
    blocks: Sequence[Block],
    worth_threads: bool,
    report: Callable[[float], None] = lambda share: None,
) -> None:
    """Call ``work`` with each block, on all cores where that is worth it; ``report`` is called with the share done."""
    with _one_thread_for_products():
        if not worth_threads or len(blocks) < 2:
            _one_by_one(work, blocks, report)
            return
        with ThreadPoolExecutor(processors()) as threads:
            for done, _ in enumerate(threads.map(work, blocks), start=1):
                report(done / len(blocks))


def _one_by_one(work: Callable[[Block], object], blocks: Sequence[Block], report: Callable[[float], None]) -> None:
    for done, block in enumerate(blocks, start=1):
        work(block)
        report(done / len(blocks))


@contextmanager
def _one_thread_for_products() -> Iterator[None]:
    """The first to come in limits the library, the last to leave restores it."""
    global _inside
    with _lock:
        if _inside == 0:
            _threads_before[:] = [library.get_num_threads() for library in _libraries()]
            for library in _libraries():
                library.set_num_threads(1)
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                for library, threads in zip(_libraries(), _threads_before, strict=True):
                    library.set_num_threads(threads)


@cache
def _libraries() -> tuple[Any, ...]:
    return tuple(ThreadpoolController().select(user_api="blas").lib_controllers)


class Backend(ABC):
    """A library of arrays; its functions are those of ``xp``."""

    xp: Any
    #: Numbers of a block, and kept rows of a tile of one.
    block: ClassVar[int]
    tile: ClassVar[int]

    @abstractmethod
    def array(self, values: NDArray[Any]) -> Any:
        """Values of NumPy as an array of this library."""

    @abstractmethod
    def host(self, array: Any) -> NDArray[Any]:
        """An array of this library as one of NumPy, to be read and not written."""

    @abstractmethod
    def run(
        self,
        work: Callable[[Block], object],
        blocks: Sequence[Block],
        worth_threads: bool,
        report: Callable[[float], None] = lambda share: None,
    ) -> None:
        """Call ``work`` with each block; ``report`` is called with the share done."""

    @abstractmethod
    def at_least(self, values: Any, least: float) -> Any:
        """Values below ``least`` as that; may overwrite them."""

    @abstractmethod
    def exp(self, exponents: Any, least: float) -> Any:
        """Exponentials; exponents below ``least`` may be taken as that, and all may be overwritten."""

    @abstractmethod
    def squared_lengths(self, rows: Any) -> Any:
        """The sum of squares of each row."""


class Host(Backend):
    """NumPy, in blocks that stay in a core's own cache."""

    xp = np
    block, tile = 1 << 16, 512

    def array(self, values: NDArray[Any]) -> NDArray[Any]:
        return values

    def host(self, array: Any) -> NDArray[Any]:
        return np.asarray(array)

    def run(
        self,
        work: Callable[[Block], object],
        blocks: Sequence[Block],
        worth_threads: bool,
        report: Callable[[float], None] = lambda share: None,
    ) -> None:
        side_by_side(work, blocks, worth_threads, report)

    def at_least(self, values: Any, least: float) -> Any:
        return np.maximum(values, least, out=values)

    def exp(self, exponents: Any, least: float) -> Any:
        """In place; exponents that underflow would cost ten times as much."""
        return np.exp(np.maximum(exponents, least, out=exponents), out=exponents)

    def squared_lengths(self, rows: Any) -> Any:
        return np.einsum("ij,ij->i", rows, rows)


HOST = Host()


@dataclass(frozen=True)
class Device(Backend):
    """A library that keeps to the array API standard, in blocks large enough to keep a GPU busy.

    Parameters
    ----------
    xp : module
        Its namespace.
    device : object
        Where its arrays lie, as ``array.device`` says.
    """

    xp: Any
    device: Any

    block, tile = 1 << 25, 1 << 13

    def array(self, values: NDArray[Any]) -> Any:
        return self.xp.asarray(np.ascontiguousarray(values), device=self.device)

    def host(self, array: Any) -> NDArray[Any]:
        if hasattr(array, "get"):  # CuPy
            return np.asarray(array.get())
        if hasattr(array, "cpu"):  # PyTorch
            return np.asarray(array.cpu().numpy())
        return np.from_dlpack(array)

    def run(
        self,
        work: Callable[[Block], object],
        blocks: Sequence[Block],
        worth_threads: bool,
        report: Callable[[float], None] = lambda share: None,
    ) -> None:
        """One after the other: each fills the device."""
        _one_by_one(work, blocks, report)

    def at_least(self, values: Any, least: float) -> Any:
        return self.xp.maximum(values, self.xp.asarray(least, dtype=values.dtype, device=self.device))

    def exp(self, exponents: Any, least: float) -> Any:
        """All as they are: underflow costs a GPU nothing."""
        return self.xp.exp(exponents)

    def squared_lengths(self, rows: Any) -> Any:
        return self.xp.sum(rows * rows, axis=1)
