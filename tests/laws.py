"""What every learner obeys, as named functions. A learner opts out of a law by name, with a reason (`EXCEPTIONS`)."""

from __future__ import annotations

import copy
import pickle

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from thalweg import (
    CCIPCA,
    AutoClassifier,
    BalancedWinnow,
    Committee,
    CostSensitive,
    HiraokaLDA,
    KernelMeanClassifier,
    LearnNSE,
    OnlineLDC,
    OnlineLogistic,
    OnlineThreshold,
    PassiveAggressive,
    Perceptron,
    PredictionSets,
    RandomFeatures,
    Recalibrated,
    StandardScaler,
    StreamPipeline,
    TilingClassifier,
    TrendForecast,
    WindowForest,
    learners,
)
from thalweg.conformance import estimators
from thalweg.learners.base.kept_predictions import KeptPredictions
from thalweg.pipeline import TargetEncodedClassifier
from thalweg.rates import ErrorDriven, InverseSqrt
from thalweg.store import dumps, loads

#: Further modes of learners that have a path of their own; under a class's own name, in place of its defaults.
MODES = {
    "OnlineLDC": OnlineLDC(0.7),
    "OnlineLDC-2008": OnlineLDC(0.4, covariance="2008", warmup=3),
    "OnlineLDC-soft": OnlineLDC(0.05, counts="soft"),
    "OnlineLDC-soft-ridge": OnlineLDC(0.2, counts="soft", ridge=1e-3, warmup=1),
    "OnlineLDC-error-driven": OnlineLDC(ErrorDriven(0.3, 5)),
    "OnlineLDC-float32": OnlineLDC(0.05, counts="soft", ridge=1e-3, dtype="float32"),
    "Perceptron-averaged": Perceptron(InverseSqrt(1.0), margin=0.5, averaged=True, random_state=3),
    "Perceptron-error-driven": Perceptron(ErrorDriven(0.5, 4), start_scale=0.0),
    "Perceptron-no-intercept": Perceptron(0.5, margin=0.2, averaged=True, intercept=False),
    "BalancedWinnow": BalancedWinnow(0.6),
    "BalancedWinnow-decaying": BalancedWinnow(InverseSqrt(0.5)),
    "BalancedWinnow-error-driven": BalancedWinnow(ErrorDriven(0.5, 6), random_state=1),
    "HiraokaLDA-one-axis": HiraokaLDA(ErrorDriven(0.1, 5), n_components=1, gradient="full"),
    "TilingClassifier": TilingClassifier(12, replace_every=5, min_age=6),
    "TilingClassifier-memory": TilingClassifier(9, depth=2, step=0.05, memory=50, replace_every=7, min_age=0),
    "TrendForecast": TrendForecast(OnlineLDC(0.9), window=10),
    "TrendForecast-soft-ahead": TrendForecast(OnlineLDC(ErrorDriven(0.2, 5), counts="soft"), window=25, horizon=3),
    "TrendForecast-hiraoka": TrendForecast(HiraokaLDA(0.2), window=5),
    "TrendForecast-auto": TrendForecast(OnlineLDC(0.9, warmup=4), window="auto"),
    "PassiveAggressive-II": PassiveAggressive(0.1, variant="II"),
    "OnlineLogistic": OnlineLogistic(0.1),
    "OnlineLogistic-products": OnlineLogistic(0.1, per_feature=True, products=True),
    "OnlineLogistic-decaying": OnlineLogistic(InverseSqrt(0.5), penalty=0.01),
    "OnlineLDC-auto": OnlineLDC("auto", counts="soft"),
    "Committee": Committee([OnlineLDC(0.1, counts="soft"), Perceptron(), PassiveAggressive()], loss="brier"),
    "Committee-persistence": Committee([OnlineLDC("auto", counts="soft")], loss="log", persistence=True),
    "AutoClassifier-persistence": AutoClassifier(persistence=True),
    "OnlineLogistic-balanced": OnlineLogistic(0.1, class_weight="balanced"),
    "Perceptron-class-weights": Perceptron(0.5, class_weight={0: 3.0, 2: 0.5}),
    "PassiveAggressive-balanced": PassiveAggressive(class_weight="balanced"),
    "BalancedWinnow-class-weights": BalancedWinnow(0.6, class_weight={1: 2.0}),
    "OnlineLDC-class-weights": OnlineLDC(0.1, counts="soft", class_weight={0: 3.0, 2: 0.5}),
    "WindowForest": WindowForest(3, 2, rows=64, leaf_rows=8, least_gain=1.0, regrow_every=20),
    "WindowForest-once": WindowForest(
        4, 0, rows=64, leaf_rows=8, least_gain=0.5, bagging=0.0, change_level=0.0, regrow_every=0, step=0.0
    ),
    "TilingClassifier-balanced": TilingClassifier(9, step=0.05, replace_every=7, min_age=0, class_weight="balanced"),
    "Recalibrated-class-weights": Recalibrated(OnlineLogistic(0.1, class_weight={0: 3.0}), delay=5),
    "Recalibrated-late": Recalibrated(OnlineLDC("auto", counts="soft"), memory=20, delay=9),
    "CostSensitive-labels": CostSensitive(OnlineLDC(0.3), {0: 3.0, (1, 0): 2.0, 2: {0: 0.5}}, delay=2),
    "CostSensitive-kinds": CostSensitive(OnlineLogistic(0.1), {"fp": 1, "fn": 5}, positive=1, recalibrate=False),
    "OnlineThreshold-recall": OnlineThreshold(OnlineLDC(0.3), "recall", target=0.8, positive=1, memory=30),
    "OnlineThreshold-alerts": OnlineThreshold(Perceptron(), "alerts", target=0.2, memory=30, delay=4),
    "OnlineThreshold-cost": OnlineThreshold(OnlineLDC(0.3), "cost", costs={"fp": 1.0, "fn": 4.0}, positive=0),
    "PredictionSets-late": PredictionSets(Recalibrated(Perceptron()), coverage=0.8, step=0.5, delay=3),
    "PredictionSets-costs": PredictionSets(CostSensitive(OnlineLDC(0.3)), step=1.0),
    "StreamPipeline": StreamPipeline([StandardScaler(), OnlineLDC(0.3, counts="soft")]),
    "StreamPipeline-costs": StreamPipeline([StandardScaler(), CostSensitive(OnlineLDC(0.3), {0: 3.0})]),
    "StreamPipeline-named": StreamPipeline(
        [("scale", StandardScaler(forgetting=0.05, clip=5.0)), ("map", RandomFeatures(40)), ("model", Perceptron())]
    ),
    "StreamPipeline-axes": StreamPipeline([RandomFeatures(12, sigma=3.0), CCIPCA(3), AutoClassifier(curved=False)]),
    "TargetEncoded": TargetEncodedClassifier(OnlineLDC(0.3, counts="soft"), ((0, 1),)),
    "KernelMean-given": KernelMeanClassifier(sigma=2.0, rho=0.4, bias=0.01),
    "KernelMean-float32": KernelMeanClassifier(sigma=2.0, tune=None, dtype="float32"),
    "KernelMean-linear": KernelMeanClassifier("linear", tune=None),
    "KernelMean-poly": KernelMeanClassifier("poly", degree=2),
    "KernelMean-budget": KernelMeanClassifier(budget=8, forgetting=0.01),
    "KernelMean-budget-given": KernelMeanClassifier(sigma=2.0, rho=0.4, bias=0.01, budget=5, forgetting=0.3),
    "KernelMean-budget-one": KernelMeanClassifier(tune=None, budget=1),
    "LearnNSE-calls": LearnNSE(GaussianNB()),
    "LearnNSE-ours": LearnNSE(OnlineLDC(0.3), block_size=8, weighting="lifetime", max_members=3, pruning="age"),
    "LearnNSE-resampled": LearnNSE(
        DecisionTreeClassifier(max_depth=5),
        block_size=12,
        train="resampled",
        weighting="recursive",
        max_members=3,
        pruning="error",
    ),
}

