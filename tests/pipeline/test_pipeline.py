"""Pipelines: the rule of what a row is transformed with, steps of every kind, names, parameters and files."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import SGDClassifier, SGDRegressor
from sklearn.neural_network import MLPRegressor

from thalweg import (
    CCIPCA,
    AutoClassifier,
    Committee,
    OnlineLDC,
    OnlineLinearRegression,
    PassiveAggressive,
    Perceptron,
    RandomFeatures,
    StandardScaler,
    StreamPipeline,
)
from thalweg.errors import InvalidInput, InvalidParameter, ModelFileError
from thalweg.learners.base.classifier import StreamClassifier
from thalweg.learners.base.regressor import StreamRegressor
from thalweg.rates import ErrorDriven
from thalweg.store import dumps, loads
from thalweg.streams import MovingPlane
from thalweg.transforms.base import StreamTransformer


def blobs(rows, features=4, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, rows)
    return (rng.normal(size=(rows, features)) + y[:, None]) * [1.0, 1e3, 1e-3, 10.0], y


def test_a_pipeline_is_its_steps_one_after_the_other():
    """What the parts give by hand, on rows in more than one block, is what the pipeline gives."""
    X, y = blobs(3000)
    scaler, axes, model = StandardScaler(forgetting=0.01), CCIPCA(3), OnlineLDC(0.1, counts="soft")
    whole = StreamPipeline([scaler, axes, model])
    answers = whole.predict_then_learn(X, y)
    by_hand = model.predict_then_learn(axes.transform_then_learn(scaler.transform_then_learn(X)), y)
    assert answers.tolist() == by_hand.tolist()
    assert whole.predict(X).tolist() == model.predict(axes.transform(scaler.transform(X))).tolist()
    parts = whole.named_steps
    assert dumps(parts["standardscaler"]) == dumps(scaler)
    assert dumps(parts["ccipca"]) == dumps(axes)
    assert dumps(parts["onlineldc"]) == dumps(model)


def test_nothing_is_known_of_a_row_before_it_is_learned():
    """Rows from a stream whose unit jumps a thousandfold: the answer to the jump rests on the unit before it."""
    X, y = blobs(200)
    model = StreamPipeline([StandardScaler(), OnlineLDC(0.5)]).partial_fit(X[:100], y[:100])
    ahead = copy.deepcopy(model)
    jumped = X[100:] * 1000
    given = model.predict_then_learn(jumped, y[100:])
    assert given[0] == ahead.predict(jumped[:1])[0]
    other = ahead.predict_then_learn(np.vstack([jumped[:50], jumped[50:] * 7]), y[100:])
    assert given[:50].tolist() == other[:50].tolist()


def test_fit_is_each_step_on_the_whole_batch():
    X, y = blobs(400)
    model = StreamPipeline([StandardScaler(), OnlineLDC(0.3)]).fit(X, y)
    scaler = StandardScaler().fit(X)
    assert dumps(model.named_steps["onlineldc"]) == dumps(OnlineLDC(0.3).fit(scaler.transform(X), y))
    model.partial_fit(X[:1], y[:1])
    assert model.named_steps["standardscaler"].n_samples_seen_ == 401


def test_the_kind_is_that_of_the_last_step():
    scaler = StandardScaler()
    assert isinstance(StreamPipeline([scaler, OnlineLDC()]), StreamClassifier)
    assert isinstance(StreamPipeline([scaler, OnlineLinearRegression()]), StreamRegressor)
    assert isinstance(StreamPipeline([scaler, CCIPCA()]), StreamTransformer)
    assert is_classifier(StreamPipeline([scaler, SGDClassifier()]))
    assert is_regressor(StreamPipeline([scaler, SGDRegressor()]))
    for steps in ([scaler, OnlineLDC()], [scaler, CCIPCA()]):
        model = StreamPipeline(steps)
        assert isinstance(model, StreamPipeline)
        assert type(clone(model)) is type(copy.deepcopy(model)) is type(model)
    assert not hasattr(StreamPipeline([scaler, Perceptron()]), "predict_proba")
    assert hasattr(StreamPipeline([scaler, OnlineLDC()]), "predict_proba")
    assert not hasattr(StreamPipeline([scaler, RandomFeatures()]), "inverse_transform")


def test_a_pipeline_of_one_step_is_that_step():
    X, y = blobs(300)
    assert StreamPipeline([Perceptron()]).predict_then_learn(X, y).tolist() == (
        Perceptron().predict_then_learn(X, y).tolist()
    )


@pytest.mark.parametrize("line", [OnlineLinearRegression(0.05), OnlineLinearRegression(solver="rls")])
def test_regression_behind_transformers(line):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 3)) * [1e4, 1.0, 1e-4] + [1e5, 0.0, 0.0]
    y = (X - [1e5, 0.0, 0.0]) @ [1e-4, 2.0, -3e4] + 0.01 * rng.normal(size=3000)
    scaler, line = StandardScaler(clip=3.0), clone(line)
    model = StreamPipeline([scaler, clone(line)])
    answers = model.predict_then_learn(X, y)
    assert answers.tolist() == line.predict_then_learn(scaler.transform_then_learn(X), y).tolist()
    assert model.score(X, y) > 0.99
    assert model.coef_.tolist() == line.coef_.tolist()
    again = loads(dumps(model))
    single = clone(model)
    for x, target in zip(X[:300], y[:300].tolist(), strict=True):
        single.learn_one(x, target)
    assert dumps(single) == dumps(clone(model).partial_fit(X[:300], y[:300]))
    assert again.partial_fit(X, y).predict_one(X[0]) == model.partial_fit(X, y).predict_one(X[0])
    assert model.named_steps["onlinelinearregression"].intercept_ == model.intercept_
    detailed = clone(model).predict_then_learn(X[:50], y[:50], with_coef=True)
    assert detailed.predictions.tolist() == answers[:50].tolist()
    assert detailed.coef.shape == (50, 3)


def test_several_targets_and_more_features_than_went_in():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(3000, 2))
    Y = np.column_stack([np.sin(2 * X[:, 0]), X[:, 0] * X[:, 1]])
    model = StreamPipeline([RandomFeatures(128), OnlineLinearRegression(solver="rls", penalty=1e-6)])
    answers = model.predict_then_learn(X, Y, with_coef=True)
    assert answers.coef.shape == (3000, 2, 128)
    assert (np.mean((answers.predictions[1000:] - Y[1000:]) ** 2, axis=0) < 1e-4 * Y.var(axis=0)).all()
    assert model.predict_one(X[0]).tolist() == model.predict(X[:1])[0].tolist()


@pytest.mark.slow
def test_scikit_learns_classifier_at_the_end():
    X, y = blobs(250)
    model = StreamPipeline([StandardScaler(), SGDClassifier(random_state=0)])
    answers = model.predict_then_learn(X, y)
    assert (answers[100:] == y[100:]).mean() > 0.6
    by_rows = clone(model)
    for x, label in zip(X, y.tolist(), strict=True):
        by_rows.learn_one(x, label)
    assert by_rows.predict(X).tolist() == model.predict(X).tolist()
    with pytest.raises(InvalidParameter, match=r"a learner of thalweg or .* to be saved"):
        dumps(model)
    twin = copy.deepcopy(model)
    assert twin.predict_then_learn(X, y).tolist() == model.predict_then_learn(X, y).tolist()


@pytest.mark.slow
def test_scikit_learns_regressor_at_the_end():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3)) * [1e4, 1.0, 1e-4]
    y = X @ [1e-4, 2.0, -3e4]
    model = StreamPipeline([StandardScaler(clip=10.0), SGDRegressor(random_state=0)])
    answers = model.predict_then_learn(X, y)
    assert answers[0] == 0.0
    assert np.mean((answers[400:] - y[400:]) ** 2) < 0.1 * y.var()
    by_rows = clone(model)
    for x, target in zip(X, y.tolist(), strict=True):
        by_rows.learn_one(x, target)
    np.testing.assert_array_equal(by_rows.predict(X), model.predict(X))
    assert by_rows.predict_one(X[0]) == model.predict_one(X[0])
    twin = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(twin.predict_then_learn(X, y), model.predict_then_learn(X, y))
    assert model.fit(X, y).score(X, y) > 0.9


def test_a_regressor_that_tells_no_weights_is_refused_before_anything_is_learned():
    X, y = blobs(30)
    for last in (SGDRegressor(), StreamPipeline([SGDRegressor()])):
        model = StreamPipeline([StandardScaler(), last])
        with pytest.raises(InvalidParameter, match="'with_coef' parameter of StreamPipeline must be False"):
            model.predict_then_learn(X, y, with_coef=True)
        with pytest.raises(NotFittedError):
            model.predict(X)
        assert not hasattr(model, "coef_")
        model.partial_fit(X, y)
        assert not hasattr(model, "rate_")
        np.testing.assert_array_equal(model.coef_, model.named_steps[type(last).__name__.lower()].coef_)
    silent = StreamPipeline([MLPRegressor(hidden_layer_sizes=(3,))]).partial_fit(X[:, :1], y)
    with pytest.raises(AttributeError, match="'MLPRegressor' object has no attribute 'coef_'"):
        _ = silent.coef_


def test_the_learned_step_of_scikit_learn_is_among_the_steps():
    X, y = blobs(60)
    numeric = StreamPipeline([StandardScaler(), SGDRegressor()]).partial_fit(X, y)
    last, scaled = numeric.named_steps["sgdregressor"], numeric.named_steps["standardscaler"].transform(X)
    np.testing.assert_array_equal(last.predict(scaled), numeric.predict(X))
    model = StreamPipeline([StandardScaler(), SGDClassifier(loss="log_loss", random_state=0)]).partial_fit(X, y)
    last, scaled = model.named_steps["sgdclassifier"], model.named_steps["standardscaler"].transform(X)
    by_arrival = np.array(list(dict.fromkeys(y.tolist())))
    np.testing.assert_array_equal(by_arrival[last.predict(scaled)], model.predict(X))
    one_class = StreamPipeline([SGDClassifier()]).partial_fit(X[:3], [1, 1, 1])
    assert not hasattr(one_class.named_steps["sgdclassifier"], "coef_")


def test_a_pipeline_tells_what_its_last_step_tells():
    X, y = blobs(200)
    for last in (OnlineLDC(ErrorDriven()), StreamPipeline([OnlineLDC(ErrorDriven())])):
        model, alone = StreamPipeline([last]), OnlineLDC(ErrorDriven())
        rates = alone.predict_then_learn(X, y, with_rate=True).rate
        assert len(set(rates)) > 1
        np.testing.assert_array_equal(model.predict_then_learn(X, y, with_rate=True).rate, rates)
        assert model.rate_ == alone.rate_
        assert not hasattr(model, "explain")
    auto = StreamPipeline([AutoClassifier()]).partial_fit(X, y)
    alone = AutoClassifier().partial_fit(X, y)
    np.testing.assert_array_equal(auto.weights_, alone.weights_)
    assert auto.explain() == alone.explain()
    assert not hasattr(auto, "rate_")
    assert auto.predict_then_learn(X, y, with_rate=True).rate is None
    assert StreamPipeline([OnlineLinearRegression(0.25)]).partial_fit(X / 1e3, y).rate_ == 0.25


class Failing(SGDClassifier):
    def partial_fit(self, X, y, classes=None, sample_weight=None):
        if (np.abs(X) > 30).any():
            raise RuntimeError("no such row")
        return super().partial_fit(X, y, classes, sample_weight)


def test_a_failing_last_step_leaves_its_row_unlearned():
    X, y = blobs(100)
    X[60, 0] = 1e4
    model = StreamPipeline([StandardScaler(), Failing(random_state=0)])
    with pytest.raises(RuntimeError, match="no such row"):
        model.partial_fit(X, y)
    assert model.named_steps["standardscaler"].n_samples_seen_ == 60
    with pytest.raises(RuntimeError, match="no such row"):
        model.learn_one(X[60], 1)
    assert model.named_steps["standardscaler"].n_samples_seen_ == 60


def test_pipelines_inside_committees_and_pipelines():
    X, y = MovingPlane(seed=1).take(2000)
    X = X * [1e5, 1e-5]
    inner = StreamPipeline([StandardScaler(forgetting=0.01), OnlineLDC(0.1, counts="soft")])
    model = Committee([inner, PassiveAggressive()])
    assert (model.predict_then_learn(X, y) != y).mean() < 0.15
    nested = StreamPipeline([StreamPipeline([StandardScaler(forgetting=0.01), CCIPCA(2)]), AutoClassifier()])
    assert (nested.predict_then_learn(X, y) != y).mean() < 0.2
    assert dumps(loads(dumps(nested))) == dumps(nested)


def test_names_and_parameters():
    model = StreamPipeline([("scale", StandardScaler()), ("model", OnlineLDC(0.3))])
    assert model.get_params()["scale__forgetting"] == 0.0
    model.set_params(scale__forgetting=0.5, model__rate=0.7)
    assert (model.steps[0][1].forgetting, model.steps[1][1].rate) == (0.5, 0.7)
    model.set_params(model=Perceptron())
    assert isinstance(model.named_steps["model"], Perceptron)
    with pytest.raises(ValueError, match="Invalid parameter 'colour'"):
        model.set_params(colour="red")
    twice = StreamPipeline([StandardScaler(), StandardScaler(with_std=False), Perceptron()])
    assert list(twice.named_steps) == ["standardscaler", "standardscaler-2", "perceptron"]
    X, y = blobs(50)
    model = StreamPipeline([("scale", StandardScaler()), ("model", OnlineLDC(0.3))]).partial_fit(X, y)
    model.set_params(scale__forgetting=0.1)
    with pytest.raises(InvalidParameter, match=r"'scale__forgetting' parameter .* must not change"):
        model.partial_fit(X, y)


@pytest.mark.parametrize(
    "steps",
    [
        [],
        "abc",
        None,
        [StandardScaler],
        [("a", StandardScaler()), ("a", Perceptron())],
        [("a__b", Perceptron())],
        [("steps", Perceptron())],
        [Perceptron(), Perceptron()],
        [StandardScaler(), 7],
    ],
)
def test_bad_steps_are_named(steps):
    with pytest.raises(InvalidParameter, match="'steps' parameter of StreamPipeline"):
        StreamPipeline(steps).partial_fit([[1.0, 2.0]], [0])


def test_a_refused_call_teaches_no_step():
    X, y = blobs(50)
    model = StreamPipeline([StandardScaler(), OnlineLDC()]).partial_fit(X, y)
    before = dumps(model)
    for bad_X, bad_y in ((X, y[:-1]), (X, ["a"] * 50), (X * np.nan, y), (X[:, :2], y)):
        with pytest.raises(InvalidInput):
            model.partial_fit(bad_X, bad_y)
        with pytest.raises(InvalidInput):
            model.predict_then_learn(bad_X, bad_y)
    assert dumps(model) == before


def test_a_damaged_step_is_noticed():
    X, y = blobs(50)
    model = StreamPipeline([StandardScaler(), OnlineLDC()]).partial_fit(X, y)
    content = dumps(model)
    assert b"0.variance" in content
    with pytest.raises(ModelFileError):
        loads(content.replace(b"0.variance", b"1.variance"))


@pytest.mark.parametrize("last", [OnlineLDC(), OnlineLinearRegression(), StandardScaler()], ids=repr)
def test_it_is_shown_as_it_is_written(last):
    model = StreamPipeline([("first", StandardScaler(clip=10.0)), ("second", StandardScaler()), ("last", last)])
    assert repr(model).startswith("StreamPipeline(steps=[('first', StandardScaler(clip=10.0)),")
    assert type(model).__name__ not in model._repr_html_()
    assert "StreamPipeline" in model._repr_html_()
    assert repr(eval(repr(model))) == repr(model)
