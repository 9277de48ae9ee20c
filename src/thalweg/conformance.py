"""Other projects' checks: scikit-learn's and River's own conformance suites on every estimator, with the results
counted.
"""

from __future__ import annotations

import json
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any, NamedTuple

import thalweg

__all__ = ["RIVER", "SCIKIT_LEARN", "SUITES", "Finding", "Suite", "Tally", "estimators", "expected_failures"]


def estimators() -> dict[str, Any]:
    """One of each estimator in ``thalweg.__all__``, by name; of `StreamPipeline` one of each kind.

    Examples
    --------
    >>> sorted(estimators())[:3]
    ['AutoClassifier', 'AutoRegressor', 'BalancedWinnow']
    """
    from thalweg.learners.base.estimator import StreamEstimator

    made: dict[str, Any] = {}
    for name in sorted(thalweg.__all__):
        public = getattr(thalweg, name)
        if isinstance(public, type) and issubclass(public, StreamEstimator):
            made |= _made_of_others(name) or {name: public()}
    return made


def _made_of_others(name: str) -> dict[str, Any]:
    """Estimators that need others: with small members, since it is their own workings that are checked."""
    from thalweg import (
        CCIPCA,
        Committee,
        CostSensitive,
        LearnNSE,
        OnlineLDC,
        OnlineLinearRegression,
        OnlineThreshold,
        Perceptron,
        PredictionIntervals,
        PredictionSets,
        Recalibrated,
        StandardScaler,
        StreamPipeline,
        TrendForecast,
    )

    if name == "LearnNSE":
        from sklearn.naive_bayes import GaussianNB

        return {name: LearnNSE(GaussianNB(), block_size=20)}
    if name == "Committee":
        return {name: Committee([OnlineLDC(0.1, counts="soft"), Perceptron()])}
    if name in ("CostSensitive", "OnlineThreshold", "PredictionSets", "Recalibrated"):
        wrappers = (CostSensitive, OnlineThreshold, PredictionSets, Recalibrated)
        return {wrapper.__name__: wrapper(OnlineLDC()) for wrapper in wrappers if wrapper.__name__ == name}
    if name == "PredictionIntervals":
        return {name: PredictionIntervals(OnlineLinearRegression(solver="rls"))}
    if name == "TrendForecast":
        return {name: TrendForecast(OnlineLDC())}
    if name == "StreamPipeline":
        return {
            f"{name}, classifier": StreamPipeline([StandardScaler(clip=10.0), OnlineLDC()]),
            f"{name}, regressor": StreamPipeline([StandardScaler(clip=10.0), OnlineLinearRegression(0.02)]),
            f"{name}, transformer": StreamPipeline([StandardScaler(), CCIPCA(2)]),
        }
    return {}


class Finding(NamedTuple):
    check: str
    reason: str


class Tally(NamedTuple):
    """The checks of one suite on one estimator, counted.

    Attributes
    ----------
    suite, estimator : str
        Whose checks, and of what.
    passed : int
        Checks passed.
    failed : tuple of Finding
        Checks failed that should have been passed.
    excepted : tuple of Finding
        Checks that cannot be passed, with our reason.
    skipped : tuple of Finding
        Checks that the suite itself did not run, with its reason.
    """

    suite: str
    estimator: str
    passed: int
    failed: tuple[Finding, ...] = ()
    excepted: tuple[Finding, ...] = ()
    skipped: tuple[Finding, ...] = ()

    @property
    def run(self) -> int:
        """Checks run.

        Examples
        --------
        >>> Tally("River", "OnlineLDC", 51, failed=(Finding("check_doc", "no docstring"),)).run
        52
        """
        return self.passed + len(self.failed) + len(self.excepted)


class Suite(NamedTuple):
    """A conformance suite.

    Attributes
    ----------
    name, distribution : str
        How it is called, and what is installed to have it.
    absent : function
        Why it cannot run here; empty where it can.
    check : function
        What it finds of an estimator, by its name.
    """

    name: str
    distribution: str
    absent: Callable[[], str]
    check: Callable[[str, Any], Tally]