#: Every classifier, as `thalweg.conformance` makes it and in its further modes: a new one needs no entry here.
LEARNERS = {
    name: model for name, model in estimators().items() if name in learners.__all__ and is_classifier(model)
} | MODES

#: (learner, law) -> why it does not hold.
EXCEPTIONS: dict[tuple[str, str], str] = {
    **{
        (name, "memory_does_not_grow_with_rows"): "the exact kernel mean machine is its rows"
        for name in (
            "KernelMeanClassifier",
            "KernelMean-given",
            "KernelMean-float32",
            "KernelMean-linear",
            "KernelMean-poly",
        )
    },
    (
        "TilingClassifier",
        "memory_does_not_grow_with_rows",
    ): "its file holds the cells met so far, of which there are 729 to a tiling at the most; tilings come and go",
    ("LearnNSE-calls", "chunks_do_not_matter"): "without a block size each call is a block, as in the paper",
    ("LearnNSE-calls", "an_announced_class_is_inert"): "the law splits its rows into two calls, which are two blocks",
    ("LearnNSE", "memory_does_not_grow_with_rows"): "no member is ever discarded, as in the paper",
    ("LearnNSE-calls", "memory_does_not_grow_with_rows"): "no member is ever discarded, as in the paper",
    ("LearnNSE-ours", "memory_does_not_grow_with_rows"): "75,000 members trained: fewer, in test_learn_nse",
    ("LearnNSE-resampled", "memory_does_not_grow_with_rows"): "50,000 trees trained: fewer, in test_learn_nse",
}


