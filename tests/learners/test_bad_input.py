"""Bad input: one clear error that names what, the rule and what came; and the model's bytes are as they were."""

from __future__ import annotations

import re
from collections import UserDict
from concurrent.futures import ThreadPoolExecutor
from types import MappingProxyType

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from tests.laws import LEARNERS
from thalweg import BalancedWinnow, HiraokaLDA, OnlineLDC, OnlineLinearRegression, Perceptron, StandardScaler
from thalweg.errors import InvalidInput, InvalidParameter
from thalweg.rates import Constant, ErrorDriven, InverseSqrt
from thalweg.store import dumps

pl = pytest.importorskip("polars")

GOOD = np.arange(12.0).reshape(4, 3) % 5
LABELS = np.array([0, 1, 0, 1])


def refusal(method, X, y):
    """What a call that must be refused says."""
    try:
        method(X, y)
    except InvalidInput as error:
        return str(error)
    return "it was not refused"


def spoiled(value):
    X = GOOD.copy()
    X[2, 1] = value
    return X


BAD_ROWS = {
    "NaN": (spoiled(np.nan), LABELS, r"X must hold finite numbers .* got NaN at row 2, column 1"),
    "inf": (spoiled(np.inf), LABELS, r"X must hold finite numbers .* got infinity .* at row 2, column 1"),
    "huge": (spoiled(1e60), LABELS, r"within ±1e\+50, got 1e\+60 at row 2, column 1"),
    "named": (pd.DataFrame(spoiled(np.nan), columns=list("abc")), LABELS, r"row 2, column 'b'"),
    "narrow": (GOOD[:, :2], LABELS, r"X has 2 features, but \w+ is expecting 3"),
    "empty": (GOOD[:0], LABELS[:0], r"0 sample"),
    "flat": (GOOD[0], LABELS[:1], r"X must be a two-dimensional array of numbers"),
    "strings": (np.array([["1", "b", "c"]]), [0], r"got 'b' at row 0, column 1: TableClassifier"),
    "ragged": ([[1.0, 2.0, 3.0], [1.0]], [0, 1], r"X must be a two-dimensional array"),
    "huge label": (GOOD, np.array([2**63 + 5, 0, 1, 2], dtype=np.uint64), r"y must hold integers below 2\*\*63"),
    "huge object label": (GOOD, np.array([2**70, 0, 1, 2], dtype=object), r"integers from -2\*\*63 to 2\*\*63 - 1"),
    "short y": (GOOD, LABELS[:3], r"y must have one label for each of the 4 rows of X, got 3"),
    "no y": (GOOD, None, r"requires y"),
    "continuous y": (GOOD, [0.1, 0.2, 0.3, 0.4], r"y must be .* class labels: Unknown label type: continuous"),
    "NaN in y": (GOOD, [0.0, np.nan, 1.0, 0.0], r"y must hold a label for every row"),
    "new type": (GOOD, ["a", "b", "a", "b"], r"y must hold integers like the labels learned so far, got 'a'"),
    "mixed types": (GOOD, np.array([0, "b", 1, "c"], dtype=object), r"labels of one type, got integers and strings"),
    "objects": (
        GOOD,
        np.array([0, None, 1, 0], dtype=object),
        r"y must be an integer, a string or a boolean, got None",
    ),
    "booleans": (GOOD, [True, False, True, False], r"y must hold integers like the labels learned so far, got True"),
}


@pytest.mark.quick(30)
@pytest.mark.parametrize("name", LEARNERS)
def test_a_refused_chunk_changes_nothing(name):
    model = clone(LEARNERS[name]).partial_fit(GOOD, LABELS)
    before = dumps(model)
    for case, (X, y, message) in BAD_ROWS.items():
        for method in (model.partial_fit, model.predict_then_learn):
            told = refusal(method, X, y)
            assert re.search(message, told), f"{case}: {told}"
            assert dumps(model) == before, case
    assert model.partial_fit(GOOD, LABELS).predict(GOOD).shape == (4,)


