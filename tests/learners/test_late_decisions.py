"""Late labels: learners that decide by another's probabilities are judged by those that a row was predicted with."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from tests.examples import examples
from tests.learners.test_decisions import LEARNER, SlowRecalibration, log_odds, rows_of
from thalweg import (
    Committee,
    CostSensitive,
    OnlineLDC,
    OnlineThreshold,
    PredictionSets,
    Recalibrated,
    StandardScaler,
    StreamPipeline,
)
from thalweg.fleet import KeyedClassifier
from thalweg.learners.base.kept_predictions import KeptPredictions
from thalweg.papers.auto.decisions import follow_late

DELAY = 9


def kept(p):
    """Probabilities as they are kept: the six largest, by their log-odds in 65,536 steps; the others share the rest."""
    farthest, known = log_odds(1.0), np.argsort(-p, kind="stable")[:6]
    levels = np.round((log_odds(p[known]) / farthest + 1) / 2 * 65535)
    out = np.full(len(p), np.nan)
    out[known] = np.where(levels == 0, 0.0, 1 / (1 + np.exp(farthest * (1 - 2 * levels / 65535))))
    out[np.isnan(out)] = max(0.0, 1 - out[known].sum()) / max(1, len(p) - 6)
    return out


def steps_of(X, y, learner=LEARNER):
    """The steps of late labels; with each the probabilities of its row when it was predicted, None before any label.

    A row that came before any label is judged by those that it would be predicted with now.
    """
    model, said = copy.deepcopy(learner), {}

    def asked(row):
        if not model.__sklearn_is_fitted__():
            return None
        known = dict(zip(model.classes_.tolist(), model.predict_proba(X[[row]])[0], strict=True))
        return np.array([known.get(label, 0.0) for label in range(y.max() + 1)])

    for step in follow_late(len(y), DELAY).tolist():
        if step >= 0:
            said[step] = asked(step)
            yield step, said[step]
        else:
            yield step, asked(~step) if said[~step] is None else kept(said[~step])
            model.learn_one(X[~step], y[~step].item())


def followed(model, X, y, cut):
    """The predictions of two calls, the second of which gets what the first one kept."""
    order, members = follow_late(len(y), DELAY), KeptPredictions.none(len(y))
    how = model.follow_sets if isinstance(model, PredictionSets) else model.follow
    options = {} if isinstance(model, PredictionSets) else {"with_proba": True}
    found = [how(X, y, part, kept=members, **options) for part in np.split(order, [cut])]
    asked = [part[part >= 0] for part in np.split(order, [cut])]
    return [
        np.concatenate([part[rows] for part, rows in zip(parts, asked, strict=True)])
        for parts in zip(*found, strict=True)
    ]


@examples(10)
@given(seed=st.integers(0, 2**32), classes=st.sampled_from([2, 3, 8]))
def test_recalibration_is_the_mixed_curves_of_what_was_predicted(seed, classes):
    X, y = rows_of(seed, rows=60, classes=classes)
    _, proba = followed(Recalibrated(LEARNER, memory=30), X, y, cut=classes + 40)
    slow = SlowRecalibration(classes, 30)
    for step, said in steps_of(X, y):
        if step < 0:
            if said is not None:
                slow.learn(said, y[~step])
            slow.seen[y[~step]] = True
        elif said is not None and slow.seen.all():
            np.testing.assert_allclose(proba[step], slow(said), rtol=1e-6, atol=1e-9)


@examples(20)
@given(seed=st.integers(0, 2**32), coverage=st.floats(0.5, 0.99), classes=st.sampled_from([2, 3, 8]))
def test_sets_follow_the_misses_of_what_was_predicted(seed, coverage, classes):
    X, y = rows_of(seed, rows=120, classes=classes)
    *_, sets = followed(PredictionSets(LEARNER, coverage, step=0.3), X, y, cut=classes + 60)
    threshold, seen, then = log_odds(coverage), np.zeros(classes, dtype=bool), {}
    for step, said in steps_of(X, y):
        if step < 0:
            if said is not None:
                score = -log_odds(said[y[~step]])
                missed = (float(score > threshold) + float(score > then.get(~step, threshold))) / 2
                missed = missed if seen[y[~step]] else 1.0
                threshold = np.clip(threshold + 0.3 * (missed - (1 - coverage)), -15, 15)
            seen[y[~step]] = True
        elif said is not None:
            then[step] = np.float32(threshold)
            margins = -log_odds(said) - threshold
            if not seen.all():
                continue
            sure = np.abs(margins) > 1e-9
            assert (sets[step] == (margins <= 0))[sure].all()


def test_the_threshold_is_that_of_what_was_predicted():
    """With the share of alerts as its aim it is a quantile of the probabilities that were given."""
    X, y = rows_of(3, rows=400, classes=2)
    model = OnlineThreshold(LEARNER, "alerts", target=0.3, memory=1e6)
    followed(model, X, y, cut=200)
    given_then = [said[1] for step, said in steps_of(X, y) if step < 0 and said is not None]
    below = np.floor(log_odds(model.threshold_) / 0.25) * 0.25
    share = [np.mean(log_odds(np.array(given_then)) >= edge) for edge in (below, below + 0.25)]
    assert share[1] <= 0.3 <= share[0]


def test_coverage_holds_where_a_label_gives_its_neighbours_away():
    """Rows come in runs of one label: the learner knows a row's neighbours when its late label comes."""
    y = np.repeat(np.random.default_rng(0).integers(0, 2, 600), 40)
    X = np.random.default_rng(1).normal(size=(len(y), 1))
    late, rows = follow_late(len(y), 80), np.arange(len(y))
    eager = OnlineLDC(0.2, counts="soft", ridge=1e-3)
    told = PredictionSets(eager, 0.9).follow_sets(X, y, late).sets[rows, y][1000:].mean()
    assert told > 0.8
    waiting, model = [], PredictionSets(eager, 0.9)
    covered = np.zeros(len(y), dtype=bool)
    for step in late[:8000].tolist():
        if step >= 0 and waiting:
            covered[step] = model.predict_set(X[[step]])[0, np.searchsorted(model.classes_, y[step])]
        elif step < 0:
            waiting.append(step)
            model.learn_one(X[~step], y[~step].item())  # judged as the model has it by now
    assert covered[1000:4000].mean() < 0.5


