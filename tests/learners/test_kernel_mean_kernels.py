"""The kernel mean machine with other kernels than the radial one: linear, polynomial, and functions."""

from __future__ import annotations

import numpy as np
import pytest

from tests.learners.blobs import blobs
from thalweg import KernelMeanClassifier
from thalweg.errors import InvalidInput
from thalweg.learners.kernel_mean.densities import squared_distances


def test_the_linear_kernel_is_the_nearest_mean():
    for classes in (2, 4):
        X, y = blobs(200, 5, classes)
        model = KernelMeanClassifier("linear", tune=None).partial_fit(X[:150], y[:150])
        means = np.stack([X[:150][y[:150] == c].mean(axis=0) for c in range(classes)])
        assert model.predict(X).tolist() == squared_distances(X, means).argmin(axis=1).tolist()


@pytest.mark.parametrize("kernel", ["linear", "poly", "function"])
def test_other_kernels_row_by_row(kernel):
    X, y = blobs(70, 3, seed=5)
    X = X - np.sort(X[:50], axis=0)[24]  # the linear kernel's own origin where no bias is given
    by_rows = {
        "linear": lambda a, b: a @ b,
        "poly": lambda a, b: (0.5 * (a @ b) + 2.0) ** 2,
        "function": lambda a, b: np.minimum(a, b).sum(),
    }[kernel]
    given = (lambda A, B: np.minimum(A[:, None], B).sum(axis=2)) if kernel == "function" else kernel
    common = {"sigma": 0.5, "coef0": 2.0, "degree": 2}
    train = np.arange(50)
    free = KernelMeanClassifier(given, tune=None, **common).fit(X[train], y[train])
    fixed = KernelMeanClassifier(given, rho=0.3, bias=-0.4, **common).fit(X[train], y[train])
    tuned = KernelMeanClassifier(given, **common).fit(X[train], y[train])

    def means(x, rows=train):
        return [np.mean([by_rows(x, X[i]) for i in rows if y[i] == c]) for c in (0, 1)]

    norms = [np.mean([by_rows(X[i], X[j]) for i in train for j in train if y[i] == y[j] == c]) for c in (0, 1)]
    for x in X[50:]:
        low, high = means(x)
        half_way = 0.5 * (high - norms[1] / 2) - 0.5 * (low - norms[0] / 2)
        np.testing.assert_allclose(free.decision_function(x[None])[0], half_way, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(
            fixed.decision_function(x[None])[0], 0.3 * high - 0.7 * low - 0.4, rtol=1e-9, atol=1e-12
        )
    left_out = np.array([means(X[i], np.delete(train, i)) for i in train])
    scores = tuned.rho_ * left_out[:, 1] - (1 - tuned.rho_) * left_out[:, 0] + tuned.bias_
    found = ((scores > 0) != y[train]).sum()
    for rho in (0.1, 0.4, 0.5, 0.6, 0.9):
        for bias in np.linspace(-3, 3, 25):
            tried = rho * left_out[:, 1] - (1 - rho) * left_out[:, 0] + bias
            assert found <= ((tried > 0) != y[train]).sum()


@pytest.mark.parametrize("offset", [0.0, 1e6, 1e8])
def test_an_offset_does_not_move_the_nearest_mean(offset):
    X, y = blobs(400, 3, spread=4.0)
    X = (X + offset) - offset  # what the offset has rounded away is none of the machine's doing
    plain = KernelMeanClassifier("linear", tune=None).fit(X, y)
    means = np.stack([X[y == c].mean(axis=0) for c in (0, 1)])
    truth = squared_distances(X, means) @ [0.5, -0.5] / 2
    far = KernelMeanClassifier("linear", tune=None).fit(X + offset, y)
    np.testing.assert_allclose(far.decision_function(X + offset), truth, atol=1e-9 + 1e-14 * offset)
    np.testing.assert_allclose(plain.decision_function(X), truth, atol=1e-9)
    tuned = [KernelMeanClassifier("linear").fit(X + by, y) for by in (0.0, offset)]
    assert (tuned[0].predict(X) == tuned[1].predict(X + offset)).mean() > 0.99


@pytest.mark.parametrize(
    ("kernel", "found"),
    [(lambda A, B: A, r"got shape \(60, 3\)"), (lambda A, B: np.full((len(A), len(B)), np.nan), "that are not finite")],
)
def test_a_kernel_function_that_gives_no_matrix_is_refused(kernel, found):
    with pytest.raises(InvalidInput, match=f"finite numbers of shape .*{found}"):
        KernelMeanClassifier(kernel).fit(*blobs())


def test_the_width_of_a_kernel_that_has_one():
    X, y = blobs()
    assert KernelMeanClassifier("poly").fit(X, y).sigma_ == 1 / 3
    assert KernelMeanClassifier("poly", sigma=0.7).fit(X, y).sigma_ == 0.7
    with pytest.raises(AttributeError, match="this kernel has none"):
        _ = KernelMeanClassifier("linear").fit(X, y).sigma_


# ---------------------------------------------------------------------- size, files, parameters
