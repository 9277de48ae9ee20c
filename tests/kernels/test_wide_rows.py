"""Rows that go through the factor together are learned as they are one by one.

Below 128 features to the last bit; from there a block's sums are taken in another order, and the two agree to rounding.
"""

from __future__ import annotations

import numpy as np
import pytest

from thalweg import OnlineLDC, kernels
from thalweg.rates import ErrorDriven, InverseSqrt
from thalweg.store import dumps

ROWS = 230
CONSTANT, DECAYING, ERROR_DRIVEN = (0, 0.1, 0), (1, 0.5, 0), (2, 0.3, 20)
SLOW = (0, 0.005, 0)
UNEVEN = [1, 12, 13, 75, 76, 141]


def rows_of(features, *, classes=3, wild=(), still=()):
    """Some rows so large that the inverse covariance collapses along them; some features constant."""
    rng = np.random.default_rng(features)
    y = rng.integers(0, classes, ROWS)
    X = rng.normal(size=(ROWS, features)) @ (np.eye(features) + rng.normal(scale=0.02, size=(features, features)))
    X += 0.3 * y[:, None]
    X[list(wild)] *= 1e7
    X[:, list(still)] = 1.0
    return X, y


def learned(core, X, y, cuts, masses=None, classes=3):
    """Answers, scores, rates and state after the rows, in chunks that end at the cuts; without cuts, one by one."""
    for code in range(core.n_classes, classes):
        core.announce(code)
    answers, scores, rates = np.empty(ROWS, dtype=np.int64), np.empty((ROWS, classes)), np.empty(ROWS)
    for part in np.split(np.arange(ROWS), range(1, ROWS) if cuts is None else cuts):
        here = slice(part[0], part[-1] + 1)
        mass = None if masses is None else masses[here]
        core.run(X[here], y[here], answers[here], scores[here], rates[here], masses=mass)
    return {"answers": answers, "scores": scores, "rates": rates, **core.state()}


def precision(state):
    """P over what its diagonal allows: |P_ij| <= sqrt(P_ii P_jj)."""
    L = state["factor_rows"].T + np.eye(len(state["factor_rows"]))
    P = (L * state["factor_diagonal"].ravel()) @ L.T
    size = np.sqrt(np.diag(P))
    return P / size[:, None] / size


def assert_same_bits(one, other):
    assert one.keys() == other.keys()
    for name in one:
        assert np.array_equal(one[name], other[name], equal_nan=True), name


def distance(one, other):
    """By how much scores, over their size, and P differ."""
    finite = np.isfinite(one["scores"])
    ours, theirs = (np.where(finite, way["scores"], 0) for way in (one, other))
    scores = np.abs(ours - theirs) / (1 + np.abs(ours).max(axis=1, keepdims=True))
    return max(scores.max(), np.abs(precision(one) - precision(other)).max())


def nearly(X):
    """X with the last digit of every value changed: what any other order of sums may do to a result."""
    return X * (1 + np.random.default_rng(4).choice([-1, 1], X.shape) * 2.0**-52)


def assert_agree(one, other, digits=1e-10):
    """What was answered is the same; scores, means and P agree to rounding."""
    for name in ("answers", "rates", "rows", "since_refresh", "last_class", "ridge_cursor"):
        assert np.array_equal(one[name], other[name]), name
    assert np.array_equal(np.isfinite(one["scores"]), np.isfinite(other["scores"]))
    for name in ("counts", "means", "variance", "ridge_held", "long_variance"):
        np.testing.assert_allclose(one[name], other[name], rtol=1e-10, atol=1e-12, err_msg=name)
    assert distance(one, other) < digits
    assert (other["factor_diagonal"] > 0).all()


SETTINGS = pytest.mark.parametrize(
    ("rate", "soft", "old", "ridge"),
    [
        (CONSTANT, False, False, 0.0),
        (CONSTANT, True, False, 0.0),
        (DECAYING, True, True, 0.0),
        (ERROR_DRIVEN, True, False, 0.0),
        (CONSTANT, True, False, 1e-3),
    ],
)
LEVELS = pytest.mark.parametrize("level", kernels.available_levels())


@LEVELS
@pytest.mark.parametrize(("features", "classes"), [(5, 2), (8, 2), (9, 2), (17, 3), (127, 3)])
@SETTINGS
def test_chunks_give_the_bits_of_single_rows(level, features, classes, rate, soft, old, ridge):
    X, y = rows_of(features, classes=classes, wild=(90, 150, 151))
    ways = [
        learned(kernels.load(level).discriminant(features, rate, soft, old, 10, ridge), X, y, cuts, classes=classes)
        for cuts in (None, [], UNEVEN)
    ]
    for other in ways[1:]:
        assert_same_bits(ways[0], other)


