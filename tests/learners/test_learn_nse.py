"""Learn++.NSE: the weights of the definition, stacked members, blocks, classes that come and go, pruning."""

from __future__ import annotations

import copy
import math
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from tests.examples import examples
from tests.learners.drifting_blocks import blocks_of
from thalweg import KernelMeanClassifier, LearnNSE, OnlineLDC
from thalweg.errors import InvalidParameter
from thalweg.learners.learn_nse.weights import ballots
from thalweg.store import dumps

# ---------------------------------------------------------------------- the definition


class SlowLearnNSE:
    """The paper's figure 1, one number at a time, with every error ever made."""

    def __init__(self, base, weighting, slope, crossing):
        self.base, self.weighting, self.slope, self.crossing = base, weighting, slope, crossing
        self.members, self.beta, self.epsilon, self.W = [], [], [], []

    def answers(self, X):
        weights = self.W if any(self.W) else [0.0] * (len(self.W) - 1) + [1.0]
        answers = []
        for labels in zip(*(member.predict(X) for member in self.members), strict=True):
            votes = dict.fromkeys(labels, 0.0)
            for label, weight in zip(labels, weights, strict=True):
                votes[label] += weight
            answers.append(min(votes, key=lambda label: (-votes[label], label)))
        return answers

    def learn(self, X, y):
        m = len(y)
        D = [1 / m] * m
        if self.members:
            right = [answer == k for answer, k in zip(self.answers(X), y, strict=True)]
            E = sum((1 / m) * (not hit) for hit in right)
            if 0 < E < 1:
                w = [(1 / m) * (E if hit else 1) for hit in right]
                D = [each / sum(w) for each in w]
        self.members.append(clone(self.base).fit(X, y))
        self.beta.append([])
        self.epsilon.append([])
        for k, member in enumerate(self.members):
            answers = member.predict(X)
            epsilon = sum(d * (a != b) for d, a, b in zip(D, answers, y, strict=True))
            self.epsilon[k].append(epsilon)
            epsilon = min(epsilon, 0.5)
            self.beta[k].append(epsilon / (1 - epsilon))
        self.W = [max(0.0, math.log(1 / max(self.average(beta), 1e-3))) for beta in self.beta]

    def average(self, beta):
        a, b, n = self.slope, self.crossing, len(beta)
        if self.weighting == "age":
            omega = [1 / (1 + math.exp(min(a * (n - 1 - i - b), 700))) for i in range(n)]
            return sum(o * e for o, e in zip(omega, beta, strict=True)) / sum(omega)
        omega = [1 / (1 + math.exp(-a * (i - b))) for i in range(n)]
        if self.weighting == "lifetime":
            return sum(o * e for o, e in zip(omega, beta, strict=True)) / sum(omega)
        carried = []
        for o in omega:
            carried.append(o / (sum(carried) + o))
        return sum(o * e for o, e in zip(carried, beta, strict=True))


@pytest.mark.quick(2)
@pytest.mark.parametrize("weighting", ["age", "lifetime", "recursive"])
@pytest.mark.parametrize(("slope", "crossing"), [(0.5, 10.0), (4.0, 1.5)])  # the latter drops errors after 9 blocks
def test_weights_are_those_of_the_definition(weighting, slope, crossing):
    model = LearnNSE(GaussianNB(), weighting=weighting, slope=slope, crossing=crossing)
    slow = SlowLearnNSE(GaussianNB(), weighting, slope, crossing)
    kept = int(crossing + 33 / slope) + 1
    for t, (X, y) in enumerate(blocks_of(3, 30)):
        model.partial_fit(X, y)
        slow.learn(X, y)
        np.testing.assert_allclose(model.weights_, slow.W, rtol=1e-12, atol=1e-12)
        errors = np.full((t + 1, t + 1), np.nan)
        for k, epsilon in enumerate(slow.epsilon):
            errors[k, k:] = epsilon
        np.testing.assert_allclose(model.errors_, errors[:, -kept:], rtol=1e-12, atol=1e-15)
        assert model.predict(X).tolist() == slow.answers(X)


@examples(50)
@given(st.lists(st.floats(1e-16, 7) | st.sampled_from([0.0, math.log(1e3), 1e-16]), min_size=1, max_size=200))
def test_sums_of_ballots_are_exact(weights):
    votes = ballots(np.array(weights))
    np.testing.assert_allclose(votes.sum(), sum(weights) or 1.0, rtol=1e-13)
    exact = sum(map(Fraction, votes.tolist()))
    for order in (votes, votes[::-1], np.sort(votes)):
        assert Fraction(float(np.cumsum(order)[-1])) == exact
        assert Fraction(float(np.ones(len(order)) @ order)) == exact


