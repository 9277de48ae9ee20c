"""Metrics against scikit-learn and a slow oracle, for every average and every chunking."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as sk

from thalweg import NoChange
from thalweg.errors import InvalidInput, InvalidParameter
from thalweg.evaluate import (
    NO_PREDICTION,
    Average,
    Cumulative,
    Fading,
    Meter,
    Record,
    Windowed,
    curve,
    prequential,
    summarise,
)
from thalweg.streams import Table

AVERAGES = st.one_of(
    st.just(Cumulative()),
    st.builds(Windowed, st.integers(1, 80)),
    st.builds(Fading, st.floats(0.05, 0.999)),
)


@st.composite
def records(draw: st.DrawFn) -> Record:
    """A record of random labels, answers and probabilities, with or without rates."""
    rows, classes = draw(st.integers(2, 60)), draw(st.integers(2, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    codes = rng.integers(0, classes, size=(4, rows))
    codes[1:, 0] = NO_PREDICTION
    proba = rng.dirichlet(np.ones(classes), size=rows)
    rate = rng.random(rows) if draw(st.booleans()) else None
    return Record(0, np.arange(classes), *codes, proba=proba, rate=rate)


def split(record: Record, size: int) -> list[Record]:
    cuts = range(0, len(record), size)
    fields = ("y", "predictions", "no_change", "majority", "proba", "rate")
    parts = [{f: v if (v := getattr(record, f)) is None else v[at : at + size] for f in fields} for at in cuts]
    return [Record(at, record.classes, **part) for at, part in zip(cuts, parts, strict=True)]


def weights_of(average: Average, rows: int) -> np.ndarray:
    ages = np.arange(rows)[::-1]
    if isinstance(average, Windowed):
        return (ages < average.rows).astype(float)
    return average.factor**ages if isinstance(average, Fading) else np.ones(rows)


def slow_scores(record: Record, answers: np.ndarray, average: Average) -> dict[str, float]:
    """Every metric from scikit-learn, with the average as sample weights."""
    weights = weights_of(average, len(record))
    one_hot = np.eye(len(record.classes))[record.y]
    wrong = 1.0 - sk.accuracy_score(record.y, answers, sample_weight=weights)
    wrong_no_change = 1.0 - sk.accuracy_score(record.y, record.no_change, sample_weight=weights)
    matrix = sk.confusion_matrix(record.y, answers, labels=[-1, *record.classes], sample_weight=weights)
    matrix = matrix / matrix.sum()
    chance = matrix.sum(axis=0) @ matrix.sum(axis=1)
    return {
        "error": wrong,
        "kappa": (np.trace(matrix) - chance) / (1.0 - chance) if chance < 1.0 - 1e-9 else math.nan,
        "kappa_temporal": 1.0 - wrong / wrong_no_change if wrong_no_change > 1e-9 else math.nan,
        "log_loss": sk.log_loss(record.y, record.proba, labels=record.classes, sample_weight=weights),
        "brier": np.average(((record.proba - one_hot) ** 2).sum(axis=1), weights=weights),
    }


def assert_scores(got: Any, expected: dict[str, float], *, with_proba: bool) -> None:
    for name, value in expected.items():
        measured = getattr(got, name)
        if name in ("log_loss", "brier") and not with_proba:
            assert measured is None
        elif not math.isnan(value):
            assert measured == pytest.approx(value, rel=1e-9, abs=1e-9)


@given(record=records(), average=AVERAGES, size=st.integers(1, 70))
def test_every_metric_and_average_is_exact_in_chunks_of_any_size(record: Record, average: Average, size: int) -> None:
    summary = summarise(split(record, size), average)
    assert (summary.rows, summary.unpredicted) == (len(record), 1)
    assert summary.rate == (None if record.rate is None else record.rate[-1])
    record = record.predicted()
    for who, answers in (
        ("model", record.predictions),
        ("no_change", record.no_change),
        ("majority", record.majority),
    ):
        expected = slow_scores(record, answers, average)
        assert_scores(getattr(summary, who), expected, with_proba=who == "model")


@given(record=records())
def test_cumulative_scores_are_scikit_learns(record: Record) -> None:
    model = summarise([record]).model
    record = record.predicted()
    assert model.error == pytest.approx(sk.zero_one_loss(record.y, record.predictions))
    if len({*record.y, *record.predictions}) > 1:
        assert model.kappa == pytest.approx(sk.cohen_kappa_score(record.y, record.predictions), abs=1e-12)
    assert model.log_loss == pytest.approx(sk.log_loss(record.y, record.proba, labels=record.classes))


@given(record=records(), average=AVERAGES, every=st.integers(1, 25), size=st.integers(1, 70))
def test_a_curve_is_the_summaries_of_its_beginnings(record: Record, average: Average, every: int, size: int) -> None:
    got = curve(split(record, size), every=every, average=average)
    rows = [row for row in range(every, len(record) + 1, every) if row > 1]  # nothing was predicted before
    rows += [len(record)] if len(record) % every else []
    assert got.rows.tolist() == rows
    for point, upto in enumerate(rows):
        expected = summarise(split(record, upto)[:1], average)
        for who in ("model", "no_change", "majority"):
            assert getattr(got, who).keys() == getattr(expected, who).keys()
            for name, value in getattr(expected, who).items():
                assert getattr(got, who)[name][point] == pytest.approx(value, rel=1e-9, abs=1e-9, nan_ok=True)
        if record.rate is not None:
            assert got.rate is not None
            assert got.rate[point] == expected.rate
    assert (got.rate is None) == (record.rate is None)


def record_of(y: list[int], answers: list[int], no_change: list[int]) -> Record:
    return Record(0, np.arange(2), *(np.array(codes) for codes in (y, answers, no_change, no_change)))


def test_what_no_ratio_defines_is_nan_or_infinite_and_never_a_crash() -> None:
    perfect = summarise([record_of([1, 1], [1, 1], [1, 1])]).model
    assert math.isnan(perfect.kappa)
    assert math.isnan(perfect.kappa_temporal)
    assert summarise([record_of([1, 1], [0, 1], [1, 1])]).model.kappa_temporal == -math.inf


def test_a_probability_of_zero_for_the_truth_costs_much_but_not_infinity() -> None:
    record = Record(0, np.arange(2), *(np.array([0]),) * 4, proba=np.array([[0.0, 1.0]]))
    assert summarise([record]).model.log_loss == pytest.approx(-math.log(np.finfo(float).eps))
    assert summarise([record]).model.brier == 2.0


def test_a_window_does_not_remember_and_does_not_drift() -> None:
    rng = np.random.default_rng(0)
    running = Windowed(100).begin()
    running.push(np.full((1000, 1), 1e16))
    block = rng.random((100, 1))
    running.push(block)
    assert running.mean()[0] == block.mean(axis=0)[0]


def test_nothing_seen_is_an_error() -> None:
    records = prequential(NoChange(), Table([[0.0]] * 4, ["a", "a", "b", "b"]))
    summarise(records)
    with pytest.raises(InvalidInput, match=r"got none: records can be read once, list\(records\) as often as you like"):
        summarise(records)
    with pytest.raises(InvalidInput, match="at least one row"):
        summarise([])
    with pytest.raises(InvalidInput, match="at least one row"):
        Meter().summary()


@pytest.mark.parametrize(
    "mistake", [lambda: Windowed(0), lambda: Fading(1.0), lambda: Fading("slow"), lambda: curve([], every=0)]
)
def test_a_bad_argument_is_named(mistake: Any) -> None:
    with pytest.raises(InvalidParameter, match=r"parameter of (Windowed|Fading|curve) must"):
        mistake()
