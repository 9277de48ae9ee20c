"""Every public estimator, ready to be checked."""

from __future__ import annotations

from typing import Any

import thalweg


def estimators() -> dict[str, Any]:
    """One of each estimator in ``thalweg.__all__``, by name; of `StreamPipeline` one of each kind.

    Examples
    --------
    >>> sorted(estimators())[:3]
    ['AutoClassifier', 'BalancedWinnow', 'CCIPCA']
    """
    from thalweg.learners.estimator import StreamEstimator

    found: dict[str, Any] = {}
    for name in sorted(thalweg.__all__):
        public = getattr(thalweg, name)
        if isinstance(public, type) and issubclass(public, StreamEstimator):
            found |= _made_of_others(name) or {name: public()}
    return found


def _made_of_others(name: str) -> dict[str, Any]:
    """Estimators that need others: with small members, since it is their own workings that are checked."""
    from thalweg import (
        CCIPCA,
        Committee,
        LearnNSE,
        OnlineLDC,
        OnlineLinearRegression,
        Perceptron,
        StandardScaler,
        StreamPipeline,
        TrendForecast,
    )

    if name == "LearnNSE":
        from sklearn.naive_bayes import GaussianNB

        return {name: LearnNSE(GaussianNB(), block_size=20)}
    if name == "Committee":
        return {name: Committee([OnlineLDC(0.1, counts="soft"), Perceptron()])}
    if name == "TrendForecast":
        return {name: TrendForecast(OnlineLDC())}
    if name == "StreamPipeline":
        return {
            f"{name}, classifier": StreamPipeline([StandardScaler(clip=10.0), OnlineLDC()]),
            f"{name}, regressor": StreamPipeline([StandardScaler(clip=10.0), OnlineLinearRegression(0.02)]),
            f"{name}, transformer": StreamPipeline([StandardScaler(), CCIPCA(2)]),
        }
    return {}
