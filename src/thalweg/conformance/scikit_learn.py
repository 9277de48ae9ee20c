"""scikit-learn's own checks, which it calls ``check_estimator``."""

from __future__ import annotations

import warnings
from typing import Any

from thalweg.conformance.tally import Finding, Suite, Tally

_SAME_WHATEVER_THE_ORDER = "check_sample_weight_equivalence_on_dense_data"
_ORDER_MATTERS = (
    "fit learns its rows one after the other, as a stream, and the check shuffles them before it compares; "
    "scikit-learn excepts its own Perceptron, SGDClassifier and SGDRegressor from the same check"
)
_ONE_ROW_AFTER_THE_OTHER = {
    "AutoClassifier",
    "BalancedWinnow",
    "CCIPCA",
    "OnlineLogistic",
    "PassiveAggressive",
    "Perceptron",
}


def expected_failures(estimator: Any) -> dict[str, str]:
    """The checks that an estimator cannot pass, each with the reason.

    Examples
    --------
    >>> from thalweg import OnlineLDC, Perceptron
    >>> list(expected_failures(Perceptron())), list(expected_failures(OnlineLDC()))
    (['check_sample_weight_equivalence_on_dense_data'], [])
    """
    parameters = estimator.get_params(deep=False)
    in_order = (
        type(estimator).__name__ in _ONE_ROW_AFTER_THE_OTHER
        or parameters.get("rate") == "auto"
        or (parameters.get("forgetting", 0.0) > 0 and parameters.get("solver") != "sgd")  # whose fit is a batch
    )
    weighed = "sample_weight" in type(estimator).fit.__code__.co_varnames
    return {_SAME_WHATEVER_THE_ORDER: _ORDER_MATTERS} if in_order and weighed else {}


def _check(name: str, estimator: Any) -> Tally:
    from sklearn.utils.estimator_checks import check_estimator

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the checks' rows are not ours: a row of 1e50 is warned of, rightly
        results = check_estimator(
            estimator, expected_failed_checks=expected_failures(estimator), on_skip=None, on_fail=None
        )

    def those(status: str) -> list[Any]:
        return [each for each in results if each["status"] == status]

    return Tally(
        suite=SCIKIT_LEARN.name,
        estimator=name,
        passed=len(those("passed")),
        failed=tuple(Finding(each["check_name"], _sentence(each["exception"])) for each in those("failed")),
        excepted=tuple(Finding(each["check_name"], each["expected_to_fail_reason"]) for each in those("xfail")),
        skipped=tuple(Finding(each["check_name"], _sentence(each["exception"])) for each in those("skipped")),
    )


def _sentence(error: BaseException) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


#: scikit-learn is always there: we are made on it.
SCIKIT_LEARN = Suite("scikit-learn", "scikit-learn", absent=lambda: "", check=_check)
