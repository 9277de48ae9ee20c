"""The live view: how much is done, told by rows and never wrong by the size of a block."""

from __future__ import annotations

import gzip
import re
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pyarrow")

from thalweg import cli
from thalweg.run.options import RunOptions
from thalweg.run.runner import Run, RunStatus

ROWS = 30_000


@pytest.fixture
def lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(ROWS, 5)).tolist()
    return ["a,b,c,d,e,state", *(",".join([*map(repr, row), "uv"[row[0] > row[1]]]) for row in numbers)]


def shares(source: str, **options: object) -> list[tuple[int, float | None]]:
    told: list[tuple[int, float | None]] = []
    given = {"target": "state", "model": "oldc", "rate": 0.02, "out": "out", "chunk": 512, **options}

    def tell(status: RunStatus) -> None:
        told.append((status.rows, status.share))

    Run(RunOptions(source, **given)).go(tell)  # type: ignore[arg-type]
    return told


@pytest.mark.quick(2)
@pytest.mark.parametrize("kind", ["one block", "blocks", "packed", "limit"])
def test_the_share_done_is_that_of_the_rows(kind: str, lines: list[str]) -> None:
    wanted = lines[:3001] if kind == "one block" else lines
    content = ("\n".join(wanted) + "\n").encode()
    Path("rows.csv").write_bytes(gzip.compress(content, 1) if kind == "packed" else content)
    limit = 5000 if kind == "limit" else None
    rows = limit or len(wanted) - 1
    told = shares("rows.csv", limit=limit)
    known = [(at, share) for at, share in told if share is not None]
    assert len(known) > (0.2 if kind == "packed" else 0.9) * len(told)
    # Packed bytes are read up to 1 MiB ahead of the rows in them.
    off = 2**20 / Path("rows.csv").stat().st_size if kind == "packed" else 0.02
    assert all(share == pytest.approx(at / rows, abs=off) for at, share in known)
    assert [share for _, share in known] == sorted(share for _, share in known)
    assert known[-1] == (rows, 1.0)


def test_a_line_tells_speed_time_left_errors_baselines_and_rate(
    lines: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.modules["thalweg.cli.run"], "_PLAIN_SECONDS", 0.0)
    Path("rows.csv").write_text("\n".join(lines[:3001]) + "\n")
    with pytest.raises(SystemExit, match="0"):
        cli.main(["run", "rows.csv", "--target", "state", "--model", "oldc", "--rate", "0.02", "--out", "out"])
    first, *_, last = capsys.readouterr().err.splitlines()
    number = r"0\.\d{4}"
    assert re.fullmatch(
        rf"1,000 rows, [\d,]+ a second(, 33 %, [\d,]+ s left)?  error {number}, now {number} "
        rf"\(no change {number}, majority {number}\)  rate 0.02",
        first,
    )
    assert ", 100 %, 0 s left  " in last
