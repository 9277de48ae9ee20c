"""A part beside its sums: parameters that stay, copies, the order it is written in, and what commands tell of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from tests.cli.calls import run
from tests.merging.same_models import assert_same, learn, some_rows
from thalweg import MajorityClass, OnlineLDC, OnlineLinearRegression, Part, Perceptron, merge
from thalweg.errors import InvalidParameter, NotAdditive
from thalweg.store import dumps, loads, save

SOFT = OnlineLDC(0.1, counts="soft")


@pytest.mark.parametrize(
    ("change", "name"),
    [({"later": True}, "later"), ({"model__rate": 0.3}, "model__rate"), ({"model": MajorityClass()}, "model")],
    ids=["later", "rate", "model"],
)
@pytest.mark.parametrize("saved", [False, True], ids=["made", "loaded"])
def test_parameters_stay_once_a_row_is_learned(change, name, saved):
    some = some_rows(40)
    part = learn(Part(SOFT), some)
    part = loads(dumps(part)) if saved else part
    before = dumps(part)
    with pytest.raises(InvalidParameter, match=f"The '{name}' parameter of Part must not change once learning has"):
        part.set_params(**change)
    assert dumps(part) == before
    assert part.set_params(later=False, model__rate=0.1) is part


def test_parameters_changed_behind_the_back_of_a_part_are_found_out():
    some = some_rows(40)
    for change in (lambda part: setattr(part, "later", True), lambda part: part.model.set_params(rate=0.3)):
        part = learn(Part(SOFT), some)
        change(part)
        for use in (
            lambda part=part: learn(part, some),
            part.fitted,
            lambda part=part: part + part,
            lambda part=part: SOFT + part,
            lambda part=part: dumps(part),
        ):
            with pytest.raises(InvalidParameter, match=r"must not change once .*: make a new Part to start anew"):
                use()


def test_parameters_of_an_empty_part_may_change_by_the_rules_of_a_new_one():
    some = some_rows(40)
    part = Part(OnlineLinearRegression(solver="rls")).set_params(model=SOFT, later=True).set_params(model__rate=0.2)
    assert dumps(learn(part, some)) == dumps(learn(Part(OnlineLDC(0.2, counts="soft"), later=True), some))
    empty = Part(OnlineLDC())
    for wrong in ("x", 1, None):
        for act in (
            lambda wrong=wrong: Part(OnlineLDC(), later=wrong),
            lambda wrong=wrong: empty.set_params(later=wrong),
        ):
            with pytest.raises(InvalidParameter, match="The 'later' parameter of Part must be True or False, got"):
                act()
    with pytest.raises(NotAdditive):
        empty.set_params(model=Perceptron())
    assert dumps(empty) == dumps(Part(OnlineLDC()))
    assert Part(OnlineLDC(), later=np.True_).later is True


def test_a_clone_is_an_empty_part_with_the_same_parameters():
    part = learn(Part(SOFT, later=True), some_rows(40))
    assert dumps(clone(part)) == dumps(Part(SOFT, later=True))


def test_python_s_sum_adds_up():
    some = some_rows(80)
    pieces = some.cut(0, 40), some.cut(40)
    models, parts = [learn(OnlineLDC(), each) for each in pieces], [learn(Part(OnlineLDC()), each) for each in pieces]
    assert_same(sum(models), learn(OnlineLDC(), some), some.X)
    assert_same(sum(parts).fitted(), OnlineLDC().fit(some.X, some.y), some.X)
    assert sum(models[:1]) is not models[0]
    for number in (1, 0.0):
        with pytest.raises(TypeError, match="unsupported operand"):
            number + models[0]


def test_what_stands_in_the_wrong_place_is_told_in_a_sentence():
    some = some_rows(40)
    model, part = learn(OnlineLDC(), some), learn(Part(OnlineLDC()), some)
    refused = {
        "A Part comes after the model that it is added to: write model [+] part": [lambda: part + model],
        "a model and then parts, got a model after a part": [
            lambda: merge([part, model]),
            lambda: merge([model, part, model]),
        ],
        "merge takes a list of models or parts, got a single OnlineLDC": [lambda: merge(model)],
        "merge takes a list of models or parts, got a single Part": [lambda: merge(part)],
        "merge takes a list of models or parts, got 3": [lambda: merge(3)],
        "An OnlineLDC does not add up: the other one is a MajorityClass": [lambda: model + Part(MajorityClass())],
    }
    for words, acts in refused.items():
        for act in acts:
            with pytest.raises(NotAdditive, match=words):
                act()


def test_a_saved_part_is_inspected_and_answers_nothing(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    some = some_rows(40)
    frame = pd.DataFrame(some.X, columns=["wind", "heat", "sun"])
    save(Part(OnlineLDC()), "empty.thalweg")
    save(Part(SOFT, later=True).learn(frame, some.y), "part.thalweg")
    code, said, complaint = run(capsys, "inspect", "empty.thalweg")
    assert (code, complaint, "It has learned nothing yet." in said) == (0, "", True)
    code, said, complaint = run(capsys, "inspect", "part.thalweg")
    assert (code, complaint, said.startswith("Part of an OnlineLDC, ")) == (0, "", True)
    for line in ("the sums of 40 rows, later ones", "3 features", "columns: wind, heat, sun", "2 classes: dry, rain"):
        assert f"\n{line}\n" in said
    Path("table.csv").write_text("wind,heat,sun\n1,2,3\n")
    code, _, complaint = run(capsys, "predict", "part.thalweg", "table.csv")
    assert (code, complaint.count("\n")) == (2, 1)
    assert "part.thalweg is a Part, the sums of some rows: make a model of it with fitted() first" in complaint
