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
        KernelMeanClassifier,
        LearnNSE,
        MajorityClass,
        NoChange,
        OnlineLDC,
        OnlineLinearRegression,
        OnlineLogistic,
        PassiveAggressive,
        Perceptron,
        TrendForecast,
    )
    from thalweg.pipeline import StreamPipeline
    from thalweg.store import load, save
    from thalweg.transforms import CCIPCA, RandomFeatures, StandardScaler

__version__ = "0.1.0"
__all__ = [
    "CCIPCA",
    "AutoClassifier",
    "BalancedWinnow",
    "Committee",
    "HiraokaLDA",
    "KernelMeanClassifier",
    "LearnNSE",
    "MajorityClass",
    "NoChange",
    "OnlineLDC",
    "OnlineLinearRegression",
    "OnlineLogistic",
    "PassiveAggressive",
    "Perceptron",
    "RandomFeatures",
    "StandardScaler",
    "StreamPipeline",
    "TrendForecast",
    "load",
    "save",
]

_ELSEWHERE = {
    "CCIPCA": "thalweg.transforms",
    "RandomFeatures": "thalweg.transforms",
    "StandardScaler": "thalweg.transforms",
    "StreamPipeline": "thalweg.pipeline",
    "load": "thalweg.store",
    "save": "thalweg.store",
}
_HOMES = {name: _ELSEWHERE.get(name, "thalweg.learners") for name in __all__}
_PACKAGES = (
    "conformance",
    "errors",
    "evaluate",
    "experiments",
    "kernels",
    "learners",
    "pipeline",
    "rates",
    "report",
    "store",
    "streams",
    "transforms",
)


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
