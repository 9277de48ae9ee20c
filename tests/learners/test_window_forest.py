"""`WindowForest` beside a slow, obvious twin, on streams that change, and at its limits."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.exceptions import NotFittedError

from tests.forest_oracle import SlowForest, Window
from thalweg import StreamPipeline, TextHasher, WindowForest, WindowForestRegressor
from thalweg.errors import InvalidInput, InvalidParameter
from thalweg.explain import importance
from thalweg.fleet import Fleet
from thalweg.learners import window_forest
from thalweg.learners.base.forest import Grove
from thalweg.learners.base.saved_tree import SavedTree, gains
from thalweg.learners.base.tree_text import mean_in_leaf, shares_in_leaf
from thalweg.store import dumps, loads


def twin_of(model, features, make=SlowForest):
    short = Grove(
        model.trees,
        model.feature_share,
        model.leaf_rows,
        model.least_gain,
        model.bagging,
        model.fading,
        model.change_level,
        model.regrow_every,
        shortest=min(256, model.rows),
        longest=min(2048, model.rows),
        max_leaves=model.max_leaves,
        step=model.step,
    )
    groves = [short, short.lasting(model.lasting_trees, model.rows)]
    return make(features, [grove for grove in groves if grove.trees], model.rows, model.random_state)


def turning_squares(rows: int, classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Squares of the plane whose classes change halfway, a feature of few values and a constant one."""
    rng = np.random.default_rng(classes)
    X = rng.normal(size=(rows, 5))
    X[:, 2], X[:, 3], X[0, 4] = np.round(X[:, 2]), 1.0, 1e45
    y = np.floor(X[:, 0] * 1.5).astype(int) + (X[:, 1] > 0)
    y[rows // 2 :] += X[rows // 2 :, 2] > 0
    return X, y % classes


@pytest.mark.quick(5)
@pytest.mark.parametrize("classes", [2, 5])
@pytest.mark.parametrize(
    ("options", "weights"),
    [
        ({"trees": 3, "lasting_trees": 2, "rows": 256, "regrow_every": 100}, [1.0]),
        ({"trees": 4, "lasting_trees": 0, "rows": 64, "change_level": 0.3}, [0.25, 1.0, 1.75]),
        (
            {"trees": 1, "lasting_trees": 1, "rows": 128, "bagging": 0.0, "step": 0.0, "max_leaves": 7},
            [0.0, 1.0, 300.0],
        ),
        ({"trees": 0, "lasting_trees": 2, "rows": 512, "feature_share": 1.0, "leaf_rows": 20, "fading": 0.8}, [1.0]),
        (
            {"trees": 0, "lasting_trees": 1, "rows": 512, "regrow_every": 80, "least_gain": 40.0},
            [1.0],
        ),  # rows are halved
    ],
)
def test_it_is_its_slow_twin(classes, options, weights, monkeypatch):
    monkeypatch.setattr(window_forest, "mixed_with_shares", lambda features, members: members[0].make(features))
    X, y = turning_squares(300, classes)
    y[:30] %= 2  # the others are new classes
    masses = np.random.default_rng(1).choice(weights, len(y))
    model = WindowForest(**options, random_state=5)
    found = model.predict_then_learn(X, y, sample_weight=masses, with_proba=True)[1]
    twin = twin_of(model, 5)
    for row, (x, k, mass) in enumerate(zip(X, y.tolist(), masses, strict=True)):
        expected = twin.predict_then_learn(x, k, mass) or dict.fromkeys(range(classes), 1 / classes)
        assert found[row] == pytest.approx([expected.get(label, 0.0) for label in range(classes)], abs=1e-4), row
    state = model._core.state()
    for number, grove in enumerate(twin.groves):
        assert state[f"grove{number}_tree_born"].tolist() == [own.born for own in grove.grown]
        leaves = [len(own.tree.leaves()) for own in grove.grown]
        assert state[f"grove{number}_tree_leaves"].tolist()[: len(leaves)] == leaves
    assert state["chance_drawn"][0] == twin.chance.drawn


def test_codes_of_the_window_are_those_of_the_definition():
    """Over 5,000 rows: values while there are 64 at most, then quantiles that are sought anew, also of a ramp."""
    rng = np.random.default_rng(2)
    rows = 5000
    few = rng.integers(0, 64, rows).astype(float)
    more = rng.integers(0, 65, rows).astype(float)
    X = np.column_stack([rng.normal(size=rows), few, more, np.arange(rows), rng.random(rows) < 0.01])
    model = WindowForest(1, 0, rows=1024).partial_fit(X, X[:, 0] > 0)
    window = Window(5, 1024)
    for row in X.astype(np.float32):
        window.add(row, 0, 1.0)
    state = model._core.state()
    counts = [
        len(bounds) if exact else -1 - len(bounds) for bounds, exact in zip(window.bounds, window.exact, strict=True)
    ]
    assert state["member0_window_code_counts"].tolist() == counts
    assert state["member0_window_code_bounds"].ravel().tolist() == [bound for each in window.bounds for bound in each]
    assert [count >= 0 for count in counts] == [False, True, False, False, True]


def test_trees_that_follow_recover_from_a_change():
    """1,500 rows after another rule has set in they err like a model that never saw the first one."""
    wrong = {"changed": [], "fresh": []}
    for seed in range(4):
        X = np.random.default_rng(seed).normal(size=(3000, 6))
        y = (X[:, 0] > 0.3) ^ (X[:, 1] > -0.2)
        y[1500:] = (X[1500:, 2] > 0.3) ^ (X[1500:, 1] > -0.2)
        for which, since in (("changed", 0), ("fresh", 1500)):
            given = WindowForest(lasting_trees=0).predict_then_learn(X[since:], y[since:])
            wrong[which].append((given != y[since:])[-500:].mean())
    assert np.mean(wrong["changed"]) < np.mean(wrong["fresh"]) + 0.01


def test_trees_that_last_learn_finer_patterns_where_nothing_changes():
    """A board of 144 squares: too many for what is grown from the last 2,048 rows."""
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 12, size=(12_000, 3))
    y = np.floor(X[:, :2]).sum(axis=1) % 2
    follow, last = (
        np.mean([(WindowForest(*trees, random_state=k).predict_then_learn(X, y) != y)[8000:] for k in (0, 1)])
        for trees in ((10, 0), (0, 10))
    )
    assert last < 0.75 * follow


