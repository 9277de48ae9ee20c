"""Progress on standard error: a bar with the time left on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

#: Told the share of the work done, from 0 to 1, and what is being done.
Tell: TypeAlias = Callable[[float, str], None]

_PLAIN_STEP = 0.1


@contextmanager
def progress() -> Iterator[Tell]:
    """A function to tell the share done and what is being done."""
    with _bar() if sys.stderr.isatty() else _plain_lines() as tell:
        yield tell


@contextmanager
def _bar() -> Iterator[Tell]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("time left"),
        TimeRemainingColumn(elapsed_when_finished=True),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting", total=1.0)
        yield lambda share, label: bar.update(task, completed=share, description=label)


@contextmanager
def _plain_lines() -> Iterator[Tell]:
    told_share, told_label = -_PLAIN_STEP, ""

    def tell(share: float, label: str) -> None:
        nonlocal told_share, told_label
        if label != told_label or share - told_share >= _PLAIN_STEP or round(share, 9) == 1:
            told_share, told_label = share, label
            print(f"{share:4.0%}  {label}", file=sys.stderr, flush=True)

    yield tell
