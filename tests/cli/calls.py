"""A small table in the working folder, and `thalweg` called as a user would: for the tests of the commands."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from thalweg import cli

ROWS = 1400
PLAIN = ("table.csv", "--target", "state", "--drop", "when", "--drop", "told")


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        cli.main(arguments)
    printed = capsys.readouterr()
    return int(stop.value.code or 0), printed.out, printed.err


def metrics(folder: str = "out") -> dict[str, Any]:
    found: dict[str, Any] = json.loads((Path(folder) / "metrics.json").read_text())
    return found


def predictions(folder: str = "out") -> list[dict[str, str]]:
    with (Path(folder) / "predictions.csv").open(newline="") as lines:
        return list(csv.DictReader(lines))
