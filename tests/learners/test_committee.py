"""The mixture, the bank and two further linear learners against slow twins; what the untuned default must show."""

from __future__ import annotations

import copy
import os
import pickle
import re
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB, MultinomialNB

from tests.examples import examples
from tests.oracles import SlowBankLane
from thalweg import AutoClassifier, Committee, OnlineLDC, OnlineLogistic, PassiveAggressive, Perceptron, TrendForecast
from thalweg.errors import InvalidParameter, NotNumbers, ThalwegError
from thalweg.evaluate import prequential
from thalweg.kernels import available_levels, compiled, load
from thalweg.learners.auto import family_of
from thalweg.learners.base.mixture import BANK_RATES
from thalweg.store import dumps, loads
from thalweg.streams import MovingPlane, Table, load_elec2


def rows_of(seed, rows=150, p=3, classes=2):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, rows)
    return rng.normal(size=(rows, p)) + y[:, None] * rng.uniform(0, 2), y


@examples(40)
@given(seed=st.integers(0, 2**32), C=st.floats(0.01, 10.0), variant=st.sampled_from(["I", "II"]))
def test_passive_aggressive_is_the_papers_rule_for_two_classes(seed, C, variant):
    X, y = rows_of(seed)
    model, w = PassiveAggressive(C, variant=variant), np.zeros(4)
    model.partial_fit(X[:1], y[:1])
    for x, k in zip(X[1:], y[1:].tolist(), strict=True):
        z, sign = np.array([1.0, *x]), 1 if k == model.classes_[-1] and k == 1 else -1
        if len(model.classes_) == 2:
            np.testing.assert_allclose(model.decision_function(x[None])[0], w @ z, rtol=1e-9, atol=1e-9)
        elif k == model.classes_[0]:  # one class is known and it came again: nothing to tell apart
            model.learn_one(x, k)
            continue
        sign = 1 if k == 1 else -1
        loss = max(0.0, 1 - sign * (w @ z))
        w += sign * z * (min(C, loss / (z @ z)) if variant == "I" else loss / (z @ z + 1 / (2 * C)))
        model.learn_one(x, k)


@examples(30)
@given(seed=st.integers(0, 2**32), rate=st.floats(0.001, 0.5), classes=st.integers(2, 4))
def test_logistic_follows_the_gradient(seed, rate, classes):
    X, y = rows_of(seed, classes=classes)
    y[:classes] = np.arange(classes)
    model, W, seen = OnlineLogistic(rate), np.zeros((classes, 4)), np.zeros(classes, dtype=bool)
    for x, k in zip(X, y.tolist(), strict=True):
        model.learn_one(x, k)
        seen[k] = True
        z = np.array([1.0, *x])
        p = np.where(seen, np.exp(W @ z - (W @ z).max()), 0.0)
        step = min(rate, 4 / (z @ z))
        W[seen] += step * np.outer((np.arange(classes) == k) - p / p.sum(), z)[seen]
    np.testing.assert_allclose(model._scores(X), np.column_stack([np.ones(len(X)), X]) @ W.T, rtol=1e-8, atol=1e-10)


