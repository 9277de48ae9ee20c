"""Chunks that nobody has looked at: the core finds what may not be learned, wherever it stands, at every level."""

from __future__ import annotations

import numpy as np
import pytest

from thalweg import kernels

LEVELS = pytest.mark.parametrize("level", kernels.available_levels())
ROWS, FEATURES = 11, 9  # odd numbers: some values are left over by vectors of every width
HALF = (0, 0.5, 0)
ALL_GOOD, UNKNOWN_LABEL = -1, -2


def a_core(level, classes=2):
    core = kernels.load(level).discriminant(FEATURES, HALF, False, False, 10, 0.0)
    for place in range(classes):
        core.announce(place)
    return core


def learned(core, X, y):
    return core.run(X, y, unchecked=True)


@LEVELS
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1.01e50, -1e60, 1e300])
def test_a_value_that_may_not_be_learned_is_found_in_any_place(level, value):
    y = np.arange(ROWS) % 2
    for place in range(ROWS * FEATURES):
        X = np.ones((ROWS, FEATURES))
        X.flat[place] = value
        core = a_core(level)
        before = {name: array.copy() for name, array in core.state().items()}
        assert learned(core, X, y) == place
        for name, array in core.state().items():
            np.testing.assert_array_equal(array, before[name])


@LEVELS
def test_values_at_the_bound_are_learned_however_many(level):
    X = np.full((ROWS, FEATURES), 1e50) * np.where(np.arange(FEATURES) % 2, 1, -1)
    assert learned(a_core(level), X, np.zeros(ROWS, dtype=np.int64)) == ALL_GOOD


@LEVELS
@pytest.mark.parametrize("classes", [1, 2, 3, 4, 5, 8])
def test_labels_are_places_of_classes(level, classes):
    X = np.ones((ROWS, FEATURES))
    y = np.arange(ROWS) % classes  # three classes: the bits of 1 and 2 together would be a fourth
    assert learned(a_core(level, classes), X, y) == ALL_GOOD
    for label in (classes, classes + 1, -1, np.iinfo(np.int64).min, np.iinfo(np.int64).max):
        for row in range(ROWS):
            bad = y.copy()
            bad[row] = label
            assert learned(a_core(level, classes), X, bad) == UNKNOWN_LABEL