def behind_nothing(last):
    """A pipeline that changes no value."""
    return StreamPipeline([StandardScaler(with_mean=False, with_std=False), last])


@pytest.mark.parametrize("wrapped", [CostSensitive(LEARNER), OnlineThreshold(LEARNER), Recalibrated(LEARNER)])
@pytest.mark.parametrize(
    "around",
    [lambda wrapped: Committee([wrapped]), behind_nothing, lambda wrapped: Committee([behind_nothing(wrapped)])],
    ids=["committee", "pipeline", "pipeline in a committee"],
)
def test_what_was_predicted_reaches_it_inside_of_others(around, wrapped):
    X, y = rows_of(8, rows=300, classes=3)
    alone, inside = followed(clone(wrapped), X, y, cut=100), followed(around(clone(wrapped)), X, y, cut=100)
    np.testing.assert_allclose(inside[1], alone[1], rtol=1e-9)


def test_a_key_is_judged_by_what_was_predicted_for_it():
    """Its mistakes are those of the predictions, and its weight G <- 0.98 G + ln q_y - ln p_y is of what was given."""
    rng = np.random.default_rng(5)
    key = rng.integers(0, 3, 400)
    X, y = np.column_stack([key, rng.normal(size=400)]), (rng.random(400) < 0.2 + 0.3 * key).astype(int)
    model, plain = KeyedClassifier(LEARNER).partial_fit(X, y), copy.deepcopy(LEARNER).partial_fit(X[:, 1:], y)
    before = [model.summary(k) for k in range(3)]
    gain = np.array([np.log(each.weight / (1 - each.weight)) for each in before])
    wrong = np.array([each.error * each.rows for each in before])
    members, said = KeptPredictions.none(400), {}
    for step in follow_late(400, DELAY).tolist():
        at = max(step, ~step)
        own, k = members[at : at + 1], key[at]
        what = [0] if step >= 0 else [~0]
        (answer,), proba = model.follow(X[[at]], y[[at]], what, with_proba=True, kept=own)
        members.put(slice(at, at + 1), own)
        if step >= 0:
            p, a = plain.predict_proba(X[[at], 1:])[0], 1 / (1 + np.exp(-gain[k]))
            said[at] = p, (proba[0] - (1 - a) * p) / a, answer
        else:
            plain.learn_one(X[at, 1:], y[at].item())
            p, q, given_then = said.pop(at)
            gain[k] = 0.98 * gain[k] + np.log(q[y[at]] / p[y[at]])
            wrong[k] += given_then != y[at]
    for k in range(3):
        assert model.summary(k).weight == pytest.approx(1 / (1 + np.exp(-gain[k])), abs=2e-3)
        assert model.summary(k).error * model.summary(k).rows == pytest.approx(wrong[k])