@examples(20)
@given(
    seed=st.integers(0, 2**32), initial=st.sampled_from([0.001, 0.2, 1.0, 7.0]), forgetting=st.sampled_from([0.0, 0.05])
)
def test_steps_for_each_feature_are_adagrads(seed, initial, forgetting):
    X, y = rows_of(seed, classes=3)
    y[:3] = np.arange(3)
    model = OnlineLogistic(0.3, per_feature=True, initial_squares=initial, forgetting=forgetting)
    W, G, seen = np.zeros((3, 4)), np.zeros(4), np.zeros(3, dtype=bool)
    for x, k in zip(X, y.tolist(), strict=True):
        model.learn_one(x, k)
        seen[k] = True
        z = np.array([1.0, *x])
        p = np.where(seen, np.exp(W @ z - (W @ z).max()), 0.0)
        pull = np.where(seen, (np.arange(3) == k) - p / p.sum(), 0.0)
        G = (1 - forgetting) * G + (np.outer(pull, z) ** 2).sum(axis=0)
        steps = z / np.sqrt(initial + G)
        W += min(0.3, 4 / (steps @ z)) * np.outer(pull, steps)
    np.testing.assert_allclose(model._scores(X), np.column_stack([np.ones(len(X)), X]) @ W.T, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("per_feature", [False, True])
def test_products_are_features_like_others(per_feature):
    X, y = rows_of(3, rows=300, classes=3)
    near, width = np.clip(X, -3, 3), X.shape[1]
    pairs = [near[:, i] * near[:, j] - (i == j) for i in range(width) for j in range(i, width)]
    both = np.column_stack([X, *pairs])
    model = OnlineLogistic(0.05, per_feature=per_feature, products=True)
    twin = OnlineLogistic(0.05, per_feature=per_feature)
    np.testing.assert_array_equal(model.predict_then_learn(X, y), twin.predict_then_learn(both, y))
    np.testing.assert_allclose(model.predict_proba(X), twin.predict_proba(both), rtol=1e-12)


def test_products_separate_a_ring_from_what_it_surrounds():
    X = np.random.default_rng(0).normal(size=(3000, 2))
    y = (np.hypot(*X.T) > 1.2).astype(int)
    wrong = [(OnlineLogistic(0.1, products=own).predict_then_learn(X, y) != y).mean() for own in (True, False)]
    assert wrong[0] < 0.06 < 0.4 < wrong[1]


def test_products_of_sparse_rows_are_refused():
    with pytest.raises(NotNumbers, match="products"):
        OnlineLogistic(products=True).partial_fit(csr_array(np.eye(3)), [0, 1, 0])


@examples(25)
@given(seed=st.integers(0, 2**32), p=st.sampled_from([1, 2, 5, 9]), classes=st.integers(1, 3))
def test_every_lane_of_the_bank_is_a_discriminant_of_its_own(seed, p, classes):
    X, y = rows_of(seed, rows=400, p=p, classes=classes)
    core = compiled.rate_bank(p, BANK_RATES, 1e-3, 0.99, 0.5)
    lanes = [SlowBankLane(p, rate, max(BANK_RATES)) for rate in BANK_RATES]
    for code in range(classes):
        core.announce(code)
    for t, (x, k) in enumerate(zip(X, y.tolist(), strict=True)):
        core.run(x[None], np.array([k]))
        for lane in lanes:
            lane.learn(x, k)
        if t in (0, 3, 20, 399):
            state = core.state()
            for i, lane in enumerate(lanes):
                for label, mean in lane.m.items():
                    np.testing.assert_allclose(state["means"][label, i::8], mean, rtol=1e-9, atol=1e-12)
                    w = np.linalg.solve(lane.S, mean)
                    np.testing.assert_allclose(state["weights"][label, i::8], w, rtol=1e-6, atol=1e-6 * np.abs(w).max())
                    np.testing.assert_allclose(state["counts"][label, i], lane.n[label], rtol=1e-9)


def test_all_levels_agree_on_the_bank():
    X, y = rows_of(3, rows=300, p=6, classes=3)
    outcomes = []
    for level in available_levels():
        module = load(level)
        core = module.scaled(module.rate_bank(6, BANK_RATES, 1e-3, 0.99, 0.5))
        for code in range(3):
            core.announce(code)
        answers = np.empty(300, dtype=np.int64)
        core.run(X, y, answers)
        outcomes.append((answers, core.shares()))
    for answers, shares in outcomes[1:]:
        assert (answers == outcomes[0][0]).all()
        np.testing.assert_allclose(shares, outcomes[0][1], rtol=1e-9)


class SlowMixing:
    """The weights of a committee, straight from the definition."""

    def __init__(self, losses, discounts, sharpness, loss):
        self.discounts, self.sharpness, self.loss = discounts, sharpness, loss
        self.start = np.array(losses)
        self.losses = [self.start.copy() for _ in discounts]
        self.of_memories, self.rare, self.long = np.zeros(len(discounts)), self.start.copy(), self.start.copy()
        self.rows, self.judged = np.zeros(3), 0.0

    def shares(self, losses):
        weights = np.exp(-self.sharpness * (losses - losses.min()))
        return weights / weights.sum()

    def rest(self):
        return 1 - (50 + self.rows.max()) / (100 + self.rows.sum())

    def skill(self, mistakes, before):
        if len(self.discounts) == 1:
            return 1.0
        return np.clip((0.95 - (mistakes.min() + before) / (self.judged * self.rest() + 10)) / 0.1, 0, 1)

    def weights(self):
        mixed = self.shares(self.of_memories) @ [self.shares(losses) for losses in self.losses]
        if self.loss != "auto":
            return mixed
        return self.gone_over(mixed, 1 - self.skill(self.of_memories, 0))

    def gone_over(self, mixed, unskilled):
        mixed = (1 - unskilled) * mixed + unskilled * self.shares(self.long)
        rare = np.clip((0.1 - self.rest()) / 0.05, 0, 1)
        return (1 - rare) * mixed + rare * self.shares(self.rare)

    def learn(self, opinions, k, first):
        given = opinions[:, k]
        wrong = (opinions.argmax(axis=1) != k).astype(float)
        surprise = -np.log(np.maximum(given, 1e-300))
        lost = {"brier": 1 - 2 * given + (opinions**2).sum(axis=1), "log": np.minimum(5, surprise)}.get(
            self.loss, wrong
        )
        if first:
            lost = np.ones(len(opinions))
        for i, discount in enumerate(self.discounts):
            missed = first or (self.shares(self.losses[i]) @ opinions).argmax() != k
            self.of_memories[i] = 0.998 * self.of_memories[i] + missed
            self.losses[i] = discount * self.losses[i] + lost
        self.judged = 0.998 * self.judged + 1
        self.count(0 if first else np.minimum(6, surprise), k)

    def count(self, surprise, k):
        self.rows = 0.9999 * self.rows + (np.arange(3) == k)
        q = self.rest()
        self.rare = self.start.copy() if q >= 0.15 else (1 - q / 20) * self.rare + surprise
        self.long = 0.999 * self.long + surprise


@pytest.mark.quick(2)
@pytest.mark.parametrize(
    ("loss", "discount"), [("zero-one", 0.9), ("brier", 0.9), ("log", 0.9), ("auto", (0.8, 0.9, 0.97)), ("auto", 0.95)]
)
def test_the_mixture_is_the_rule(loss, discount):
    X, y = rows_of(7, rows=3000, classes=3)
    y[20:2400][np.arange(2380) % 40 > 0] = 1  # two classes are rare, and then no longer
    members = [OnlineLDC(0.1, counts="soft"), OnlineLDC(0.4), PassiveAggressive(0.1), OnlineLogistic(0.05)]
    start = [0.0, 1.5, 0.0, 3.0]
    model = Committee(members, discount=discount, sharpness=0.7, loss=loss, handicaps=start)
    given = model.predict_then_learn(X, y, with_proba=True, with_weights=True)
    opinions = np.stack(
        [type(each)(**each.get_params()).predict_then_learn(X, y, with_proba=True).proba for each in members], axis=1
    )
    twin, rest = SlowMixing(start, np.atleast_1d(discount), 0.7, loss), []
    for t, k in enumerate(y.tolist()):
        weights = twin.weights()
        np.testing.assert_allclose(given.weights[t], weights, rtol=1e-7, atol=1e-12)
        np.testing.assert_allclose(given.proba[t], weights @ opinions[t], rtol=1e-7, atol=1e-12)
        twin.learn(opinions[t], k, first=t == 0)
        rest.append(twin.rest())
    assert min(rest) < 0.05
    assert rest[-1] > 0.1


class SlowLateMixing(SlowMixing):
    """The same where labels are late, for one discount and the zero-one loss that is never rare."""

    JUDGES = ((0, 0, 1), (1, 0, 1), (0, 0.25, 0.25), (1, 0.25, 0.25), (0, 0.3, 0), (1, 0.3, 0))

    def __init__(self, *given):
        super().__init__(*given)
        self.late, self.mistakes = None, np.zeros((6, len(self.discounts)))

    def mixtures(self):
        losses = self.losses * 6 if self.late is None else [each for judge in self.late for each in judge]
        return [self.shares(each) for each in losses]

    def weights(self):
        if self.late is None:
            return super().weights()
        skill = self.skill(self.mistakes, 10)
        handicaps = np.array([4 * (skill if log else 1 - skill) for log, _, _ in self.JUDGES])
        mixed = self.shares((self.mistakes + handicaps[:, None]).ravel()) @ self.mixtures()
        return self.gone_over(mixed, (1 - skill) / 2)

    def keep(self, said):
        """What is kept of a prediction: of each member and mixture the class, of each member its log-loss in steps."""
        level = np.round(np.minimum(1, -np.log(1 - said.max(axis=1) + 1e-3) / -np.log(1e-3)) * 255)
        return said.argmax(axis=1), level, [(share @ said).argmax() for share in self.mixtures()]

    def learn_late(self, kept, would, k):
        if self.late is None:
            self.late = [[each.copy() for each in self.losses] for _ in self.JUDGES]
            self.mistakes = np.tile(self.of_memories, (6, 1))
        classes, level, mixtures = kept
        rest = np.maximum(0, np.exp(np.log(1e-3) * level / 255) - 1e-3)
        given = np.where(classes == k, 1 - rest, rest)
        surprise = lambda p: np.clip(-np.log(p + 1e-3), 0, 6)  # noqa: E731
        before = (classes != k).astype(float), surprise(given)
        now = (would.argmax(axis=1) != k).astype(float), surprise(would[:, k])
        self.mistakes = 0.999 * self.mistakes + (np.array(mixtures) != k).reshape(self.mistakes.shape)
        self.judged = 0.999 * self.judged + 1
        for judge, (log, of_said, of_would) in zip(self.late, self.JUDGES, strict=True):
            for i, discount in enumerate(self.discounts):
                judge[i] = discount * judge[i] + of_said * before[log] + of_would * now[log]
        for i, discount in enumerate(self.discounts):
            self.losses[i] = discount * self.losses[i] + now[0]
        plain = np.clip(-np.log(would[:, k]), 0, 6)
        self.count(0.5 * (plain + before[1]), k)


def test_members_are_judged_by_what_they_predicted_where_labels_are_late():
    X, y = rows_of(11, rows=700, classes=3)
    members = [OnlineLDC(0.3, counts="soft"), OnlineLDC(0.02, counts="soft"), OnlineLogistic(0.05)]
    order = [step for t in range(700) for step in ((t,) if t < 9 else (t, ~(t - 9)))]
    would_order = [step for t in range(691) for step in (t, ~t)]
    fresh = lambda each: type(each)(**each.get_params())  # noqa: E731
    said = np.stack([fresh(each).follow(X, y, order, with_proba=True)[1] for each in members], axis=1)
    would = np.stack([fresh(each).follow(X, y, would_order, with_proba=True)[1] for each in members], axis=1)
    model = Committee(members, discount=(0.9, 0.97), loss="auto")
    proba = model.follow(X, y, order, with_proba=True)[1]
    twin, kept = SlowLateMixing(np.zeros(3), [0.9, 0.97], 0.5, "auto"), {}
    for step in order:
        if step > 9:  # before that no label is known, and nothing is predicted
            expected = twin.weights() @ said[step]
            if (
                step > 40
            ):  # classes are announced where a call brings them, and have no probability before they are seen
                np.testing.assert_allclose(proba[step], expected, rtol=1e-6, atol=1e-9)
            kept[step] = twin.keep(said[step])
        elif step < 0 and ~step in kept:
            twin.learn_late(kept[~step], would[~step], y[~step])
        elif step < 0:
            twin.learn(would[~step], y[~step], first=step == -1)
    assert twin.late is not None


def test_scikit_learn_members_join_and_chunks_do_not_matter():
    X, y = rows_of(2, rows=110, classes=3)
    y[:40] = np.minimum(y[:40], 1)  # the third class comes late
    make = lambda: Committee([GaussianNB(), SGDClassifier(random_state=0), OnlineLDC(0.1, counts="soft")])  # noqa: E731
    whole, single = make(), make()
    answers = whole.predict_then_learn(X, y)
    rowwise = [single.predict_then_learn(X[i : i + 1], y[i : i + 1])[0] for i in range(110)]
    assert answers.tolist() == rowwise
    np.testing.assert_allclose(whole.weights_, single.weights_)
    assert (answers[50:] != y[50:]).mean() < 0.45
    with pytest.raises(ThalwegError, match=r"'members' parameter of Committee must be .* a learner of thalweg"):
        dumps(whole)


def test_a_committee_with_scikit_learn_members_can_be_copied_and_goes_on_alike():
    X, y = rows_of(3, rows=80, classes=3)
    model = Committee([GaussianNB(), Committee([SGDClassifier(random_state=0), Perceptron()])])
    model.partial_fit(X[:60], y[:60])
    answers = {name: twin.predict_then_learn(X[60:], y[60:]).tolist() for name, twin in copies_of(model).items()}
    assert model.predict_then_learn(X[60:], y[60:]).tolist() == answers["deepcopy"] == answers["pickle"]


def copies_of(model):
    return {"deepcopy": copy.deepcopy(model), "pickle": pickle.loads(pickle.dumps(model))}


def test_a_member_changed_where_it_stands_is_noticed():
    X, y = rows_of(0, rows=20)
    model = Committee([Perceptron(0.5), GaussianNB()]).partial_fit(X, y)
    model.members[0].rate = 0.1
    with pytest.raises(InvalidParameter, match="'members' parameter of Committee must not change"):
        model.partial_fit(X, y)
    model.fit(X, y).partial_fit(X, y)


def test_persistence_is_refused_where_labels_are_delayed():
    X, y = rows_of(0, rows=50)
    refused = (
        AutoClassifier(persistence=True),
        Committee([Perceptron()], persistence=True),
        Committee([Perceptron(), Committee([AutoClassifier(persistence=True)])]),
    )
    for model in refused:
        with pytest.raises(InvalidParameter, match=r"persistence.*label of the row before"):
            list(prequential(model, Table(X, y), delay=3))
    (record,) = prequential(AutoClassifier(), Table(X, y), delay=3)
    assert (record.predictions[:4] == -1).all()  # nothing is known until the first label has come


def test_delayed_labels_are_learned_late_and_never_seen_early():
    X, y = MovingPlane(seed=0).take(400)
    model, twin = OnlineLDC(0.1, counts="soft"), OnlineLDC(0.1, counts="soft")
    answers = np.concatenate([record.predictions for record in prequential(model, Table(X, y), delay=7, chunk=64)])
    expected = []
    for t in range(400):
        known = twin.predict_one(X[t])
        expected.append(-1 if known is None else known)
        if t >= 7:
            twin.learn_one(X[t - 7], int(y[t - 7]))
    assert answers.tolist() == expected


def two_blobs(rows, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, rows)
    X = rng.normal(size=(rows, 3))
    X[:, 0] += 3 * y
    return X, y


@pytest.mark.parametrize(
    ("model", "wild"),
    [
        (AutoClassifier(), 1e40),
        (OnlineLDC("auto", counts="soft"), 1e40),
        # an unscaled covariance takes the value's square in, and forgets it at its own rate
        (OnlineLDC(0.01, counts="soft", ridge=1e-3), 1e6),
    ],
)
def test_one_wild_value_is_forgotten(model, wild):
    X, y = two_blobs(30_000)
    X[5000, 0] = wild
    answers = model.predict_then_learn(X, y)
    assert (answers[-10_000:] != y[-10_000:]).mean() < 0.08


@pytest.mark.slow
def test_a_level_that_drifts_for_good_is_followed():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60_000)
    X = 0.3 * rng.normal(size=(60_000, 3))
    X[:, 0] += y + 0.01 * np.arange(60_000)
    answers = AutoClassifier().predict_then_learn(X, y)
    assert (answers[-20_000:] != y[-20_000:]).mean() < 0.09


