"""What the build makes is kept, so that a second build is quick: made anew when its recipe or the package changed."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[2]
KEPT = ROOT / "build" / "docs"
SOURCES = ("*.py", "*.hpp", "*.cpp", "*.html", "*.js", "*.css")


def folder_of(kind: str, recipe: Iterable[Path], make: Callable[[Path], None]) -> Path:
    """The folder that ``make`` filled, now or in an earlier build with the same recipe files and the same package."""
    folder = KEPT / kind / _fingerprint((*sorted(recipe), Path(__file__)), _package_fingerprint())[:16]
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=folder.parent, ignore_cleanup_errors=True) as unfinished:
            made = Path(unfinished) / "made"
            made.mkdir()
            make(made)
            with suppress(OSError):  # another build was quicker: theirs is the same
                made.rename(folder)
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
