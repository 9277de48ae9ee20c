"""What every transformer obeys, as named functions."""

from __future__ import annotations

import copy
import pickle

import numpy as np
from sklearn.base import clone

from thalweg import CCIPCA, RandomFeatures, RandomTilings, StandardScaler, StreamPipeline
from thalweg.store import dumps, loads

#: Every transformer, in every mode that has a path of its own; for rows of three features and more.
TRANSFORMERS = {
    "StandardScaler": StandardScaler(),
    "StandardScaler-forgetting": StandardScaler(forgetting=0.05),
    "StandardScaler-no-mean": StandardScaler(with_mean=False, clip=2.0),
    "StandardScaler-no-std": StandardScaler(with_std=False),
    "CCIPCA": CCIPCA(2),
    "CCIPCA-all": CCIPCA(3, amnesic=0.0),
    "CCIPCA-forgetting": CCIPCA(2, amnesic=3.5, forgetting=0.1),
    "CCIPCA-2016": CCIPCA(2, amnesic=0.0, recursion="2016"),
    "RandomFeatures": RandomFeatures(10),
    "RandomFeatures-independent": RandomFeatures(25, sigma=5.0, orthogonal=False, random_state=3),
    "RandomTilings": RandomTilings(5, depth=3),
    "StreamPipeline": StreamPipeline([StandardScaler(), CCIPCA(2)]),
    "StreamPipeline-named": StreamPipeline(
        [("scale", StandardScaler(forgetting=0.1)), ("map", RandomFeatures(12)), ("axes", CCIPCA(4))]
    ),
}


def learned(model, X):
    return clone(model).partial_fit(X)


def transforming_changes_nothing(model, X):
    model = learned(model, X)
    before = dumps(model)
    model.transform(X)
    for x in X[:5]:
        model.transform_one(x)
    assert dumps(model) == before


def chunks_do_not_matter(model, X):
    """Row by row, in uneven chunks, or at once: the same bytes."""
    whole = dumps(learned(model, X))
    uneven = clone(model)
    start = 0
    for size in (1, 2, 7, 1, 30, len(X)):
        if start < len(X):
            uneven.partial_fit(X[start : start + size])
        start += size
    assert dumps(uneven) == whole
    single = clone(model)
    for x in X:
        single.learn_one(x)
    assert dumps(single) == whole
    transforming = clone(model)
    transforming.transform_then_learn(X)
    assert dumps(transforming) == whole


def transform_then_learn_is_the_loop(model, X):
    fast = clone(model).transform_then_learn(X)
    slow = clone(model)
    for row, x in enumerate(X):
        assert slow.transform_one(x).tolist() == fast[row].tolist()
        if row > 0:
            assert slow.transform(x[None])[0].tolist() == fast[row].tolist()
        slow.learn_one(x)


def rows_are_transformed_alone(model, X):
    """A row comes out the same, whatever rows come with it."""
    model = learned(model, X)
    assert model.transform(X)[3:4].tolist() == model.transform(X[3:4]).tolist()


def one_row_is_enough(model, X):
    model = learned(model, X[:1])
    out = model.transform(X)
    assert out.shape == (len(X), len(model.get_feature_names_out()))
    assert np.isfinite(out).all()


def nothing_is_shared(model, X):
    """The caller's array is neither kept nor changed; copies and clones live their own lives."""
    mine = X.copy()
    model = learned(model, mine)
    before = dumps(model)
    assert (mine == X).all()
    mine[:] = 1e6
    assert dumps(model) == before
    for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert dumps(twin) == before
        twin.partial_fit(X * 2)
    assert dumps(model) == before


def saving_is_the_identity(model, X):
    for rows in (1, 2, len(X) // 2):
        first = learned(model, X[:rows])
        second = loads(dumps(first))
        assert dumps(second) == dumps(first)
        assert second.transform_then_learn(X[rows:]).tolist() == first.transform_then_learn(X[rows:]).tolist()
        assert dumps(second) == dumps(first)


def the_same_seed_gives_the_same_model(model, X):
    assert dumps(learned(model, X)) == dumps(learned(model, X))


def fit_forgets(model, X):
    again = learned(model, X * 3 + 1).fit(X)
    assert dumps(again) == dumps(clone(model).fit(X))


def fit_is_a_first_partial_fit(model, X):
    """Of a single transformer; a pipeline's `fit` lets each step see all rows before the next begins."""
    if not isinstance(model, StreamPipeline):
        assert dumps(clone(model).fit(X)) == dumps(learned(model, X))


def wild_rows_come_out_finite(model, X):
    wild = X.copy()
    wild[4] = 1e50
    wild[7] = -1e50
    wild[10] = 1e-300
    wild[11:] *= 1e-60
    model = clone(model)
    assert (np.abs(model.transform_then_learn(wild)) <= 1e50).all()
    assert (np.abs(model.transform(wild)) <= 1e50).all()
    assert dumps(loads(dumps(model))) == dumps(model)


LAWS = [
    transforming_changes_nothing,
    chunks_do_not_matter,
    transform_then_learn_is_the_loop,
    rows_are_transformed_alone,
    one_row_is_enough,
    nothing_is_shared,
    saving_is_the_identity,
    the_same_seed_gives_the_same_model,
    fit_forgets,
    fit_is_a_first_partial_fit,
    wild_rows_come_out_finite,
]
