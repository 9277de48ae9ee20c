"""One algorithm, one file; what they share is in `base`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from thalweg.on_first_use import on_first_use

if TYPE_CHECKING:
    from thalweg.learners.auto import AutoClassifier
    from thalweg.learners.committee import Committee
    from thalweg.learners.hiraoka import HiraokaLDA
    from thalweg.learners.kernel_mean.classifier import KernelMeanClassifier
    from thalweg.learners.learn_nse.classifier import LearnNSE
    from thalweg.learners.linear_regression import OnlineLinearRegression
    from thalweg.learners.logistic import OnlineLogistic
    from thalweg.learners.majority import MajorityClass
    from thalweg.learners.no_change import NoChange
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

#: The module of each learner, in the order in which `thalweg models` lists them.
MODULES = {
    "AutoClassifier": "thalweg.learners.auto",
    "OnlineLDC": "thalweg.learners.online_ldc",
    "Perceptron": "thalweg.learners.perceptron",
    "BalancedWinnow": "thalweg.learners.winnow",
    "HiraokaLDA": "thalweg.learners.hiraoka",
    "PassiveAggressive": "thalweg.learners.passive_aggressive",
    "OnlineLogistic": "thalweg.learners.logistic",
    "TrendForecast": "thalweg.learners.trend_forecast",
    "KernelMeanClassifier": "thalweg.learners.kernel_mean.classifier",
    "LearnNSE": "thalweg.learners.learn_nse.classifier",
    "Committee": "thalweg.learners.committee",
    "OnlineLinearRegression": "thalweg.learners.linear_regression",
    "NoChange": "thalweg.learners.no_change",
    "MajorityClass": "thalweg.learners.majority",
}
__getattr__ = on_first_use(__name__, MODULES)


def __dir__() -> list[str]:
    return list(__all__)
