"""What two models must have in common to have learned the same rows, and rows for them to learn."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

from thalweg import MajorityClass, NoChange, OnlineLDC, OnlineLinearRegression, StandardScaler

FAR_OFF = 1e5
#: Models whose parts add up in any order, and are a start.
IN_ANY_ORDER = {
    "OnlineLDC": OnlineLDC(),
    "OnlineLDC-long-start": OnlineLDC(warmup=30),
    "least-squares": OnlineLinearRegression(solver="rls"),
    "least-squares-penalty": OnlineLinearRegression(solver="rls", penalty=2.0),
    "least-squares-no-intercept": OnlineLinearRegression(solver="rls", intercept=False, penalty=0.5),
    "StandardScaler": StandardScaler(),
    "MajorityClass": MajorityClass(),
}
#: Models whose parts add up in order of time only.
IN_ORDER = {
    "OnlineLDC-soft": OnlineLDC(0.03, counts="soft"),
    "OnlineLDC-soft-eager": OnlineLDC(0.2, counts="soft", warmup=25),
    "least-squares-forgetting": OnlineLinearRegression(solver="rls", forgetting=0.02),
    "StandardScaler-forgetting": StandardScaler(forgetting=0.05),
    "NoChange": NoChange(),
}
#: Their batch start is one more thing that parts can be.
BEGIN_ONLY = {
    "OnlineLDC-eager": OnlineLDC(0.9),
    "OnlineLDC-2008": OnlineLDC(0.5, covariance="2008"),
    "OnlineLDC-soft": IN_ORDER["OnlineLDC-soft"],
}


class Rows(NamedTuple):
    """Rows, with what goes with them."""

    X: np.ndarray
    y: np.ndarray
    weight: np.ndarray

    def __repr__(self):
        return f"{len(self.y)} rows"

    def cut(self, start, stop=None):
        return Rows(*(each[start:stop] for each in self))


@st.composite
def rows(draw, least=60, most=160):
    """Some rows of a few features, with an offset, three classes by name, and weights that may be none at all."""
    rng = np.random.default_rng(draw(st.integers(0, 2**20)))
    count, features = draw(st.integers(least, most)), draw(st.integers(1, 5))
    y = np.array(["dry", "rain", "snow"])[rng.integers(0, 3, count)]
    X = rng.normal(size=(count, features)) @ (np.eye(features) + 0.3 * rng.normal(size=(features, features)))
    X = X * draw(st.sampled_from([1.0, 1e-3, 1e4])) * (1 + (y == "rain"))[:, np.newaxis]
    X += draw(st.sampled_from([0.0, 1.0, FAR_OFF]))
    weight = rng.choice([0.0, 0.5, 1.0, 3.0], count) if draw(st.booleans()) else np.ones(count)
    return Rows(X, y, weight)


def some_rows(count, features=3):
    """Rows of two classes, always the same."""
    rng = np.random.default_rng(5)
    y = np.array(["dry", "rain"])[rng.integers(0, 2, count)]
    return Rows(rng.normal(size=(count, features)) + (y == "rain")[:, np.newaxis], y, np.ones(count))


def target(model, some):
    """What a model of this kind is taught beside the rows: labels, numbers or nothing."""
    if isinstance(model, OnlineLinearRegression):
        return (np.hypot(*some.X.T[[0, -1]]),)
    return () if isinstance(model, StandardScaler) else (some.y,)


def weights(model, some):
    """The weights, where a model takes them."""
    return {} if isinstance(model, MajorityClass | NoChange) else {"sample_weight": some.weight}


def columns(model, some):
    """The rows; near zero where a model takes squares about zero, since an offset costs it twice its digits."""
    far_off = not getattr(model, "intercept", True) and np.abs(some.X).mean() > FAR_OFF / 2
    return some.X - FAR_OFF if far_off else some.X


def learn(model, some):
    """`partial_fit`, or `learn` of a part, of these rows."""
    kind = model if not hasattr(model, "rows_") else model.model
    method = model.learn if hasattr(model, "rows_") else model.partial_fit
    return method(columns(kind, some), *target(kind, some), **weights(kind, some))


def fit(model, some):
    return model.fit(columns(model, some), *target(model, some), **weights(model, some))


def assert_same(one, other, X, within=1e-10):
    """That two models know the same, to rounding."""
    assert type(one) is type(other)
    for name in ("n_features_in_", "classes_", "feature_names_in_"):
        assert np.array_equal(getattr(one, name, None), getattr(other, name, None))
    if isinstance(one, NoChange):
        assert one.predict_one(X[0]) == other.predict_one(X[0])
    elif isinstance(one, MajorityClass):
        np.testing.assert_array_equal(one._core.state()["counts"], other._core.state()["counts"])
    elif isinstance(one, StandardScaler):
        assert abs(one.n_samples_seen_ - other.n_samples_seen_) <= within * other.n_samples_seen_
        np.testing.assert_allclose(one.mean_ - X[0], other.mean_ - X[0], rtol=0, atol=within * np.abs(X).max())
        digits = np.finfo(float).eps * np.abs(X).max() / np.sqrt(other.var_)  # those of the running mean itself
        assert (np.abs(one.var_ / other.var_ - 1) <= within + 8 * digits).all()
    elif isinstance(one, OnlineLDC):
        np.testing.assert_allclose(one.counts_, other.counts_, rtol=within, atol=1e-290)
        np.testing.assert_allclose(one.priors_, other.priors_, rtol=within, atol=1e-290)
        np.testing.assert_allclose(one.means_ - X[0], other.means_ - X[0], rtol=0, atol=within * np.abs(X).max())
        assert_same_matrix(one.precision_, other.precision_, within)
        np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), rtol=0, atol=1e3 * within)
        assert one._state("warm_left").item() == other._state("warm_left").item()
        assert one._state("rows").item() == other._state("rows").item()
    else:
        # Each holds 1e-13 of the squares it saw first. Where these differ by D, P does by P D P <= trace(D P) units.
        first_squares = (each._core.state()["scale"][0] for each in (one, other))
        held = 1e-13 * np.abs(np.subtract(*first_squares)) @ other.inverse_scatter_.diagonal()
        assert_same_matrix(one.inverse_scatter_, other.inverse_scatter_, within + held)
        spread = np.abs(other.predict(X)).max()
        np.testing.assert_allclose(one.predict(X), other.predict(X), rtol=0, atol=10 * within * spread)


def assert_same_matrix(one, other, within):
    """In units of the diagonal."""
    units = np.sqrt(np.outer(other.diagonal(), other.diagonal()))
    np.testing.assert_allclose(one / units, other / units, rtol=0, atol=within)
