"""Where the factor is kept in floats, everything goes as it does in doubles, to the digits that floats have."""

from __future__ import annotations

import numpy as np
import pytest

from thalweg import OnlineLDC, kernels
from thalweg.errors import InvalidParameter, ModelFileError
from thalweg.rates import InverseSqrt
from thalweg.store import dumps, loads

LEVELS = pytest.mark.parametrize("level", kernels.available_levels())


def rows_of(features, rows, *, condition=1.0, still=(), twins=False):
    """Two classes apart in every direction; features constant, or twice the same."""
    rng = np.random.default_rng(features)
    y = rng.integers(0, 2, rows)
    axes = np.linalg.qr(rng.normal(size=(features, features)))[0] * np.geomspace(1, condition**-0.5, features)
    X = (rng.normal(size=(rows, features)) + y[:, None] * 2 / np.sqrt(features)) @ axes.T
    X[:, list(still)] = 1.0
    if twins:
        X[:, -1] = X[:, 0]
    return X, y


def margins(core, X, y, cuts):
    """Of the second class over the first before each row, in chunks that end at the cuts; without cuts, one by one."""
    for code in range(2):
        core.announce(code)
    scores = np.empty((len(y), 2))
    for part in np.split(np.arange(len(y)), range(1, len(y)) if cuts is None else cuts):
        here = slice(part[0], part[-1] + 1)
        core.run(X[here], y[here], None, scores[here])
    return scores[20:, 1] - scores[20:, 0]


def discriminant(level, features, rate=(0, 0.02, 0), soft=True, ridge=0.0, in_floats=True):
    return kernels.load(level).discriminant(features, rate, soft, False, 10, ridge, in_floats=in_floats)


@LEVELS
@pytest.mark.parametrize("features", [1, 5, 17, 100])
@pytest.mark.parametrize("ridge", [0.0, 1e-3])
def test_chunks_give_the_bits_of_single_rows(level, features, ridge):
    X, y = rows_of(features, 300)
    cores = [discriminant(level, features, ridge=ridge) for _ in range(3)]
    singly, *others = (
        margins(core, X, y, cuts) for core, cuts in zip(cores, (None, [], [3, 11, 12, 140]), strict=True)
    )
    for other in others:
        assert np.array_equal(singly, other)
    states = [core.state() for core in cores]
    for name, values in states[0].items():
        assert all(np.array_equal(values, state[name]) for state in states[1:]), name


@LEVELS
@pytest.mark.parametrize(
    ("rate", "soft", "ridge"),
    [((0, 0.5, 0), False, 0.0), ((0, 0.002, 0), True, 0.0), ((0, 0.005, 0), True, 1e-3), ((2, 0.5, 50), False, 0.0)],
)
def test_blocks_and_single_rows_agree_with_doubles(level, rate, soft, ridge):
    X, y = rows_of(290, 600)
    first = 300

    def after(in_floats, cuts):
        core = discriminant(level, 290, rate, soft, ridge, in_floats)
        for code in range(2):
            core.announce(code)
        core.begin(X[:first], y[:first])
        scores = np.empty((len(y) - first, 2))
        for part in np.split(np.arange(len(y) - first), cuts):
            here = slice(part[0], part[-1] + 1)
            core.run(X[first:][here], y[first:][here], None, scores[here])
        return scores[:, 1] - scores[:, 0]

    exact = after(False, [])
    for cuts in ([], range(1, 300), [5, 6, 200]):
        assert np.abs(after(True, cuts) - exact).max() < 2e-5 * np.abs(exact).max()


@pytest.mark.parametrize(("rate", "counts"), [(0.5, "hard"), (0.01, "soft"), (InverseSqrt(0.5), "hard")])
def test_a_long_stream_stays_close_to_doubles(rate, counts):
    X, y = rows_of(50, 60_000, condition=100.0)
    answers = [OnlineLDC(rate, counts=counts, dtype=dtype).predict_then_learn(X, y) for dtype in ("float64", "float32")]
    assert (answers[0] != answers[1]).mean() < 1e-4


