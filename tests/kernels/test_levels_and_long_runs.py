"""All instruction sets agree, and ten million rows do not wear the discriminant out."""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

import thalweg
from tests.laws import LEARNERS
from thalweg import OnlineLDC, kernels

CONSTANT_HALF, CONSTANT_TWENTIETH = (0, 0.5, 0), (0, 0.05, 0)


def test_the_best_level_is_in_use():
    assert kernels.level == (os.environ.get("THALWEG_KERNELS") or kernels.available_levels()[-1])
    assert kernels.compiled.lanes == {"base": 2, "v3": 4, "v4": 8}[kernels.level]
    assert kernels.compiled.fused == (kernels.level != "base" or platform.machine() in {"aarch64", "arm64"})


def test_modules_use_the_classes_of_the_level_in_use():
    """``_base`` serves type checkers alone: its classes are not those of ``v3`` or ``v4``, and may not be there."""
    sources = Path(thalweg.__file__).parent.rglob("*.py")
    assert not [
        path.name for path in sources if re.search(r"^(from|import) thalweg\.kernels\._base", path.read_text(), re.M)
    ]


def test_a_level_can_be_chosen_and_a_wrong_one_is_refused():
    code = "import thalweg.kernels as k; print(k.level, k.compiled.lanes)"
    for level, lanes in (("base", 2), ("sse9", None)):
        done = subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, "THALWEG_KERNELS": level}, capture_output=True, text=True
        )
        if lanes is None:
            assert done.returncode != 0
            assert "THALWEG_KERNELS must be one of" in done.stderr
        else:
            assert done.stdout.split() == [level, str(lanes)]


@pytest.mark.parametrize("features", [1, 2, 3, 5, 8, 10, 16, 17, 40])
@pytest.mark.parametrize("soft", [False, True])
def test_levels_agree(features, soft):
    rng = np.random.default_rng(features)
    y = rng.integers(0, 3, 2000)
    X = rng.normal(size=(2000, features)) @ rng.normal(size=(features, features)) + y[:, None]
    scores = []
    for level in kernels.available_levels():
        core = kernels.load(level).discriminant(
            features, CONSTANT_TWENTIETH if soft else CONSTANT_HALF, soft, False, 10, 0.0
        )
        for code in range(3):
            core.announce(code)
        core.run(X, y)
        out = np.empty((200, 3))
        core.scores(X[:200], out)
        scores.append(out)
    for other in scores[1:]:
        np.testing.assert_allclose(other, scores[0], rtol=1e-8, atol=1e-8)


def predictions_of_every_learner():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 100)
    X = rng.normal(size=(100, 6)) + y[:, None]
    return {name: clone(model).predict_then_learn(X, y).tolist() for name, model in LEARNERS.items()}


PRINT_PREDICTIONS = f"""
import json
from {__name__} import predictions_of_every_learner
print(json.dumps(predictions_of_every_learner()))
"""


@pytest.mark.quick(1)
@pytest.mark.parametrize("level", [level for level in kernels.available_levels() if level != kernels.level])
def test_every_learner_predicts_alike_at_every_level(level):
    expected = predictions_of_every_learner()
    environment = {**os.environ, "THALWEG_KERNELS": level}
    code = [sys.executable, "-c", PRINT_PREDICTIONS]
    done = subprocess.run(code, env=environment, capture_output=True, text=True, check=True)
    for name, predicted in json.loads(done.stdout).items():
        # a row on a boundary may fall on either side of it
        assert np.mean(np.array(expected[name]) != np.array(predicted)) <= 0.01, name


@pytest.mark.slow
def test_ten_million_rows_with_equal_weights_are_the_batch_estimate():
    rng = np.random.default_rng(0)
    mixing = np.array([[1.0, 0.9, 0.0], [0.0, 0.1, 0.5], [0.0, 0.0, 1.0]]) * [1.0, 1e4, 1e-5]
    model = OnlineLDC(0.5)
    count, total, square = np.zeros(2), np.zeros((2, 3)), np.zeros((3, 3))
    for _ in range(20):
        y = rng.integers(0, 2, 500_000)
        X = rng.standard_normal((500_000, 3)) @ mixing + y[:, None] * [1.0, 5e3, 1e-5]
        model.partial_fit(X, y)
        for k in (0, 1):
            count[k] += (y == k).sum()
            total[k] += X[y == k].sum(axis=0)
        square += X.T @ X
    means = total / count[:, None]
    covariance = (square - (means.T * count) @ means) / count.sum()
    np.testing.assert_allclose(model.means_, means, rtol=1e-8)
    scale = np.sqrt(np.diag(covariance))
    correlation = covariance / scale[:, None] / scale
    np.testing.assert_allclose(model.precision_ * scale[:, None] * scale @ correlation, np.eye(3), atol=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("rate", [0.002, 0.3])
def test_ten_million_rows_with_forgetting_are_the_exponentially_weighted_estimate(rate):
    rng = np.random.default_rng(1)
    model = OnlineLDC(rate, counts="soft")
    for _ in range(20):
        y = rng.integers(0, 2, 500_000)
        X = rng.standard_normal((500_000, 4)) + y[:, None]
        model.partial_fit(X, y)
    tail = slice(-min(500_000, int(60 / rate)), None)
    X, y = X[tail], y[tail]
    weight = rate * (1 - rate) ** np.arange(len(y) - 1, -1, -1.0)
    counts = np.array([weight[y == k].sum() for k in (0, 1)])
    means = np.array([np.average(X[y == k], axis=0, weights=weight[y == k]) for k in (0, 1)])
    centred = X - means[y]
    covariance = (centred * weight[:, None]).T @ centred / weight.sum()
    np.testing.assert_allclose(model.counts_, counts, rtol=1e-9)
    np.testing.assert_allclose(model.means_, means, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model.precision_ @ covariance, np.eye(4), atol=1e-7)
