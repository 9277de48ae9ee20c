"""Models that are merged without moments of rows: kernel mean machines and principal components."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from tests.examples import examples
from tests.merging.same_models import some_rows
from thalweg import CCIPCA, KernelMeanClassifier, Part, RandomFeatures, merge
from thalweg.errors import NotAdditive
from thalweg.store import dumps, loads


def pieces(some, count):
    size = len(some.y) // count
    return [some.cut(at, at + size) for at in range(0, count * size, size)]


def learned(model, some):
    return clone(model).partial_fit(some.X, some.y)


def of_classes(model):
    """Weight, mean and whole scatter of each class, by its centroids."""
    state = model._core.state()
    edges = np.cumsum([0, *state["counts"]])
    for start, stop in pairwise(edges):
        weight, scatter = state["centroid_table"][start:stop, :2].T
        at = state["centroids"][start:stop]
        mean = weight @ at / weight.sum()
        yield weight.sum(), mean, scatter.sum() + (weight * ((at - mean) ** 2).sum(axis=1)).sum()


@pytest.mark.parametrize("forgetting", [0.0, 0.02])
def test_centroids_with_room_are_those_of_one_machine(forgetting):
    some = some_rows(120)
    model = KernelMeanClassifier(budget=200, sigma=0.5, forgetting=forgetting)
    merged, whole = merge([learned(model, piece) for piece in pieces(some, 3)]), learned(model, some)
    np.testing.assert_allclose(merged.predict_proba(some.X), whole.predict_proba(some.X), rtol=0, atol=1e-12)
    both = (each.partial_fit(some.X, some.y) for each in (loads(dumps(merged)), whole))
    np.testing.assert_allclose(*(each.predict_proba(some.X) for each in both), rtol=0, atol=1e-12)


@examples(15)
@given(budget=st.integers(1, 30), count=st.integers(2, 5))
def test_beyond_the_budget_weight_mean_and_scatter_of_each_class_stay_exact(budget, count):
    some = some_rows(120)
    model = KernelMeanClassifier(budget=budget, sigma=0.5)
    merged = merge([learned(model, piece) for piece in pieces(some, count)])
    whole = learned(model, some)
    assert (merged._core.state()["counts"] <= budget).all()
    for one, other in zip(of_classes(merged), of_classes(whole), strict=True):
        for left, right in zip(one, other, strict=True):
            np.testing.assert_allclose(left, right, rtol=1e-12, atol=1e-12)


def test_centroids_are_merged_in_the_order_of_their_prices():
    far, near = [[0.0], [10.0], [20.0]], [[0.1], [10.4], [30.0]]
    models = [KernelMeanClassifier(budget=4, sigma=1.0).partial_fit(rows, ["a"] * 3) for rows in (far, near)]
    merged = merge(models)._core.state()
    np.testing.assert_allclose(np.sort(merged["centroids"].ravel()), [0.05, 10.2, 20.0, 30.0])
    assert merged["class_weights"].item() == 6.0


def test_machines_without_a_budget_are_fitted_to_the_rows_of_both():
    some = some_rows(90)
    model = KernelMeanClassifier(progress=False)
    merged = merge([clone(model).fit(piece.X, piece.y) for piece in pieces(some, 3)])
    whole = clone(model).fit(some.X, some.y)
    assert merged.sigma_ == whole.sigma_
    np.testing.assert_allclose(merged.predict_proba(some.X), whole.predict_proba(some.X), rtol=0, atol=1e-12)


def test_classes_of_machines_are_united():
    one, other = (
        KernelMeanClassifier(budget=8, sigma=1.0).partial_fit([[at]], [name]) for at, name in ((0, "a"), (5, "b"))
    )
    for merged in (one + other, other + one):
        assert merged.predict([[1.0], [4.0]]).tolist() == ["a", "b"]


def test_what_machines_found_for_themselves_has_no_sum():
    some = some_rows(60)
    tuned = KernelMeanClassifier(budget=10, sigma=1.0).fit(some.X, some.y)
    adapting = learned(KernelMeanClassifier(budget=10), some)
    for model, reason in (
        (tuned, "each found weights for its own rows, so give rho and bias, or learn by partial_fit"),
        (adapting, "its widths are weighed by their mistakes, row by row, so give sigma"),
    ):
        with pytest.raises(NotAdditive, match=reason):
            model + model
    for model in (KernelMeanClassifier(budget=10), CCIPCA()):
        with pytest.raises(NotAdditive, match="so add whole models of it"):
            Part(model)


def elongated(count, seed):
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.normal(size=(6, 6)))[0]
    return rng.normal(size=(count, 6)) * [5.0, 3.0, 1.0, 0.5, 0.3, 0.1] @ turn + 100.0


def overlap(one, other):
    """The mean squared cosine between two planes, 1 for the same."""
    return (one @ other.T).ravel() @ (one @ other.T).ravel() / len(one)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    "parameters", [{}, {"amnesic": 0.0}, {"forgetting": 0.01}], ids=["plain", "even", "forgetting"]
)
def test_components_add_up_to_an_approximation(parameters, seed):
    X = elongated(3000, seed)
    parts = [CCIPCA(2, **parameters).partial_fit(X[at : at + 750]) for at in range(0, 3000, 750)]
    before = [dumps(part) for part in parts]
    merged, whole = merge(parts), CCIPCA(2, **parameters).partial_fit(X)
    batch = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)[2][:2]
    assert overlap(merged.components_, whole.components_) > 0.999
    assert overlap(merged.components_, batch) > overlap(whole.components_, batch) - 1e-3
    np.testing.assert_allclose(merged.mean_, whole.mean_, rtol=0, atol=1e-2 if "forgetting" in parameters else 1e-10)
    np.testing.assert_allclose(merged.explained_variance_, whole.explained_variance_, rtol=0.1)
    assert merged.n_samples_seen_ == 3000
    assert [dumps(part) for part in parts] == before
    assert overlap(loads(dumps(merged)).partial_fit(X).components_, batch) > 0.99


def test_components_of_few_rows_begin_when_there_is_a_direction():
    one, other = CCIPCA(3).partial_fit([[0.0, 0.0, 1.0]]), CCIPCA(3).partial_fit([[4.0, 0.0, 1.0]])
    merged = one + other
    np.testing.assert_allclose(merged.components_, [[1.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    np.testing.assert_allclose(merged.explained_variance_, [4.0, 0.0, 0.0])
    same = CCIPCA(1).partial_fit([[1.0, 2.0]]) + CCIPCA(1).partial_fit([[1.0, 2.0]])
    assert same.components_.tolist() == [[0.0, 0.0]]


def test_random_features_have_nothing_to_add():
    one = RandomFeatures(8).fit([[0.0, 1.0]])
    np.testing.assert_array_equal((one + RandomFeatures(8).fit([[5.0, 1.0]])).frequencies_, one.frequencies_)
