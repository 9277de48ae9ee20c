"""Models by name: what each is, when to use it, and how it is made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from thalweg.errors import InvalidParameter
from thalweg.run.options import RunOptions


@dataclass(frozen=True)
class ModelChoice:
    """A model by name."""

    about: str
    when: str
    make: Callable[[RunOptions], Any]
    #: Whether it learns at a rate that can be given, or that follows its errors.
    rated: bool = False
    #: Whether rows are scaled on line before it, by a step of their own.
    scaled: bool = False


def _rate(options: RunOptions, default: float) -> Any:
    from thalweg.rates import ErrorDriven

    if options.adaptive:
        return ErrorDriven(start=default, window=10)
    return default if options.rate is None else options.rate


def _auto(options: RunOptions) -> Any:
    from thalweg.learners.auto import AutoClassifier

    return AutoClassifier()


def _oldc(options: RunOptions) -> Any:
    from thalweg.learners.online_ldc import OnlineLDC

    if options.rate is None and not options.adaptive:
        return OnlineLDC("auto", counts="soft")
    return OnlineLDC(_rate(options, 0.02), counts="soft", ridge=1e-3)


def _perceptron(options: RunOptions) -> Any:
    from thalweg.learners.perceptron import Perceptron

    return Perceptron(_rate(options, 0.5), random_state=options.seed)


def _winnow(options: RunOptions) -> Any:
    from thalweg.learners.winnow import BalancedWinnow

    return BalancedWinnow(_rate(options, 0.5), random_state=options.seed)


def _hiraoka(options: RunOptions) -> Any:
    from thalweg.learners.hiraoka import HiraokaLDA

    return HiraokaLDA(_rate(options, 0.05))


def _passive_aggressive(options: RunOptions) -> Any:
    from thalweg.learners.passive_aggressive import PassiveAggressive

    return PassiveAggressive()


def _logistic(options: RunOptions) -> Any:
    from thalweg.learners.logistic import OnlineLogistic

    return OnlineLogistic(_rate(options, 0.02))


def _trend(options: RunOptions) -> Any:
    from thalweg.learners.online_ldc import OnlineLDC
    from thalweg.learners.trend_forecast import TrendForecast

    window: int | str = options.window or "auto"
    if window != "auto":
        try:
            window = int(window)
        except ValueError as error:
            raise InvalidParameter.of_option("window", 'be "auto" or a whole number', window) from error
    return TrendForecast(OnlineLDC(_rate(options, 0.9)), window=window)  # type: ignore[arg-type]


def _kernel_mean(options: RunOptions) -> Any:
    from thalweg.learners.kernel_mean.classifier import KernelMeanClassifier

    if options.adaptive:
        raise InvalidParameter.of_option("adaptive", "be left out: kernel-mean forgets at a fixed --rate", True)
    return KernelMeanClassifier(budget=128, forgetting=0.01 if options.rate is None else options.rate)


def _learn_nse(options: RunOptions) -> Any:
    from sklearn.naive_bayes import GaussianNB

    from thalweg.learners.learn_nse.classifier import LearnNSE

    return LearnNSE(GaussianNB(), block_size=250, max_members=400, pruning="age", random_state=options.seed)


def _no_change(options: RunOptions) -> Any:
    from thalweg.learners.baselines import NoChange

    return NoChange()


def _majority(options: RunOptions) -> Any:
    from thalweg.learners.baselines import MajorityClass

    return MajorityClass()


MODELS: Mapping[str, ModelChoice] = {
    "auto": ModelChoice(
        "a committee of seven forgetting rates and seven linear learners", "start here: nothing to choose", _auto
    ),
    "oldc": ModelChoice(
        "online linear discriminant; without --rate, seven memories side by side",
        "correlated features, and a linear boundary that moves",
        _oldc,
        rated=True,
    ),
    "perceptron": ModelChoice("perceptron", "many features, little time", _perceptron, rated=True, scaled=True),
    "winnow": ModelChoice(
        "balanced Winnow", "many features of which few matter; smaller --rate is more eager", _winnow, True, True
    ),
    "hiraoka": ModelChoice("Hiraoka's online LDA", "comparison with the paper", _hiraoka, rated=True, scaled=True),
    "pa": ModelChoice(
        "passive-aggressive", "a boundary that moves fast, clean labels", _passive_aggressive, scaled=True
    ),
    "logistic": ModelChoice(
        "logistic regression by gradient steps", "noisy labels, categories, slow drift", _logistic, True, True
    ),
    "trend": ModelChoice(
        "discriminant with forecast class means", "class means that move along lines", _trend, rated=True
    ),
    "kernel-mean": ModelChoice(
        "128 weighted centroids a class under a Gaussian kernel; --rate is its forgetting",
        "curved boundaries that move",
        _kernel_mean,
        rated=True,
        scaled=True,
    ),
    "nse": ModelChoice(
        "Learn++.NSE: a naive Bayes classifier for each 250 rows, the last 400 of them kept",
        "concepts that come back, labels that come in blocks",
        _learn_nse,
    ),
    "no-change": ModelChoice("the last label again", "the baseline to beat", _no_change),
    "majority": ModelChoice("the most frequent label so far", "the other baseline to beat", _majority),
}


def make_model(options: RunOptions) -> Any:
    """The model of a run; an `InvalidParameter` where an option does not go with it."""
    if options.model not in MODELS:
        raise InvalidParameter.of_option("model", f"be one of {', '.join(MODELS)}", options.model)
    choice = MODELS[options.model]
    for name, value in (("rate", options.rate), ("adaptive", options.adaptive or None)):
        if value is not None and not choice.rated:
            raise InvalidParameter.of_option(name, f"be left out: {options.model} has no rate", value)
    if options.window is not None and options.model != "trend":
        raise InvalidParameter.of_option("window", "be left out unless the model is trend", options.window)
    model = choice.make(options)
    if not choice.scaled:
        return model
    from thalweg.pipeline import StreamPipeline
    from thalweg.transforms import StandardScaler

    return StreamPipeline([StandardScaler(clip=10.0), model])