def grouped(tallies: Sequence[Tally], word: str) -> dict[Finding, list[str]]:
    """What was "failed", "excepted" or "skipped", and of which estimators.

    Examples
    --------
    >>> odd = Finding("check_doc", "no docstring")
    >>> grouped([Tally("River", "A", 1, failed=(odd,)), Tally("River", "B", 1, failed=(odd,))], "failed")
    {Finding(check='check_doc', reason='no docstring'): ['A', 'B']}
    """
    names: dict[Finding, list[str]] = {}
    for tally in tallies:
        for finding in dict.fromkeys(getattr(tally, word)):
            names.setdefault(finding, []).append(tally.estimator)
    return names


_HEAD = """\
# Conformance

What other projects' own checks say of our estimators, written by `thalweg conformance --markdown docs/conformance.md`.
"Run" does not count the checks that a suite itself skips; "excepted" are those that cannot be passed, with the reason.
"""


def as_json(tallies: Sequence[Tally]) -> str:
    """The counts, one object each.

    Examples
    --------
    >>> print(as_json([Tally("River", "OnlineLDC", 53)]))
    [{"suite": "River", "estimator": "OnlineLDC", "run": 53, "passed": 53, "failed": [], "excepted": [], "skipped": []}]
    """
    objects = []
    for tally in tallies:
        counts = {"suite": tally.suite, "estimator": tally.estimator, "run": tally.run, "passed": tally.passed}
        kinds = ("failed", "excepted", "skipped")
        objects.append(counts | {kind: [finding._asdict() for finding in getattr(tally, kind)] for kind in kinds})
    return json.dumps(objects)


def as_page(suites: Sequence[Suite], tallies: Sequence[Tally]) -> str:
    """A section for each suite: what was not passed and why, then the table."""
    return "\n".join([_HEAD, *(line for suite in suites for line in _section(suite, tallies))])


def _section(suite: Suite, tallies: Sequence[Tally]) -> Iterator[str]:
    own = [tally for tally in tallies if tally.suite == suite.name]
    yield f"## {suite.name} {version(suite.distribution)}\n"
    yield f"{sum(tally.passed for tally in own):,} of {sum(tally.run for tally in own):,} checks passed.\n"
    for word in ("failed", "excepted", "skipped"):
        for (check, reason), names in grouped(own, word).items():
            yield f"{word.capitalize()}, `{check}`, of {', '.join(names)}: {reason}.\n"
    yield "| estimator | run | passed | failed | excepted | skipped |"
    yield "|---|--:|--:|--:|--:|--:|"
    for tally in own:
        kinds = (tally.failed, tally.excepted, tally.skipped)
        yield f"| {tally.estimator} | {tally.run} | {tally.passed} | {' | '.join(str(len(kind)) for kind in kinds)} |"
    yield ""


def _check_in_river(name: str, estimator: Any) -> Tally:
    """Every check that River yields for the estimator as a model of River's, whatever the model says of skipping."""
    from river.checks import yield_checks

    from thalweg.errors import Diverging
    from thalweg.river import to_river

    model = to_river(estimator)
    times: Counter[str] = Counter()  # most checks run once per data set, and are numbered
    failed = []
    for check in yield_checks(model):
        times[check.__name__] += 1
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Diverging)  # River's rows are not scaled: a date of 736,000 among them
            try:
                check(model.clone())
            except Exception as error:  # whatever it is, the model has failed
                reason = f"{type(error).__name__}: {error}"
                failed.append(Finding(f"{check.__name__}-{times[check.__name__]}", reason))
    return Tally(RIVER.name, name, passed=times.total() - len(failed), failed=tuple(failed))


def _without_river() -> str:
    return "" if find_spec("river") else "river is not installed: pip install river"


RIVER = Suite("River", "river", absent=_without_river, check=_check_in_river)


