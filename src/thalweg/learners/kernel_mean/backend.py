"""Where blocks of array work are done: on all cores of the host, or by another library on its device.

The mathematics (densities.py, parzen.py) is written once, in functions of the array API standard. What the standard has
no word for, or what NumPy does in less memory, is a method here. Rows come as arrays of another library where
scikit-learn is set to leave them there, inside ``sklearn.config_context(array_api_dispatch=True)``. Elsewhere such
arrays are taken as NumPy takes them.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator
from threadpoolctl import ThreadpoolController

from thalweg.errors import NotNumbers
from thalweg.kernels import compiled
from thalweg.learners.base.rows import Floats, as_rows
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
    """A library that keeps to the array API standard, in blocks large enough to keep a GPU busy."""

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


class DeviceRows:
    """Finite numbers in rows, in double precision where they came from."""

    def __init__(self, array: Any, owner: BaseEstimator) -> None:
        self.backend = _backend_of(array)
        xp = self.backend.xp
        if not xp.isdtype(array.dtype, ("bool", "integral", "real floating")):
            raise NotNumbers(f"X must be a two-dimensional array of numbers: got {array.dtype}")
        self.array = xp.asarray(_detached(array), dtype=xp.float64)
        if 0 in self.shape or not bool(xp.all(xp.abs(self.array) <= compiled.largest_value)):
            as_rows(self.on_host, owner, "X")  # raises, and says where

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and features."""
        return self.array.shape[0], self.array.shape[1]

    def __len__(self) -> int:
        return self.shape[0]

    @cached_property
    def on_host(self) -> Floats:
        """The rows as NumPy has them."""
        return np.ascontiguousarray(self.backend.host(self.array))

    def like(self, predictions: NDArray[Any]) -> Any:
        """Predictions as an array of the library of these rows; strings, which only NumPy can hold, as they are."""
        return predictions if predictions.dtype.kind == "U" else self.backend.array(predictions)


def device_rows(X: Any, owner: BaseEstimator) -> DeviceRows | None:
    """X where it is a table of another library than NumPy and is to stay there; else None."""
    return DeviceRows(X, owner) if _is_dispatched(X) and getattr(X, "ndim", 0) == 2 else None


def on_host(values: Any) -> Any:
    """Labels of another library as NumPy has them; anything else as it is."""
    return _backend_of(values).host(_detached(values)) if _is_dispatched(values) else values


def rows_and_backend(X: Floats | DeviceRows) -> tuple[Any, Backend]:
    """The rows as an array, and the library whose functions take it."""
    return (X.array, X.backend) if isinstance(X, DeviceRows) else (X, HOST)


def _is_dispatched(X: Any) -> bool:
    foreign = not isinstance(X, np.ndarray) and hasattr(X, "__dlpack__") and hasattr(X, "device")
    return foreign and bool(get_config()["array_api_dispatch"])


def _backend_of(array: Any) -> Device:
    from sklearn.utils._array_api import get_namespace

    xp, _ = get_namespace(array)
    return Device(xp, array.device)


def _detached(array: Any) -> Any:
    """A tensor of PyTorch without its gradient, which would keep every block in memory."""
    return array.detach() if hasattr(array, "detach") else array
