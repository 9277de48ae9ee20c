"""What is marked as a change of the error, and what is not."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thalweg import OnlineLDC
from thalweg.container import packed, unpacked
from thalweg.errors import InvalidParameter
from thalweg.evaluate import drift
from thalweg.evaluate.drift import ChangeDetector
from thalweg.streams import Stagger


def mistakes(*stretches: tuple[int, float], seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.random(rows) < error for rows, error in stretches])


def test_a_learner_that_must_begin_anew_is_marked_where_it_must_and_nowhere_else() -> None:
    X, y = Stagger(seed=1, rows_per_concept=2500).take(20_000)
    detector = ChangeDetector()
    detector.add(OnlineLDC("auto", counts="soft").predict_then_learn(X, y) != y)
    assert [round(change["row"], -2) for change in detector.changes()] == list(range(2500, 20_000, 2500))
    assert all(change["seen"] > change["before"] + 0.1 for change in detector.changes())
    assert all(change["row"] < change["found"] < change["row"] + 100 for change in detector.changes())


@pytest.mark.parametrize("seed", range(5))
def test_worse_and_better_are_both_marked_once(seed: int) -> None:
    detector = ChangeDetector()
    detector.add(mistakes((10_000, 0.1), (10_000, 0.3), (10_000, 0.1), seed=seed))
    worse, better = detector.changes()
    assert abs(worse["row"] - 10_000) < 300
    assert abs(better["row"] - 20_000) < 300
    assert (worse["before"], better["before"]) == (pytest.approx(0.1, abs=0.02), pytest.approx(0.3, abs=0.02))
    assert (worse["after"], better["after"]) == (pytest.approx(0.3, abs=0.02), pytest.approx(0.1, abs=0.02))


def test_a_young_model_that_gets_better_is_no_news_but_one_that_gets_worse_is() -> None:
    learning = np.random.default_rng(0).random(20_000) < 0.1 + 0.4 * np.exp(-np.arange(20_000) / 300)
    detector = ChangeDetector()
    assert detector.add(learning) == []
    failing = ChangeDetector()
    assert len(failing.add(mistakes((1000, 0.1), (1000, 0.6)))) == 1


def test_small_changes_are_left_out_until_they_add_up() -> None:
    small, creeping = ChangeDetector(), ChangeDetector()
    small.add(mistakes((200_000, 0.3), (200_000, 0.315)))
    assert small.changes() == []
    found = creeping.add(np.random.default_rng(0).random(400_000) < np.linspace(0.3, 0.4, 400_000))
    assert 1 <= len(found) <= 4
    assert all(change["after"] - change["before"] >= 0.1 * change["before"] for change in found)


def test_worse_is_news_even_right_after_better() -> None:
    detector = ChangeDetector()
    detector.add(mistakes((10_000, 0.3), (800, 0.05), (5000, 0.5)))
    assert [round(change["row"], -2) for change in detector.changes()] == [10_000, 10_800]


@pytest.mark.parametrize("error", [0.01, 0.2, 0.5])
def test_nothing_is_marked_where_nothing_changes(error: float) -> None:
    detector = ChangeDetector()
    detector.add(mistakes((300_000, error)))
    assert detector.changes() == []


def test_of_many_changes_the_newest_and_the_largest_are_kept_and_the_others_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(drift, "MOST", 3)
    heights = (0.3, 0.9, 0.4, 0.8, 0.5)
    detector = ChangeDetector()
    begun = detector.add(mistakes(*[(3000, error) for height in heights for error in (0.05, height)]))
    kept = detector.changes()
    assert len(begun) == 2 * len(heights) - 1
    assert (len(kept), detector.left_out) == (3, len(begun) - 3)
    assert round(kept[-1]["row"], -3) == 27_000
    assert {round(change["row"], -3) for change in kept[:-1]} <= {9000, 12_000, 21_000, 24_000}


@given(seed=st.integers(0, 2**32), most=st.integers(1, 4))
def test_the_errors_told_are_those_of_whole_stretches(seed: int, most: int) -> None:
    """Exactly, and between all changes, kept or not."""
    rng = np.random.default_rng(seed)
    given_mistakes = mistakes(*[(1500, error) for error in rng.random(6)], seed=seed)
    with pytest.MonkeyPatch.context() as few:
        few.setattr(drift, "MOST", most)
        detector = ChangeDetector()
        found = detector.add(given_mistakes)
    ends = [1, *(change["row"] for change in found), len(given_mistakes) + 1]
    stretches = {end: given_mistakes[begin - 1 : end - 1] for begin, end in itertools.pairwise(ends)}
    following = dict(itertools.pairwise(ends))
    assert len(detector.changes()) == min(most, len(found))
    for change in detector.changes():
        assert change["before"] == stretches[change["row"]].mean()
        assert change["after"] == stretches[following[change["row"]]].mean()
        assert change["seen"] == pytest.approx(given_mistakes[change["row"] - 1 : change["found"]].mean(), abs=1e-12)


@given(seed=st.integers(0, 2**32), cuts=st.lists(st.integers(0, 9000), max_size=5))
def test_neither_chunks_nor_an_interruption_change_anything(seed: int, cuts: list[int]) -> None:
    rng = np.random.default_rng(seed)
    given_mistakes = mistakes(*[(1500, error) for error in rng.random(6)], seed=seed)
    whole, pieces = ChangeDetector(), ChangeDetector()
    begun = whole.add(given_mistakes)
    told = []
    for part in np.split(given_mistakes, sorted(cuts)):
        told += pieces.add(part)
        saved = packed(pieces.state())
        pieces = ChangeDetector()
        pieces.restore(unpacked(saved))
    assert (told, pieces.changes(), packed(pieces.state())) == (begun, whole.changes(), packed(whole.state()))


def test_delta_is_a_chance() -> None:
    with pytest.raises(InvalidParameter, match="'delta' parameter of ChangeDetector"):
        ChangeDetector(delta=0.0)
