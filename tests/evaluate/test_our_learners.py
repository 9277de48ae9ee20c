"""Evaluation and the compiled learners, together."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from thalweg import BalancedWinnow, HiraokaLDA, MajorityClass, NoChange, OnlineLDC, Perceptron
from thalweg.evaluate import collect_steps, holdout, prequential, summarise
from thalweg.rates import ErrorDriven
from thalweg.streams import MovingPlane, Stagger

LEARNERS = [OnlineLDC, Perceptron, BalancedWinnow, HiraokaLDA, NoChange, MajorityClass]


def joined(model: Any, field: str, chunk: int) -> np.ndarray:
    records = prequential(model, MovingPlane(seed=2), rows=700, chunk=chunk)
    return np.concatenate([getattr(record, field) for record in records])


@pytest.mark.parametrize("make", LEARNERS)
def test_answers_are_those_of_one_compiled_call(make: Any) -> None:
    X, y = MovingPlane(seed=2).take(700)
    expected = make().predict_then_learn(X, y)
    for chunk in (700, 64):
        np.testing.assert_array_equal(joined(make(), "predictions", chunk)[1:], expected[1:])


def test_the_baselines_alongside_are_the_baseline_learners() -> None:
    for make, field in ((NoChange, "no_change"), (MajorityClass, "majority")):
        np.testing.assert_array_equal(joined(make(), "predictions", 64), joined(OnlineLDC(), field, 100))


def test_probabilities_and_rates_do_not_depend_on_chunks() -> None:
    for field in ("proba", "rate"):
        whole = joined(OnlineLDC(rate=ErrorDriven()), field, 700)
        parts = joined(OnlineLDC(rate=ErrorDriven()), field, 33)
        np.testing.assert_allclose(parts, whole, rtol=0, atol=1e-12)
        assert len(np.unique(whole)) > 10


@pytest.mark.parametrize("make", LEARNERS)
def test_steps_called_one_by_one_or_at_once_are_the_same(make: Any) -> None:
    stream = Stagger(seed=7)
    at_once = collect_steps(holdout(make(), stream))
    one_by_one = collect_steps(holdout(make(), stream, with_rate=True))
    np.testing.assert_array_equal(one_by_one.error, at_once.error)
    assert (one_by_one.rate is None) == (make in (NoChange, MajorityClass))
    baselines = {NoChange: at_once.no_change_error, MajorityClass: at_once.majority_error}
    if make in baselines:
        np.testing.assert_array_equal(at_once.error, baselines[make])


def test_a_discriminant_tracks_the_moving_plane_better_than_both_baselines() -> None:
    summary = summarise(prequential(OnlineLDC(rate=0.05, counts="soft"), MovingPlane(seed=1), rows=3000))
    assert summary.model.error < 0.15
    assert summary.model.kappa_temporal > 0.5
    assert summary.model.log_loss < np.log(2.0)
    assert abs(summary.majority.error - 0.5) < 0.1
