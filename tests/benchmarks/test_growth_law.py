"""A power law is found again, from where it holds."""

from __future__ import annotations

import pytest
from benchmarks.growth_law import law_of
from benchmarks.records import Record


def _records(sizes: list[int]) -> list[Record]:
    # Below 16 the cost is flat, from there on it is a square.
    costs = [max(3.0 * size**2, 3.0 * 16**2) for size in sizes]
    return [Record("work", "m", {"p": p}, "ours", (cost,)) for p, cost in zip(sizes, costs, strict=True)]


def test_the_exponent_of_the_growing_part() -> None:
    law = law_of(_records([2, 4, 8, 16, 32, 64]), "p", first=16)
    assert law is not None
    assert (law.first, law.last) == (16, 64)
    assert law.exponent == pytest.approx(2.0)
    assert law.at(100) == pytest.approx(3.0 * 100**2)


def test_two_points_are_no_law() -> None:
    assert law_of(_records([8, 16, 32]), "p", first=16) is None
