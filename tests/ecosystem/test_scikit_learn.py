"""Our estimators inside scikit-learn's own machinery, by the values they must then give."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import VotingClassifier
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.frozen import FrozenEstimator
from sklearn.inspection import permutation_importance
from sklearn.metrics import accuracy_score, brier_score_loss, make_scorer
from sklearn.model_selection import GridSearchCV, KFold, TimeSeriesSplit, cross_val_predict, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline

from thalweg import (
    CCIPCA,
    OnlineLDC,
    OnlineLinearRegression,
    Perceptron,
    RandomFeatures,
    StandardScaler,
    StreamPipeline,
    TrendForecast,
)
from thalweg.conformance import estimators
from thalweg.store import dumps
from thalweg.streams import MovingPlane

X, Y = MovingPlane(seed=3).take(300)
WEIGHTS = np.random.default_rng(3).integers(0, 4, 300)
NAMES = ["left", "right"]


def test_a_pipeline_is_its_steps_one_after_the_other():
    model = make_pipeline(StandardScaler(), CCIPCA(1), OnlineLDC(0.3)).fit(X, Y)
    scaled = StandardScaler().fit(X).transform(X)
    along = CCIPCA(1).fit(scaled).transform(scaled)
    assert model.predict_proba(X).tolist() == OnlineLDC(0.3).fit(along, Y).predict_proba(along).tolist()
    assert model[:-1].get_feature_names_out().tolist() == ["ccipca0"]


def test_a_search_over_time_finds_the_rate_that_is_best_by_hand():
    split, rates = TimeSeriesSplit(4), [0.02, 0.1, 0.5]
    found = GridSearchCV(OnlineLDC(counts="soft"), {"rate": rates}, cv=split).fit(X, Y)
    by_hand = {
        rate: np.mean(
            [
                (OnlineLDC(rate, counts="soft").fit(X[past], Y[past]).predict(X[future]) == Y[future]).mean()
                for past, future in split.split(X)
            ]
        )
        for rate in rates
    }
    np.testing.assert_allclose(found.cv_results_["mean_test_score"], [by_hand[rate] for rate in rates])
    assert found.best_params_["rate"] == max(by_hand, key=by_hand.__getitem__)
    assert dumps(found.best_estimator_) == dumps(OnlineLDC(found.best_params_["rate"], counts="soft").fit(X, Y))


def test_a_search_reaches_into_what_is_made_of_others():
    inside = StreamPipeline([("scale", StandardScaler()), ("model", OnlineLDC())])
    found = GridSearchCV(inside, {"model__rate": [0.2, 0.6], "scale__clip": [None, 2.0]}, cv=3).fit(X, Y)
    assert set(found.best_params_) == {"model__rate", "scale__clip"}
    assert found.best_estimator_.named_steps["model"].rate == found.best_params_["model__rate"]


def test_folds_are_answered_by_models_that_did_not_see_them():
    answers = cross_val_predict(OnlineLDC(), X, Y, cv=KFold(3))
    for others, own in KFold(3).split(X):
        assert answers[own].tolist() == OnlineLDC().fit(X[others], Y[others]).predict(X[own]).tolist()


def test_time_order_is_for_scores_since_scikit_learn_predicts_over_partitions_only():
    split = TimeSeriesSplit(3)
    with pytest.raises(ValueError, match="only works for partitions"):
        cross_val_predict(OnlineLDC(), X, Y, cv=split)
    scores = cross_val_score(OnlineLinearRegression(solver="rls"), X, Y.astype(float), cv=split)
    for score, (past, future) in zip(scores, split.split(X), strict=True):
        model = OnlineLinearRegression(solver="rls").fit(X[past], Y[past].astype(float))
        assert score == model.score(X[future], Y[future].astype(float))


@pytest.mark.slow
def test_workers_change_nothing():
    alone, together = (cross_val_score(TrendForecast(OnlineLDC()), X, Y, cv=4, n_jobs=jobs) for jobs in (1, 2))
    assert alone.tolist() == together.tolist()


def test_calibration_makes_probabilities_of_scores():
    """The perceptron has none of its own; the softmax of its margins is far too sure."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(1200, 2))
    labels = (rows[:, 0] + rng.normal(size=1200) > 0).astype(int)  # which nobody can be sure of
    taught, asked = slice(0, 800), slice(800, None)
    model = CalibratedClassifierCV(Perceptron(), cv=3).fit(rows[taught], labels[taught])
    proba = model.predict_proba(rows[asked])
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    raw = 1 / (1 + np.exp(-Perceptron().fit(rows[taught], labels[taught]).decision_function(rows[asked])))
    assert brier_score_loss(labels[asked], proba[:, 1]) < 0.19 < brier_score_loss(labels[asked], raw)
    learned = OnlineLDC().fit(rows[:400], labels[:400])
    frozen = CalibratedClassifierCV(FrozenEstimator(learned), method="isotonic").fit(rows[400:800], labels[400:800])
    assert brier_score_loss(labels[asked], frozen.predict_proba(rows[asked])[:, 1]) < 0.19


