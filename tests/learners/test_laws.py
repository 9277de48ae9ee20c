"""Every law on every learner, over two sets of rows and over those that hypothesis chooses."""

from __future__ import annotations

from mmap import PAGESIZE
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from tests.examples import examples
from tests.laws import EXCEPTIONS, LAWS, LEARNERS
from thalweg.store import dumps

#: Measured once for each learner, over many rows.
MEMORY_LAW = "memory_does_not_grow_with_rows"
PAIRS = [(name, law) for name in LEARNERS for law in LAWS if (name, law.__name__) not in EXCEPTIONS]


#: Seed, rows, features, classes and scale.
ROWS = {
    "a third class after two were tuned": (2114, 24, 1, 3, 1.0),
    "four classes announced at once, or one by one": (122014, 61, 2, 4, 1e-3),
}


def rows_and_labels(seed, rows, features, classes, scale):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, rows)
    return (rng.normal(size=(rows, features)) + y[:, None]) * scale, y


@pytest.mark.parametrize(("name", "law"), PAIRS, ids=[f"{name}-{law.__name__}" for name, law in PAIRS])
def test_law(name, law):
    for drawn in ROWS.values():
        law(LEARNERS[name], *rows_and_labels(*drawn))


@pytest.mark.slow
@pytest.mark.parametrize("name", LEARNERS)
@examples(4 * len(LAWS))
@given(
    law=st.sampled_from(LAWS),
    seed=st.integers(0, 2**32),
    rows=st.integers(24, 70),
    features=st.sampled_from([1, 2, 3, 7, 16, 19]),
    classes=st.integers(1, 4),
    scale=st.sampled_from([1.0, 1e-3, 1e4]),
)
def test_laws_hold_over_any_rows(name, law, seed, rows, features, classes, scale):
    if (name, law) in PAIRS:
        law(LEARNERS[name], *rows_and_labels(seed, rows, features, classes, scale))


def resident_bytes():
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGESIZE


@pytest.mark.memory
@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the memory in use is read from /proc")
@pytest.mark.parametrize("name", [name for name in LEARNERS if (name, MEMORY_LAW) not in EXCEPTIONS])
def test_memory_does_not_grow_with_rows(name):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 5000)
    X = rng.normal(size=(5000, 5)) + y[:, None]
    model = clone(LEARNERS[name])
    for _ in range(50):  # leaves of trees fill up slowly
        model.partial_fit(X, y)
    size, held = len(dumps(model)), resident_bytes()
    for _ in range(100):
        model.partial_fit(X, y)
    assert len(dumps(model)) == pytest.approx(size, rel=0.1)  # the records of a window come and go
    assert resident_bytes() - held < 4_000_000  # the 500,000 rows weigh 20,000,000


def test_every_exception_names_a_law_and_a_learner():
    for (name, law), reason in EXCEPTIONS.items():
        assert name in LEARNERS
        assert law in {MEMORY_LAW, *(each.__name__ for each in LAWS)}
        assert reason
