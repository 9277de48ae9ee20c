"""One algorithm, one file. What they share is `contract` (the estimator) and `labels`."""

from thalweg.learners.hiraoka import HiraokaLDA
from thalweg.learners.majority import MajorityClass
from thalweg.learners.no_change import NoChange
from thalweg.learners.online_ldc import OnlineLDC
from thalweg.learners.perceptron import Perceptron
from thalweg.learners.trend_forecast import TrendForecast
from thalweg.learners.winnow import BalancedWinnow

__all__ = ["BalancedWinnow", "HiraokaLDA", "MajorityClass", "NoChange", "OnlineLDC", "Perceptron", "TrendForecast"]
