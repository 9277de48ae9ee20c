"""Drifting Gaussians against the paper's formulas, and their Bayes error against counting."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import multivariate_normal, norm

from thalweg.errors import InvalidParameter
from thalweg.streams import Circling, DriftingGaussians, Gliding, Jumping
from thalweg.streams.drifting_gaussians import bayes_error, whitening

TILTED = [[2.0, 0.7], [0.7, 0.5]]
CLOUDS = st.integers(2, 6).flatmap(
    lambda n: st.lists(st.tuples(st.floats(-4, 4), st.floats(-4, 4)), min_size=n, max_size=n)
)


def nearest_mean_error(means: np.ndarray, covariance: np.ndarray, rows: int, seed: int) -> tuple[float, float]:
    """Error of the best rule on random rows, and its standard error."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, len(means), rows)
    X = means[y] + rng.multivariate_normal(np.zeros(means.shape[1]), covariance, rows)
    away = X[:, np.newaxis] - means
    answers = np.argmin(np.einsum("rcp,pq,rcq->rc", away, np.linalg.inv(covariance), away), axis=1)
    error = float((answers != y).mean())
    return error, np.sqrt(max(error * (1 - error), 1 / rows) / rows)


@pytest.mark.parametrize("i", [1, 2, 91, 1000, 1001, 2001, 3000, 3001, 4000])
def test_the_four_situations_have_the_papers_means_at_its_times(i: int) -> None:
    def means(scenario: str) -> np.ndarray:
        return DriftingGaussians(scenario=scenario).means_at(i - 1)  # type: ignore[arg-type]

    def opposite(degrees: float) -> list[list[float]]:
        x, y = 2 * np.cos(np.deg2rad(degrees)), 2 * np.sin(np.deg2rad(degrees))
        return [[x, y], [-x, -y]]

    first = [-0.005 + 0.005 * i, -0.005 + 0.005 * i]
    np.testing.assert_allclose(means("circular"), opposite(i - 1), atol=1e-12)
    np.testing.assert_allclose(means("crossing"), [first, [20.005 - 0.005 * i, -0.005 + 0.005 * i]], atol=1e-12)
    np.testing.assert_allclose(means("passing"), [first, [23 - 0.005 * i, 17 - 0.005 * i]], atol=1e-12)
    np.testing.assert_allclose(means("sudden"), opposite([0, 180, 270, 90][(i - 1) // 1000]), atol=1e-12)


@pytest.mark.parametrize("covariance", [2.0, TILTED])
def test_rows_have_the_asked_means_and_covariance_and_equal_classes(covariance: object) -> None:
    stream = DriftingGaussians(seed=3, scenario=Circling(n_classes=3, radius=3.0), covariance=covariance)
    X, y = stream.concept(77).draw(60_000)
    assert np.abs(np.bincount(y) / 60_000 - 1 / 3).max() < 0.008
    for k, mean in enumerate(stream.means_at(77)):
        np.testing.assert_allclose(X[y == k].mean(axis=0), mean, atol=0.04)
        np.testing.assert_allclose(np.cov(X[y == k].T), np.broadcast_to(stream.covariance, (2, 2)), atol=0.08)


def test_no_uniform_number_makes_an_infinite_row() -> None:
    X, y = DriftingGaussians().rows_from(np.array([5, 5]), np.array([[0.0] * 3, [1 - 2**-53] * 3]))
    assert np.isfinite(X).all()
    assert y.tolist() == [0, 1]


@pytest.mark.parametrize("time", [0, 700, 1999, 2000, 3999])
@pytest.mark.parametrize("scenario", ["circular", "crossing", "passing", "sudden"])
def test_two_classes_have_the_familiar_bayes_error(scenario: str, time: int) -> None:
    stream = DriftingGaussians(scenario=scenario)  # type: ignore[arg-type]
    one, other = stream.means_at(time)
    expected = norm.cdf(-np.linalg.norm(one - other) / np.sqrt(2) / 2)
    assert stream.concept(time).bayes_error == pytest.approx(expected, rel=1e-9, abs=1e-300)


@pytest.mark.slow
@given(means=CLOUDS, seed=st.integers(0, 2**30))
def test_bayes_error_is_the_error_of_the_best_rule(means: list[tuple[float, float]], seed: int) -> None:
    expected, sd = nearest_mean_error(np.array(means), np.array(TILTED), 20_000, seed)
    assert bayes_error(np.array(means) @ whitening(np.array(TILTED)).T) == pytest.approx(expected, abs=6 * sd)


def test_bayes_error_is_the_mass_of_all_but_the_likeliest_class() -> None:
    means = np.array([[1.0, 0.0], [-0.5, 1.0], [-0.5, -0.8], [0.3, 0.2]])
    step = 0.01
    points = np.stack(np.meshgrid(np.arange(-9, 9, step), np.arange(-6, 6, step)), axis=-1)
    likeliest = np.max([multivariate_normal(mean, TILTED).pdf(points) for mean in means], axis=0).sum() * step**2
    assert bayes_error(means @ whitening(np.array(TILTED)).T) == pytest.approx(1 - likeliest / 4, abs=1e-6)


def test_classes_on_a_line_and_in_one_place() -> None:
    line = np.array([[0.0], [1.0], [3.0]])
    expected = (norm.cdf(-0.5) + (norm.cdf(-0.5) + norm.cdf(-1.0)) + norm.cdf(-1.0)) / 3
    assert bayes_error(line) == pytest.approx(expected, rel=1e-12)
    assert bayes_error(np.array([[1.0, 2.0]] * 3)) == pytest.approx(2 / 3)
    nearly = bayes_error(np.array([[0.0, 0.0], [1e-9, 1e-9], [2.0, 0.0]]))
    assert nearly == pytest.approx(bayes_error(np.array([[0.0, 0.0], [0.0, 0.0], [2.0, 0.0]])), abs=1e-8)


def test_turned_into_more_dimensions_a_plane_stays_a_plane_and_space_has_no_formula() -> None:
    flat = Circling(n_classes=5).means_at(10)
    axes, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(4, 4)))
    assert bayes_error(flat @ axes[:2]) == pytest.approx(bayes_error(flat), rel=1e-9)
    assert DriftingGaussians(scenario=Gliding(np.eye(4), np.zeros((4, 4)))).concept(0).bayes_error is None


def test_streams_are_values() -> None:
    one = DriftingGaussians(covariance=np.eye(2), scenario=Jumping(jumps={5: 90}))
    same = DriftingGaussians(covariance=[[1, 0], [0, 1]], scenario=Jumping(jumps=((5, 90.0),)))
    assert one == same
    assert hash(one) == hash(same)
    assert DriftingGaussians(scenario=Circling(), length=50).take()[0].shape == (50, 2)


@pytest.mark.parametrize(
    ("mistake", "words"),
    [
        (lambda: DriftingGaussians(scenario="spiral"), "circular, crossing, passing, sudden or a motion, got 'spiral'"),
        (lambda: DriftingGaussians(scenario=["circular"]), "'scenario' parameter of DriftingGaussians"),
        (lambda: DriftingGaussians(covariance=-1.0), "'covariance' parameter of DriftingGaussians"),
        (lambda: DriftingGaussians(covariance=[[1.0, 2.0], [2.0, 1.0]]), "positive definite 2 × 2 matrix"),
        (lambda: DriftingGaussians(covariance=np.eye(3)), "positive definite 2 × 2 matrix"),
        (lambda: DriftingGaussians(covariance=[["a"]]), "matrix of finite numbers"),
        (lambda: DriftingGaussians(length=0), "'length' parameter of DriftingGaussians"),
        (lambda: Circling(radius=0), "'radius' parameter of Circling"),
        (lambda: Circling(n_classes=1), "at least 2, got 1"),
        (lambda: Circling(degrees_per_row=np.nan), "a finite number, got nan"),
        (lambda: Jumping(jumps={-1: 90}), "'jumps' parameter of Jumping"),
        (lambda: Jumping(jumps=[1000, 2000]), "map rows to degrees"),
        (lambda: Gliding([[0.0]], [[1.0]]), "at least 2 classes"),
        (lambda: Gliding(np.eye(2), np.eye(3)), r"shape of starts, \(2, 2\)"),
    ],
)
def test_a_bad_argument_is_named(mistake: object, words: str) -> None:
    with pytest.raises(InvalidParameter, match=words):
        mistake()  # type: ignore[operator]
