"""What the build makes is kept, so that a second build is quick: made anew when its recipe or the package changed."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
KEPT = ROOT / "build" / "docs"
SOURCES = ("*.py", "*.hpp", "*.cpp", "*.html", "*.js", "*.css")


def folder_of(kind: str, recipe: Iterable[Path], make: Callable[[Path], None]) -> Path:
    """The folder that ``make`` filled, now or in an earlier build with the same recipe files and the same package."""
    folder = KEPT / kind / _fingerprint((*sorted(recipe), Path(__file__)), _package_fingerprint())[:16]
    if not folder.exists():
        unfinished = folder.with_suffix(".unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(parents=True)
        make(unfinished)
        unfinished.rename(folder)
    return folder


def _fingerprint(files: Iterable[Path], before: str = "") -> str:
    key = hashlib.sha256(before.encode())
    for path in files:
        key.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes())
    return key.hexdigest()


@cache
def _package_fingerprint() -> str:
    package = ROOT / "src" / "thalweg"
    return _fingerprint(sorted(path for pattern in SOURCES for path in package.rglob(pattern)))