@pytest.mark.parametrize("case", [case for case in BAD_ROWS if case not in ("narrow", "new type", "booleans")])
def test_a_refused_first_chunk_leaves_a_fresh_model(case):
    X, y, message = BAD_ROWS[case]
    model = OnlineLDC()
    with pytest.raises(ValueError, match=message):
        model.partial_fit(X, y)
    assert vars(model).keys() == vars(OnlineLDC()).keys()
    with pytest.raises(NotFittedError):
        model.predict(GOOD)


BAD_SINGLE_ROWS = {
    "NaN": ([1.0, np.nan, 0.0], 1, r"finite and within ±1e50, got nan in column 1"),
    "narrow": ([1.0, 2.0], 1, r"the model's 3 features, got 2"),
    "string value": ([1.0, "x", 2.0], 1, r"must be numbers, got 'x' in column 1"),
    "a string": ("abc", 1, r"must hold numbers, got the text 'abc': put a TextHasher before the model"),
    "a number": (7, 1, r"an array, a sequence of numbers or a dict"),
    "nameless dict": ({"a": 1.0, "b": 2.0, "c": 3.0}, 1, r"needs a model that knows its feature names"),
    "label type": ([1.0, 2.0, 3.0], "one", r"y must hold integers like the labels learned so far, got 'one'"),
    "label None": ([1.0, 2.0, 3.0], None, r"y must be an integer, a string or a boolean, got None"),
    "new label, bad row": ([1.0, np.inf, 3.0], 77, r"got inf in column 1"),
}


@pytest.mark.parametrize("name", LEARNERS)
def test_a_refused_row_changes_nothing(name):
    model = clone(LEARNERS[name]).partial_fit(GOOD, LABELS)
    before = dumps(model)
    for case, (x, y, message) in BAD_SINGLE_ROWS.items():
        told = refusal(model.learn_one, x, y)
        assert re.search(message, told), f"{case}: {told}"
        assert dumps(model) == before, case


@pytest.mark.parametrize("label", [None, 1.5, object(), float("nan"), 2**70, [1], b"bytes"])
def test_a_refused_first_label_leaves_a_fresh_model(label):
    model = OnlineLDC()
    with pytest.raises(InvalidInput, match="y must"):
        model.learn_one([1.0, 2.0], label)
    assert vars(model).keys() == vars(OnlineLDC()).keys()
    assert model.learn_one([1.0, 2.0], "fine").predict_one([1.0, 2.0]) == "fine"


@pytest.mark.parametrize("row", [[], {}, np.empty(0), None, 7, "a text"])
def test_a_refused_first_row_leaves_a_fresh_model(row):
    model = OnlineLDC()
    with pytest.raises(InvalidInput, match="a row must"):
        model.learn_one(row, 1)
    assert vars(model).keys() == vars(OnlineLDC()).keys()
    with pytest.raises(InvalidInput, match="a row"):
        model.learn_one([1.0, 2.0], 1).predict_one(row)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint32, np.int64])
def test_integers_of_every_width_are_the_same_labels(dtype):
    model = OnlineLDC().partial_fit(GOOD, [300, 500, 300, 500])
    model.partial_fit(GOOD, np.array([7, 8, 7, 8], dtype=dtype)).learn_one(GOOD[0], dtype(9))
    assert model.classes_.tolist() == [7, 8, 9, 300, 500]
    assert model.classes_.dtype == np.int64
    assert set(model.predict(GOOD)) <= {7, 8, 9, 300, 500}


def test_rows_of_other_mappings_are_read_by_name():
    frame = pd.DataFrame(GOOD, columns=["a", "b", "c"])
    model = OnlineLDC().partial_fit(frame, LABELS)
    named = {"c": -9.0, "b": 0.0, "a": 3.0}
    for row in (pd.Series(named), MappingProxyType(named), UserDict(named)):
        assert model.predict_one(row) == model.predict_one(named)
    with pytest.raises(InvalidInput, match="'b' is missing"):
        model.predict_one(pd.Series({"a": 1.0, "x": 2.0, "c": 3.0}))
    nameless = OnlineLDC().partial_fit(GOOD, LABELS)
    assert nameless.predict_one(pd.Series(GOOD[0])) == nameless.predict_one(GOOD[0])


