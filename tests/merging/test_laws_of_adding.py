"""Models that add up: equal to learning the rows in one place, in any grouping, and in any order where they may be."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from tests.examples import examples
from tests.merging.same_models import BEGIN_ONLY, IN_ANY_ORDER, IN_ORDER, assert_same, fit, learn, rows, some_rows
from thalweg import MajorityClass, OnlineLDC, Part, merge
from thalweg.store import dumps, loads

FEW = examples(12)
any_order = pytest.mark.parametrize("model", IN_ANY_ORDER.values(), ids=IN_ANY_ORDER)
in_order = pytest.mark.parametrize("model", IN_ORDER.values(), ids=IN_ORDER)
begins = pytest.mark.parametrize("model", (IN_ANY_ORDER | BEGIN_ONLY).values(), ids=IN_ANY_ORDER | BEGIN_ONLY)
cuts = st.lists(st.integers(0, 160), min_size=1, max_size=4).map(sorted)


def cut_up(some, places):
    """The rows in pieces, one of which may be empty."""
    edges = [0, *(min(place, len(some.y)) for place in places), len(some.y)]
    return [some.cut(start, stop) for start, stop in pairwise(edges)]


def parts_of(model, pieces, later=False):
    return [learn(Part(model, later=later), piece) if len(piece.y) else Part(model, later=later) for piece in pieces]


@begins
@FEW
@given(some=rows(), places=cuts, shuffled=st.randoms(use_true_random=False))
def test_parts_in_any_order_are_fit_on_all_rows(model, some, places, shuffled):
    parts = [loads(dumps(part)) for part in parts_of(model, cut_up(some, places))]
    shuffled.shuffle(parts)
    assert_same(merge(parts).fitted(), fit(clone(model), some), some.X)


@any_order
@FEW
@given(some=rows(), places=cuts)
def test_models_of_the_pieces_add_up_to_the_model_of_all_rows(model, some, places):
    pieces = [piece for piece in cut_up(some, places) if len(piece.y) >= 20 and piece.weight[:20].all()]
    models = [clone(model), *(learn(clone(model), piece) for piece in pieces)]
    if pieces:
        whole = clone(model)
        for piece in pieces:
            learn(whole, piece)
        assert_same(merge(models), whole, some.X)
        assert_same(merge(models[::-1]), whole, some.X)


@in_order
@FEW
@given(some=rows(), places=cuts)
def test_parts_in_order_of_time_follow_a_model_as_if_it_had_learned_their_rows(model, some, places):
    start, rest = some.cut(0, 40), some.cut(40)
    begun = learn(clone(model), start)
    while Part.rows_first(begun) > 0:
        begun, start = learn(clone(model), some.cut(0, len(start.y) + 10)), some.cut(0, len(start.y) + 10)
        rest = some.cut(len(start.y))
    parts = [loads(dumps(part)) for part in parts_of(model, cut_up(rest, places), later=True)]
    whole = learn(clone(begun), some) if len(rest.y) else begun
    assert_same(merge([begun, *parts]), whole, some.X)
    one_by_one = begun
    for part in parts:
        one_by_one = one_by_one + part
    assert_same(one_by_one, whole, some.X)


@pytest.mark.parametrize("model", (IN_ANY_ORDER | IN_ORDER).values(), ids=IN_ANY_ORDER | IN_ORDER)
@FEW
@given(some=rows(), places=cuts)
def test_adding_is_associative_and_where_nothing_fades_commutative(model, some, places):
    a, b, c = parts_of(model, [some.cut(0, 20), some.cut(20, 40), some.cut(40)], later=True)

    def numbers(part):
        moments = part._moments
        return np.hstack([moments.weights, (moments.means + moments.origin - some.X.mean()).ravel()]), moments.scatter

    pairs = [((a + b) + c, a + (b + c))] + ([] if a.in_order else [((a + b) + c, c + (b + a))])
    for one, other in pairs:
        for left, right in zip(numbers(one), numbers(other), strict=True):
            if left.size:
                np.testing.assert_allclose(left, right, rtol=0, atol=1e-10 * max(1.0, np.abs(right).max()))


@any_order
@FEW
@given(some=rows(least=140), at=st.integers(60, 75))
def test_what_was_added_can_be_taken_out_again(model, some, at):
    a, b = (learn(clone(model), some.cut(*piece)) for piece in ((0, at), (at, None)))
    part = learn(Part(model), some.cut(at))
    whole = learn(Part(model), some)
    assert_same((a + b) - b, a, some.X, within=1e-9)
    assert_same((a + part) - part, a, some.X, within=1e-9)
    assert_same((whole - part).fitted(), fit(clone(model), some.cut(0, at)), some.X, within=1e-9)
    assert not (a - a).__sklearn_is_fitted__()


@any_order
@FEW
@given(some=rows(least=100))
def test_a_merged_model_is_saved_loaded_and_goes_on_like_the_one_that_learned_everything(model, some):
    a, b, later = some.cut(0, 40), some.cut(40, 80), some.cut(80)
    merged = loads(dumps(loads(dumps(learn(clone(model), a))) + loads(dumps(learn(clone(model), b)))))
    whole = learn(learn(clone(model), a), b)
    assert dumps(loads(dumps(merged))) == dumps(merged)
    assert_same(learn(merged, later), learn(whole, later), some.X)


@any_order
def test_neither_side_is_changed(model):
    some = some_rows(90)
    a, b, part = learn(clone(model), some.cut(0, 40)), learn(clone(model), some.cut(40)), learn(Part(model), some)
    before = [dumps(thing) for thing in (a, b, part)]
    for result in (a + b, a + part, part + part, (a + b) - b, merge([a, b, a]), merge([a]), a + clone(model)):
        learn(result, some)
    assert [dumps(thing) for thing in (a, b, part)] == before


def test_classes_are_united_whatever_each_part_saw():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 2)), np.repeat(["a much longer name", "b", "c"], 30)
    by_class = [OnlineLDC().partial_fit(X[y == label], y[y == label]) for label in ("c", "a much longer name", "b")]
    assert_same(merge(by_class), OnlineLDC().fit(X, y), X)
    counts = MajorityClass().fit(X[:1], [True]) + MajorityClass().fit(X[:1], [False])
    assert counts.classes_.tolist() == [False, True]
    assert (merge(by_class) - by_class[0]).classes_.tolist() == ["a much longer name", "b"]
