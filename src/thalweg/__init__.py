"""thalweg: classifiers that stay right while the stream drifts.

Public names are loaded on first use, so that ``import thalweg`` costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from thalweg.learners.hiraoka import HiraokaLDA
    from thalweg.learners.majority import MajorityClass
    from thalweg.learners.no_change import NoChange
    from thalweg.learners.online_ldc import OnlineLDC
    from thalweg.learners.perceptron import Perceptron
    from thalweg.learners.trend_forecast import TrendForecast
    from thalweg.learners.winnow import BalancedWinnow
    from thalweg.store import load, save

__version__ = "0.1.0"
__all__ = [
    "BalancedWinnow",
    "HiraokaLDA",
    "MajorityClass",
    "NoChange",
    "OnlineLDC",
    "Perceptron",
    "TrendForecast",
    "load",
    "save",
]

_HOMES = {
    "BalancedWinnow": "thalweg.learners.winnow",
    "HiraokaLDA": "thalweg.learners.hiraoka",
    "MajorityClass": "thalweg.learners.majority",
    "NoChange": "thalweg.learners.no_change",
    "OnlineLDC": "thalweg.learners.online_ldc",
    "Perceptron": "thalweg.learners.perceptron",
    "TrendForecast": "thalweg.learners.trend_forecast",
    "load": "thalweg.store",
    "save": "thalweg.store",
}
_PACKAGES = ("errors", "evaluate", "experiments", "kernels", "learners", "rates", "report", "store", "streams")


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(importlib.import_module(_HOMES[name]), name)
        globals()[name] = value
        return value
    if name in _PACKAGES:
        return importlib.import_module(f"thalweg.{name}")
    raise AttributeError(f"module 'thalweg' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_PACKAGES, "__version__"])