_SAME_WHATEVER_THE_ORDER = "check_sample_weight_equivalence_on_dense_data"
_SAME_WHATEVER_THE_SPARSE_ORDER = "check_sample_weight_equivalence_on_sparse_data"
_ORDER_MATTERS = (
    "fit learns its rows one after the other, as a stream, and the check shuffles them before it compares; "
    "scikit-learn excepts its own Perceptron, SGDClassifier and SGDRegressor from the same check"
)
_UP_TO_A_CONSTANT = (
    "a pipeline gives the discriminants of more than two classes up to a constant of each row, which depends on the "
    "first row learned; its probabilities and predictions are the same"
)
_EXTREME_WEIGHTS = "check_class_weight_classifiers"
_ONE_PASS = (
    "the check wants weights of 1,000 and 0.0001 to decide nearly every row, as they do where a loss is minimised to "
    "its end; these learners take one bounded step for each row"
)
_LIKELIEST_LABEL = "check_classifiers_train"
_OTHER_THRESHOLD = (
    "the check wants the likeliest label, and to predict another one by a threshold or by costs is the point"
)


def expected_failures(estimator: Any) -> dict[str, str]:
    """The checks that an estimator cannot pass, each with the reason.

    Examples
    --------
    >>> from thalweg import OnlineLDC, Perceptron
    >>> len(expected_failures(Perceptron())), list(expected_failures(OnlineLDC()))
    (3, [])
    """
    weighed = "sample_weight" in type(estimator).fit.__code__.co_varnames
    in_order = _fit_depends_on_order(estimator)
    expected = {_SAME_WHATEVER_THE_ORDER: _ORDER_MATTERS} if weighed and in_order else {}
    if not in_order and hasattr(estimator, "named_steps") and hasattr(estimator, "decision_function"):
        expected = {_SAME_WHATEVER_THE_ORDER: _UP_TO_A_CONSTANT}
    if weighed and estimator._takes_sparse:
        expected[_SAME_WHATEVER_THE_SPARSE_ORDER] = _ORDER_MATTERS
    if in_order and "class_weight" in estimator.get_params(deep=False):
        expected[_EXTREME_WEIGHTS] = _ONE_PASS
    inside = [estimator, *estimator.get_params(deep=True).values()]
    by_threshold = any(hasattr(model, "objective") or getattr(model, "costs", None) is not None for model in inside)
    return expected | ({_LIKELIEST_LABEL: _OTHER_THRESHOLD} if by_threshold else {})


def _fit_depends_on_order(estimator: Any) -> bool:
    if hasattr(estimator, "named_steps"):
        return any(map(_fit_depends_on_order, estimator.named_steps.values()))
    parameters = estimator.get_params(deep=False)
    return bool(
        getattr(estimator, "_fit_depends_on_order", False)
        or parameters.get("rate") == "auto"
        or (parameters.get("forgetting", 0.0) > 0 and parameters.get("solver") != "sgd")  # whose fit is a batch
    )


def _check_estimator(name: str, estimator: Any) -> Tally:
    from sklearn.utils.estimator_checks import check_estimator

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the checks' rows are not ours: a row of 1e50 is warned of, rightly
        results = check_estimator(
            estimator, expected_failed_checks=expected_failures(estimator), on_skip=None, on_fail=None
        )

    def those(status: str) -> list[Any]:
        return [result for result in results if result["status"] == status]

    return Tally(
        suite=SCIKIT_LEARN.name,
        estimator=name,
        passed=len(those("passed")),
        failed=tuple(Finding(result["check_name"], _sentence(result["exception"])) for result in those("failed")),
        excepted=tuple(Finding(result["check_name"], result["expected_to_fail_reason"]) for result in those("xfail")),
        skipped=tuple(Finding(result["check_name"], _sentence(result["exception"])) for result in those("skipped")),
    )


def _sentence(error: BaseException) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


#: scikit-learn is always there: we are made on it.
SCIKIT_LEARN = Suite("scikit-learn", "scikit-learn", absent=lambda: "", check=_check_estimator)


#: Whose checks are run, in this order.
SUITES = (SCIKIT_LEARN, RIVER)
