"""`TilingClassifier` beside a slow, obvious twin, and on boundaries that no line follows."""

from __future__ import annotations

import math
import re
from itertools import chain

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import log_loss

from tests.tiling_oracle import SlowGrids
from thalweg import OnlineLDC, RandomTilings, TilingClassifier
from thalweg.learners.base.mixture import STEP_RULES, tilings_core
from thalweg.store import dumps, loads


class Twin(SlowGrids):
    """The algorithm as the documentation tells it, one cell at a time."""

    def __init__(self, p: int, classes: int, model: TilingClassifier) -> None:
        rules = STEP_RULES if model.step == "auto" else ((model.step, model.memory),)
        super().__init__(p, model, len(rules))
        self.classes = classes
        self.steps = np.array([[step] for step, _ in rules])
        self.decays = np.array([[1 - 1 / memory if memory else 0.0] for _, memory in rules])
        self.losses = np.zeros(len(rules))
        self.seen = np.zeros(classes, dtype=bool)
        self.bias = np.zeros((len(rules), classes))

    def predict_then_learn(self, x: np.ndarray, k: int) -> np.ndarray:
        cells = self.cells_of(x)
        zero = np.zeros_like(self.bias)
        scores = self.bias + sum(grid.weights.get(cell, zero) for grid, cell in cells)
        answer = np.full(self.classes, 1 / self.classes)
        if self.seen.any():
            shares = np.exp(-0.5 * self.losses)
            each = self.softmax(scores)
            answer = shares / shares.sum() @ each
            self.losses = 0.995 * self.losses + (each.argmax(axis=1) != k)
        self.seen[k] = True
        gradient = self.softmax(scores) - np.eye(self.classes)[k]
        self.bias = self.bias - self.steps * gradient
        for grid, cell in cells:
            weights = grid.weights.get(cell, zero)
            grid.use = grid.use + 0.005 * (np.ptp(weights, axis=1) - grid.use)
            squares = grid.squares.get(cell, zero) * self.decays + gradient**2
            grid.squares[cell] = squares
            shrink = np.where(self.decays > 0, 1 / np.sqrt(squares + 0.1), 1.0)
            grid.weights[cell] = weights - self.steps * shrink * gradient
        self.row_learned()
        return answer

    def softmax(self, scores: np.ndarray) -> np.ndarray:
        p = np.where(self.seen, np.exp(scores - scores[:, self.seen].max(axis=1, keepdims=True)), 0.0)
        return p / p.sum(axis=1, keepdims=True)


class Unscaled(TilingClassifier):
    """The kernel alone, without the scaling before it."""

    def _make_core(self, features):
        rules = STEP_RULES if self.step == "auto" else ((self.step, self.memory),)
        return tilings_core(
            features,
            self.tilings,
            self.depth,
            rules,
            every=self.replace_every,
            young=self.min_age,
            share=self.replace_share,
            seed=self.random_state,
        )


@pytest.mark.quick(4)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(
    "options",
    [
        {"tilings": 40, "step": 0.01, "replace_every": 10, "min_age": 20, "random_state": 5},
        {"tilings": 30, "replace_every": 10, "min_age": 50},
        {"tilings": 23, "depth": 2, "step": 0.05, "memory": 40, "replace_every": 15, "min_age": 0},
        {"tilings": 7, "depth": 1, "step": 0.1, "replace_every": 0},
    ],
)
def test_it_is_its_slow_twin(classes, options):
    X = np.random.default_rng(classes).normal(size=(400, 4))
    y = (np.floor(X[:, 0] * 1.5).astype(int) + (X[:, 1] > 0)) % classes
    model = Unscaled(**options)
    twin = Twin(4, classes, model)
    found = model.predict_then_learn(X, y, with_proba=True)[1]
    expected = [twin.predict_then_learn(x, int(k)) for x, k in zip(X, y, strict=True)]
    assert found == pytest.approx(np.array(expected), abs=1e-4)
    state = model._core.state()
    assert state["tiling_serials"].tolist() == [grid.serial for grid in twin.grids]
    assert state["tiling_births"].tolist() == [grid.born for grid in twin.grids]
    for d in range(3):
        cuts = state["tiling_cuts"].reshape(3, -1)[d].tolist()
        assert cuts == [grid.cuts[d] if d < len(grid.cuts) else 0 for grid in twin.grids]


