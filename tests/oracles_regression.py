"""Slow, obvious twins of the compiled regressors: the printed step, and normal equations solved afresh."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

from tests.oracles import Extended, solve
from tests.tiling_oracle import SlowGrids
from thalweg import TilingRegressor


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


def slow_scaled(X):
    """Each row by the means and deviations of the rows before it; zero where there is no deviation.

    From the fifth row on a value counts as at most ten standard deviations away.
    """
    scaled, mean, variance = np.zeros_like(X), np.zeros(X.shape[1]), np.zeros(X.shape[1])
    for t, row in enumerate(X):
        away, far, moved = row - mean, 10 * np.sqrt(variance), variance > 0
        near = np.clip(away, -far, far)
        scaled[t, moved] = near[moved] / np.sqrt(variance[moved])
        learned = np.where(moved, near, away) if t >= 4 else away
        mean = mean + learned / (t + 1)
        variance = t / (t + 1) * (variance + learned**2 / (t + 1))
    return scaled


def slow_forgetting_answers(Z, y, rate, prior):
    """Answers of least squares whose rows, and whose prior, fade once rows weigh 1 / rate; targets less the first."""
    Z, y = np.column_stack([Z, np.ones(len(Z))]), y - y[0]
    scatter, product, answers = prior * np.eye(Z.shape[1]), np.zeros(Z.shape[1]), []
    for t, (z, target) in enumerate(zip(Z, y, strict=True)):
        answers.append(z @ np.linalg.solve(scatter, product))
        fade = 1.0 if t * rate < 1 else 1 - rate
        scatter, product = fade * scatter + np.outer(z, z), fade * product + target * z
    return np.array(answers)


class SlowTilings(SlowGrids):
    """The sum of the weights of the cells of each row, moved by a share of the residual; one weight for each step."""

    def __init__(self, p, model, steps):
        super().__init__(p, model, len(steps))
        self.steps = np.array(steps)

    def predict_then_learn(self, x, y, fade=1e-3):
        cells = self.cells_of(x)
        weights = [grid.weights.get(cell, np.zeros(self.lanes)) for grid, cell in cells]
        visits = [(1 - fade) * grid.visits.get(cell, 0.0) + 1 for grid, cell in cells]
        answer, gain = np.sum(weights, axis=0), 1 / np.sqrt(visits)
        for (grid, cell), own, count, share in zip(cells, weights, visits, gain / gain.sum(), strict=True):
            grid.use = grid.use + 0.005 * (np.abs(own) - grid.use)
            grid.visits[cell], grid.weights[cell] = count, own + self.steps * (y - answer) * share
        self.row_learned()
        return answer


def slow_sparse_linear(X, rest, rate, forgetting):
    """What a linear regression with a step size for each feature answers, which learns ``rest`` from the second row."""
    weights, squares, answers = np.zeros(X.shape[1]), np.zeros(X.shape[1]), []
    bias, bias_square = 0.0, 0.0
    for t, x in enumerate(X):
        z = np.zeros_like(x)
        for j in np.flatnonzero(x):
            values = X[: t + 1, j]
            z[j] = x[j] / np.sqrt((values[values != 0] ** 2).mean())
        answers.append(bias + weights @ z)
        squares, bias_square = (1 - forgetting) * squares + z**2, (1 - forgetting) * bias_square + 1
        steps, bias_step = z / np.sqrt(1 + squares), 1 / np.sqrt(1 + bias_square)
        if t:
            by = min(rate, 1 / (steps @ z + bias_step)) * (rest[t] - answers[-1])
            weights, bias = weights + by * steps, bias + by * bias_step
    return np.array(answers)


class SlowMixing:
    """Weights exp(-0.25 L / v) for three discounts, and a mixture of the three by the same rule."""

    def __init__(self, members, discounts=(0.98, 0.995, 0.999), sharpness=0.25):
        self.discounts, self.sharpness, self.t = discounts, sharpness, 0
        self.losses = np.zeros((len(discounts), members))
        self.level, self.own = np.zeros(len(discounts)), np.zeros(len(discounts))
        self.own_level = 0.0

    def weights_of(self, losses, level):
        raw = np.exp(np.maximum(-self.sharpness * (losses - losses.min()) / max(level, 1e-300), -700))
        return raw / raw.sum()

    def sets(self):
        return np.array([self.weights_of(*each) for each in zip(self.losses, self.level, strict=True)])

    def weights(self):
        return self.weights_of(self.own, self.own_level) @ self.sets()

    def judge(self, opinions, y):
        self.t += 1
        lost, sets = (self.weights() @ opinions - y) ** 2, self.sets()
        for i, discount in enumerate(self.discounts):
            self.own[i] = 0.998 * self.own[i] + (sets[i] @ opinions - y) ** 2
            self.losses[i] = discount * self.losses[i] + (opinions - y) ** 2
            self.level[i] += max(1 / self.t, 1 - discount) * (lost - self.level[i])
        self.own_level += max(1 / self.t, 0.002) * (lost - self.own_level)


def slow_half_widths(answers, y, coverage, step, local=1.0):
    """q times the mean absolute residual of the last fifty rows, where a miss moves q up and a hit moves it down.

    ``local`` has the factor of each row: residuals count relative to it, and widths are multiplied by it.
    """
    q, size, widths = NormalDist().inv_cdf((1 + coverage) / 2) / math.sqrt(2 / math.pi), 0.0, []
    for t, (residual, factor) in enumerate(np.broadcast(np.abs(y - answers), local)):
        widths.append(q * size * factor)
        if t > 1:
            q += step * ((residual > widths[-1]) - (1 - coverage))
        if t > 0:
            size += max(1 / t, 0.02) * (residual / factor - size)
    return np.array(widths)


def slow_local_noise(X, residuals):
    """What tilings say of the absolute residual over the mean one of the last fifty rows; the first row has none."""
    tilings = SlowTilings(X.shape[1], TilingRegressor(64, depth=2, random_state=0), [0.05])
    factors, size = [1.0], 0.0
    for t, (z, residual) in enumerate(zip(slow_scaled(X[1:]), residuals[1:], strict=True)):
        relative = min(residual / size, 6.0) if size > 0 else 1.0
        (said,) = tilings.predict_then_learn(z, relative - 1)
        factors.append(np.clip(1 + said, 0.2, 5) if t >= 200 else 1.0)
        size += max(1 / (t + 1), 0.02) * (residual - size)
    return np.array(factors)


def slow_late_half_widths(answers, y, coverage, step, delay):
    """The same where a row gets its width once the target ``delay`` rows before is known, and is judged by it later."""
    q, size, widths = NormalDist().inv_cdf((1 + coverage) / 2) / math.sqrt(2 / math.pi), 0.0, []
    residuals = np.abs(y - answers)
    for t in range(len(y)):
        known = t - delay
        if known >= 0 and widths[known] > 0:
            q += step * min(1, 50 / delay) * ((residuals[known] > widths[known]) - (1 - coverage))
        if known >= 0:
            size += max(1 / (known + 1), 0.02) * (residuals[known] - size)
        widths.append(q * size)
    return np.array(widths)
