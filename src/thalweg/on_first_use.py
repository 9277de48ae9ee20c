"""Names that are loaded when they are first used, so that importing a package costs next to nothing."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any


def on_first_use(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """The ``__getattr__`` of a package whose names live in these modules.

    Examples
    --------
    >>> import thalweg.errors
    >>> find = on_first_use("thalweg.errors", {"sqrt": "math"})
    >>> find("sqrt")(4.0), thalweg.errors.sqrt is find("sqrt")
    (2.0, True)
    >>> find("square")
    Traceback (most recent call last):
    AttributeError: module 'thalweg.errors' has no attribute 'square'
    >>> del thalweg.errors.sqrt
    """

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(homes[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return find
