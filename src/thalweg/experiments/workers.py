"""Independent tasks on threads or processes, with results that do not depend on how many.

The compiled loops release the interpreter's lock, so threads are enough for them; scikit-learn's learners hold it
through their many small calls and need processes. Where a cluster is at hand (``cluster.py``), joblib sends all of them
there. Each task derives its own random numbers from its own number (`seeds_of_run`), and results are told by the number
of their task.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

import numpy as np

Result = TypeVar("Result")
_SENT_AWAY: ContextVar[bool] = ContextVar("sent_away", default=False)


def available_workers() -> int:
    """Processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def sending_away() -> Iterator[None]:
    """Inside, all tasks go where joblib is told to send them, even those that threads would be enough for."""
    before = _SENT_AWAY.set(True)
    try:
        yield
    finally:
        _SENT_AWAY.reset(before)


def seeds_of_run(seed: int, run: int) -> tuple[int, int]:
    """The seeds of a run's stream and of its learners, independent of all other runs'."""
    stream, learner = map(int, np.random.SeedSequence([seed, run]).generate_state(2))
    return stream, learner


def run_each(
    tasks: Sequence[Callable[[], Result]], workers: int, finished: Callable[[float], None]
) -> Iterator[tuple[int, Result]]:
    """Each task's number and result as soon as it is done, which is not the order of the tasks.

    After each, ``finished`` is told the share of them that is done. Results handed out are not kept.
    """
    if _SENT_AWAY.get():
        for done, numbered in enumerate(run_in_processes(tasks, workers), start=1):
            finished(done / len(tasks))
            yield numbered
        return
    with ThreadPoolExecutor(max_workers=workers) as pool:
        try:
            numbers = {pool.submit(task): number for number, task in enumerate(tasks)}
            for future in as_completed(numbers):
                number, result = numbers.pop(future), future.result()
                finished(1.0 - len(numbers) / len(tasks))
                yield number, result
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def run_all(tasks: Sequence[Callable[[], Result]], workers: int, finished: Callable[[float], None]) -> list[Result]:
    """Run every task; after each, tell ``finished`` the share of them that is done.

    Examples
    --------
    >>> run_all([lambda: 1, lambda: 2], workers=2, finished=lambda share: None)
    [1, 2]
    """
    results = dict(run_each(tasks, workers, finished))
    return [results[number] for number in range(len(tasks))]


def run_in_processes(tasks: Sequence[Callable[[], Result]], workers: int) -> Iterator[tuple[int, Result]]:
    """Each task's number and result as soon as it is done; a single worker is this process itself.

    Tasks and results are pickled on their way.
    """
    from joblib import Parallel, delayed

    if _SENT_AWAY.get():
        from cloudpickle import dumps

        for task in tasks:
            dumps(task)  # what cannot be sent is an error here, and a wait without end on a cluster

    pool = Parallel(n_jobs=workers, return_as="generator_unordered")
    yield from pool(delayed(_numbered)(number, task) for number, task in enumerate(tasks))


def _numbered(number: int, task: Callable[[], Result]) -> tuple[int, Result]:
    return number, task()
