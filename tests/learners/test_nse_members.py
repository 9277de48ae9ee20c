"""Members asked together answer as they do one by one: ties, far offsets, no variance, threads."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from tests.learners.drifting_blocks import blocks_of
from thalweg import (
    AutoClassifier,
    BalancedWinnow,
    HiraokaLDA,
    LearnNSE,
    OnlineLDC,
    OnlineLogistic,
    PassiveAggressive,
    Perceptron,
)
from thalweg.learners.learn_nse.weights import ballots

STACKABLE = {
    "GaussianNB": GaussianNB(),
    "LDA": LinearDiscriminantAnalysis(),
    "LogisticRegression": LogisticRegression(max_iter=20),
    "OnlineLDC": OnlineLDC(0.3),
    "OnlineLDC-soft": OnlineLDC(0.1, counts="soft", ridge=1e-3),
    "Perceptron": Perceptron(),
    "Perceptron-averaged": Perceptron(averaged=True),
    "BalancedWinnow": BalancedWinnow(),
    "HiraokaLDA": HiraokaLDA(0.1),
    "HiraokaLDA-one-axis": HiraokaLDA(0.1, n_components=1),
    "PassiveAggressive": PassiveAggressive(),
    "OnlineLogistic": OnlineLogistic(),
}


@pytest.mark.filterwarnings("ignore:lbfgs failed to converge")  # far from the origin it takes long
@pytest.mark.parametrize("name", STACKABLE)
@pytest.mark.parametrize(("offset", "classes"), [(0.0, 3), (1e5, 2)])
def test_stacked_members_answer_as_they_do_one_by_one(name, offset, classes):
    rng = np.random.default_rng(5)
    model = LearnNSE(STACKABLE[name])
    for t, (X, y) in enumerate(blocks_of(1, 25, rows=20, classes=classes, features=3)):
        X = np.round(X, 1) + offset + 2.0 * t  # moves away from where it began; grid points: ties do happen
        X[:, 2] *= 1e-3
        model.partial_fit(X, y)
        if t % 8:
            continue
        points = np.vstack([X, X + rng.normal(size=X.shape), np.repeat(X[:1], 2, axis=0)])
        each = np.column_stack([member.predict(points) for member in model.members_])
        assert (model.classes_[model._core.members.answers(points)] == each).all()
    alone = {len(model._core.members[i].classes) for i in model._core.members._alone}
    assert alone <= {1}  # all others were stacked
    votes = np.column_stack([(each == k) @ ballots(model.weights_) for k in model.classes_])
    assert (model.decision_function(points) == (votes[:, 1] - votes[:, 0] if classes == 2 else votes)).all()


@pytest.mark.parametrize("name", STACKABLE)
def test_a_tie_between_classes_is_the_members_own(name):
    """Mirror images, moved and stretched: scores are zero but for rounding, which is the member's own business."""
    X = np.array([[-3.0, 1.0], [-1.0, -1.0], [-2.0, 0.3], [2.0, 0.3], [1.0, -1.0], [3.0, 1.0]])
    middle = np.column_stack([np.zeros(41), np.linspace(-2, 2, 41)])
    rng = np.random.default_rng(0)
    model = LearnNSE(STACKABLE[name]).partial_fit(X, [0, 0, 0, 1, 1, 1])
    for stretch, move in zip(rng.uniform(0.1, 3, (30, 2)), rng.normal(size=(30, 2)), strict=True):
        model.partial_fit(X * stretch + move, [0, 0, 0, 1, 1, 1])
        points = middle * stretch + move
        newest = model.members_[-1].predict(points)
        assert (model._core.members.answers(points)[:, -1] == newest).all()


def test_features_without_variance_are_asked_one_by_one():
    X = np.array([[0.0, 1.0], [0.0, 1.0], [0.0, 2.0], [0.0, 2.0]])
    model = LearnNSE(GaussianNB(var_smoothing=0.0))
    with np.errstate(all="ignore"):
        model.partial_fit(X, [0, 0, 1, 1])
        assert model.predict(X).tolist() == model.members_[0].predict(X).tolist()


@pytest.mark.parametrize("base", [DecisionTreeClassifier(), AutoClassifier(), SVC()])
def test_threads_change_nothing(base):
    one, two = LearnNSE(base, block_size=25), LearnNSE(base, block_size=25, n_jobs=2)
    for X, y in blocks_of(2, 4, rows=50):
        assert one.predict_then_learn(X, y).tolist() == two.predict_then_learn(X, y).tolist()
        assert one.predict(X).tolist() == two.predict(X).tolist()
    assert one.weights_.tolist() == two.weights_.tolist()