class Careless(GaussianNB):
    def predict_proba(self, X):
        return np.full((len(X), len(self.classes_)), np.nan)


def test_a_member_without_an_opinion_does_not_silence_the_others():
    X, y = two_blobs(300)
    model = Committee([Careless(), OnlineLDC(0.05, counts="soft")], loss="brier")
    answers = model.predict_then_learn(X, y, with_proba=True)
    assert np.isfinite(answers.proba).all()
    assert (answers.labels[50:] != y[50:]).mean() < 0.15


class Failing(GaussianNB):
    def partial_fit(self, X, y, classes=None):
        if classes is None and X[0, 0] > 5:
            raise RuntimeError("no more")
        return super().partial_fit(X, y, classes=classes)


def test_a_member_that_fails_leaves_the_others_without_the_row():
    X, y = two_blobs(100)
    X = np.clip(X, -4, 4)
    model = Committee([OnlineLDC(0.05, counts="soft"), Failing()]).partial_fit(X, y)
    before = model.predict_proba(X)
    with pytest.raises(RuntimeError, match="no more"):
        model.learn_one([9.0, 0.0, 0.0], 1)
    np.testing.assert_array_equal(model.predict_proba(X), before)


def test_it_explains_itself():
    X, y = rows_of(1, rows=500, p=4, classes=3)
    model = AutoClassifier().partial_fit(X, y)
    assert len(model.members_) == len(model.families_) == len(model.weights_) == 31
    assert model.families_ == tuple(map(family_of, model.members_))
    assert sum(model.family_weights_.values()) == pytest.approx(1)
    assert model.left_out_ == ""
    text = model.explain()
    assert all(name in text for name in model.members_)
    of_families = re.findall(r"(linear|products|kernel|tilings|trees|shares) (0\.\d\d)", text.splitlines()[1])
    assert dict(of_families).keys() == set(model.families_)
    assert sum(float(weight) for _, weight in of_families) == pytest.approx(1, abs=0.02)
    linear = AutoClassifier(curved=False).partial_fit(X, y)
    assert linear.members_ == model.members_[:14] + model.members_[-3:]
    assert 3 < model.effective_rows_ <= 500
    assert model.class_effective_rows_.sum() == pytest.approx(model.effective_rows_)
    auto = OnlineLDC("auto", counts="soft").partial_fit(X, y)
    assert 1 < auto.effective_rows_ <= min(500, 1 / auto.rate_)
    assert OnlineLDC("auto", counts="soft").partial_fit(X[:1], y[:1]).effective_rows_ == pytest.approx(1)
    assert auto.rates_.shape == auto.weights_.shape == (7,)
    with pytest.raises(AttributeError, match="one of these for each rate"):
        _ = auto.means_
    assert loads(dumps(auto)).predict(X).tolist() == auto.predict(X).tolist()