def fresh(model):
    return clone(model)


def learned(model, X, y):
    return fresh(model).partial_fit(X, y)


def predicting_changes_nothing(model, X, y):
    model = learned(model, X, y)
    before = dumps(model)
    model.predict(X)
    model.decision_function(X)
    if hasattr(model, "predict_proba"):
        model.predict_proba(X)
    for x in X[:5]:
        model.predict_one(x)
    assert dumps(model) == before


def chunks_do_not_matter(model, X, y):
    """Row by row, in uneven chunks, or at once: the same bytes."""
    whole = dumps(learned(model, X, y))
    uneven = fresh(model)
    start = 0
    for size in (1, 2, 7, 1, 30, len(X)):
        if start < len(X):
            uneven.partial_fit(X[start : start + size], y[start : start + size])
        start += size
    assert dumps(uneven) == whole
    single = fresh(model)
    for x, k in zip(X, y.tolist(), strict=True):
        single.learn_one(x, k)
    assert dumps(single) == whole
    answering = fresh(model)
    answering.predict_then_learn(X, y)
    assert dumps(answering) == whole


def predict_then_learn_is_the_loop(model, X, y):
    fast = fresh(model).predict_then_learn(X, y)
    slow = fresh(model)
    answers = [np.zeros(1, dtype=y.dtype).item()]  # before any label: the zero of the labels' type
    slow.learn_one(X[0], y[0].item())
    for x, k in zip(X[1:], y[1:].tolist(), strict=True):
        answers.append(slow.predict_one(x))
        assert slow.predict(x[None])[0] == answers[-1]
        slow.learn_one(x, k)
    assert fast.tolist() == answers


def detailed_answers_are_the_same_answers(model, X, y):
    """Probabilities and rates asked for on the way change nothing, and are those from before each row."""
    plain = fresh(model)
    detailed = fresh(model)
    answers = detailed.predict_then_learn(X, y, with_proba=True, with_rate=True)
    assert answers.labels.tolist() == plain.predict_then_learn(X, y).tolist()
    assert dumps(plain) == dumps(detailed)
    if answers.rate is not None:
        assert answers.rate[-1] == detailed.rate_
    if answers.proba is not None:
        np.testing.assert_allclose(answers.proba.sum(axis=1), 1.0)
        half = fresh(model).partial_fit(X[:-1], y[:-1])
        columns = np.searchsorted(detailed.classes_, half.classes_)
        np.testing.assert_allclose(answers.proba[-1, columns], half.predict_proba(X[-1:])[0])


