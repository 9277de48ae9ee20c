"""What every stream obeys: the same rows however they are read."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thalweg.errors import InvalidInput, InvalidParameter
from thalweg.streams import (
    SEA,
    Circling,
    ConceptStream,
    DiscAndBow,
    DriftingGaussians,
    DriftingTopics,
    Fraud,
    FriedmanDrift,
    Gliding,
    LinearResponse,
    MovingPlane,
    NoisyRuleStream,
    RandomRBFDrift,
    ResponseStream,
    RingNorm,
    RotatingCheckerboard,
    RuleConcept,
    Stagger,
    Stream,
    Table,
    TurningXOR,
    TwoNorm,
    WanderingDisc,
    Waveform,
)

MOTIONS = st.one_of(
    st.sampled_from(["circular", "crossing", "passing", "sudden"]),
    st.builds(Circling, n_classes=st.integers(2, 5), degrees_per_row=st.floats(-90, 90)),
    st.just(Gliding(starts=np.eye(3), velocities=np.ones((3, 3)))),
)
GENERATED = st.one_of(
    st.builds(Stagger, seed=st.integers(0, 2**70), rows_per_concept=st.integers(1, 50)),
    st.builds(MovingPlane, seed=st.integers(0, 2**70), degrees_per_row=st.floats(1.0, 90.0)),
    st.builds(RotatingCheckerboard, seed=st.integers(0, 2**70), length=st.integers(2, 400)),
    st.builds(WanderingDisc, seed=st.integers(0, 2**70), features=st.integers(2, 6), length=st.integers(1, 400)),
    st.builds(TurningXOR, seed=st.integers(0, 2**70), noise=st.floats(0, 0.5), length=st.integers(1, 400)),
    st.builds(
        RandomRBFDrift,
        seed=st.integers(0, 2**70),
        features=st.integers(1, 6),
        n_classes=st.integers(2, 5),
        centroids=st.integers(5, 9),
        speed=st.floats(0, 0.1),
        length=st.integers(1, 400),
    ),
    st.builds(SEA, seed=st.integers(0, 2**70), noise=st.floats(0, 0.5), rows_per_concept=st.integers(1, 100)),
    st.builds(DriftingGaussians, seed=st.integers(0, 2**70), scenario=MOTIONS, length=st.integers(1, 400)),
    st.builds(TwoNorm, seed=st.integers(0, 2**70), features=st.integers(1, 9), length=st.integers(1, 400)),
    st.builds(RingNorm, seed=st.integers(0, 2**70), features=st.integers(1, 9), length=st.integers(1, 400)),
    st.builds(Fraud, seed=st.integers(0, 2**70), share=st.floats(0.01, 0.9), change=st.integers(0, 50)),
    st.builds(
        DriftingTopics,
        seed=st.integers(0, 2**70),
        n_classes=st.integers(2, 4),
        vocabulary=st.integers(100, 900),
        share=st.floats(0.01, 0.99),
        topic_words=st.integers(1, 30),
        words=st.integers(1, 5),
        rows_per_topic=st.integers(1, 50),
        rows_per_change=st.integers(1, 50),
        length=st.integers(1, 100),
    ),
    st.builds(Waveform, seed=st.integers(0, 2**70), length=st.integers(1, 400)),
    st.builds(DiscAndBow, seed=st.integers(0, 2**70), blur=st.floats(0.1, 1.0), length=st.integers(1, 400)),
    st.builds(LinearResponse, seed=st.integers(0, 2**70), drift=st.sampled_from([None, (1, 2, 3, 4, 5)])),
    st.builds(FriedmanDrift, seed=st.integers(0, 2**70), drift=st.just("local"), changes=st.just((5, 9, 20))),
    st.builds(
        FriedmanDrift,
        seed=st.integers(0, 2**70),
        drift=st.sampled_from(["recurring", "gradual"]),
        changes=st.sampled_from([(0, 3), (10, 90)]),
        transition=st.integers(0, 30),
        length=st.integers(1, 400),
    ),
)
TABLES = st.integers(1, 60).map(lambda n: Table(np.arange(2.0 * n).reshape(n, 2), np.arange(n) % 3))
MOMENTS = st.lists(st.integers(0, 10**6), max_size=20)


def assert_same_rows(got: tuple[np.ndarray, np.ndarray], expected: tuple[np.ndarray, np.ndarray]) -> None:
    np.testing.assert_array_equal(got[0], expected[0])
    np.testing.assert_array_equal(got[1], expected[1])


def joined(parts: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    return np.concatenate([X for X, _ in parts]), np.concatenate([y for _, y in parts])


@given(stream=st.one_of(GENERATED, TABLES), size=st.integers(1, 70), data=st.data())
def test_take_batches_and_iteration_agree_and_repeat(stream: Stream, size: int, data: st.DataObject) -> None:
    whole = stream.take()
    assert whole[0].shape == (stream.length, stream.n_features)
    assert isinstance(stream, ResponseStream) or set(whole[1]) <= set(stream.classes)
    few = min(stream.length, 20 * size)
    start_of_it = whole[0][:few], whole[1][:few]
    for _ in range(2):
        assert_same_rows(joined(list(stream.batches(size, few))), start_of_it)
        rows = list(itertools.islice(stream, few))
        assert_same_rows((np.array([x for x, _ in rows]), np.array([y for _, y in rows])), start_of_it)
    start = data.draw(st.integers(0, stream.length))
    n = data.draw(st.integers(0, stream.length - start))
    assert_same_rows(stream.take(n, start), (whole[0][start : start + n], whole[1][start : start + n]))


@given(stream=GENERATED, first=MOMENTS, second=MOMENTS, key=st.lists(st.integers(0, 2**40), max_size=2))
def test_drawing_in_two_parts_is_drawing_at_once(
    stream: ConceptStream, first: list[int], second: list[int], key: list[int]
) -> None:
    at_once = stream.sampler(*key).rows_at([*first, *second])
    sampler = stream.sampler(*key)
    assert_same_rows(joined([sampler.rows_at(first), sampler.rows_at(second)]), at_once)
    skipped = stream.sampler(*key).skip(len(first)).rows_at(second)
    assert_same_rows(skipped, (at_once[0][len(first) :], at_once[1][len(first) :]))


@given(stream=GENERATED, times=MOMENTS, n=st.integers(0, 7))
def test_sets_are_rows_with_repeated_times(stream: ConceptStream, times: list[int], n: int) -> None:
    X, y = stream.sampler("test").sets_at(times, n)
    flat_X, flat_y = stream.sampler("test").rows_at(np.repeat(np.array(times, dtype=int), n))
    np.testing.assert_array_equal(X.reshape(-1, stream.n_features), flat_X)
    np.testing.assert_array_equal(y.ravel(), flat_y)


@given(stream=GENERATED, time=st.integers(0, 10**9), five=st.integers(0, 9))
def test_a_concept_draws_rows_of_its_own_time(stream: ConceptStream, time: int, five: int) -> None:
    concept = stream.concept(time)
    X, y = concept.draw(10, seed=3)
    assert_same_rows(concept.draw(10, seed=3), (X, y))
    if isinstance(stream, NoisyRuleStream):
        clean_X, clean_y = stream.clean.concept(time).draw(10, seed=3)
        np.testing.assert_array_equal(concept.label(clean_X), clean_y)
    elif isinstance(concept, RuleConcept):
        np.testing.assert_array_equal(concept.label(X), y)
    sampler = stream.sampler("here")
    parts = joined([concept.draw(five, sampler), concept.draw(10 - five, sampler)])
    assert_same_rows(parts, stream.sampler("here").rows_at(np.full(10, time)))


def test_the_billionth_row_needs_no_rows_before_it() -> None:
    stream = MovingPlane(seed=5)
    X, _ = stream.take(3, start=10**9)
    later, _ = stream.take(2, start=10**9 + 1)
    np.testing.assert_array_equal(X[1:], later)


def test_every_key_and_seed_has_rows_of_its_own() -> None:
    keys: list[tuple[int | str, ...]] = [(), (0,), (0, 0), (1,), ("test",), ("start",), ("test", 0)]
    firsts = [MovingPlane(seed).sampler(*key).rows_at([0])[0][0, 0] for seed in (0, 1) for key in keys]
    assert len(set(firsts)) == len(firsts)


def test_rows_handed_out_are_the_readers_own() -> None:
    given_X, given_y = np.zeros((4, 2)), np.array(list("abab"))
    table = Table(given_X, given_y)
    given_X[:] = 9.0
    given_y[:] = "z"
    X, y = table.take()
    X[:], y[:] = 7.0, "q"
    again_X, again_y = table.take()
    assert not again_X.any()
    assert "".join(again_y) == "abab"
    assert table.classes.tolist() == ["a", "b"]


def test_a_frame_brings_its_names() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"day": [1, 2], "demand": [0.5, 0.25]})
    assert Table(frame, ["UP", "DOWN"]).feature_names == ("day", "demand")
    assert Table(frame.to_numpy(), ["UP", "DOWN"]).feature_names == ("x1", "x2")


@pytest.mark.parametrize(
    ("mistake", "words"),
    [
        (lambda: Stagger(seed=-1), "'seed' parameter of Stagger"),
        (lambda: Stagger(rows_per_concept=0), "at least 1, got 0"),
        (lambda: MovingPlane(degrees_per_row=float("inf")), "positive finite number, got inf"),
        (lambda: MovingPlane(degrees_per_row="fast"), "positive finite number, got 'fast'"),
        (lambda: MovingPlane().take(1.5), "'n' parameter of MovingPlane"),
        (lambda: MovingPlane().batches(0), "'size' parameter of MovingPlane"),
        (lambda: MovingPlane().concept(True), "'time' parameter of MovingPlane"),
        (lambda: MovingPlane().sampler().rows_at([-1]), "'times' parameter of Sampler"),
        (lambda: MovingPlane().sampler().rows_at([0.5]), "'times' parameter of Sampler"),
        (lambda: RotatingCheckerboard(side=0.0), "'side' parameter of RotatingCheckerboard"),
        (lambda: RotatingCheckerboard(noise=-0.1), "'noise' parameter of RotatingCheckerboard"),
        (lambda: RotatingCheckerboard(length=1), "at least 2, got 1"),
        (lambda: TwoNorm(features=0), "'features' parameter of TwoNorm"),
        (lambda: RingNorm(length=0), "'length' parameter of RingNorm"),
        (lambda: Waveform(length=1.5), "'length' parameter of Waveform"),
        (lambda: DiscAndBow(blur=0.0), "'blur' parameter of DiscAndBow"),
        (lambda: DiscAndBow(half_angle=181.0), "at most 180, got 181.0"),
        (lambda: LinearResponse(weights=[[1.0]]), "'weights' parameter of LinearResponse"),
        (lambda: LinearResponse(weights=[1.0, 2.0], drift=[1.0]), "have 2 numbers"),
        (lambda: LinearResponse(noise=-0.1), "'noise' parameter of LinearResponse"),
        (lambda: FriedmanDrift(drift="abrupt"), "'drift' parameter of FriedmanDrift"),
        (lambda: FriedmanDrift(changes=(1, 2)), "be 3 growing row numbers"),
        (lambda: FriedmanDrift(drift="gradual", changes=(7, 7)), "be 2 growing row numbers"),
        (lambda: RotatingCheckerboard().grid_at(0, points=1), "at least 2, got 1"),
        (lambda: WanderingDisc(features=1), "'features' parameter of WanderingDisc"),
        (lambda: WanderingDisc(orbit=-1.0), "'orbit' parameter of WanderingDisc"),
        (lambda: TurningXOR(noise=0.6), "'noise' parameter of TurningXOR"),
        (lambda: TurningXOR(rows_per_turn=0), "'rows_per_turn' parameter of TurningXOR"),
        (lambda: RandomRBFDrift(n_classes=5, centroids=4), "at least the number of classes, 5, got 4"),
        (lambda: RandomRBFDrift(speed=-0.1), "'speed' parameter of RandomRBFDrift"),
        (lambda: SEA(noise=0.6), "'noise' parameter of SEA"),
        (lambda: SEA(thresholds=()), "'thresholds' parameter of SEA"),
        (lambda: SEA(thresholds=(8.0, float("nan"))), "'thresholds' parameter of SEA"),
        (lambda: SEA(rows_per_concept=0), "'rows_per_concept' parameter of SEA"),
        (lambda: Table([[1.0]], [0]).take(2), "within its 1 rows, got 2"),
        (lambda: Table([[1.0]], [0]).take(start=2), "'start' parameter of Table"),
        (lambda: Table([[1.0]], [0]).batches(1, rows=3), "'rows' parameter of Table"),
        (lambda: Table([[1.0]], [0], feature_names=["a", "b"]), "name all 1 columns"),
    ],
)
def test_a_bad_argument_is_named(mistake: object, words: str) -> None:
    with pytest.raises(InvalidParameter, match=words):
        mistake()  # type: ignore[operator]


@pytest.mark.parametrize(
    ("X", "y", "words"),
    [
        ([[1.0], [np.nan]], [0, 1], "must be finite, got nan in row 1, column 0"),
        ([[1.0], [2.0]], [0], r"got \(2, 1\) and \(1,\)"),
        ([1.0, 2.0], [0, 1], r"got \(2,\)"),
        ([["dry"]], [0], "matrix of numbers"),
    ],
)
def test_a_table_takes_no_bad_rows(X: list[object], y: list[int], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        Table(X, y)


def test_a_concept_labels_rows_of_its_width_only() -> None:
    with pytest.raises(InvalidInput, match="2 features, got an array of shape"):
        MovingPlane().concept(0).label([[1.0, 2.0, 3.0]])
