"""What every regressor obeys: the laws of `tests.laws` that do not speak of classes, and a few of its own."""

from __future__ import annotations

import numpy as np
import pytest

from tests.laws import (
    chunks_do_not_matter,
    fit_forgets,
    fresh,
    learned,
    nothing_is_shared,
    saving_is_the_identity,
    the_same_seed_gives_the_same_model,
)
from thalweg import AutoRegressor, OnlineLinearRegression, PredictionIntervals, TilingRegressor, WindowForestRegressor
from thalweg.errors import InvalidInput, InvalidParameter
from thalweg.learners.base.kept_predictions import KeptPredictions
from thalweg.rates import InverseSqrt
from thalweg.store import dumps

#: Every regressor, in every mode that has a path of its own.
REGRESSORS = {
    "sgd": OnlineLinearRegression(),
    "sgd-paper": OnlineLinearRegression(InverseSqrt(0.5), intercept=False),
    "sgd-averaged": OnlineLinearRegression(0.05, averaged=True, penalty=0.01),
    "sgd-fading-average": OnlineLinearRegression(0.05, averaged=True, forgetting=0.1),
    "rls": OnlineLinearRegression(solver="rls"),
    "rls-raw": OnlineLinearRegression(solver="rls", intercept=False, forgetting=0.01),
    "rls-forgetting": OnlineLinearRegression(solver="rls", forgetting=0.02),
    "rls-ridge": OnlineLinearRegression(solver="rls", penalty=0.1),
    "rls-ridge-forgetting": OnlineLinearRegression(solver="rls", penalty=0.5, forgetting=0.1),
    "auto": AutoRegressor(),
    "auto-robust": AutoRegressor(robust=True, random_state=3),
    "auto-linear": AutoRegressor(curved=False),
    "tilings": TilingRegressor(12, replace_every=5, min_age=6),
    "tilings-one-step": TilingRegressor(9, depth=2, step=0.3, replace_every=7, min_age=0, robust=True),
    "forest": WindowForestRegressor(3, 2, rows=64, leaf_rows=8, least_gain=1.0, regrow_every=20, robust=True),
    "intervals": PredictionIntervals(OnlineLinearRegression(solver="rls", forgetting=0.01), coverage=0.7),
}


def predicting_changes_nothing(model, X, y):
    model = learned(model, X, y)
    before = dumps(model)
    model.predict(X)
    assert model.score(X, y) <= 1
    for x in X[:5]:
        model.predict_one(x)
    assert dumps(model) == before


def predict_then_learn_is_the_loop(model, X, y):
    fast = fresh(model).predict_then_learn(X, y)
    slow = fresh(model)
    assert slow.predict_one(X[0]) is None
    answers = [np.zeros_like(y[0])]
    slow.learn_one(X[0], y[0].tolist())
    for x, target in zip(X[1:], y[1:].tolist(), strict=True):
        answers.append(slow.predict_one(x))
        np.testing.assert_array_equal(slow.predict(x[None])[0], answers[-1])
        slow.learn_one(x, target)
    np.testing.assert_array_equal(fast, np.array(answers))


def the_coefficients_are_the_answer(model, X, y):
    """On the way as at the end, and asking for them changes nothing."""
    if not model._has_coefficients:
        assert not hasattr(learned(model, X, y), "coef_")
        return
    asked = fresh(model)
    answers, coef, intercept = asked.predict_then_learn(X, y, with_coef=True)
    plain = fresh(model)
    np.testing.assert_array_equal(plain.predict_then_learn(X, y), answers)
    assert dumps(plain) == dumps(asked)
    np.testing.assert_array_equal(coef[-1], asked.coef_)
    np.testing.assert_array_equal(intercept[-1], asked.intercept_)
    size = np.abs(answers).max() + np.abs(X @ asked.coef_.T).max() + np.abs(asked.intercept_).max()
    np.testing.assert_allclose(X @ asked.coef_.T + asked.intercept_, asked.predict(X), rtol=0, atol=1e-9 * size)
    if len(X) > 2:
        before = np.einsum("...p,p->...", coef[-2], X[-1]) + intercept[-2]
        np.testing.assert_allclose(before, answers[-1], rtol=0, atol=1e-9 * size)