# ---------------------------------------------------------------------- blocks


def test_each_call_is_a_block_and_waiting_rows_join_it():
    X, y = next(blocks_of(0, 1, rows=700))
    model = LearnNSE(GaussianNB()).partial_fit(X[:40], y[:40])
    for x, k in zip(X[40:50], y[40:50].tolist(), strict=True):
        model.learn_one(x, k)
    assert model.blocks_ == 1
    model.partial_fit(X[50:60], y[50:60])
    assert model.blocks_ == 2
    twin = LearnNSE(GaussianNB()).partial_fit(X[:40], y[:40]).partial_fit(X[40:60], y[40:60])
    assert dumps(model) == dumps(twin)
    model.predict_then_learn(X[60:], y[60:])
    assert model.blocks_ == 4  # 640 rows are two blocks of 250, and 140 wait


def test_fit_leaves_no_row_waiting():
    X, y = next(blocks_of(0, 1, rows=110))
    for rows, blocks in ((10, 1), (50, 1), (99, 1), (100, 2), (110, 2)):
        model = LearnNSE(GaussianNB(), block_size=50).fit(X[:rows], y[:rows])
        assert (model.blocks_, len(model._core.pending)) == (blocks, 0)


def test_until_the_first_block_is_full_the_most_frequent_class_answers():
    X = np.zeros((7, 2))
    y = ["b", "b", "a", "a", "a", "c", "b"]
    model = LearnNSE(GaussianNB(), block_size=50)
    assert model.predict_one(X[0]) is None
    assert model.predict_then_learn(X, y).tolist() == ["", "b", "b", "b", "a", "a", "a"]
    assert model.predict_one(X[0]) == "a"  # three and three: the lowest
    assert model.members_ == []
    assert model.weights_.shape == (0,)


def test_a_failing_base_leaves_the_blocks_before_it_and_the_rows_that_wait():
    X, y = next(blocks_of(0, 1, rows=60))
    y[40:] = np.arange(20)  # as many classes as rows
    model = LearnNSE(LinearDiscriminantAnalysis(), block_size=20)
    model.partial_fit(X[:45], y[:45])
    before = dumps(model)
    with pytest.raises(ValueError, match="number of samples"):
        model.partial_fit(X[45:], y[45:])
    assert model.blocks_ == 2
    assert len(model._core.pending) == 5
    other = LearnNSE(LinearDiscriminantAnalysis(), block_size=20)
    other.partial_fit(X[:45], y[:45], classes=np.arange(20))
    assert dumps(other) == dumps(model) != before  # the classes stay announced
    first = LearnNSE(LinearDiscriminantAnalysis(), block_size=3).partial_fit(X[:2], [0, 1], classes=[0, 1, 2])
    before = dumps(first)
    with pytest.raises(ValueError, match="number of samples"):
        first.learn_one(X[2], 2)
    assert dumps(first) == before


# ---------------------------------------------------------------------- classes


@pytest.mark.parametrize("base", [GaussianNB(), LogisticRegression(), SVC(), DecisionTreeClassifier(), OnlineLDC()])
def test_classes_may_be_missing_come_late_and_be_alone(base):
    rng = np.random.default_rng(0)
    centres = {"b": [0, 0], "d": [6, 0], "a": [0, 6], "c": [6, 6]}

    def block(*labels):
        y = np.array(labels * 10)
        return np.array([centres[k] for k in y]) + rng.normal(size=(len(y), 2)), y

    model = LearnNSE(base)
    model.partial_fit(*block("b"))  # one class only: SVC and logistic regression would refuse
    assert set(model.predict(block("a", "c")[0])) == {"b"}
    model.partial_fit(*block("d", "b"))
    model.partial_fit(*block("a", "b"))  # d is missing, a comes late and takes the lowest place
    assert model.predict(block("a", "b")[0]).tolist() == ["a", "b"] * 10
    assert [member.classes.tolist() for member in model.members_] == [["b"], ["b", "d"], ["a", "b"]]
    assert [member.born for member in model.members_] == [0, 1, 2]
    for _ in range(3):
        model.partial_fit(*block("a", "b", "c", "d"))
    X, y = block("a", "b", "c", "d")
    assert model.predict(X).tolist() == y.tolist()
    for member in model.members_:
        assert set(member.predict(X)) <= set(member.classes)


