"""The mathematics, compiled: arrays in, arrays out.

One C++ source is built once per instruction set, and the best one this processor has is loaded:

========  =======================  =====  =====
level     instruction set          lanes  fused
========  =======================  =====  =====
``base``  any x86-64 (SSE2)        2      no
``base``  any arm64 (NEON)         2      yes
``v3``    x86-64 with AVX2, FMA    4      yes
``v4``    x86-64 with AVX-512      8      yes
========  =======================  =====  =====

``kernels/linear_algebra/processor.hpp`` sets the widths, fusing and size thresholds of each. The environment variable
``THALWEG_KERNELS`` selects another level, for testing. Levels agree to rounding, not to the bit: they add in a
different order, and only some round a product and a sum once (fused).
"""

from __future__ import annotations

import importlib
import importlib.util
import os
from typing import TYPE_CHECKING

from thalweg.kernels import _processor

if TYPE_CHECKING:
    from types import ModuleType

    from thalweg.kernels import _base as compiled

__all__ = ["available_levels", "compiled", "level", "load"]


def available_levels() -> tuple[str, ...]:
    """The levels that were built and that this processor can run, slowest first.

    Examples
    --------
    >>> available_levels()[-1] == level
    True
    """
    runs = (name for name in ("base", "v3", "v4") if _processor.has(name))
    levels = tuple(name for name in runs if importlib.util.find_spec(f"thalweg.kernels._{name}"))
    if not levels:
        raise ImportError("the kernels were built for another processor; build them here: pip install --no-cache-dir .")
    return levels


def load(name: str) -> ModuleType:
    """The compiled module of one level."""
    levels = available_levels()
    if name not in levels:
        raise ImportError(f"THALWEG_KERNELS must be one of {', '.join(levels)} on this machine, got {name!r}")
    return importlib.import_module(f"thalweg.kernels._{name}")


#: The level in use, and its compiled module.
level: str = os.environ.get("THALWEG_KERNELS") or available_levels()[-1]
if not TYPE_CHECKING:
    compiled = load(level)
