"""Which models a fleet on a GPU may have, and their records there."""

from __future__ import annotations

from typing import Any

from thalweg.errors import InvalidParameter
from thalweg.fleet.gpu.discriminant_layout import DiscriminantLayout
from thalweg.fleet.gpu.layout import Layout
from thalweg.fleet.gpu.least_squares_layout import LeastSquaresLayout
from thalweg.fleet.gpu.linear_layout import LogisticLayout, PerceptronLayout
from thalweg.learners.base.intervals import WithIntervals
from thalweg.learners.base.regressor import StreamRegressor
from thalweg.learners.linear_regression import OnlineLinearRegression
from thalweg.learners.logistic import OnlineLogistic
from thalweg.learners.online_ldc import OnlineLDC
from thalweg.learners.perceptron import Perceptron
from thalweg.rates import Constant, as_rate

_WHERE = 'where device is "cuda"'


def layout_of(model: Any, features: int) -> Layout:
    """The records of such models before a class is known; InvalidParameter for one that cannot be on a GPU."""
    if isinstance(model, StreamRegressor):
        return _regression_layout(model, features)
    if type(model) not in (OnlineLDC, Perceptron, OnlineLogistic):
        raise _refused(model, "be an OnlineLDC, a Perceptron or an OnlineLogistic")
    if model.class_weight is not None:
        raise _refused(model, "have no class weights")
    is_discriminant = type(model) is OnlineLDC
    is_bank = is_discriminant and model._is_bank
    rate = None if is_bank else as_rate(model.rate, type(model).__name__, below_one=is_discriminant)
    if not isinstance(rate, Constant):
        raise _refused(model, "have a constant rate")
    step = float(rate.value)
    if isinstance(model, OnlineLDC):
        plain = model.counts == "soft" and not model.ridge and model.dtype == "float64"
        if not plain or model.covariance != "corrected":
            raise _refused(model, 'have counts="soft" and the corrected covariance, without ridge or float32,')
        return DiscriminantLayout(features, 0, step, int(model.warmup))
    if isinstance(model, Perceptron):
        if model.averaged:
            raise _refused(model, "not average its weights")
        options = float(model.margin), float(model.start_scale), int(model.random_state), bool(model.intercept)
        return PerceptronLayout(features, 0, step, *options)
    if model.per_feature:
        raise _refused(model, "have one rate for all features")
    return LogisticLayout(features, 0, step, float(model.penalty))


def _regression_layout(model: StreamRegressor, features: int) -> Layout:
    if isinstance(model, WithIntervals):
        raise _refused(model, "have no prediction intervals, whose state records on a GPU do not hold,")
    if type(model) is not OnlineLinearRegression or model.solver != "rls":
        raise _refused(model, 'be, of the regressors, an OnlineLinearRegression with solver="rls"')
    options = float(model.penalty), float(model.forgetting), bool(model.intercept)
    return LeastSquaresLayout(features, 0, *options)


def _refused(model: Any, rule: str) -> InvalidParameter:
    return InvalidParameter.of("Fleet", "model", f"{rule} {_WHERE}", model)
