"""The benchmark sets, and the generators behind three of them."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from thalweg.errors import DataUnavailable, InvalidParameter
from thalweg.streams import (
    BENCHMARK_SETS,
    BenchmarkSet,
    ConceptStream,
    DiscAndBow,
    RingNorm,
    TwoNorm,
    Waveform,
    load_benchmark,
)

at_hand = "THALWEG_DATA" in os.environ and (Path(os.environ["THALWEG_DATA"]) / "ida").is_dir()
needs_sets = pytest.mark.skipif(not at_hand, reason="THALWEG_DATA names no folder with the benchmark sets (ida/)")

#: Rows, features, training rows, splits, rows of class 1.
PUBLISHED = {
    "banana": (5300, 2, 400, 100, 2376),
    "breast_cancer": (277, 9, 200, 100, 81),
    "diabetis": (768, 8, 468, 100, 268),
    "flare_solar": (1066, 9, 666, 100, 589),
    "german": (1000, 20, 700, 100, 300),
    "heart": (270, 13, 170, 100, 120),
    "image": (2310, 18, 1300, 20, 1320),
    "ringnorm": (7400, 20, 400, 100, 3664),
    "splice": (3175, 60, 1000, 20, 1527),
    "thyroid": (215, 5, 140, 100, 65),
    "titanic": (2201, 3, 150, 100, 711),
    "twonorm": (7400, 20, 400, 100, 3703),
    "waveform": (5000, 21, 400, 100, 1647),
}
GENERATORS: dict[str, ConceptStream] = {
    "ringnorm": RingNorm(seed=1),
    "twonorm": TwoNorm(seed=1),
    "waveform": Waveform(seed=1),
}


def saved(folder: Path, **arrays: object) -> None:
    (folder / "ida").mkdir(exist_ok=True)
    np.savez(folder / "ida" / "heart.npz", **arrays)


@needs_sets
@pytest.mark.parametrize("name", BENCHMARK_SETS)
def test_a_set_is_the_published_one(name: str) -> None:
    data = load_benchmark(name)
    rows, features, training, splits, positive = PUBLISHED[name]
    assert (data.X.shape, data.train.shape) == ((rows, features), (splits, training))
    assert (np.unique(data.y).tolist(), np.count_nonzero(data.y == 1)) == ([-1, 1], positive)
    assert 0 <= data.published <= splits


def test_a_split_trains_on_its_rows_and_tests_on_all_others() -> None:
    X = np.arange(12.0).reshape(6, 2)
    data = BenchmarkSet("six", X, np.array([-1, 1, 1, -1, 1, -1]), np.array([[4, 0], [1, 2], [5, 3]]), 1)
    X_train, y_train, X_test, y_test = data.split(0)
    assert (X_train[:, 0].tolist(), y_train.tolist()) == ([0.0, 8.0], [-1, 1])
    assert (X_test[:, 0].tolist(), y_test.tolist()) == ([2.0, 4.0, 6.0, 10.0], [1, 1, -1, -1])
    X_train[:] = 99.0
    assert data.split(0).X_train[0, 0] == 0.0
    assert [split.y_train.tolist() for split in data.splits(2)] == [[-1, 1], [1, 1]]
    assert len(list(data.splits())) == len(list(data.splits(7))) == 3
    with pytest.raises(ValueError, match="read-only"):
        data.X[0, 0] = 1.0
    with pytest.raises(InvalidParameter, match="below its 3 splits, got 3"):
        data.split(3)


def test_one_hot_has_an_indicator_for_every_value_of_every_column() -> None:
    codes = np.array([[1.0, 7.0], [3.0, 7.0], [1.0, 9.0]])
    data = BenchmarkSet("codes", codes, np.array([-1, 1, 1]), np.array([[0, 1]]), 1).one_hot()
    assert data.X.tolist() == [[1, 0, 1, 0], [0, 1, 1, 0], [1, 0, 0, 1]]
    assert data.train.tolist() == [[0, 1]]


def test_a_missing_set_is_named_and_so_is_a_wrong_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match=r"'name' parameter of load_benchmark must be among banana, .* 'iris'"):
        load_benchmark("iris")
    monkeypatch.delenv("THALWEG_DATA", raising=False)
    with pytest.raises(DataUnavailable, match=r"set THALWEG_DATA to a folder that holds ida/heart\.npz"):
        load_benchmark("heart")
    monkeypatch.setenv("THALWEG_DATA", str(tmp_path))
    X, y = np.zeros((3, 2)), np.array([-1, 1, 1])
    saved(tmp_path, X=X, y=y)
    with pytest.raises(DataUnavailable, match="cannot be read"):
        load_benchmark("heart")
    for train in ([[0, 0]], [[1, 3]], [[0, 1, 2]], [0, 1], np.zeros((0, 2), dtype=int)):
        saved(tmp_path, X=X, y=y, train=train, n_real=1)
        with pytest.raises(DataUnavailable, match="do not belong together"):
            load_benchmark("heart")
    saved(tmp_path, X=X, y=y, train=[[2, 0], [0, 1]], n_real=1)
    assert load_benchmark("heart").split(0).X_test.shape == (1, 2)


@needs_sets
@pytest.mark.parametrize("name", GENERATORS)
def test_a_generator_draws_what_its_benchmark_set_holds(name: str) -> None:
    data = load_benchmark(name)
    X, y = GENERATORS[name].take(100_000)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    for label in (-1, 1):
        ours, theirs = X[y == label], data.X[data.y == label]
        # Five standard errors of 1,647 rows and more, standardised, in each of up to 21 means and 231 covariances.
        assert np.abs(ours.mean(axis=0) - theirs.mean(axis=0)).max() < 5.0 * (1.6 / len(theirs)) ** 0.5
        assert np.abs(np.cov(ours.T) - np.cov(theirs.T)).max() < 5.0 * 1.6 * (2.0 / len(theirs)) ** 0.5
        assert np.mean(y == label) == pytest.approx(np.mean(data.y == label), abs=0.03)


@pytest.mark.parametrize(("stream", "printed"), [(TwoNorm(seed=3), 0.023), (RingNorm(seed=3), 0.013)])
def test_the_bayes_error_is_the_error_of_the_likelier_class(stream: ConceptStream, printed: float) -> None:
    X, y = stream.take(200_000)
    a = 2.0 / np.sqrt(20.0)
    if isinstance(stream, TwoNorm):
        densities = [multivariate_normal(np.full(20, sign * a)).logpdf(X) for sign in (-1, 1)]
    else:
        densities = [multivariate_normal(np.full(20, a)).logpdf(X), multivariate_normal(np.zeros(20), 4.0).logpdf(X)]
    error = np.mean(np.where(densities[1] > densities[0], 1, -1) != y)
    least = stream.concept(0).bayes_error
    assert error == pytest.approx(least, abs=5.0 * np.sqrt(least / 200_000))
    assert least == pytest.approx(printed, abs=0.001)  # as Breiman prints it


@pytest.mark.slow
@pytest.mark.parametrize("features", [1, 2, 5])
def test_the_bayes_error_of_other_widths_is_the_mass_both_classes_share(features: int) -> None:
    stream = RingNorm(features=features, seed=4)
    X, y = stream.take(200_000)
    a = np.full(features, 2.0 / np.sqrt(features))
    wide = multivariate_normal(np.zeros(features), 4.0).logpdf(X) > multivariate_normal(a).logpdf(X)
    assert np.mean(np.where(wide, 1, -1) != y) == pytest.approx(stream.concept(0).bayes_error, abs=0.005)


def test_waves_have_the_peaks_of_their_class() -> None:
    X, y = Waveform(seed=5).take(60_000)
    place = np.arange(1, 22)

    def wave(peak: int) -> np.ndarray:
        return np.maximum(6 - abs(place - peak), 0)

    np.testing.assert_allclose(X[y == 1].mean(axis=0), (wave(11) + wave(7)) / 2, atol=0.06)
    others = ((wave(11) + wave(15)) / 2 + (wave(15) + wave(7)) / 2) / 2
    np.testing.assert_allclose(X[y == -1].mean(axis=0), others, atol=0.06)
    # A mixture u of two waves has variance (difference)² / 12, and the noise 1.
    np.testing.assert_allclose(X[y == 1].var(axis=0), 1 + (wave(11) - wave(7)) ** 2 / 12, atol=0.12)
    assert np.mean(y == 1) == pytest.approx(1 / 3, abs=0.01)


def test_the_disc_is_even_and_the_bow_lies_along_its_top() -> None:
    toy = DiscAndBow(seed=6)
    X, y = toy.take(60_000)
    distance, angle = np.hypot(*X.T), np.degrees(np.arctan2(X[:, 0], X[:, 1]))
    disc = y == 1
    shares, _ = np.histogram((distance[disc] / 2.0) ** 2, bins=10, range=(0, 1))
    assert shares.sum() == disc.sum()
    # chi-square with 9 degrees of freedom: above 27.9 with probability 0.001
    assert ((shares - disc.sum() / 10) ** 2 / (disc.sum() / 10)).sum() < 27.9
    assert np.abs(angle[~disc]).max() <= 60.0
    assert (distance[~disc].mean(), distance[~disc].std()) == pytest.approx((2.0, 0.25), rel=0.02)


@pytest.mark.parametrize("toy", [DiscAndBow(seed=7), DiscAndBow(seed=7, radius=1.0, blur=0.3, half_angle=180.0)])
def test_the_best_radius_of_the_toy_gives_its_bayes_error(toy: DiscAndBow) -> None:
    X, y = toy.take(200_000)
    within = np.hypot(*X.T) < toy.best_radius()
    beside = np.abs(np.degrees(np.arctan2(X[:, 0], X[:, 1]))) > toy.half_angle
    answers = np.where(within | (beside & (np.hypot(*X.T) < toy.radius)), 1, -1)
    assert np.mean(answers != y) == pytest.approx(toy.concept(0).bayes_error, abs=0.004)
