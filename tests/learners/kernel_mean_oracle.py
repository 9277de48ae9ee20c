"""The budgeted kernel mean machine, slowly: every pair is priced at every row, weights fade one by one."""

from __future__ import annotations

import math

import numpy as np

OCTAVES, BELOW = 10, 6
DISCOUNT, SHARPNESS = 0.995, 0.5


class SlowClass:
    """The centroids of one class: lists of positions, weights and scatters."""

    def __init__(self, budget):
        self.budget = budget
        self.z, self.w, self.s = [], [], []

    def fade(self, factor):
        self.w = [w * factor for w in self.w]
        self.s = [s * factor for s in self.s]

    def nearest(self, x):
        """The least squared distance; 0 for a repeat: nothing beside the row's size, or beside the second least."""
        first, second = sorted([float(((x - z) ** 2).sum()) for z in self.z] + [math.inf, math.inf])[:2]
        rounding = first <= 2.0**-88 * float(x @ x)
        trace = second < math.inf and first <= 2.0**-20 * second
        return 0.0 if rounding or trace else first

    def add(self, x):
        self.z.append(x.copy())
        self.w.append(1.0)
        self.s.append(0.0)
        if len(self.z) > self.budget:
            self.merge(*min(self.pairs(), key=lambda pair: self.price(*pair)))

    def pairs(self):
        return [(i, j) for i in range(len(self.z)) for j in range(i + 1, len(self.z))]

    def price(self, i, j):
        return self.w[i] * self.w[j] / (self.w[i] + self.w[j]) * float(((self.z[i] - self.z[j]) ** 2).sum())

    def merge(self, i, j):
        weight = self.w[i] + self.w[j]
        self.s[i] += self.s[j] + self.price(i, j)
        self.z[i] = (self.w[i] * self.z[i] + self.w[j] * self.z[j]) / weight
        self.w[i] = weight
        for values in (self.z, self.w, self.s):
            values[j] = values[-1]
            values.pop()

    def log_density(self, x, sigma):
        p, terms = len(x), []
        for z, w, s in zip(self.z, self.w, self.s, strict=True):
            widening = 1 + 2 * sigma * s / w / p
            square = float(((x - z) ** 2).sum())
            terms.append(math.log(w) - p / 2 * math.log(widening) - sigma * square / widening)
        return np.logaddexp.reduce(terms) - math.log(sum(self.w))


class SlowKernelMean:
    """The machine over such classes, with a given sigma or the bank of octaves."""

    def __init__(self, classes, budget, forgetting, sigma=None, rho=None, bias=0.0):
        self.team = [SlowClass(budget) for _ in range(classes)]
        self.forgetting, self.sigma, self.rho, self.bias = forgetting, sigma, rho, bias
        self.losses = np.zeros(OCTAVES if sigma is None else 1)
        self.lowest, self.scale, self.observed = -BELOW, 0.0, 0

    def sigmas(self):
        return [2.0 ** (self.lowest + s) for s in range(OCTAVES)] if self.sigma is None else [self.sigma]

    def weights(self):
        sizes = np.array([sum(each.w) for each in self.team])
        seen = np.flatnonzero(sizes)
        if self.rho is None or len(seen) < 2:
            return sizes / sizes.sum()
        weights = np.where(sizes > 0, 1 - self.rho, 0.0)
        weights[seen[-1]] = self.rho
        return weights / weights.sum()

    def opinion(self, x, sigma):
        """log(w_c p_c(x) + b_c)."""
        seen = [c for c, each in enumerate(self.team) if each.z]
        weights, biases = self.weights(), np.zeros(len(self.team))
        biases[seen[-1]] = self.bias
        biases -= biases[seen].min()
        scores = np.full(len(self.team), -np.inf)
        with np.errstate(divide="ignore"):
            for c in seen:
                scores[c] = np.logaddexp(np.log(weights[c]) + self.team[c].log_density(x, sigma), np.log(biases[c]))
            gone = [c for c in seen if self.rho is None and weights[c] < 2.0**-60]
            least = min(scores[c] for c in seen if c not in gone)
            for c in gone:
                scores[c] = min(scores[c], least + np.log(weights[c]))
        return scores

    def scores(self, x):
        if not any(each.z for each in self.team):
            return np.full(len(self.team), -np.inf)
        opinions = np.array([self.opinion(x, sigma) for sigma in self.sigmas()])
        if len(opinions) == 1:
            return opinions[0]
        odds = np.exp(opinions - opinions.max(axis=1, keepdims=True))
        shares = np.exp(-SHARPNESS * (self.losses - self.losses.min()))
        with np.errstate(divide="ignore"):
            return np.log(shares / shares.sum() @ (odds / odds.sum(axis=1, keepdims=True)))

    def learn(self, x, k):
        if any(each.z for each in self.team):
            wrong = [np.argmax(self.opinion(x, sigma)) != k for sigma in self.sigmas()]
            self.losses = DISCOUNT * self.losses + np.array(wrong)
        for each in self.team:
            each.fade(1 - self.forgetting)
        square = self.team[k].nearest(x)
        self.team[k].add(x)
        if self.sigma is None and 0 < square < math.inf:
            self.observe(square)

    def observe(self, square):
        self.observed = min(self.observed + 1, 500)
        self.scale += (math.log2(square) - self.scale) / self.observed
        off = -self.scale - (self.lowest + BELOW)
        if self.observed == 1 or abs(off) > 0.75:
            shift = math.floor(off + 0.5) if off > 0 else math.ceil(off - 0.5)
            self.losses = self.losses[np.clip(np.arange(OCTAVES) + shift, 0, OCTAVES - 1)]
            self.lowest += shift
