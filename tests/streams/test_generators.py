"""The papers' generators against their words."""

from __future__ import annotations

import collections
import itertools
import math

import numpy as np
import pytest
import scipy.stats

from thalweg.errors import InvalidInput
from thalweg.streams import (
    SEA,
    DriftingTopics,
    Fraud,
    FriedmanDrift,
    LinearResponse,
    MovingPlane,
    RandomRBFDrift,
    RotatingCheckerboard,
    Stagger,
    TurningXOR,
    WanderingDisc,
)
from thalweg.streams.responses import FriedmanChange

SIZES, COLOURS, SHAPES = (
    ("small", "medium", "large"),
    ("red", "green", "blue"),
    ("square", "circular", "triangular"),
)
CONCEPTS = (
    lambda size, colour, shape: size == "small" and colour == "red",
    lambda size, colour, shape: colour == "green" or shape == "circular",
    lambda size, colour, shape: size in ("small", "large"),
)


@pytest.mark.parametrize(
    ("time", "concept"), [(0, 0), (39, 0), (40, 1), (79, 1), (80, 2), (119, 2), (120, 0), (165, 1)]
)
def test_stagger_labels_all_27_objects_by_the_concept_in_force(time: int, concept: int) -> None:
    stream = Stagger()
    for thing in itertools.product(SIZES, COLOURS, SHAPES):
        words = {f"size={thing[0]}", f"colour={thing[1]}", f"shape={thing[2]}"}
        row = [float(name in words) for name in stream.feature_names]
        assert stream.concept(time).label([row]) == [int(CONCEPTS[concept](*thing))]


def test_stagger_draws_every_object_equally_often() -> None:
    X, _ = Stagger(seed=2).take(27_000)
    assert (X.reshape(-1, 3, 3).sum(axis=2) == 1.0).all()
    _, counts = np.unique(X, axis=0, return_counts=True)
    assert len(counts) == 27
    # chi-square with 26 degrees of freedom: above 54.05 with probability 0.001
    assert ((counts - 1000.0) ** 2 / 1000.0).sum() < 54.05


def test_stagger_protocol() -> None:
    stream = Stagger()
    assert (stream.length, stream.n_features, stream.classes.tolist()) == (120, 9, [0, 1])
    assert stream.concept(50).bayes_error == 0.0


@pytest.mark.parametrize("time", [0, 1, 45, 90, 200, 359, 360, 361])
def test_moving_plane_turns_one_degree_a_row(time: int) -> None:
    X, y = MovingPlane(seed=4).concept(time).draw(200)
    for (x1, x2), label in zip(X, y, strict=True):
        beyond = math.remainder(math.degrees(math.atan2(x2, x1)) - time, 360.0)
        assert label == (abs(beyond) < 90.0)


def test_moving_plane_fills_the_square_and_its_classes_are_balanced() -> None:
    stream = MovingPlane(seed=4)
    X, y = stream.take(20_000)
    assert stream.length == 360
    assert (abs(X) <= 1.0).all()
    cells, _, _ = np.histogram2d(X[:, 0], X[:, 1], bins=4, range=[[-1, 1], [-1, 1]])
    # chi-square with 15 degrees of freedom: above 37.7 with probability 0.001
    assert ((cells - 1250.0) ** 2 / 1250.0).sum() < 37.7
    assert abs(y.mean() - 0.5) < 0.015


def test_a_turn_at_another_speed() -> None:
    assert MovingPlane(degrees_per_row=0.25).length == 1440
    rows = [[0.3, 0.9], [-0.2, 0.1], [0.7, -0.7]]
    slow, quick = MovingPlane(degrees_per_row=0.25), MovingPlane()
    np.testing.assert_array_equal(slow.concept(4 * 77).label(rows), quick.concept(77).label(rows))


