"""Learners, one algorithm to a file; `base` is what they share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from thalweg.on_first_use import on_first_use

if TYPE_CHECKING:
    from thalweg.learners.auto import AutoClassifier
    from thalweg.learners.baselines import MajorityClass, NoChange
    from thalweg.learners.committee import Committee
    from thalweg.learners.hiraoka import HiraokaLDA
    from thalweg.learners.kernel_mean.classifier import KernelMeanClassifier
    from thalweg.learners.learn_nse.classifier import LearnNSE
    from thalweg.learners.linear_regression import OnlineLinearRegression
    from thalweg.learners.logistic import OnlineLogistic
    from thalweg.learners.online_ldc import OnlineLDC
    from thalweg.learners.passive_aggressive import PassiveAggressive
    from thalweg.learners.perceptron import Perceptron
    from thalweg.learners.trend_forecast import TrendForecast
    from thalweg.learners.winnow import BalancedWinnow

__all__ = [
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
    "TrendForecast",
]

_HOMES = {
    "AutoClassifier": "thalweg.learners.auto",
    "BalancedWinnow": "thalweg.learners.winnow",
    "Committee": "thalweg.learners.committee",
    "HiraokaLDA": "thalweg.learners.hiraoka",
    "KernelMeanClassifier": "thalweg.learners.kernel_mean.classifier",
    "LearnNSE": "thalweg.learners.learn_nse.classifier",
    "MajorityClass": "thalweg.learners.baselines",
    "NoChange": "thalweg.learners.baselines",
    "OnlineLDC": "thalweg.learners.online_ldc",
    "OnlineLinearRegression": "thalweg.learners.linear_regression",
    "OnlineLogistic": "thalweg.learners.logistic",
    "PassiveAggressive": "thalweg.learners.passive_aggressive",
    "Perceptron": "thalweg.learners.perceptron",
    "TrendForecast": "thalweg.learners.trend_forecast",
}
__getattr__ = on_first_use(__name__, _HOMES)


def __dir__() -> list[str]:
    return list(__all__)