def test_wide_rows_leave_the_bank_out_and_say_so():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    X = rng.normal(size=(60, 201)) + y[:, None]
    for begin in (AutoClassifier().fit, AutoClassifier().partial_fit):
        with pytest.warns(UserWarning, match="with 201 features the bank of .* and the kernel means are") as said:
            model = begin(X, y)
        assert said[0].filename == __file__
    copies_of(model)  # without saying it again
    assert "201 features" in model.left_out_
    assert len(model.members_) == len(model.weights_) == 21
    assert "Left out" in model.explain()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PassiveAggressive(0.0), "'C' parameter of PassiveAggressive must be a positive"),
        (lambda: PassiveAggressive(variant="III"), "'variant' parameter of PassiveAggressive"),
        (lambda: OnlineLogistic(-1.0), "'rate' parameter of OnlineLogistic"),
        (lambda: OnlineLogistic(penalty=-1.0), "'penalty' parameter of OnlineLogistic"),
        (lambda: Committee([]), "'members' parameter of Committee must be a sequence of at least one"),
        (lambda: Committee([3]), "'members' parameter of Committee must have partial_fit"),
        (lambda: Committee([Perceptron()], discount=1.0), "'discount' parameter of Committee"),
        (lambda: Committee([Perceptron()], sharpness=0.0), "'sharpness' parameter of Committee"),
        (lambda: Committee([Perceptron()], handicaps=[1.0, 2.0]), "'handicaps' .* must be 1 finite numbers >= 0"),
        (lambda: Committee([Perceptron()], handicaps=[-1.0]), "'handicaps' parameter of Committee"),
        (lambda: Committee([Perceptron()], loss="hinge"), "'loss' parameter of Committee must be one of"),
        (lambda: OnlineLDC("auto"), "'rate' parameter of OnlineLDC must come with counts=\"soft\""),
        (lambda: TrendForecast(OnlineLDC("auto", counts="soft")), "'base' parameter of TrendForecast"),
        (lambda: AutoClassifier(persistence="yes"), "'persistence' parameter of AutoClassifier"),
    ],
)
def test_bad_parameters_are_named(make, message):
    X, y = rows_of(0, rows=20)
    with pytest.raises(InvalidParameter, match=message):
        make().partial_fit(X, y)


