"""Learners that decide by another's probabilities, against slow twins that are told those probabilities."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.naive_bayes import GaussianNB

from tests.examples import examples
from thalweg import (
    CostSensitive,
    LearnNSE,
    OnlineLDC,
    OnlineLogistic,
    OnlineThreshold,
    PassiveAggressive,
    PredictionSets,
    Recalibrated,
    StandardScaler,
    StreamPipeline,
    cli,
)
from thalweg.errors import InvalidParameter, ModelFileError
from thalweg.fleet import Fleet
from thalweg.store import dumps, loads

LEARNER = OnlineLDC(0.05, counts="soft")


def rows_of(seed, rows=300, classes=3, spread=1.0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, rows)
    y[:classes] = np.arange(classes)  # the first row of each: its probability was zero
    return rng.normal(size=(rows, 2)) + spread * y[:, None], y


def judged(X, y, delay, learner=LEARNER):
    """For each row the probabilities now, and those that it is judged by: of the learner some rows ago, or None."""
    models, now, then = [learner], [], []
    classes, stride = np.unique(y), max(1, delay // 4)

    def asked(model, x):
        by_label = dict(zip(model.classes_.tolist(), model.predict_proba(x[None])[0], strict=True))
        return np.array([by_label.get(label, 0.0) for label in classes.tolist()])

    for t, (x, k) in enumerate(zip(X, y.tolist(), strict=True)):
        now.append(asked(models[-1], x) if t else None)
        old = (t - delay) // stride * stride
        then.append((asked(models[old], x) if old > 0 else None) if delay else now[-1])
        models.append(copy.deepcopy(models[-1]).learn_one(x, k))
    return now, then


def log_odds(p):
    p = np.clip(p, 1e-6, 1 - 1e-6)
    return np.log(p / (1 - p))


def hats(p, grid):
    """The share of each node in a probability: linear between the two next to its log-odds."""
    return np.maximum(0, 1 - np.abs(np.clip(log_odds(p), -6, 6) - grid) / (grid[1] - grid[0]))


class SlowRecalibration:
    """Every row learned is kept, and each curve is summed over all of them."""

    def __init__(self, classes, memory):
        self.rows, self.seen, self.losses = [], np.zeros(classes, dtype=bool), np.zeros(3)
        self.fade = 1 - 1 / memory

    def opinions(self, p):
        found = [p]
        for nodes in (16, 48):
            grid = np.linspace(-6, 6, nodes)
            corrected = np.zeros_like(p)
            for c in np.flatnonzero(self.seen):
                learned = [(u * hats(q[c], grid), (k == c) - q[c]) for q, k, seen, u in self.aged() if seen[c]]
                count = sum((near for near, _ in learned), np.zeros(nodes))
                excess = sum((near * more for near, more in learned), np.zeros(nodes))
                here = hats(p[c], grid)
                corrected[c] = np.clip(p[c] + np.sum(here * excess) / (np.sum(here * count) + 5), 1e-6, 1)
            found.append(corrected / corrected.sum())
        return np.array(found)

    def aged(self):
        last = len(self.rows) - 1
        return [(*row, self.fade ** (last - i)) for i, row in enumerate(self.rows)]

    def __call__(self, p):
        shares = np.exp(-(self.losses - self.losses.min()))
        return shares @ self.opinions(p) / shares.sum()

    def learn(self, p, k):
        if self.seen[k]:
            self.losses = 0.999 * self.losses - np.log(np.maximum(self.opinions(p)[:, k], 1e-6))
        self.rows.append((p, k, self.seen.copy()))


@examples(6)
@given(seed=st.integers(0, 2**32), classes=st.integers(2, 3), delay=st.sampled_from([0, 9]))
def test_recalibration_is_the_mixed_curves_of_all_rows(seed, classes, delay):
    X, y = rows_of(seed, rows=60, classes=classes)
    model, slow = Recalibrated(LEARNER, memory=30, delay=delay), SlowRecalibration(classes, 30)
    answers = model.predict_then_learn(X, y, with_proba=True)
    for t, (now, then) in enumerate(zip(*judged(X, y, delay), strict=True)):
        if t:
            expected = slow(now)
            np.testing.assert_allclose(answers.proba[t], expected, rtol=1e-6, atol=1e-9)
        if then is not None:
            slow.learn(then, y[t])
        slow.seen[y[t]] = True


@examples(10)
@given(seed=st.integers(0, 2**32), delay=st.sampled_from([0, 3, 10]), coverage=st.floats(0.5, 0.99))
def test_sets_follow_the_misses(seed, delay, coverage):
    X, y = rows_of(seed, rows=120)
    sets = PredictionSets(LEARNER, coverage, step=0.3, delay=delay).predict_set_then_learn(X, y)
    threshold, seen = log_odds(coverage), np.zeros(3, dtype=bool)
    for t, (now, then) in enumerate(zip(*judged(X, y, delay), strict=True)):
        if t:
            margins = -log_odds(now) - threshold
            sure = np.abs(margins) > 1e-9
            assert (sets[t] == ((margins <= 0) & seen))[sure].all()
        else:
            assert not sets[0].any()
        if then is not None:
            missed = not seen[y[t]] or -log_odds(then[y[t]]) > threshold
            threshold = np.clip(threshold + 0.3 * (missed - (1 - coverage)), -15, 15)
        seen[y[t]] = True


def test_coverage_holds_through_a_change_and_sets_have_three_forms():
    X, y = rows_of(5, rows=20_000, classes=2)
    y[10_000:] = 1 - y[10_000:]
    model = PredictionSets(LEARNER, 0.9)
    sets = model.predict_set_then_learn(X, y)
    covered = sets[np.arange(len(y)), y]
    assert abs(covered.mean() - 0.9) < 0.005
    assert np.abs(covered.reshape(-1, 2000).mean(axis=1) - 0.9).max() < 0.02
    flags = model.predict_set(X[:50])
    assert model.predict_labels(X[:50]) == [np.flatnonzero(row).tolist() for row in flags]
    rows = np.arange(50)
    assert (model.follow_sets(X[:50], y[:50], rows).sets == flags).all()
    assert (
        model.predict(X[:50]).tolist()
        == LEARNER.__class__(0.05, counts="soft").partial_fit(X, y).predict(X[:50]).tolist()
    )


@examples(20)
@given(seed=st.integers(0, 2**32))
def test_costs_are_minimised_by_label(seed):
    X, y = rows_of(seed, spread=0.5)
    labels = np.array(["c", "a", "b"])
    costs = {("a", "b"): 4.0, "b": 3.0, "c": {"a": 0.25, "b": 2.0}, ("c", "nobody"): 9.0}
    # By true label and answer, both in the order a, b, c.
    matrix = np.array([[0, 4, 1], [3, 0, 3], [0.25, 2, 0]])
    model = CostSensitive(LEARNER, costs, recalibrate=False).partial_fit(X, labels[y])
    expected = model.predict_proba(X) @ matrix
    np.testing.assert_allclose(model.decision_function(X), -expected, atol=1e-12)
    assert (model.predict(X) == np.array(["a", "b", "c"])[expected.argmin(axis=1)]).all()
    assert (loads(dumps(model)).predict(X) == model.predict(X)).all()
    piped = StreamPipeline([StandardScaler(with_mean=False), CostSensitive(LEARNER, costs)]).partial_fit(X, labels[y])
    expected = piped.predict_proba(X) @ matrix
    assert (piped.predict(X) == np.array(["a", "b", "c"])[expected.argmin(axis=1)]).all()
    answers, proba = piped._codes_and_proba(X)
    assert (answers == expected.argmin(axis=1)).all()
    np.testing.assert_array_equal(proba, piped.predict_proba(X))


def test_misses_and_false_alarms_have_costs_and_balanced_ones_their_shares():
    rng = np.random.default_rng(1)
    y = (rng.random(6000) < 0.1).astype(int)
    X = rng.normal(size=(6000, 2)) + y[:, None]
    kinds = CostSensitive(LEARNER, {"fp": 1, "fn": 4}, positive=0, recalibrate=False).partial_fit(X, y)
    p = kinds.predict_proba(X)
    assert (kinds.predict(X) == (p[:, 1] > 4 * p[:, 0])).all()
    balanced = CostSensitive(LEARNER, recalibrate=False).partial_fit(X, y)
    shares = balanced._core.state()["class_shares"].ravel()
    assert abs(shares[1] - 0.1) < 0.02
    p = balanced.predict_proba(X)
    assert (balanced.predict(X) == (p / shares).argmax(axis=1)).all()


@examples(12)
@given(
    seed=st.integers(0, 2**32),
    objective=st.sampled_from(["f1", "cost", "recall", "alerts"]),
    delay=st.sampled_from([0, 5]),
)
def test_the_threshold_is_the_best_of_recent_rows(seed, objective, delay):
    X, y = rows_of(seed, rows=150, classes=2)
    options = {"recall": {"target": 0.8}, "alerts": {"target": 0.3}, "cost": {"costs": {"fp": 1.0, "fn": 3.0}}}
    model = OnlineThreshold(LEARNER, objective, memory=40, delay=delay, **options.get(objective, {})).partial_fit(X, y)
    rows = [(then[1], k) for then, k in zip(judged(X, y, delay)[1], y.tolist(), strict=True) if then is not None]
    rows = rows[0 if delay else 1 :]  # no row is judged before the positive label was seen
    ages = (1 - 1 / 40) ** np.arange(len(rows))[::-1]
    score, positive = log_odds(np.array([p for p, _ in rows])), np.array([k for _, k in rows]) == 1
    found = log_odds(model.threshold_)
    below, edges = np.floor(found / 0.25 + 1e-9) * 0.25, np.arange(-40, 41) * 0.25
    flagged = np.floor(score / 0.25) * 0.25 >= edges[:, None]
    if objective in ("recall", "alerts"):
        counted = ages * positive if objective == "recall" else ages
        target = options[objective]["target"] * counted.sum()
        reached = [(counted * (np.floor(score / 0.25) * 0.25 >= edge)).sum() for edge in (below, below + 0.25)]
        # Between two edges the share is interpolated.
        assert np.interp(found, [below, below + 0.25], reached) == pytest.approx(target, abs=1e-6)
    else:
        hits, alarms = (flagged * ages * positive).sum(axis=1), (flagged * ages * ~positive).sum(axis=1)
        whole = (ages * positive).sum()
        value = 2 * hits / (hits + alarms + whole) if objective == "f1" else -alarms - 3 * (whole - hits)
        assert value[np.isclose(edges, found)] == pytest.approx(value.max())
    assert (model.predict(X) == (log_odds(model.predict_proba(X)[:, 1]) >= found - 1e-12)).all()
    assert ((model.decision_function(X) >= 0) == (model.predict(X) == 1)).mean() > 0.99


def test_the_positive_label_is_the_last_or_the_one_given():
    X, y = rows_of(2, rows=3000, classes=3)
    for positive in (None, 0, 1):
        model = OnlineThreshold(LEARNER, "recall", target=0.95, positive=positive).partial_fit(X, y)
        label = 2 if positive is None else positive
        assert (model.predict(X)[y == label] == label).mean() > 0.9
    absent = OnlineThreshold(LEARNER, positive=9).partial_fit(X, y)
    assert np.isnan(absent.threshold_)
    assert (absent.predict(X) == absent.predict_proba(X).argmax(axis=1)).all()


@pytest.mark.quick(1)
@pytest.mark.parametrize("wrapper", [CostSensitive, OnlineThreshold, PredictionSets, Recalibrated])
def test_a_learner_in_python_may_be_inside(wrapper):
    X, y = rows_of(3, rows=40)
    foreign = wrapper(GaussianNB(), delay=5).partial_fit(X, y)
    twin = pickle.loads(pickle.dumps(foreign))
    assert (twin.partial_fit(X, y).predict(X) == foreign.partial_fit(X, y).predict(X)).all()
    with pytest.raises(ModelFileError, match="cannot be saved"):
        dumps(foreign)
    ours = wrapper(LearnNSE(OnlineLDC(0.3), block_size=8), delay=5).partial_fit(X, y)
    loaded = loads(dumps(ours))
    assert dumps(loaded.partial_fit(X, y)) == dumps(ours.partial_fit(X, y))


def test_a_fleet_takes_what_needs_no_label_by_name():
    X, y = rows_of(4, rows=200)
    keys = np.arange(200) % 3
    fleet = Fleet(Recalibrated(LEARNER, memory=20, delay=6)).partial_fit(X, y, keys)
    alone = Recalibrated(LEARNER, memory=20, delay=6).partial_fit(X[keys == 1], y[keys == 1])
    np.testing.assert_allclose(fleet.model_of(1).predict_proba(X), alone.predict_proba(X), rtol=1e-12)
    with pytest.raises(InvalidParameter, match="which label is which"):
        Fleet(CostSensitive(LEARNER, {0: 2.0})).partial_fit(X, y, keys)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (Recalibrated(LEARNER, memory=2), "'memory' parameter of Recalibrated must be a number from 10"),
        (Recalibrated(LEARNER, delay=-1), "'delay' parameter of Recalibrated must be an integer >= 0"),
        (Recalibrated("auto"), "'learner' parameter of Recalibrated must have partial_fit and predict"),
        (PredictionSets(LEARNER, 1.0), "'coverage' parameter of PredictionSets"),
        (PredictionSets(LEARNER, step=0.0), "'step' parameter of PredictionSets"),
        (CostSensitive(LEARNER, {}), "'costs' parameter of CostSensitive must be a mapping"),
        (CostSensitive(LEARNER, {"fp": -1, "fn": 1}), "costs['fp']"),
        (CostSensitive(LEARNER, {0: {1: "dear"}}), "costs[0]"),
        (OnlineThreshold(LEARNER, "recall"), "'target' parameter of OnlineThreshold must lie in (0, 1)"),
        (OnlineThreshold(LEARNER, "recall", target=1.5), "'target' parameter of OnlineThreshold must lie in (0, 1)"),
        (OnlineThreshold(LEARNER, "f1", target=0.5), "'target' parameter of OnlineThreshold must be left out"),
        (OnlineThreshold(LEARNER, "cost"), "'costs' parameter of OnlineThreshold must be"),
        (OnlineThreshold(LEARNER, "cost", costs={"fp": 1}), "'costs' parameter of OnlineThreshold must be"),
        (OnlineThreshold(LEARNER, "precision"), "'objective' parameter of OnlineThreshold"),
    ],
)
def test_parameters_are_checked(model, message):
    with pytest.raises(InvalidParameter) as refused:
        model.fit([[0.0], [1.0]], [0, 1])
    assert message in str(refused.value)


def test_probabilities_of_an_overconfident_learner_come_true():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 3))
    y = ((X[:, 0] > 0) ^ (rng.random(20_000) < 0.2)).astype(int)

    def worst_bin(model):
        p = model.predict_then_learn(X, y, with_proba=True).proba[5000:, 1]
        bins = np.minimum((10 * p).astype(int), 9)
        return max(abs(np.mean(y[5000:][bins == b] - p[bins == b])) for b in range(10) if (bins == b).sum() > 300)

    for learner in (PassiveAggressive(), OnlineLogistic(0.5)):
        assert worst_bin(learner) > 0.1
        assert worst_bin(Recalibrated(learner)) < 0.05


def test_predictions_of_a_file_have_the_probability_of_the_answer(tmp_path, capsys):
    rng = np.random.default_rng(0)
    y = (rng.random(2000) < 0.1).astype(int)
    lines = [f"{x:.3f},{label}" for x, label in zip(rng.normal(size=2000) + 2 * y, y.tolist(), strict=True)]
    table = tmp_path / "table.csv"
    table.write_text("\n".join(["x,label", *lines]) + "\n")
    arguments = ["run", str(table), "--target", "label", "--model", "cost-sensitive", "--out", str(tmp_path / "out")]
    for command in (arguments, ["predict", str(tmp_path / "out" / "model.thalweg"), str(table)]):
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            cli.main(command)
        assert not ended.value.code
    written = [line.split(",") for line in capsys.readouterr().out.splitlines()[1:]]
    assert min(float(probability) for _, _, probability in written) < 0.45
