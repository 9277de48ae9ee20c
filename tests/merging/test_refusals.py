"""What does not add up says so, by name and reason, before anything changes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB

from tests.merging.same_models import learn, some_rows
from thalweg import (
    AutoClassifier,
    BalancedWinnow,
    Committee,
    HiraokaLDA,
    LearnNSE,
    MajorityClass,
    NoChange,
    OnlineLDC,
    OnlineLinearRegression,
    OnlineLogistic,
    Part,
    PassiveAggressive,
    Perceptron,
    StandardScaler,
    StreamPipeline,
    TrendForecast,
    WindowForest,
    merge,
)
from thalweg.errors import InvalidInput, InvalidParameter, ModelFileError, NotAdditive
from thalweg.fleet import Fleet
from thalweg.rates import ErrorDriven, InverseSqrt
from thalweg.store import dumps, loads

STEPS = "each of its steps depends on what the rows before it had made of it"
MISTAKES = "its members are weighed by their mistakes, row by row"
REASONS = {
    "Perceptron": (Perceptron(), STEPS),
    "BalancedWinnow": (BalancedWinnow(), STEPS),
    "PassiveAggressive": (PassiveAggressive(), STEPS),
    "OnlineLogistic": (OnlineLogistic(), STEPS),
    "HiraokaLDA": (HiraokaLDA(), "each turn of its axes depends on those before it"),
    "gradient": (OnlineLinearRegression(), STEPS.replace("steps", "gradient steps")),
    "AutoClassifier": (AutoClassifier(), MISTAKES),
    "Committee": (Committee([OnlineLDC(), Perceptron()]), MISTAKES),
    "auto": (OnlineLDC("auto", counts="soft"), 'the rates of "auto" are weighed by their mistakes, row by row'),
    "TrendForecast": (TrendForecast(OnlineLDC()), "its trend runs through the class means in the order of their rows"),
    "WindowForest": (WindowForest(), "each cut depends on the rows before it"),
    "LearnNSE": (LearnNSE(GaussianNB()), "its members are weighed by their errors on the blocks that came after them"),
    "ridge": (OnlineLDC(ridge=0.1), "its ridge follows a long-run variance that depends on the order of the rows"),
    "2008": (
        OnlineLDC(covariance="2008"),
        'the update of covariance="2008" weighs a row by the rows of its class before it',
    ),
    "eager": (
        OnlineLDC(0.9),
        "with hard counts and a rate other than 0.5 a row's weight depends on the rows before it",
    ),
    "error-driven": (
        OnlineLDC(ErrorDriven(0.3)),
        "its rate is not constant, so that a row's weight depends on the rows before it",
    ),
    "decaying": (
        OnlineLDC(InverseSqrt(0.5), counts="soft"),
        "its rate is not constant, so that a row's weight depends on the rows before it",
    ),
    "soft": (
        OnlineLDC(0.1, counts="soft"),
        "with soft counts the later model's first rows weigh alike, as they would not after other rows; sum the later "
        "rows up by a Part(model, later=True) and add that",
    ),
    "scaler": (
        StandardScaler(forgetting=0.1),
        "with forgetting the later model's first rows weigh alike, as they would not after other rows; sum the later "
        "rows up by a Part(model, later=True) and add that",
    ),
    "penalty": (
        OnlineLinearRegression(solver="rls", penalty=1.0, forgetting=0.1),
        "with forgetting its penalty is topped up feature by feature, row by row",
    ),
    "pipeline": (
        StreamPipeline([StandardScaler(), OnlineLDC()]),
        "what its learner saw was made by transformers that had learned other rows",
    ),
    "Fleet": (
        Fleet(OnlineLDC()),
        "keys are kept in the order of their use; add the models of a key, which model_of gives",
    ),
}


@pytest.mark.parametrize(("model", "reason"), REASONS.values(), ids=REASONS)
def test_what_does_not_add_up_names_itself_and_the_reason(model, reason):
    name = type(model).__name__
    with pytest.raises(NotAdditive) as told:
        model + clone(model)
    assert str(told.value) == f"{'An' if name[0] in 'AEIOU' else 'A'} {name} does not add up: {reason}."
    with pytest.raises(NotAdditive):
        merge([model, clone(model)])


def test_what_forgets_gives_nothing_back():
    some = some_rows(60)
    for model in (OnlineLDC(0.1, counts="soft"), OnlineLinearRegression(solver="rls", forgetting=0.1), NoChange()):
        part = learn(Part(model, later=True), some)
        begun = learn(clone(model), some)
        for act in (lambda part=part: part - part, lambda b=begun, p=part: b - p, lambda b=begun: b - b):
            with pytest.raises(NotAdditive, match="cannot be distinguished from what it never learned"):
                act()


def test_different_models_parameters_columns_and_labels_are_refused_by_name():
    some = some_rows(40)
    model = learn(OnlineLDC(), some)
    frame = pd.DataFrame(some.X, columns=["wind", "heat", "sun"])
    named, swapped = OnlineLDC().fit(frame, some.y), OnlineLDC().fit(frame[["heat", "wind", "sun"]], some.y)
    refused = [
        (model, MajorityClass(), NotAdditive, "the other one is a MajorityClass, which knows other"),
        (model, OnlineLDC(warmup=3), InvalidParameter, r"'warmup' parameter of OnlineLDC .* got \(10, 3\)"),
        (model, Part(OnlineLDC(0.5, counts="soft"), later=True), InvalidParameter, "'counts' parameter of OnlineLDC"),
        (model, learn(OnlineLDC(), some._replace(X=some.X[:, :2])), InvalidInput, "same columns, got 3 and 2 of them"),
        (model, named, InvalidInput, "same columns, got some with names and some without"),
        (named, swapped, InvalidInput, "same columns, got 'wind' and 'heat' at place 0"),
        (model, OnlineLDC().fit(some.X, some.y == "dry"), InvalidInput, "y must hold strings like the labels learned"),
    ]
    for one, other, kind, words in refused:
        before = dumps(one), dumps(other)
        with pytest.raises(kind, match=words):
            one + other
        assert (dumps(one), dumps(other)) == before
    with pytest.raises(TypeError, match="unsupported operand"):
        model + 1
    with pytest.raises(InvalidInput, match="merge needs at least one model or part, got none"):
        merge([])
    with pytest.raises(InvalidInput, match="merge takes models and parts of thalweg, got 3"):
        merge([model, 3])
    with pytest.raises(InvalidParameter, match="'later' parameter of Part"):
        Part(OnlineLDC(0.1, counts="soft")) + Part(OnlineLDC(0.1, counts="soft"), later=True)
    changed = learn(OnlineLDC(), some).set_params(warmup=50)
    with pytest.raises(InvalidParameter, match="must not change once learning has begun"):
        changed + clone(changed)


def test_names_of_columns_stay_with_parts_and_merged_models():
    some = some_rows(60)
    frame = pd.DataFrame(some.X, columns=["wind", "heat", "sun"])
    parts = [Part(OnlineLDC()).learn(frame[:30], some.y[:30]), Part(OnlineLDC()).learn(frame[30:], some.y[30:])]
    merged = loads(dumps(loads(dumps(parts[0])) + parts[1])).fitted()
    assert merged.feature_names_in_.tolist() == ["wind", "heat", "sun"]
    assert merged.predict_one({"sun": 0.0, "heat": 1.0, "wind": 1.0}) in ("dry", "rain")
    with pytest.raises(InvalidInput, match="Column 0 of X must be 'wind'"):
        parts[0].learn(frame[["heat", "wind", "sun"]], some.y)
    rls = OnlineLinearRegression(solver="rls").fit(some.X, some.X[:, 0])
    columns = Part(rls).learn(some.X, some.X[:, :1])
    with pytest.raises(InvalidInput, match="same targets, got None and 1 columns of y"):
        rls + columns


def test_what_was_never_learned_cannot_be_taken_out():
    some = some_rows(80)
    model = learn(OnlineLDC(), some.cut(0, 40))
    elsewhere = some.cut(0, 30)._replace(X=100 * some.X[:30])
    foreign = [
        learn(Part(OnlineLDC()), some),
        learn(Part(OnlineLDC()), some.cut(0, 2)._replace(y=np.array(["hail", "dry"]))),
        learn(Part(OnlineLDC()), elsewhere),
    ]
    for part in foreign:
        with pytest.raises(InvalidInput, match="what is taken out of an OnlineLDC must have been learned by it"):
            model - part
    with pytest.raises(InvalidInput, match="what is taken out of a Part must have been learned by it"):
        Part(OnlineLDC()) - foreign[0]


def test_a_refused_row_leaves_a_part_as_it_was():
    some = some_rows(40)
    part = learn(Part(OnlineLDC()), some)
    before = dumps(part)
    for X, y, weight in (
        ([[np.nan] * 3], ["dry"], None),
        ([[0.0] * 2], ["dry"], None),
        ([[0.0] * 3], [1], None),
        ([[0.0] * 3], ["snow"], [-1.0]),
    ):
        with pytest.raises(InvalidInput):
            part.learn(X, y, sample_weight=weight)
        assert dumps(part) == before


def test_a_damaged_part_is_no_part():
    part = learn(Part(OnlineLDC()), some_rows(40))
    for name, value in (("weights", -1.0), ("scatter", np.nan), ("fade", 1.0), ("last", 7), ("rows", -1)):
        arrays = part._arrays()
        arrays[name] = np.full_like(arrays[name], value)
        with pytest.raises(ValueError, match="the sums"):
            Part._of_file(part.model, part._header(), arrays)
    content = bytearray(dumps(part))
    content[-3] ^= 1
    with pytest.raises(ModelFileError, match="is damaged"):
        loads(bytes(content))
