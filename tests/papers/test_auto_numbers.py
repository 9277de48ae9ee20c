"""The item numbers of the study of the default."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pytest

from thalweg.errors import DataUnavailable, MissingExtra
from thalweg.learners.auto_regressor import AutoRegressor
from thalweg.papers.auto import numbers
from thalweg.papers.auto.sources import NUMBER_STREAMS, NumberStream
from thalweg.papers.registry import PAPERS
from thalweg.papers.study import seeds_of_run
from thalweg.streams import FriedmanDrift

ROWS = 1100


def missing(seed: int) -> tuple[np.ndarray, np.ndarray]:
    raise DataUnavailable("nothing is at hand here.")


@pytest.mark.quick(4)
@pytest.mark.parametrize("stream", NUMBER_STREAMS, ids=lambda stream: stream.name)
def test_a_stream_is_as_long_as_declared_and_generated_ones_differ_by_run(stream: NumberStream) -> None:
    try:
        X, y = stream.take(0, 0)
    except (DataUnavailable, MissingExtra) as error:
        pytest.skip(str(error))
    assert len(X) == len(y) == stream.rows
    assert np.isfinite(X).all()
    assert y.std() > 0
    assert np.array_equal(y, stream.take(1, 0)[1]) is not stream.generated


def test_findings_are_means_over_the_same_rows_and_bounds_are_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    local, walk, noise = NUMBER_STREAMS[0], NUMBER_STREAMS[4], NUMBER_STREAMS[7]
    few = FriedmanDrift(length=ROWS)
    streams = [
        replace(local, rows=ROWS, draw=lambda seed: replace(few, seed=seed).take(), bound=0.1),
        replace(walk, name="nowhere", draw=missing),
        replace(walk, draw=lambda seed: tuple(each[:ROWS] for each in walk.draw(seed))),
        replace(noise, judged_from=50),
    ]
    monkeypatch.setattr(numbers, "NUMBER_STREAMS", streams)
    monkeypatch.setitem(sys.modules, "river", None)
    (outcome,) = PAPERS["auto"].reproduce(["numbers"], runs=2, seed=5)
    found = {(each.data, each.model): each for each in outcome.findings}
    errors, inside = [], []
    for run in range(2):
        X, y = replace(few, seed=seeds_of_run(5, run)[0]).take()
        predicted, lower, upper = AutoRegressor().predict_interval_then_learn(X, y, 0.9)
        errors.append(np.sqrt(np.mean((predicted - y)[20:] ** 2)) / y.std())
        inside.append(np.mean((lower <= y) & (y <= upper)))
    assert found[local.name, numbers.AUTO].measured == pytest.approx(np.mean(errors), rel=1e-12)
    assert found[local.name, numbers.AUTO].runs == 2
    assert found[local.name, "coverage, whole"].measured == pytest.approx(np.mean(inside), rel=1e-12)
    assert {model for _, model in found} == {
        numbers.AUTO,
        *numbers.PEERS,
        *(f"coverage, {name}" for name in numbers.Coverage._fields),
    }
    said = "\n".join(outcome.summary)
    assert "0.100, not met" in said
    assert "1.050 of the last value's, met" in said
    assert "Noise that doubles, from row 50 on: " in said
    assert "nowhere is left out: nothing is at hand here." in outcome.notes
    assert any("River's models are left out" in note for note in outcome.notes)
    assert outcome.table is not None
    assert outcome.table().row_count == 1 + 2 + 1 + 1 + 1
    assert outcome.draw is not None
    assert outcome.draw().axes


@pytest.mark.slow
def test_a_model_of_rivers_predicts_each_row_before_it_learns_it() -> None:
    pytest.importorskip("river")
    X, y = FriedmanDrift(seed=1).take(300)
    for peer in numbers.RIVERS.values():
        whole, changed = peer(X, y), peer(X, np.append(y[:200], np.zeros(100)))
        np.testing.assert_array_equal(whole[:201], changed[:201])
        assert np.abs(whole[201:] - changed[201:]).max() > 0.1
        assert numbers.error(whole, y) < numbers.error(numbers._last(X, y), y)


def test_the_coverage_is_that_of_the_first_rows_and_its_extremes_those_of_any_thousand() -> None:
    inside = np.ones(12_000, dtype=bool)
    inside[3000:3500] = False
    assert numbers.coverage(inside) == pytest.approx((0.95, 0.5, 1.0))
    assert numbers.coverage(inside, 3400) == pytest.approx((0.95, 0.9, 1.0))
