"""One algorithm, one file. What they share: `contract` (the estimator), `labels`, `seeds`, `bank`."""

from thalweg.learners.auto import AutoClassifier
from thalweg.learners.committee import Committee
from thalweg.learners.hiraoka import HiraokaLDA
from thalweg.learners.kernel_mean import KernelMeanClassifier
from thalweg.learners.learn_nse import LearnNSE
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
