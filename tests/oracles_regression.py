"""Slow, obvious twins of the compiled regressors: the printed step, and normal equations solved afresh."""

from __future__ import annotations

import math

import numpy as np

from tests.oracles import Extended, solve


class SlowGradient:
    """w <- w + eta_t (y - w'z) z over z = [1, x], with the average of all weights so far."""

    def __init__(self, features, step, intercept=True, penalty=0.0, averaged=False, forgetting=0.0):
        self.step, self.intercept, self.penalty = step, intercept, penalty
        self.averaged, self.forgetting = averaged, forgetting
        self.w = np.zeros(features + 1, dtype=Extended)
        self.mean = self.w.copy()
        self.t = 0

    def answer(self, x):
        w = self.mean if self.averaged else self.w
        return float(w @ np.array([1, *x], dtype=Extended))

    def learn(self, x, y):
        self.t += 1
        eta = Extended(self.step(self.t))
        z = np.array([float(self.intercept), *x], dtype=Extended)
        error = y - self.w @ z
        self.w[1:] *= 1 - eta * self.penalty
        self.w += eta * error * z
        self.mean = self.mean + max(Extended(1) / self.t, Extended(self.forgetting)) * (self.w - self.mean)


def slow_least_squares(X, y, intercept=True, forgetting=0.0, penalty=None):
    """Weights and constant that minimise sum_i gamma^(t-i) (y_i - b - w'x_i)^2 + sum_j penalty_j w_j^2."""
    X, y = np.array(X, dtype=Extended), np.array(y, dtype=Extended)
    weight = (1 - Extended(forgetting)) ** np.arange(len(y) - 1, -1, -1)
    share = weight / weight.sum()
    centre, middle = (share @ X, share @ y) if intercept else (np.zeros(X.shape[1]), Extended(0))
    deviation, target = X - centre, y - middle
    scatter = (deviation * weight[:, None]).T @ deviation
    if penalty is not None:
        scatter = scatter + np.diag(np.array(penalty, dtype=Extended))
    w = solve(scatter, ((deviation * weight[:, None]).T @ target)[:, None])[:, 0]
    return w, middle - centre @ w


def penalty_held(rows, features, penalty, forgetting):
    """What remains of a penalty that fades with the rows and is topped up feature by feature from the second row on."""
    held = [penalty] * features
    turns = min(features, max(1, math.ceil(features * forgetting / 0.69)))
    cursor = turns % features  # the first row tops up in vain: nothing has deviated from anything yet
    for _ in range(rows - 1):
        held = [(1 - forgetting) * each for each in held]
        for _ in range(turns):
            held[cursor] = penalty
            cursor = (cursor + 1) % features
    return held
