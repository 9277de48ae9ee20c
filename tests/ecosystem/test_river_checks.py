"""Every model of ours, as River's, passes every check River has for its kind; none is skipped."""

import pytest
from sklearn.base import is_classifier, is_regressor
from sklearn.naive_bayes import GaussianNB

from thalweg import (
    CCIPCA,
    Committee,
    KernelMeanClassifier,
    OnlineLDC,
    OnlineLinearRegression,
    StandardScaler,
    StreamPipeline,
)
from thalweg.conformance import estimators
from thalweg.river import to_river
from thalweg.river.checks import checks_of, run_checks

pytest.importorskip("river", reason="River is not installed")


def is_transformer(model):
    return not is_classifier(model) and not is_regressor(model)


#: Besides one of each estimator: modes that have a path of their own.
SOFT, LEAST_SQUARES = OnlineLDC(0.05, counts="soft", ridge=1e-3), OnlineLinearRegression(solver="rls")
MODES = [SOFT, OnlineLDC("auto", counts="soft"), KernelMeanClassifier(budget=50), LEAST_SQUARES]
MODES += [Committee([OnlineLDC(), GaussianNB()]), StreamPipeline([StandardScaler(), CCIPCA(2)])]
MADE = estimators()
MODELS = [*MADE.values(), *MODES]
#: Memory that grows does so on each of the three data sets, and to look for it takes the time of all other checks.
LEFT_OUT = {"check_bounded_memory_growth-2", "check_bounded_memory_growth-3"}
#: One model of each kind; the others run the same adapter and are checked by `make test-all`.
QUICK = (SOFT, LEAST_SQUARES, MADE["StandardScaler"])
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


@pytest.mark.parametrize(
    ("is_kind", "count"), [(is_classifier, 53 + 9), (is_regressor, 25 + 2), (is_transformer, 26 + 2)]
)
def test_no_check_is_missing(is_kind, count):
    """River 0.26 has 53, 25 and 26 checks for the three kinds, and some more for those that take frames as well."""
    models = [model for model in MODELS if is_kind(model)]
    assert len(models) >= 3
    assert all(len(list(checks_of(model))) >= count for model in models)


def test_nothing_is_skipped_by_our_own_word():
    assert all(to_river(model)._unit_test_skips() == set() for model in MODELS)


@pytest.mark.slow
def test_a_model_that_breaks_a_promise_is_found_out(monkeypatch):
    monkeypatch.setattr(type(to_river(OnlineLDC())), "predict_proba_one", lambda self, x, **kwargs: {})
    failed = {outcome.check for outcome in run_checks(OnlineLDC()) if not outcome.passed}
    assert {"check_predict_proba_one-1", "check_classifier_tracks_seen_labels-2"} <= failed
