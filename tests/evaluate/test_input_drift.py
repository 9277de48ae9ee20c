"""Changes of columns: found, located, not found where there are none, and the same however rows are cut."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.signal import lfilter
from scipy.stats import t as student

from tests.examples import examples
from thalweg.container import packed, unpacked
from thalweg.errors import InvalidInput, InvalidParameter
from thalweg.evaluate.input_drift import InputDrift
from thalweg.evaluate.reference_test import REFERENCE, WINDOWS, ReferenceTest


def still_columns(rng: np.random.Generator, rows: int) -> Iterator[np.ndarray]:
    """Columns that never change: heavy tails, correlated rows, seasons, rare indicators, gaps, constants, walks."""
    yield rng.normal(size=rows)
    yield rng.standard_cauchy(rows)
    yield rng.lognormal(0.0, 2.0, rows)
    yield np.full(rows, 3.7)
    yield rng.choice([1.0, 2.0, 3.0], size=rows, p=[0.8, 0.15, 0.05])
    yield from (np.asarray(rng.random(rows) < share, dtype=float) for share in (0.5, 0.1, 0.01, 0.001, 0.0001))
    for memory in (0.9, 0.99, 0.998):
        yield lfilter([1.0], [1.0, -memory], rng.standard_t(3, size=rows + 5000))[5000:]
    yield from (np.sin(2 * np.pi * np.arange(rows) / period) + 0.3 * rng.normal(size=rows) for period in (24, 365))
    yield from (np.where(rng.random(rows) < share, np.nan, rng.normal(size=rows)) for share in (0.3, 0.97))
    yield np.cumsum(rng.normal(size=rows))
    yield np.arange(rows, dtype=float)


def false_alarms(seed: int, rows: int) -> int:
    rng = np.random.default_rng(seed)
    X = np.stack([each for _ in range(6) for each in still_columns(rng, rows)], axis=1)[:, :100]
    drift = InputDrift()
    for start in range(0, rows, 4096):
        drift.add(X[start : start + 4096])
    assert X.shape[1] == 100
    return len(drift.changes)


def test_a_hundred_still_columns_give_no_alarm() -> None:
    assert false_alarms(1, 20_000) == 0


@pytest.mark.slow
def test_there_is_at_most_one_false_alarm_in_a_hundred_thousand_rows() -> None:
    assert sum(false_alarms(seed, 100_000) for seed in range(10)) <= 10


@examples(20)
@given(seed=st.integers(0, 99), cuts=st.lists(st.integers(1, 2500), max_size=6), at=st.integers(0, 5999))
def test_cuts_and_checkpoints_do_not_matter(seed: int, cuts: list[int], at: int) -> None:
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=(6000, 2))
    numbers[3000:, 0] += 2.0
    numbers[rng.random(6000) < 0.1, 1] = np.nan
    places = rng.integers(0, 3, size=6000) + np.where(np.arange(6000) < 4000, 0, 1)
    names = ["Oslo", "Bergen", "Bodø", "Tromsø"]

    def watched(ends: list[int], restored: int) -> InputDrift:
        drift = InputDrift()
        for start, end in zip([0, *ends], ends, strict=False):
            rows = slice(start, end)
            drift.add_rows(drift.as_numbers(["a", "b", "c"], [*numbers[rows].T, (places[rows], names)]))
            if start <= restored < end:
                other = InputDrift()
                other.restore(unpacked(packed(drift.state())))
                drift = other
        return drift

    whole = watched([6000], -1)
    parts = watched(sorted({min(6000, end) for end in np.cumsum(cuts).tolist()} | {6000}), at)
    assert packed(whole.state()) == packed(parts.state())
    assert whole.summary() == parts.summary()
    assert {change["column"] for change in whole.changes} == {"a", "c"}


def slow_first_difference(means: np.ndarray, squares: np.ndarray, rows: int, false_alarms: float) -> int | None:
    """One series of values in [0, 1], block by block and from scratch: the first block at which a window differs."""
    level = false_alarms * rows / len(WINDOWS)
    for end in range(REFERENCE + 1, len(means) + 1):
        joined = max(REFERENCE, end - REFERENCE)
        reference = means[:joined]
        count, mean = joined, reference.mean()
        off = reference - mean
        first = means[:REFERENCE].mean()
        lag = (((reference - first)[1:] * (reference - first)[:-1]).sum() - count * (mean - first) ** 2) / (
            off**2
        ).sum()
        lag = min(max(lag + (1 + 4 * lag) / count + count**-0.5, 0.0), 0.98)
        inflation = (1 + lag) / (1 - lag)
        freedom = int(min(max(count / inflation - 1, 0), 400))
        for window in (each for each in WINDOWS if end - REFERENCE >= each and freedom >= 4):
            recent = means[end - window : end]
            pooled = (reference.sum() + recent.sum()) / (count + window)
            second = (squares[:joined].sum() + squares[end - window : end].sum()) / (count + window)
            least = max(reference.var(ddof=1), (second - pooled**2) / rows)
            error = np.sqrt(inflation * (least / count + max(least, recent.var(ddof=1)) / window))
            bound = student.isf(level / 2, freedom) * error + np.log(2 / level) * inflation / (3 * rows * window)
            if abs(recent.mean() - mean) > bound:
                return end - 1
    return None


ODD = st.sampled_from([0.0, -1e50, 1e50, 5e-324, 1e-300, 1.0, np.nan])


@examples(30)
@given(stretches=st.lists(st.tuples(ODD, ODD, st.integers(1, 1500)), min_size=1, max_size=6))
def test_odd_values_give_finite_summaries_and_no_warning(stretches: list[tuple[float, float, int]]) -> None:
    rng = np.random.default_rng(0)
    column = np.concatenate([np.where(rng.random(rows) < 0.5, one, other) for one, other, rows in stretches])
    drift = InputDrift()
    drift.add(np.stack([column, column[::-1]], axis=1))
    json.dumps([drift.summary(), drift.changes], allow_nan=False)


@examples(60)
@given(seed=st.integers(0, 999), size=st.floats(0.0, 0.4), at=st.integers(20, 100), share=st.floats(0.02, 0.5))
def test_differences_are_those_of_a_slow_twin(seed: int, size: float, at: int, share: float) -> None:
    rows = np.random.default_rng(seed).random((120, 64)) < share + size * (np.arange(120) >= at)[:, None]
    means = rows.mean(axis=1)
    test = ReferenceTest(np.ones(1), np.zeros(1), 64, 1e-4)
    test.ring[:], test.squares[:] = means[:REFERENCE, None], means[:REFERENCE, None]
    test.settle(np.ones(1, dtype=bool), means[:REFERENCE, None], means[:REFERENCE, None])
    found = test.add(means[REFERENCE:, None], means[REFERENCE:, None])
    assert (None if found is None else found.block + REFERENCE) == slow_first_difference(means, means, 64, 1e-4)


def test_each_kind_of_change_is_named_and_located() -> None:
    rng = np.random.default_rng(5)
    table = {
        "moved": np.where(np.arange(16_000) < 9000, 12.1, 19.7) + rng.normal(size=16_000),
        "wider": rng.normal(size=16_000) * np.where(np.arange(16_000) < 9000, 1.0, 2.0),
        "gaps": np.where((rng.random(16_000) < 0.2) & (np.arange(16_000) >= 9000), np.nan, rng.normal(size=16_000)),
        "city": np.where(
            (rng.random(16_000) < 0.3) & (np.arange(16_000) >= 9000), "Bodø", rng.choice(["Oslo", "Bergen"], 16_000)
        ),
        "still": rng.normal(size=16_000),
    }
    pa = pytest.importorskip("pyarrow")
    drift = InputDrift()
    drift.add(pa.table(table))
    found = {change["column"]: change for change in drift.changes}
    assert {name: change["what"] for name, change in found.items()} == {
        "moved": "mean",
        "wider": "spread",
        "gaps": "missing",
        "city": "category Bodø",
    }
    assert len(drift.changes) == 4
    for change in found.values():
        assert abs(change["row"] - 9001) < 100
        assert change["found"] < 9600
    ends = [(found[name]["before"], found[name]["after"]) for name in ("moved", "wider", "gaps", "city")]
    assert np.abs(np.array(ends) - [[12.1, 19.7], [1.0, 2.0], [0.0, 0.2], [0.0, 0.3]]).max() < 0.15
    [city] = [line for line in drift.summary() if line["name"] == "city"]
    assert city["new"]["count"] == 1
    assert city["new"]["listed"][0]["row"] == int(np.argmax(table["city"] == "Bodø")) + 1


def test_a_column_changes_again_after_a_new_reference() -> None:
    X = np.random.default_rng(2).normal(size=(20_000, 1))
    X[6000:] += 3.0
    X[12_000:] -= 5.0
    drift = InputDrift(["level"])
    drift.add(X)
    assert [abs(change["row"] - at) < 20 for change, at in zip(drift.changes, (6001, 12_001), strict=True)] == [
        True,
        True,
    ]
    assert [round(change["after"]) for change in drift.changes] == [3, -2]


def test_what_cannot_be_watched_is_refused_and_changes_nothing() -> None:
    drift = InputDrift(["a", "b"])
    drift.add(np.zeros((10, 2)))
    for wrong in (np.zeros(3), np.zeros((3, 1)), np.array([[1.0, np.inf]])):
        with pytest.raises(InvalidInput):
            drift.add(wrong)
    assert drift.rows == 10
    with pytest.raises(InvalidParameter, match="categorical"):
        InputDrift(["a"], categorical=["b"])


@pytest.mark.skipif("THALWEG_DATA" not in os.environ, reason="THALWEG_DATA names no folder with elec2.csv.gz")
def test_columns_of_elec2_that_were_constant_until_row_17424_are_named_and_no_other() -> None:
    with gzip.open(Path(os.environ["THALWEG_DATA"]) / "elec2.csv.gz", "rt") as lines:
        names = next(lines).strip().split(",")[:-1]
        X = np.array([line.split(",")[:-1] for line in lines], dtype=float)
    drift = InputDrift(names)
    drift.add(X)
    assert {(change["column"], change["row"]) for change in drift.changes} == {
        (name, 17_425) for name in ("vicprice", "vicdemand", "transfer")
    }
