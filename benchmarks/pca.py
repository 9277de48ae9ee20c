"""Principal components of digits in one pass, beside scikit-learn's IncrementalPCA: how near the batch, how quick.

Run: python benchmarks/pca.py
"""

from __future__ import annotations

from time import perf_counter

import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA, IncrementalPCA

from thalweg import CCIPCA

COMPONENTS = 10
ORDERS = 10
REPEATS = 20


def overlap(axes, others):
    """The mean squared cosine between two subspaces, given by orthonormal rows."""
    return ((axes @ others.T) ** 2).sum() / len(axes)


def measure(make, learn, orders, batch):
    overlaps = [overlap(learn(make(), X).components_, batch.components_) for X in orders]
    times = []
    for X in orders:
        for _ in range(REPEATS // 4 or 1):
            start = perf_counter()
            learn(make(), X)
            times.append(perf_counter() - start)
    return overlaps, len(orders[0]) / np.median(times)


def by_rows(model, X):
    for x in X:
        model.learn_one(x)
    return model


def main():
    X = load_digits().data
    batch = PCA(COMPONENTS, svd_solver="full").fit(X)
    orders = [X[np.random.default_rng(seed).permutation(len(X))] for seed in range(ORDERS)]
    candidates = {
        "CCIPCA(10)": (lambda: CCIPCA(COMPONENTS), lambda m, X: m.partial_fit(X)),
        "CCIPCA(10), learn_one": (lambda: CCIPCA(COMPONENTS), by_rows),
        "CCIPCA(10, amnesic=0)": (lambda: CCIPCA(COMPONENTS, amnesic=0.0), lambda m, X: m.partial_fit(X)),
    }
    for size in (20, 100, 300):
        candidates[f"IncrementalPCA(10, batch_size={size})"] = (
            lambda size=size: IncrementalPCA(COMPONENTS, batch_size=size),
            lambda m, X: m.fit(X),
        )
    print(f"digits, {X.shape[0]} rows of {X.shape[1]}, top {COMPONENTS}, {ORDERS} shuffled orders, one pass")
    print(f"{'':<36}{'overlap: mean':>14}{'least':>8}{'as stored':>11}{'rows/s':>12}")
    for name, (make, learn) in candidates.items():
        overlaps, speed = measure(make, learn, orders, batch)
        stored = overlap(learn(make(), X).components_, batch.components_)
        print(f"{name:<36}{np.mean(overlaps):>14.4f}{np.min(overlaps):>8.4f}{stored:>11.4f}{speed:>12,.0f}")


if __name__ == "__main__":
    main()