def test_at_a_tie_the_lowest_class_wins_and_without_votes_the_newest_member():
    X = np.array([[0.0], [1.0]])
    model = LearnNSE(GaussianNB())
    model.partial_fit(X, [2, 2]).partial_fit(X, [1, 1])
    model._core.weights = np.array([0.7, 0.7])
    assert model.predict(X).tolist() == [1, 1]
    model._core.weights = np.zeros(2)
    assert model.predict(X).tolist() == [1, 1]
    model._core.weights = np.array([0.7, 0.0])
    assert model.predict(X).tolist() == [2, 2]


# ---------------------------------------------------------------------- training


class Recorder(ClassifierMixin, BaseEstimator):
    """Answers as told, by its seed, and remembers what it was trained with."""

    log: ClassVar[list] = []

    def __init__(self, behave="wrong", random_state=None):
        self.behave = behave
        self.random_state = random_state

    def fit(self, X, y, sample_weight=None):
        Recorder.log.append((X.copy(), y.copy(), sample_weight, self.random_state))
        self.X_, self.y_ = X.copy(), y.copy()
        return self

    def predict(self, X):
        right = (X[:, None] == self.X_[None]).all(axis=2).argmax(axis=1)
        turned = 1 - self.y_[right]
        if self.behave == "wavering":
            keep = np.random.default_rng(self.random_state).random(len(X)) < 0.1
            return np.where(keep, 1 - turned, turned)
        return turned


@pytest.mark.parametrize(("behave", "tries", "trained"), [("wrong", 5, 2), ("wrong", 1, 1), ("wavering", 5, 5)])
def test_a_hopeless_member_is_tried_anew_only_where_chance_is_involved(behave, tries, trained):
    X, y = np.arange(40.0).reshape(20, 2), np.arange(20) % 2
    Recorder.log.clear()
    model = LearnNSE(Recorder(behave), tries=tries).partial_fit(X, y)
    assert len(Recorder.log) == trained
    assert len({seed for *_, seed in Recorder.log}) == trained
    assert model.weights_.tolist() == [0.0]  # it stays, with no vote; being the newest it decides nevertheless
    assert model.errors_[0, 0] > 0.5
    assert (model.predict(X) == model.members_[0].predict(X)).all()


def test_what_the_ensemble_got_wrong_counts_more_in_training():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), np.arange(40) % 2
    for train in ("weighted", "resampled"):
        Recorder.log.clear()
        model = LearnNSE(Recorder(), train=train, tries=1).partial_fit(X, y)
        wrong = model.predict(X) != np.r_[y[:10], 1 - y[10:]]  # the second block agrees with ten answers of the first
        assert 0 < wrong.mean() < 1
        model.partial_fit(X, np.r_[y[:10], 1 - y[10:]])
        D = np.where(wrong, 1.0, wrong.mean())
        if train == "weighted":
            np.testing.assert_allclose(Recorder.log[1][2], 40 * D / D.sum())
        else:
            drawn = (Recorder.log[1][0][:, None] == X[None]).all(axis=2)
            assert drawn.any(axis=1).all()  # only rows of the block
            assert drawn[:, wrong].sum() / drawn[:, ~wrong].sum() > wrong.sum() / (~wrong).sum()
            assert not np.array_equal(Recorder.log[1][0], X)


def test_members_have_seeds_of_their_own_and_the_same_ones_again():
    model = LearnNSE(DecisionTreeClassifier(random_state=7), random_state=4)
    for X, y in blocks_of(0, 3):
        model.partial_fit(X, y)
    seeds = [member.model.random_state for member in model.members_]
    assert len(set(seeds)) == 3
    other = LearnNSE(DecisionTreeClassifier(), random_state=5)
    for X, y in blocks_of(0, 3):
        other.partial_fit(X, y)
    assert seeds != [member.model.random_state for member in other.members_]


# ---------------------------------------------------------------------- pruning


