"""`WindowForestRegressor` beside a slow, obvious twin, and on responses whose shape is known."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from tests.forest_oracle import SlowNumberForest
from tests.learners.test_auto_regressor import held, walked
from tests.learners.test_window_forest import read_text, twin_of
from thalweg import AutoRegressor, OnlineLinearRegression, WindowForestRegressor
from thalweg.errors import InvalidParameter
from thalweg.store import dumps


def steps_that_turn(rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Steps along two features that change halfway, a feature of few values and a constant one; some noise."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(rows, 4))
    X[:, 2], X[:, 3], X[0, 3] = np.round(X[:, 2]), 1.0, 1e45
    y = 100 + 3 * np.floor(X[:, 0]) + 2.0 * (X[:, 1] > 0) + 0.1 * rng.normal(size=rows)
    y[rows // 2 :] += 5 * (X[rows // 2 :, 2] > 0)
    return X, y


@pytest.mark.parametrize(
    "options",
    [
        {"trees": 3, "lasting_trees": 2, "rows": 256, "regrow_every": 100},
        {"trees": 4, "lasting_trees": 0, "rows": 64, "change_level": 0.3, "step": 0.7},
        {"trees": 1, "lasting_trees": 1, "rows": 128, "bagging": 0.0, "step": 0.0, "max_leaves": 7},
        {"trees": 0, "lasting_trees": 2, "rows": 512, "feature_share": 1.0, "leaf_rows": 20, "fading": 0.8},
        {"trees": 0, "lasting_trees": 1, "rows": 512, "feature_share": 1.0, "regrow_every": 80, "least_gain": 300.0},
    ],
)
def test_it_is_its_slow_twin(options):
    X, y = steps_that_turn(300)
    model = WindowForestRegressor(**options, random_state=5)
    answers, _ = walked(model, X, y)
    twin = twin_of(model, 4, SlowNumberForest)
    given = y[0] + np.array([twin.predict_then_learn(x, target) for x, target in zip(X, y - y[0], strict=True)])
    for member in range(given.shape[1]):
        np.testing.assert_allclose(answers[:, member], held(given[:, member], y), rtol=0, atol=1e-7)
    state = model._core.state()
    for number, grove in enumerate(twin.groves):
        assert state[f"target0_forest0_grove{number}_tree_born"].tolist() == [own.born for own in grove.grown]
    assert state["target0_forest0_chance_drawn"][0] == twin.chance.drawn


def test_units_of_the_target_do_not_matter():
    X, y = steps_that_turn(600)
    usual = WindowForestRegressor().predict_then_learn(X, y)
    for unit in (2.0**-150, 2.0**150):
        assert WindowForestRegressor().predict_then_learn(X, y * unit) / unit == pytest.approx(usual, rel=1e-9)


def test_steps_are_learned_where_a_plane_cannot():
    """The error beyond the noise is a fifteenth of that of least squares; intervals hold what they say."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(8000, 4))
    y = 4 * (X[:, 0] > 0.4) * (X[:, 1] > 0.6) + 2 * (X[:, 2] > 0.5) + 0.2 * rng.normal(size=len(X))
    forest, lower, upper = WindowForestRegressor().predict_interval_then_learn(X, y, coverage=0.9)
    plane = OnlineLinearRegression(solver="rls").predict_then_learn(X, y)
    beyond_noise = [np.mean((given - y)[4000:] ** 2) - 0.2**2 for given in (forest, plane)]
    assert beyond_noise[0] < beyond_noise[1] / 15
    assert np.mean((lower <= y) & (y <= upper)) == pytest.approx(0.9, abs=0.01)


def test_the_default_gains_by_its_trees_on_a_still_table():
    """Products of a category of twelve values and a number: trees have most of the weight, the error falls."""
    rng = np.random.default_rng(1)
    kind, size = rng.integers(0, 12, 6000), rng.uniform(1, 4, 6000)
    X = np.column_stack([kind, size, rng.normal(size=(6000, 3))])
    y = rng.uniform(1, 9, 12)[kind] * size**2 + rng.normal(size=6000)
    model = AutoRegressor()
    errors = (model.predict_then_learn(X, y) - y)[3000:]
    assert model.family_weights_["trees"] > 0.9
    assert errors.std() < 0.12 * y.std()


def test_its_memory_does_not_grow():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 4))
    y = np.floor(X[:, 0]) * X[:, 1]
    model = WindowForestRegressor(4, 4, rows=1024, max_leaves=64)
    sizes = [
        len(dumps(model.partial_fit(part, targets)))
        for part, targets in zip(np.split(X, 10), np.split(y, 10), strict=True)
    ]
    assert max(sizes[5:]) < 1.1 * max(sizes[:5])


def test_it_says_what_its_trees_know_and_who_carries_the_weight():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 9, size=(1500, 3)), columns=list("abc"))
    y = np.where((X["a"] > 4) & (X["c"] < 3), 1e6, -1e6)
    model = WindowForestRegressor(3, 2).partial_fit(X, np.column_stack([-y, y]))
    for number in range(5):
        text = model.export_text(number, output=1)
        found = [float(read_text(text, row).split()[0]) for row in X.to_numpy(dtype=float)[-200:]]
        assert np.mean(np.abs(found - y[-200:]) < 5e5) > 0.95
    assert model.members_[:4] == (
        "trees that follow, means",
        "trees that follow, step 0.2",
        "trees that follow, step 0.04",
        "trees that last, means",
    )
    assert model.families_ == ("trees",) * 6 + ("last value", "running mean")
    assert model.family_weights_["trees"] > 0.9
    assert model.weights_.shape == (2, 8)
    assert model.explain().startswith("8 members over 3 features; the heaviest is trees that")
    with pytest.raises(InvalidParameter, match=r"'output' .* must be from 0 to 1"):
        model.export_text(output=2)
    with pytest.raises(InvalidParameter, match="at least 1 without lasting trees"):
        WindowForestRegressor(0, 0).partial_fit(X, y)
