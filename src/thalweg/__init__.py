"""thalweg: classifiers that stay right while the stream drifts.

Public names are loaded on first use, so that ``import thalweg`` costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from thalweg.learners import (
        AutoClassifier,
        BalancedWinnow,
        Committee,
        HiraokaLDA,
        LearnNSE,
        MajorityClass,
        NoChange,
        OnlineLDC,
        OnlineLogistic,
        PassiveAggressive,
        Perceptron,
        TrendForecast,
    )
    from thalweg.store import load, save

__version__ = "0.1.0"
__all__ = [
    "AutoClassifier",
    "BalancedWinnow",
    "Committee",
    "HiraokaLDA",
    "LearnNSE",
    "MajorityClass",
    "NoChange",
    "OnlineLDC",
    "OnlineLogistic",
    "PassiveAggressive",
    "Perceptron",
    "TrendForecast",
    "load",
    "save",
]

_HOMES = {name: "thalweg.store" if name in ("load", "save") else "thalweg.learners" for name in __all__}
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