@pytest.mark.parametrize("time", [0, 1, 100, 250, 500, 999, 1000])
def test_the_checkerboard_turns_about_its_corner(time: int) -> None:
    stream = RotatingCheckerboard(length=1000)
    turn = np.linspace(0.0, 2.0 * math.pi, 1000)[time % 999]
    points = np.random.default_rng(6).random((500, 2))
    for (x1, x2), label in zip(points, stream.label_at(np.asarray(time), points), strict=True):
        turned = complex(x1, x2) * complex(math.cos(turn), math.sin(turn))
        assert label == (math.floor(turned.real / 0.5) + math.floor(turned.imag / 0.5)) % 2


def test_the_checkerboard_is_blurred_only_after_labelling() -> None:
    still, blurred = RotatingCheckerboard(seed=3, noise=0.0), RotatingCheckerboard(seed=3)
    (points, colours), (X, y) = still.take(20_000), blurred.take(20_000)
    np.testing.assert_array_equal(y, colours)
    np.testing.assert_array_equal(still.label_at(np.arange(20_000), points), y)
    assert (X - points).std(axis=0) == pytest.approx([0.01, 0.01], rel=0.03)
    cells, _, _ = np.histogram2d(points[:, 0], points[:, 1], bins=4, range=[[0, 1], [0, 1]])
    # chi-square with 15 degrees of freedom: above 37.7 with probability 0.001
    assert ((cells - 1250.0) ** 2 / 1250.0).sum() < 37.7


def test_a_linear_response_is_its_weighted_sum_and_unit_noise_scaled() -> None:
    stream = LinearResponse(seed=5, noise=0.25, drift=[0.0, 0.0, 0.0, 0.001, 0.0])
    X, y = stream.take(20_000)
    w = [1.0, -1.0, 0.5, -0.5, 2.0]
    rest = y - [sum(a * b for a, b in zip(w, x, strict=True)) + 0.001 * t * x[3] for t, x in enumerate(X.tolist())]
    assert (rest.mean(), rest.std()) == pytest.approx((0.0, 0.25), abs=0.005)
    assert scipy.stats.kstest(rest, "norm", args=(0, 0.25)).pvalue > 0.001
    assert scipy.stats.kstest(X.ravel(), "uniform").pvalue > 0.001
    assert abs(np.corrcoef(np.column_stack([X, rest]).T) - np.eye(6)).max() < 0.03
    with pytest.raises(InvalidInput, match="numbers and have no classes"):
        _ = stream.classes


def friedman(a: float, b: float, c: float, d: float, e: float) -> float:
    return 10 * math.sin(math.pi * a * b) + 20 * (c - 0.5) ** 2 + 10 * d + 5 * e


def local_response(x: list[float], change: int) -> float:
    """The corners after so many changes, each change with one condition less."""
    a, b, c, d, e = x[:5]
    low, high = [b < 0.3, c < 0.3, d > 0.7, e < 0.3], [b > 0.7, c > 0.7, d < 0.3, e > 0.7]
    if change and all(low[: 5 - change]):
        return 10 * a * b + 20 * (c - 0.5) + 10 * d + 5 * e
    if change and all(high[: 5 - change]):
        return 10 * math.cos(a * b) + 20 * (c - 0.5) + math.exp(d) + 5 * e * e
    return friedman(a, b, c, d, e)


