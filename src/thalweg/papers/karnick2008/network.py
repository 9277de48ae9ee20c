"""A multilayer perceptron that is trained to an error goal and no further.

Karnick, Muhlbaier & Polikar (2008) train theirs to a mean squared error of 0.1. The goal is what keeps it from learning
wrong labels by heart, and scikit-learn's network has none: it stops after a number of iterations, or when nothing
improves any more.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin

Floats = NDArray[np.float64]


class _Layers(NamedTuple):
    """Weights and biases of the hidden units, weights and bias of the output."""

    W: Floats
    b: Floats
    v: Floats
    c: Floats


class GoalNetwork(ClassifierMixin, BaseEstimator):
    """One hidden layer of tanh units, one logistic output, mean squared error by L-BFGS. Two classes.

    Features are scaled to mean 0 and standard deviation 1 over the rows learned.

    Parameters
    ----------
    hidden : int >= 1
        Hidden units; more of them can bend the boundary more.
    goal : float
        Training stops where the mean squared error is no larger.
    max_iter : int >= 1
        Training stops after so many iterations in any case.
    random_state : int
        The weights at the start.
    """

    def __init__(self, hidden: int = 25, goal: float = 0.1, max_iter: int = 200, random_state: int = 0) -> None:
        self.hidden = hidden
        self.goal = goal
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        rows = np.asarray(X, dtype=np.float64)
        self.classes_, codes = np.unique(np.asarray(y), return_inverse=True)
        if len(self.classes_) != 2:
            raise ValueError(f"GoalNetwork needs rows of two classes, got {len(self.classes_)}.")
        self.mean_, self.scale_ = rows.mean(axis=0), rows.std(axis=0) + np.finfo(float).tiny
        Z, target = (rows - self.mean_) / self.scale_, codes.astype(np.float64)

        def stop_at_goal(intermediate_result: Any) -> None:
            if intermediate_result.fun <= self.goal:
                raise StopIteration

        found = minimize(
            self._loss,
            self._start(Z.shape[1]),
            args=(Z, target),
            jac=True,
            method="L-BFGS-B",
            callback=stop_at_goal,
            options={"maxiter": self.max_iter},
        )
        self.parameters_ = found.x
        return self

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The class on whose side of one half the output lies."""
        Z = (np.asarray(X, dtype=np.float64) - self.mean_) / self.scale_
        layers = self._layers(self.parameters_, Z.shape[1])
        predicted: NDArray[Any] = self.classes_[(self._hidden(layers, Z) @ layers.v + layers.c > 0.0).astype(np.int64)]
        return predicted

    def _start(self, features: int) -> Floats:
        """Normal weights: hidden units of total variance 1.5² whatever the features, an output of variance about 1."""
        rng = np.random.default_rng(self.random_state)
        W = rng.standard_normal(features * self.hidden) * 1.5 / np.sqrt(features)
        b = rng.standard_normal(self.hidden)
        v = rng.standard_normal(self.hidden) / np.sqrt(self.hidden)
        return np.concatenate([W, b, v, rng.standard_normal(1)])

    def _layers(self, parameters: Floats, features: int) -> _Layers:
        W, b, v, c = np.split(parameters, np.cumsum([features * self.hidden, self.hidden, self.hidden]))
        return _Layers(W.reshape(features, self.hidden), b, v, c)

    @staticmethod
    def _hidden(layers: _Layers, Z: Floats) -> Floats:
        return np.asarray(np.tanh(Z @ layers.W + layers.b))

    def _loss(self, parameters: Floats, Z: Floats, target: Floats) -> tuple[float, Floats]:
        """The mean squared error and its gradient, by the chain rule from the output back."""
        layers = self._layers(parameters, Z.shape[1])
        active = self._hidden(layers, Z)
        output = expit(active @ layers.v + layers.c)
        wrong = output - target
        at_output = 2.0 / len(target) * wrong * output * (1.0 - output)
        at_hidden = np.outer(at_output, layers.v) * (1.0 - active**2)
        gradient = [(Z.T @ at_hidden).ravel(), at_hidden.sum(axis=0), active.T @ at_output, [at_output.sum()]]
        return float(np.mean(wrong**2)), np.concatenate(gradient)
