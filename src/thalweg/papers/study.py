"""A study: the measurements behind a paper's items, each made once, with progress, by any number of workers.

Tasks are independent and go to threads, processes or a Dask cluster. Results do not depend on how many workers there
are.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar
from urllib.parse import urlsplit

import numpy as np

import thalweg
from thalweg.errors import DataUnavailable, InvalidParameter, MissingExtra, ServiceUnreachable

Result = TypeVar("Result")

#: Called with the share of the work done, from 0 to 1, and what is being done.
Progress: TypeAlias = Callable[[float, str], None]
#: Called with the share of one stage that is done.
Finished: TypeAlias = Callable[[float], None]


@dataclass(frozen=True)
class Request:
    """What to reproduce of a paper, and how; the parameters of `thalweg.papers.registry.Paper.reproduce`."""

    items: Sequence[str]
    runs: int = 100
    seed: int = 0
    workers: int = 1
    progress: Progress = lambda share, label: None
    fast: bool = False
    with_moa: bool = False
    with_refitted: bool = False


class Meter:
    """Turns the shares of named stages, weighted by their work, into a share of the whole.

    Examples
    --------
    >>> meter = Meter({"draw": 1.0, "learn": 3.0}, lambda share, label: print(f"{share:.3f} {label}"))
    >>> meter.stage("draw")(1.0)
    0.250 draw
    >>> meter.stage("learn")(0.5)
    0.625 learn
    """

    def __init__(self, work: Mapping[str, float], progress: Progress) -> None:
        self._work = dict(work)
        self._total = sum(work.values())
        self._progress = progress
        self._before = 0.0

    def stage(self, label: str) -> Finished:
        """Begin a stage: a function to call with the share of the stage that is done."""
        report = self.part(label)
        return lambda share: report(share, label)

    def part(self, label: str) -> Progress:
        """Begin a stage that says itself what it is doing.

        Examples
        --------
        >>> meter = Meter({"draw": 1.0, "learn": 3.0}, lambda share, label: print(f"{share:.3f} {label}"))
        >>> meter.part("draw")(0.5, "pencils")
        0.125 pencils
        """
        before, work = self._before, self._work[label]
        self._before += work
        return lambda share, doing: self._progress((before + work * share) / self._total, doing)


class Study(Meter):
    """Measurements by key, each made when it is first asked for; ``work`` has the work of each stage, in any unit.

    What had to be left out, and why, is in ``notes``.

    Examples
    --------
    >>> study = Study({}, Request(["sums"]))
    >>> study.once("sum", lambda: 1 + 1), study.once("sum", lambda: 1 / 0)
    (2, 2)
    """

    def __init__(self, work: Mapping[str, float], request: Request) -> None:
        super().__init__(work, request.progress)
        self.runs, self.seed, self.workers = request.runs, request.seed, request.workers
        self.notes: list[str] = []
        self._began = time.perf_counter()
        self._results: dict[Hashable, Any] = {}

    def once(self, key: Hashable, measure: Callable[[], Result]) -> Result:
        """The result of ``measure``, from now or from an earlier call with this key."""
        if key not in self._results:
            self._results[key] = measure()
        result: Result = self._results[key]
        return result

    def at_hand(self, name: str, load: Callable[[], Result]) -> Result | None:
        """What ``load`` gives; None, and a note, where it needs something that is not there."""
        try:
            return load()
        except (DataUnavailable, MissingExtra) as missing:
            self.notes.append(f"{name} is left out: {missing}")
            return None

    def timing(self) -> str:
        return f"Measured in {time.perf_counter() - self._began:,.0f} s."


def at_hand(sources: Mapping[str, Callable[[], Result]]) -> tuple[dict[str, Result], list[str]]:
    """What can be had, by name, and a note on what cannot."""
    there, notes = {}, []
    for name, load in sources.items():
        try:
            there[name] = load()
        except DataUnavailable as error:
            notes.append(f"Left out: {error}")
    return there, notes


_SENT_AWAY: ContextVar[bool] = ContextVar("sent_away", default=False)


@contextmanager
def sending_away() -> Iterator[None]:
    """Inside, all tasks go to joblib's backend, even those for which threads would be enough."""
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
    """Each task's number and result as soon as it is done, in no particular order.

    ``finished`` is called after each with the share done. Results are not kept.
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
    """Run every task; ``finished`` is called after each with the share done.

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


