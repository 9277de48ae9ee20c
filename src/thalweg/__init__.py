"""thalweg: online learning for data streams with concept drift.

Public names are loaded on first use, so that ``import thalweg`` takes about two milliseconds. Importing `typing` would
add fourteen, so `TYPE_CHECKING` is a plain False, which type checkers take for True.
"""

from __future__ import annotations

import lazy_loader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from thalweg.label_budget import LabelBudget as LabelBudget
    from thalweg.learners import AutoClassifier as AutoClassifier
    from thalweg.learners import AutoRegressor as AutoRegressor
    from thalweg.learners import BalancedWinnow as BalancedWinnow
    from thalweg.learners import Committee as Committee
    from thalweg.learners import CostSensitive as CostSensitive
    from thalweg.learners import HiraokaLDA as HiraokaLDA
    from thalweg.learners import KernelMeanClassifier as KernelMeanClassifier
    from thalweg.learners import LearnNSE as LearnNSE
    from thalweg.learners import MajorityClass as MajorityClass
    from thalweg.learners import NoChange as NoChange
    from thalweg.learners import OnlineLDC as OnlineLDC
    from thalweg.learners import OnlineLinearRegression as OnlineLinearRegression
    from thalweg.learners import OnlineLogistic as OnlineLogistic
    from thalweg.learners import OnlineThreshold as OnlineThreshold
    from thalweg.learners import PassiveAggressive as PassiveAggressive
    from thalweg.learners import Perceptron as Perceptron
    from thalweg.learners import PredictionIntervals as PredictionIntervals
    from thalweg.learners import PredictionSets as PredictionSets
    from thalweg.learners import Recalibrated as Recalibrated
    from thalweg.learners import TilingClassifier as TilingClassifier
    from thalweg.learners import TilingRegressor as TilingRegressor
    from thalweg.learners import TrendForecast as TrendForecast
    from thalweg.learners import WindowForest as WindowForest
    from thalweg.learners import WindowForestRegressor as WindowForestRegressor
    from thalweg.part import Part as Part
    from thalweg.part import merge as merge
    from thalweg.pipeline import StreamPipeline as StreamPipeline
    from thalweg.store import load as load
    from thalweg.store import save as save
    from thalweg.table_model import TableClassifier as TableClassifier
    from thalweg.table_model import TableRegressor as TableRegressor
    from thalweg.transforms import CCIPCA as CCIPCA
    from thalweg.transforms import RandomFeatures as RandomFeatures
    from thalweg.transforms import RandomTilings as RandomTilings
    from thalweg.transforms import StandardScaler as StandardScaler
    from thalweg.transforms import TextHasher as TextHasher

__version__ = "0.2.0"

_PACKAGES = (
    "client conformance errors evaluate explain fleet frames kernels learners papers part pipeline rates report "
    "river spark store streams text transforms"
)
_NAMES = {
    "learners": (
        "AutoClassifier AutoRegressor BalancedWinnow Committee CostSensitive HiraokaLDA KernelMeanClassifier "
        "LearnNSE MajorityClass NoChange OnlineLDC OnlineLinearRegression OnlineLogistic OnlineThreshold "
        "PassiveAggressive Perceptron PredictionIntervals PredictionSets Recalibrated TilingClassifier "
        "TilingRegressor TrendForecast WindowForest WindowForestRegressor"
    ),
    "part": "Part merge",
    "pipeline": "StreamPipeline",
    "store": "load save",
    "label_budget": "LabelBudget",
    "table_model": "TableClassifier TableRegressor",
    "transforms": "CCIPCA RandomFeatures RandomTilings StandardScaler TextHasher",
}
_BY_MODULE = {module: names.split() for module, names in _NAMES.items()}
__getattr__, __dir__, _ = lazy_loader.attach(__name__, _PACKAGES.split(), _BY_MODULE)
__all__ = sorted(name for names in _BY_MODULE.values() for name in names)
