"""Every law on every learner, over rows that hypothesis chooses."""

from __future__ import annotations

from mmap import PAGESIZE
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn.base import clone

from tests.examples import examples
from tests.laws import EXCEPTIONS, LAWS, LEARNERS
from thalweg.store import dumps

#: Measured once for each learner, not over rows that hypothesis chooses.
MEMORY_LAW = "memory_does_not_grow_with_rows"
PAIRS = [(name, law) for name in LEARNERS for law in LAWS if (name, law.__name__) not in EXCEPTIONS]


@pytest.mark.parametrize(("name", "law"), PAIRS, ids=[f"{name}-{law.__name__}" for name, law in PAIRS])
@examples(4, least=0)
@example(seed=2114, rows=24, features=1, classes=3, scale=1.0)  # a third class after two were tuned
@example(seed=122014, rows=61, features=2, classes=4, scale=1e-3)  # four classes announced at once, or one by one
@given(
    seed=st.integers(0, 2**32),
    rows=st.integers(24, 70),
    features=st.sampled_from([1, 2, 3, 7, 16, 19]),
    classes=st.integers(1, 4),
    scale=st.sampled_from([1.0, 1e-3, 1e4]),
)
def test_law(name, law, seed, rows, features, classes, scale):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, rows)
    X = (rng.normal(size=(rows, features)) + y[:, None]) * scale
    law(LEARNERS[name], X, y)


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