@pytest.mark.parametrize("weighting", ["age", "lifetime", "recursive"])
def test_pruning_drops_the_oldest_or_the_worst_and_nothing_else(weighting):
    full = LearnNSE(GaussianNB(), weighting=weighting)
    aged = LearnNSE(GaussianNB(), weighting=weighting, max_members=4, pruning="age")
    worst = LearnNSE(GaussianNB(), weighting=weighting, max_members=4, pruning="error")
    for X, y in blocks_of(8, 15):
        before = [member.born for member in worst.members_] if hasattr(worst, "_core") else []
        for model in (full, aged, worst):
            model.partial_fit(X, y)
        assert [member.born for member in aged.members_] == list(range(full.blocks_))[-4:]
        now = [member.born for member in worst.members_]
        assert len(now) <= 4
        assert now[-1] == full.blocks_ - 1  # the new one always joins
        assert set(now) <= {*before, full.blocks_ - 1}
        assert len(aged.weights_) == len(aged.errors_) == len(aged.members_)
        each = np.column_stack([member.predict(X) for member in worst.members_])
        assert (worst.classes_[worst._core.members.answers(X)] == each).all()
    X, y = next(blocks_of(8, 1))
    core = copy.deepcopy(worst)._core
    core._plan = core._plan._replace(max_members=5)
    core.run(X, y)
    born = core.blocks - core.history.ages
    dropped = born[int(core.history.errors[:-1, -1].argmax())]
    worst.partial_fit(X, y)
    assert [member.born for member in worst.members_] == [block for block in born.tolist() if block != dropped]


def test_a_new_member_joins_however_bad_it_is():
    X, y = np.arange(40.0).reshape(20, 2), np.arange(20) % 2
    model = LearnNSE(Recorder(), tries=1, max_members=1, pruning="error")
    model.partial_fit(X, y).partial_fit(X, 1 - y)  # the first, always wrong, is right by now
    assert [member.born for member in model.members_] == [1]
    assert model.errors_[0, -1] == 1.0


def test_a_bounded_ensemble_has_bounded_memory():
    model = LearnNSE(OnlineLDC(0.3), block_size=10, crossing=2, slope=2, max_members=5, pruning="error")
    X, y = next(blocks_of(0, 1, rows=1000))
    y[:3] = [0, 1, 2]
    sizes = [len(dumps(model.partial_fit(X, y))) for _ in range(4)]
    assert max(sizes[1:]) <= 1.1 * sizes[0]
    assert model.blocks_ == 400
    assert model.errors_.shape == (5, 19)


# ---------------------------------------------------------------------- parameters


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"base": None}, "'base' parameter of LearnNSE must be a classifier"),
        ({"base": GaussianNB}, "'base' parameter of LearnNSE must be a classifier"),
        ({"base": LinearRegression()}, "'base' parameter of LearnNSE must be a classifier"),
        ({"slope": 0}, "'slope' parameter of LearnNSE must be a number from 1e-06"),
        ({"slope": float("nan")}, "'slope' parameter"),
        ({"slope": 100.0}, r"'slope' parameter of LearnNSE must be at most 600 when multiplied by crossing \(10\)"),
        ({"crossing": -1}, "'crossing' parameter of LearnNSE must be a number from 0"),
        ({"weighting": "youth"}, "must be one of age, lifetime, recursive, got 'youth'"),
        ({"train": "boosted"}, "'train' parameter of LearnNSE must be plain, weighted or resampled"),
        ({"base": LinearDiscriminantAnalysis(), "train": "weighted"}, "must take sample weights"),
        ({"base": KernelMeanClassifier(), "train": "weighted"}, "must take sample weights"),
        ({"tries": 0}, "'tries' parameter of LearnNSE must be an integer >= 1"),
        ({"block_size": 0}, "'block_size' parameter of LearnNSE must be an integer >= 1 or None"),
        ({"block_size": 2.5}, "'block_size' parameter"),
        ({"max_members": True, "pruning": "age"}, "'max_members' parameter"),
        ({"max_members": 3}, "'pruning' parameter of LearnNSE must come together with max_members, got None"),
        ({"pruning": "age"}, "'pruning' parameter of LearnNSE must come together with max_members, got 'age'"),
        ({"max_members": 3, "pruning": "size"}, "'pruning' parameter of LearnNSE must be \"age\""),
        ({"n_jobs": 0}, "'n_jobs' parameter"),
        ({"random_state": -1}, "'random_state' parameter"),
    ],
)
def test_parameters_are_refused_before_anything_is_learned(parameters, message):
    model = LearnNSE(**{"base": GaussianNB(), **parameters})
    with pytest.raises(InvalidParameter, match=message):
        model.partial_fit([[0.0], [1.0]], [0, 1])
    assert not hasattr(model, "classes_")