def test_values_that_run_code_cannot_crash():
    class Meddler:
        def __init__(self, rows):
            self.rows = rows

        def __float__(self):
            self.rows.clear()
            return 1.0

    model = OnlineLDC().partial_fit(pd.DataFrame(GOOD, columns=list("abc")), LABELS)
    row = [0.0, 1.0, 2.0]
    row[0] = Meddler(row)
    assert model.predict_one(row) in (0, 1)
    named = {"a": 0.0, "b": 1.0, "c": 2.0}
    named["a"] = Meddler(named)
    with pytest.raises(InvalidInput, match="is missing"):
        model.predict_one(named)


def test_one_thread_may_learn_while_others_predict():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 5))
    y = rng.integers(0, 2, 20_000)
    model, alone = OnlineLDC().partial_fit(X, y), OnlineLDC().partial_fit(X, y)
    with ThreadPoolExecutor(3) as pool:
        readers = [pool.submit(lambda: set(model.predict(X).tolist())) for _ in range(30)]
        for x, k in zip(X[:2000], y[:2000].tolist(), strict=True):
            model.learn_one(x, k)
            alone.learn_one(x, k)
        assert all(reader.result() <= {0, 1} for reader in readers)
    assert dumps(model) == dumps(alone)


def test_threads_that_break_the_rules_do_not_break_the_process():
    """New classes while others predict and learn: answers may be stale, memory may not."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5_000, 5))
    y = rng.integers(0, 2, 5_000)
    model = OnlineLDC().partial_fit(X, y)
    core = model._core
    out = np.empty(5_000, dtype=np.int64)

    def learn(i):
        core.announce(core.n_classes)
        core.run(X[:500], y[:500])
        core.answers(X, out)

    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(learn, i) for i in range(60)]:
            done.result()
    assert core.n_classes == 62
    assert core.state()["counts"].sum() == 5_000 + 60 * 500


def test_dict_rows():
    model = OnlineLDC()
    for i in range(20):
        model.learn_one({"b": float(i % 3), "a": i * 0.1}, "x" if i % 2 else "y")
    assert model.feature_names_in_.tolist() == ["b", "a"]
    assert model.predict_one({"a": 0.5, "b": 1.0}) == model.predict_one([1.0, 0.5])
    for row, message in (
        ({"a": 1.0}, r"2 features, got 1"),
        ({"a": 1.0, "z": 2.0}, r"every feature the model knows; 'b' is missing"),
        ({"a": 1.0, "b": "two"}, r"must be numbers, got 'two' in column 'b'"),
        ({"a": float("nan"), "b": 0.0}, r"got nan in column 'a'"),
    ):
        before = dumps(model)
        with pytest.raises(InvalidInput, match=message):
            model.learn_one(row, "x")
        with pytest.raises(InvalidInput, match=message):
            model.predict_one(row)
        assert dumps(model) == before


def test_column_names_are_remembered_and_checked():
    frame = pd.DataFrame(GOOD, columns=["a", "b", "c"])
    model = OnlineLDC().partial_fit(frame, LABELS)
    assert (
        model.predict_one({"c": 1.0, "a": 0.0, "b": 2.0})
        == model.predict(pd.DataFrame([[0.0, 2.0, 1.0]], columns=list("abc")))[0]
    )
    before = dumps(model)
    with pytest.raises(ValueError, match="feature names"):
        model.partial_fit(frame[["c", "b", "a"]], LABELS)
    assert dumps(model) == before


BAD_PARAMETERS = [
    (OnlineLDC, {"rate": 1.0}, "The 'rate' parameter of OnlineLDC must be a float in \\(0, 1\\) .* got 1.0"),
    (OnlineLDC, {"rate": float("nan")}, "'rate' parameter of OnlineLDC"),
    (OnlineLDC, {"rate": "auto?"}, "'rate' parameter of OnlineLDC .* got 'auto\\?'"),
    (OnlineLDC, {"counts": "firm"}, "'counts' parameter of OnlineLDC must be \"hard\" or \"soft\", got 'firm'"),
    (OnlineLDC, {"covariance": "2018"}, "'covariance' parameter of OnlineLDC"),
    (OnlineLDC, {"warmup": -1}, "'warmup' parameter of OnlineLDC must be an integer from 0 .* got -1"),
    (OnlineLDC, {"warmup": 2.5}, "'warmup' parameter"),
    (OnlineLDC, {"ridge": -0.1}, "'ridge' parameter of OnlineLDC"),
    (OnlineLDC, {"ridge": float("inf")}, "'ridge' parameter of OnlineLDC"),
    (Perceptron, {"rate": 0.0}, "'rate' parameter of Perceptron must be a positive float"),
    (Perceptron, {"margin": -1.0}, "'margin' parameter of Perceptron"),
    (Perceptron, {"averaged": "yes"}, "'averaged' parameter of Perceptron"),
    (Perceptron, {"random_state": -1}, "'random_state' parameter of Perceptron"),
    (BalancedWinnow, {"rate": 1.5}, "'rate' parameter of BalancedWinnow"),
    (BalancedWinnow, {"random_state": None}, "'random_state' parameter of BalancedWinnow"),
    (HiraokaLDA, {"n_components": 4}, "'n_components' parameter of HiraokaLDA must be at most .* 3, got 4"),
    (HiraokaLDA, {"n_components": 0}, "'n_components' parameter of HiraokaLDA"),
    (HiraokaLDA, {"gradient": "steep"}, "'gradient' parameter of HiraokaLDA"),
]


@pytest.mark.parametrize(("model", "options", "message"), BAD_PARAMETERS)
def test_bad_parameters_are_named(model, options, message):
    for attempt in (
        lambda m: m.partial_fit(GOOD, LABELS),
        lambda m: m.fit(GOOD, LABELS),
        lambda m: m.learn_one(GOOD[0], 0),
    ):
        with pytest.raises(InvalidParameter, match=message):
            attempt(model(**options))


@pytest.mark.parametrize(
    ("rate", "options"),
    [
        (Constant, {"value": 0.0}),
        (InverseSqrt, {"eta0": -1.0}),
        (ErrorDriven, {"start": 1.0}),
        (ErrorDriven, {"window": 0}),
    ],
)
def test_bad_rates_are_named(rate, options):
    with pytest.raises(InvalidParameter, match=f"'{next(iter(options))}' parameter of {rate.__name__}"):
        rate(**options)


def test_a_parameter_may_not_change_in_mid_stream():
    model = OnlineLDC(0.5).partial_fit(GOOD, LABELS)
    model.set_params(rate=0.9)
    with pytest.raises(
        InvalidParameter, match=r"'rate' parameter of OnlineLDC must not change once learning has begun"
    ):
        model.partial_fit(GOOD, LABELS)
    assert model.fit(GOOD, LABELS).rate_ == 0.9


def by_rows(model):
    """The methods that take a single row, as functions of it."""
    if isinstance(model, StandardScaler):
        return model.learn_one, model.transform_one
    return (lambda x: model.learn_one(x, 1.0 if isinstance(model, OnlineLinearRegression) else 1)), model.predict_one


@pytest.mark.parametrize("learned", [False, True])
@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("model", [OnlineLDC(), OnlineLinearRegression(solver="rls"), StandardScaler()], ids=repr)
def test_a_frame_of_one_row_is_no_row(model, library, learned):
    frame = pd.DataFrame(GOOD, columns=["a", "b", "c"])
    model = clone(model).partial_fit(frame, LABELS) if learned else clone(model)
    one = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.Table.from_pandas}[library](frame.iloc[:1])
    for call in by_rows(model) if learned else by_rows(model)[:1]:
        with pytest.raises(InvalidInput, match="a row must be one row, not a frame"):
            call(one)


@pytest.mark.parametrize("model", [OnlineLDC(), OnlineLinearRegression(solver="rls"), StandardScaler()], ids=repr)
def test_features_that_a_dict_lacks_are_named(model):
    model = clone(model).partial_fit(pd.DataFrame(GOOD, columns=["a", "b", "c"]), LABELS)
    for call in by_rows(model):
        with pytest.raises(InvalidInput, match=r"the model's 3 features, got 1: it lacks 'a', 'c'$"):
            call({"b": 1.0})
        with pytest.raises(InvalidInput, match=r"3 features, got 4: it lacks 'c'; the model does not know 'd', 'e'$"):
            call({"a": 1.0, "b": 1.0, "d": 1.0, "e": 1.0})


def test_few_of_many_missing_features_are_named():
    names = [f"x{i}" for i in range(50)]
    model = OnlineLDC().partial_fit(pd.DataFrame(np.tile(GOOD[:, :1], 50), columns=names), LABELS)
    with pytest.raises(InvalidInput, match=r"got 1: it lacks 'x1', 'x2', 'x3' and 46 more$"):
        model.predict_one({"x0": 1.0})


@pytest.mark.parametrize(
    "name", ["OnlineLDC", "OnlineLDC-soft-ridge", "OnlineLDC-auto", "Perceptron-averaged", "TrendForecast", "Committee"]
)
def test_many_rows_are_looked_at_on_the_way_and_forgotten_where_one_is_bad(name):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 2200)
    X = rng.normal(size=(len(y), 64)) + y[:, None]
    X[:, 2:] *= 1e-3
    model = clone(LEARNERS[name]).partial_fit(X[:50], y[:50])
    before = dumps(model)
    bad = X.copy()
    bad[2100, 3] = np.nan
    for labels in (y, np.where(np.arange(len(y)) == 7, 5, y)):  # with and without one that is new
        with pytest.raises(InvalidInput, match=r"got NaN at row 2100, column 3"):
            model.partial_fit(bad, labels)
        assert dumps(model) == before
    assert X.nbytes > 2**20
    in_pieces = clone(LEARNERS[name]).partial_fit(X[:50], y[:50])
    pieces = [in_pieces.predict_then_learn(X[part], y[part]) for part in (slice(0, 900), slice(900, None))]
    assert (model.predict_then_learn(X, y) == np.concatenate(pieces)).all()
    assert dumps(model) == dumps(in_pieces)


def test_a_row_of_numpy_is_read_as_it_lies():
    wide = np.arange(24.0).reshape(4, 6)
    rows = [wide[0, ::2], wide[:, 1][:3], np.asfortranarray(wide)[1, 3:], wide[2, 3:][::-1], wide[3, :3].astype(">f8")]
    rows += [
        wide[1, :3].astype(np.float32),
        np.ma.array(wide[0, :3]),
        wide[2, :3].view(np.memmap),
        wide[3, 3:].tolist(),
    ]
    one, many = OnlineLDC(0.5, warmup=3), OnlineLDC(0.5, warmup=3)
    for number, row in enumerate(rows):
        one.learn_one(row, number % 2)
    many.partial_fit(np.array([np.asarray(row, dtype=float) for row in rows]), np.arange(len(rows)) % 2)
    assert dumps(one) == dumps(many)
    for row in (wide, wide[0], wide[0, :2], wide[0, :3].astype(complex)):
        with pytest.raises(InvalidInput):
            one.learn_one(row, 0)
    assert dumps(one) == dumps(many)


def test_a_dict_may_name_the_features_in_any_order():
    one, other = OnlineLDC(0.5, warmup=3), OnlineLDC(0.5, warmup=3)
    for number, row in enumerate(GOOD.tolist() * 2):
        a, b, c = row
        one.learn_one({"a": a, "b": b, "c": c}, number % 2)
        other.learn_one({"c": c, "a": int(a), "b": b} if number else {"a": a, "b": b, "c": c}, number % 2)
    assert dumps(one) == dumps(other)
