"""A plugin of pytest, `-p tests.like_windows`: Python has only what it has on Windows, and files behave as there.

A file cannot be replaced or removed while this process has it open, and a folder cannot be opened. It needs /proc of
Linux.
"""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess  # noqa: F401  (it takes a Python with msvcrt for one on Windows)
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

_MODULES = ("fcntl", "grp", "pwd", "resource", "termios", "tty", "uvloop")
_OF_OS = ("fchmod", "fork", "geteuid", "nice", "posix_fallocate", "sched_getaffinity")
_SIGNALS = ("SIGHUP", "SIGUSR1", "SIGUSR2")


def _is_open(path: Path) -> bool:
    if any(str(path) in line for line in Path("/proc/self/maps").read_text("utf-8").splitlines()):
        return True
    for descriptor in Path("/proc/self/fd").iterdir():
        try:
            if descriptor.readlink() == path:
                return True
        except OSError:  # closed meanwhile
            continue
    return False


def _unless_open(change: Callable[..., None], last: bool) -> Callable[..., None]:
    def changed(*paths: Any, **options: Any) -> None:
        path = paths[-1 if last else 0]
        if not options.get("dir_fd") and _is_open(Path(path).resolve()):
            raise PermissionError(13, "the file is in use", str(path))
        change(*paths, **options)

    return changed


def _open(path: Any, flags: int, *mode: int, _real: Any = os.open, **options: Any) -> int:
    if not flags & os.O_TMPFILE & ~os.O_DIRECTORY and not options and Path(path).is_dir():
        raise PermissionError(13, "a folder cannot be opened", str(path))
    return int(_real(path, flags, *mode, **options))


def _lock(descriptor: int, mode: int, count: int, _flock: Any = fcntl.flock) -> None:
    _flock(descriptor, mode)


os.replace, os.rename = _unless_open(os.replace, True), _unless_open(os.rename, True)
os.unlink, os.remove = _unless_open(os.unlink, False), _unless_open(os.remove, False)
os.open = _open
for _name in _OF_OS:
    delattr(os, _name)
for _name in _SIGNALS:
    delattr(signal, _name)
sys.modules.update(dict.fromkeys(_MODULES))
sys.modules["msvcrt"] = SimpleNamespace(locking=_lock, LK_NBLCK=fcntl.LOCK_EX | fcntl.LOCK_NB)  # type: ignore[assignment]

import thalweg.files  # noqa: E402

thalweg.files.WINDOWS = True