@pytest.mark.parametrize("kind", ["pandas", "polars"])
@pytest.mark.parametrize(
    ("model", "names"),
    [
        (StandardScaler(), NAMES),
        (CCIPCA(2), ["ccipca0", "ccipca1"]),
        (RandomFeatures(3), ["randomfeatures0", "randomfeatures1", "randomfeatures2"]),
        (StreamPipeline([StandardScaler(), CCIPCA(1)]), ["ccipca0"]),
        (ColumnTransformer([("own", StandardScaler(), ["right"])], verbose_feature_names_out=False), ["right"]),
        (Pipeline([("scale", StandardScaler()), ("axes", CCIPCA(1))]), ["ccipca0"]),
    ],
    ids=["scaler", "ccipca", "random features", "stream pipeline", "column transformer", "pipeline"],
)
def test_transformers_give_frames_out(model, names, kind):
    library = pytest.importorskip(kind)
    frame = library.DataFrame({"left": X[:, 0], "right": X[:, 1]})
    out = clone(model).set_output(transform=kind).fit_transform(frame)
    assert isinstance(out, library.DataFrame)
    assert list(out.columns) == names
    plain = clone(model).fit_transform(pd.DataFrame(X, columns=NAMES))
    np.testing.assert_array_equal(out.to_numpy(), np.asarray(plain))


@pytest.mark.parametrize("name", estimators())
def test_a_clone_is_the_same_and_has_learned_nothing(name):
    model = estimators()[name].fit(X, Y)
    twin = clone(model)
    assert not twin.__sklearn_is_fitted__()
    assert repr(twin) == repr(model)
    assert dumps(twin.fit(X, Y)) == dumps(model)


@pytest.mark.parametrize("name", estimators())
def test_the_html_names_every_parameter_and_tells_the_learned_from_the_fresh(name):
    model = estimators()[name]
    for parameter in model.get_params(deep=False):
        assert f">{parameter}" in model._repr_html_()
    shown = "StreamPipeline" if isinstance(model, StreamPipeline) else type(model).__name__
    assert shown in model._repr_html_()
    assert "<span>Not fitted</span>" in model._repr_html_()
    assert "<span>Fitted</span>" in model.fit(X, Y)._repr_html_()


def test_the_html_shows_what_was_learned():
    labels = np.where(Y[0] == Y, "<i>", "b")
    model = estimators()["AutoClassifier"].fit(X, labels)
    page = model._repr_html_()
    assert f"<td>rows learned</td><td>{len(X):,}</td>" in page
    assert "<td>classes</td><td>&lt;i&gt;, b</td>" in page
    assert "<i>, b" not in page
    heaviest = int(np.argmax(model.weights_))
    assert f"<td>{model.members_[heaviest]}</td>" in page
    assert "Learned state" not in estimators()["AutoClassifier"]._repr_html_()


