"""What commands share: progress on standard error, output folders checked before any work, a quick start."""

from __future__ import annotations

import errno
import gc
import os
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias

#: Called with the share of the work done, from 0 to 1, and what is being done.
Report: TypeAlias = Callable[[float, str], None]

_PLAIN_STEP = 0.1


@contextmanager
def progress() -> Iterator[Report]:
    """A function that shows the share done and what is being done."""
    with _bar() if sys.stderr.isatty() else _plain_lines() as report:
        yield report


@contextmanager
def _bar() -> Iterator[Report]:
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
def _plain_lines() -> Iterator[Report]:
    shown_share, shown_label = -_PLAIN_STEP, ""

    def report(share: float, label: str) -> None:
        nonlocal shown_share, shown_label
        if label != shown_label or share - shown_share >= _PLAIN_STEP or round(share, 9) == 1:
            shown_share, shown_label = share, label
            print(f"{100 * share:3.0f} %  {label}", file=sys.stderr, flush=True)

    yield report


def writable_folder(folder: Path) -> Path:
    """The folder, made if need be; an OSError names it if nothing can be written there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError as error:
        raise _unwritable(error, folder) from error


def writable_file(path: Path) -> Path:
    """The file's path, its folder made if need be; an OSError names it if it cannot be written."""
    if path.is_dir():
        raise _unwritable(IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR)), path)
    writable_folder(path.parent)
    return path


def _unwritable(error: OSError, path: Path) -> OSError:
    return type(error)(error.errno, f"nothing can be written there: {error.strerror}", str(path))


class _Plain(defaultdict[str, list[Any]]):
    """A docstring that SciPy does not take apart to add notes to it, which takes it a fifth of the start."""

    def __init__(self, described: object) -> None:
        super().__init__(list)
        self._text = described.__doc__ or ""

    def __str__(self) -> str:
        return f"\n{self._text}"


#: What scikit-learn and SciPy import but do not use while they are loaded, and names that must be there.
_LATER: Mapping[str, Mapping[str, Any]] = {
    "scipy.stats": {},
    "numpy.f2py": {},
    "numpy.polynomial": {},
    "numpy.testing": {},
    "scipy._lib._docscrape": {"FunctionDoc": _Plain, "Parameter": tuple},
}


def load_scikit_learn() -> None:
    """Load scikit-learn's base; ``scipy.stats`` and ``numpy.f2py`` come when somebody uses them, and SciPy's docstrings
    have no notes on array libraries.

    Only for a process that has no other threads yet: one that imported them meanwhile would get nothing.
    """
    import numpy as np

    later = [name for name in _LATER if name not in sys.modules]
    for name in later:
        sys.modules[name] = ModuleType(name)
        vars(sys.modules[name]).update(_LATER[name])
    of_numpy = [name.removeprefix("numpy.") for name in later if name.startswith("numpy.")]
    for name in of_numpy:  # else NumPy imports them when it is asked for its names
        setattr(np, name, sys.modules[f"numpy.{name}"])
    try:
        import sklearn.base  # noqa: F401
    finally:
        for name in later:
            del sys.modules[name]
        for name in of_numpy:
            delattr(np, name)


class _NoPandas(MetaPathFinder):
    def find_spec(self, name: str, path: object, target: object = None) -> None:
        if name == "pandas":
            raise ModuleNotFoundError(name=name)


def _load_without_pandas() -> None:
    """Load pyarrow and scikit-learn as they are where pandas is not installed: it takes longer to load than they do.

    From here on pyarrow neither makes frames of pandas nor reads any.
    """
    if "pandas" in sys.modules:
        return load_scikit_learn()
    hidden = _NoPandas()
    sys.meta_path.insert(0, hidden)
    try:
        import pyarrow as pa

        pa.scalar(0)  # pyarrow looks for pandas once
        return load_scikit_learn()
    finally:
        sys.meta_path.remove(hidden)


class Process:
    """Whether this process is there for one command alone, as that of `thalweg` is and that of a test is not."""

    of_one_command = False


@contextmanager
def quick_start(*, frames: bool) -> Iterator[None]:
    """Load scikit-learn, and what is imported inside, without collecting garbage; with ``frames`` pandas as well.

    What is loaded lives as long as the process: later collections do not walk through it.
    """
    if not Process.of_one_command:
        load_scikit_learn()
        yield
        return
    gc.disable()
    try:
        load_scikit_learn() if frames else _load_without_pandas()
        yield
    finally:
        gc.freeze()
        gc.enable()
