"""No table, however odd, ends a run in a traceback or without an end."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("pyarrow")

from tests.cli.mutated_tables import SECONDS, check, within
from tests.zoo.tables import why_no_zoo
from thalweg.tables import open_source

#: Tables in each part of the quick sample, and of the long one.
FEW, MANY = 20, 2_000


@pytest.mark.parametrize("part", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_odd_tables_are_learned_or_refused(part: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    codes = [check(seed, tmp_path) for seed in range(part * FEW, (part + 1) * FEW)]
    assert set(codes) == {0, 2}


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    "content",
    [
        b'a,state\n"' + b"x\n" * 300_000 + b"\xff\n",
        b"a,state\n" + b"1\n" * 400_000 + b"1,b\n" * 400_000,
        b'a,state\n1,x\n"' + b"\xff\n1\n" * 300_000,
    ],
    ids=["an open quotation mark", "ragged rows", "other bytes"],
)
def test_bad_rows_take_linear_time(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_bytes(content)
    with within(3 * SECONDS):
        blocks = list(open_source(tmp_path / "rows.csv").blocks())
        numbers = [block.number_of(len(block.table) - 1) for block in blocks]
    assert numbers == sorted(numbers)


@pytest.mark.slow
def test_many_odd_tables_are_learned_or_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for seed in range(2 * FEW, MANY):
        check(seed, tmp_path, zoo=why_no_zoo() is None)
