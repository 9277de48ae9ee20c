"""Hostile input never crashes the process: model files, states and rows made of whatever hypothesis thinks of.

`make test` tries a few examples of each, `make sanitize` the same ones under AddressSanitizer and
UndefinedBehaviorSanitizer, and `make fuzz` many. A file or state that is accepted must also survive use: predicting,
learning, saving.
"""

from __future__ import annotations

import array
import contextlib
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.base import clone

from tests.examples import examples
from tests.laws import LEARNERS
from tests.regressor_laws import REGRESSORS
from tests.test_store import forged, header_and_arrays
from tests.transformer_laws import TRANSFORMERS
from thalweg import OnlineLDC, Part, kernels, merge
from thalweg.errors import ModelFileError, ThalwegError
from thalweg.fleet import Fleet
from thalweg.store import dumps, loads

FEATURES = 3
rng = np.random.default_rng(0)
y = rng.integers(0, 3, 40)
X = rng.normal(size=(40, FEATURES)) + y[:, None]


def files():
    """A saved file of every kind of model, by name."""
    small = X / 10  # within the reach of every learning rate
    models = {
        **{name: clone(model).partial_fit(X, y) for name, model in LEARNERS.items()},
        **{name: clone(model).partial_fit(small, small.sum(axis=1)) for name, model in REGRESSORS.items()},
        **{name: clone(model).partial_fit(X) for name, model in TRANSFORMERS.items()},
        "wide": OnlineLDC(0.1, counts="soft").partial_fit(rng.normal(size=(40, 20)), y),
        "Fleet": Fleet(OnlineLDC(0.1, counts="soft")).partial_fit(X, y, y),
        "Fleet-words": Fleet(OnlineLDC()).partial_fit(X, y, [f"key {k}" for k in y]),
        "Part": Part(OnlineLDC(0.5)).learn(X, y),
    }
    return {name: dumps(model) for name, model in models.items()}


FILES = files()
EDGES = [0, -1, 1, 2, 3, 7, 2**31, 2**62, -(2**63), 2**63 - 1]
REALS = st.one_of(st.floats(), st.sampled_from([0.0, -0.0, -1.0, 1e308, 5e-324, np.inf, -np.inf, np.nan]))