def test_it_learns_what_no_line_follows():
    X = np.random.default_rng(1).normal(size=(4000, 3))
    disc, product = (np.hypot(X[:, 0], X[:, 1]) > 1.2).astype(int), (X[:, 0] * X[:, 1] > 0).astype(int)
    for y, most in ((disc, 0.04), (product, 0.04)):
        wrong = TilingClassifier().predict_then_learn(X, y)[2000:] != y[2000:]
        assert wrong.mean() < most
        assert (OnlineLDC(0.01, counts="soft").predict_then_learn(X, y)[2000:] != y[2000:]).mean() > 0.3


def test_where_labels_are_noise_it_gives_their_shares() -> None:
    """Its four larger steps alone err on a third of these rows, with a log-loss of 0.9."""
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(4000, 5)), (rng.random(4000) < 0.2).astype(int)
    late = list(chain.from_iterable((i, -1 - (i - 100)) if i >= 100 else (i,) for i in range(4000)))
    given, proba = TilingClassifier(64).follow(X, y, late, with_proba=True)
    share = y[2000:].mean()
    assert (given != y)[2000:].mean() <= 1.01 * share
    assert log_loss(y[2000:], proba[2000:]) <= 1.02 * log_loss(y[2000:], np.full(2000, share))


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_the_transformer_gives_the_cells_of_the_classifier(depth):
    X = np.random.default_rng(depth).normal(size=(50, 4))
    model = RandomTilings(7, depth=depth, random_state=3).fit(X)
    grids = Twin(4, 2, TilingClassifier(tilings=7, depth=depth, random_state=3)).grids
    expected = []
    for grid in grids:
        sizes = [cut + 1 for cut in grid.cuts]
        hot = np.zeros((len(X), math.prod(sizes)))
        for row, u in zip(hot, 1 / (1 + np.exp(-1.702 * X)), strict=True):
            row[np.ravel_multi_index(grid.cell(u), sizes, order="F")] = 1
        expected.append(hot)
    assert model.n_cells_.tolist() == [hot.shape[1] for hot in expected]
    np.testing.assert_array_equal(model.transform(X), np.hstack(expected))


def test_a_name_says_where_its_cell_lies() -> None:
    """Checked by moving one feature: only outputs whose name has it change, and its place in the name rises with it."""
    names = ["speed", "load", "heat"]
    model = RandomTilings(9, depth=3, random_state=1).fit(np.zeros((1, 3)))
    out = model.get_feature_names_out(names)
    assert len(set(out)) == len(out) == model.n_cells_.sum()
    assert model.get_feature_names_out()[0].startswith("tiling0(x")
    told = [re.fullmatch(r"tiling(\d+)\((.*)\)\[(.*)\]", name).groups() for name in out]
    for feature, name in enumerate(names):
        rows = np.zeros((50, 3))
        rows[:, feature] = np.linspace(-4, 4, 50)
        before: dict[str, list[int]] = {}
        for row in model.transform(rows):
            for tiling, features, place in (told[at] for at in np.flatnonzero(row)):
                places, looked_at = list(map(int, place.split(","))), features.split(",")
                was = before.setdefault(tiling, places)
                for own, now, then in zip(looked_at, places, was, strict=True):
                    assert now >= then if own == name else now == then
                before[tiling] = places
        assert any(name in features for _, features, _ in told)


def wide_disc(seed: int, rows: int, features: int) -> tuple[np.ndarray, np.ndarray]:
    X = np.random.default_rng(seed).normal(size=(rows, features))
    return X, (np.hypot(X[:, 3], X[:, features // 2]) > 1.2).astype(int)


def test_two_of_more_features_than_tilings_are_found() -> None:
    errors = []
    for seed in range(3):
        X, y = wide_disc(seed, 5000, 300)
        errors.append((TilingClassifier(random_state=seed).predict_then_learn(X, y) != y)[4000:].mean())
    assert np.mean(errors) < 0.15  # 0.23 where the features are drawn from the first row on


def test_each_of_many_features_is_tried_once_whatever_the_chunks() -> None:
    X, y = wide_disc(0, 400, 300)
    given = TilingClassifier(20, step=0.05, replace_every=4, min_age=0, replace_share=0.2)
    model, twin = clone(given).partial_fit(X, y), clone(given)
    tried: set[int] = set()
    for row in range(400):
        twin.partial_fit(X[row : row + 1], y[row : row + 1])
        if row % 50 == 7:
            twin = loads(dumps(twin))
        state = twin._core.state()
        tried |= set(state["tiling_features"].ravel()[:20][state["tiling_serials"].ravel() < 300].tolist())
    assert dumps(twin) == dumps(model)
    assert tried == set(range(300))
