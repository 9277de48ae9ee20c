"""From 128 features on, rows of a chunk go through least squares in blocks, and agree with single rows to rounding."""

from __future__ import annotations

import numpy as np
import pytest

from thalweg import OnlineLinearRegression, kernels

FEATURES, ROWS = 250, 700
UNEVEN = [1, 7, 30, 31, 290, 400]


def rows_of(*, wild=(), still=(), twins=False, outputs=1):
    """Features of many scales with offsets; wild rows, features that begin to move late, and two that are the same."""
    rng = np.random.default_rng(8)
    X = rng.normal(size=(ROWS, FEATURES)) @ (np.eye(FEATURES) + rng.normal(scale=0.02, size=(FEATURES, FEATURES)))
    X = (X + 3) * np.logspace(-3, 3, FEATURES)
    X[list(wild)] *= 1e4
    X[:310, list(still)] = 1.0
    if twins:
        X[:, 5] = X[:, 200]
    Y = X @ (rng.normal(size=(FEATURES, outputs)) / np.logspace(-3, 3, FEATURES)[:, None])
    return X, Y + rng.normal(size=(ROWS, outputs))


def learned(core, X, Y, cuts, masses=None):
    """Answers, coefficients and state after the rows, in chunks that end at the cuts; without cuts, one by one."""
    core.widen(Y.shape[1])
    answers = np.empty(Y.shape)
    for part in np.split(np.arange(ROWS), range(1, ROWS) if cuts is None else cuts):
        here = slice(part[0], part[-1] + 1)
        core.run(X[here], Y[here], answers[here], masses=None if masses is None else masses[here])
    weights, intercepts = core.coefficients()
    return answers, weights * np.abs(X).mean(axis=0), intercepts, core.state()


def distance(one, other):
    """By how much answers and weights, times their features' size, differ over their own size."""
    return max(np.abs(a - b).max() / np.abs(a).max() for a, b in zip(one[:2], other[:2], strict=True))


@pytest.mark.parametrize("level", kernels.available_levels())
@pytest.mark.parametrize(
    ("intercept", "penalty", "forgetting", "weighted"),
    [(True, 0.0, 0.0, False), (False, 0.0, 0.002, True), (True, 0.01, 0.005, True), (True, 0.1, 0.0, False)],
)
def test_blocks_agree_with_single_rows(level, intercept, penalty, forgetting, weighted):
    """The first rows, fewer than features, too: as well as single rows agree when the last digit of a row changes."""
    X, Y = rows_of(wild=(450, 451), still=(3, 100), twins=penalty > 0, outputs=2)
    masses = np.random.default_rng(3).choice([0.0, 0.3, 1.0, 2.0], ROWS) if weighted else None

    def after(rows, cuts):
        core = kernels.load(level).least_squares(FEATURES, intercept, penalty, forgetting)
        return learned(core, rows, Y, cuts, masses)

    singly = after(X, None)
    nearly = X * (1 + np.random.default_rng(4).choice([-1, 1], (ROWS, 1)) * 2.0**-52)  # twins stay twins
    digits = max(1e-10, distance(singly, after(nearly, None)))
    for cuts in ([], UNEVEN):
        together = after(X, cuts)
        assert distance(singly, together) < digits
        assert (together[3]["factor_diagonal"] > 0).all()
        for name in ("rows", "penalty_cursor", "weight"):
            assert np.array_equal(singly[3][name], together[3][name]), name
        for name in ("scale", "penalty_held", "mean"):
            np.testing.assert_allclose(singly[3][name], together[3][name], rtol=1e-10, err_msg=name)


def test_fit_of_wide_rows_is_the_batch_solution():
    X, Y = rows_of()
    model = OnlineLinearRegression(solver="rls").fit(X, Y[:, 0])
    w, *_ = np.linalg.lstsq((X - X.mean(axis=0)) / X.std(axis=0), Y[:, 0] - Y[:, 0].mean(), rcond=None)
    np.testing.assert_allclose(model.coef_ * X.std(axis=0), w, atol=1e-9 * np.abs(w).max())
