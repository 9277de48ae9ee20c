"""The machine in general terms: enough to read the figures, nothing to find it by."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from thalweg import kernels

PACKAGES = ("thalweg", "numpy", "scipy", "scikit-learn", "river", "vowpalwabbit", "capymoa")


def description() -> dict[str, Any]:
    """Processor, cores, and the versions of what is measured; None for what is not installed."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "kernels": kernels.level,
        "Python": platform.python_version(),
        **{name: _version(name) for name in PACKAGES},
    }


def load() -> float | None:
    """How many processes wanted a core over the last minute, this one included; None where nobody counts."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None


def _processor() -> str:
    told = Path("/proc/cpuinfo")
    if told.exists():
        for line in told.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