#: A call is repeated at least so often, and for so many seconds in all.
CALLS, SECONDS = 5, 0.3


def processor_seconds(call: Callable[[], object]) -> float:
    """The least of several calls; one call suffices if it takes long enough by itself."""
    least, total, made = float("inf"), 0.0, 0
    while total < SECONDS or (made < CALLS and least < SECONDS):
        before = time.process_time()
        call()
        taken = time.process_time() - before
        least, total, made = min(least, taken), total + taken, made + 1
    return least


#: Seconds that a scheduler and its first worker have to respond.
PATIENCE = 10.0


@contextmanager
def dask_cluster(address: str, patience: float = PATIENCE) -> Iterator[int]:
    """Inside, tasks go to the cluster whose scheduler is at this address; gives how many can run at once.

    Examples
    --------
    >>> from thalweg.errors import ThalwegError
    >>> try:
    ...     with dask_cluster("tcp://127.0.0.1:1", patience=0.1):
    ...         pass
    ... except ThalwegError as error:
    ...     print(type(error).__name__ in ("ServiceUnreachable", "MissingExtra"))
    True
    """
    distributed = MissingExtra.import_module("distributed", "dask", "--dask")
    from joblib import parallel_config

    _require_answer(address, patience)
    try:
        client = distributed.Client(address, timeout=patience, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ServiceUnreachable(f"no Dask scheduler answered at {address}: {error}") from error
    with client:
        _require_workers(client, address, patience)
        with parallel_config(backend=_all_tasks_to(client)), sending_away():
            yield sum(client.ncores().values())


def _all_tasks_to(client: Any) -> Any:
    """The way to the cluster, also where it has but one processor: joblib would do the tasks of one by itself."""
    from joblib._dask import DaskDistributedBackend

    class Elsewhere(DaskDistributedBackend):
        def effective_n_jobs(self, n_jobs: int) -> int:
            return max(2, int(super().effective_n_jobs(n_jobs)))

    return Elsewhere(client=client)


def _require_answer(address: str, patience: float) -> None:
    """That someone listens there: a client that fails to connect would leave its threads behind."""
    try:
        parts = urlsplit(address if "://" in address else f"tcp://{address}")
        host, port = parts.hostname, parts.port
    except ValueError:  # a port that is no number
        host = port = None
    if host is None or port is None:
        raise InvalidParameter.of_option("dask", "be the address of a scheduler, such as tcp://host:8786", address)
    try:
        socket.create_connection((host, port), timeout=patience).close()
    except OSError as error:
        raise ServiceUnreachable(f"no Dask scheduler answered at {address}: {error.strerror or error}") from error


def _require_workers(client: Any, address: str, patience: float) -> None:
    """That there is a worker, and that all of them run this very thalweg."""
    try:
        client.wait_for_workers(1, timeout=patience)
    except TimeoutError as error:
        raise ServiceUnreachable(f"the Dask scheduler at {address} has no worker") from error
    try:
        versions = client.run(_version)
    except ImportError as error:
        raise ServiceUnreachable(f"a worker of the Dask cluster at {address} lacks a library: {error}") from error
    others = {version for version in versions.values() if version != thalweg.__version__}
    if others:
        raise ServiceUnreachable(
            f"the workers of the Dask cluster at {address} must have thalweg {thalweg.__version__}, got {others.pop()}"
        )


def _version() -> str:
    return thalweg.__version__
