"""What strangers' tables hold must not spoil the default: clocks, rare indicators, classes that stay away."""

from __future__ import annotations

import copy
import warnings

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.metrics import log_loss

from tests.learners.blobs import blobs
from thalweg import AutoClassifier
from thalweg.evaluate import prequential
from thalweg.evaluate.model_history import trace_of
from thalweg.learners.baselines import MajorityClass
from thalweg.store import dumps
from thalweg.streams import SEA, Fraud, Table


def with_clock(X: np.ndarray) -> np.ndarray:
    """The features that a run makes of a timestamp, for rows a minute apart: hour and weekday as points on a circle."""
    days = np.arange(len(X)) / 1440
    turns = [2 * np.pi * days, 2 * np.pi * days / 7]
    return np.column_stack([X, *(wave(turn) for turn in turns for wave in (np.sin, np.cos))])


def area_under_curve(scores: np.ndarray, y: np.ndarray) -> float:
    order = np.argsort(np.argsort(scores)) + 1
    positive = int(y.sum())
    return float((order[y == 1].sum() - positive * (positive + 1) / 2) / (positive * (len(y) - positive)))


@pytest.mark.slow
@pytest.mark.parametrize("delay", [pytest.param(0, marks=pytest.mark.slow), 500])
def test_a_clock_costs_no_accuracy(delay):
    mistakes = np.zeros(2)
    for seed in (1, 2, 3):
        X, y = SEA(seed=seed, rows_per_concept=4000).take(8000)
        for place, rows in enumerate((X, with_clock(X))):
            records = prequential(AutoClassifier(), Table(rows, y), delay=delay, with_proba=False)
            predicted = np.concatenate([record.predictions for record in records])
            mistakes[place] += (predicted[delay + 1 :] != y[delay + 1 :]).sum()
    assert mistakes[1] < 1.03 * mistakes[0]  # 1.002 and 1.025 over ten seeds


def test_a_clock_does_not_hide_a_rare_class():
    X, y = Fraud(seed=0).take(15_000)
    areas = []
    for rows in (X[:, :6], with_clock(X[:, :6])):
        model = AutoClassifier()
        scores = np.full(len(y), np.nan)
        for at in range(500, len(y), 50):  # labels are 500 rows late
            model.partial_fit(rows[at - 500 : at - 450], y[at - 500 : at - 450], classes=[0, 1])
            scores[at : at + 50] = model.predict_proba(rows[at : at + 50])[:, 1]
        areas.append(area_under_curve(scores[1000:], y[1000:]))
    assert areas[0] > 0.9
    assert areas[1] > areas[0] - 0.01


@pytest.mark.parametrize("seed", range(3))
def test_rare_indicators_are_no_worse_than_the_majority(seed):
    rng = np.random.default_rng(seed)
    X = (rng.random((1000, 3000)) < 0.01).astype(float)
    score = X @ rng.normal(size=3000)
    y = (score > np.quantile(score, 0.836)).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is left out of so many features
        wrong = AutoClassifier().predict_then_learn(X, y) != y
    assert wrong.mean() < 0.175


def test_the_mean_of_a_class_that_stays_away_does_not_move():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 2)) + np.linspace(0, 40, 3000)[:, None]
    y = np.where(np.arange(3000) < 60, np.arange(3000) % 3, np.arange(3000) % 2)  # class 2 comes at first only
    model = AutoClassifier().partial_fit(X[:100], y[:100])
    before = model._class_means()[2]
    model.partial_fit(X[100:], y[100:])
    after = model._class_means()
    np.testing.assert_array_equal(after[2], before)
    assert before == pytest.approx(X[y == 2].mean(axis=0))
    assert after[0] == pytest.approx(X[-400:].mean(axis=0), abs=0.7)  # the last hundred rows of each class, fading


