"""Slow, obvious twins of the compiled learners, in extended precision where it matters.

They follow the papers' formulas literally, hold plain Python and NumPy objects, and solve afresh at every question.
"""

from __future__ import annotations

import math

import numpy as np

Extended = np.longdouble


def solve(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Gaussian elimination with pivoting and row scaling, in extended precision."""
    a = np.array(matrix, dtype=Extended)
    b = np.array(right, dtype=Extended)
    scale = np.sqrt(np.abs(np.diag(a)))
    scale[scale == 0] = 1
    a, b = a / scale[:, None] / scale[None, :], b / scale[:, None]
    p = len(a)
    for i in range(p):
        pivot = i + int(np.argmax(np.abs(a[i:, i])))
        a[[i, pivot]], b[[i, pivot]] = a[[pivot, i]], b[[pivot, i]]
        for j in range(i + 1, p):
            factor = a[j, i] / a[i, i]
            a[j, i:] -= factor * a[i, i:]
            b[j] -= factor * b[i]
    for i in reversed(range(p)):
        b[i] = (b[i] - a[i, i + 1 :] @ b[i + 1 :]) / a[i, i]
    return b / scale[:, None]


def scaled_condition(covariance: np.ndarray) -> float:
    """The condition number of the correlation matrix: what diagonal scaling cannot cure."""
    scale = np.sqrt(np.diag(covariance).astype(Extended))
    if (scale == 0).any():
        return math.inf
    values = np.linalg.eigvalsh((covariance / scale[:, None] / scale[None, :]).astype(float))
    return math.inf if values[0] <= 0 else float(values[-1] / values[0])


def least_conditional_share(covariance: np.ndarray) -> float:
    """The least variance of a feature given the features behind it, as a share of its own variance."""
    S = np.array(covariance, dtype=Extended)
    least = Extended(np.inf)
    for j in reversed(range(len(S))):
        if not covariance[j, j] > 0 or not S[j, j] > 0:
            return 0.0
        least = min(least, S[j, j] / covariance[j, j])
        S[:j, :j] -= np.outer(S[:j, j], S[j, :j]) / S[j, j]
    return float(least)


class SlowDiscriminant:
    """O-LDC: the covariance itself is propagated (a stable recursion) and solved at every question."""

    def __init__(self, rate, counts="hard", covariance="corrected", warmup=10):
        self.rate, self.counts, self.covariance, self.warmup = rate, counts, covariance, max(1, warmup)
        self.rows: list[np.ndarray] = []
        self.labels: list[int] = []
        self.n: dict[int, Extended] = {}
        self.m: dict[int, np.ndarray] = {}
        self.prior: dict[int, Extended] = {}
        self.S = None
        self.total = Extended(0)

    def start(self, X, y):
        """The batch estimate with equal weights; the identity where it is singular."""
        X = np.array(X, dtype=Extended)
        y = np.asarray(y)
        self.n = {k: Extended((y == k).sum()) for k in sorted(set(y.tolist()))}
        self.m = {k: X[y == k].mean(axis=0) for k in self.n}
        self.total = Extended(len(y))
        self.prior = dict(self.n)
        centred = X - np.array([self.m[k] for k in y.tolist()])
        self.S = centred.T @ centred / len(y)
        share = least_conditional_share(self.S)
        self.start_is_doubtful = 1e-13 < share < 1e-9  # in double precision it may fall on either side
        if share < 1e-11:
            self.S = np.eye(X.shape[1], dtype=Extended)

    def learn(self, x, k):
        x = np.array(x, dtype=Extended)
        if len(self.rows) < self.warmup:
            self.rows.append(x)
            self.labels.append(k)
            self.start(self.rows, self.labels)
            if (
                len(self.rows) == self.warmup and self.counts == "soft"
            ):  # as heavy as at the rate, at most a memory full
                share = min(Extended(1), self.total * Extended(self.rate)) / self.total
                self.n = {c: share * count for c, count in self.n.items()}
                self.total = share * self.total
                self.prior = dict(self.n)
            return
        lam = Extended(self.rate)
        n = self.n.get(k, Extended(0))
        old = self.m.get(k, x)
        a = (1 - lam) * self.total
        new = ((1 - lam) * n * old + lam * x) / ((1 - lam) * n + lam)
        if n == 0:
            self.S = a * self.S / (a + lam)
        elif self.covariance == "2008":
            z = x - new
            self.S = (a * self.S + lam * np.outer(z, z)) / (a + lam)
        elif self.counts == "soft":
            e = x - old
            keep = (1 - lam) * n
            self.S = (a * self.S + keep * lam / (keep + lam) * np.outer(e, e)) / (a + lam)
        else:
            v = x - ((n + 1) * new - x) / n
            self.S = a / (a + lam) * (self.S + lam * n / (a * (n + 1)) * np.outer(v, v))
        self.m[k] = new
        if self.counts == "soft":
            self.n = {c: (1 - lam) * count for c, count in self.n.items()}
            self.n[k] = self.n.get(k, Extended(0)) + lam
            self.total = a + lam
            self.prior = dict(self.n)
        else:
            self.prior = {c: (1 - lam) * count for c, count in self.n.items()}
            self.prior[k] = (1 - lam) * n + lam if n > 0 else (1 - lam)
            self.n[k] = n + 1
            self.total += 1

    def discriminants(self, X):
        """One column per class in sorted order, free of the term common to all classes."""
        X = np.array(X, dtype=Extended)
        centre = sum(self.m.values()) / len(self.m)
        columns = []
        for k in sorted(self.m):
            mean = self.m[k] - centre
            w = solve(self.S, mean[:, None])[:, 0]
            columns.append(np.log(self.prior[k]) - mean @ w / 2 + (X - centre) @ w)
        scores = np.stack(columns, axis=1)
        return scores - scores.mean(axis=1, keepdims=True)


class SlowErrorDriven:
    """Section 5 of Kuncheva & Plumpton: the history is kept whole and the windows are cut from it."""

    def __init__(self, start, window, product=False):
        self.value, self.window, self.product = start, window, product
        self.mistakes: list[bool] = []
        self.errors: list[float] = []

    def next(self, mistake):
        self.mistakes.append(mistake)
        recent = self.mistakes[-self.window :]
        self.errors.append(sum(recent) / len(recent))
        t = len(self.mistakes) - 1
        if mistake and t >= self.window:
            change = 1 + self.errors[t - self.window] - self.errors[t]
            moved = self.value * change if self.product else self.value**change
            self.value = min(max(moved, 1e-6), 1 - 1e-6)
        return self.value


class SlowPerceptron:
    """Two classes, as printed: one weight vector over the augmented row."""

    def __init__(self, w, rate, margin=0.0, constant=1.0):
        self.w, self.rate, self.margin, self.constant = np.array(w, dtype=float), rate, margin, constant

    def answer(self, x):
        return 1 if self.w @ np.concatenate([[self.constant], x]) > 0 else 0

    def learn(self, x, k):
        z, y = np.concatenate([[self.constant], x]), 1 if k == 1 else -1
        if y * (self.w @ z) <= self.margin:
            self.w += self.rate * y * z


class SlowWinnow:
    """Two classes, as printed: positive and negative weights, multiplied."""

    def __init__(self, positive, negative, beta):
        self.positive, self.negative, self.beta = np.array(positive), np.array(negative), beta

    def answer(self, x):
        return 1 if np.concatenate([[1.0], x]) @ (self.positive - self.negative) > 0 else 0

    def learn(self, x, k):
        if self.answer(x) == k:
            return
        z, sign = np.concatenate([[1.0], x]), 1 if k == 1 else -1
        self.positive = self.positive * self.beta ** (-sign * z)
        self.negative = self.negative * self.beta ** (sign * z)


class SlowHiraoka:
    """The ascent written with whole matrices."""

    def __init__(self, p, rate, full=False):
        self.A, self.rate, self.full = np.eye(p), rate, full
        self.n: dict[int, int] = {}
        self.m: dict[int, np.ndarray] = {}
        self.mean = np.zeros(p)
        self.total = 0

    def answer(self, x):
        return min(self.m, key=lambda k: (np.sum((self.A.T @ (x - self.m[k])) ** 2), k)) if self.m else -1

    def learn(self, x, k):
        self.total += 1
        self.n[k] = self.n.get(k, 0) + 1
        old = self.m.get(k, np.zeros_like(x))
        self.m[k] = old + max(self.rate, 1 / self.n[k]) * (x - old)
        self.mean = self.mean + max(self.rate, 1 / self.total) * (x - self.mean)
        b, r = self.m[k] - self.mean, x - self.m[k]
        B, W, A = np.outer(b, b), np.outer(r, r), self.A
        stiffness = r @ r * np.sum((A.T @ b) ** 2)
        if self.full:
            stiffness = max(stiffness, b @ b * np.sum((A.T @ r) ** 2))
        step = self.rate / max(1.0, self.rate * max(stiffness, b @ b))
        rise = 2 * B @ A - B @ A @ A.T @ W @ A - W @ A @ A.T @ B @ A if self.full else B @ A - W @ A @ A.T @ B @ A
        self.A = A + step * rise
        norm = np.linalg.norm(self.A)
        if norm > 1e6:
            self.A *= 1e6 / norm


class SlowTrend:
    """Schnackenberg's extension over the slow O-LDC: every record is kept and every line is fitted afresh."""

    def __init__(self, base: SlowDiscriminant, window: int, horizon: int = 1):
        self.base, self.window, self.horizon = base, window, horizon
        self.records: dict[int, list[tuple[int, Extended, np.ndarray]]] = {}
        self.z: dict[int, Extended] = {}
        self.last: dict[int, int] = {}
        self.now = self.started = 0

    def learn(self, x, k):
        of_the_start = len(self.base.rows) < self.base.warmup
        n = self.base.n.get(k, Extended(0))
        self.base.learn(x, k)
        self.now += 1
        self.last[k] = self.now
        if of_the_start:
            self.started = self.now
            times = [t + 1 for t, label in enumerate(self.base.labels) if label == k]
            self.z[k] = Extended(sum(times)) / len(times)
            return
        lam = Extended(self.base.rate)
        gain = lam / ((1 - lam) * n + lam)
        old = self.z.get(k, Extended(self.now))
        self.z[k] = old + gain * (self.now - old)
        self.records.setdefault(k, []).append((self.now, self.z[k], self.base.m[k].copy()))

    def means(self):
        """The means in force: forecast, or the base's."""
        forecast = {}
        for k, own in self.base.m.items():
            recent = [record for record in self.records.get(k, []) if record[0] > self.now - self.window]
            forecast[k] = own
            if self.now - self.started < self.window or len(recent) < 2:
                continue
            z = np.array([record[1] for record in recent])
            y = np.array([record[2] for record in recent])
            slope = ((z - z.mean())[:, None] * (y - y.mean(axis=0))).sum(axis=0) / ((z - z.mean()) ** 2).sum()
            line = y.mean(axis=0) + slope * (self.now + self.horizon - z.mean())
            age = self.now - self.last[k]
            share = min(max((self.window - age) / (self.window / 2), 0.0), 1.0)
            forecast[k] = own + share * (line - own)
        return forecast

    def discriminants(self, X):
        own = self.base.m
        self.base.m = self.means()
        try:
            return self.base.discriminants(X)
        finally:
            self.base.m = own


class SlowBankLane:
    """One rate of the bank: soft counts over an identity that counts as one row, and a ridge topped up in turn."""

    def __init__(self, p, rate, fastest, ridge=1e-3):
        self.rate, self.fastest, self.ridge = rate, fastest, ridge
        self.S, self.total, self.t, self.cursor = np.eye(p), 1.0, 0, 0
        self.n: dict[int, float] = {}
        self.m: dict[int, np.ndarray] = {}
        self.held = np.zeros(p)

    def learn(self, x, k):
        p, lam = len(x), max(self.rate, 1 / (self.t + 2))
        n, old = self.n.get(k, 0.0), self.m.get(k, np.zeros(p))
        e, keep, a = x - old, (1 - lam) * n, (1 - lam) * self.total
        self.S = (a * self.S + lam * keep / (keep + lam) * np.outer(e, e)) / (a + lam)
        self.m[k] = old + lam / (keep + lam) * e
        self.n = {c: (1 - lam) * count for c, count in self.n.items()}
        self.n[k] = self.n.get(k, 0.0) + lam
        self.held *= a / (a + lam)
        fastest = max(self.fastest, 1 / (self.t + 2))
        decay = 1 - fastest  # every total stays 1: it starts there, and (1 - lambda) + lambda is 1
        self.total = a + lam
        for _ in range(min(max(math.ceil(p * (1 - decay) / 0.69), 1), min(p, 7))):
            more = max(self.ridge - self.held[self.cursor], 0.0)
            self.S[self.cursor, self.cursor] += more
            self.held[self.cursor] += more
            self.cursor = (self.cursor + 1) % p
        self.t += 1

    def posterior(self, x):
        labels = sorted(self.m)
        P = np.linalg.inv(self.S)
        g = np.array([math.log(self.n[k]) - 0.5 * self.m[k] @ P @ self.m[k] + self.m[k] @ P @ x for k in labels])
        weights = np.exp(g - g.max())
        return weights / weights.sum()
