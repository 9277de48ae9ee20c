"""Regret, least squares in hindsight, distances and cumulative accuracy against their slow definitions."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from thalweg import OnlineLDC, OnlineLinearRegression
from thalweg.errors import InvalidInput, InvalidParameter
from thalweg.evaluate import (
    BestWeights,
    Cumulative,
    KnownLine,
    KnownWeights,
    Regret,
    axis_distance,
    cumulative_accuracy,
    curve,
    prequential,
    regrets,
    subspace_overlap,
)
from thalweg.evaluate.regret import RunningLeastSquares
from thalweg.streams import DriftingGaussians, LinearResponse


def in_chunks(rows: int, sizes: list[int]) -> list[slice]:
    """Slices of these sizes, again and again, that cover so many rows."""
    cuts = [0, *itertools.takewhile(lambda cut: cut < rows, itertools.accumulate(itertools.cycle(sizes))), rows]
    return [slice(first, stop) for first, stop in itertools.pairwise(cuts)]


def smallest_losses(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """A fit for every row."""
    losses = []
    for t in range(1, len(y) + 1):
        scaled = X[:t] / abs(X).max(axis=0, initial=1e-99)  # or the fit would take small features for none
        w = np.linalg.lstsq(scaled, y[:t], rcond=1e-12)[0]
        losses.append(((y[:t] - scaled @ w) ** 2).sum())
    return np.array(losses)


ROWS = 90
CHUNKS = st.lists(st.integers(1, 90), min_size=1, max_size=4)


@examples(25)
@given(
    seed=st.integers(0, 2**32),
    features=st.integers(1, 6),
    outputs=st.integers(0, 2),
    kind=st.sampled_from(["plain", "duplicated", "late", "zero", "scales"]),
    offset=st.sampled_from([0.0, 1e4]),
    sizes=CHUNKS,
)
def test_the_best_in_hindsight_is_a_fit_for_every_row(seed, features, outputs, kind, offset, sizes) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(ROWS, features))
    y = X @ rng.normal(size=(features, outputs or 1)) + 0.1 * rng.normal(size=(ROWS, outputs or 1)) + offset
    y = y if outputs else y[:, 0]
    if kind == "duplicated":
        X = np.column_stack([X, X[:, 0]])
    elif kind == "late":
        X[:50, -1] = 0.0
    elif kind == "zero":
        X[:, 0] = 0.0
    elif kind == "scales":
        X *= 10.0 ** rng.uniform(-9, 9, features)
    expected = smallest_losses(X, y)
    answers = rng.normal(size=y.shape)
    lost = np.square(y - answers).reshape(ROWS, -1).sum(axis=1).cumsum()
    regret, parts = Regret(BestWeights()), in_chunks(ROWS, sizes)
    records = [regret.update(X[part], y[part], answers[part]) for part in parts]
    np.testing.assert_array_equal([record.start for record in records], [part.start for part in parts])
    rounding = 1e-13 * lost[-1]
    reference, found = (np.concatenate([getattr(each, name) for each in records]) for name in ("reference", "regret"))
    np.testing.assert_allclose(reference, expected, rtol=1e-9, atol=rounding)
    np.testing.assert_allclose(found, lost - expected, rtol=1e-9, atol=rounding)


def test_a_small_loss_keeps_its_digits_beside_large_targets() -> None:
    rng = np.random.default_rng(0)
    X = rng.random((500, 3))
    y = X @ [1e6, -2e6, 3e6] + 1e-3 * rng.normal(size=500)
    running = RunningLeastSquares()
    totals = running.totals(X, y[:, None])
    # Σ y² is some 1e15, of which 16 digits end above the loss of 5e-4: moments alone would have lost it.
    np.testing.assert_allclose(totals[-1], smallest_losses(X, y)[-1], rtol=1e-6)
    np.testing.assert_allclose(running.weights[:, 0], [1e6, -2e6, 3e6], atol=1e-3)


@given(seed=st.integers(0, 2**32), outputs=st.integers(0, 3), sizes=CHUNKS)
def test_regret_against_known_weights_is_the_papers_sum(seed: int, outputs: int, sizes: list[int]) -> None:
    rng = np.random.default_rng(seed)
    X, w = rng.random((120, 4)), rng.normal(size=(outputs, 4) if outputs else 4)
    b = rng.normal(size=outputs) if outputs else 0.5
    y = X @ w.T + b + 0.1 * rng.normal(size=(120, outputs) if outputs else 120)
    answers = rng.normal(size=y.shape)
    expected, total = [], 0.0
    for x, truth, answer in zip(X, y, answers, strict=True):
        total += float(np.sum((truth - answer) ** 2) - np.sum((truth - (w @ x + b)) ** 2))
        expected.append(total)
    regret = Regret(KnownWeights(w, b))
    found = [regret.update(X[part], y[part], answers[part]).regret for part in in_chunks(120, sizes)]
    np.testing.assert_allclose(np.concatenate(found), expected, rtol=1e-9, atol=1e-12)


def test_hindsight_beats_the_truth_by_its_fit_of_the_noise_alone() -> None:
    stream = LinearResponse(seed=3, noise=0.5)
    X, y = stream.take(2000)
    answers = np.zeros(2000)
    known, best = (
        Regret(reference).update(X, y, answers) for reference in (KnownWeights(stream.weights), BestWeights())
    )
    gain = (known.reference - best.reference)[-1] / 0.5**2
    assert 0.0 < gain < 20.5  # chi-square with 5 degrees of freedom: above 20.5 with probability 0.001
    with_constant = Regret(BestWeights(intercept=True)).update(X, y + 7.0, answers)
    assert with_constant.reference[-1] == pytest.approx(best.reference[-1], rel=0.01)


def test_mistakes_beside_those_of_a_known_line() -> None:
    stream = DriftingGaussians(seed=2, length=700)
    X, y = stream.take()
    records = list(prequential(OnlineLDC(0.9), stream, chunk=64))
    answers = np.concatenate([record.predictions for record in records])
    expected = np.cumsum(answers != y) - np.cumsum((X[:, 0] - X[:, 1] + 0.5 > 0) != y)
    against = list(regrets(records, stream, KnownLine([1.0, -1.0], 0.5)))
    np.testing.assert_array_equal(np.concatenate([record.regret for record in against]), expected)
    named = Regret(KnownLine([1.0, -1.0], 0.5, labels=("left", "right")))
    words = np.array(["left", "right"])
    np.testing.assert_array_equal(
        named.update(X[1:], words[y[1:]], words[answers[1:]]).regret[-1], expected[-1] - expected[0]
    )


def test_records_of_numbers_have_a_regret_as_well() -> None:
    stream = LinearResponse(seed=4)
    X, y = stream.take()
    answers = OnlineLinearRegression().predict_then_learn(X, y)
    records = prequential(OnlineLinearRegression(), stream, chunk=300)
    against = list(regrets(records, stream, KnownWeights(stream.weights)))
    at_once = Regret(KnownWeights(stream.weights)).update(X, y, answers)
    np.testing.assert_allclose(np.concatenate([record.regret for record in against]), at_once.regret, rtol=1e-12)
    assert [record.start for record in against] == [0, 300, 600, 900]


def test_cumulative_accuracy_is_the_error_over_all_rows_so_far() -> None:
    stream = DriftingGaussians(seed=1, length=300)
    records = list(prequential(OnlineLDC(0.5), stream, chunk=37))
    over_time = curve(records, every=1, average=Cumulative())  # which does not score the first row
    right = (1.0 - over_time.model.error) * np.arange(1, 300)
    np.testing.assert_allclose(cumulative_accuracy(records)[1:], right / np.arange(2, 301), rtol=1e-12)
    assert len(cumulative_accuracy([])) == 0


@given(seed=st.integers(0, 2**32), k=st.integers(1, 4))
def test_axes_and_subspaces_are_compared_free_of_sign_and_basis(seed: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    axes, truth = rng.normal(size=(10, 6)), rng.normal(size=6)
    signs = rng.choice([-1.0, 1.0], 10)
    np.testing.assert_array_equal(axis_distance(axes, truth), axis_distance(signs[:, None] * axes, -truth))
    one, other = rng.normal(size=(2, k, 6))
    mixed = rng.normal(size=(k, k)) @ one
    overlap = subspace_overlap(one, other)
    assert 0.0 <= overlap <= 1.0
    assert subspace_overlap(mixed, other) == pytest.approx(overlap, abs=1e-6)
    assert subspace_overlap(mixed, one) == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize(
    ("X", "y", "answers"), [([1.0], [1.0], [1.0]), ([[1.0]], [1.0, 2.0], [1.0, 2.0]), ([[1.0]], [1.0], [[1.0]])]
)
def test_rows_that_do_not_belong_together_are_refused(X, y, answers) -> None:
    with pytest.raises(InvalidInput, match="the same number of rows"):
        Regret(BestWeights()).update(X, y, answers)
    with pytest.raises(InvalidInput, match="2 features of the known weights, got 1"):
        Regret(KnownWeights([1.0, 2.0])).update([[1.0]], [1.0], [1.0])
    regret = Regret(BestWeights())
    before = regret.update([[1.0], [2.0]], [1.0, 5.0], [0.0, 0.0])
    with pytest.raises(InvalidInput, match="keep their numbers of features"):
        regret.update([[1.0, 2.0]], [1.0], [1.0])
    assert regret.update([[0.0]], [0.0], [0.0]).regret == pytest.approx(before.regret[-1])


# ---- what is refused, and what is not ------------------------------------------------------------------


@pytest.mark.parametrize("weights", [[1.0, 2.0], [[1.0, 2.0]]])
def test_a_column_of_targets_is_compared_as_a_row_of_them(weights) -> None:
    rng = np.random.default_rng(3)
    X, y, answers = rng.normal(size=(20, 2)), rng.normal(size=20), rng.normal(size=20)
    expected = np.cumsum((y - answers) ** 2 - (y - X @ [1.0, 2.0] - 0.5) ** 2)
    reference = KnownWeights(weights, 0.5)
    np.testing.assert_allclose(Regret(reference).update(X, y, answers).regret, expected)
    column = Regret(reference).update(X, y[:, np.newaxis], answers[:, np.newaxis])
    np.testing.assert_allclose(column.regret, expected)
    with pytest.raises(InvalidInput, match="1 outputs of the known weights, got 2"):
        Regret(reference).update(X, np.column_stack([y, y]), np.column_stack([y, y]))


REFERENCES = [KnownWeights([1.0, 2.0]), BestWeights(), BestWeights(intercept=True), KnownLine([1.0, 2.0])]


@pytest.mark.parametrize("reference", REFERENCES)
def test_no_rows_and_refused_rows_change_nothing(reference) -> None:
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(6, 2)), np.array([0, 1, 1, 0, 1, 0])
    plain, disturbed = Regret(reference), Regret(reference)
    empty = disturbed.update(np.empty((0, 2)), np.empty(0), np.empty(0))
    assert empty.start == 0
    assert empty.regret.shape == (0,)
    for part in (slice(0, 3), slice(3, 6)):
        for bad in (np.nan, np.inf):
            with pytest.raises(InvalidInput, match="X must hold finite numbers"):
                disturbed.update(np.full((1, 2), bad), [0], [0])
            with pytest.raises(InvalidInput, match="y must"):
                disturbed.update(np.ones((1, 2)), [bad], [0])
        with pytest.raises(InvalidInput, match="y must"):
            disturbed.update(np.ones((1, 2)), ["spam"], ["spam"])
        with pytest.raises(InvalidInput, match="X must hold numbers"):
            disturbed.update([["a", "b"]], [0], [0])
        disturbed.update([], [], [])
        one, other = (each.update(X[part], y[part], 1 - y[part]) for each in (plain, disturbed))
        assert one.start == other.start
        np.testing.assert_array_equal(one.regret, other.regret)


@pytest.mark.parametrize("reference", REFERENCES)
def test_truth_values_are_numbers(reference) -> None:
    X, y, answers = np.random.default_rng(5).normal(size=(6, 2)), np.arange(6) % 2, np.arange(6) % 3 > 0
    told = Regret(reference).update(X, y == 1, answers).regret
    np.testing.assert_array_equal(told, Regret(reference).update(X, y, answers.astype(int)).regret)


def test_a_known_line_says_which_labels_it_knows() -> None:
    X, y = [[1.0], [-1.0]], ["ham", "spam"]
    with pytest.raises(InvalidInput, match=r"labels of the known line, \(0, 1\), got '(ham|spam)'"):
        Regret(KnownLine([1.0])).update(X, y, y)
    record = Regret(KnownLine([1.0], labels=("spam", "ham"))).update(X, y, ["ham", "ham"])
    np.testing.assert_array_equal(record.regret, [0.0, 1.0])
    with pytest.raises(InvalidParameter, match="two different labels"):
        KnownLine([1.0], labels=(1, 1))


def test_references_with_the_same_weights_are_the_same() -> None:
    for make in (KnownWeights, KnownLine):
        assert make(np.array([1.0, 2.0])) == make([1, 2])
        assert hash(make(np.array([1.0, 2.0]))) == hash(make([1, 2]))
        assert make([1.0, 2.0]) != make([1.0, 3.0])
        with pytest.raises(InvalidParameter, match="'weights' parameter"):
            make([np.nan])
    assert KnownWeights(np.eye(2), np.ones(2)) == KnownWeights([[1, 0], [0, 1]], (1, 1))
    with pytest.raises(InvalidParameter, match="'intercept' parameter"):
        KnownWeights(np.eye(2), np.ones(3))


def test_dependent_components_span_fewer_dimensions() -> None:
    plane = np.eye(3)[:2]
    for components, expected in (
        ([[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]], 0.5),
        (np.zeros((2, 3)), 0.0),
        ([[1.0, 0.0, 0.0], [0.0, 1e-20, 0.0]], 1.0),
        (np.eye(3), 2 / 3),
        (np.eye(3)[2:], 0.0),
    ):
        assert subspace_overlap(components, plane) == pytest.approx(expected, abs=1e-12)
        assert subspace_overlap(plane, components) == pytest.approx(expected, abs=1e-12)
    assert subspace_overlap(np.zeros((1, 3)), np.zeros((1, 3))) == 0.0
    with pytest.raises(InvalidInput, match="as many features"):
        subspace_overlap(np.eye(2), np.eye(3))
