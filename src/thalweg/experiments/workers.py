"""Independent tasks on threads, with results that do not depend on how many.

The compiled loops release the interpreter's lock, so threads are enough. Each task derives its own random
numbers from its own number, and results come back in the order of the tasks.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import TypeVar

Result = TypeVar("Result")


def available_workers() -> int:
    """Processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def run_all(tasks: Sequence[Callable[[], Result]], workers: int, finished: Callable[[float], None]) -> list[Result]:
    """Run every task; after each, tell ``finished`` the share of them that is done.

    >>> run_all([lambda: 1, lambda: 2], workers=2, finished=lambda share: None)
    [1, 2]
    """
    with ThreadPoolExecutor(max_workers=workers) as pool:
        try:
            futures = [pool.submit(task) for task in tasks]
            for count, future in enumerate(as_completed(futures), start=1):
                future.result()
                finished(count / len(futures))
            return [future.result() for future in futures]
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
