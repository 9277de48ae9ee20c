"""Where a model began: starts that were not over, that were singular, or that were no start at all."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from tests.examples import examples
from tests.merging.same_models import Rows, assert_same, fit, learn, some_rows
from thalweg import (
    NoChange,
    OnlineLDC,
    OnlineLinearRegression,
    Part,
    RandomFeatures,
    StandardScaler,
    StreamPipeline,
    merge,
)
from thalweg.errors import InvalidInput, NotAdditive
from thalweg.store import dumps, loads

SOFT = OnlineLDC(0.1, counts="soft", warmup=10)


@examples(20)
@given(sizes=st.lists(st.integers(1, 9), min_size=2, max_size=5))
def test_models_in_the_middle_of_their_start_add_up_to_one_in_its_start_or_behind_it(sizes):
    some = some_rows(sum(sizes), features=2)
    edges = np.cumsum([0, *sizes])
    models = [learn(OnlineLDC(warmup=20), some.cut(*piece)) for piece in pairwise(edges)]
    assert_same(merge(models), learn(OnlineLDC(warmup=20), some), some.X)


def test_parts_with_fewer_rows_than_features_lose_nothing():
    some = some_rows(60, features=12)
    parts = [learn(Part(OnlineLDC()), some.cut(at, at + 5)) for at in range(0, 60, 5)]
    assert_same(merge(parts).fitted(), OnlineLDC().fit(some.X, some.y), some.X)


def one_hot(count):
    rng = np.random.default_rng(2)
    kind, y = rng.integers(0, 3, count), rng.integers(0, 2, count)
    return Rows(np.hstack((np.eye(3)[kind], rng.normal(size=(count, 1)) + y[:, np.newaxis])), y, np.ones(count))


def test_rows_that_are_singular_together_begin_with_the_identity_as_fit_does():
    some = one_hot(80)
    begun = (learn(Part(OnlineLDC()), some.cut(0, 30)) + learn(Part(OnlineLDC()), some.cut(30, 50))).fitted()
    fitted = OnlineLDC().fit(some.X[:50], some.y[:50])
    np.testing.assert_array_equal(begun.precision_, np.eye(4))
    assert_same(begun, fitted, some.X)
    assert_same(learn(begun, some.cut(50)), learn(fitted, some.cut(50)), some.X)


@pytest.mark.parametrize("model", [OnlineLDC(), SOFT, OnlineLDC(0.5, counts="soft")], ids=["hard", "soft", "eager"])
def test_later_rows_follow_a_model_that_began_with_the_identity(model):
    some = one_hot(400)
    begun, part = learn(clone(model), some.cut(0, 40)), learn(Part(model, later=True), some.cut(40))
    whole = learn(clone(model), some)
    # Where the identity has faded the direction without variance is rounding: rows that obey it are answered alike.
    np.testing.assert_allclose((begun + part).predict_proba(some.X), whole.predict_proba(some.X), rtol=0, atol=1e-7)
    np.testing.assert_allclose((begun + part).means_, whole.means_, rtol=0, atol=1e-12)


def rows_that_repeat_at_first(count):
    some = some_rows(count, features=5)
    some.X[:40], some.y[:40] = 10 * some.X[[0, 10, 20, 30] * 10], some.y[[0, 10, 20, 30] * 10]
    return some


@pytest.mark.parametrize("begin", [fit, learn], ids=["fit", "partial_fit"])
def test_a_model_that_began_with_the_identity_is_refused_on_either_side_and_parts_are_exact_instead(begin):
    some = rows_that_repeat_at_first(240)
    first, rest = some.cut(0, 40 if begin is fit else 120), some.cut(40 if begin is fit else 120)
    singular, regular = begin(OnlineLDC(), first), begin(OnlineLDC(), rest)
    parts = [learn(Part(OnlineLDC()), each) for each in (first, rest)]
    for act in (
        lambda: singular + regular,
        lambda: regular + singular,
        lambda: singular + singular,
        lambda: merge([regular, regular, singular]),
        lambda: (regular + parts[0]) - singular,
        lambda: (singular + parts[1]) - parts[0],
    ):
        with pytest.raises(NotAdditive, match=r"and their scatter is lost\. Sum rows up by Parts instead"):
            act()
    # What the refusal advises.
    assert_same(merge(parts).fitted(), fit(OnlineLDC(), some), some.X)
    assert_same(singular + parts[1], learn(begin(OnlineLDC(), first), rest), some.X)
    assert_same(regular + parts[0], learn(begin(OnlineLDC(), rest), first), some.X)


def test_a_model_that_forgets_must_have_begun_before_later_rows_follow():
    some = some_rows(60)
    part = learn(Part(SOFT, later=True), some)
    assert Part.rows_first(SOFT) == 10
    for rows in (0, 4):
        begun = clone(SOFT).partial_fit(some.X[:rows], some.y[:rows]) if rows else clone(SOFT)
        with pytest.raises(NotAdditive, match=f"it must learn {10 - rows} more rows by itself before parts can follow"):
            begun + part
        assert dumps(begun + Part(SOFT, later=True)) == dumps(begun)  # nothing is the zero of adding here, too
    scaler = StandardScaler(forgetting=0.02).fit(some.X)
    assert [Part.rows_first(each) for each in (clone(scaler), scaler, OnlineLDC())] == [50, 0, 0]


def test_later_rows_are_no_start_and_rows_to_begin_with_do_not_come_later():
    some = some_rows(60)
    begun = learn(clone(SOFT), some)
    with pytest.raises(NotAdditive, match="later rows have faded and are no start, so use later=False"):
        learn(Part(SOFT, later=True), some).fitted()
    with pytest.raises(NotAdditive, match="it forgets, so sum later rows with later=True"):
        begun + learn(Part(SOFT), some)
    with pytest.raises(NotAdditive, match="it forgets row by row, so that their order counts"):
        Part(OnlineLinearRegression(solver="rls", forgetting=0.1))


@pytest.mark.parametrize("rate", [0.002, 0.3])
def test_many_rows_in_uneven_calls_and_a_class_that_is_forgotten(rate):
    some = some_rows(12_000)
    some.y[:60:3] = "a class of old"
    model = OnlineLDC(rate, counts="soft")
    begun, whole = learn(clone(model), some.cut(0, 100)), learn(clone(model), some)
    part = Part(model, later=True)
    for start, stop in pairwise([100, 101, 5000, 9_999, 12_000]):
        learn(part, some.cut(start, stop))
    assert_same(begun + part, whole, some.X[:100])
    hard = learn(Part(OnlineLDC()), some.cut(0, 7_000)) + learn(Part(OnlineLDC()), some.cut(7_000))
    assert_same(hard.fitted(), OnlineLDC().fit(some.X, some.y), some.X[:100])


def test_what_has_no_start_follows_nothing_as_well():
    some = some_rows(60)
    y = some.X @ [1.0, -2.0, 0.5]
    model = OnlineLinearRegression(solver="rls", forgetting=0.05)
    parts = [Part(model, later=True).learn(some.X[at : at + 20], y[at : at + 20]) for at in (0, 20, 40)]
    whole = clone(model).partial_fit(some.X, y)
    np.testing.assert_allclose(merge([model, *parts]).predict(some.X), whole.predict(some.X), rtol=0, atol=1e-10)
    last = merge([NoChange(), Part(NoChange(), later=True).learn(some.X, some.y)])
    assert last.predict_one(some.X[0]) == some.y[-1]


@pytest.mark.parametrize("last", [OnlineLDC(), OnlineLinearRegression(solver="rls", penalty=1e-3)], ids=["LDC", "rls"])
def test_a_pipeline_adds_up_where_nothing_before_its_last_step_learns(last):
    some = some_rows(400)
    y = some.y if isinstance(last, OnlineLDC) else some.X[:, 0] ** 2
    model = StreamPipeline([RandomFeatures(12, sigma=2.0), last])
    whole = clone(model).fit(some.X, y)
    parts = [loads(dumps(Part(model).learn(some.X[at : at + 100], y[at : at + 100]))) for at in range(0, 400, 100)]
    models = [clone(model).fit(some.X[:200], y[:200]), clone(model).fit(some.X[200:], y[200:])]
    answer = "decision_function" if isinstance(last, OnlineLDC) else "predict"
    for merged in (
        merge(parts).fitted(),
        merge(models),
        models[0] + (parts[2] + parts[3]),
        loads(dumps(merge(models))),
    ):
        np.testing.assert_allclose(getattr(merged, answer)(some.X), getattr(whole, answer)(some.X), rtol=0, atol=1e-8)


def test_nothing_is_the_zero_of_adding():
    some = some_rows(60)
    model, part, nothing = learn(OnlineLDC(), some), learn(Part(OnlineLDC()), some), Part(OnlineLDC())
    for same in (model + nothing, model + OnlineLDC(), OnlineLDC() + model, model - nothing, merge([model])):
        assert_same(same, model, some.X)
    for same in (part + nothing, nothing + part, part - nothing, merge([part])):
        assert_same(same.fitted(), part.fitted(), some.X)
    assert_same(OnlineLDC() + part, OnlineLDC().fit(some.X, some.y), some.X)
    assert (nothing + nothing).rows_ == (part - part).rows_ == 0
    assert not (OnlineLDC() + nothing).__sklearn_is_fitted__()
    with pytest.raises(InvalidInput, match="an OnlineLDC needs rows to begin with, got a part of none"):
        nothing.fitted()


def test_least_squares_along_a_duplicated_feature_answers_rows_that_obey_it():
    some = some_rows(5000)
    X = np.hstack((some.X, some.X[:, :1]))
    y = some.X @ [1.0, -2.0, 0.5]
    model = OnlineLinearRegression(solver="rls")
    parts = [Part(model).learn(X[at : at + 1000], y[at : at + 1000]) for at in range(0, 5000, 1000)]
    np.testing.assert_allclose(merge(parts).fitted().predict(X), y, rtol=0, atol=1e-9)
    np.testing.assert_allclose((clone(model).fit(X[:500], y[:500]) + parts[1]).predict(X), y, rtol=0, atol=1e-9)


def test_least_squares_with_fewer_rows_than_features_agrees_where_it_learned_and_with_a_penalty_everywhere():
    some, elsewhere = some_rows(12, features=20), np.random.default_rng(8).normal(size=(30, 20))
    for penalty, X in ((0.0, some.X), (1.0, elsewhere)):
        model = OnlineLinearRegression(solver="rls", penalty=penalty)
        y = np.sin(some.X[:, 0])
        a, b = (clone(model).fit(some.X[piece], y[piece]) for piece in (slice(6), slice(6, 12)))
        parts = [Part(model).learn(some.X[piece], y[piece]) for piece in (slice(6), slice(6, 12))]
        whole = clone(model).fit(some.X, y).predict(X)
        for one in (a + b, b + a, merge(parts).fitted()):
            np.testing.assert_allclose(one.predict(X), whole, rtol=0, atol=1e-12)
