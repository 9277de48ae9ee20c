"""Names of columns reach the models: from frames to River's, and from streams that know them to any."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.linear_model import SGDClassifier

from thalweg import OnlineLDC, OnlineLinearRegression
from thalweg.errors import InvalidInput, InvalidParameter
from thalweg.evaluate import prequential, summarise
from thalweg.frames.frame import NamedRows
from thalweg.learners.base.rows import as_rows
from thalweg.streams import MovingPlane, Table

X, Y = MovingPlane(seed=3).take(300)
FRAME = pd.DataFrame(X, columns=["a", "b"])


@pytest.mark.parametrize("delay", [0, 3])
def test_a_model_knows_the_names_of_the_table_it_was_walked_along(delay):
    model = OnlineLDC()
    named = [record.predictions for record in prequential(model, Table(FRAME, Y), chunk=64, delay=delay)]
    assert model.feature_names_in_.tolist() == ["a", "b"]
    assert model.predict_one({"b": X[0, 1], "a": X[0, 0]}) == model.predict_one(X[0])
    nameless = OnlineLDC()
    plain = [record.predictions for record in prequential(nameless, Table(X, Y), chunk=64, delay=delay)]
    assert not hasattr(nameless, "feature_names_in_")
    assert (np.concatenate(named) == np.concatenate(plain)).all()


def test_a_regressor_knows_them_too():
    model = OnlineLinearRegression()
    list(prequential(model, Table(FRAME, X.sum(axis=1)), chunk=64))
    assert model.feature_names_in_.tolist() == ["a", "b"]


@pytest.mark.parametrize("delay", [0, 3])
def test_names_of_a_stream_are_an_offer_to_a_model_that_began_without(delay):
    model = OnlineLDC().fit(X[:50], Y[:50])
    list(prequential(model, Table(FRAME, Y), rows=60, delay=delay))
    assert not hasattr(model, "feature_names_in_")
    if not delay:
        list(prequential(SGDClassifier(random_state=0), Table(FRAME, Y), rows=60))


@pytest.mark.parametrize(
    ("names", "complaint"),
    [
        (["b", "a"], "Column 0 of X must be 'a', as when learning began, got 'b'"),
        (["a"], "Column 1 of X must be 'b', as when learning began, got no column"),
        (["a", "b", "c"], "Column 2 of X, 'c', was not there when learning began: leave it out"),
    ],
)
def test_a_table_with_other_columns_is_refused(names, complaint):
    model = OnlineLDC().fit(FRAME, Y)
    other = pd.DataFrame(np.ones((20, len(names))), columns=names)
    with pytest.raises(InvalidInput, match=complaint):
        list(prequential(model, Table(other, Y[:20])))
    with pytest.raises(InvalidInput, match=complaint):
        model.predict(other)


def test_names_without_words_do_not_hide_another_width():
    model = OnlineLDC().fit(X, Y)
    with pytest.raises(InvalidInput, match="X has 3 features"):
        list(prequential(model, Table(np.ones((20, 3)), Y[:20], feature_names=[5, 6, 7])))


def test_named_rows_are_not_copied():
    assert as_rows(NamedRows(X, ["a", "b"]), OnlineLDC(), "X") is X


def test_a_table_names_each_column_differently():
    with pytest.raises(InvalidParameter, match="name each column differently"):
        Table(X, Y, feature_names=["a", "a"])


class TestRiversModels:
    """`from_river` remembers what River's model calls the columns."""

    @pytest.fixture(autouse=True)
    def _river(self):
        pytest.importorskip("river", reason="River is not installed")

    def model(self):
        from river import linear_model

        from thalweg.river import from_river

        return from_river(linear_model.LogisticRegression())

    def test_an_array_is_read_by_the_names_of_the_frame_before(self):
        model = self.model().fit(FRAME, Y)
        assert model.feature_names_in_.tolist() == ["a", "b"]
        with pytest.warns(UserWarning, match="does not have valid feature names"):
            answers = model.predict(X)
        assert (answers == model.predict(FRAME)).all()
        assert set(model.river_.weights) == {"a", "b"}
        assert model.predict_one(X[0]) == model.predict_one({"b": X[0, 1], "a": X[0, 0]}) == answers[0]

    def test_a_frame_after_an_array_is_refused_where_names_would_be_new_to_river(self):
        model = self.model().fit(X, Y)
        with (
            pytest.raises(InvalidInput, match=r"must have the columns \[0, 1\]"),
            pytest.warns(UserWarning, match="X has feature names"),
        ):
            model.predict(FRAME)
        assert model.predict(pd.DataFrame(X)).shape == (300,)

    @pytest.mark.parametrize("call", ["predict", "predict_proba"])
    def test_other_columns_are_refused(self, call):
        model = self.model().fit(FRAME, Y)
        with pytest.raises(InvalidInput, match="Column 0 of X must be 'a'"):
            getattr(model, call)(FRAME[["b", "a"]])
        with pytest.raises(InvalidInput, match="Column 2 of X, 'c', was not there when learning began"):
            getattr(model, call)(FRAME.assign(c=1.0))

    @pytest.mark.parametrize(
        "made",
        [
            pa.Table.from_pandas,
            pa.RecordBatch.from_pandas,
            lambda frame: pa.Table.from_pandas(frame).to_reader(),
        ],
    )
    def test_arrow_goes_in(self, made):
        ours, theirs = self.model().fit(made(FRAME), Y), self.model().fit(FRAME, Y)
        assert dict(ours.river_.weights) == dict(theirs.river_.weights)
        assert (ours.predict(made(FRAME)) == theirs.predict(FRAME)).all()

    def test_fit_forgets_the_names(self):
        model = self.model().fit(FRAME, Y).fit(X, Y)
        assert not hasattr(model, "feature_names_in_")
        assert set(model.river_.weights) == {0, 1}

    @pytest.mark.parametrize("delay", [0, 3])
    def test_names_of_a_stream_reach_them(self, delay):
        from river import compose, linear_model

        from thalweg.river import from_river, river_stream

        rows = [({"a": a, 7: b}, bool(side)) for (a, b), side in zip(X.tolist(), Y, strict=True)]
        model = from_river(compose.Select(7) | linear_model.LogisticRegression())
        list(prequential(model, river_stream(rows), delay=delay))
        assert set(model.river_["LogisticRegression"].weights) == {7}

    def test_a_forest_scores_as_in_rivers_own_loop(self):
        from river import evaluate, forest, metrics
        from river.datasets import Phishing

        from thalweg.river import from_river, river_stream

        rows = list(Phishing().take(500))
        model = forest.ARFClassifier(n_models=3, seed=1)
        theirs = evaluate.progressive_val_score(rows, model.clone(), metrics.Accuracy()).get()
        ours = 1 - summarise(prequential(from_river(model), river_stream(rows))).model.error
        assert ours == pytest.approx(theirs, abs=1.001 / len(rows))
