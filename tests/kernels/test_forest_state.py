"""A forest whose state was changed is refused, or goes on without harm: each array in turn, in a file that is sound."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
import pytest

from tests.kernels.test_fuzz import EDGES, use
from tests.test_store import forged, header_and_arrays
from thalweg import WindowForest, WindowForestRegressor
from thalweg.errors import ThalwegError
from thalweg.store import dumps, loads

REALS = [0.0, -1.0, 1e29, 1e30, 1e308, np.inf, -np.inf, np.nan]


def growing_forest(model: WindowForest | WindowForestRegressor, trees: str) -> bytes:
    """While both kinds of tree grow one anew; their arrays have names that begin so."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 6))
    X[:, 5] = rng.integers(0, 5, len(X))
    y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0)
    for x, target in zip(X, y.tolist(), strict=True):
        model.learn_one(x, target)
        state = model._core.state()
        if all(state[f"{trees}grove{g}_growing"][0] >= 0 for g in (0, 1)):
            return dumps(model)
    raise AssertionError("no tree grew for longer than a row")


OPTIONS = {"rows": 1024, "least_gain": 0.5, "feature_share": 1.0, "change_level": 0.1}
CONTENT = {
    "member0_": growing_forest(WindowForest(2, 1, **OPTIONS), "member0_"),
    "target0_forest0_": growing_forest(WindowForestRegressor(2, 1, **OPTIONS), "target0_forest0_"),
}
NAMES = [
    (trees, name)
    for trees, content in CONTENT.items()
    for name in sorted(header_and_arrays(content)[1])
    if name.startswith(trees)
]


def changed(values: np.ndarray) -> Iterator[np.ndarray]:
    """An array with one entry or all of them replaced, or of another shape."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        edges = np.array(REALS if values.dtype.kind == "f" else EDGES).astype(values.dtype)
    for edge in edges:
        for at in {0, values.size // 2, values.size - 1}:
            other = values.copy()
            other.flat[at : at + 1] = edge
            yield other
        yield np.full_like(values, edge)
    yield values.ravel()[::-1].reshape(values.shape).copy()
    for shape in ((values.size,), (*values.shape, 1), (0,), (*values.shape[:-1], values.shape[-1] + 1)):
        yield np.resize(values, shape)


@pytest.mark.quick(9)
@pytest.mark.parametrize(("trees", "name"), NAMES)
def test_a_state_that_was_changed_is_refused_or_can_be_used(trees: str, name: str) -> None:
    header, arrays = header_and_arrays(CONTENT[trees])
    for values in changed(arrays[name]):
        try:
            model = loads(forged(header, arrays | {name: values}))
        except ThalwegError:
            continue
        use(model)