@pytest.mark.slow
def test_curved_members_cost_no_accuracy_where_they_cannot_help():
    """Wide rows, one-hot columns, constant columns, many classes, few rows: within 2 % of the linear members."""
    mistakes: dict[str, np.ndarray] = {}
    for seed in range(3):
        for name, (X, y) in tables_of(np.random.default_rng(seed)).items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                wrong = [(AutoClassifier(curved=c).predict_then_learn(X, y) != y).sum() for c in (False, True)]
            mistakes[name] = mistakes.get(name, 0) + np.array(wrong)
    for name, (linear, both) in mistakes.items():
        assert both < 1.02 * linear, name


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.5, 0.2, 0.01])
@pytest.mark.parametrize("delay", [0, 50, 500])
def test_of_coin_tosses_it_knows_the_share_alone(share, delay):
    """After 2,000 rows: 1 % more mistakes than the running share, and a log-loss 2 % higher, at most."""
    rows, skipped = 20_000, 2000
    order = [step for row in range(rows) for step in ((row, ~(row - delay)) if row >= delay else (row,))]
    mistakes = np.zeros(2)
    for seed in range(5):
        rng = np.random.default_rng(100 + seed)
        X, y = rng.normal(size=(rows, 5)), (rng.random(rows) < share).astype(int)
        losses = []
        for place, model in enumerate((AutoClassifier(), MajorityClass())):
            labels, proba = model.follow(X, y, order, with_proba=True)
            mistakes[place] += (labels != y)[skipped:].sum()
            losses.append(log_loss(y[skipped:], proba[skipped:]))
        assert losses[0] < 1.02 * losses[1]
    assert mistakes[0] <= 1.01 * mistakes[1]


def tables_of(rng: np.random.Generator) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    def plane(X: np.ndarray, noise: float = 0.0) -> np.ndarray:
        return (X @ rng.normal(size=X.shape[1]) + noise * rng.normal(size=len(X)) > 0).astype(int)

    wide = rng.normal(size=(1500, 300))
    hot = np.hstack([np.eye(30)[rng.integers(0, 30, 4000)] for _ in range(3)])
    still = np.column_stack([rng.normal(size=(4000, 5)), np.full((4000, 5), 3.0)])
    blobs = rng.integers(0, 40, 8000)
    centres = rng.normal(size=(40, 10))
    return {
        "wide": (wide, plane(wide)),
        "one-hot": (hot, plane(hot, 0.5)),
        "constant": (still, plane(still)),
        "40 classes": (centres[blobs] + rng.normal(size=(8000, 10)), blobs),
        "few rows": (few := rng.normal(size=(300, 50)), plane(few)),
    }


def test_the_memory_of_a_bank_without_weight_is_not_reported():
    X = np.random.default_rng(0).normal(size=(3000, 2))
    model = AutoClassifier().partial_fit(X, (np.hypot(*X.T) > 1.2).astype(int))
    assert model.family_weights_["linear"] < 0.01
    assert "remembers" not in model.explain()
    assert np.isnan(model.effective_rows_)
    assert "effective_rows" not in trace_of(model)
    model.partial_fit(X, (X[:, 0] + X[:, 1] > 0).astype(int))
    assert model.weights_[:7].sum() > 0.01
    assert "The bank remembers about" in model.explain()
    assert np.isfinite(model.class_effective_rows_).all()


@pytest.mark.parametrize("name", ["family_weights_", "weights_", "members_", "effective_rows_", "left_out_"])
def test_before_the_first_row_nothing_is_fitted(name):
    with pytest.raises(NotFittedError, match="AutoClassifier instance is not fitted yet"):
        getattr(AutoClassifier(), name)
    assert not hasattr(AutoClassifier(), name)


def test_a_row_that_was_predicted_before_is_learned_alike():
    # What was worked out for the prediction serves to learn the row, unless the model changed meanwhile.
    X, y = blobs(300, features=4, classes=3)
    y[:200] %= 2
    X[250] = X[251]
    plain, asked = AutoClassifier(), AutoClassifier()
    for i, (x, label) in enumerate(zip(X, y.tolist(), strict=True)):
        asked.predict_one(x)
        if i % 3 == 1:
            asked._probabilities_one(X[i - 1])
        if i % 5 == 4:
            asked.predict_one(x)
            asked.partial_fit(x[None], [label], sample_weight=[0.0])
        if i % 7 == 0:
            asked = copy.deepcopy(asked)
        plain.learn_one(x, label)
        asked.learn_one(x, label)
    assert dumps(asked) == dumps(plain)
    assert [asked.predict_one(x) for x in X] == plain.predict(X).tolist()
    np.testing.assert_allclose([asked._probabilities_one(x) for x in X], plain.predict_proba(X), rtol=1e-12)
