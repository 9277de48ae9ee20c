"""What a model file holds of earlier rows may be forged: it is refused, or read without leaving its place."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.history.test_history import FEATURES, chunk_of, new_history
from thalweg.history.history import History

ROW = {"x": 1.0, "key": "a", "word": "up", "when": 5.0, "known": 9.0, "y": 2.0}
ROWS = [ROW | {"when": float(at), "key": "ab"[at % 2], "known": at + 3.0} for at in range(12)]
EXTREME = st.sampled_from([0, 1, -1, 16, 17, 64, 65, 2**31, 2**62, 2**63 - 1, -(2**63)]) | st.integers(
    -(2**63), 2**63 - 1
)


def learned() -> History:
    history = new_history(timed=True, late=True, delay=0)
    history.extended(chunk_of(ROWS), learn=True)
    return history


@given(st.lists(st.tuples(st.integers(0, 2**31), EXTREME), min_size=1, max_size=8), st.integers(0, 10))
def test_forged_numbers_are_refused_or_harmless(changes, which):
    history = learned()
    arrays = {name: array.copy() for name, array in history.arrays().items()}
    forged = arrays[sorted(arrays)[which % len(arrays)]].reshape(-1)
    for place, number in changes:
        forged[place % len(forged)] = number
    try:
        restored = History.from_json(history.to_json(), arrays)
    except (ValueError, KeyError):
        return
    for _ in range(3):
        added = restored.extended(chunk_of(ROWS), learn=True).added
    assert all(len(column) == len(ROWS) for column in added.values())
    History.from_json(restored.to_json(), restored.arrays())


@pytest.mark.parametrize("cut", [1, 7])
def test_arrays_of_another_shape_are_refused(cut):
    history = learned()
    for name, array in history.arrays().items():
        for other in (array.reshape(-1)[:-cut], array.astype(np.float64), np.zeros((0, 3), dtype=np.int64)):
            with pytest.raises((ValueError, KeyError)):
                History.from_json(history.to_json(), {**history.arrays(), name: other})


def test_more_keys_than_fit_forget_the_one_that_was_not_seen_for_longest():
    from thalweg.kernels import compiled

    table = compiled.PastTable([("count", "ever", -1, False, 0.0, 0, 17)], 3 * 8 * 12)
    most = table.most_keys
    keys = np.array([*range(1, most + 1), 1, most + 1, 2, 1])
    out, rows = np.empty((len(keys), 1)), len(keys)
    table.follow(keys, np.zeros((rows, 1)), np.arange(rows), np.arange(rows), 0, out)
    assert table.keys == most
    assert out[most:, 0].tolist() == [1.0, 0.0, 0.0, 2.0]
    assert len(FEATURES) > 100