def test_its_memory_does_not_grow():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 4))
    y = (X[:, 0] > 0) ^ (X[:, 1] > 0)
    model = WindowForest(4, 4, rows=1024, max_leaves=64)
    sizes = [
        len(dumps(model.partial_fit(part, labels)))
        for part, labels in zip(np.split(X, 10), np.split(y, 10), strict=True)
    ]
    assert max(sizes[5:]) < 1.1 * max(sizes[:5])


def test_classes_beyond_256_are_predicted_by_their_frequency(monkeypatch):
    monkeypatch.setattr(window_forest, "mixed_with_shares", lambda features, members: members[0].make(features))
    rng = np.random.default_rng(0)
    y = np.concatenate([np.arange(256), np.repeat([256, 257], [20, 60]), rng.integers(0, 256, 300)])
    X = np.column_stack([y, rng.normal(size=len(y))])
    model = WindowForest(3, 2, rows=512).partial_fit(X, y)
    proba = model.predict_proba(X)
    assert proba.shape == (len(y), 258)
    assert proba.sum(axis=1) == pytest.approx(1)
    assert proba[:, 256] == pytest.approx(20 / len(y), abs=1e-6)
    assert proba[:, 257] == pytest.approx(60 / len(y), abs=1e-6)
    again = loads(dumps(model))
    assert dumps(again.partial_fit(X, y)) == dumps(model.partial_fit(X, y))


def test_two_of_300_features_are_found():
    X = np.random.default_rng(0).normal(size=(4000, 300))
    y = (X[:, 7] > 0.2) & (X[:, 250] > -0.5)
    assert (WindowForest().predict_then_learn(X, y) != y)[3000:].mean() < 0.05


def test_features_that_never_vary_are_never_cut():
    X = np.ones((500, 3))
    y = np.random.default_rng(0).random(500) < 0.2
    model = WindowForest().partial_fit(X, y)
    state = model._core.state()
    assert (state["member0_grove0_tree_leaves"] == 1).all()
    assert model.predict_proba(X[:1])[0, 1] == pytest.approx(0.2, abs=0.1)


