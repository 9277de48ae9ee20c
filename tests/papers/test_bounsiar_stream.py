"""The kernel mean machine on streams, shortened."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from thalweg.papers.bounsiar import stream
from thalweg.papers.bounsiar.stream import AUTO, CASES, GRID, LINEAR, MEMORIES_NAME, MODELS, OURS, Case
from thalweg.papers.registry import PAPERS


def shortened(case: Case, rows: int) -> Case:
    def first(seed: int):
        X, y = case.rows(seed)
        return X[:rows], y[:rows]

    return replace(case, rows=first)


@pytest.mark.slow
def test_only_the_kernel_machines_follow_what_no_line_can(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "CASES", [shortened(case, 3000) for case in CASES])
    (outcome,) = PAPERS["bounsiar"].reproduce(["stream"], runs=2)
    assert (outcome,) == tuple(PAPERS["bounsiar"].reproduce(["stream"], runs=2, workers=2))
    errors = {(each.data, each.model): each.measured for each in outcome.findings}
    for data in ("Rotating checkerboard", GRID, "Circling pairs"):
        assert max(errors[data, OURS], errors[data, MEMORIES_NAME]) < 0.15
        assert min(errors[data, LINEAR], errors[data, AUTO]) > 0.3
    assert all(0.08 < errors["Circling", name] < 0.15 for name in MODELS)  # two Gaussians: a line will do
    assert outcome.table is not None
    assert outcome.table().row_count == len(MODELS)
    assert outcome.draw is not None
    assert len(outcome.draw().axes) == 2 * len(CASES)


def test_the_grid_is_the_board_of_its_block() -> None:
    points, colours = stream.grid(0)
    assert points.shape == (51 * 51, 2)
    assert colours[(points < 0.49).all(axis=1)].tolist() == [0] * 25**2  # the first board is not turned
    X, y = stream.checkerboard(3)
    last = slice(-stream.BLOCK, None)  # after a whole turn it is again, but for the noise of the rows
    same = (np.floor(X[last] / 0.5).sum(axis=1) % 2).astype(int) == y[last]
    assert same.mean() > 0.9