@pytest.mark.skipif(
    not os.path.exists(os.path.join(os.environ.get("THALWEG_DATA", ""), "elec2.csv.gz")),
    reason="ELEC2 is not in the folder that THALWEG_DATA names",
)
@pytest.mark.parametrize(
    ("features", "bank", "committee"),
    [("six", 0.091, 0.079), pytest.param("paper", 0.160, 0.157, marks=pytest.mark.slow)],
)
def test_nothing_tuned_comes_out_ahead_on_elec2(features, bank, committee):
    X, y = load_elec2(features).take()
    assert (OnlineLDC("auto", counts="soft").predict_then_learn(X, y) != y).mean() <= bank
    assert (AutoClassifier().predict_then_learn(X, y) != y).mean() <= committee
    if features == "paper":
        assert (AutoClassifier(persistence=True).predict_then_learn(X, y) != y).mean() <= 0.152


def test_a_member_that_fails_at_a_new_class_is_as_it_was():
    X = np.random.default_rng(0).random((100, 3))
    y = np.where(X[:, 0] > X[:, 1], "a", "b")
    model = Committee([MultinomialNB()]).partial_fit(X, y)
    before = model.predict(X).tolist()
    with pytest.raises(ValueError, match="Negative values"):
        model.learn_one([-1.0, 0.0, 0.0], "c")
    assert model.predict(X).tolist() == before
    model.partial_fit(X, y)