def test_a_code_among_many_is_told_by_two_cuts():
    """Categories as whole numbers: one of forty, in the middle, has the other label."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 40, 4000), rng.normal(size=4000)]).astype(float)
    y = X[:, 0] == 17
    wrong = WindowForest().predict_then_learn(X, y) != y
    assert wrong[2000:].mean() < 0.005


def test_text_and_sparse_rows_are_refused_in_a_sentence():
    for model, rows in (
        (WindowForest(), csr_array(np.eye(2))),
        (StreamPipeline([TextHasher(), WindowForest()]), ["good", "bad"]),
    ):
        with pytest.raises(InvalidInput, match=r"sparse, and a .* takes dense rows.* use OnlineLogistic"):
            model.partial_fit(rows, [0, 1])


def test_a_fleet_reads_one_window_after_the_other():
    """Keys whose rows have one class and two, so that a forest of more classes makes room for one of fewer."""
    X = np.random.default_rng(0).normal(size=(300, 3))
    keys = (np.arange(300) % 9 > 0).astype(int)  # the window of one is never full
    y = np.where(keys == 0, 0, X[:, 0] > 0)
    fleet = Fleet(WindowForest(2, 2, rows=64)).partial_fit(X, y, keys)
    for key in (0, 1):
        own = keys == key
        alone = WindowForest(2, 2, rows=64).partial_fit(X[own][:1], y[own][:1], classes=[0, 1])
        assert dumps(fleet.model_of(key)) == dumps(alone.partial_fit(X[own][1:], y[own][1:]))


def read_text(text: str, row: np.ndarray) -> str:
    """The leaf that a row reaches by the cuts of a tree as text, its features called a, b, …"""
    depth = 0
    for line in text.splitlines():
        indent, _, said = line.partition("|--- ")
        if len(indent) != 4 * depth:
            continue
        if "(" in said:
            return said
        name, sign, threshold = said.split()
        depth += (row["abc".index(name)] <= float(threshold)) == (sign == "<=")
    raise AssertionError("no leaf")


@pytest.mark.parametrize("options", [{}, {"trees": 0}, {"lasting_trees": 0}, {"class_weight": "balanced"}])
def test_a_tree_as_text_has_its_cuts_and_leaves(options):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 9, size=(1500, 3)), columns=list("abc"))
    y = np.where((X["a"] > 4) & (X["c"] < 3), "yes", "no")
    model = WindowForest(**options).partial_fit(X, y)
    for number in range(model.trees + model.lasting_trees):
        text = model.export_text(number)
        found = [read_text(text, row).split()[0] for row in X.to_numpy(dtype=float)[-300:]]
        assert (found == y[-300:]).mean() > 0.95
    assert "feature_2" not in text
    assert model.export_text(feature_names=["first", "second", "third"], max_depth=0) == "|--- ..."
    with pytest.raises(InvalidParameter, match=r"'number' .* must be from 0 to"):
        model.export_text(25)
    with pytest.raises(InvalidParameter, match="must have 3 names"):
        model.export_text(feature_names=["first"])


def test_it_says_who_carries_the_weight():
    X = np.random.default_rng(0).normal(size=(1000, 2))
    model = WindowForest(0, 3).partial_fit(X, X[:, 0] > 0.5)
    assert model.members_[:2] == ("trees that last, votes", "trees that last, refined")
    assert model.families_ == ("trees",) * 2 + ("shares",) * 3
    assert sum(model.family_weights_.values()) == pytest.approx(1)
    assert model.family_weights_["trees"] > 0.9
    assert model.explain().startswith("5 members over 2 features; the heaviest is trees that last")
    with pytest.raises(NotFittedError):
        WindowForest().explain()


@pytest.mark.parametrize("make", [WindowForest, WindowForestRegressor])
def test_importances_add_up_and_rank_as_replaced_columns_do(make):
    """All cuts of a tree gain what its leaves differ by; two features of six matter, the first more."""
    X = np.random.default_rng(0).normal(size=(4000, 6))
    score = np.where(X[:, 2] > 0, 3.0, 0.0) + (X[:, 4] > 0.5)
    y = score if make is WindowForestRegressor else score.astype(int)
    model = make(3, 2, rows=1024).partial_fit(X[:3500], y[:3500])
    forest, said = ("target0_forest0_", mean_in_leaf) if make is WindowForestRegressor else ("member0_", shares_in_leaf)
    state = model._core.state()
    for number in range(3):
        tree = SavedTree.of(state, f"{forest}grove0_", number)
        known = said(tree.counts, tree.inherited)
        mean = np.average(known, axis=0, weights=tree.seen)
        between = np.average(((known - mean) ** 2).sum(axis=1), weights=tree.seen)
        assert gains(tree, said, 6).sum() == pytest.approx(between, rel=1e-3)
    shares = model.feature_importances_
    assert shares.sum() == pytest.approx(1)
    assert shares[2] > 0.5 > 0.1 > shares[[0, 1, 3, 5]].max()
    replaced = importance(model, X[3500:], y[3500:]).increase
    assert set(np.argsort(-shares)[:2]) == set(np.argsort(-replaced)[:2]) == {2, 4}


def test_before_the_first_row_there_is_nothing_to_say():
    with pytest.raises(NotFittedError):
        WindowForest().export_text()
    with pytest.raises(NotFittedError):
        _ = WindowForest().feature_importances_