def follow_is_the_loop(model, X, y):
    """Answers and learnings in any order, at once, are those of one row after the other."""
    rng = np.random.default_rng(len(X))
    orders = [
        rng.permutation(np.concatenate([np.arange(len(X)), ~rng.permutation(len(X))[: 2 * len(X) // 3]])),
        np.stack([np.arange(len(X)), ~np.arange(len(X))], axis=1).ravel(),
        np.stack([~np.arange(len(X))[::-1], np.arange(len(X))[::-1]], axis=1).ravel(),
    ]
    # Squared distances are differences of squared lengths, rounded differently for one row and for many.
    precision = np.finfo(getattr(model, "dtype", np.float64)).eps
    rounding = 64 * precision * (1 + np.square(X).sum(axis=1).max())
    for which, order in enumerate(orders):
        fast, slow = fresh(model), fresh(model)
        answers, proba = fast.follow(X, y, order, with_proba=True)
        expected = np.zeros_like(y)
        probabilities = {}
        has_members = getattr(slow._make_core(X.shape[1]), "kept_size", 0) > 0
        members = KeptPredictions.none(len(X))
        for step in order.tolist():
            if has_members:  # which are judged by what they predicted
                row = slice(max(step, ~step), max(step, ~step) + 1)
                own = members[row]
                given, likely = slow.follow(X[row], y[row], [-1 if step < 0 else 0], with_proba=True, kept=own)
                members.put(row, own)
                if step >= 0 and slow.__sklearn_is_fitted__():
                    expected[step] = given[0]
                    if which == 0 and likely is not None:
                        probabilities[step] = dict(zip(slow.classes_, likely[0], strict=True))
            elif step < 0:
                slow.learn_one(X[~step], y[~step].item())
            elif slow.__sklearn_is_fitted__():
                expected[step] = slow.predict_one(X[step])
                if which == 0 and hasattr(slow, "predict_proba"):
                    probabilities[step] = dict(zip(slow.classes_, slow.predict_proba(X[step][None])[0], strict=True))
        assert answers.tolist() == expected.tolist()
        assert dumps(fast) == dumps(slow)
        assert (proba is not None) == hasattr(model, "predict_proba")
        for row, by_class in probabilities.items():
            full = [by_class.get(label, 0.0) for label in fast.classes_]
            np.testing.assert_allclose(proba[row], full, atol=rounding)
    unpredicted, taught = fresh(model), fresh(model)
    unpredicted.follow(X, y, ~np.arange(len(X)))
    for x, label in zip(X, y.tolist(), strict=True):
        taught.learn_one(x, label)
    assert dumps(unpredicted) == dumps(taught)


def learn_then_test_is_the_loop(model, X, y):
    rng = np.random.default_rng(0)
    picks = rng.integers(0, len(X), (len(X), 11))  # eight side by side, and three
    mistakes = fresh(model).learn_then_test(X, y, X[picks], y[picks])
    slow = fresh(model)
    for t, (x, k) in enumerate(zip(X, y.tolist(), strict=True)):
        slow.learn_one(x, k)
        assert mistakes[t] == sum(slow.predict(X[picks[t]]) != y[picks[t]])


def a_new_class_may_come_at_any_row(model, X, y):
    """One class, then another of a lower label, then a third in between."""
    model = fresh(model)
    model.partial_fit(X[:5], np.full(5, 20))
    assert set(model.predict(X)) == {20}
    model.learn_one(X[5], -3)
    model.partial_fit(X[6:20], np.where(np.arange(14) % 2 == 0, 7, 20))
    assert model.classes_.tolist() == [-3, 7, 20]
    assert set(model.predict(X).tolist()) <= {-3, 7, 20}
    assert np.isfinite(model.decision_function(X)).all()


def an_announced_class_is_inert(model, X, y):
    told = fresh(model).partial_fit(X[:1], y[:1], classes=np.arange(-5, 9)).partial_fit(X[1:], y[1:])
    untold = learned(model, X, y)
    assert told.predict(X).tolist() == untold.predict(X).tolist()


def nothing_is_shared(model, X, y):
    """The caller's arrays are neither kept nor changed; copies and clones live their own lives."""
    mine_X, mine_y = X.copy(), y.copy()
    model = learned(model, mine_X, mine_y)
    before = dumps(model)
    assert (mine_X == X).all()
    assert (mine_y == y).all()
    mine_X[:] = 1e6
    mine_y[:] = 0
    assert dumps(model) == before
    after = set()
    for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert dumps(twin) == before
        after.add(dumps(twin.partial_fit(X, y)))
    assert dumps(model) == before
    assert after == {dumps(model.partial_fit(X, y))}


def saving_is_the_identity(model, X, y):
    half = len(X) // 2
    for rows in (2, half):  # in the middle of a warm-up, and after it
        first = learned(model, X[:rows], y[:rows])
        second = loads(dumps(first))
        assert dumps(second) == dumps(first)
        first.partial_fit(X[rows:], y[rows:])
        second.partial_fit(X[rows:], y[rows:])
        assert dumps(second) == dumps(first)


def the_same_seed_gives_the_same_model(model, X, y):
    assert dumps(learned(model, X, y)) == dumps(learned(model, X, y))


def fit_forgets(model, X, y):
    again = learned(model, X * 3 + 1, y).fit(X, y)
    assert dumps(again) == dumps(fresh(model).fit(X, y))


LAWS = [
    predicting_changes_nothing,
    chunks_do_not_matter,
    predict_then_learn_is_the_loop,
    detailed_answers_are_the_same_answers,
    follow_is_the_loop,
    learn_then_test_is_the_loop,
    a_new_class_may_come_at_any_row,
    an_announced_class_is_inert,
    nothing_is_shared,
    saving_is_the_identity,
    the_same_seed_gives_the_same_model,
    fit_forgets,
]