@pytest.mark.quick(10)
@LEVELS
@pytest.mark.parametrize(("features", "weighted"), [(131, True), (300, False)])
@SETTINGS
def test_blocks_agree_with_single_rows(level, features, weighted, rate, soft, old, ridge):
    """Fewer rows than features, wild ones among them: as well as single rows agree when the last digit of X changes."""
    X, y = rows_of(features, wild=(90, 150, 151))
    masses = np.random.default_rng(3).choice([0.0, 0.3, 1.0, 2.0], ROWS) if weighted else None

    def after(rows, cuts):
        return learned(kernels.load(level).discriminant(features, rate, soft, old, 10, ridge), rows, y, cuts, masses)

    singly = after(X, None)
    digits = max(1e-10, 10 * distance(singly, after(nearly(X), None)))
    for cuts in ([], UNEVEN):
        assert_agree(singly, after(X, cuts), digits)


@pytest.mark.parametrize(
    ("rate", "soft", "ridge"),
    [
        (SLOW, False, 0.0),
        (SLOW, True, 1e-3),
        ((2, 0.01, 20), False, 0.0),
        ((2, 0.05, 20), False, 1e-6),
    ],
)
def test_blocks_agree_with_single_rows_behind_a_fit(rate, soft, ridge):
    """Whole blocks, as no row upsets the covariance of a batch."""
    X, y = rows_of(256, classes=20)
    more, labels = np.random.default_rng(1).normal(size=(600, 256)), np.arange(600) % 20

    def model():
        core = kernels.compiled.discriminant(256, rate, soft, False, 10, ridge)
        for code in range(20):
            core.announce(code)
        core.begin(more, labels)
        return core

    ways = [learned(model(), X, y, cuts, classes=20) for cuts in (None, [], UNEVEN)]
    for other in ways[1:]:
        assert_agree(ways[0], other)


@pytest.mark.parametrize(("features", "classes"), [(9, 2), (40, 3), (256, 3)])
def test_features_that_stand_still_are_capped_inside_a_block_alike(features, classes):
    X, y = rows_of(features, classes=classes, still=(0, 7, features - 1))

    def model():
        return kernels.compiled.discriminant(features, (0, 0.6, 0), True, False, 10, 0.0)

    singly, together = (learned(model(), X, y, cuts, classes=classes) for cuts in (None, []))
    if features < 128:
        assert_same_bits(singly, together)
    else:
        assert_agree(singly, together, max(1e-10, 10 * distance(singly, learned(model(), nearly(X), y, None))))
    assert together["factor_diagonal"].max() > 1e19  # else nothing was capped, and this shows nothing


@pytest.mark.parametrize("rate", [0.05, InverseSqrt(0.5), ErrorDriven(0.2, window=30)])
def test_a_class_may_arrive_inside_a_block(rate):
    X, y = rows_of(260)
    y[:170] = np.minimum(y[:170], 1)
    together, in_parts = OnlineLDC(rate, counts="soft"), OnlineLDC(rate, counts="soft")
    answers = together.predict_then_learn(X, y)
    cuts = (slice(0, 168), slice(168, 173), slice(173, None))
    parts = [in_parts.predict_then_learn(X[here], y[here]) for here in cuts]
    assert np.array_equal(answers, np.concatenate(parts))
    np.testing.assert_allclose(together.means_, in_parts.means_, rtol=1e-10)
    size = np.sqrt(np.diag(in_parts.precision_))
    np.testing.assert_allclose(together.precision_ / size, in_parts.precision_ / size, atol=1e-10 * size.max())


def test_an_announced_class_is_inert_inside_a_block():
    X, y = rows_of(256, classes=2)

    def model():
        return kernels.compiled.discriminant(256, ERROR_DRIVEN, False, False, 10, 1e-4)

    alone, beside = learned(model(), X, y, [], classes=2), learned(model(), X, y, [], classes=3)
    for name in ("answers", "rates", "factor_rows", "factor_diagonal", "variance"):
        assert np.array_equal(alone[name], beside[name]), name
    for name in ("means", "weights"):
        assert np.array_equal(alone[name], beside[name][:2]), name
    assert np.array_equal(alone["scores"], beside["scores"][:, :2])


def test_a_block_of_rows_that_count_for_nothing_changes_no_bit():
    X, y = rows_of(256)
    core = kernels.compiled.discriminant(256, CONSTANT, False, False, 10, 0.0)
    before = learned(core, X, y, [])
    core.run(X, y, masses=np.zeros(ROWS))
    after = core.state()
    assert all(np.array_equal(before[name], after[name]) for name in after)


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


def test_rows_that_are_followed_may_come_in_any_portions():
    rng = np.random.default_rng(7)
    X, y = rng.normal(size=(400, 300)), rng.integers(0, 2, 400)
    whole, parts = OnlineLDC(0.01, counts="soft"), OnlineLDC(0.01, counts="soft")
    whole.follow(X, y, ~np.arange(400))
    for rows in np.split(np.arange(400), [1, 30, 31, 200]):
        parts.follow(X[rows], y[rows], ~np.arange(len(rows)))
    assert dumps(whole) == dumps(parts)
