"""The compiled detector against the paper's definition, against River, and against its own promise."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.adwin_oracle import SlowAdwin
from tests.examples import examples
from thalweg.kernels import available_levels, load

Alarm = tuple[int, int, float, float]


def compiled(values: np.ndarray, delta: float = 0.002, level: str = "base") -> list[Alarm]:
    parts = load(level).Adwin(delta).update(np.asarray(values, dtype=np.float64))
    return list(zip(*(part.tolist() for part in parts), strict=True))


def piecewise(seed: int, pieces: int = 4, longest: int = 400) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.repeat(rng.random(pieces), rng.integers(20, longest, pieces))


@examples(25)
@given(seed=st.integers(0, 2**32), delta=st.sampled_from([0.5, 0.05, 0.002]), bits=st.booleans())
def test_alarms_are_those_of_the_definition(seed: int, delta: float, bits: bool) -> None:
    rng, level = np.random.default_rng(seed), piecewise(seed)
    values = (rng.random(len(level)) < level).astype(float) if bits else rng.beta(2, 2, len(level)) * level
    slow = SlowAdwin(delta)
    expected = [(at, *found) for at, value in enumerate(values.tolist()) if (found := slow.update(value))]
    for name in available_levels():
        got = compiled(values, delta, name)
        assert [alarm[:2] for alarm in got] == [alarm[:2] for alarm in expected]
        assert np.allclose([alarm[2:] for alarm in got], [alarm[2:] for alarm in expected], rtol=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_rivers_detector_gives_the_same_alarms_on_the_same_bits(seed: int) -> None:
    """Where ``min_window_length`` is 1: it shortens both sides of a cut by that less one, which the paper does not."""
    drift = pytest.importorskip("river._river_rust", reason="River is not installed").drift
    level = piecewise(seed, pieces=6, longest=4000)
    bits = np.random.default_rng(seed).random(len(level)) < level
    peer = drift.AdaptiveWindowing(delta=0.002, clock=32, max_buckets=5, min_window_length=1, grace_period=0)
    expected = [at for at, bit in enumerate(bits.tolist()) if peer.update(float(bit))]
    assert len(expected) >= 5
    assert [alarm[0] for alarm in compiled(bits)] == expected


def test_rivers_public_detector_agrees_up_to_its_first_alarm() -> None:
    """With its own defaults, which ask for sides of five rows, within a few checks; then it forgets everything."""
    river = pytest.importorskip("river.drift", reason="River is not installed")
    for seed in range(10):
        rng = np.random.default_rng(seed)
        bits = np.concatenate([rng.random(3000) < 0.1, rng.random(1000) < 0.3])
        peer = river.ADWIN()
        first = next(at for at, bit in enumerate(bits.tolist()) if (peer.update(float(bit)), peer.drift_detected)[1])
        assert abs(first - compiled(bits)[0][0]) <= 3 * 32


@pytest.mark.parametrize("mean", [0.02, 0.2, 0.5])
def test_bits_that_do_not_change_raise_fewer_alarms_than_delta_promises(mean: float) -> None:
    delta, rows, runs = 0.002, 4000, 100
    bits = np.random.default_rng(int(100 * mean)).random((runs, rows)) < mean
    alarms = sum(len(compiled(run, delta)) for run in bits)
    assert alarms <= delta * runs * rows / 32


@pytest.mark.parametrize("seed", range(5))
def test_a_jump_is_found_soon_and_its_place_is_told(seed: int) -> None:
    rng = np.random.default_rng(seed)
    bits = np.concatenate([rng.random(5000) < 0.1, rng.random(5000) < 0.5])
    alarms = [alarm for alarm in compiled(bits) if alarm[0] >= 5000]
    at, since, before, after = alarms[0]
    assert at < 5000 + 5 * 32
    assert abs(at + 1 - since - 5000) <= 64
    assert before == pytest.approx(0.1, abs=0.02)
    assert after > 0.3


@given(seed=st.integers(0, 2**32), cuts=st.lists(st.integers(0, 1500), max_size=6))
def test_neither_chunks_nor_a_saved_state_change_anything(seed: int, cuts: list[int]) -> None:
    level = piecewise(seed)
    bits = (np.random.default_rng(seed).random(len(level)) < level).astype(np.float64)
    whole = load("base").Adwin(0.05)
    expected = list(zip(*(part.tolist() for part in whole.update(bits)), strict=True))
    got: list[Alarm] = []
    done, pieces = 0, load("base").Adwin(0.05)
    for part in np.split(bits, sorted(min(cut, len(bits)) for cut in cuts)):
        alarms = zip(*(array.tolist() for array in pieces.update(np.ascontiguousarray(part))), strict=True)
        got += [(done + at, *rest) for at, *rest in alarms]
        done += len(part)
        copy = load("base").Adwin(0.05)
        copy.restore(pieces.state())
        pieces = copy
    assert got == expected
    ends = whole.state(), pieces.state()
    assert all((ends[0][name] == ends[1][name]).all() for name in ends[0])


def test_memory_grows_with_the_logarithm_of_the_rows() -> None:
    adwin = load("base").Adwin(0.002)
    adwin.update((np.random.default_rng(0).random(1_000_000) < 0.3).astype(np.float64))
    state = adwin.state()
    assert state["rows"].sum() == state["seen"][0] == 1_000_000
    assert len(state["rows"]) <= 5 * math.log2(1_000_000)


def test_what_is_no_share_and_no_state_is_refused_and_changes_nothing() -> None:
    adwin = load("base").Adwin(0.002)
    adwin.update(np.array([0.0, 1.0]))
    before = adwin.state()
    for bad in (1.5, -0.1, math.nan):
        with pytest.raises(ValueError, match=r"\[0, 1\]"):
            adwin.update(np.array([0.5, bad]))
    for name, wrong in (("rows", [1, 2]), ("rows", [2, 0]), ("sums", [[2.0, 1.0], [0.0, 0.0]]), ("seen", [1])):
        with pytest.raises(ValueError, match="saved state"):
            adwin.restore(before | {name: np.array(wrong)})
    assert all((adwin.state()[name] == before[name]).all() for name in before)
