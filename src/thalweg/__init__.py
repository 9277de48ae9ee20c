"""thalweg: classifiers that stay right while the stream drifts.

Public names are loaded on first use, so that ``import thalweg`` costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from thalweg.on_first_use import on_first_use

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
    from thalweg.merging import Part, merge
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
    "Part",
    "PassiveAggressive",
    "Perceptron",
    "RandomFeatures",
    "StandardScaler",
    "StreamPipeline",
    "TrendForecast",
    "load",
    "merge",
    "save",
]

_ELSEWHERE = {
    "CCIPCA": "thalweg.transforms",
    "Part": "thalweg.merging",
    "RandomFeatures": "thalweg.transforms",
    "StandardScaler": "thalweg.transforms",
    "StreamPipeline": "thalweg.pipeline",
    "load": "thalweg.store",
    "merge": "thalweg.merging",
    "save": "thalweg.store",
}
_HOMES = {name: _ELSEWHERE.get(name, "thalweg.learners") for name in __all__}
_PACKAGES = (
    "client",
    "conformance",
    "errors",
    "evaluate",
    "fleet",
    "frames",
    "kernels",
    "learners",
    "merging",
    "papers",
    "pipeline",
    "rates",
    "report",
    "river",
    "spark",
    "store",
    "streams",
    "transforms",
)


_load = on_first_use(__name__, _HOMES)


def __getattr__(name: str) -> Any:
    return importlib.import_module(f"thalweg.{name}") if name in _PACKAGES else _load(name)


def __dir__() -> list[str]:
    return sorted([*__all__, *_PACKAGES, "__version__"])