def test_the_corners_of_a_local_friedman_drift_grow_with_each_change() -> None:
    stream = FriedmanDrift(seed=2, noise=0.0, changes=(5000, 10_000, 15_000))
    X, y = stream.take(20_000)
    np.testing.assert_allclose(y, [local_response(x, t // 5000) for t, x in enumerate(X.tolist())], atol=1e-12)
    usual = [friedman(*x[:5]) for x in X.tolist()]
    moved = (np.abs(y - usual) > 1e-9).reshape(4, 5000).mean(axis=1)
    # two corners of 0.3**4, 0.3**3 and 0.3**2 of the space; the last share has a standard deviation of 0.0055
    assert moved == pytest.approx([0.0, 0.0162, 0.054, 0.18], abs=0.02)


def test_features_of_a_friedman_drift_change_roles_at_once_or_little_by_little() -> None:
    first, second, third = [0, 1, 2, 3, 4], [3, 4, 1, 0, 2], [1, 4, 3, 2, 0]
    X, y = FriedmanDrift(seed=3, drift="recurring", noise=0.0, changes=(100, 200)).take(300)
    for t, (x, target) in enumerate(zip(X, y, strict=True)):
        assert target == pytest.approx(friedman(*x[[3, 5, 1, 0, 2] if 100 <= t < 200 else first]))
    stream = FriedmanDrift(seed=3, drift="gradual", noise=0.0, changes=(2000, 6000), transition=2000)
    X, y = stream.take(10_000)
    by_roles = [np.array([friedman(*x[roles]) for x in X]) for roles in (first, second, third)]
    is_of = np.isclose(by_roles, y).reshape(3, 5, 2000).mean(axis=2)
    expected = [[1, 0.5, 0, 0, 0], [0, 0.5, 1, 0.5, 0], [0, 0, 0, 0.5, 1]]
    np.testing.assert_allclose(is_of, expected, atol=0.04)  # a share of a half has a standard deviation of 0.011
    rest = FriedmanDrift(seed=3, noise=2.0).take()[1] - FriedmanDrift(seed=3, noise=0.0).take()[1]
    assert scipy.stats.kstest(rest, "norm", args=(0, 2.0)).pvalue > 0.001


@pytest.mark.parametrize(
    ("drift", "rivers"), [("local", "lea"), ("recurring", "gra"), ("gradual", "gsg")], ids=lambda name: name
)
def test_a_friedman_drift_has_the_concepts_of_rivers(drift: FriedmanChange, rivers: str) -> None:
    synth = pytest.importorskip("river.datasets.synth")
    changes = (100, 200, 300) if drift == "local" else (100, 200)
    pairs = list(itertools.islice(synth.FriedmanDrift(rivers, changes, transition_window=0, seed=1), 400))
    X, y = np.array([list(x.values()) for x, _ in pairs]), np.array([target for _, target in pairs])
    rest = y - FriedmanDrift(drift=drift, changes=changes).response_at(np.arange(400), X)
    assert scipy.stats.kstest(rest, "norm").pvalue > 0.001  # of another concept it would be far from it


def test_the_checkerboards_grid_lies_on_the_board_of_its_time() -> None:
    stream = RotatingCheckerboard(length=700)
    for time in (0, 100, 350):
        points, colours = stream.grid_at(time)
        np.testing.assert_allclose(points, [(i / 50, j / 50) for i in range(51) for j in range(51)], atol=1e-15)
        np.testing.assert_array_equal(colours, stream.label_at(np.asarray(time), points))
    assert stream.concept(5).bayes_error is None
    assert stream.clean.concept(5).bayes_error == 0.0


@pytest.mark.parametrize(
    ("time", "threshold"), [(0, 8), (12_499, 8), (12_500, 9), (25_000, 7), (37_500, 9.5), (49_999, 9.5), (50_000, 8)]
)
def test_sea_labels_by_the_threshold_in_force(time: int, threshold: float) -> None:
    stream = SEA(seed=2)
    assert stream.length == 50_000
    X, y = stream.clean.concept(time).draw(500)
    for (x1, x2, _), label in zip(X, y, strict=True):
        assert label == (x1 + x2 >= threshold)


def test_sea_turns_a_tenth_of_the_labels_round_and_nothing_else() -> None:
    stream = SEA(seed=2)
    (X, y), (clean_X, clean_y) = stream.take(), stream.clean.take()
    np.testing.assert_array_equal(X, clean_X)
    turned = y != clean_y
    # a share of 0.1 of 50,000 rows has a standard deviation of 0.0013; of 25,000 rows, 0.0019
    assert turned.mean() == pytest.approx(0.1, abs=0.0045)
    for label in (0, 1):
        assert turned[clean_y == label].mean() == pytest.approx(0.1, abs=0.008)
    for column in X.T:
        counts, _ = np.histogram(column, bins=10, range=(0, 10))
        # chi-square with 9 degrees of freedom: above 27.9 with probability 0.001
        assert ((counts - 5000.0) ** 2 / 5000.0).sum() < 27.9
    assert stream.concept(7).bayes_error == 0.1


@pytest.mark.parametrize("time", [0, 1, 999, 1500, 5999, 6000])
def test_the_disc_is_where_its_centre_is(time: int) -> None:
    X, y = WanderingDisc(seed=4).concept(time).draw(400)
    centre = complex(math.cos(math.tau * time / 6000), math.sin(math.tau * time / 6000))
    for (x1, x2, *_), label in zip(X, y, strict=True):
        assert label == (abs(complex(x1, x2) - centre) > 1.2)
    assert 0.05 < y.mean() < 0.95
    assert X.shape == (400, 5)


@pytest.mark.parametrize("time", [0, 1, 999, 1500, 2999, 11_999, 12_000])
def test_the_xor_turns_once_in_its_length(time: int) -> None:
    X, y = TurningXOR(seed=4).clean.concept(time).draw(400)
    for (x1, x2, *_), label in zip(X, y, strict=True):
        quadrant = math.floor((math.atan2(x2, x1) + math.tau * time / 12_000) / (math.pi / 2.0))
        assert label == (quadrant % 2 == 0)


def test_the_xor_flips_a_twentieth_of_the_labels_and_draws_normal_features() -> None:
    stream = TurningXOR(seed=2, length=40_000)
    (X, y), (clean_X, clean_y) = stream.take(), stream.clean.take()
    np.testing.assert_array_equal(X, clean_X)
    # a share of 0.05 of 20,000 rows has a standard deviation of 0.0015
    for label in (0, 1):
        assert (y != clean_y)[clean_y == label].mean() == pytest.approx(0.05, abs=0.005)
    for rows in (X, WanderingDisc(seed=2).take()[0]):
        assert all(scipy.stats.kstest(column, "norm").pvalue > 0.001 for column in rows.T)
        assert abs(np.corrcoef(rows.T) - np.eye(5)).max() < 0.04
    assert (stream.concept(7).bayes_error, stream.clean.concept(7).bayes_error) == (0.05, 0.0)


def test_rbf_centroids_move_at_their_speed_and_stay_in_the_cube() -> None:
    stream = RandomRBFDrift(seed=3, speed=0.004, centroids=12)
    path = np.array([stream.centroids_at(time) for time in range(3000)])
    assert ((path >= 0.0) & (path <= 1.0)).all()
    steps = np.linalg.norm(np.diff(path, axis=0), axis=2)
    assert steps.max() <= 0.004 + 1e-12
    # a step is shorter only where a wall was met in it
    assert np.median(steps) == pytest.approx(0.004, abs=1e-12)
    walled = (np.diff(np.sign(np.diff(path, axis=0)), axis=0) != 0).any(axis=2)
    assert walled.any(axis=0).all()


def test_rbf_rows_surround_the_centroids_of_their_class() -> None:
    stream = RandomRBFDrift(seed=3, features=3, n_classes=3, centroids=9, scale=0.01)
    assert set(stream.take()[1]) == {0, 1, 2}
    for time in (0, 700, 50_000):
        X, y = stream.concept(time).draw(500)
        distances = np.linalg.norm(X[:, np.newaxis] - stream.centroids_at(time), axis=2)
        np.testing.assert_array_equal(distances.argmin(axis=1) % 3, y)
        assert distances.min(axis=1).max() < 0.05
    other = RandomRBFDrift(seed=4, features=3, n_classes=3, centroids=9)
    assert np.abs(other.centroids_at(0) - stream.centroids_at(0)).max() > 0.1


def test_rbf_rows_are_offset_by_a_normal_distance_in_any_direction() -> None:
    stream = RandomRBFDrift(seed=5, features=4, n_classes=2, centroids=2, speed=0.0)
    X, y = stream.take(20_000)
    for label, centre in enumerate(stream.centroids_at(0)):
        offsets = X[y == label] - centre
        distances = np.linalg.norm(offsets, axis=1)
        spread = math.sqrt((distances**2).mean())
        assert scipy.stats.kstest(distances / spread, "halfnorm").pvalue > 0.001
        assert np.abs((offsets / distances[:, np.newaxis]).mean(axis=0)).max() < 0.03


def test_fraud_is_rare_and_shifted_along_three_numbers_then_along_the_others() -> None:
    X, y = Fraud(seed=3, share=0.2, length=60_000).take()
    assert y.mean() == pytest.approx(0.2, abs=0.008)
    for rows, moved in ((slice(0, 30_000), [1, 1, 1, 0, 0, 0]), (slice(30_000, None), [0, 0, 0, 1, 1, 1])):
        fraud, honest = X[rows][y[rows] == 1], X[rows][y[rows] == 0]
        apart = fraud.mean(axis=0) - honest.mean(axis=0)
        assert apart[:6] == pytest.approx(np.array(moved) * 2.6 / math.sqrt(3), abs=0.08)
        assert honest[:, :6].std(axis=0) == pytest.approx(1.0, abs=0.03)
    np.testing.assert_array_equal(X[:, 6], np.arange(60_000))
    assert set(X[:, 7]) == set(range(300))


def test_words_of_a_text_follow_zipf_and_a_share_of_them_the_topic() -> None:
    stream = DriftingTopics(seed=3, n_classes=3, share=0.2, topic_words=20, words=30, rows_per_topic=10**9)
    X, y = stream.take(6000)
    texts = [text.split() for text in X[:, 0]]
    lengths = np.array([len(text) for text in texts])
    assert abs(np.median(lengths) - 30) <= 1
    assert lengths.max() <= 120
    counts = [collections.Counter(itertools.chain(*itertools.compress(texts, y == label))) for label in range(3)]
    total = sum(counts, collections.Counter())
    ranked = total.most_common(2)
    # ranks 0 and 1 of Zipf's law: (1 + shift) / (0 + shift)
    assert ranked[0][1] / ranked[1][1] == pytest.approx(3.7 / 2.7, rel=0.05)
    for label, own in enumerate(counts):
        others = sum((count for place, count in enumerate(counts) if place != label), collections.Counter())
        telling = [word for word, count in own.items() if count > 10 * (others[word] + 1)]
        assert 10 <= len(telling) <= 20
        assert sum(own[word] for word in telling) / own.total() == pytest.approx(0.2, abs=0.03)


@pytest.mark.slow
def test_topics_drift_gradually_and_change_at_once() -> None:
    def frequencies(stream: DriftingTopics, time: int, label: int) -> collections.Counter[str]:
        X, y = stream.concept(time).draw(1500)
        counts = collections.Counter(" ".join(X[y == label, 0]).split())
        return collections.Counter({word: count / counts.total() for word, count in counts.items()})

    def distance(one: collections.Counter[str], two: collections.Counter[str]) -> float:
        return sum(abs(one[word] - two[word]) for word in one | two) / 2

    # every word is of the topic, so that distances are those of topics
    stream = DriftingTopics(seed=1, share=1 - 1e-9, topic_words=10, rows_per_topic=1000, rows_per_change=5000)
    first = frequencies(stream, 0, 0)
    shifts = [distance(first, frequencies(stream, time, 0)) for time in (0, 250, 500, 999)]
    assert shifts == pytest.approx([0.0, 0.25, 0.5, 1.0], abs=0.05)
    assert distance(frequencies(stream, 4999, 0), frequencies(stream, 5000, 1)) < 0.05
    assert distance(frequencies(stream, 4999, 0), frequencies(stream, 5000, 0)) > 0.9


def test_labels_of_fraud_come_three_times_as_late_and_change_nothing_else() -> None:
    X, y = Fraud(seed=3, label_delay=600, share=0.1).take(20_000)
    plain, labels = Fraud(seed=3, share=0.1).take(20_000)
    assert (X[:, :-1] == plain).all()
    assert (y == labels).all()
    delays = X[:, -1] - X[:, -3]
    for label, mean in ((0, 600), (1, 1800)):
        own = delays[y == label]
        assert own.min() >= 0.5 * mean
        assert own.max() <= 1.5 * mean
        assert own.mean() == pytest.approx(mean, rel=0.02)
    assert abs(np.corrcoef(X[:, -2], delays / (600 + 1200 * y))[0, 1]) < 0.03  # the merchant says nothing of it
