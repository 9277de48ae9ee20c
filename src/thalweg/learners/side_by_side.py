"""Blocks of array work on all cores.

NumPy lets other threads run while it computes, so plain threads suffice. The linear algebra library would start
threads of its own for every small product; they wait for one another by spinning, and on a busy machine a product then
takes a hundred times as long. So it is held to one thread meanwhile.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

Block = TypeVar("Block")

_lock = threading.Lock()
_inside = 0
_threads_before: list[int] = []


def side_by_side(
    work: Callable[[Block], object],
    blocks: Sequence[Block],
    worth_threads: bool,
    tell: Callable[[float], None] = lambda share: None,
) -> None:
    """Call ``work`` with each block, on all cores where that is worth it; ``tell`` hears the share done."""
    with _one_thread_for_products():
        if not worth_threads or len(blocks) < 2:
            for done, block in enumerate(blocks, start=1):
                work(block)
                tell(done / len(blocks))
            return
        with ThreadPoolExecutor(_cores()) as threads:
            for done, _ in enumerate(threads.map(work, blocks), start=1):
                tell(done / len(blocks))


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


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