def test_the_html_shows_what_was_changed():
    page = OnlineLDC(0.125, counts="soft")._repr_html_()
    shown = re.findall(r'<tr class="(.*?)">.*?<td class="param">(\w+).*?<td class="value">(.*?)</td>', page, re.DOTALL)
    assert [(name, value) for kind, name, value in shown if kind == "user-set"] == [
        ("rate", "0.125"),
        ("counts", "&#x27;soft&#x27;"),
    ]
    assert [name for kind, name, _ in shown if kind == "default"] == [
        "covariance",
        "warmup",
        "ridge",
        "dtype",
        "class_weight",
    ]


def test_the_feature_that_decides_is_the_important_one():
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(500, 3))
    labels = (rows[:, 1] > 0).astype(int)
    model = OnlineLDC().fit(rows, labels)
    found = permutation_importance(model, rows, labels, n_repeats=5, random_state=0).importances_mean
    assert found[1] > 0.35  # a half of the answers becomes a guess
    assert np.abs(found[[0, 2]]).max() < 0.05


def test_a_vote_is_the_mean_of_its_members():
    members = [("ldc", OnlineLDC()), ("trend", TrendForecast(OnlineLDC(0.7)))]
    soft = VotingClassifier(members, voting="soft").fit(X, Y)
    alone = [clone(member).fit(X, Y).predict_proba(X) for _, member in members]
    np.testing.assert_allclose(soft.predict_proba(X), np.mean(alone, axis=0))
    hard = VotingClassifier([*members, ("perceptron", Perceptron())]).fit(X, Y)
    votes = [clone(member).fit(X, Y).predict(X) for _, member in hard.estimators]
    assert hard.predict(X).tolist() == (np.sum(votes, axis=0) >= 2).astype(int).tolist()


def test_weights_are_routed_through_a_pipeline():
    with config_context(enable_metadata_routing=True):
        scale = StandardScaler().set_fit_request(sample_weight=True)
        model = make_pipeline(scale, OnlineLDC().set_fit_request(sample_weight=True)).fit(X, Y, sample_weight=WEIGHTS)
        assert model[0].n_samples_seen_ == WEIGHTS.sum()
        repeated = make_pipeline(StandardScaler(), OnlineLDC()).fit(X.repeat(WEIGHTS, axis=0), Y.repeat(WEIGHTS))
        np.testing.assert_allclose(model.predict_proba(X), repeated.predict_proba(X), rtol=1e-9)
        half = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), model[1])
        half.fit(X, Y, sample_weight=WEIGHTS)
        assert half[0].n_samples_seen_ == len(X)
        with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
            make_pipeline(StandardScaler(), OnlineLDC()).fit(X, Y, sample_weight=WEIGHTS)


def test_weights_are_routed_through_a_search():
    with config_context(enable_metadata_routing=True):
        model = OnlineLDC(counts="soft").set_fit_request(sample_weight=True)
        scorer = make_scorer(accuracy_score).set_score_request(sample_weight=True)
        search = GridSearchCV(model, {"rate": [0.02, 0.3]}, cv=TimeSeriesSplit(2), scoring=scorer)
        found = search.fit(X, Y, sample_weight=WEIGHTS)
    (past, future) = list(TimeSeriesSplit(2).split(X))[1]
    by_hand = OnlineLDC(0.3, counts="soft").fit(X[past], Y[past], sample_weight=WEIGHTS[past])
    score = accuracy_score(Y[future], by_hand.predict(X[future]), sample_weight=WEIGHTS[future])
    assert found.cv_results_["split1_test_score"][1] == pytest.approx(score, rel=1e-12)


def test_requests_for_rows_on_the_way_are_kept_too():
    with config_context(enable_metadata_routing=True):
        for model in (OnlineLDC(), OnlineLinearRegression(), CCIPCA()):
            model.set_partial_fit_request(sample_weight=True)
            assert model.get_metadata_routing().consumes("partial_fit", ["sample_weight"]) == {"sample_weight"}
            assert clone(model).get_metadata_routing().consumes("partial_fit", ["sample_weight"]) == {"sample_weight"}