def test_an_unlearned_default_has_nothing_to_explain():
    with pytest.raises(NotFittedError):
        AutoClassifier().explain()


def test_weights_are_the_same_after_saving() -> None:
    """Of labels that nothing tells, by how many came of each lately: that must be in the state."""
    rng = np.random.default_rng(7)
    model = AutoClassifier().partial_fit(rng.normal(size=(3000, 2)), rng.random(3000) < 0.2)
    np.testing.assert_array_equal(loads(dumps(model)).weights_, model.weights_)


_ALIKE = """
import hashlib, sys
import numpy as np
from tests.learners.blobs import blobs
from thalweg import AutoClassifier, Committee, OnlineLDC, TilingClassifier
from thalweg.store import dumps
X, y = blobs(600, features=4, classes=12)  # tilings retire at row 256
mass = np.resize([1.0, 0.0, 2.5], len(X))
committee = Committee([OnlineLDC(), AutoClassifier(), TilingClassifier()])
models = [AutoClassifier(), AutoClassifier(curved=False, class_weight="balanced"), committee]
some = int(sys.argv[1])
for model in models:
    model.partial_fit(X[:9], y[:9], classes=range(12))
    results = []
    for at in range(9, len(X), some):
        masses = {} if model is committee else {"sample_weight": mass[at : at + some]}
        rows, labels = X[at : at + some], y[at : at + some]
        results.append(model.predict_then_learn(rows, labels, with_proba=True, with_weights=True, **masses))
    for part in ("labels", "proba", "weights"):
        print(hashlib.sha256(np.concatenate([getattr(given, part) for given in results]).tobytes()).hexdigest())
    print(hashlib.sha256(dumps(model)).hexdigest())
"""


def test_neither_chunks_nor_threads_are_felt():
    given = set()
    for rows, threads in ((7, "1"), (1000, "1"), (100, "2"), (1000, "3")):
        environment = {**os.environ, "THALWEG_THREADS": threads}
        done = subprocess.run(
            [sys.executable, "-c", _ALIKE, str(rows)], env=environment, capture_output=True, text=True, check=True
        )
        given.add(done.stdout)
    assert len(given) == 1


@pytest.mark.parametrize(("classes", "retired"), [(6, 0), (12, 1)])
def test_tilings_retire_where_there_are_many_classes(classes, retired):
    X, y = rows_of(3, rows=300, p=4, classes=classes)
    model = AutoClassifier().partial_fit(X[:255], y[:255])
    before = len(dumps(model))
    assert model._core.state()["member0_member1_retired"] == 0
    model.partial_fit(X[255:], y[255:])
    assert model._core.state()["member0_member1_retired"] == retired
    assert (len(dumps(model)) < before) == retired
    again = loads(dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
