"""A Dask cluster in place of this machine's processors: joblib sends the tasks there.

Each task has random numbers of its own and is told by its number, so the results are those of a single machine. The
workers must have the same thalweg; data sets that a task reads must be in their THALWEG_DATA, too.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import thalweg
from thalweg.errors import InvalidParameter, MissingExtra, ServiceUnreachable
from thalweg.experiments.workers import sending_away

#: Seconds that a scheduler and its first worker have to answer.
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
    try:
        from distributed import Client
    except ImportError as error:
        raise MissingExtra.of("distributed", "dask", "--dask") from error
    from joblib import parallel_config

    _require_answer(address, patience)
    try:
        client = Client(address, timeout=patience, set_as_default=False)
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
