"""The three simulations of the paper, one run of each, and the numbers that the paper prints."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from thalweg import evaluate
from thalweg.learners.base.regressor import LinearPredictions
from thalweg.learners.linear_regression import OnlineLinearRegression
from thalweg.learners.perceptron import Perceptron
from thalweg.rates import InverseSqrt
from thalweg.streams import DriftingGaussians, Gliding, LinearResponse
from thalweg.transforms import CCIPCA

#: "So the true weight coefficients are given by"; the formula a line above has 1 for the fifth.
WEIGHTS = (1.0, -1.0, 0.5, -0.5, 2.0)
#: "a mean zero normal distribution with variance 0.01"
NOISE = 0.1
#: Rows of each simulation.
ROWS = 1000
#: "They increase very slowly after 50 steps, indicating the decisions become near optimal."
NEAR_OPTIMAL_AFTER = 50

CLASS_MEANS = ((-1.0, -1.0), (1.0, 1.0))
#: "a classification accuracy of 92.14 percent"
OPTIMAL_ACCURACY = 0.9214
#: "The optimal separating line is x1 - x2 = 0", as its normal. The line between the means is x1 + x2 = 0.
OPTIMAL_LINE = (1.0, -1.0)

CENTRE = (1.0, 1.0, 1.0, 1.0, 1.0)
COVARIANCE = np.diag([4.0, 1.0, 0.2, 0.2, 0.2])
COVARIANCE[0, 1] = COVARIANCE[1, 0] = -1.0
#: "The first principal component is"; two digits are swapped in the first entry.
FIRST_COMPONENT = (0.9517, -0.2898, 0.0, 0.0, 0.0)


#: By quantity and learner: a value after each row, or at the end only.
Curves: TypeAlias = Mapping[tuple[str, str], NDArray[np.float64]]

# ---- linear regression ----------------------------------------------------------------------------------

LOSSES = LinearResponse(weights=WEIGHTS, noise=NOISE, length=ROWS)

DISTANCE, REGRET, REGRET_IN_HINDSIGHT = "distance", "regret", "regret in hindsight"
SGD = "SGD, η₀ = 1"
LEAST_SQUARES, RIDGE = "recursive least squares", "recursive least squares, penalty 0.01"
REGRESSORS: Mapping[str, Callable[[], OnlineLinearRegression]] = {
    SGD: lambda: OnlineLinearRegression(InverseSqrt(1.0), intercept=False),
    "SGD, η₀ = 0.5": lambda: OnlineLinearRegression(InverseSqrt(0.5), intercept=False),
    "averaged SGD, η₀ = 1": lambda: OnlineLinearRegression(InverseSqrt(1.0), intercept=False, averaged=True),
    LEAST_SQUARES: lambda: OnlineLinearRegression(intercept=False, solver="rls"),
    RIDGE: lambda: OnlineLinearRegression(intercept=False, solver="rls", penalty=0.01),
}


def regression(seed: int) -> Curves:
    """Distance to the true weights, and regret."""
    X, y = replace(LOSSES, seed=seed).take()
    curves = {}
    for name, make in REGRESSORS.items():
        given = make().predict_then_learn(X, y, with_coef=True)
        assert isinstance(given, LinearPredictions)
        curves[DISTANCE, name] = evaluate.distance(given.coef, WEIGHTS)
        curves[REGRET, name] = evaluate.Regret(evaluate.KnownWeights(WEIGHTS)).update(X, y, given.predictions).regret
        curves[REGRET_IN_HINDSIGHT, name] = (
            evaluate.Regret(evaluate.BestWeights()).update(X, y, given.predictions).regret
        )
    return curves


# ---- classification -------------------------------------------------------------------------------------

TWO_CLASSES = DriftingGaussians(
    scenario=Gliding(starts=CLASS_MEANS, velocities=np.zeros((2, 2))), covariance=1.0, length=ROWS
)

ACCURACY, EXTRA_MISTAKES = "accuracy", "extra mistakes"
BEST_LINE, PRINTED_LINE = (1.0, 1.0), OPTIMAL_LINE
MARGIN_0, MARGIN_1, AVERAGED = "margin 0, constant step", "margin 1, step 1/√t", "margin 0, averaged weights"
PERCEPTRONS: Mapping[str, Callable[[], Perceptron]] = {
    MARGIN_0: lambda: Perceptron(1.0, start_scale=0.0, intercept=False),
    MARGIN_1: lambda: Perceptron(InverseSqrt(1.0), margin=1.0, start_scale=0.0, intercept=False),
    AVERAGED: lambda: Perceptron(1.0, averaged=True, start_scale=0.0, intercept=False),
}


def classification(seed: int) -> Curves:
    """Cumulative accuracy, mistakes beyond those of the best line, and the accuracy of both lines on these rows."""
    stream = replace(TWO_CLASSES, seed=seed)
    curves = {}
    for name, make in PERCEPTRONS.items():
        records = list(evaluate.prequential(make().fit(np.zeros((2, 2)), stream.classes), stream, with_proba=False))
        curves[ACCURACY, name] = evaluate.cumulative_accuracy(records)
        against = evaluate.regrets(records, stream, evaluate.KnownLine(BEST_LINE))
        curves[EXTRA_MISTAKES, name] = np.concatenate([record.regret for record in against])
    X, y = stream.take()
    for line in (BEST_LINE, PRINTED_LINE):
        curves[ACCURACY, line_name(line)] = np.mean((X @ line > 0.0) == y)
    return curves


def line_name(normal: tuple[float, float]) -> str:
    """A line through the origin, by its normal.

    Examples
    --------
    >>> line_name((1.0, -1.0))
    'line x₁ − x₂ = 0'
    """
    return f"line x₁ {'+' if normal[1] > 0 else '−'} x₂ = 0"


# ---- the first principal component ----------------------------------------------------------------------

#: Both classes are in one place: rows without labels.
ONE_CLOUD = DriftingGaussians(
    scenario=Gliding(starts=(CENTRE, CENTRE), velocities=np.zeros((2, 5))), covariance=COVARIANCE, length=ROWS
)


def first_axis(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """The eigenvector of the largest eigenvalue, its first entry positive."""
    axis = np.linalg.eigh(matrix)[1][:, -1]
    return np.asarray(axis * np.sign(axis[0]))


TRUE_AXIS = first_axis(COVARIANCE)
#: What the recursion converges to on raw rows: the first axis of E x x', which is not that of the covariance.
RAW_AXIS = first_axis(COVARIANCE + np.outer(CENTRE, CENTRE))

CENTRED, VARIANCE_WEIGHED, RAW, BATCH = "centred rows", "centred, CCIPCA of 2003", "raw rows, as printed", "batch PCA"
AXES: Mapping[str, Callable[[], CCIPCA]] = {
    CENTRED: lambda: CCIPCA(1, amnesic=0.0, recursion="2016"),
    VARIANCE_WEIGHED: lambda: CCIPCA(1, amnesic=2.0),
}


def components(seed: int) -> Curves:
    """Distance to the true first component, free of sign."""
    X, _ = replace(ONE_CLOUD, seed=seed).take()
    curves = {}
    for name, make in AXES.items():
        model = make()
        curves[DISTANCE, name] = evaluate.axis_distance([model.learn_one(x).components_[0] for x in X], TRUE_AXIS)
    curves[DISTANCE, RAW] = evaluate.axis_distance(printed_recursion(X), TRUE_AXIS)
    curves[DISTANCE, BATCH] = evaluate.axis_distance(first_axis(np.cov(X.T)), TRUE_AXIS)
    return curves


def printed_recursion(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """The paper's estimates of the first component after each row, on the rows as they are.

    Any start gives the same but for the sign: at t = 1 it counts t - 1 = 0 times.
    """
    axis = X[0]
    axes = np.empty_like(X)
    for t, x in enumerate(X, start=1):
        towards = (t - 1) * axis + (axis @ x) * x  # u_(1,t)
        axis = towards / np.linalg.norm(towards)  # v_(1,t)
        axes[t - 1] = axis
    return axes
