"""Numbers whose targets come late: what is predicted and learned in one call is what single calls make of it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from tests.examples import examples
from tests.late_calls import ask, tell
from thalweg import AutoRegressor, OnlineLinearRegression, PredictionIntervals, StandardScaler
from thalweg.learners.base.kept_predictions import KeptPredictions
from thalweg.pipeline import StreamPipeline, TargetEncodedRegressor
from thalweg.store import dumps, loads

MODELS = {
    "dense": (lambda: AutoRegressor(), 1),
    "two targets": (lambda: AutoRegressor(curved=False), 2),
    "one learner": (lambda: PredictionIntervals(OnlineLinearRegression(solver="rls")), 1),
    "sparse": (lambda: AutoRegressor(dense_features=2), 1),
    "behind a scaler": (lambda: StreamPipeline([StandardScaler(), AutoRegressor(curved=False)]), 1),
    "wide category": (lambda: TargetEncodedRegressor(AutoRegressor(curved=False), [(0, 1)]), 1),
}


def slow_follow(model, X, y, order):
    """Predictions and ends, by a call for each row."""
    said, kept, newest = {}, {}, 0
    for step in order.tolist():
        row = ~step if step < 0 else step
        x, target = X[row : row + 1], y[row : row + 1]
        if step >= 0:
            newest = row
            if model.__sklearn_is_fitted__():
                predicted = model.predict(x)
                ends = model.predict_interval(x, None)
                shown = ends if (ends.upper > ends.lower).all() else np.full((2, *predicted.shape), np.nan)
                said[row] = (predicted, *shown)
                kept[row] = ask(model, x, outputs=None if y.ndim == 1 else y.shape[1])
        else:
            tell(model, x, target, kept.get(row), newest - row)
    return said


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.filterwarnings("ignore:X is sparse")
@examples(15)
@given(data=st.data())
def test_any_order_in_any_pieces_is_what_single_calls_make_of_it(name, data):
    make, outputs = MODELS[name]
    rows = 40
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    X = rng.normal(size=(rows, 3))
    y = 1000 + X @ rng.normal(size=(3, outputs)) + rng.standard_t(2, size=(rows, outputs))
    y = y if outputs > 1 else y[:, 0]
    if name == "wide category":
        X[:, 0] = rng.integers(0, 4, rows)
    after = data.draw(st.lists(st.none() | st.integers(0, 30), min_size=rows, max_size=rows))
    events = sorted([(i, 0, i) for i in range(rows)] + [(i + d, 1, i) for i, d in enumerate(after) if d is not None])
    order = np.array([~row if learned else row for _, learned, row in events])
    cut = data.draw(st.integers(0, len(order)))
    X = csr_array(X) if name == "sparse" else X
    model, twin, whole = make(), make(), make()
    kept = KeptPredictions.none(rows)
    first = model.follow(X, y, order[:cut], kept=kept)
    model = loads(dumps(model)) if model.__sklearn_is_fitted__() else model
    second = model.follow(X, y, order[cut:], kept=kept, predicted=int((order[:cut] >= 0).sum()))
    said, at_once = slow_follow(twin, X, y, order), whole.follow(X, y, order)
    for at, parts in enumerate(zip(first, second, strict=True)):
        found = np.where(np.isnan(parts[0]), *parts[::-1])
        for row in range(rows):
            np.testing.assert_array_equal(found[row], said[row][at][0] if row in said else np.nan)
        np.testing.assert_array_equal(found, at_once[at])
    if model.__sklearn_is_fitted__():
        assert dumps(model) == dumps(whole) == dumps(twin)


@pytest.mark.parametrize("delay", [50, 1000])
def test_of_noise_the_default_makes_no_more_than_the_mean_does(delay):
    rng = np.random.default_rng(delay)
    X, y = rng.normal(size=(6000, 8)), 5 + rng.standard_t(3, size=6000)
    order = np.concatenate([[i, ~(i - delay)] if i >= delay else [i] for i in range(len(y))])
    model = AutoRegressor(curved=False)
    predictions = model.follow(X, y, order).predictions
    mean = np.cumsum(y) / np.arange(1, len(y) + 1)
    rows = np.arange(2000 + delay, len(y))
    errors, least = (np.abs(each - y[rows]).mean() for each in (predictions[rows], mean[rows - delay - 1]))
    assert errors < 1.02 * least


def test_until_late_predictions_are_judged_no_member_leaves_the_targets_far_behind():
    """Linear members go on where the columns do, and for as long as the delay nobody sees that the target does not."""
    delay, rng = 300, np.random.default_rng(0)
    time = np.arange(2 * delay)
    X = np.column_stack([time, rng.normal(size=(len(time), 20)) * (1 + time[:, np.newaxis] / 50)])
    y = 1000 + rng.normal(size=len(time)) + time / delay
    order = np.concatenate([[i, ~(i - delay)] if i >= delay else [i] for i in time])
    model, kept = AutoRegressor(curved=False), KeptPredictions.none(len(time))
    predictions = model.follow(X, y, order, kept=kept).predictions
    members = (
        kept.of_numbers(1, model._core.n_opinions)["members"][:, : len(model.members_)] + predictions[:, np.newaxis]
    )
    smooth = [at for at, name in enumerate(model.members_) if name != "last value"]
    for row in range(delay + 2, 2 * delay):
        known = y[: row - delay]
        away = np.abs(members[row, smooth] - known.mean())
        assert away.max() <= 2.5 * known.std() + 1e-4
        assert len(set(members[row, smooth].round(3))) > 1
