"""What NumPy would turn into numbers or text without a word is refused in a sentence, and nothing is learned."""

import numpy as np
import pandas as pd
import pytest

from thalweg import OnlineLDC, OnlineLinearRegression
from thalweg.errors import InvalidInput, InvalidParameter
from thalweg.evaluate import prequential
from thalweg.streams import Table

X = np.array([[0.0, 1.0], [3.0, 4.0], [1.0, 1.0], [4.0, 4.0]])
Y = np.array([0, 1, 0, 1])
DAYS = np.arange("2026-01-01", "2026-01-05", dtype="M8[D]")
MASKED = np.ma.masked_array(X, mask=np.eye(4, 2, dtype=bool))

NO_ROWS = {
    "days": (np.stack([DAYS, DAYS], axis=1), "X must hold numbers, got datetime64"),
    "durations": ((DAYS - DAYS[0])[:, np.newaxis], "X must hold numbers, got timedelta64"),
    "days in a list": ([[day] for day in DAYS], "X must hold numbers, got datetime64"),
    "days as objects": (np.array([[day, 1.0] for day in DAYS], dtype=object), "X must hold numbers, got datetime64"),
    "timestamps": (np.array([[pd.Timestamp(day)] for day in DAYS]), "X must .* numbers: .* 'Timestamp'"),
    "masked": (MASKED, "X must hold a value in every cell, got a masked array"),
    "a list of dicts": ([{"a": 1.0}] * 4, "X must be an array or a frame, got a sequence of dicts"),
    "a dict of arrays": ({"a": X[:, 0], "b": X[:, 1]}, "X must be an array or a frame, got a dict"),
    "records": (np.zeros(4, dtype=[("a", float), ("b", float)]), "X must hold a number in each cell, got records"),
    "names of two kinds": (pd.DataFrame(X, columns=["a", 1]), "words for the names of all columns, .* 'a' and 1"),
    "a name twice": (pd.DataFrame(X, columns=["a", "a"]), "different name for each column, got 'a' more than once"),
}
NO_LABELS = {
    "text and a number": (["a", 1, "a", 1], "labels of one type, got integers and strings"),
    "truth and text": ([True, "a", True, "a"], "labels of one type, got booleans and strings"),
    "truth and a number": ([True, 2, True, 2], "labels of one type, got booleans and integers"),
    "text and NaN": (["a", float("nan"), "a", "b"], "got nan"),
    "bytes": (np.array([b"a", b"b", b"a", b"b"]), "got bytes: decode them"),
    "masked": (np.ma.masked_array(Y, mask=[0, 1, 0, 0]), "y must hold a label for every row, got a masked array"),
    "days": (DAYS, "y must hold integers, strings or booleans, got datetime64"),
}


@pytest.mark.parametrize("case", NO_ROWS)
@pytest.mark.parametrize("model", [OnlineLDC(), OnlineLinearRegression()], ids=repr)
def test_rows_that_only_look_like_numbers(case, model):
    given, message = NO_ROWS[case]
    before = vars(model).keys()
    with pytest.raises(InvalidInput, match=message):
        model.partial_fit(given, Y)
    assert vars(model).keys() == before
    with pytest.raises(InvalidInput, match="X"):
        Table(given, Y)


@pytest.mark.parametrize("case", NO_LABELS)
def test_labels_that_would_become_others(case):
    given, message = NO_LABELS[case]
    with pytest.raises(InvalidInput, match=message):
        OnlineLDC().partial_fit(X, given)
    with pytest.raises(InvalidInput, match="y"):
        list(prequential(OnlineLDC(), Table(X, given)))


def test_labels_of_one_type_written_in_two_ways_are_one():
    assert OnlineLDC().fit(X, [1, np.int64(2), 1, 2]).classes_.tolist() == [1, 2]
    assert OnlineLDC().fit(X, ["a", np.str_("b"), "a", "b"]).classes_.tolist() == ["a", "b"]


def test_nothing_masked_is_an_array_as_any():
    assert OnlineLDC().fit(np.ma.masked_array(X), np.ma.masked_array(Y)).predict(X).tolist() == Y.tolist()


@pytest.mark.parametrize("given", [DAYS, DAYS - DAYS[0], np.ma.masked_array(X[:, 0], mask=Y), ["a", "b", "a", "b"]])
def test_targets_and_weights_are_numbers(given):
    with pytest.raises(InvalidInput, match="y must"):
        OnlineLinearRegression().partial_fit(X, given)
    with pytest.raises(InvalidInput, match="sample_weight must"):
        OnlineLDC().fit(X, Y, sample_weight=given)
    with pytest.raises(InvalidInput, match="y"):
        list(prequential(OnlineLinearRegression(), Table(X, given)))


def test_a_weight_that_is_text_is_told_in_a_line():
    with pytest.raises(InvalidInput, match="sample_weight must hold numbers") as caught:
        OnlineLDC().fit(np.tile(X, (1000, 1)), np.tile(Y, 1000), sample_weight=["heavy"] * 4000)
    assert len(str(caught.value)) < 120


def test_wide_whole_numbers_of_polars_are_numbers():
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"a": pl.Series([0, 3, 1, 4], dtype=pl.Int128)})
    assert OnlineLDC().fit(frame, Y).predict(frame).tolist() == OnlineLDC().fit(X[:, :1], Y).predict(X[:, :1]).tolist()


@pytest.mark.parametrize("model", [OnlineLDC(), OnlineLinearRegression()])
@pytest.mark.parametrize("stream", [pd.DataFrame(X), X, 3, "rows.csv", {"a": X}, None])
def test_what_is_no_stream(model, stream):
    with pytest.raises(InvalidParameter, match=r"'stream' parameter of \w+ must come with y, or be a Stream"):
        prequential(model, stream)


@pytest.mark.parametrize("model", [OnlineLDC(), OnlineLinearRegression()])
def test_a_pair_of_arrays_is_no_pair_of_chunks(model):
    with pytest.raises(InvalidInput, match=r"a chunk must be a pair .* pass thalweg\.streams\.Table\(X, y\)"):
        list(prequential(model, (X, Y)))


def test_rivers_classifiers_do_not_mix_labels_either():
    pytest.importorskip("river", reason="River is not installed")
    from river import naive_bayes

    from thalweg.river import from_river

    model = from_river(naive_bayes.GaussianNB()).partial_fit(X, Y)
    with pytest.raises(InvalidInput, match="y must hold integers like the labels learned so far"):
        model.partial_fit(X, ["a", "b", "a", "b"])
