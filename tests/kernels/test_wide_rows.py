"""Rows that go through the factor together are learned as they are one by one, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest

from thalweg import OnlineLDC, kernels
from thalweg.rates import ErrorDriven, InverseSqrt
from thalweg.store import dumps

ROWS = 230
CONSTANT, DECAYING, ERROR_DRIVEN = (0, 0.1, 0), (1, 0.5, 0), (2, 0.3, 20)


def rows_of(features, *, wild=(), still=()):
    """Three classes; some rows so large that the inverse covariance collapses along them; some features constant."""
    rng = np.random.default_rng(features)
    y = rng.integers(0, 3, ROWS)
    X = rng.normal(size=(ROWS, features)) @ (np.eye(features) + rng.normal(scale=0.02, size=(features, features)))
    X += 0.3 * y[:, None]
    X[list(wild)] *= 1e7
    X[:, list(still)] = 1.0
    return X, y


def learned(core, X, y, cuts):
    """Answers, scores, rates and state after the rows, in chunks that end at the cuts; without cuts, one by one."""
    for code in range(3):
        core.announce(code)
    answers, scores, rates = np.empty(ROWS, dtype=np.int64), np.empty((ROWS, 3)), np.empty(ROWS)
    if cuts is None:
        for i in range(ROWS):
            core.scores(X[i : i + 1], scores[i : i + 1])
            answers[i] = core.answer_one(X[i])
            core.learn_one(X[i], int(y[i]))
            rates[i] = core.rate
    else:
        for part in np.split(np.arange(ROWS), cuts):
            here = slice(part[0], part[-1] + 1)
            core.run(X[here], y[here], answers[here], scores[here], rates[here])
    return {"answers": answers, "scores": scores, "rates": rates, **core.state()}


def assert_same_bits(one, other):
    assert one.keys() == other.keys()
    for name in one:
        assert np.array_equal(one[name], other[name], equal_nan=True), name


@pytest.mark.parametrize("level", kernels.available_levels())
@pytest.mark.parametrize("features", [17, 100, 256, 300])
@pytest.mark.parametrize(
    ("rate", "soft", "old", "ridge"),
    [
        (CONSTANT, False, False, 0.0),
        (CONSTANT, True, False, 0.0),
        (DECAYING, True, True, 0.0),
        (ERROR_DRIVEN, True, False, 0.0),
        (CONSTANT, True, False, 1e-3),
    ],
)
def test_chunks_give_the_bits_of_single_rows(level, features, rate, soft, old, ridge):
    X, y = rows_of(features, wild=(90, 150, 151))
    ways = [
        learned(kernels.load(level).discriminant(features, rate, soft, old, 10, ridge), X, y, cuts)
        for cuts in (None, [], [1, 12, 13, 75, 76, 141])
    ]
    for other in ways[1:]:
        assert_same_bits(ways[0], other)


@pytest.mark.parametrize("features", [40, 256])
def test_features_that_stand_still_are_capped_inside_a_block_alike(features):
    X, y = rows_of(features, still=(0, 7, features - 1))

    def model():
        return kernels.compiled.discriminant(features, (0, 0.6, 0), True, False, 10, 0.0)

    singly, together = learned(model(), X, y, None), learned(model(), X, y, [])
    assert_same_bits(singly, together)
    assert together["factor_diagonal"].max() > 1e19  # else nothing was capped, and this shows nothing


@pytest.mark.parametrize("rate", [0.05, InverseSqrt(0.5), ErrorDriven(0.2, window=30)])
def test_a_class_that_arrives_inside_a_block_changes_no_bit(rate):
    X, y = rows_of(260)
    y[:170] = np.minimum(y[:170], 1)
    together, in_parts = OnlineLDC(rate, counts="soft"), OnlineLDC(rate, counts="soft")
    answers = together.predict_then_learn(X, y)
    cuts = (slice(0, 168), slice(168, 173), slice(173, None))
    parts = [in_parts.predict_then_learn(X[here], y[here]) for here in cuts]
    assert np.array_equal(answers, np.concatenate(parts))
    assert dumps(together) == dumps(in_parts)


def test_a_block_agrees_with_the_covariance_solved_afresh():
    """After `fit`, equal weights: the batch estimate of all rows."""
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 1500)
    X = rng.normal(size=(1500, 256)) * np.logspace(-4, 4, 256) + y[:, None]
    model = OnlineLDC(0.5).fit(X[:600], y[:600]).partial_fit(X[600:], y[600:])
    centred = X - np.array([X[y == k].mean(axis=0) for k in (0, 1)])[y]
    covariance = centred.T @ centred / len(y)
    scale = np.sqrt(np.diag(covariance))
    ours = model.precision_ * scale[:, None] * scale
    np.testing.assert_allclose(ours @ (covariance / scale[:, None] / scale), np.eye(256), atol=1e-9)
