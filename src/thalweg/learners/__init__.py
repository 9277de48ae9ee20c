"""Learners, one algorithm to a file; `base` holds what they share."""

from __future__ import annotations

import lazy_loader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from thalweg.learners.auto import AutoClassifier as AutoClassifier
    from thalweg.learners.auto_regressor import AutoRegressor as AutoRegressor
    from thalweg.learners.baselines import MajorityClass as MajorityClass
    from thalweg.learners.baselines import NoChange as NoChange
    from thalweg.learners.committee import Committee as Committee
    from thalweg.learners.decisions.cost_sensitive import CostSensitive as CostSensitive
    from thalweg.learners.decisions.online_threshold import OnlineThreshold as OnlineThreshold
    from thalweg.learners.decisions.prediction_sets import PredictionSets as PredictionSets
    from thalweg.learners.decisions.recalibrated import Recalibrated as Recalibrated
    from thalweg.learners.hiraoka import HiraokaLDA as HiraokaLDA
    from thalweg.learners.kernel_mean.classifier import KernelMeanClassifier as KernelMeanClassifier
    from thalweg.learners.learn_nse.classifier import LearnNSE as LearnNSE
    from thalweg.learners.linear_regression import OnlineLinearRegression as OnlineLinearRegression
    from thalweg.learners.logistic import OnlineLogistic as OnlineLogistic
    from thalweg.learners.online_ldc import OnlineLDC as OnlineLDC
    from thalweg.learners.passive_aggressive import PassiveAggressive as PassiveAggressive
    from thalweg.learners.perceptron import Perceptron as Perceptron
    from thalweg.learners.prediction_intervals import PredictionIntervals as PredictionIntervals
    from thalweg.learners.tiling import TilingClassifier as TilingClassifier
    from thalweg.learners.tiling_regressor import TilingRegressor as TilingRegressor
    from thalweg.learners.trend_forecast import TrendForecast as TrendForecast
    from thalweg.learners.window_forest import WindowForest as WindowForest
    from thalweg.learners.window_forest_regressor import WindowForestRegressor as WindowForestRegressor
    from thalweg.learners.winnow import BalancedWinnow as BalancedWinnow

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
    "TilingClassifier": "thalweg.learners.tiling",
    "WindowForest": "thalweg.learners.window_forest",
    "KernelMeanClassifier": "thalweg.learners.kernel_mean.classifier",
    "LearnNSE": "thalweg.learners.learn_nse.classifier",
    "Committee": "thalweg.learners.committee",
    "Recalibrated": "thalweg.learners.decisions.recalibrated",
    "CostSensitive": "thalweg.learners.decisions.cost_sensitive",
    "OnlineThreshold": "thalweg.learners.decisions.online_threshold",
    "PredictionSets": "thalweg.learners.decisions.prediction_sets",
    "AutoRegressor": "thalweg.learners.auto_regressor",
    "OnlineLinearRegression": "thalweg.learners.linear_regression",
    "TilingRegressor": "thalweg.learners.tiling_regressor",
    "WindowForestRegressor": "thalweg.learners.window_forest_regressor",
    "PredictionIntervals": "thalweg.learners.prediction_intervals",
    "NoChange": "thalweg.learners.baselines",
    "MajorityClass": "thalweg.learners.baselines",
}
__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
        module.removeprefix(f"{__name__}."): [name for name, home in MODULES.items() if home == module]
        for module in MODULES.values()
    },
)
