"""Parameters: each rule has one sentence, and none may change in mid stream, however warm the model."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.naive_bayes import GaussianNB

from thalweg import Committee, OnlineLDC, Perceptron, StreamPipeline, TrendForecast
from thalweg.errors import InvalidParameter
from thalweg.parameters import FLAG, SEED, OneOf, Real, Whole

GOOD = np.arange(12.0).reshape(4, 3) % 5
LABELS = np.array([0, 1, 0, 1])


@pytest.mark.parametrize(
    ("rule", "text", "allowed", "refused"),
    [
        (
            Real(0, 1, "left"),
            "lie in [0, 1)",
            [0, 0.5, np.float32(0.5), np.int64(0)],
            [1, -0.1, np.nan, True, "0", None],
        ),
        (Real(0, 1, "neither"), "lie in (0, 1)", [0.5], [0, 1, np.array(0.5), 0.5j]),
        (Real(0, 1, "both"), "lie in [0, 1]", [0, 1, 0.5], [-1e-9, 1 + 1e-9]),
        (Real(0, 1, "right"), "lie in (0, 1]", [1], [0]),
        (Real(0), "be a finite number >= 0", [0, 1e300], [np.inf, np.nan, 10**400, -1]),
        (Real(0, closed="neither"), "be a positive finite number", [1e-300], [0, np.inf]),
        (Real(2, closed="neither"), "be a finite number > 2", [2.1], [2]),
        (Real(), "be a finite number", [-1e300], [np.inf, -np.inf, False, np.True_]),
        (Whole(1), "be an integer >= 1", [1, np.uint8(1), 10**400], [0, 1.0, True, "1", np.array(1)]),
        (Whole(0, 1000), "be an integer from 0 to 1,000", [0, 1000], [-1, 1001]),
        (Whole(1).or_else(None), "be an integer >= 1 or None", [1, None], [0, "None"]),
        (Whole(1).or_else("auto"), 'be an integer >= 1 or "auto"', [1, "auto"], [0, None, np.array(["auto", "auto"])]),
        (OneOf("a", "b"), 'be "a" or "b"', ["a", np.str_("b")], ["c", None, ["a"], np.array(["a", "b"])]),
        (OneOf("a", "b", None), 'be "a", "b" or None', ["a", None], ["None", 0]),
        (SEED, "be an integer from 0 to 2**63 - 1", [0, 2**63 - 1], [-1, 2**63]),
        (FLAG, "be True or False", [True, np.False_], [0, 1, None, "True"]),
    ],
)
def test_a_rule_says_what_it_allows(rule, text, allowed, refused):
    for value in allowed:
        rule.check("Owner", "name", value)
    for value in refused:
        with pytest.raises(InvalidParameter) as found:
            rule.check("Owner", "name", value)
        assert str(found.value) == f"The 'name' parameter of Owner must {text}, got {value!r}."


def _warm(model):
    return model.partial_fit(GOOD, LABELS).partial_fit(GOOD, LABELS).partial_fit(GOOD, LABELS)


CHANGES = {
    "own": (lambda: OnlineLDC(0.5), lambda model: setattr(model, "rate", 0.9)),
    "nested": (lambda: TrendForecast(OnlineLDC(0.5)), lambda model: setattr(model.base, "rate", 0.9)),
    "replaced": (lambda: TrendForecast(OnlineLDC(0.5)), lambda model: setattr(model, "base", OnlineLDC(0.9))),
    "in a list": (
        lambda: Committee([Perceptron(), GaussianNB()]),
        lambda model: setattr(model.members[0], "rate", 0.1),
    ),
    "in a tuple": (lambda: Committee((Perceptron(),)), lambda model: setattr(model.members[0], "rate", 0.1)),
    "of scikit-learn": (
        lambda: Committee([GaussianNB()]),
        lambda model: setattr(model.members[0], "priors", [0.5, 0.5]),
    ),
    "list grown": (lambda: Committee([Perceptron()]), lambda model: model.members.append(GaussianNB())),
    "list element": (lambda: Committee([Perceptron()]), lambda model: model.members.__setitem__(0, Perceptron(0.1))),
    "numbers": (lambda: Committee([Perceptron()], handicaps=[0.0]), lambda model: model.handicaps.__setitem__(0, 1.0)),
    "two deep": (
        lambda: StreamPipeline([("mix", Committee([Perceptron()]))]),
        lambda model: setattr(model.steps[0][1].members[0], "margin", 1.0),
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_parameter_that_changes_in_a_warm_model_is_noticed(change):
    make, spoil = CHANGES[change]
    model = _warm(make())
    for spoiled in (model, copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        _warm(spoiled)
        spoil(spoiled)
        with pytest.raises(InvalidParameter, match="must not change once learning has begun"):
            spoiled.partial_fit(GOOD, LABELS)
    assert _warm(model.fit(GOOD, LABELS))


def test_a_parameter_changed_back_after_a_new_start_is_noticed():
    model = _warm(OnlineLDC(0.5))
    _ = model.set_params(rate=0.9).fit(GOOD, LABELS)
    with pytest.raises(InvalidParameter, match=r"it was 0.9, now 0.5"):
        model.set_params(rate=0.5).partial_fit(GOOD, LABELS)


def test_a_parameter_may_be_replaced_by_an_equal_one():
    model = _warm(TrendForecast(OnlineLDC(0.5)))
    model.set_params(base=OnlineLDC(0.5), horizon=np.int64(1)).partial_fit(GOOD, LABELS)


def test_a_warm_model_is_not_asked_for_its_parameters_again(monkeypatch):
    models = [make() for make, _ in CHANGES.values()]
    for model in models:
        _warm(model)
    monkeypatch.setattr(BaseEstimator, "get_params", lambda *_, **__: pytest.fail("parameters were asked for"))
    for model in models:
        model.predict_then_learn(GOOD, LABELS)