@pytest.mark.parametrize("features", [6, 260])
@pytest.mark.parametrize("rate", [0.5, 0.9])
def test_features_that_say_nothing_stay_finite(features, rate):
    """Constant and duplicated features under eager rates, of scales that a float cannot hold, and a wild row."""
    X, y = rows_of(features, 600, still=(1, 2), twins=True)
    X = X * np.geomspace(1e40, 1e-40, features)
    X[400, 3] = 1e50
    model = OnlineLDC(rate, counts="soft", dtype="float32").partial_fit(X, y)
    state = model._learned_core().state()
    assert all(np.isfinite(values).all() for values in state.values())
    assert (state["factor_diagonal"] > 0).all()


def test_a_feature_may_begin_to_move_long_after_the_start():
    """Until then nothing is known of it, and its part of P has grown to where it is cut."""
    X, y = rows_of(5, 4_000)
    X[:3_000, 2] = 1.0
    models = [OnlineLDC(0.1, counts="soft", dtype=dtype).partial_fit(X, y) for dtype in ("float64", "float32")]
    np.testing.assert_allclose(models[1].precision_, models[0].precision_, atol=1e-4 * models[0].precision_.max())


@pytest.mark.parametrize("features", [7, 265])
def test_scales_cost_no_digits(features):
    X, y = rows_of(features, 1_000)
    first, scales = 400, 2.0 ** np.random.default_rng(0).integers(-130, 130, features)
    plain, scaled = (OnlineLDC(0.01, counts="soft", dtype="float32").fit(Z[:first], y[:first]) for Z in (X, X * scales))
    answers = [model.predict_then_learn(Z[first:], y[first:]) for model, Z in ((plain, X), (scaled, X * scales))]
    assert np.array_equal(*answers)
    np.testing.assert_allclose(scaled.precision_ * scales * scales[:, None], plain.precision_, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(
        plain.precision_,
        OnlineLDC(0.01, counts="soft").fit(X[:first], y[:first]).partial_fit(X[first:], y[first:]).precision_,
        atol=1e-5 * plain.precision_.max(),
    )


def test_what_is_saved_is_half_as_large_and_still_in_floats():
    X, y = rows_of(200, 400)
    models = [OnlineLDC(dtype=dtype).partial_fit(X, y) for dtype in ("float64", "float32")]
    sizes = [len(dumps(model)) for model in models]
    assert sizes[1] < 0.55 * sizes[0]
    again = loads(dumps(models[1]))
    assert again._learned_core().state()["factor_rows"].dtype == np.float32
    assert again.precision_.dtype == again.means_.dtype == again.predict_proba(X).dtype == np.float64
    assert dumps(again.partial_fit(X, y)) == dumps(models[1].partial_fit(X, y))


def test_doubles_in_the_file_of_a_float_model_are_refused():
    X, y = rows_of(4, 50)
    core = OnlineLDC(dtype="float32").partial_fit(X, y)._learned_core()
    state = core.state()
    state["factor_rows"] = state["factor_rows"].astype(float)
    with pytest.raises(ValueError, match="factor_rows"):
        core.restore(state)
    swapped = dumps(OnlineLDC().partial_fit(X, y)).replace(b"float64", b"float32")
    with pytest.raises(ModelFileError):
        loads(swapped)


@pytest.mark.parametrize(
    ("model", "rule"),
    [
        (OnlineLDC(dtype="float16"), 'be "float64" or "float32"'),
        (OnlineLDC(dtype=np.float32), 'be "float64" or "float32"'),
        (OnlineLDC("auto", counts="soft", dtype="float32"), 'where rate is "auto"'),
    ],
    ids=["float16", "type", "auto"],
)
def test_what_is_not_there_is_refused_by_name(model, rule):
    with pytest.raises(InvalidParameter, match=rule):
        model.partial_fit([[0.0], [1.0]], [0, 1])
