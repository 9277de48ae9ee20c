"""Every model of ours, as River's, passes every check River has for its kind; none is skipped."""

import pytest

from thalweg import (
    CCIPCA,
    AutoClassifier,
    BalancedWinnow,
    Committee,
    HiraokaLDA,
    KernelMeanClassifier,
    LearnNSE,
    MajorityClass,
    NoChange,
    OnlineLDC,
    OnlineLinearRegression,
    OnlineLogistic,
    PassiveAggressive,
    Perceptron,
    RandomFeatures,
    StandardScaler,
    StreamPipeline,
    TrendForecast,
)
from thalweg.interop import to_river
from thalweg.interop.river_checks import run_checks

pytest.importorskip("river", reason="River is not installed")

CLASSIFIERS = [
    OnlineLDC(),
    OnlineLDC(0.05, counts="soft", ridge=1e-3),
    OnlineLDC("auto", counts="soft"),
    AutoClassifier(),
    Perceptron(),
    BalancedWinnow(),
    HiraokaLDA(),
    PassiveAggressive(),
    OnlineLogistic(),
    MajorityClass(),
    NoChange(),
    TrendForecast(OnlineLDC()),
    KernelMeanClassifier(budget=50),
    LearnNSE(OnlineLDC(), block_size=50),
    Committee([OnlineLDC(), Perceptron()]),
    StreamPipeline([StandardScaler(), OnlineLDC()]),
]
REGRESSORS = [
    OnlineLinearRegression(),
    OnlineLinearRegression(solver="rls"),
    StreamPipeline([StandardScaler(), OnlineLinearRegression()]),
]
TRANSFORMERS = [
    StandardScaler(),
    CCIPCA(2),
    RandomFeatures(16),
    StreamPipeline([StandardScaler(), CCIPCA(2)]),
]
#: Checks of River 0.26: 53 for a classifier of many classes, 25 for a regressor, 26 for a transformer; and 9, 2 and 2
#: more for one that takes frames.
LEAST = {"classifier": 62, "regressor": 27, "transformer": 28}
MODELS = [
    *(pytest.param(model, "classifier", id=repr(model)) for model in CLASSIFIERS),
    *(pytest.param(model, "regressor", id=repr(model)) for model in REGRESSORS),
    *(pytest.param(model, "transformer", id=repr(model)) for model in TRANSFORMERS),
]


@pytest.mark.parametrize(("model", "kind"), MODELS)
def test_all_of_rivers_checks_pass(model, kind):
    outcomes = run_checks(model)
    assert [outcome for outcome in outcomes if not outcome.passed] == []
    assert len(outcomes) >= LEAST[kind]


def test_nothing_is_skipped_by_our_own_word():
    assert all(to_river(model)._unit_test_skips() == set() for model in [*CLASSIFIERS, *REGRESSORS, *TRANSFORMERS])


def test_a_model_that_breaks_a_promise_is_found_out(monkeypatch):
    monkeypatch.setattr(type(to_river(OnlineLDC())), "predict_proba_one", lambda self, x, **kwargs: {})
    failed = {outcome.check for outcome in run_checks(OnlineLDC()) if not outcome.passed}
    assert {"check_predict_proba_one-1", "check_classifier_tracks_seen_labels-2"} <= failed
