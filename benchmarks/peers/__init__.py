"""The peers, one library a file. Each gives its contestants on some rows; one that is missing is named."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from benchmarks.contest import Contestant, Unavailable
from benchmarks.peers import plain_numpy, river_models, sklearn_models, vowpal_wabbit
from benchmarks.rows import Rows
from benchmarks.suite import Bench


def peers(rows: Rows, bench: Bench) -> Iterator[Contestant]:
    """All that can be had."""
    makers: list[Callable[[], Iterable[Contestant]]] = [
        lambda: river_models.contestants(rows),
        lambda: sklearn_models.contestants(rows),
        lambda: vowpal_wabbit.contestants(rows, bench.folder),
        lambda: plain_numpy.contestants(rows),
    ]
    if bench.with_moa:
        from benchmarks.peers import moa_models

        makers.append(lambda: moa_models.contestants(rows, bench.folder))
    yield from available(bench, *makers)


def available(bench: Bench, *makers: Callable[[], Iterable[Contestant]]) -> Iterator[Contestant]:
    """Those that can be had; the others are named."""
    for make in makers:
        try:
            yield from make()
        except Unavailable as reason:
            bench.leave_out(reason)