@st.composite
def changed(draw, values):
    """An array with some entries, its shape or its type replaced."""
    values = np.array(values)
    how = draw(st.sampled_from(["entries", "shape", "type", "size"]))
    if how == "entries" and values.size:
        for at in draw(st.lists(st.integers(0, values.size - 1), min_size=1, max_size=4)):
            value = draw(REALS if values.dtype.kind == "f" else st.sampled_from(EDGES))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)
                values.flat[at] = np.asarray(value).astype(values.dtype)
        return values
    if how == "shape":
        return draw(st.sampled_from([values.ravel(), values[..., None], values[None], values.T, values[:0]])).copy()
    if how == "type":
        kind = draw(st.sampled_from([np.float32, np.float64, np.int64, np.int32, np.uint8]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            return values.astype(kind)
    return np.resize(values, [max(0, n + draw(st.integers(-2, 2))) for n in values.shape])


def use(model):
    """Whatever a model that was accepted can be asked to do; it may refuse."""
    with contextlib.suppress(ThalwegError, ValueError), warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        rows = np.ones((5, getattr(model, "n_features_in_", FEATURES)))
        rows[1::2] = -2.0
        if isinstance(model, Part):
            merge([model, model])
        elif isinstance(model, Fleet):
            model.predict(rows, list(model)[:1] * 5)
            model.partial_fit(rows, [0, 1, 0, 1, 2], list(model)[:1] * 5)
        elif hasattr(model, "predict"):
            model.predict(rows)
            model.predict_one(rows[0])
            model.partial_fit(rows, [0, 1, 0, 1, 2])
            model.predict_then_learn(rows, [0, 1, 0, 1, 2])
        else:
            model.transform(rows)
            model.partial_fit(rows)
        dumps(model)


@examples(60)
@given(content=st.binary(max_size=400))
def test_bytes_that_are_no_model_are_refused(content):
    with pytest.raises(ModelFileError):
        loads(content)


@examples(200)
@given(data=st.data())
def test_a_forged_file_is_refused_or_can_be_used(data):
    """The checksum is right, the contents are not."""
    header, arrays = header_and_arrays(FILES[data.draw(st.sampled_from(sorted(FILES)))])
    for name in data.draw(st.lists(st.sampled_from(sorted(arrays) or ["none"]), min_size=1, max_size=3)):
        if name in arrays:
            arrays[name] = data.draw(changed(arrays[name]))
    if data.draw(st.integers(0, 9)) == 0 and arrays:
        arrays.pop(data.draw(st.sampled_from(sorted(arrays))))
    if data.draw(st.integers(0, 9)) == 0 and "features" in header:
        header["features"]["count"] = data.draw(st.sampled_from(EDGES))
    content = forged(header, {name: np.ascontiguousarray(values) for name, values in arrays.items()})
    try:
        model = loads(content)
    except ThalwegError:
        return
    use(model)


@pytest.mark.parametrize("name", ["origin", "weights", "biases"])
def test_whole_numbers_in_place_of_others_are_refused(name):
    """Found by `make fuzz`: such a file was taken, and its first prediction failed."""
    header, arrays = header_and_arrays(FILES["KernelMean-float32"])
    arrays[name] = np.zeros(arrays[name].shape, dtype=np.int64)
    with pytest.raises(ModelFileError):
        loads(forged(header, arrays))


class Misleading:
    """A sequence that says one length and has another, or a number that is none."""

    def __init__(self, says, has):
        self.says, self.has = says, has

    def __len__(self):
        return self.says

    def __getitem__(self, index):
        if index >= self.has:
            raise IndexError(index)
        return 1.0

    def __float__(self):
        raise RuntimeError("not a number")


SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3), st.binary(max_size=3), st.just(1 + 2j)
)
ARRAYS = hnp.arrays(
    dtype=hnp.scalar_dtypes() | hnp.byte_string_dtypes() | hnp.array_dtypes(),
    shape=hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=FEATURES + 1),
)
ROWS = st.one_of(
    SCALARS,
    st.lists(SCALARS, max_size=FEATURES + 1),
    st.lists(SCALARS, max_size=FEATURES + 1).map(tuple),
    st.dictionaries(st.sampled_from(["a", "b", "c", "d", 0, 1, 2, None]), SCALARS, max_size=FEATURES + 1),
    ARRAYS,
    ARRAYS.map(lambda values: values[::-1] if values.ndim else values),
    ARRAYS.map(np.ma.masked_array),
    st.builds(Misleading, st.integers(0, 5), st.integers(0, 5)),
    st.just(array.array("f", [1, 2, 3])),
    st.just(memoryview(b"123")),
    st.just([Misleading(3, 3)] * FEATURES),
    st.just({"a": Misleading(3, 3), "b": 1.0, "c": 2.0}),
)
READERS = {
    "unnamed": OnlineLDC().partial_fit(X, y),
    "named": OnlineLDC().learn_one({"a": 1.0, "b": 2.0, "c": 3.0}, 0).learn_one({"a": 2.0, "b": 1.0, "c": 3.0}, 1),
}


# hypothesis casts what it draws to narrower types
@pytest.mark.filterwarnings("ignore:overflow encountered in cast:RuntimeWarning")
@pytest.mark.parametrize("reader", READERS)
@examples(150)
@given(row=ROWS)
def test_a_row_is_read_or_refused_and_a_refused_one_changes_nothing(reader, row):
    model = READERS[reader]
    before = dumps(model)
    try:
        model.predict_one(row)
        model.learn_one(row, 1)
    except (ThalwegError, TypeError, ValueError, RuntimeError):
        assert dumps(model) == before


@examples(100)
@given(data=st.data())
def test_arrays_of_any_shape_are_learned_or_refused(data):
    """The bindings themselves, below every check in Python."""
    core = kernels.compiled.discriminant(FEATURES, (0, 0.1, 0), True, False, 10, 0.0)
    for code in range(3):
        core.announce(code)

    def side():
        return data.draw(st.integers(0, 5))

    rows = np.ones((side(), side()))
    labels = np.array(data.draw(st.lists(st.sampled_from([0, 1, 2, 3, -1, 2**62]), max_size=5)), dtype=np.int64)
    order = np.array(data.draw(st.lists(st.integers(-7, 7), max_size=5)), dtype=np.int64)
    calls = [
        lambda: core.run(rows, labels, np.empty(side(), dtype=np.int64), np.empty((side(), side())), np.empty(side())),
        lambda: core.run(rows, labels, masses=np.ones(side()), unchecked=False),
        lambda: core.run(rows, labels, unchecked=True),
        lambda: core.begin(rows, labels),
        lambda: core.follow(rows, labels, order, np.empty(side(), dtype=np.int64)),
        lambda: core.learn_then_test(
            rows, labels, np.ones((side(), side(), side())), np.zeros((side(), side()), dtype=np.int64), labels.copy()
        ),
        lambda: core.scores(rows, np.empty((side(), side()))),
        lambda: core.announce(side() - 2),
        lambda: core.restore({**core.state(), "means": np.zeros((side(), side()))}),
    ]
    for call in data.draw(st.lists(st.sampled_from(calls), min_size=1, max_size=4)):
        with contextlib.suppress(ValueError, TypeError):
            call()