def targets_do_not_know_each_other(model, X, y):
    """Several targets at once are the models of each alone, to the last bit."""
    columns = np.column_stack([y.reshape(len(y), -1)[:, 0], -3 * X[:, 0] + 1, np.arange(len(y))])
    answers = fresh(model).predict_then_learn(X, columns)
    for j in range(3):
        np.testing.assert_array_equal(fresh(model).predict_then_learn(X, columns[:, j]), answers[:, j])


def a_refused_call_changes_nothing(model, X, y):
    bad_X, bad_y = X.copy(), y.copy()
    bad_X[-1, -1] = np.nan
    bad_y[-1] = np.inf
    for unlearned in (fresh(model), learned(model, X, y)):
        before = dumps(unlearned)
        for rows, targets in (
            (bad_X, y),
            (X, bad_y),
            (X, y[:-1]),
            (X, None),
            (X, np.full(y.shape, "a")),
            (X[:, :0], y),
        ):
            for call in (unlearned.partial_fit, unlearned.predict_then_learn, unlearned.fit):
                with pytest.raises(InvalidInput):
                    call(rows, targets)
        for row, target in (
            (bad_X[-1], y[0]),
            (X[0], bad_y[-1]),
            (X[0], "1"),
            (X[0], None),
            (X[0], [[1.0]]),
            (3, y[0]),
        ):
            with pytest.raises(InvalidInput):
                unlearned.learn_one(row, target)
        assert dumps(unlearned) == before
        steps = np.arange(len(X))
        for rows, targets, order, options in (
            (bad_X, y, ~steps, {}),
            (X, bad_y, ~steps, {}),
            (X, y[:-1], ~steps, {}),
            (X, y, ~steps - 1, {}),
            (X, y, ~steps, {"kept": KeptPredictions.none(len(X) + 1)}),
            (X, y, ~steps, {"coverage": 0.123}),
        ):
            with pytest.raises((InvalidInput, InvalidParameter)):
                unlearned.follow(rows, targets, order, **options)
        assert dumps(unlearned) == before
    for rows, targets in ((np.c_[X, X], y), (X, np.c_[y, y, y])):  # another width than was learned
        with pytest.raises(InvalidInput):
            unlearned.partial_fit(rows, targets)
        with pytest.raises(InvalidInput):
            unlearned.learn_one(rows[0], targets[0])
    assert dumps(unlearned) == before


def intervals_change_nothing(model, X, y):
    """Asked for on the way or at the end, whatever the chunks; they lie around the answers."""
    if not hasattr(model, "predict_interval"):
        return
    coverage = getattr(model, "coverage", 0.95)
    whole = fresh(model)
    answers, lower, upper = whole.predict_interval_then_learn(X, y, coverage)
    plain = fresh(model)
    np.testing.assert_array_equal(plain.predict_then_learn(X, y), answers)
    assert dumps(plain) == dumps(whole)
    single = fresh(model)
    for i, (x, target) in enumerate(zip(X, y, strict=True)):
        if i > 0:
            ends = single.predict_interval(x[None], coverage)
            np.testing.assert_array_equal([each[0] for each in ends], [lower[i], upper[i]])
        single.learn_one(x, target.tolist())
    assert dumps(single) == dumps(whole)
    assert np.all(lower <= answers)
    assert np.all(answers <= upper)


def follow_is_the_loop(model, X, y):
    """Targets that come three rows late: one call does what single steps do, given what is kept between them."""
    order = np.array([step for i in range(len(y)) for step in ((i, ~(i - 3)) if i >= 3 else (i,))])
    whole, single, kept, predicted = fresh(model), fresh(model), KeptPredictions.none(len(y)), 0
    together = whole.follow(X, y, order)
    for step in order.tolist():
        alone = single.follow(X, y, [step], kept=kept, predicted=predicted)
        if step >= 0:
            predicted += 1
            for one, every in zip(alone, together, strict=True):
                np.testing.assert_array_equal(one[step], every[step])
    if len(y) > 3:
        assert dumps(single) == dumps(whole)


LAWS = [
    predicting_changes_nothing,
    chunks_do_not_matter,
    predict_then_learn_is_the_loop,
    follow_is_the_loop,
    the_coefficients_are_the_answer,
    intervals_change_nothing,
    targets_do_not_know_each_other,
    nothing_is_shared,
    saving_is_the_identity,
    the_same_seed_gives_the_same_model,
    fit_forgets,
    a_refused_call_changes_nothing,
]
