"""What is said of the first rows: columns that give the label away, and row numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")

from thalweg.tables import Block, Target, chunks, plan_columns  # noqa: E402
from thalweg.tables.oddities import oddities  # noqa: E402

ROWS = 1000
RNG = np.random.default_rng(8)
LABELS = RNG.integers(0, 2, ROWS)
CLASSES = RNG.integers(0, 30, ROWS)
RARE = (np.arange(ROWS) % 67 == 0).astype(int)
NORMAL = RNG.normal(size=ROWS)


def said_of(column: Any, labels: Any = LABELS, name: str = "x", time: str | None = None) -> str | None:
    """The sentence about a column that stands beside an ordinary one; there is one at the most."""
    other = RNG.normal(size=len(labels))
    table = pa.table({name: column, "other": other, "label": [f"class {each}" for each in labels]})
    head = next(iter(chunks([Block(table, "table.csv", 1)], len(table))))
    plan = plan_columns(head, target="label", detect_sentinels=True)
    found = oddities(head, plan, Target("label").labels(head)[1], na=(), time=time)
    assert len(found) <= 1
    return found[0] if found else None


ALMOST = np.where(np.arange(ROWS) % 250 == 0, 1 - LABELS, LABELS)


@pytest.mark.parametrize(
    ("column", "labels", "right"),
    [
        (LABELS, LABELS, ROWS),
        ([f"class {each}" for each in LABELS], LABELS, ROWS),
        (ALMOST, LABELS, ROWS - 4),
        (LABELS + RNG.uniform(0, 0.9, ROWS), LABELS, ROWS),
        (-LABELS - RNG.uniform(0, 0.9, ROWS), LABELS, ROWS),
        (pa.array(NORMAL, mask=LABELS == 1), LABELS, ROWS),
        ([f"code {each}" for each in CLASSES], CLASSES, ROWS),
        (CLASSES * 7, CLASSES, ROWS),
        (RARE * 5, RARE, ROWS),
    ],
    ids=["copy", "words", "almost", "threshold", "below", "missing", "thirty words", "thirty codes", "rare"],
)
def test_a_column_that_gives_the_label_away_is_named(column: Any, labels: np.ndarray, right: int) -> None:
    most = int(np.bincount(labels).max())
    told = said_of(column, labels, name="x y")
    right_in = f"{right:,} of the first 1,000 rows, the most frequent label in {most}"
    advice = "if it is known only once the label is, --drop 'x y' leaves it out"
    assert told == f"column 'x y' alone gives the right label in {right_in}: {advice}"


@pytest.mark.parametrize(
    ("column", "labels"),
    [
        (np.where(np.arange(ROWS) % 50 == 0, 1 - LABELS, LABELS), LABELS),
        (LABELS + NORMAL, LABELS),
        ([f"shop {each}" for each in RNG.integers(0, 400, ROWS)], LABELS),
        (np.arange(ROWS) + 0.5, np.arange(ROWS) // 500),
        (np.arange(ROWS) // 50, np.arange(ROWS) // 100),
        (NORMAL, np.zeros(ROWS, dtype=int)),
        (np.zeros(ROWS), np.zeros(ROWS, dtype=int)),
        (RARE, (np.arange(ROWS) < 5).astype(int)),
        (np.arange(60) % 2, np.arange(60) % 2),
        (np.tile(NORMAL[:250], 4), np.tile(CLASSES[:250], 4)),
    ],
    ids=[
        "two percent off",
        "noisy",
        "many shops",
        "sorted",
        "runs",
        "one class",
        "constant",
        "five",
        "short",
        "doubles",
    ],
)
def test_a_column_that_is_merely_good_is_not_named(column: Any, labels: np.ndarray) -> None:
    assert said_of(column, labels) is None


@pytest.mark.parametrize(
    ("column", "how"),
    [
        (np.arange(ROWS), "it grows by one with every row"),
        (np.arange(ROWS) + 7e6, "it grows by one with every row"),
        (np.cumsum(RNG.integers(1, 5, ROWS)), "whole numbers that grow with every row"),
        (RNG.permutation(ROWS) + 1, "each whole number from 1 to 1000 once"),
        (np.arange(ROWS)[::-1], "each whole number from 0 to 999 once"),
    ],
)
def test_row_numbers_are_named(column: np.ndarray, how: str) -> None:
    told = f"column 'x' looks like a row number ({how}), which says nothing about the label of a later row"
    assert said_of(column) == f"{told}: --drop x leaves it out"
    assert said_of(column, time="x") is None
    assert said_of(column, name="day") is None


@pytest.mark.parametrize(
    "column",
    [
        1_700_000_000 + np.arange(ROWS),
        (1_700_000_000 + np.cumsum(RNG.integers(1, 5, ROWS))) * 1000.0,
        np.arange(np.datetime64("2020-01-01"), np.datetime64("2020-01-01") + ROWS),
        [f"{day:%Y%m%d}" for day in (np.datetime64("2020-01-01") + np.arange(ROWS)).tolist()],
        pa.array(np.arange(ROWS), pa.duration("s")),
        np.cumsum(RNG.uniform(0, 2, ROWS)),
        np.cumsum(RNG.integers(0, 3, ROWS)),
        np.cumsum(RNG.integers(100, 5000, ROWS)),
        RNG.integers(0, 10**6, ROWS),
    ],
    ids=["seconds", "milliseconds", "dates", "days", "durations", "fractions", "with ties", "wide steps", "scattered"],
)
def test_times_and_counts_are_no_row_numbers(column: Any) -> None:
    assert said_of(column) is None


@pytest.mark.parametrize(
    ("column", "given_away"),
    [(3.0 - 2.0 * NORMAL, True), (NORMAL + 0.01 * RNG.normal(size=ROWS), False), (np.full(ROWS, 2.0), False)],
    ids=["a line", "noisy", "constant"],
)
def test_a_column_that_gives_a_number_away_is_named(column: Any, given_away: bool) -> None:
    table = pa.table({"x": column, "other": RNG.normal(size=ROWS), "label": NORMAL})
    head = next(iter(chunks([Block(table, "table.csv", 1)], ROWS)))
    plan = plan_columns(head, target="label", detect_sentinels=True)
    found = oddities(head, plan, NORMAL, na=(), time=None)
    told = (
        "column 'x' alone gives the target to 0.00 % of its spread in the first 1,000 rows: if it is known only once "
    )
    assert found == ([f"{told}the target is, --drop x leaves it out"] if given_away else [])


def test_codes_of_digits_are_named() -> None:
    codes = [f"{place * 7 % 80:03}" for place in range(ROWS)]
    which = "its whole numbers all have 3 digits, some with zeros before them, such as 000"
    assert said_of(codes) == f"column 'x' is read as categories, because {which}: --numeric x reads it as numbers"
    assert said_of([*codes[:-2], "??", "abroad"]) == said_of(codes)
    named = said_of([f"{place * 7 % ROWS:04}" for place in range(ROWS)])
    assert named is not None
    assert named.startswith("column 'x' is left out as a name of the row, because its whole numbers all have 4 digits")
    assert said_of([f"{place * 7 % 80}" for place in range(ROWS)]) is None


def test_words_among_numbers_are_named() -> None:
    numbers = [f"{value:.1f}" for value in NORMAL]  # that recur, or the column would be one of numbers with bad rows
    slip = [*numbers[:10], "abc", *numbers[11:]]
    which = f"one of its first {ROWS:,} values, 'abc', is no number"
    assert said_of(slip) == f"column 'x' is read as categories, because {which}: --na abc counts it as missing"
    two = said_of([*slip[:-1], "?!"])
    assert two is not None
    assert f"because 2 of its first {ROWS:,} values are no numbers, such as 'abc': --na abc" in two
    assert said_of(numbers) is None
    assert said_of([f"{place % 7}" if place % 50 else "none" for place in range(ROWS)]) is None  # few different ones
