"""The models of the fixtures: every class that can be saved, in every mode whose state has other arrays."""

from __future__ import annotations

from typing import Any

from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from thalweg import (
    CCIPCA,
    AutoClassifier,
    AutoRegressor,
    BalancedWinnow,
    Committee,
    CostSensitive,
    HiraokaLDA,
    KernelMeanClassifier,
    LearnNSE,
    MajorityClass,
    NoChange,
    OnlineLDC,
    OnlineLinearRegression,
    OnlineLogistic,
    OnlineThreshold,
    Part,
    PassiveAggressive,
    Perceptron,
    PredictionIntervals,
    PredictionSets,
    RandomFeatures,
    RandomTilings,
    Recalibrated,
    StandardScaler,
    StreamPipeline,
    TilingClassifier,
    TilingRegressor,
    TrendForecast,
)
from thalweg.fleet import Fleet, KeyedClassifier
from thalweg.rates import Constant, ErrorDriven, InverseSqrt

#: By the kind of their rows (`recorded.rows`), and then by the name of their file.
MODELS: dict[str, dict[str, Any]] = {
    "integers": {
        "online-ldc": OnlineLDC(0.7),
        "online-ldc-2008": OnlineLDC(0.4, covariance="2008", warmup=3),
        "online-ldc-soft": OnlineLDC(Constant(0.05), counts="soft", ridge=1e-3),
        "online-ldc-error-driven": OnlineLDC(ErrorDriven(0.3, 5)),
        "online-ldc-auto": OnlineLDC("auto", counts="soft"),
        "keyed": KeyedClassifier(OnlineLDC(0.1, counts="soft"), max_bytes=1 << 16),
        "online-ldc-float32": OnlineLDC(0.05, counts="soft", ridge=1e-3, dtype="float32"),
        "perceptron": Perceptron(0.5),
        "perceptron-averaged": Perceptron(InverseSqrt(1.0), margin=0.5, averaged=True, random_state=3),
        "perceptron-error-driven": Perceptron(ErrorDriven(0.5, 4), start_scale=0.0, intercept=False),
        "winnow": BalancedWinnow(0.6),
        "winnow-decaying": BalancedWinnow(InverseSqrt(0.5), random_state=1),
        "winnow-error-driven": BalancedWinnow(ErrorDriven(0.5, 6)),
        "hiraoka": HiraokaLDA(0.1),
        "hiraoka-one-axis": HiraokaLDA(ErrorDriven(0.1, 5), n_components=1, gradient="full"),
        "trend-forecast": TrendForecast(OnlineLDC(0.9), window=10),
        "trend-forecast-soft-ahead": TrendForecast(OnlineLDC(ErrorDriven(0.2, 5), counts="soft"), window=25, horizon=3),
        "trend-forecast-auto": TrendForecast(OnlineLDC(0.9, warmup=4), window="auto"),
        "trend-forecast-hiraoka": TrendForecast(HiraokaLDA(0.2), window=5),
        "passive-aggressive": PassiveAggressive(),
        "passive-aggressive-2": PassiveAggressive(0.1, variant="II"),
        "logistic": OnlineLogistic(0.1),
        "logistic-decaying": OnlineLogistic(InverseSqrt(0.5), penalty=0.01),
        "tiling": TilingClassifier(24, replace_every=20, min_age=20),
        "tiling-memory": TilingClassifier(24, step=0.03, memory=100, random_state=3),
        "kernel-mean": KernelMeanClassifier(),
        "kernel-mean-given": KernelMeanClassifier(sigma=2.0, rho=0.4, bias=0.01),
        "kernel-mean-float32": KernelMeanClassifier(sigma=2.0, tune=None, dtype="float32"),
        "kernel-mean-linear": KernelMeanClassifier("linear", tune=None),
        "kernel-mean-poly": KernelMeanClassifier("poly", degree=2),
        "kernel-mean-budget": KernelMeanClassifier(budget=8, forgetting=0.01),
        "kernel-mean-budget-given": KernelMeanClassifier(sigma=2.0, rho=0.4, bias=0.01, budget=5, forgetting=0.3),
        "learn-nse-ours": LearnNSE(OnlineLDC(0.3), block_size=32, weighting="lifetime", max_members=3, pruning="age"),
        "learn-nse-gaussian": LearnNSE(GaussianNB(), block_size=50),
        "learn-nse-calls": LearnNSE(GaussianNB()),
        "learn-nse-tree-resampled": LearnNSE(
            DecisionTreeClassifier(max_depth=5, random_state=0),
            block_size=32,
            train="resampled",
            weighting="recursive",
            max_members=3,
            pruning="error",
            random_state=5,
        ),
        "learn-nse-discriminant": LearnNSE(LinearDiscriminantAnalysis(), block_size=100),
        "learn-nse-logistic": LearnNSE(LogisticRegression(), block_size=100),
        "learn-nse-svc": LearnNSE(SVC(), block_size=70),
        "learn-nse-mlp": LearnNSE(MLPClassifier(4, max_iter=300, tol=0.1, random_state=0), block_size=100),
        "committee": Committee([OnlineLDC(0.1, counts="soft"), Perceptron(), PassiveAggressive()], loss="brier"),
        "committee-persistence": Committee([OnlineLDC("auto", counts="soft")], loss="log", persistence=True),
        "committee-members-in-python": Committee(
            [OnlineLDC(0.1, counts="soft"), LearnNSE(GaussianNB(), block_size=20), KernelMeanClassifier()]
        ),
        "auto-integers": AutoClassifier(curved=False),
        "logistic-balanced": OnlineLogistic(0.1, class_weight="balanced"),
        "perceptron-class-weights": Perceptron(0.5, class_weight={0: 3.0, 2: 0.5}),
        "recalibrated": Recalibrated(OnlineLDC("auto", counts="soft"), memory=100),
        "recalibrated-late": Recalibrated(OnlineLogistic(0.1), delay=9),
        "cost-sensitive": CostSensitive(OnlineLDC(0.3)),
        "cost-sensitive-labels": CostSensitive(OnlineLDC(0.3), {0: 3.0, (1, 0): 2.0, 2: {0: 0.5}}, recalibrate=False),
        "online-threshold": OnlineThreshold(OnlineLDC(0.3), "recall", target=0.8, positive=1),
        "prediction-sets": PredictionSets(OnlineLDC(0.3), 0.8),
        "no-change": NoChange(),
        "majority": MajorityClass(),
        "pipeline": StreamPipeline([StandardScaler(), OnlineLDC(0.3, counts="soft")]),
        "pipeline-named": StreamPipeline(
            [("scale", StandardScaler(forgetting=0.05, clip=5.0)), ("map", RandomFeatures(40)), ("model", Perceptron())]
        ),
        "pipeline-axes": StreamPipeline([RandomFeatures(12, sigma=3.0), CCIPCA(3), AutoClassifier(curved=False)]),
        "part": Part(OnlineLDC()),
        "part-later": Part(OnlineLDC(0.1, counts="soft"), later=True),
    },
    "strings": {
        "auto": AutoClassifier(curved=False),
        "auto-persistence": AutoClassifier(curved=False, persistence=True),
        "majority-strings": MajorityClass(),
        "part-strings": Part(MajorityClass()),
    },
    "weighted": {
        "online-ldc-weighted": OnlineLDC(0.1, counts="soft"),
        "perceptron-weighted": Perceptron(0.5),
        "part-weighted": Part(OnlineLDC()),
    },
    "named": {
        "online-ldc-named": OnlineLDC("auto", counts="soft"),
        "pipeline-of-names": StreamPipeline([StandardScaler(), OnlineLogistic(0.1)]),
    },
    "booleans": {"perceptron-booleans": Perceptron(0.5)},
    "floats": {"online-ldc-floats": OnlineLDC(0.2, counts="soft")},
    "two classes": {
        "hiraoka-two-classes": HiraokaLDA(0.1),
        "kernel-mean-two-classes": KernelMeanClassifier(),
        "learn-nse-svc-two-classes": LearnNSE(SVC(), block_size=70),
        "perceptron-two-classes": Perceptron(0.5),
    },
    "target": {
        "regression": OnlineLinearRegression(0.01),
        "regression-averaged": OnlineLinearRegression(0.05, averaged=True, penalty=0.01, forgetting=0.1),
        "regression-rls": OnlineLinearRegression(solver="rls", forgetting=0.02),
        "regression-rls-ridge": OnlineLinearRegression(solver="rls", penalty=0.5, intercept=False),
        "auto-regressor": AutoRegressor(curved=False, robust=True),
        "tiling-regressor": TilingRegressor(6, replace_every=20, min_age=30, local_widths=False),
        "tiling-regressor-local-widths": TilingRegressor(6, replace_every=20, min_age=30),
        "prediction-intervals": PredictionIntervals(OnlineLinearRegression(solver="rls"), 0.8),
        "pipeline-regression": StreamPipeline([StandardScaler(clip=3.0), OnlineLinearRegression(0.01)]),
        "part-regression": Part(OnlineLinearRegression(solver="rls")),
    },
    "targets": {
        "regression-two-targets": OnlineLinearRegression(InverseSqrt(0.02)),
        "regression-rls-two-targets": OnlineLinearRegression(solver="rls", penalty=0.1),
        "auto-regressor-two-targets": AutoRegressor(curved=False),
    },
    "sparse": {
        "auto-sparse": AutoClassifier(),
        "logistic-sparse": OnlineLogistic(1.0, per_feature=True, forgetting=0.01),
        "pipeline-sparse": StreamPipeline([StandardScaler(with_mean=False, clip=10.0), PassiveAggressive(0.1)]),
    },
    "sparse target": {
        "auto-regressor-sparse": AutoRegressor(),
        "auto-regressor-sparse-dense-columns": AutoRegressor(curved=False, dense_features=4),
        "regression-sparse": OnlineLinearRegression(0.05, averaged=True, forgetting=0.1, penalty=0.01),
    },
    "unlabelled": {
        "standard-scaler": StandardScaler(),
        "standard-scaler-forgetting": StandardScaler(forgetting=0.05, with_mean=False, clip=2.0),
        "ccipca": CCIPCA(2),
        "ccipca-2016": CCIPCA(2, amnesic=0.0, recursion="2016"),
        "ccipca-forgetting": CCIPCA(2, amnesic=3.5, forgetting=0.1),
        "random-features": RandomFeatures(10),
        "random-features-independent": RandomFeatures(25, sigma=5.0, orthogonal=False, random_state=3),
        "random-tilings": RandomTilings(5, depth=3, random_state=2),
        "pipeline-transformers": StreamPipeline([StandardScaler(), CCIPCA(2)]),
        "part-scaler": Part(StandardScaler()),
    },
    "keys": {
        "fleet": Fleet(OnlineLDC(0.1, counts="soft", warmup=2)),
        "fleet-capacity": Fleet(AutoClassifier(curved=False), capacity=3),
    },
    "string keys": {"fleet-strings": Fleet(Perceptron(ErrorDriven(0.5, 4)), key="pump")},
}
